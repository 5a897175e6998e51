//! Cancel, budgets, reset: how a cell is stopped, and what is left.

use std::time::{Duration, Instant};

use kernel::KernelLimits;
#[cfg(target_os = "linux")]
use kernel::MemoryLimits;
use serde_json::json;
use tiers::ErrorKind;

use crate::support::{Notebook, Outcome, eventually};

const SOON: Duration = Duration::from_millis(300);

fn kind(outcome: &Outcome) -> Option<ErrorKind> {
    outcome.error.as_ref().map(|error| error.kind)
}

/// Cancels `code` while it runs; returns how long that took.
async fn cancel_busy(notebook: &Notebook, code: &str) -> (Outcome, Duration) {
    let began = Instant::now();
    let outcome = notebook.run_cancelled(code, SOON).await;
    (outcome, began.elapsed() - SOON)
}

#[tokio::test(flavor = "multi_thread")]
async fn c04_an_interrupt_keeps_variables_and_is_quick() {
    let notebook = Notebook::open();
    notebook
        .run("import time, asyncio, re, subprocess, threading\nkept = 1")
        .await;
    for (code, most) in [
        ("while True: pass", 150),
        ("time.sleep(60)", 150),
        ("re.match(r'(a+)+$', 'a' * 40 + 'b')", 150),
        ("await asyncio.sleep(60)", 150),
        ("while True: await asyncio.sleep(0)", 150),
        ("asyncio.run(asyncio.sleep(60))", 150),
        ("threading.Event().wait()", 150),
        ("subprocess.run(['sleep', '60'])", 400),
        ("import os; os.system('sleep 60')", 400),
    ] {
        let (outcome, took) = cancel_busy(&notebook, code).await;
        assert_eq!(
            kind(&outcome),
            Some(ErrorKind::Cancelled),
            "{code}: {}",
            outcome.text
        );
        assert_eq!(outcome.status(), "interrupted", "{code}: {}", outcome.text);
        outcome.has("was interrupted: the call was cancelled after 0.");
        outcome.has("variables are kept");
        // Twice the figure, for a machine that is busy with other tests.
        assert!(took < Duration::from_millis(2 * most), "{code}: {took:?}");
    }
    assert_eq!(notebook.run("kept").await.value(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_whose_import_was_interrupted_is_imported_anew() {
    let notebook = Notebook::open();
    let cell = "import os, sys, time\n\
        sys.path.insert(0, os.getcwd())\n\
        os.makedirs('cut/deep')\n\
        for name, text in {\n    \
            '__init__': 'from .part import *\\nfrom .deep import *\\nimport time\\ntime.sleep(wait)\\nnames = part.__all__',\n    \
            'part': '__all__ = [\"wait\"]\\nimport os\\nwait = 0 if os.path.exists(\"again\") else 60',\n    \
            'deep/__init__': 'from .leaf import *\\nnames = leaf.__name__',\n    \
            'deep/leaf': '',\n\
        }.items():\n    \
            open(f'cut/{name}.py', 'w').write(text)";
    assert!(notebook.run(cell).await.error.is_none());
    let (outcome, _) = cancel_busy(&notebook, "import cut").await;
    assert_eq!(outcome.status(), "interrupted", "{}", outcome.text);
    let again = notebook
        .run("open('again', 'w').close()\nimport cut\ncut.names, cut.deep.names, 'os.path' in sys.modules")
        .await;
    assert_eq!(
        again.value(),
        Some("(['wait'], 'cut.deep.leaf', True)"),
        "{}",
        again.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn c06_native_code_that_ignores_interrupts_is_killed_and_that_is_said() {
    let notebook = Notebook::open();
    notebook.run("kept = 1").await;
    let (outcome, took) = cancel_busy(&notebook, "sum(range(10 ** 12))").await;
    assert_eq!(kind(&outcome), Some(ErrorKind::Cancelled));
    assert_eq!(outcome.status(), "died");
    outcome.has("did not react to interrupts for 5 s");
    outcome.has("all variables are lost");
    assert!(took < Duration::from_secs(6), "{took:?}");
    let next = notebook.run("'kept' in globals()").await;
    assert_eq!(next.value(), Some("False"));
    next.has("fresh interpreter, variables of earlier cells are gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn c07_an_interrupt_that_is_swallowed_once_is_sent_again() {
    let notebook = Notebook::open();
    let cell = "import time\nkept = 1\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('caught')\n    time.sleep(60)";
    let (outcome, took) = cancel_busy(&notebook, cell).await;
    assert_eq!(outcome.status(), "interrupted", "{}", outcome.text);
    assert_eq!(outcome.output(), "caught\n");
    assert!(
        took > Duration::from_millis(900) && took < Duration::from_secs(3),
        "{took:?}"
    );
    assert_eq!(notebook.run("kept").await.value(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_ends_well_although_it_was_interrupted_says_so() {
    let notebook = Notebook::open();
    let cell = "import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    done = 'tidied'\ndone";
    let (outcome, _) = cancel_busy(&notebook, cell).await;
    assert_eq!(kind(&outcome), Some(ErrorKind::Cancelled));
    assert_eq!(outcome.value(), Some("'tidied'"));
}

#[tokio::test(flavor = "multi_thread")]
async fn c08_a_handler_of_the_user_stays_and_does_not_get_in_the_way() {
    let notebook = Notebook::open();
    notebook.run("import signal\nseen = []\nhandler = lambda *_: seen.append(1)\n_ = signal.signal(signal.SIGINT, handler)").await;
    let (outcome, _) = cancel_busy(&notebook, "while True: pass").await;
    assert_eq!(outcome.status(), "interrupted");
    let after = notebook
        .run("signal.getsignal(signal.SIGINT) is handler")
        .await;
    assert_eq!(after.value(), Some("True"));
}

#[tokio::test(flavor = "multi_thread")]
async fn c09_cancels_at_the_end_of_cells_hit_no_other_cell() {
    let notebook = Notebook::open();
    notebook.run("import time\ncount = 0").await;
    for number in 0..40_u64 {
        // Ends at about the time of the cancel, before or after.
        let after = Duration::from_millis(5 + number % 7);
        notebook.run_cancelled("time.sleep(0.008)", after).await;
        let next = notebook.run("count += 1\ncount").await;
        assert_eq!(
            next.value(),
            Some((number + 1).to_string().as_str()),
            "{}",
            next.text
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c11_an_interrupt_spares_children_of_earlier_cells_and_a_reset_ends_them() {
    let notebook = Notebook::open();
    let cell = "import subprocess, time\nserver = subprocess.Popen(['sleep', '1000'])\nown = subprocess.Popen(['sleep', '1000'], start_new_session=True)\nserver.pid, own.pid";
    let started = notebook.run(cell).await;
    started.has("runs on; `reset` ends them");
    let pids: Vec<u32> = started
        .value()
        .unwrap()
        .trim_matches(['(', ')'])
        .split(", ")
        .map(|pid| pid.parse().unwrap())
        .collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (outcome, _) = cancel_busy(&notebook, "subprocess.run(['sleep', '60'])").await;
    assert_eq!(outcome.status(), "interrupted");
    let alive = notebook.run("server.poll(), own.poll()").await;
    assert_eq!(alive.value(), Some("(None, None)"));
    let call = json!({ "code": "", "description": "reset", "reset": true });
    notebook
        .call(call)
        .await
        .has("fresh interpreter, with directory and environment as at first");
    for pid in pids {
        eventually(|| !is_running(pid)).await;
    }
}

fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_conversation_ends_all_descendants() {
    let notebook = Notebook::open();
    let cell = "import subprocess, os\nown = subprocess.Popen(['sleep', '1000'], start_new_session=True)\nown.pid, os.getpid()";
    let started = notebook.run(cell).await;
    let pids: Vec<u32> = started
        .value()
        .unwrap()
        .trim_matches(['(', ')'])
        .split(", ")
        .map(|pid| pid.parse().unwrap())
        .collect();
    assert!(pids.iter().all(|pid| is_running(*pid)));
    drop(notebook);
    for _ in 0..500 {
        if !pids.iter().any(|pid| is_running(*pid)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let [own, kernel] =
        [0, 1].map(|at| std::fs::read_to_string(format!("/proc/{}/stat", pids[at])));
    panic!("still there, child and interpreter: {own:?}, {kernel:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c17_a_reset_starts_as_at_first() {
    let notebook = Notebook::open();
    let look = "import os\nos.getcwd(), os.environ.get('ADDED'), 'kept' in globals()";
    let first = notebook.run(look).await;
    let first = first.value().unwrap().to_owned();
    notebook
        .run("kept = 1\nos.environ['ADDED'] = '1'\nos.chdir('/')\nfile = open('/dev/null')")
        .await;
    let reset = json!({ "code": look, "description": "reset", "reset": true });
    let after = notebook.call(reset).await;
    assert_eq!(after.value(), Some(first.as_str()));
    assert_eq!(after.details["cell"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_the_kernel_can_be_cancelled() {
    let notebook = Notebook::open();
    notebook.run("import time").await;
    let first = notebook.run("time.sleep(1)\n'first'");
    let second = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel_busy(&notebook, "open('ran', 'w').close()").await
    };
    let (first, (second, took)) = tokio::join!(first, second);
    assert_eq!(first.value(), Some("'first'"));
    assert_eq!(kind(&second), Some(ErrorKind::Cancelled));
    second.has("before it started");
    assert!(took < Duration::from_millis(300), "{took:?}");
    assert!(!notebook.path().join("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_cell_is_interrupted_and_output_renews_its_budget() {
    let notebook = Notebook::open();
    notebook.run("import time").await;
    let idle = |code: &str| json!({ "code": code, "description": "idle", "timeout_seconds": 1 });
    let busy = notebook
        .call(idle(
            "for n in range(6):\n    time.sleep(0.4)\n    print(n)",
        ))
        .await;
    assert_eq!(busy.output(), "0\n1\n2\n3\n4\n5\n", "{}", busy.text);
    assert!(busy.error.is_none());
    let stopped = notebook.call(idle("kept = 1\ntime.sleep(60)")).await;
    assert_eq!(kind(&stopped), Some(ErrorKind::Timeout));
    stopped.has("it wrote nothing and called no tool for 1 s");
    stopped.has("variables are kept");
    assert_eq!(notebook.run("kept").await.value(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_of_nothing_means_the_default() {
    let mut limits = KernelLimits::default();
    limits.idle = Duration::from_millis(500);
    let notebook = Notebook::with(limits, |builder| builder);
    notebook.run("import time").await;
    let call = json!({ "code": "time.sleep(60)", "description": "x", "timeout_seconds": 0 });
    let stopped = notebook.call(call).await;
    stopped.has("it wrote nothing and called no tool for 0.5 s");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_always_prints_is_stopped_at_the_ceiling() {
    let mut limits = KernelLimits::default();
    limits.ceiling = Duration::from_secs(1);
    let notebook = Notebook::with(limits, |builder| builder);
    let stopped = notebook
        .run("import time\nwhile True:\n    print('x')\n    time.sleep(0.05)")
        .await;
    assert_eq!(kind(&stopped), Some(ErrorKind::Timeout));
    stopped.has("it ran for 1 s, the most a cell may");
    assert_eq!(stopped.status(), "interrupted");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn c15_memory_over_the_mark_is_told_and_over_the_limit_ends_the_interpreter() {
    let mut limits = KernelLimits::default();
    limits.memory = MemoryLimits::new(100_000_000, 400_000_000);
    let notebook = Notebook::with(limits, |builder| builder);
    let warned = notebook
        .run("import time\nheld = bytearray(200_000_000)\ntime.sleep(1.5)")
        .await;
    warned.has("the interpreter and its children hold 2");
    assert_eq!(warned.status(), "ok");
    let ended = notebook
        .run("more = bytearray(400_000_000)\ntime.sleep(60)")
        .await;
    assert_eq!(kind(&ended), Some(ErrorKind::Crashed));
    ended.has("more than they may");
    ended.has("all variables are lost");
    assert_eq!(notebook.run("1").await.value(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interpreter_that_stays_unused_is_closed_where_the_harness_wants_that() {
    let mut limits = KernelLimits::default();
    limits.unused = Some(Duration::from_millis(400));
    let notebook = Notebook::with(limits, |builder| builder);
    let first = notebook
        .run("import atexit, os\nkept = 1\n_ = atexit.register(lambda: open('farewell', 'w').close())\nos.getpid()")
        .await;
    let pid: u32 = first.value().unwrap().parse().unwrap();
    // In use: a cell that takes longer than the limit.
    notebook.run("import time\ntime.sleep(0.6)").await;
    assert_eq!(notebook.run("kept").await.value(), Some("1"));
    eventually(|| !is_running(pid)).await;
    assert!(notebook.path().join("farewell").exists());
    let next = notebook.run("'kept' in globals()").await;
    assert_eq!(next.value(), Some("False"));
    next.has("the interpreter was closed after 0.4 s without a cell");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_turned_the_doorbell_off_is_interrupted_by_a_signal() {
    let notebook = Notebook::open();
    notebook.run("import signal, time\nkept = 1").await;
    for code in [
        "signal.signal(signal.SIGIO, signal.SIG_IGN)\nwhile True: pass",
        "signal.signal(signal.SIGIO, lambda *_: None)\ntime.sleep(60)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])\nwhile True: time.sleep(0.01)",
    ] {
        let (outcome, took) = cancel_busy(&notebook, code).await;
        assert_eq!(outcome.status(), "interrupted", "{code}: {}", outcome.text);
        assert!(took < Duration::from_millis(2400), "{code}: {took:?}");
        // Nothing is left of the signal, and the next cell listens again.
        assert_eq!(notebook.run("kept").await.value(), Some("1"));
        let (next, took) = cancel_busy(&notebook, "while True: pass").await;
        assert_eq!(next.status(), "interrupted");
        assert!(took < Duration::from_millis(900), "after {code}: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_comes_after_its_cell_hits_no_other() {
    let notebook = Notebook::open();
    notebook.run("import signal, time\ncount = 0").await;
    for number in 0..6_u64 {
        // It ends by itself at about the time of the second interrupt.
        let cell = "signal.signal(signal.SIGIO, signal.SIG_IGN)\ntry:\n    time.sleep(1.3)\nexcept KeyboardInterrupt:\n    pass";
        notebook
            .run_cancelled(cell, Duration::from_millis(290 + 4 * number))
            .await;
        let next = notebook
            .run("for _ in range(100): time.sleep(0.0005)\ncount += 1\ncount")
            .await;
        assert_eq!(
            next.value(),
            Some((number + 1).to_string().as_str()),
            "{}",
            next.text
        );
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn c14_endless_recursion_without_a_limit_ends_in_an_answer() {
    let mut limits = KernelLimits::default();
    limits.memory = MemoryLimits::new(200_000_000, 600_000_000);
    let notebook = Notebook::with(limits, |builder| builder);
    let cell =
        "import sys\nsys.setrecursionlimit(10 ** 7)\ndef again(n): return again(n + 1)\nagain(0)";
    let call = json!({ "code": cell, "description": "recurse", "timeout_seconds": 10 });
    let ended = notebook.call(call).await;
    // Whichever comes first: its stack or its memory is used up, or its time.
    let kind = kind(&ended);
    assert!(
        matches!(kind, Some(ErrorKind::Crashed | ErrorKind::Timeout)),
        "{}",
        ended.text
    );
    assert_eq!(notebook.run("1").await.value(), Some("1"));
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_leaves_no_file_with_its_memory() {
    let notebook = Notebook::open();
    let limits = notebook
        .run("import resource\nresource.getrlimit(resource.RLIMIT_CORE)[0]")
        .await;
    assert_eq!(limits.value(), Some("0"));
}
