//! Output: in order, with the cell that wrote it, within bounds.

use std::time::{Duration, Instant};

use crate::support::Notebook;

#[tokio::test(flavor = "multi_thread")]
async fn o08_output_after_the_cell_is_kept_and_labelled() {
    let notebook = Notebook::open();
    notebook.run("import threading, time, os, subprocess").await;
    let cell = "def late():\n    time.sleep(0.2)\n    print('from a thread')\nthreading.Thread(target=late).start()\n_ = subprocess.Popen('sleep 0.3; echo from a child', shell=True)\nprint('at once')";
    let first = notebook.run(cell).await;
    assert_eq!(first.output(), "at once\n");
    tokio::time::sleep(Duration::from_millis(600)).await;
    let second = notebook.run("print('mine')").await;
    assert_eq!(second.output(), "mine\n");
    second.has("[output of cell 2 since it ended]\nfrom a thread\nfrom a child\n[end of that output]\nmine");
    assert_eq!(second.details["late"][0]["cell"], 2);
    let third = notebook.run("print('again')").await;
    assert_eq!(third.text, "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn o08_threads_and_children_that_write_during_the_next_cell_write_to_their_own() {
    let notebook = Notebook::open();
    notebook.run("import threading, time, os, subprocess").await;
    let cell = "def late():\n    for n in range(8):\n        time.sleep(0.1)\n        print('thread', n)\nthreading.Thread(target=late).start()\n_ = subprocess.Popen('for n in 1 2 3 4; do sleep 0.2; echo child $n; done', shell=True)";
    notebook.run(cell).await;
    let next = notebook
        .run("for n in range(12):\n    print('mine', n)\n    time.sleep(0.1)")
        .await;
    let mine: String = (0..12).map(|n| format!("mine {n}\n")).collect();
    assert_eq!(next.output(), mine);
    let late = next.details["late"].to_string();
    for piece in ["thread 0", "thread 7", "child 1", "child 4"] {
        assert!(late.contains(piece), "no `{piece}`: {late}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn o11_a_flood_is_bounded_whole_in_a_file_and_counted() {
    let notebook = Notebook::open();
    notebook.run("line = 'x' * 99").await;
    let began = Instant::now();
    let flood = notebook.run("for n in range(100_000): print(line)").await;
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(flood.details["output_bytes"], 10_000_000);
    assert!(flood.text.len() < 60_000);
    let file = flood.details["output_file"].as_str().unwrap();
    assert_eq!(std::fs::metadata(file).unwrap().len(), 10_000_000);
    // One line without an end, and a program that is no Python.
    let line = notebook.run("print('y' * 30_000_000, end='')").await;
    assert_eq!(line.details["output_bytes"], 30_000_000);
    assert!(line.text.len() < 60_000);
    let child = notebook
        .run("import subprocess\n_ = subprocess.run('yes | head -c 10000000', shell=True)")
        .await;
    assert_eq!(child.details["output_bytes"], 10_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn o12_endless_printing_is_stopped_within_a_second() {
    let notebook = Notebook::open();
    notebook.run("kept = 1").await;
    let after = Duration::from_millis(300);
    let began = Instant::now();
    let stopped = notebook
        .run_cancelled("while True: print('flood')", after)
        .await;
    assert!(
        began.elapsed() - after < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(stopped.status(), "interrupted", "{}", stopped.text);
    assert_eq!(notebook.run("kept").await.value(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn o01_displays_keep_their_place_in_a_flood() {
    let notebook = Notebook::open();
    let cell = "import os\nfor n in range(30):\n    os.write(1, b'before %d\\n' % n)\n    display(n)\n    os.write(2, b'after %d\\n' % n)";
    let shown = notebook.run(cell).await;
    let wanted: String = (0..30)
        .map(|n| format!("before {n}\n{n}\nafter {n}\n"))
        .collect();
    assert_eq!(shown.output(), wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_cell_prints_is_taken_for_a_mark() {
    let notebook = Notebook::open();
    let cell =
        "print('\\x1b]' + 'f' * 32 + ';1\\x07a\\x1b]never ended')\ndisplay('shown')\nprint('b')";
    let shown = notebook.run(cell).await;
    assert_eq!(shown.output(), "a\n'shown'\nb\n");
}
