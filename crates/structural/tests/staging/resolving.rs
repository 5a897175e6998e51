//! Accepting and discarding: what the file layer is given, and what the model
//! is told.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use expect_test::expect;
use host::{
    Applied, ChangeSet, DiskFiles, Error, FileMetadata, HarnessFiles, Outcome, Trust, WorkspacePath,
};
use serde_json::json;
use structural::Resolve;
use tiers::{
    Approval, ApprovalRequest, Approver, CallContext, Decision, ErrorKind, GateRequest, Guardrail,
    Mode, Registry, Run, ToolError, TypedTool as _,
};
use tokio::sync::Notify;

use crate::setting::{Setting, id_of, text_of};

/// A file layer like an editor's: one buffer is not saved, and change sets wait
/// until they are let through.
#[derive(Default)]
struct Editor {
    disk: DiskFiles,
    buffer: Option<(&'static str, &'static str)>,
    applied: Mutex<Vec<ChangeSet>>,
    /// Whether a change set waits for `go`.
    waits: bool,
    began: Notify,
    go: Notify,
}

#[async_trait]
impl HarnessFiles for Editor {
    async fn read(&self, path: &WorkspacePath) -> Result<Vec<u8>, Error> {
        match self.buffer {
            Some((name, text)) if name == path.relative() => Ok(text.as_bytes().to_vec()),
            _ => self.disk.read(path).await,
        }
    }

    async fn metadata(&self, path: &WorkspacePath) -> Result<Option<FileMetadata>, Error> {
        self.disk.metadata(path).await
    }

    async fn write(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), Error> {
        self.disk.write(path, bytes).await
    }

    async fn apply(&self, changes: ChangeSet) -> Result<Outcome, Error> {
        let touched = changes.changes().iter().map(|c| c.path().clone()).collect();
        self.applied.lock().unwrap().push(changes);
        if self.waits {
            self.began.notify_one();
            self.go.notified().await;
        }
        Ok(Outcome::Applied(Applied::new(touched)))
    }
}

fn with_editor(editor: Editor) -> (Setting, Arc<Editor>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("workspace")).unwrap();
    let editor = Arc::new(editor);
    let setting = Setting::with_files(folder, Arc::clone(&editor) as Arc<dyn HarnessFiles>);
    (setting, editor)
}

#[test]
fn a_file_layer_gets_the_whole_change_with_the_bytes_that_it_gave() {
    let (setting, editor) = with_editor(Editor {
        buffer: Some(("a.py", "f(1)\nf(2)\n")),
        ..Editor::default()
    });
    setting.write("a.py", "saved()\n");
    setting.write("b.py", "f(3)\n");
    let tool = setting.editor().files(Arc::clone(&setting.files));
    let input = json!({ "pattern": "f($X)", "rewrite": "g($X)", "language": "python" });
    let staged = setting.edit_with(&tool, &input).unwrap();
    assert_eq!(staged.details["replacements"], 3);
    let id = id_of(&staged).unwrap();
    let accepted = setting.resolve(&id, "accept").unwrap();
    assert_eq!(accepted.touched, ["a.py", "b.py"]);
    let applied = editor.applied.lock().unwrap();
    let [set] = applied.as_slice() else {
        panic!("it was handed over in {} parts", applied.len());
    };
    assert_eq!(set.title(), format!("ast_edit {id}"));
    let changes: Vec<_> = set
        .changes()
        .iter()
        .map(|c| {
            let text = |bytes: Option<&Arc<[u8]>>| String::from_utf8(bytes.unwrap().to_vec());
            (
                c.path().relative(),
                text(c.before()).unwrap(),
                text(c.after()).unwrap(),
            )
        })
        .collect();
    let owned = |path, before: &str, after: &str| (path, before.to_owned(), after.to_owned());
    assert_eq!(
        changes,
        [
            owned("a.py", "f(1)\nf(2)\n", "g(1)\ng(2)\n"),
            owned("b.py", "f(3)\n", "g(3)\n"),
        ]
    );
    // The layer above does as it likes with it; we write nothing ourselves.
    assert_eq!(setting.read("b.py"), "f(3)\n");
}

#[test]
fn cancelling_during_the_commit_waits_for_it_and_it_counts() {
    let (setting, editor) = with_editor(Editor {
        waits: true,
        ..Editor::default()
    });
    setting.write("a.py", "f(1)\n");
    let id = setting.stage("f($X)", "g($X)");
    let context = CallContext::detached(&setting.run);
    setting.runtime().block_on(async {
        let tool = Resolve::new(&setting.run, Arc::clone(&setting.files));
        let input = json!({ "edit_id": id, "action": "accept" });
        let input = serde_json::from_value(input).unwrap();
        let call = tool.call(input, &context);
        let cancel = async {
            editor.began.notified().await;
            context.token().cancel();
            editor.go.notify_one();
        };
        let (answer, ()) = tokio::join!(call, cancel);
        assert_eq!(answer.unwrap().touched, ["a.py"]);
    });
    let error = setting.resolve(&id, "accept").unwrap_err();
    assert!(error.to_string().contains("accepted already"), "{error}");
}

#[test]
fn a_call_that_is_dropped_during_the_commit_does_not_take_it_back() {
    let (setting, editor) = with_editor(Editor {
        waits: true,
        ..Editor::default()
    });
    setting.write("a.py", "f(1)\n");
    let id = setting.stage("f($X)", "g($X)");
    setting.runtime().block_on(async {
        let tool = Resolve::new(&setting.run, Arc::clone(&setting.files));
        let input = || {
            let input = json!({ "edit_id": id, "action": "accept" });
            serde_json::from_value(input).unwrap()
        };
        let context = CallContext::detached(&setting.run);
        tokio::select! {
            biased;
            answer = tool.call(input(), &context) => panic!("{answer:?}"),
            () = editor.began.notified() => {}
        }
        // The call is gone, and what it began is not done yet.
        let error = tool.call(input(), &context).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Conflict);
        assert!(error.to_string().contains("another call"), "{error}");
        editor.go.notify_one();
        setting.run.end().await;
        let error = tool.call(input(), &context).await.unwrap_err();
        assert!(error.to_string().contains("accepted already"), "{error}");
    });
    assert_eq!(editor.applied.lock().unwrap().len(), 1);
}

#[test]
fn a_cancelled_accept_says_that_the_edit_stays_staged() {
    let setting = Setting::new();
    setting.write("a.py", "f(1)\n");
    let id = setting.stage("f($X)", "g($X)");
    let context = CallContext::detached(&setting.run);
    context.token().cancel();
    let error = setting.resolve_in(&context, &id, "accept").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert!(
        error.to_string().contains(&format!("`{id}` stays staged")),
        "{error}"
    );
    assert_eq!(setting.read("a.py"), "f(1)\n");
    setting.resolve(&id, "accept").unwrap();
    assert_eq!(setting.read("a.py"), "g(1)\n");
}

#[test]
fn an_id_of_another_run_is_refused_and_says_so() {
    let setting = Setting::new();
    setting.write("a.py", "f(1)\n");
    let id = setting.stage("f($X)", "g($X)");
    let root = setting.root().to_owned();
    let child = Run::builder(root, Trust::Untrusted, Mode::Full)
        .parent(&setting.run)
        .build()
        .unwrap();
    let context = CallContext::detached(&child);
    let error = setting.resolve_in(&context, &id, "accept").unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(
        error.to_string().contains("belongs to another run"),
        "{error}"
    );
    setting.resolve(&id, "accept").unwrap();
}

#[test]
fn a_rejection_names_each_file_and_what_differs() {
    let setting = Setting::new();
    for path in ["a.py", "b.py", "c.py", "d.py"] {
        setting.write(path, "x\nf(1)\n");
    }
    let id = setting.stage("f($X)", "g($X)");
    setting.write("a.py", "x\nf(2)\n");
    std::fs::remove_file(setting.root().join("b.py")).unwrap();
    let gone = setting.root().join("c.py");
    std::fs::rename(&gone, setting.outside().join("c.py")).unwrap();
    std::os::unix::fs::symlink(setting.outside().join("c.py"), gone).unwrap();
    let error = setting.resolve(&id, "accept").unwrap_err();
    let text = error.to_string().replace(&id, "edit_1");
    expect!["cannot accept `edit_1`: nothing was written, since 3 of its 4 files cannot be changed as staged: `a.py` has changed: line 2 is the first to differ; `b.py` does not exist any more; `c.py` is a symbolic link now; `edit_1` stays staged: put these files back as they were and accept it again, or discard it and call `ast_edit` again"].assert_eq(&text);
    assert_eq!(setting.read("d.py"), "x\nf(1)\n");
}

#[test]
fn the_answers_say_what_was_done_and_what_is_left() {
    let setting = Setting::new();
    setting.write("a.py", "f(1)\nh(1)\n");
    setting.write("b.py", "f(2)\n");
    let (first, second) = (
        setting.stage("f($X)", "g($X)"),
        setting.stage("h($X)", "k($X)"),
    );
    let third = setting.stage("f($X)", "g($X, 1)");
    let discarded = setting.resolve(&third, "discard").unwrap();
    let accepted = setting.resolve(&first, "accept").unwrap();
    let text = |output| {
        text_of(output)
            .replace(&first, "edit_1")
            .replace(&second, "edit_2")
            .replace(&third, "edit_3")
    };
    expect![[r#"
        discarded `edit_3`: nothing was written
        still staged: `edit_1`, `edit_2`"#]]
    .assert_eq(&text(&discarded));
    expect![[r#"
        accepted `edit_1`: 2 replacements written to 2 files
        a.py
        b.py
        made for these files as they were before: `edit_2`; discard and stage again
        still staged: `edit_2`"#]]
    .assert_eq(&text(&accepted));
}

/// Prompts for every call.
struct Ask;

impl Guardrail for Ask {
    fn decide(&self, _: &GateRequest<'_>) -> Decision {
        Decision::Prompt {
            question: "may it?".to_owned(),
        }
    }
}

/// Says yes, and keeps what it was asked.
#[derive(Default)]
struct Yes(Mutex<Vec<(String, Vec<String>)>>);

#[async_trait]
impl Approver for Yes {
    async fn approve(&self, request: ApprovalRequest) -> Result<Approval, ToolError> {
        self.0.lock().unwrap().push((request.tool, request.paths));
        Ok(Approval::Yes)
    }
}

#[test]
fn who_approves_an_accept_is_told_which_files_it_writes() {
    let setting = Setting::new();
    setting.write("a.py", "f(1)\n");
    setting.write("b.py", "f(1)\n");
    let yes = Arc::new(Yes::default());
    let root = setting.root().to_owned();
    let run = Run::builder(root, Trust::Untrusted, Mode::Full)
        .approver(Arc::clone(&yes) as Arc<dyn Approver>)
        .build()
        .unwrap();
    let registry = Registry::builder(Arc::clone(&run))
        .typed(setting.editor())
        .typed(Resolve::new(&run, Arc::clone(&setting.files)))
        .gate(Arc::new(Ask))
        .build()
        .unwrap();
    setting.runtime().block_on(async {
        let input = json!({ "pattern": "f($X)", "rewrite": "g($X)", "language": "python" });
        let staged = registry.dispatch("ast_edit", input).await.unwrap();
        let id = id_of(&staged).unwrap();
        let accept = json!({ "edit_id": id, "action": "accept" });
        registry.dispatch("resolve", accept).await.unwrap();
    });
    let asked = yes.0.lock().unwrap();
    let paths = |paths: &[&str]| paths.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        *asked,
        [
            ("ast_edit".to_owned(), paths(&[])),
            ("resolve".to_owned(), paths(&["a.py", "b.py"])),
        ]
    );
}
