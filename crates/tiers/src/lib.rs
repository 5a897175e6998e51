//! Tier, ceiling, tool contract, registry and gate.

mod error;
mod output;
mod tier;

pub use error::{ErrorKind, ToolError};
pub use output::{Content, ToolOutput};
pub use tier::{Ceiling, Mode, Tier};
