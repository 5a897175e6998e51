//! Things to tell the model with its next top-level result, exactly once.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::cap::{Caps, cap_text};

/// More than this many bytes at once would drown the result they travel with.
const TOTAL_BYTES: usize = 8 * 1024;
/// One notice is a few sentences; a longer one is cut.
const ONE: Caps = Caps {
    lines: 40,
    bytes: 4 * 1024,
};

/// The notices of one run: a late report, a peer that died, output in between.
///
/// Bounded: when nobody drains them the oldest are dropped, and the next
/// [`drain`](Self::drain) says how many.
#[derive(Debug, Default)]
pub struct RunNotices {
    waiting: Mutex<Waiting>,
}

/// Names a notice that still waits, so that it can be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NoticeId(u64);

#[derive(Debug, Default)]
struct Waiting {
    texts: VecDeque<(NoticeId, String)>,
    bytes: usize,
    dropped: usize,
    /// How many there ever were.
    count: u64,
}

impl RunNotices {
    /// Adds a notice; blank ones are ignored.
    ///
    /// Returns its name for [`revoke`](Self::revoke).
    pub fn push(&self, text: impl Into<String>) -> NoticeId {
        let text = text.into();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.count += 1;
        let id = NoticeId(waiting.count);
        if text.trim().is_empty() {
            return id;
        }
        let text = cap_text(text.trim_end(), ONE, "the rest is not kept").text;
        waiting.bytes += text.len();
        waiting.texts.push_back((id, text));
        while waiting.bytes > TOTAL_BYTES {
            let Some((_, oldest)) = waiting.texts.pop_front() else {
                break;
            };
            waiting.bytes -= oldest.len();
            waiting.dropped += 1;
        }
        id
    }

    /// Takes a notice back that is not true any more.
    ///
    /// Returns whether it still waited: `false` where the model was told it, or
    /// it was dropped.
    pub fn revoke(&self, id: NoticeId) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let at = waiting.texts.iter().position(|(known, _)| *known == id);
        let Some((_, text)) = at.and_then(|at| waiting.texts.remove(at)) else {
            return false;
        };
        waiting.bytes -= text.len();
        true
    }

    /// Takes all notices, oldest first; each is returned exactly once.
    pub fn drain(&self) -> Vec<String> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = Waiting {
            count: waiting.count,
            ..Waiting::default()
        };
        let taken = std::mem::replace(&mut *waiting, rest);
        let mut texts = Vec::with_capacity(taken.texts.len() + 1);
        if taken.dropped > 0 {
            texts.push(format!(
                "{} earlier notices were dropped: too many",
                taken.dropped
            ));
        }
        texts.extend(taken.texts.into_iter().map(|(_, text)| text));
        texts
    }

    /// Returns whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .texts
            .is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_drained_exactly_once() {
        let notices = RunNotices::default();
        notices.push("one");
        notices.push("  ");
        notices.push("two");
        assert_eq!(notices.drain(), ["one", "two"]);
        assert!(notices.drain().is_empty());
    }

    #[test]
    fn a_notice_is_taken_back_unless_it_was_told() {
        let notices = RunNotices::default();
        let [one, two] = ["one", "two"].map(|text| notices.push(text));
        assert!(notices.revoke(one) && !notices.revoke(one));
        assert_eq!(notices.drain(), ["two"]);
        assert!(!notices.revoke(two));
        assert_ne!(notices.push("three"), two);
        assert_eq!(notices.drain(), ["three"]);
    }

    #[test]
    fn notices_nobody_reads_stay_bounded_and_say_how_many_went() {
        let notices = RunNotices::default();
        for n in 0..1_000 {
            notices.push(format!("{n} {}", "x".repeat(90)));
        }
        let texts = notices.drain();
        assert!(texts.iter().map(String::len).sum::<usize>() < TOTAL_BYTES + 100);
        let kept = texts.len() - 1;
        assert_eq!(
            texts.first().map(String::as_str),
            Some(format!("{} earlier notices were dropped: too many", 1_000 - kept).as_str())
        );
        assert!(texts.last().is_some_and(|text| text.starts_with("999 ")));
    }

    #[test]
    fn parallel_pushes_and_drains_lose_and_double_nothing() {
        let notices = RunNotices::default();
        let total = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        notices.push("x");
                        let taken = notices.drain().len();
                        total.fetch_add(taken, std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(total.into_inner() + notices.drain().len(), 2_000);
    }
}
