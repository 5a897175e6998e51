//! Tells the person who waits how far a call is.
//!
//! Nothing for calls under a second. Then, on a terminal, one line that is
//! redrawn and erased at the end; elsewhere a plain line every few seconds.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tiers::{Event, EventKind, EventSink};

use crate::environment::Stream;

/// How long a call may be silent.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often plain lines come.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);
/// How often [`Reporter::tick`] wants to be called.
pub(crate) const TICK: Duration = Duration::from_millis(200);

/// Remembers the newest progress, and shows it when asked.
#[derive(Debug)]
pub(crate) struct Reporter {
    stderr: Stream,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    tool: String,
    text: String,
    last_plain: Option<Instant>,
    is_drawn: bool,
}

impl Reporter {
    pub(crate) fn new(stderr: Stream) -> Self {
        Self {
            stderr,
            state: Mutex::default(),
        }
    }

    /// Shows how far the call is that began `elapsed` ago.
    pub(crate) fn tick(&self, elapsed: Duration, now: Instant) {
        if elapsed < PATIENCE {
            return;
        }
        let mut state = self.state();
        let line = line(&state.tool, &state.text, elapsed);
        if self.stderr.is_terminal {
            state.is_drawn = true;
            draw(&format!("\r\u{1b}[K{}", self.stderr.faint(&line)));
        } else if state
            .last_plain
            .is_none_or(|last| now.duration_since(last) >= PLAIN_INTERVAL)
        {
            state.last_plain = Some(now);
            draw(&format!("{line}\n"));
        }
    }

    /// Erases what is on the terminal, before the result is written.
    pub(crate) fn clear(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.is_drawn) {
            draw("\r\u{1b}[K");
        }
        *state = State::default();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Reporter {
    fn emit(&self, event: Event) {
        match event.kind {
            EventKind::Started { tool, .. } if event.parent.is_none() => self.state().tool = tool,
            EventKind::Progress(progress) => {
                let count = match (progress.done, progress.total) {
                    (Some(done), Some(total)) => format!(" {done} of {total}"),
                    (Some(done), None) => format!(" {done}"),
                    (None, _) => String::new(),
                };
                self.state().text = format!("{}{count}", progress.message);
            }
            _ => {}
        }
    }
}

fn line(tool: &str, text: &str, elapsed: Duration) -> String {
    let separator = if text.is_empty() { "" } else { ", " };
    // One terminal line: a longer one could not be redrawn in place.
    let line = format!("{tool}: {text}{separator}{} s", elapsed.as_secs());
    line.chars().filter(|c| !c.is_control()).take(78).collect()
}

fn draw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // Nobody can be told that the terminal is gone.
    let _ = stderr
        .write_all(text.as_bytes())
        .and_then(|()| stderr.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_tool_the_work_and_the_time() {
        let seconds = Duration::from_millis(3900);
        assert_eq!(
            line("ast_grep", "120 files, 4 matches", seconds),
            "ast_grep: 120 files, 4 matches, 3 s"
        );
        assert_eq!(line("ast_grep", "", seconds), "ast_grep: 3 s");
        assert_eq!(line("a", &"x".repeat(200), seconds).chars().count(), 78);
    }
}
