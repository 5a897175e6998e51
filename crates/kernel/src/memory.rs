//! How much memory an interpreter and its children may hold.

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

    /// Half and four fifths of what this machine (or this container) has.
    #[must_use]
    pub fn of_machine() -> Self {
        let total = total_bytes().unwrap_or(u64::MAX);
        Self {
            soft: total / 2,
            hard: total / 5 * 4,
        }
    }
}

/// Source: `proc_meminfo(5)`, and `memory.max` of control groups, version 2.
fn total_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let machine = kilobytes.saturating_mul(1024);
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    Some(group.map_or(machine, |group: u64| group.min(machine)))
}

/// Writes a number of bytes for people: `1.5 GB`.
pub(crate) fn shown(bytes: u64) -> String {
    if bytes >= 1_000_000_000 {
        format!("{:.1} GB", bytes as f64 / 1e9)
    } else {
        format!("{} MB", bytes / 1_000_000)
    }
}
