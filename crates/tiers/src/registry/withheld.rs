//! Which tools are absent and why: for the harness, never for the model.

use std::fmt;

use serde::Serialize;

use crate::{Ceiling, Tier};

/// A tool that is not on this surface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Withheld {
    /// Its name.
    pub name: String,
    /// Why it is absent.
    pub why: Absence,
}

/// Why a tool is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Absence {
    /// Its tier is above the run's ceiling.
    OverCeiling {
        /// The tool's tier.
        tier: Tier,
        /// The run's ceiling.
        ceiling: Ceiling,
    },
    /// The resource behind it is not attached: the port's name.
    NotAttached(String),
    /// The mode it belongs to is off.
    ModeOff,
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", self.name)?;
        match &self.why {
            Absence::OverCeiling { tier, ceiling } => {
                write!(
                    f,
                    "its tier is {tier}, the ceiling of this run is {}",
                    ceiling.0
                )
            }
            Absence::NotAttached(port) => write!(f, "no {port} is attached"),
            Absence::ModeOff => f.write_str("its mode is off"),
        }
    }
}
