//! Random cells that do what no cell should.
//!
//! Whatever they do, the host answers, output stays with the cell that wrote it,
//! and each death is reported for what it was.

use std::time::Duration;

use kernel::KernelLimits;
use serde_json::{Value, json};

use crate::bridge::Echo;
use crate::support::{Notebook, Outcome};

/// Cells of one run; `TOOLSET_TORTURE` has another number, and a seed after it.
const CELLS: u64 = 150;

/// How a cell must end.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// With the text of a death.
    Death(String),
    /// Interrupted or killed.
    Stop,
    /// Any other way, with the interpreter alive.
    Life,
}

struct Generated {
    code: String,
    wanted: Wanted,
    cancel: bool,
}

/// Writes one cell; everything it prints begins with its own `<seq>`.
fn generate(random: &mut fastrand::Rng, seq: u64) -> Generated {
    let mut code = format!("import os, signal, subprocess, sys, threading, time\nme = '<{seq}>'\n");
    let mut wanted = Wanted::Life;
    let mut cancel = false;
    for step in 0..random.u32(1..7) {
        let number = random.u32(0..256);
        let other = random.u32(0..256);
        let piece = match random.u32(0..20) {
            0..=2 => format!("print(me, 'print {step}')"),
            3 => format!("os.write({number}, (me + ' written\\n').encode())"),
            4 => format!("os.close({number})"),
            5 => format!("os.dup2({number}, {other})"),
            6 => "child = os.fork()\nif not child:\n    print(me, 'child')\n    os._exit(0)\nos.waitpid(child, 0)".to_owned(),
            // Falls out of the cell.
            7 => "child = os.fork()\nif not child: print(me, 'falls out')".to_owned(),
            8 => format!("def late(me=me):\n    time.sleep({})\n    print(me, 'late')\nthreading.Thread(target=late).start()", f64::from(random.u32(0..30)) / 1000.0),
            9 => format!("subprocess.Popen(['sh', '-c', 'sleep 0.0{}; echo \"{}\" child late'])", random.u32(0..4), format_args!("<{seq}>")),
            10 => "signal.signal(signal.SIGALRM, lambda *_: print(me, 'alarm', flush=True))\nsignal.setitimer(signal.ITIMER_REAL, 0.005)\ntime.sleep(0.02)".to_owned(),
            11 => "os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(0.001)".to_owned(),
            12 => "assert tool('echo', {'text': me}) == me".to_owned(),
            13 => "ts = [threading.Thread(target=tool, args=('echo', {'text': me})) for _ in range(4)]\n[t.start() for t in ts]\n[t.join() for t in ts]".to_owned(),
            14 => "sys.stdout.close()".to_owned(),
            15 => "sys.stdout = None".to_owned(),
            16 => "display(me + ' shown')".to_owned(),
            17 => "raise ValueError(me)".to_owned(),
            18 => "sys.exit(3)".to_owned(),
            _ => "b = bytearray(1_000_000)\nprint(me, 'x' * 100_000)".to_owned(),
        };
        // What is refused must not keep the next piece from being tried.
        if matches!(piece.as_str(), "sys.exit(3)") || piece.starts_with("raise") {
            if random.u32(0..4) == 0 {
                code.push_str(&format!("{piece}\n"));
            }
            continue;
        }
        let indented = piece.replace('\n', "\n    ");
        code.push_str(&format!(
            "try:\n    {indented}\nexcept (OSError, ValueError, AttributeError, KeyboardInterrupt): pass\n"
        ));
    }
    match random.u32(0..24) {
        0 => {
            let exit = random.u32(0..70);
            code.push_str(&format!("os._exit({exit})\n"));
            wanted = Wanted::Death(format!("exit code {exit}"));
        }
        1 => {
            code.push_str("os.kill(os.getpid(), signal.SIGKILL)\n");
            wanted = Wanted::Death("SIGKILL".to_owned());
        }
        2 => {
            code.push_str("os.abort()\n");
            wanted = Wanted::Death("SIGABRT".to_owned());
        }
        3 => {
            code.push_str("import ctypes\nctypes.string_at(0)\n");
            wanted = Wanted::Death("SIGSEGV".to_owned());
        }
        4 => {
            code.push_str("os.closerange(3, 65536)\n");
            wanted = Wanted::Death("closed the descriptor".to_owned());
        }
        5 => {
            code.push_str("while True: pass\n");
            (wanted, cancel) = (Wanted::Stop, true);
        }
        6 => {
            code.push_str("time.sleep(100)\n");
            (wanted, cancel) = (Wanted::Stop, true);
        }
        _ => code.push_str("me\n"),
    }
    Generated {
        code,
        wanted,
        cancel,
    }
}

/// Returns the sequence numbers that stand in `text`.
fn marks(text: &str) -> Vec<u64> {
    let parts = text.split('<').skip(1);
    parts
        .filter_map(|part| part.split_once('>')?.0.parse().ok())
        .collect()
}

fn check(generated: &Generated, outcome: &Outcome, seq: u64) -> Result<(), String> {
    if let Some(foreign) = marks(outcome.output())
        .into_iter()
        .find(|mark| *mark != seq)
    {
        return Err(format!("it has output of <{foreign}>"));
    }
    // Where a piece before ended the cell, its end is not reached.
    let is_raised =
        outcome.status() == "error" || outcome.details["notes"].to_string().contains("`exit`");
    // A child that is forked while a thread holds a lock waits for it for ever;
    // the cell, which waits for the child, is stopped as one that is idle.
    let is_stuck =
        generated.code.contains("os.waitpid") && outcome.text.contains("it wrote nothing");
    match &generated.wanted {
        _ if is_stuck => Ok(()),
        _ if is_raised => Ok(()),
        Wanted::Death(how) if outcome.status() == "died" && outcome.text.contains(how) => Ok(()),
        Wanted::Stop if outcome.text.contains("while the interpreter started") => Ok(()),
        Wanted::Stop if ["interrupted", "died"].contains(&outcome.status()) => Ok(()),
        Wanted::Life if outcome.status() == "ok" => Ok(()),
        wanted => Err(format!("`{}`, not {wanted:?}", outcome.status())),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_cells_always_get_an_answer_and_keep_their_output() {
    let given = std::env::vars_os().find(|(name, _)| name == "TOOLSET_TORTURE");
    let given = given.map(|(_, value)| value.to_string_lossy().into_owned());
    let mut numbers = given
        .iter()
        .flat_map(|text| text.split(' '))
        .map(|n| n.parse().unwrap());
    let cells = numbers.next().unwrap_or(CELLS);
    let mut random = fastrand::Rng::with_seed(numbers.next().unwrap_or(7));
    let notebook = Notebook::with(KernelLimits::default(), |builder| {
        builder.typed(Echo::default())
    });
    for seq in 1..=cells {
        let generated = generate(&mut random, seq);
        let call = json!({ "code": generated.code, "description": "x", "timeout_seconds": 10 });
        let outcome = if generated.cancel {
            let after = Duration::from_millis(random.u64(5..150));
            notebook.call_cancelled(call, after).await
        } else {
            notebook.call(call).await
        };
        let late: &Value = &outcome.details["late"];
        if let Err(why) = check(&generated, &outcome, seq) {
            panic!(
                "cell {seq}: {why}\n--- code\n{}\n--- text\n{}\n--- late\n{late:#}",
                generated.code, outcome.text
            );
        }
    }
}
