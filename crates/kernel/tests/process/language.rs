//! What the model reads of a cell.

use crate::support::Notebook;

#[tokio::test]
async fn the_first_result_names_the_interpreter_and_later_ones_do_not() {
    let notebook = Notebook::open();
    let first = notebook.run("1+1 # c").await;
    assert_eq!(first.value(), Some("2"), "{}", first.text);
    first.has("[python 3.");
    first.has("on the host]");
    let second = notebook.run("print('a')\n_ + 1").await;
    assert_eq!(second.text, "a\nvalue: 3");
    assert_eq!(notebook.run("x = 5").await.text, "no output");
    assert_eq!(notebook.run("[x]").await.text, "[5]");
}

#[tokio::test]
async fn p17_an_error_says_what_stays_done() {
    let notebook = Notebook::open();
    let failed = notebook.run("y = 1\nprint('kept')\n1/0").await;
    assert_eq!(failed.output(), "kept\n");
    failed.has("cell 1 failed: Traceback (most recent call last):");
    failed.has("File \"<cell 1>\", line 3, in <module>");
    failed.has("what ran before line 3 stays done, and variables are kept");
    let wrong = notebook.run("y = 2\nx = = 1").await;
    wrong.has("SyntaxError");
    wrong.has("nothing of it was run");
    assert_eq!(notebook.run("y").await.value(), Some("1"));
}

#[tokio::test]
async fn p21_a_cell_that_breaks_what_it_can_reach_breaks_only_itself() {
    let notebook = Notebook::open();
    let cell = r#"
import builtins, os, sys, signal, time
_ = signal.signal(signal.SIGIO, signal.SIG_IGN)
for name in "len repr isinstance type str print open eval exec compile getattr setattr".split():
    builtins.__dict__[name] = None
os.write = os.read = os.close = os.dup2 = os._exit = None
sys.modules["json"] = sys.modules["signal"] = sys.modules["traceback"] = None
sys.stdout = sys.stderr = sys.stdin = None
7"#;
    assert_eq!(notebook.run(cell).await.value(), Some("7"));
    assert_eq!(
        notebook.run("[1, {2: 'x'}]").await.value(),
        Some("[1, {2: 'x'}]")
    );
    let failed = notebook.run("1/0").await;
    failed.has("ZeroDivisionError: division by zero");
    let after = std::time::Duration::from_millis(300);
    let stopped = notebook.run_cancelled("while True: pass", after).await;
    assert_eq!(stopped.status(), "interrupted", "{}", stopped.text);
    assert_eq!(notebook.run("6 * 7").await.value(), Some("42"));
}

#[tokio::test]
async fn m03_valid_python_is_never_rewritten() {
    let notebook = Notebook::open();
    let check = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/untouched.py");
    // Every tenth file of the standard library; all of them take a minute.
    let checked = notebook.run(&format!("%run '{check}' 10")).await;
    assert_eq!(checked.status(), "ok", "{}", checked.text);
    checked.has(": 0 changed;");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_fails_outside_of_its_lines_is_not_said_to_have_run_nothing() {
    let notebook = Notebook::open();
    let failed = notebook
        .run("import sys\nsys.settrace(lambda *_: 1 / 0)\n(lambda: 1)()")
        .await;
    assert_eq!(failed.status(), "error");
    assert!(!failed.text.contains("nothing of it"), "{}", failed.text);
    let refused = notebook.run("print(1)\nreturn 2").await;
    refused.has("nothing of it was run");
}
