//! How often a server publishes about one text, and with which pauses.
//!
//! Some publish twice: what they find at once, and what they find after some
//! thought. Nothing in the first says that a second comes, so it is learned.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

/// Texts that are remembered.
const MEMORY: usize = 16;
/// Texts after which what was learned is relied on.
const ENOUGH: usize = 2;
/// How long nothing more must come before anything was learned.
const UNKNOWN: Duration = Duration::from_millis(300);
/// Bounds of what is learned.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_millis(600);
/// Documents of which publishes are counted.
const MAX_DOCUMENTS: usize = 1_000;

/// What was learned of one server.
#[derive(Debug, Default)]
pub(crate) struct Cadence {
    /// Publishes about the present text of each document, and when the last was.
    present: HashMap<PathBuf, (usize, Option<Instant>)>,
    /// How often it published about each of the last texts.
    counts: VecDeque<usize>,
    /// Pauses between publishes about one text.
    pauses: VecDeque<Duration>,
}

impl Cadence {
    /// Notes that a text was sent.
    pub(crate) fn sent(&mut self, path: &Path) {
        if self.present.len() >= MAX_DOCUMENTS {
            self.present.clear();
        }
        let earlier = self.present.insert(path.to_owned(), (0, None));
        if let Some((count @ 1.., _)) = earlier {
            keep(&mut self.counts, count);
        }
    }

    /// Notes that it published about the text.
    pub(crate) fn published(&mut self, path: &Path, now: Instant) {
        let Some((count, last)) = self.present.get_mut(path) else {
            return;
        };
        *count += 1;
        if let Some(last) = last.replace(now) {
            let pause = now.duration_since(last);
            if pause <= LONGEST * 2 {
                keep(&mut self.pauses, pause);
            }
        }
    }

    /// Returns how long nothing more must come after the last publish about a
    /// text, so that it is all.
    pub(crate) fn quiet(&self, path: &Path) -> Duration {
        if self.counts.len() < ENOUGH {
            return UNKNOWN;
        }
        // One that seldom comes is told when it does.
        let again = self.counts.iter().filter(|count| **count > 1).count();
        let count = self.present.get(path).map_or(0, |(count, _)| *count);
        let least = self.counts.iter().min().copied().unwrap_or(1);
        if again * 2 < self.counts.len() || (least > 1 && count >= least) {
            return Duration::ZERO;
        }
        let longest = self.pauses.iter().max().copied().unwrap_or(UNKNOWN);
        (longest + longest / 4).clamp(SHORTEST, LONGEST)
    }
}

fn keep<T>(list: &mut VecDeque<T>, value: T) {
    if list.len() >= MEMORY {
        list.pop_front();
    }
    list.push_back(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// Sends a text, publishes about it with these pauses, and tells how long is
    /// waited after each.
    async fn publish(cadence: &mut Cadence, pauses: &[u64]) -> Vec<Duration> {
        let path = Path::new("/a");
        cadence.sent(path);
        let mut quiet = Vec::new();
        for pause in pauses {
            tokio::time::advance(ms(*pause)).await;
            cadence.published(path, Instant::now());
            quiet.push(cadence.quiet(path));
        }
        quiet
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_publishes_once_is_soon_believed_at_once() {
        let mut cadence = Cadence::default();
        assert_eq!(publish(&mut cadence, &[50]).await, [ms(300)]);
        assert_eq!(publish(&mut cadence, &[50]).await, [ms(300)]);
        assert_eq!(publish(&mut cadence, &[50]).await, [ms(0)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_publish_is_waited_for_where_there_always_was_one() {
        let mut cadence = Cadence::default();
        for _ in 0..3 {
            publish(&mut cadence, &[50, 200]).await;
        }
        assert_eq!(publish(&mut cadence, &[50, 200]).await, [ms(250), ms(0)]);
        // One text without a second one: from now on only silence tells.
        publish(&mut cadence, &[50]).await;
        assert_eq!(publish(&mut cadence, &[50, 200]).await, [ms(250), ms(250)]);
        for _ in 0..5 {
            publish(&mut cadence, &[50]).await;
        }
        assert_eq!(publish(&mut cadence, &[50, 200]).await, [ms(0), ms(0)]);
    }
}
