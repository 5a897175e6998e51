//! What others do to get a verdict after a write, replayed on what a server that
//! publishes was heard to say.
//!
//! The figures are those of the projects' own sources.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::trace::Edit;

/// How it is decided that a report is there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Strategy {
    /// The first publish, and 150 ms without another; 5 s at the most.
    Debounce,
    /// Looks every 100 ms: a publish with the version that was sent, else 250 ms
    /// of silence after one; 5 s at the most.
    Settle,
    /// The first publish that has a fault, or 2.5 s.
    Fault,
}

impl Strategy {
    pub(crate) const ALL: &[Self] = &[Self::Debounce, Self::Settle, Self::Fault];

    /// Returns when it decides, and which faults it takes for those of the file.
    pub(crate) fn replay(self, edit: &Edit) -> (Duration, BTreeSet<String>) {
        let ms = Duration::from_millis;
        let mut at = ms(5000);
        match self {
            Self::Debounce => {
                let mut publishes = edit.publishes.iter().map(|publish| publish.at);
                if let Some(first) = publishes.next() {
                    at = first + ms(150);
                    for next in publishes {
                        if next <= at {
                            at = next + ms(150);
                        }
                    }
                }
            }
            Self::Settle => {
                let ticks = (1..=50).map(|tick| ms(100 * tick));
                let is_decided = |tick: &Duration| {
                    let mut heard = edit.publishes.iter().filter(|publish| publish.at <= *tick);
                    let last = heard.next_back();
                    last.is_some_and(|last| match last.version {
                        Some(version) => version == edit.version,
                        None => *tick >= last.at + ms(250),
                    })
                };
                at = ticks.clone().find(is_decided).unwrap_or(at);
            }
            Self::Fault => {
                let faulty = edit
                    .publishes
                    .iter()
                    .find(|publish| !publish.names.is_empty());
                at = faulty.map_or(ms(2500), |publish| publish.at.min(ms(2500)));
            }
        }
        let mut heard = edit.publishes.iter().filter(|publish| publish.at <= at);
        // Without one, what was published before stays, or nothing is known.
        let names = heard.next_back().map(|publish| publish.names.clone());
        (at, names.unwrap_or_default())
    }
}
