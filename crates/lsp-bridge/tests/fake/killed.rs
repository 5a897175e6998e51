//! A harness that is killed leaves nothing behind.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::json;
use test_support::Script;
use test_support::Step::{Reply, Start, Wait};

use crate::setting::{Setting, processes_of, script, test};

/// Makes the program of the tests a harness.
pub(crate) const HARNESS: &str = "--harness";
const ROUNDS: u64 = 20;

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        Trial::test(
            "pitfall_58_nothing_is_left_of_a_harness_that_was_killed_20_times",
            || {
                killed();
                Ok(())
            },
        ),
        test("pitfall_58_what_a_server_started_ends_with_it", let_go),
    ]
}

/// A server that starts a helper in its group and one in a session of its own,
/// and is slow, so that it is in the middle of something.
fn careless() -> Script {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect();
    let helpers = vec![
        Start(words("/bin/sleep 1000")),
        Start(words("setsid /bin/sleep 1001")),
        Start(words(
            "setsid /bin/sh -c setsid$IFS/bin/sleep$IFS\"1002\"&exit",
        )),
    ];
    let mut at_start = helpers.clone();
    at_start.extend([
        Wait(50),
        Reply(json!({ "capabilities": crate::setting::capabilities() })),
    ]);
    let mut at_call = helpers;
    at_call.extend([Wait(50), Reply(json!({ "contents": "said" }))]);
    script(&[
        ("initialize", vec![at_start]),
        ("textDocument/hover", vec![at_call]),
    ])
}

/// Asks without an end, and says for which folder.
#[expect(clippy::print_stdout, reason = "its parent reads it")]
pub(crate) fn harness() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let setting = Setting::new(careless());
        println!("{}", setting.folder.path().display());
        println!("{}", setting.log.parent().unwrap().display());
        loop {
            setting.ask("hover").await;
        }
    });
}

/// A harness, and the folders that it cannot remove any more.
struct Harness {
    child: Child,
    folders: Vec<PathBuf>,
}

impl Harness {
    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(HARNESS).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        let folders = said.take(2).map(|line| PathBuf::from(line.unwrap()));
        Self {
            folders: folders.collect(),
            child,
        }
    }

    fn processes(&self) -> Vec<(u32, String)> {
        processes_of(&self.folders[0])
    }
}

fn killed() {
    for round in 0..ROUNDS {
        let mut harness = Harness::start();
        // From the start of the server until it has answered several times.
        std::thread::sleep(Duration::from_millis(round * 20));
        if round >= ROUNDS / 2 {
            let start = Instant::now();
            let is_sleep = |(_, line): &(u32, String)| line.contains("1002");
            while !harness.processes().iter().any(is_sleep) {
                assert!(
                    start.elapsed() < Duration::from_secs(10),
                    "{:?}",
                    harness.processes()
                );
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        harness.child.kill().unwrap(); // SIGKILL: it cannot tidy up
        harness.child.wait().unwrap();
        let start = Instant::now();
        loop {
            let left = harness.processes();
            if left.is_empty() {
                break;
            }
            assert!(
                start.elapsed() < Duration::from_secs(5),
                "round {round}: left: {left:?}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        for folder in &harness.folders {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}

async fn let_go() {
    let setting = Setting::new(careless());
    assert_eq!(setting.ask("hover").await.text, "said");
    let running = processes_of(setting.folder.path());
    let sleeping = running.iter().filter(|(_, line)| line.contains("sleep"));
    assert_eq!(sleeping.count(), 6, "{running:?}");
    // Checks that none of them is left.
    setting.end().await;
}
