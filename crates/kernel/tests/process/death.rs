//! Interpreters that end, each reported for what it was.

use std::time::Duration;

use tiers::ErrorKind;

use crate::support::Notebook;

#[tokio::test(flavor = "multi_thread")]
async fn c02_each_death_is_reported_for_what_it_was_and_nothing_runs_twice() {
    let notebook = Notebook::open();
    for (number, (code, wanted)) in (1..).zip([
        ("os._exit(4)", "the interpreter ended: exit code 4"),
        ("os._exit(0)", "the interpreter ended: exit code 0"),
        (
            "os.kill(os.getpid(), 9)",
            "killed by signal 9 (SIGKILL), perhaps for want of memory",
        ),
        ("os.abort()", "killed by signal 6 (SIGABRT)"),
        (
            "import ctypes; ctypes.string_at(0)",
            "killed by signal 11 (SIGSEGV)",
        ),
        (
            "os.closerange(3, 4096)",
            "the cell closed the descriptor that the interpreter is controlled by",
        ),
    ]) {
        let cell = format!(
            "import os\nwith open('runs', 'a') as runs: runs.write('x')\nprint('last words')\n{code}"
        );
        let dead = notebook.run(&cell).await;
        let error = dead.error.as_ref().unwrap();
        assert_eq!(error.kind, ErrorKind::Crashed, "{}", dead.text);
        dead.has(wanted);
        dead.has("the cell was not run again");
        assert_eq!(dead.output(), "last words\n", "{code}");
        assert_eq!(dead.status(), "died");
        let runs = std::fs::read_to_string(notebook.path().join("runs")).unwrap();
        assert_eq!(runs.len(), number, "{code} ran more than once");
    }
    let next = notebook.run("1").await;
    next.has("fresh interpreter, variables of earlier cells are gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interpreter_that_ends_between_cells_is_told_of_with_the_next() {
    let notebook = Notebook::open();
    let cell = "import os, threading, time\ndef end():\n    time.sleep(0.2)\n    os._exit(5)\nthreading.Thread(target=end).start()";
    assert!(notebook.run(cell).await.error.is_none());
    tokio::time::sleep(Duration::from_millis(600)).await;
    let next = notebook.run("1").await;
    next.has("the interpreter had ended since the last cell (exit code 5)");
    assert_eq!(next.value(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_interpreter_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Notebook::in_place(
        Default::default(),
        |factory| factory.python(Some(folder.path().join("python"))),
        |builder| builder,
    );
    let outcome = missing.run("1").await;
    outcome.has("cannot start a python interpreter");
    outcome.has("does not exist");
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::Unavailable);
    let broken = Notebook::in_place(
        Default::default(),
        |factory| factory.python(Some("/bin/false".into())),
        |builder| builder,
    );
    let outcome = broken.run("1").await;
    outcome.has("`/bin/false` ended before it was ready (exit code 1)");
}
