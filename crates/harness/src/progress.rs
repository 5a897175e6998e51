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
        if let Some(text) = self.due(elapsed, now) {
            draw(&text);
        }
    }

    /// Returns what is to be written now, if anything.
    fn due(&self, elapsed: Duration, now: Instant) -> Option<String> {
        if elapsed < PATIENCE {
            return None;
        }
        let mut state = self.state();
        let line = line(&state.tool, &state.text, elapsed);
        if self.stderr.is_terminal {
            state.is_drawn = true;
            return Some(format!("\r\u{1b}[K{}", self.stderr.faint(&line)));
        }
        if state
            .last_plain
            .is_some_and(|last| now.duration_since(last) < PLAIN_INTERVAL)
        {
            return None;
        }
        state.last_plain = Some(now);
        Some(format!("{line}\n"))
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

    #[test]
    fn plain_lines_come_after_a_second_and_then_every_few() {
        let reporter = Reporter::new(Stream {
            is_terminal: false,
            has_colour: false,
        });
        let began = Instant::now();
        let at = |ms| {
            let elapsed = Duration::from_millis(ms);
            reporter.due(elapsed, began + elapsed)
        };
        assert_eq!(at(900), None);
        assert_eq!(at(1000).as_deref(), Some(": 1 s\n"));
        assert_eq!(at(3000), None);
        assert_eq!(at(6000).as_deref(), Some(": 6 s\n"));
    }

    #[test]
    fn a_terminal_has_one_line_that_is_redrawn_and_erased() {
        let reporter = Reporter::new(Stream {
            is_terminal: true,
            has_colour: false,
        });
        let now = Instant::now();
        assert_eq!(reporter.due(Duration::from_millis(900), now), None);
        let drawn = reporter.due(Duration::from_millis(1200), now);
        assert_eq!(drawn.as_deref(), Some("\r\u{1b}[K: 1 s"));
        assert!(reporter.state().is_drawn);
    }
}
