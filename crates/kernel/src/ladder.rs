//! How a cell is stopped: asked three times, the later ones with a signal
//! besides, then killed.

use std::time::Duration;

use tokio::time::Instant;

/// When a cell is asked, after the stop began.
const ASKED_AT: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_secs(1),
    Duration::from_millis(2500),
];

/// When it is killed.
const KILLED_AT: Duration = Duration::from_secs(5);

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Ask,
    AskAndSignal,
    Kill,
}

/// Where a stop stands.
#[derive(Debug)]
pub(crate) struct Ladder {
    began: Instant,
    asked: usize,
    is_killed: bool,
}

impl Ladder {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            began: now,
            asked: 0,
            is_killed: false,
        }
    }

    /// Returns when the next step is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        if self.is_killed {
            return None;
        }
        let after = ASKED_AT.get(self.asked).copied().unwrap_or(KILLED_AT);
        Some(self.began + after)
    }

    /// Takes the next step.
    pub(crate) fn take(&mut self) -> Step {
        if self.asked < ASKED_AT.len() {
            self.asked += 1;
            if self.asked == 1 {
                Step::Ask
            } else {
                Step::AskAndSignal
            }
        } else {
            self.is_killed = true;
            Step::Kill
        }
    }

    /// Returns whether the last step was taken.
    pub(crate) fn is_killed(&self) -> bool {
        self.is_killed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_asked_three_times_and_then_killed() {
        let start = Instant::now();
        let mut ladder = Ladder::new(start);
        let mut steps = Vec::new();
        while let Some(at) = ladder.next() {
            steps.push(((at - start).as_millis(), ladder.take()));
        }
        let wanted = [
            (0, Step::Ask),
            (1000, Step::AskAndSignal),
            (2500, Step::AskAndSignal),
            (5000, Step::Kill),
        ];
        assert_eq!(steps, wanted);
        assert!(ladder.is_killed());
    }
}
