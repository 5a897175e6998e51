//! Measures the time that a thread has worked, whatever else the machine does
//! meanwhile, so that a limit means the same on a busy machine and an idle one.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A limit on the time that the present thread works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkLimit {
    ends: Duration,
}

impl WorkLimit {
    /// Lets the thread work for `time` from now on.
    pub(crate) fn new(time: Duration) -> Self {
        Self {
            ends: worked() + time,
        }
    }

    /// Returns whether the thread that set the limit has worked so long.
    pub(crate) fn is_over(&self) -> bool {
        worked() >= self.ends
    }
}

/// Returns how long the present thread has worked.
fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}
