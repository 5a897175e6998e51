//! Diagnostics in the results of writes: what is told, when, and how often.

use std::time::Duration;

use libtest_mimic::Trial;
use lsp_bridge::{DiagnosticsOnWrite, OnWriteLimits};
use serde_json::{Value, json};
use test_support::Step::{Exit, Hang, Reply, Send, Wait};
use test_support::{Script, Step};
use tiers::{Dispatch as _, ErrorKind, Tool as _};

use crate::setting::{Setting, TEXT, script, test};

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("pitfall_31_only_what_is_new_is_told", only_new),
        test("pitfall_30_a_second_one_and_one_that_came_back", counted),
        test("pitfall_12_the_server_hears_of_a_write_in_order", order),
        test("pitfall_33_all_files_are_sent_before_one_is_asked", patch),
        test("pitfall_31_a_failed_write_leaves_all_as_it_was", failed),
        test("pitfall_31_without_a_look_before_it_is_said", no_baseline),
        test("a_new_file_has_nothing_to_be_older", new_file),
        test("a_file_that_is_gone_is_told_to_the_server", deleted),
        test("a_late_report_comes_once_with_a_later_result", late),
        test(
            "a_late_report_that_is_not_true_any_more_is_not_told",
            outdated,
        ),
        test(
            "a_later_write_takes_the_files_of_an_earlier_one",
            taken_over,
        ),
        test("a_server_that_never_starts_holds_up_one_write", wedged),
        test("a_server_that_hangs_holds_up_few_writes", hanging),
        test("a_report_that_never_comes_is_given_up", given_up),
        test("a_server_that_dies_makes_no_write_a_failure", dead),
        test("a_budget_of_nothing_asks_nobody", off),
        test("pitfall_28_two_servers_tell_a_fault_once", twice),
        test("pitfall_29_hints_are_not_told", hints),
        test("pitfall_32_other_files_that_broke_are_named", others),
        test("pitfall_34_many_are_counted", many),
        test(
            "pitfall_25_a_push_for_an_older_text_is_not_believed",
            old_push,
        ),
        test("pitfall_4_versions_that_never_change_are_no_versions", liar),
        test("a_second_publish_about_a_text_is_told_later", second_push),
        test(
            "what_was_told_on_request_is_not_told_again",
            told_on_request,
        ),
        test("what_a_server_lacks_every_time_is_said_once", lacking),
        test("pitfall_61_what_does_not_fit_is_told_all_the_same", odd),
        test("the_tool_inside_stays_as_it_is", same_tool),
        test("files_that_no_server_knows_cost_nothing", unclaimed),
        test("a_call_that_is_cancelled_has_written", cancelled),
    ]
}

fn fault(line: u32, message: &str) -> Value {
    let at = json!({ "line": line - 1, "character": 0 });
    json!({ "range": { "start": at, "end": at }, "severity": 1, "code": "E", "message": message })
}

fn report(faults: &[Value]) -> Step {
    Reply(json!({ "kind": "full", "items": faults }))
}

/// A server that is asked, and answers so.
fn asked(answers: Vec<Vec<Step>>) -> Script {
    let mut script = script(&[("textDocument/diagnostic", answers)]);
    script.capabilities["diagnosticProvider"] = json!({ "interFileDependencies": true });
    script
}

fn one(faults: &[Value]) -> Vec<Step> {
    vec![report(faults)]
}

fn short() -> OnWriteLimits {
    let mut limits = OnWriteLimits::default();
    limits.budget = Duration::from_millis(600);
    limits
}

fn setting(script: Script) -> Setting {
    Setting::of_writes(vec![("fake", script)], OnWriteLimits::default())
}

/// Has the server run.
async fn warm(setting: &Setting) {
    setting
        .call(json!({ "action": "symbols", "file": "a.fake" }))
        .await;
}

fn symbols(mut script: Script) -> Script {
    let method = "textDocument/documentSymbol".to_owned();
    script
        .on
        .entry(method)
        .or_insert_with(|| vec![vec![Reply(json!([]))]]);
    script
}

async fn put(setting: &Setting, text: &str) -> String {
    let outcome = setting.put(&[("a.fake", Some(text))]).await;
    assert!(outcome.error.is_none(), "{}", outcome.text);
    let told = outcome.text.strip_prefix("wrote 1 files");
    told.unwrap().trim_start().to_owned()
}

async fn only_new() {
    let (old, new) = (fault(1, "old"), fault(2, "new"));
    let moved = fault(2, "old");
    let script = symbols(asked(vec![
        one(std::slice::from_ref(&old)),
        one(&[moved.clone(), new.clone()]),
        one(&[moved, new]),
    ]));
    let setting = setting(script);
    warm(&setting).await;
    let told = put(&setting, "x\none\n").await;
    assert_eq!(told, "1 new error (fake):\na.fake:2 error [E] new");
    let told = put(&setting, "x\none \n").await;
    assert_eq!(told, "no new errors or warnings (fake)");
    setting.end().await;
}

async fn counted() {
    let (first, second) = (fault(1, "x"), fault(3, "x"));
    let script = symbols(asked(vec![
        one(&[]),
        one(std::slice::from_ref(&first)),
        one(&[first.clone(), second]),
        one(&[]),
        one(&[first]),
    ]));
    let setting = setting(script);
    warm(&setting).await;
    let mut told = Vec::new();
    for text in ["1\n", "1\n2\n3\n", "1\n2\n", "1\n2\n3\n4\n"] {
        told.push(put(&setting, text).await);
    }
    assert_eq!(
        told,
        [
            "1 new error (fake):\na.fake:1 error [E] x",
            "1 new error (fake):\na.fake:3 error [E] x",
            "no new errors or warnings (fake)",
            "1 new error (fake):\na.fake:1 error [E] x",
        ]
    );
    setting.end().await;
}

async fn order() {
    let setting = setting(symbols(asked(vec![one(&[])])));
    warm(&setting).await;
    put(&setting, "new\n").await;
    let methods = setting.methods();
    let methods: Vec<&str> = methods
        .iter()
        .map(String::as_str)
        .skip_while(|method| *method != "textDocument/diagnostic")
        .collect();
    assert_eq!(
        methods,
        [
            // What was there before.
            "textDocument/diagnostic",
            "workspace/didChangeWatchedFiles",
            "textDocument/didChange",
            "textDocument/didSave",
            "textDocument/diagnostic",
        ]
    );
    let watched = setting.sent("workspace/didChangeWatchedFiles");
    assert_eq!(watched[0]["changes"][0]["type"], 2);
    setting.end().await;
}

async fn patch() {
    let setting = setting(symbols(asked(vec![one(&[])])));
    setting.write("b.fake", "b\n");
    warm(&setting).await;
    let files = [
        ("a.fake", Some("1")),
        ("b.fake", Some("2")),
        ("c.fake", Some("3")),
    ];
    let outcome = setting.put(&files).await;
    assert_eq!(
        outcome.text,
        "wrote 3 files\nno new errors or warnings (fake)"
    );
    let methods = setting.methods();
    let saved = methods
        .iter()
        .rposition(|m| m == "textDocument/didSave")
        .unwrap();
    let asked = &methods[saved..];
    assert_eq!(
        asked
            .iter()
            .filter(|m| *m == "textDocument/diagnostic")
            .count(),
        3,
        "{methods:?}"
    );
    // That a file is new is said before it is opened.
    let watched = setting.sent("workspace/didChangeWatchedFiles");
    let kinds = ["a.fake", "b.fake", "c.fake"].map(|name| kind(watched.last().unwrap(), name));
    assert_eq!(kinds, [2, 2, 1]);
    setting.end().await;
}

/// Returns what a notification says that became of a file.
fn kind(watched: &Value, name: &str) -> u64 {
    let mut changes = watched["changes"].as_array().unwrap().iter();
    let change = changes.find(|change| change["uri"].as_str().unwrap().ends_with(name));
    change.unwrap()["type"].as_u64().unwrap()
}

async fn failed() {
    let setting = setting(symbols(asked(vec![one(&[fault(1, "x")])])));
    warm(&setting).await;
    let outcome = setting
        .put(&[("fail", Some("x")), ("a.fake", Some("x"))])
        .await;
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::Conflict);
    assert_eq!(setting.read("a.fake"), TEXT);
    assert!(setting.sent("textDocument/didChange").is_empty());
    // It is known from before, and nothing new.
    assert_eq!(put(&setting, "y").await, "no new errors or warnings (fake)");
    setting.end().await;
}

async fn no_baseline() {
    // The server does not run before the first write.
    let setting = setting(asked(vec![one(&[fault(1, "x")])]));
    let told = put(&setting, "y").await;
    assert_eq!(
        told,
        "1 new error (fake), some of which may be older than this write:\na.fake:1 error [E] x"
    );
    let details = setting.put(&[("a.fake", Some("z"))]).await.details;
    assert_eq!(
        details["language_servers"]["servers"][0]["verdict"]["kind"],
        "fresh"
    );
    setting.end().await;
}

async fn new_file() {
    let setting = setting(asked(vec![one(&[fault(1, "x")])]));
    let outcome = setting.put(&[("n.fake", Some("x"))]).await;
    assert_eq!(
        outcome.text,
        "wrote 1 files\n1 new error (fake):\nn.fake:1 error [E] x"
    );
    let fault = &outcome.details["language_servers"]["diagnostics"][0];
    let expected = json!({
        "path": "n.fake", "is_written": true, "server": "fake", "severity": "error", "line": 1,
        "column": 1, "code": "E", "source": null, "message": "x",
    });
    assert_eq!(*fault, expected);
    setting.end().await;
}

async fn deleted() {
    let setting = setting(symbols(asked(vec![one(&[fault(1, "x")])])));
    warm(&setting).await;
    put(&setting, "y").await;
    let outcome = setting.put(&[("a.fake", None)]).await;
    assert_eq!(
        outcome.text,
        "wrote 1 files\nno new errors or warnings (fake)"
    );
    // Nothing was asked, so that it may not have read it yet.
    let start = std::time::Instant::now();
    while kind(
        setting
            .sent("workspace/didChangeWatchedFiles")
            .last()
            .unwrap(),
        "a.fake",
    ) != 3
    {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{:?}",
            setting.methods()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // It comes back with its fault, which is new then.
    assert_eq!(
        put(&setting, "y").await,
        "1 new error (fake):\na.fake:1 error [E] x"
    );
    setting.end().await;
}

/// A server that takes two seconds for its second answer, and none otherwise.
fn slow(second: &[Value], then: &[Value]) -> Script {
    symbols(asked(vec![
        one(&[]),
        vec![Wait(2000), report(second)],
        one(then),
    ]))
}

/// Waits until there is something to tell.
async fn wait_for_notice(setting: &Setting) {
    let start = std::time::Instant::now();
    while setting.registry.run().notices().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "no notice comes");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn late() {
    let script = slow(&[fault(1, "x")], &[fault(1, "x")]);
    let setting = Setting::of_writes(vec![("fake", script)], short());
    warm(&setting).await;
    let outcome = setting.put(&[("a.fake", Some("y"))]).await;
    assert_eq!(
        outcome.text,
        "wrote 1 files\nfake has not answered yet; its report comes with a later result"
    );
    assert!(
        outcome.took < Duration::from_millis(1500),
        "{:?}",
        outcome.took
    );
    let server = &outcome.details["language_servers"]["servers"][0];
    assert_eq!(server["is_pending"], true);
    wait_for_notice(&setting).await;
    let other = setting.call(json!({ "action": "status" })).await.text;
    let notice = "late report on your earlier write of `a.fake`: 1 new error (fake):\n\
                  a.fake:1 error [E] x";
    assert_eq!(other.matches(notice).count(), 1, "{other}");
    let again = setting.call(json!({ "action": "status" })).await.text;
    assert!(!again.contains("late report"), "{again}");
    assert_eq!(put(&setting, "z").await, "no new errors or warnings (fake)");
    setting.end().await;
}

async fn outdated() {
    let script = slow(&[fault(1, "x"), fault(1, "y")], &[fault(1, "y")]);
    let setting = Setting::of_writes(vec![("fake", script)], short());
    warm(&setting).await;
    put(&setting, "y").await;
    wait_for_notice(&setting).await;
    // The model mends one of two faults that it was not told of.
    let outcome = setting.put(&[("a.fake", Some("z"))]).await;
    assert_eq!(
        outcome.text,
        "wrote 1 files\n1 new error (fake):\na.fake:1 error [E] y"
    );
    setting.end().await;
}

async fn taken_over() {
    let script = slow(&[fault(1, "x")], &[fault(1, "x")]);
    let setting = Setting::of_writes(vec![("fake", script)], short());
    warm(&setting).await;
    put(&setting, "y").await;
    let outcome = setting.put(&[("b.fake", Some("b"))]).await;
    let text = "fake has not answered yet; its report comes with a later result";
    assert!(outcome.text.contains(text), "{}", outcome.text);
    wait_for_notice(&setting).await;
    let told = setting.registry.run().notices().drain();
    assert_eq!(
        told,
        [
            "late report on your earlier write of `b.fake`, `a.fake`: 2 new errors (fake):\n\
          b.fake:1 error [E] x\na.fake:1 error [E] x"
        ]
    );
    setting.end().await;
}

async fn wedged() {
    let script = script(&[("initialize", vec![vec![Hang]])]);
    let setting = Setting::of_writes(vec![("fake", script)], short());
    let first = setting.put(&[("a.fake", Some("1"))]).await;
    assert_eq!(
        first.text,
        "wrote 1 files\nfake: starting; its report comes with a later result"
    );
    let (least, most) = (Duration::from_millis(400), Duration::from_millis(1200));
    assert!(first.took > least && first.took < most, "{:?}", first.took);
    for text in ["2", "3", "4"] {
        let next = setting.put(&[("a.fake", Some(text))]).await;
        assert!(next.text.contains("later result"), "{}", next.text);
        assert!(next.took < Duration::from_millis(150), "{:?}", next.took);
    }
    setting.end().await;
}

async fn hanging() {
    let script = symbols(asked(vec![vec![Hang]]));
    let setting = Setting::of_writes(vec![("fake", script)], short());
    warm(&setting).await;
    let mut took = Vec::new();
    for text in ["1", "2", "3"] {
        took.push(setting.put(&[("a.fake", Some(text))]).await.took);
    }
    // The look before the write is a part of what it costs.
    assert!(took[0] < Duration::from_millis(1200), "{took:?}");
    assert!(took[1] < Duration::from_millis(500), "{took:?}");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let outcome = setting.put(&[("a.fake", Some("4"))]).await;
    assert!(
        outcome.took < Duration::from_millis(150),
        "{:?}",
        outcome.took
    );
    setting.end().await;
}

async fn given_up() {
    let mut limits = short();
    limits.late = Duration::from_secs(1);
    let script = symbols(asked(vec![one(&[]), vec![Wait(20_000)]]));
    let setting = Setting::of_writes(vec![("fake", script)], limits);
    warm(&setting).await;
    put(&setting, "1").await;
    wait_for_notice(&setting).await;
    let told = setting.registry.run().notices().drain().join("\n");
    let start = "late report on your earlier write of `a.fake`: `a.fake` not checked by fake: ";
    assert!(told.starts_with(start), "{told}");
    assert!(!told.contains("no new errors"), "{told}");
    setting.end().await;
}

async fn dead() {
    let script = symbols(asked(vec![one(&[]), vec![Exit(3)]]));
    let setting = setting(script);
    warm(&setting).await;
    let told = put(&setting, "1").await;
    assert!(told.starts_with("not checked by fake: "), "{told}");
    assert!(
        told.contains("3") && !told.contains("no new errors"),
        "{told}"
    );
    assert_eq!(setting.read("a.fake"), "1");
    setting.end().await;
}

async fn off() {
    let mut limits = OnWriteLimits::default();
    limits.budget = Duration::ZERO;
    let setting = Setting::of_writes(vec![("fake", asked(vec![one(&[])]))], limits);
    assert_eq!(put(&setting, "1").await, "");
    assert!(setting.methods().is_empty());
    setting.end().await;
}

async fn twice() {
    let both = || {
        symbols(asked(vec![
            one(&[]),
            one(&[fault(1, "x is odd"), fault(1, "x is odd")]),
        ]))
    };
    let mut third = both();
    third.on.insert(
        "textDocument/diagnostic".to_owned(),
        vec![one(&[]), one(&[fault(1, "x is  odd"), fault(2, "y")])],
    );
    let setting = Setting::of_writes(
        vec![("fake", both()), ("linter", third)],
        OnWriteLimits::default(),
    );
    setting
        .call(json!({ "action": "diagnostics", "file": "a.fake" }))
        .await;
    let told = put(&setting, "1\n2\n").await;
    assert_eq!(
        told,
        "2 new errors (fake, linter):\na.fake:1 error [E] x is odd\na.fake:2 error [E] y"
    );
    setting.end().await;
}

async fn hints() {
    let mut hint = fault(1, "hint");
    hint["severity"] = json!(4);
    hint["tags"] = json!([1]);
    let mut warning = fault(1, "warning");
    warning["severity"] = json!(2);
    let setting = setting(symbols(asked(vec![one(&[]), one(&[hint, warning])])));
    warm(&setting).await;
    assert_eq!(
        put(&setting, "1").await,
        "1 new warning (fake):\na.fake:1 warning [E] warning"
    );
    setting.end().await;
}

async fn others() {
    // `b.fake` names `a`, so it is looked at too: before and after.
    let script = symbols(asked(vec![
        one(&[]),
        one(&[fault(1, "old")]),
        one(&[]),
        one(&[fault(1, "old"), fault(1, "broken")]),
    ]));
    let setting = setting(script);
    setting.write("b.fake", "use a\n");
    warm(&setting).await;
    assert_eq!(
        put(&setting, "1").await,
        "1 new error (fake):\nin files that were not written:\nb.fake:1 error [E] broken"
    );
    setting.end().await;
}

async fn many() {
    let faults: Vec<Value> = (1..=25).map(|n| fault(n, &format!("x{n}"))).collect();
    let setting = setting(symbols(asked(vec![one(&[]), one(&faults)])));
    warm(&setting).await;
    let told = put(&setting, &"x\n".repeat(25)).await;
    assert!(
        told.starts_with("25 new errors (fake):\na.fake:1 error [E] x1\n"),
        "{told}"
    );
    let end =
        "a.fake:20 error [E] x20\nand 5 more in a.fake: `lsp` with action `diagnostics` lists them";
    assert!(told.ends_with(end), "{told}");
    setting.end().await;
}

/// Publishes about the file of the message.
fn publish(version: Value, faults: &[Value]) -> Step {
    let params = json!({ "uri": "$uri", "version": version, "diagnostics": faults });
    Send(json!({ "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params }))
}

async fn old_push() {
    let opened = vec![publish(json!(1), &[])];
    let changed = vec![
        // Of the text before, a moment too late.
        publish(json!(1), &[fault(1, "old")]),
        Wait(500),
        publish(json!("$version"), &[fault(1, "new")]),
    ];
    let script = symbols(script(&[
        ("textDocument/didOpen", vec![opened]),
        (
            "textDocument/didChange",
            vec![vec![publish(json!(2), &[])], changed],
        ),
    ]));
    let setting = setting(script);
    warm(&setting).await;
    assert_eq!(put(&setting, "1").await, "no new errors or warnings (fake)");
    assert_eq!(
        put(&setting, "2").await,
        "1 new error (fake):\na.fake:1 error [E] new"
    );
    setting.end().await;
}

async fn second_push() {
    let publish = |faults: &[Value]| publish(json!("$version"), faults);
    let once = |faults: &[Value]| vec![publish(faults)];
    let script = symbols(script(&[
        ("textDocument/didOpen", vec![once(&[])]),
        (
            "textDocument/didChange",
            vec![
                once(&[]),
                once(&[]),
                vec![
                    publish(&[fault(1, "x")]),
                    Wait(400),
                    publish(&[fault(1, "x"), fault(2, "y")]),
                ],
                once(&[fault(1, "x"), fault(2, "y")]),
            ],
        ),
    ]));
    let setting = setting(script);
    warm(&setting).await;
    for text in ["1", "2"] {
        assert_eq!(
            put(&setting, text).await,
            "no new errors or warnings (fake)"
        );
    }
    let told = put(&setting, "3\n3\n").await;
    assert_eq!(told, "1 new error (fake):\na.fake:1 error [E] x");
    wait_for_notice(&setting).await;
    assert_eq!(
        setting.registry.run().notices().drain(),
        [
            "late report on your earlier write of `a.fake`: 1 new error (fake):\n\
          a.fake:2 error [E] y"
        ]
    );
    assert_eq!(
        put(&setting, "4\n4\n").await,
        "no new errors or warnings (fake)"
    );
    setting.end().await;
}

async fn liar() {
    let opened = vec![publish(json!(1), &[])];
    let changed = vec![Wait(100), publish(json!(1), &[fault(1, "new")])];
    let script = symbols(script(&[
        ("textDocument/didOpen", vec![opened]),
        ("textDocument/didChange", vec![changed]),
    ]));
    let setting = setting(script);
    warm(&setting).await;
    let told = put(&setting, "1").await;
    assert!(
        told.contains("1 new error (fake):\na.fake:1 error [E] new"),
        "{told}"
    );
    setting.end().await;
}

async fn told_on_request() {
    let x = || fault(1, "x");
    let setting = setting(symbols(asked(vec![
        one(&[x()]),
        one(&[x(), fault(2, "y")]),
    ])));
    let told = setting
        .call(json!({ "action": "diagnostics", "file": "a.fake" }))
        .await
        .text;
    assert!(told.contains("1:1 error [E] x"), "{told}");
    assert_eq!(
        put(&setting, "1\n2\n").await,
        "1 new error (fake):\na.fake:2 error [E] y"
    );
    setting.end().await;
}

async fn lacking() {
    // It is asked in two ways, and refuses one.
    let refused = Step::Refuse(-32603, "not now".to_owned());
    let answers = || vec![report(&[])];
    let mut script = symbols(asked(vec![answers(), vec![refused]]));
    for (at, answers) in [answers(), vec![Step::Refuse(-32603, "not now".to_owned())]]
        .into_iter()
        .cycle()
        .take(12)
        .enumerate()
    {
        let times = script.on.get_mut("textDocument/diagnostic").unwrap();
        if at == 0 {
            times.clear();
        }
        times.push(answers);
    }
    let register = json!({
        "jsonrpc": "2.0", "id": "r", "method": "client/registerCapability",
        "params": { "registrations": [{
            "id": "d", "method": "textDocument/diagnostic",
            "registerOptions": { "identifier": "second" },
        }] },
    });
    script
        .on
        .insert("initialized".to_owned(), vec![vec![Send(register)]]);
    let setting = setting(script);
    warm(&setting).await;
    let first = put(&setting, "1").await;
    assert!(
        first.starts_with("no new errors or warnings so far (fake)\npartial (fake): "),
        "{first}"
    );
    assert_eq!(
        put(&setting, "2").await,
        "no new errors or warnings so far (fake)"
    );
    setting.end().await;
}

async fn odd() {
    let odd = json!({ "severity": "high", "message": { "kind": "markdown", "value": "a *b*" } });
    let setting = setting(symbols(asked(vec![one(&[]), one(&[odd, fault(1, "x")])])));
    warm(&setting).await;
    assert_eq!(
        put(&setting, "1").await,
        "2 new errors (fake):\na.fake:0 error a *b*\na.fake:1 error [E] x"
    );
    setting.end().await;
}

async fn same_tool() {
    let setting = setting(asked(vec![one(&[])]));
    let specs = setting.registry.specs();
    let spec = specs.iter().find(|spec| spec.name == "write").unwrap();
    let workspace = host::Workspace::open(setting.folder.path(), tiers::Trust::Untrusted).unwrap();
    let inner = tiers::Typed::new(test_support::Writer::new(workspace.clone()));
    assert_eq!(spec.input_schema, inner.spec().input_schema);
    assert_eq!(
        (&spec.description, spec.tier),
        (&inner.spec().description, tiers::Tier::Write)
    );
    let arguments = json!({ "files": [{ "path": "a.fake" }] });
    let servers = std::sync::Arc::clone(&setting.supervisor) as _;
    let outer = DiagnosticsOnWrite::new(std::sync::Arc::new(inner), workspace, servers);
    assert_eq!(outer.paths(&arguments), ["a.fake"]);
    assert!(outer.check_arguments(&json!({ "files": 1 })).is_err());
    let outer = outer.paths_from(|_| vec!["b.fake".to_owned()]);
    assert_eq!(outer.paths(&arguments), ["b.fake"]);
    setting.end().await;
}

async fn unclaimed() {
    let setting = setting(asked(vec![one(&[])]));
    let outcome = setting.put(&[("a.txt", Some("x"))]).await;
    assert_eq!(
        (outcome.text.as_str(), &outcome.details),
        ("wrote 1 files", &Value::Null)
    );
    assert!(setting.methods().is_empty());
    setting.end().await;
}

async fn cancelled() {
    let script = slow(&[fault(1, "x")], &[]);
    let setting = setting(script);
    warm(&setting).await;
    let token = tokio_util::sync::CancellationToken::new();
    let stop = token.clone();
    let arguments = json!({ "files": [{ "path": "a.fake", "text": "y" }] });
    let call = tiers::Call::new("write", arguments).with_token(token);
    let stopped = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.cancel();
    };
    let (output, ()) = tokio::join!(setting.registry.dispatch_call(call), stopped);
    assert_eq!(setting.read("a.fake"), "y");
    assert_eq!(output.unwrap().touched, ["a.fake"]);
    wait_for_notice(&setting).await;
    let told = setting.registry.run().notices().drain().join("\n");
    assert!(told.contains("a.fake:1 error [E] x"), "{told}");
    setting.end().await;
}
