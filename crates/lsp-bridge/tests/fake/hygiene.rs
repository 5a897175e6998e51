//! What is said to a server, and what is made of its answers.

use std::time::Duration;

use libtest_mimic::Trial;
use lsp_bridge::{LspLimits, SupervisorLimits};
use serde_json::{Value, json};
use test_support::Step::{Refuse, Reply, Send};

use crate::setting::{Setting, script, test};

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test(
            "pitfall_2_and_62_requests_with_our_ids_are_answered",
            same_ids,
        ),
        test("pitfall_6_changed_contents_are_asked_again", asked_again),
        test(
            "pitfall_8_a_server_is_sent_nothing_that_it_does_not_offer",
            nothing_unknown,
        ),
        test(
            "pitfall_22_a_push_about_an_older_text_does_not_join_a_pull",
            older_push_beside_pull,
        ),
        test("pitfall_9_saves_are_sent_where_they_are_wanted", saves),
        test(
            "pitfall_24_pulls_that_are_registered_later_are_used",
            registered_later,
        ),
        test(
            "pitfall_25_a_push_about_an_older_text_is_no_answer",
            older_push,
        ),
        test(
            "pitfall_25_a_push_without_a_version_is_partial",
            push_without_version,
        ),
        test("pitfall_28_the_same_fault_twice_is_one", same_fault),
        test("pitfall_36_places_that_are_no_files_are_shown", no_files),
        test(
            "pitfall_37_an_empty_answer_of_a_cold_server_is_asked_again",
            cold_and_empty,
        ),
        test(
            "pitfall_37_what_a_server_never_proves_is_said",
            never_proven,
        ),
        test("pitfall_45_the_process_id_is_ours", process_id),
        test(
            "pitfall_61_a_diagnostic_that_cannot_be_read_keeps_the_others",
            odd_diagnostic,
        ),
    ]
}

fn range(line: u32, start: u32, end: u32) -> Value {
    json!({
        "start": { "line": line, "character": start },
        "end": { "line": line, "character": end },
    })
}

fn here() -> Value {
    json!({ "uri": "$uri", "range": range(0, 0, 3) })
}

fn publish(version: Value, items: Value) -> Value {
    let mut params = json!({ "uri": "$uri", "diagnostics": items });
    if !version.is_null() {
        params["version"] = version;
    }
    json!({ "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params })
}

async fn same_ids() {
    let items = json!({ "items": [{ "section": "a" }, { "section": "b" }] });
    let ask = |id: Value| {
        Send(
            json!({ "jsonrpc": "2.0", "id": id, "method": "workspace/configuration", "params": items }),
        )
    };
    let said = Reply(json!({ "contents": "said" }));
    let steps = vec![vec![ask(json!("$id")), ask(json!("text")), said]];
    let setting = Setting::new(script(&[("textDocument/hover", steps)]));
    assert_eq!(setting.ask("hover").await.text, "said");
    setting.end().await;
}

async fn asked_again() {
    let steps = vec![
        vec![Refuse(-32801, "content modified".to_owned())],
        vec![Refuse(-32802, "server cancelled".to_owned())],
        vec![Reply(json!([here()]))],
    ];
    let setting = Setting::new(script(&[("textDocument/definition", steps)]));
    let found = setting.ask("definition").await;
    assert_eq!(found.text, "definition of `one`:\na.fake:1:1: one two");
    assert_eq!(setting.sent("textDocument/definition").len(), 3);
    setting.end().await;
}

/// Some servers die of a request that they do not know.
async fn nothing_unknown() {
    let steps = vec![vec![Reply(json!({ "contents": "said" }))]];
    let mut script = script(&[("textDocument/hover", steps)]);
    script.capabilities = json!({ "hoverProvider": true, "textDocumentSync": 1 });
    let setting = Setting::new(script);
    for action in [
        "hover",
        "definition",
        "type_definition",
        "implementation",
        "references",
        "code_actions",
    ] {
        setting.ask(action).await;
    }
    for action in ["symbols", "diagnostics", "status"] {
        let arguments = json!({ "action": action, "file": "a.fake" });
        setting.call(arguments).await;
    }
    let query = json!({ "action": "symbols", "query": "one" });
    setting.call(query).await;
    setting.write("b.fake", "one\n");
    setting.ask("hover").await;
    let mut methods = setting.methods();
    methods.sort();
    methods.dedup();
    assert_eq!(
        methods,
        [
            "initialize",
            "initialized",
            "textDocument/didOpen",
            "textDocument/hover",
            "workspace/didChangeWatchedFiles",
        ]
    );
    setting.end().await;
}

/// What the check published of the text before stays out until it has ended.
async fn older_push_beside_pull() {
    let progress = |token: &str, value: Value| {
        let params = json!({ "token": token, "value": value });
        Send(json!({ "jsonrpc": "2.0", "method": "$/progress", "params": params }))
    };
    let token = "rust-analyzer/flycheck/0";
    let begin = || progress(token, json!({ "kind": "begin", "title": "check" }));
    let end = || progress(token, json!({ "kind": "end" }));
    let fault = |message: &str| json!({ "range": range(0, 0, 3), "message": message });
    let push = publish(json!(1), json!([fault("checked")]));
    let mut script = script(&[
        (
            "rust-analyzer/runFlycheck",
            vec![vec![begin(), Send(push), end()], vec![begin()]],
        ),
        (
            "textDocument/diagnostic",
            vec![vec![Reply(json!({ "items": [fault("pulled")] }))]],
        ),
        ("textDocument/documentSymbol", vec![vec![Reply(json!([]))]]),
    ]);
    script.capabilities["diagnosticProvider"] = json!({});
    let row = "\"always\"\ndiagnostics = \"flycheck\"";
    let setting = Setting::with(script, row, limits(), SupervisorLimits::default());
    let ask = || setting.call(json!({ "action": "diagnostics", "file": "a.fake" }));
    let both = ask().await;
    assert_eq!(
        both.text,
        "2 errors and 0 warnings in `a.fake` (fake):\n1:1 error pulled\n1:1 error checked"
    );
    assert_eq!(both.details["verdict"], json!({ "kind": "fresh" }));
    setting.write("a.fake", "one changed\n");
    let stale = ask().await;
    assert_eq!(
        stale.text,
        "partial: fake: `cargo check` has not ended in time\n\
         1 error and 0 warnings in `a.fake` (fake):\n1:1 error pulled"
    );
    setting.end().await;
}

async fn saves() {
    for (save, count) in [(json!(true), 1), (json!(false), 0)] {
        let steps = vec![vec![Reply(json!({ "contents": "said" }))]];
        let mut script = script(&[("textDocument/hover", steps)]);
        script.capabilities["textDocumentSync"]["save"] = save;
        let setting = Setting::new(script);
        setting.ask("hover").await;
        setting.write("a.fake", "one changed\n");
        setting.ask("hover").await;
        assert_eq!(setting.sent("textDocument/didSave").len(), count);
        let changed = &setting.sent("textDocument/didChange")[0];
        assert_eq!(changed["textDocument"]["version"], 2);
        assert_eq!(
            changed["contentChanges"],
            json!([{ "text": "one changed\n" }])
        );
        setting.end().await;
    }
}

async fn registered_later() {
    let method = "textDocument/diagnostic";
    let registration =
        json!({ "id": "1", "method": method, "registerOptions": { "identifier": "x" } });
    let register = json!({
        "jsonrpc": "2.0", "id": 1, "method": "client/registerCapability",
        "params": { "registrations": [registration] },
    });
    let report = json!({ "kind": "full", "items": [{ "range": range(1, 0, 5), "severity": 2, "message": "m", "code": 7, "source": "s" }] });
    let setting = Setting::new(script(&[
        ("textDocument/didOpen", vec![vec![Send(register)]]),
        (method, vec![vec![Reply(report)]]),
    ]));
    let told = setting
        .call(json!({ "action": "diagnostics", "file": "a.fake" }))
        .await;
    assert_eq!(
        told.text,
        "0 errors and 1 warning in `a.fake` (fake):\n2:1 warning [s 7] m"
    );
    assert_eq!(told.details["verdict"], json!({ "kind": "fresh" }));
    assert_eq!(setting.sent(method)[0]["identifier"], "x");
    setting.end().await;
}

async fn older_push() {
    let old = publish(json!(0), json!([]));
    let setting = Setting::new(script(&[("textDocument/didOpen", vec![vec![Send(old)]])]));
    let told = setting
        .call(json!({ "action": "diagnostics", "file": "a.fake" }))
        .await;
    assert!(
        told.text
            .starts_with("unknown: it is not known whether `a.fake` has errors"),
        "{}",
        told.text
    );
    assert_eq!(told.details["verdict"]["kind"], "unknown");
    setting.end().await;

    let fault = json!([{ "range": range(0, 4, 7), "message": "m" }]);
    let new = publish(json!("$version"), fault);
    let old = publish(json!(0), json!([]));
    let setting = Setting::new(script(&[(
        "textDocument/didOpen",
        vec![vec![Send(old), Send(new)]],
    )]));
    let told = setting
        .call(json!({ "action": "diagnostics", "file": "a.fake" }))
        .await;
    assert_eq!(
        told.text,
        "1 error and 0 warnings in `a.fake` (fake):\n1:5 error m"
    );
    assert_eq!(told.details["verdict"], json!({ "kind": "fresh" }));
    setting.end().await;
}

async fn push_without_version() {
    let push = publish(
        Value::Null,
        json!([{ "range": range(0, 0, 3), "message": "m" }]),
    );
    let setting = Setting::new(script(&[
        ("textDocument/didChange", vec![vec![Send(push)]]),
        ("textDocument/documentSymbol", vec![vec![Reply(json!([]))]]),
        ("textDocument/hover", vec![vec![Reply(json!(null))]]),
    ]));
    setting.ask("hover").await;
    setting.write("a.fake", "one changed\n");
    let told = setting
        .call(json!({ "action": "diagnostics", "file": "a.fake" }))
        .await;
    assert!(told.text.starts_with("partial: "), "{}", told.text);
    assert!(told.text.ends_with("\n1:1 error m"), "{}", told.text);
    setting.end().await;
}

async fn same_fault() {
    let fault = json!({ "range": range(0, 0, 3), "message": "m" });
    let push = publish(json!("$version"), json!([fault, fault]));
    let setting = Setting::new(script(&[("textDocument/didOpen", vec![vec![Send(push)]])]));
    let told = setting
        .call(json!({ "action": "diagnostics", "file": "a.fake" }))
        .await;
    assert!(
        told.text.starts_with("1 error and 0 warnings"),
        "{}",
        told.text
    );
    setting.end().await;
}

async fn no_files() {
    let places = json!([
        { "uri": "jdt://contents/a.jar?b", "range": range(4, 2, 5) },
        { "targetUri": "file:///no/such/file.fake", "targetRange": range(0, 0, 1), "targetSelectionRange": range(0, 0, 1) },
        { "uri": 5 },
    ]);
    let steps = vec![vec![Reply(places)]];
    let setting = Setting::new(script(&[("textDocument/definition", steps)]));
    let found = setting.ask("definition").await;
    assert_eq!(
        found.text,
        "2 definitions of `one`:\n\
         jdt://contents/a.jar?b:5:3 (outside the workspace)\n\
         /no/such/file.fake:1:1 (outside the workspace)\n\
         note: 1 part of the server's answer could not be read and is not shown"
    );
    setting.end().await;
}

fn limits() -> LspLimits {
    let mut limits = LspLimits::default();
    limits.call = Duration::from_secs(3);
    limits.ready = Duration::from_secs(1);
    limits
}

async fn cold_and_empty() {
    let log = json!({ "jsonrpc": "2.0", "method": "window/logMessage", "params": { "type": 3, "message": "all read" } });
    let steps = vec![
        vec![Reply(json!([])), Send(log)],
        vec![Reply(json!([here()]))],
    ];
    let script = script(&[("textDocument/definition", steps)]);
    let servers = SupervisorLimits::default();
    let setting = Setting::with(script, "{ log = \"all read\" }", limits(), servers);
    let found = setting.ask("definition").await;
    assert_eq!(found.text, "definition of `one`:\na.fake:1:1: one two");
    setting.end().await;
}

async fn never_proven() {
    let steps = vec![vec![Reply(json!([here()]))]];
    let empty = vec![vec![Reply(json!([]))]];
    let script = script(&[
        ("textDocument/references", steps),
        ("textDocument/definition", empty.clone()),
        ("textDocument/documentSymbol", empty.clone()),
        ("workspace/symbol", empty),
    ]);
    let servers = SupervisorLimits::default();
    let setting = Setting::with(script, "{ log = \"never said\" }", limits(), servers);
    setting.write("b.fake", "one\n");
    let found = setting.ask("references").await;
    assert!(
        found.text.starts_with(
            "incomplete: the index is still building (fake: reading the project): \
             1 file with textual hits is not covered (b.fake)"
        ),
        "{}",
        found.text
    );
    assert!(
        found.text.contains("\nat least 1 reference to `one`"),
        "{}",
        found.text
    );
    for outcome in [
        setting.ask("definition").await,
        setting
            .call(json!({ "action": "symbols", "file": "a.fake" }))
            .await,
        setting
            .call(json!({ "action": "symbols", "query": "x" }))
            .await,
    ] {
        assert!(
            outcome
                .text
                .starts_with("incomplete: the index is still building"),
            "{}",
            outcome.text
        );
        assert!(outcome.took < Duration::from_secs(3), "{:?}", outcome.took);
    }
    setting.end().await;
}

async fn process_id() {
    let steps = vec![vec![Reply(json!({ "contents": "said" }))]];
    let setting = Setting::new(script(&[("textDocument/hover", steps)]));
    setting.ask("hover").await;
    let sent = setting.sent("initialize");
    assert_eq!(sent[0]["processId"], std::process::id());
    setting.end().await;
}

async fn odd_diagnostic() {
    let items = json!([
        { "message": "first", "range": range(0, 0, 3) },
        { "message": 5, "range": "nowhere" },
        { "message": { "kind": "markdown", "value": "third" }, "range": { "start": { "line": 1, "character": -1 } } },
    ]);
    let push = publish(json!("$version"), items);
    let setting = Setting::new(script(&[("textDocument/didOpen", vec![vec![Send(push)]])]));
    let told = setting
        .call(json!({ "action": "diagnostics", "file": "a.fake" }))
        .await;
    assert!(
        told.text.starts_with("3 errors and 0 warnings"),
        "{}",
        told.text
    );
    for line in [
        "\nerror {\"message\":5,\"range\":\"nowhere\"}",
        "\n1:1 error first",
        "\n2:1 error third",
    ] {
        assert!(told.text.contains(line), "{}", told.text);
    }
    setting.end().await;
}
