//! `lsp_rename`: what is written, and what is refused whole.

use std::path::Path;
use std::time::Duration;

use libtest_mimic::Trial;
use lsp_bridge::{LspLimits, SupervisorLimits};
use serde_json::{Value, json};
use test_support::Script;
use test_support::Step::{Refuse, Reply, Write};
use tiers::ErrorKind;

use crate::setting::{Outcome, Setting, TEXT, capabilities, script, test};

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("pitfall_40_both_shapes_are_written_to_the_byte", bytes),
        test("pitfall_40_files_are_made_moved_and_deleted", resources),
        test("pitfall_41_what_is_outside_is_not_written", outside),
        test("pitfall_40_edits_that_do_not_fit_are_refused", unfit),
        test(
            "pitfall_52_an_edit_of_the_whole_file_is_compared",
            whole_file,
        ),
        test("pitfall_42_no_edit_is_an_error", nothing),
        test(
            "pitfall_39_names_are_checked_before_a_server_is_asked",
            names,
        ),
        test("pitfall_39_what_cannot_be_renamed_is_told", prepared),
        test("pitfall_42_what_a_cold_server_leaves_out_is_named", cold),
        test(
            "pitfall_42_a_server_that_names_more_references_is_not_believed",
            refuted,
        ),
        test("a_file_that_changes_while_the_server_works_is_named", stale),
        test("a_file_that_changes_before_the_commit_is_named", between),
        test(
            "pitfall_42_new_errors_and_what_is_left_of_the_name_are_told",
            faults,
        ),
        test("a_server_of_others_renames", of_others),
    ]
}

fn edit(line: u32, start: u32, end: u32, text: &str) -> Value {
    let range = json!({
        "start": { "line": line, "character": start },
        "end": { "line": line, "character": end },
    });
    json!({ "range": range, "newText": text })
}

fn texts(file: &str, edits: &[Value]) -> Value {
    let document = json!({ "uri": format!("$folder/{file}"), "version": null });
    json!({ "textDocument": document, "edits": edits })
}

/// The whole rename of `one` in the first file.
fn usual() -> Value {
    texts("a.fake", &[edit(0, 0, 3, "uno"), edit(1, 6, 9, "uno")])
}

/// A server that answers with this edit.
fn renaming(edit: Value) -> Script {
    let none = || vec![vec![Reply(json!([]))]];
    let fine = vec![vec![Reply(json!({ "kind": "full", "items": [] }))]];
    let mut script = script(&[
        ("textDocument/rename", vec![vec![Reply(edit)]]),
        ("textDocument/definition", none()),
        ("textDocument/references", none()),
        ("textDocument/diagnostic", fine),
    ]);
    script.capabilities = capabilities();
    script.capabilities["renameProvider"] = json!(true);
    script.capabilities["diagnosticProvider"] = json!({});
    script
}

fn changes(steps: Value) -> Setting {
    Setting::new(renaming(json!({ "documentChanges": steps })))
}

async fn rename_to(setting: &Setting, new_name: &str) -> Outcome {
    let arguments = json!({ "file": "a.fake", "line": 1, "symbol": "one", "new_name": new_name });
    setting.call_tool("lsp_rename", arguments).await
}

async fn rename(setting: &Setting) -> Outcome {
    rename_to(setting, "uno").await
}

/// Renames, expects a refusal, and that the file is as it was.
async fn refused(setting: Setting, kind: ErrorKind, said: &str) {
    let outcome = rename(&setting).await;
    assert!(outcome.text.contains(said), "{}", outcome.text);
    assert_eq!(outcome.error.unwrap().kind, kind, "{}", outcome.text);
    assert_eq!(setting.read("a.fake"), TEXT);
    setting.end().await;
}

async fn bytes() {
    let before = "\u{feff}one \"😀é\" one\r\nthree\u{2028}one\rone";
    let after = "\u{feff}uno \"😀é\" uno\r\nthree\u{2028}uno\runo";
    let edits = [
        edit(0, 13, 16, "uno"),
        edit(2, 0, 3, "uno"),
        edit(0, 0, 3, "uno"),
        edit(1, 8, 11, "uno"),
        edit(0, 0, 3, "uno"),
    ];
    let both = [
        json!({ "changes": { "$folder/a.fake": edits } }),
        json!({ "documentChanges": [texts("a.fake", &edits)], "changes": { "$folder/x": [] } }),
    ];
    for shape in both {
        let setting = Setting::new(renaming(shape));
        setting.write("a.fake", before);
        let outcome = rename(&setting).await;
        assert!(
            outcome.text.starts_with(
                "renamed `one` to `uno`: 4 places in 1 file\na.fake: 4\nno new errors"
            ),
            "{}",
            outcome.text
        );
        assert_eq!(setting.read("a.fake"), after);
        setting.end().await;
    }
}

async fn resources() {
    let steps = json!([
        usual(),
        { "kind": "rename", "oldUri": "$folder/a.fake", "newUri": "$folder/inner/uno.fake" },
        { "kind": "create", "uri": "$folder/b.fake" },
        texts("b.fake", &[]),
        { "kind": "delete", "uri": "$folder/c.fake" },
        { "kind": "create", "uri": "$folder/d.fake", "options": { "ignoreIfExists": true } },
    ]);
    let setting = changes(steps.clone());
    setting.write("c.fake", "gone\n");
    setting.write("d.fake", "kept\n");
    let root = setting.folder.path();
    let outcome = rename(&setting).await;
    assert!(outcome.error.is_none(), "{}", outcome.text);
    assert_eq!(setting.read("inner/uno.fake"), "uno two\nthree uno\n");
    assert_eq!(setting.read("b.fake"), "");
    assert_eq!(setting.read("d.fake"), "kept\n");
    assert!(!root.join("a.fake").exists() && !root.join("c.fake").exists());
    assert!(
        outcome.text.contains("\na.fake: removed"),
        "{}",
        outcome.text
    );
    setting.end().await;

    // What cannot be done spoils the rest.
    let setting = changes(steps);
    setting.write("b.fake", "in the way\n");
    setting.write("c.fake", "gone\n");
    refused(
        setting,
        ErrorKind::Failed,
        "it makes `b.fake`, which exists already",
    )
    .await;
    let missing = json!([usual(), { "kind": "delete", "uri": "$folder/none.fake" }]);
    let said = "it deletes `none.fake`, which does not exist";
    refused(changes(missing), ErrorKind::Failed, said).await;
}

async fn outside() {
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("b.fake");
    std::fs::write(&file, "one\n").unwrap();
    let uri = format!("file://{}", file.display());
    let other = json!({ "textDocument": { "uri": uri }, "edits": [edit(0, 0, 3, "uno")] });
    let kind = ErrorKind::Denied;
    let said = "it is outside the workspace";
    refused(changes(json!([usual(), other])), kind, said).await;
    let moved = json!({ "kind": "rename", "oldUri": "$folder/a.fake", "newUri": uri });
    refused(changes(json!([moved])), kind, said).await;
    let no_file = json!({ "textDocument": { "uri": "jdt://b" }, "edits": [] });
    refused(changes(json!([usual(), no_file])), kind, "it is no file").await;

    let setting = changes(json!([
        usual(),
        texts("link/b.fake", &[edit(0, 0, 3, "uno")])
    ]));
    std::os::unix::fs::symlink(elsewhere.path(), setting.folder.path().join("link")).unwrap();
    refused(setting, kind, said).await;

    let setting = changes(json!([
        usual(),
        texts(".git/b.fake", &[edit(0, 0, 3, "uno")])
    ]));
    std::fs::create_dir(setting.folder.path().join(".git")).unwrap();
    setting.write(".git/b.fake", "one\n");
    refused(setting, kind, "what is in `.git` belongs to the repository").await;
    assert_eq!(std::fs::read_to_string(file).unwrap(), "one\n");
}

async fn unfit() {
    let kind = ErrorKind::Failed;
    let overlap = texts("a.fake", &[edit(0, 0, 3, "uno"), edit(0, 2, 5, "x")]);
    let said = "its edits in lines 1 and 1 of `a.fake` overlap";
    refused(changes(json!([overlap])), kind, said).await;
    let other = texts("a.fake", &[edit(0, 0, 3, "uno"), edit(0, 4, 7, "uno")]);
    let said = "in line 1 of `a.fake` it replaces `two` and not `one`";
    refused(changes(json!([other])), kind, said).await;
    let snippet = json!({ "range": edit(0, 0, 3, "")["range"], "snippet": { "value": "$1" } });
    let said = "a template to be filled in by a person";
    refused(changes(json!([texts("a.fake", &[snippet])])), kind, said).await;
    let missing = texts("none.fake", &[edit(0, 0, 3, "uno")]);
    let said = "it edits `none.fake`, which does not exist";
    refused(changes(json!([usual(), missing])), kind, said).await;

    let setting = changes(json!([usual(), texts("b.fake", &[edit(0, 0, 3, "uno")])]));
    std::fs::write(setting.folder.path().join("b.fake"), b"one \xff\n").unwrap();
    refused(setting, kind, "it edits `b.fake`, which is no text").await;
}

async fn whole_file() {
    let whole = |text: &str| {
        let mut whole = edit(0, 0, 0, text);
        whole["range"]["end"]["line"] = json!(2);
        changes(json!([texts("a.fake", &[whole])]))
    };
    let setting = whole("uno two\nthree uno\n");
    let outcome = rename(&setting).await;
    assert!(
        outcome
            .text
            .starts_with("renamed `one` to `uno`: 2 places in 1 file"),
        "{}",
        outcome.text
    );
    assert_eq!(setting.read("a.fake"), "uno two\nthree uno\n");
    setting.end().await;
    refused(
        whole("uno  two\nthree uno\n"),
        ErrorKind::Failed,
        "in line 1 of `a.fake` it replaces",
    )
    .await;
}

async fn nothing() {
    for empty in [
        Value::Null,
        json!({}),
        json!({ "changes": {} }),
        json!({ "documentChanges": [texts("a.fake", &[])] }),
    ] {
        let setting = Setting::new(renaming(empty));
        refused(
            setting,
            ErrorKind::Failed,
            "`fake` renames nothing for `one`",
        )
        .await;
    }
    let same = texts("a.fake", &[edit(0, 0, 3, "one")]);
    refused(
        changes(json!([same])),
        ErrorKind::Failed,
        "its edit changes nothing",
    )
    .await;
}

async fn names() {
    let setting = changes(json!([usual()]));
    for (name, said) in [
        ("one", "that is its name already"),
        ("u n o", "` ` cannot be in a name"),
        ("", "it is empty"),
    ] {
        let outcome = rename_to(&setting, name).await;
        assert!(outcome.text.contains(said), "{}", outcome.text);
        assert_eq!(outcome.error.unwrap().kind, ErrorKind::InvalidInput);
    }
    assert!(setting.sent("textDocument/rename").is_empty());
    assert_eq!(setting.read("a.fake"), TEXT);
    setting.end().await;
}

async fn prepared() {
    let mut script = renaming(json!({ "documentChanges": [usual()] }));
    script.capabilities["renameProvider"] = json!({ "prepareProvider": true });
    let mut none = script.clone();
    none.on.insert(
        "textDocument/prepareRename".to_owned(),
        vec![vec![Reply(Value::Null)]],
    );
    let setting = Setting::new(none);
    refused(setting, ErrorKind::Failed, "nothing there can be renamed").await;
    let mut no = script.clone();
    let why = Refuse(-32602, "a keyword".to_owned());
    no.on
        .insert("textDocument/prepareRename".to_owned(), vec![vec![why]]);
    refused(Setting::new(no), ErrorKind::Failed, "it answers: a keyword").await;
    let may = Reply(json!({ "defaultBehavior": true }));
    script
        .on
        .insert("textDocument/prepareRename".to_owned(), vec![vec![may]]);
    let setting = Setting::new(script);
    assert!(rename(&setting).await.error.is_none());
    setting.end().await;
}

fn short() -> LspLimits {
    let mut limits = LspLimits::default();
    limits.call = Duration::from_secs(4);
    limits.ready = Duration::from_secs(1);
    limits
}

async fn cold() {
    // It never shows that it is done, and leaves a file out.
    let script = renaming(json!({ "documentChanges": [usual()] }));
    let servers = SupervisorLimits::default();
    for ready in ["{ log = \"never said\" }", "\"quiet\""] {
        let setting = Setting::with(script.clone(), ready, short(), servers.clone());
        setting.write("b.fake", "one\n");
        let outcome = rename(&setting).await;
        assert!(
            outcome.text.contains(
                "cannot rename `one` everywhere: 1 file with the word is not covered by the edit \
                 of `fake` (b.fake); nothing was written"
            ),
            "{}",
            outcome.text
        );
        assert!(outcome.took < Duration::from_secs(3), "{:?}", outcome.took);
        assert_eq!(setting.read("a.fake"), TEXT);
        // Once the edit covers every file, readiness does not matter.
        setting.write("b.fake", "two\n");
        let outcome = rename(&setting).await;
        assert!(outcome.error.is_none(), "{}", outcome.text);
        assert_eq!(setting.read("a.fake"), "uno two\nthree uno\n");
        setting.end().await;
    }
    // One that has shown it may leave out what is a word and no name.
    let setting = Setting::new(script);
    setting.write("b.fake", "one\n");
    let outcome = rename(&setting).await;
    assert!(
        outcome.text.ends_with(
            "\nthe word `one` is still written in 1 place (comments, texts, other things of that \
             name): b.fake:1"
        ),
        "{}",
        outcome.text
    );
    setting.end().await;
}

async fn refuted() {
    let mut script = renaming(json!({ "documentChanges": [usual()] }));
    let spot = json!({ "uri": "$folder/b.fake", "range": edit(0, 0, 3, "")["range"] });
    script.on.insert(
        "textDocument/references".to_owned(),
        vec![vec![Reply(json!([spot]))]],
    );
    let setting = Setting::with(script, "\"always\"", short(), SupervisorLimits::default());
    setting.write("b.fake", "one\n");
    let said = "its own references name such files";
    refused(setting, ErrorKind::Failed, said).await;
}

async fn stale() {
    let edit = json!({ "documentChanges": [usual(), texts("b.fake", &[edit(0, 0, 3, "uno")])] });
    for (file, said) in [
        ("a.fake", "`a.fake` is not what the server read"),
        ("b.fake", "`b.fake` is not what the server read"),
    ] {
        let mut script = renaming(edit.clone());
        let text = if file == "a.fake" { TEXT } else { "one\n" };
        // The same where it is edited: only comparing all of it shows that.
        let write = Write(file.to_owned(), format!("{text}more\n"));
        let steps = vec![vec![write, Reply(edit.clone())]];
        script.on.insert("textDocument/rename".to_owned(), steps);
        let setting = Setting::new(script);
        setting.write("b.fake", "one\n");
        let outcome = rename(&setting).await;
        assert!(outcome.text.contains(said), "{}", outcome.text);
        assert_eq!(outcome.error.unwrap().kind, ErrorKind::Conflict);
        let others = [("a.fake", TEXT), ("b.fake", "one\n")];
        for (name, text) in others {
            let more = if name == file { "more\n" } else { "" };
            assert_eq!(setting.read(name), format!("{text}{more}"));
        }
        setting.end().await;
    }
}

async fn between() {
    let setting = changes(json!([usual(), texts("b.fake", &[edit(0, 0, 3, "uno")])]));
    setting.write("b.fake", "one\n");
    setting.files.write(
        setting.folder.path().join("b.fake"),
        "one, but not the same\n",
    );
    let outcome = rename(&setting).await;
    assert!(
        outcome
            .text
            .contains("`b.fake` has changed: line 1 is the first to differ"),
        "{}",
        outcome.text
    );
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::Conflict);
    assert_eq!(setting.read("a.fake"), TEXT);
    assert_eq!(setting.read("b.fake"), "one, but not the same\n");
    // And the next call works.
    let outcome = rename(&setting).await;
    assert!(outcome.error.is_none(), "{}", outcome.text);
    assert_eq!(setting.read("b.fake"), "uno, but not the same\n");
    setting.end().await;
}

async fn faults() {
    let mut script = renaming(json!({ "documentChanges": [usual()] }));
    let fault = |line: u32, text: &str| json!({ "range": edit(line, 0, 1, "")["range"], "severity": 1, "message": text });
    let report = |items: Value| vec![Reply(json!({ "kind": "full", "items": items }))];
    let before = report(json!([fault(0, "`one` is odd")]));
    let after = report(json!([
        fault(1, "`uno` is odd"),
        fault(1, "`uno` hides another")
    ]));
    script
        .on
        .insert("textDocument/diagnostic".to_owned(), vec![before, after]);
    let setting = Setting::new(script);
    setting.write("notes.txt", "one\n");
    let outcome = rename(&setting).await;
    assert_eq!(
        outcome.text,
        "renamed `one` to `uno`: 2 places in 1 file\na.fake: 2\n\
         1 new error or warning (fake):\na.fake:2:1 error `uno` hides another"
    );
    // It was told of the new text before it was asked.
    let changed = &setting.sent("textDocument/didChange")[0];
    assert_eq!(
        changed["contentChanges"],
        json!([{ "text": "uno two\nthree uno\n" }])
    );
    setting.end().await;
}

async fn of_others() {
    let setting = Setting::sample(&[
        (
            "shapes.sample",
            "# A shape.\ntype shape\ntype square of shape\r\n",
        ),
        (
            "main.sample",
            "\u{feff}let side: square\n\"😀!\" side shape, shape\n",
        ),
    ]);
    let arguments =
        json!({ "file": "main.sample", "line": 2, "symbol": "shape", "new_name": "form" });
    let outcome = setting.call_tool("lsp_rename", arguments).await;
    assert_eq!(
        outcome.text,
        "renamed `shape` to `form`: 4 places in 2 files\nmain.sample: 2\nshapes.sample: 2\n\
         no new errors or warnings (sample)\n\
         the word `shape` is still written in 1 place (comments, texts, other things of that \
         name): shapes.sample:1\n\
         note: `shape` is in line 2 2 times (columns 11, 18); this is about the first, `shape#2` \
         is the next"
    );
    assert_eq!(
        setting.read("shapes.sample"),
        "# A shape.\ntype form\ntype square of form\r\n"
    );
    assert_eq!(
        setting.read("main.sample"),
        "\u{feff}let side: square\n\"😀!\" side form, form\n"
    );
    assert!(Path::new(&setting.folder.path().join("main.sample")).is_file());
    setting.end().await;
}
