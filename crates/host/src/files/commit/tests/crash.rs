//! Kills the process at every step, and looks at what a restart makes of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::*;
use crate::process::{Child, ChildCommand, Environment, Input, Output};
use crate::{Ending, HarnessFiles};

/// Where the child finds what to do.
const VARIABLE: &str = "TOOLSET_COMMIT_CHILD";
/// The test that is the child's program.
const CHILD: &str = "files::commit::tests::crash::two_hundred_files_are_applied_by_another_process";
/// Long enough for a busy machine; nothing here waits for it.
const LIMIT: Duration = Duration::from_secs(60);

/// Over how many tests the steps are spread.
const PARTS: usize = 12;

/// What the child does with a site.
#[derive(Serialize, Deserialize)]
struct Order {
    workspace: PathBuf,
    state: PathBuf,
    /// The step before which it stops.
    at: usize,
    how: Stop,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Stop {
    /// It is killed.
    Killed,
    /// It says so on standard output and waits for the end of its input.
    Waiting,
}

/// A site with 200 files that change: edits, creations and deletions.
struct Large {
    site: Site,
    set: ChangeSet,
}

impl Large {
    fn new() -> Self {
        Self::in_site(Site::fleeting())
    }

    fn in_site(site: Site) -> Self {
        let (edits, deletions) = (0..150, 150..175);
        for n in edits.clone().chain(deletions.clone()) {
            site.put(&file(n), &old(n));
        }
        let set = Self::set(&site);
        Self { site, set }
    }

    fn set(site: &Site) -> ChangeSet {
        let mut set = ChangeSet::new("two hundred files");
        for n in 0..200 {
            let path = site.path(&file(n));
            let (old, new) = (old(n).into_bytes(), new(n).into_bytes());
            set.push(match n {
                0..150 => FileChange::edit(path, old, new),
                150..175 => FileChange::delete(path, old),
                _ => FileChange::create(path, new),
            })
            .unwrap();
        }
        set
    }

    /// Returns a child that applies the set and stops before a step.
    fn child(&self, at: usize, how: Stop) -> ChildCommand {
        let order = Order {
            workspace: self.site.workspace.root().to_owned(),
            state: self.site.folder.path().join("state"),
            at,
            how,
        };
        let program = std::env::current_exe().unwrap();
        ChildCommand::new(&program, self.site.folder.path())
            .args(["--exact", CHILD, "--nocapture"])
            .environment(
                Environment::empty().with(VARIABLE, serde_json::to_string(&order).unwrap()),
            )
    }

    /// Returns how many steps applying the set takes, and the tree after it.
    fn measure(&self) -> (usize, BTreeMap<String, String>) {
        let other = Self::new();
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let files = watched(&other.site.files, move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let outcome = files.apply_blocking(&other.set, &|| false).unwrap();
        assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
        (count.load(Ordering::Relaxed), other.site.tree())
    }
}

fn file(n: usize) -> String {
    match n {
        0..175 => format!("src/m{}/f{n}.rs", n % 7),
        n => format!("made/m{}/deep/f{n}.rs", n % 3),
    }
}

fn old(n: usize) -> String {
    format!("fn old_{n}() {{}}\n").repeat(n % 13 + 1)
}

fn new(n: usize) -> String {
    format!("fn new_{n}() {{ body() }}\n").repeat(n % 11 + 1)
}

/// Also the program of the children below, which are told where to stop.
#[test]
fn two_hundred_files_are_applied_by_another_process() {
    let Some(order) = std::env::var_os(VARIABLE) else {
        // On a real disk, and waiting for it.
        let large = Large::in_site(Site::new());
        let expected = large.measure().1;
        assert_eq!(large.site.applied(&large.set).touched.len(), 200);
        assert_eq!(large.site.tree(), expected);
        return;
    };
    let order: Order = serde_json::from_str(order.to_str().unwrap()).unwrap();
    let workspace = Workspace::open(&order.workspace, Trust::Trusted).unwrap();
    let site = Site {
        workspace,
        ..Site::fleeting()
    };
    let own = site.files.clone().with_state_folder(&order.state);
    let count = AtomicUsize::new(0);
    let files = watched(&own, move |_| {
        if count.fetch_add(1, Ordering::Relaxed) < order.at {
            return Ok(());
        }
        match order.how {
            Stop::Killed => {
                let this = rustix::process::getpid();
                rustix::process::kill_process(this, rustix::process::Signal::KILL)?;
            }
            Stop::Waiting => {
                use std::io::{Read, Write};
                let mut out = io::stdout();
                out.write_all(b"\nwaiting\n")?;
                out.flush()?;
                io::stdin().read_to_end(&mut Vec::new())?;
            }
        }
        Err(io::Error::other("stopped"))
    });
    let set = Large::set(&site);
    files.apply_blocking(&set, &|| false).unwrap();
}

/// Kills a child before step `part` and every [`PARTS`]th after it, and recovers
/// each time.
async fn kill_at_every_step(part: usize) {
    let mut large = Large::new();
    let before = large.site.tree();
    let (steps, after) = large.measure();
    assert!(steps > 1000, "{steps} steps are not all there are");
    let (mut undone, mut complete) = (0, 0);
    for at in (part..=steps).step_by(PARTS) {
        let child = large.child(at, Stop::Killed).run(LIMIT).await.unwrap();
        let was_killed = child.exit.signal == Some(9);
        assert_eq!(
            was_killed,
            at < steps,
            "step {at}: {}",
            child.stderr.to_text()
        );

        let recovered = large
            .site
            .files
            .recover_blocking(&large.site.workspace)
            .unwrap();
        let tree = large.site.tree();
        let is_old = tree == before;
        assert!(
            is_old || tree == after,
            "killed at step {at}: neither old nor new"
        );
        assert_eq!(large.site.journals(), [""; 0], "killed at step {at}");
        if let Some(recovered) = recovered {
            let ending = if is_old { Ending::Old } else { Ending::New };
            assert_eq!(recovered.ending, ending, "killed at step {at}");
            assert_eq!(recovered.left, [], "killed at step {at}");
            assert!(!recovered.is_damaged);
        }
        if is_old {
            undone += 1;
        } else {
            complete += 1;
            large = Large::new();
        }
    }
    assert!(
        undone > 50 && complete > 10,
        "{undone} undone, {complete} complete"
    );
}

/// The parts of one long test, which run beside each other.
macro_rules! parts {
    ($($name:ident: $part:literal,)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                kill_at_every_step($part).await;
            }
        )*
    };
}

parts! {
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_1_of_12: 0,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_2_of_12: 1,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_3_of_12: 2,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_4_of_12: 3,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_5_of_12: 4,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_6_of_12: 5,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_7_of_12: 6,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_8_of_12: 7,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_9_of_12: 8,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_10_of_12: 9,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_11_of_12: 10,
    killed_at_any_step_a_change_of_200_files_is_all_old_or_all_new_12_of_12: 11,
}

/// Starts a child that holds the lock in the middle of its change.
async fn start_waiting_child(large: &Large, at: usize) -> Child {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let command = large.child(at, Stop::Waiting).stdin(Input::Piped);
    let mut child = command.stdout(Output::Piped).start().await.unwrap();
    let mut lines = BufReader::new(child.take_stdout().unwrap()).lines();
    loop {
        let line = tokio::time::timeout(LIMIT, lines.next_line()).await;
        match line.unwrap().unwrap() {
            Some(line) if line == "waiting" => return child,
            Some(_) => {}
            None => panic!("the child ended: {}", child.stderr().to_text()),
        }
    }
}

#[tokio::test]
async fn a_change_of_another_process_is_waited_for_and_a_dead_one_is_not() {
    let large = Large::new();
    let before = large.site.tree();
    let (steps, after) = large.measure();
    let child = start_waiting_child(&large, steps - 300).await;
    let middle = large.site.tree();
    assert!(middle != before && middle != after);

    let impatient = large.site.files.clone().with_lock_wait(Duration::ZERO);
    let error = impatient.apply(large.set.clone()).await.unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    let error = impatient.recover(&large.site.workspace).await.unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert_eq!(large.site.tree(), middle);

    // Killed, it holds the lock no more, and its change is undone before the next.
    child.kill().await;
    let Outcome::Applied(applied) = impatient.apply(large.set.clone()).await.unwrap() else {
        panic!("the files are not as they were");
    };
    assert_eq!(large.site.tree(), after);
    assert_eq!(large.site.journals(), [""; 0]);
    let note = "an earlier change (`two hundred files`) was cut off and is undone; written: ";
    assert!(applied.notes[0].starts_with(note), "{:?}", applied.notes);
}
