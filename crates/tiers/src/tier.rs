//! Tiers, ceilings and modes: which surfaces see a tool at all.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a tool may do to the world, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// No side effects.
    Read,
    /// Changes files.
    Write,
    /// Starts or controls a process.
    Exec,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Exec => "exec",
        })
    }
}

/// The highest tier a surface may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ceiling(pub Tier);

impl Ceiling {
    /// Returns whether a tool of `tier` is visible under this ceiling.
    #[must_use]
    pub fn admits(self, tier: Tier) -> bool {
        tier <= self.0
    }
}

/// How a run was started; it fixes the ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Planning: nothing may change.
    Plan,
    /// A sub-agent that only explores.
    ReadOnlySubagent,
    /// Everything attached is visible.
    Full,
}

impl Mode {
    /// Returns the ceiling of this mode.
    #[must_use]
    pub fn ceiling(self) -> Ceiling {
        match self {
            Self::Plan | Self::ReadOnlySubagent => Ceiling(Tier::Read),
            Self::Full => Ceiling(Tier::Exec),
        }
    }
}
