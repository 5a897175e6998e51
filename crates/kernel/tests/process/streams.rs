//! A kernel that has three streams and nothing else.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use host::process::{Launcher, Sandbox};
use kernel::{KernelLimits, Streams};

use crate::support::Notebook;

/// "Another machine": a launcher that hands on what every launcher does.
struct Elsewhere;

#[async_trait]
impl Sandbox for Elsewhere {
    async fn running(&self) -> Option<Launcher> {
        Some(Launcher::new("/usr/bin/env", Vec::<String>::new()))
    }
}

fn open() -> Notebook {
    Notebook::in_place(
        KernelLimits::default(),
        |factory| factory.sandbox(Arc::new(Elsewhere), Streams::Three),
        |builder| builder,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_run_and_print_over_three_streams() {
    let notebook = open();
    let first = notebook
        .run("print('a')\ndisplay(5)\nprint('b')\n1 + 1")
        .await;
    assert_eq!(first.value(), Some("2"), "{}", first.text);
    assert_eq!(first.output(), "a\n5\nb\n");
    first.has("in the sandbox]");
    let child = notebook
        .run("import os, sys, time, threading\n_ = os.system('echo child; echo error >&2; cat')")
        .await;
    assert_eq!(child.output(), "child\nerror\n");
    assert_eq!(child.details["notes"], serde_json::json!([]));
    let flood = notebook.run("for n in range(50_000): print(n)").await;
    assert_eq!(flood.details["output_bytes"], 288_890);
}

#[tokio::test(flavor = "multi_thread")]
async fn output_between_cells_is_not_taken_for_the_next() {
    let notebook = open();
    let cell = "import time, threading\ndef late():\n    time.sleep(0.2)\n    print('late')\nthreading.Thread(target=late).start()";
    notebook.run(cell).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let next = notebook.run("print('mine')").await;
    assert_eq!(next.output(), "mine\n");
    next.has("[output of cell 1 since it ended]\nlate\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_is_interrupted_over_three_streams() {
    let notebook = open();
    notebook.run("kept = 1").await;
    let after = Duration::from_millis(300);
    let stopped = notebook.run_cancelled("while True: pass", after).await;
    assert_eq!(stopped.status(), "interrupted", "{}", stopped.text);
    assert_eq!(notebook.run("kept").await.value(), Some("1"));
}
