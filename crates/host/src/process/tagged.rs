//! Finds the descendants of a child by a variable of their environment,
//! wherever they went.

use rustix::process::{Pid, Signal, getpid};
use uuid::Uuid;

/// The variable that marks a child's descendants.
pub(super) const NAME: &str = "TOOLSET_CHILD";

/// A process may fork while it is being killed; each round finds those.
const ROUNDS: usize = 4;

/// A mark that every descendant of one child has in its environment, and no
/// other process.
#[derive(Debug, Clone)]
pub(super) struct Tag {
    value: String,
}

impl Tag {
    /// Makes a mark that begins with `program`, which names ours.
    pub(super) fn fresh(program: &str) -> Self {
        Self {
            value: format!("{program}-{}", Uuid::new_v4().simple()),
        }
    }

    /// Returns the variable to start the child with.
    pub(super) fn variable(&self) -> (&'static str, &str) {
        (NAME, &self.value)
    }

    /// Kills every process that has the mark, but `leader`.
    pub(super) fn kill_others(&self, leader: Pid) {
        for _ in 0..ROUNDS {
            let marked = self.marked(leader);
            if marked.is_empty() {
                return;
            }
            for pid in marked {
                // Gone already is fine.
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
    }

    fn marked(&self, leader: Pid) -> Vec<Pid> {
        let wanted = format!("{NAME}={}", self.value);
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| {
                let number: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
                let pid = Pid::from_raw(number)?;
                // Processes of other users cannot be read, nor be ours.
                let environment = std::fs::read(format!("/proc/{number}/environ")).ok()?;
                let has_mark = environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == wanted.as_bytes());
                (has_mark && pid != leader && pid != getpid()).then_some(pid)
            })
            .collect()
    }
}
