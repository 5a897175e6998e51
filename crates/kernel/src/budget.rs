//! How long a cell may be idle, and how long it may run at all.
//!
//! Idle means: it writes nothing, shows nothing, and waits for no tool. While a
//! bridged call is pending, both clocks stand.

use std::time::Duration;

use tokio::time::Instant;

/// The clocks of one cell.
#[derive(Debug)]
pub(crate) struct Budget {
    window: Duration,
    ceiling: Duration,
    /// Since when it has been idle, while it is not suspended.
    idle_since: Instant,
    /// Since when the ceiling counts, while it is not suspended.
    running_since: Instant,
    /// What counted before.
    ran: Duration,
    pending: usize,
}

/// Which clock ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expired {
    Idle,
    Ceiling,
}

impl Budget {
    pub(crate) fn new(window: Duration, ceiling: Duration, now: Instant) -> Self {
        Self {
            window: window.min(ceiling),
            ceiling,
            idle_since: now,
            running_since: now,
            ran: Duration::ZERO,
            pending: 0,
        }
    }

    /// The cell wrote or showed something.
    pub(crate) fn renew(&mut self, now: Instant) {
        self.idle_since = now;
    }

    /// A bridged call began.
    pub(crate) fn suspend(&mut self, now: Instant) {
        if self.pending == 0 {
            self.ran += now.saturating_duration_since(self.running_since);
        }
        self.pending += 1;
    }

    /// A bridged call ended; with the last one a fresh window starts.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.pending = self.pending.saturating_sub(1);
        if self.pending == 0 {
            self.idle_since = now;
            self.running_since = now;
        }
    }

    /// Returns when the first clock runs out; never while suspended.
    pub(crate) fn deadline(&self) -> Option<(Instant, Expired)> {
        if self.pending > 0 {
            return None;
        }
        let idle = self.idle_since + self.window;
        let ceiling = self.running_since + self.ceiling.saturating_sub(self.ran);
        Some(if idle <= ceiling {
            (idle, Expired::Idle)
        } else {
            (ceiling, Expired::Ceiling)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(start: Instant, seconds: u32) -> Instant {
        start + SECOND * seconds
    }

    #[test]
    fn output_renews_the_window_up_to_the_ceiling() {
        let start = Instant::now();
        let mut budget = Budget::new(SECOND * 10, SECOND * 60, start);
        assert_eq!(budget.deadline(), Some((at(start, 10), Expired::Idle)));
        budget.renew(at(start, 7));
        assert_eq!(budget.deadline(), Some((at(start, 17), Expired::Idle)));
        budget.renew(at(start, 55));
        assert_eq!(budget.deadline(), Some((at(start, 60), Expired::Ceiling)));
    }

    #[test]
    fn both_clocks_stand_while_any_call_is_pending() {
        let start = Instant::now();
        let mut budget = Budget::new(SECOND * 10, SECOND * 15, start);
        budget.suspend(at(start, 4));
        budget.suspend(at(start, 5));
        assert_eq!(budget.deadline(), None);
        budget.resume(at(start, 100));
        assert_eq!(budget.deadline(), None);
        budget.resume(at(start, 200));
        // Four seconds of the ceiling are used; the window is a fresh one.
        assert_eq!(budget.deadline(), Some((at(start, 210), Expired::Idle)));
        budget.renew(at(start, 205));
        assert_eq!(budget.deadline(), Some((at(start, 211), Expired::Ceiling)));
    }
}
