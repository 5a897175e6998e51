//! How much memory an interpreter and its children may hold.

use host::process::machine_memory;

/// Watched once a second while a cell runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryLimits {
    /// From here on the result says so, in bytes.
    pub soft: u64,
    /// From here on the interpreter is ended, in bytes.
    pub hard: u64,
}

impl MemoryLimits {
    /// Builds limits, in bytes.
    #[must_use]
    pub fn new(soft: u64, hard: u64) -> Self {
        Self { soft, hard }
    }

    /// Half and four fifths of what this machine (or this container) has. Where
    /// the system does not say, there is no limit, and the first result of an
    /// interpreter says that.
    #[must_use]
    pub fn of_machine() -> Self {
        let total = machine_memory().unwrap_or(u64::MAX);
        Self {
            soft: total / 2,
            hard: total / 5 * 4,
        }
    }
}

/// Writes a number of bytes for people: `1.5 GB`.
pub(crate) fn shown(bytes: u64) -> String {
    if bytes >= 1_000_000_000 {
        format!("{:.1} GB", bytes as f64 / 1e9)
    } else {
        format!("{} MB", bytes / 1_000_000)
    }
}
