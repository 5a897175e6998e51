//! Services that every tool family shares and none should write twice.
//!
//! - [`Workspace`] decides what is inside the checkout and whether it is
//!   trusted; [`WorkspacePath`] is the only path type that tools take.
//! - [`HarnessFiles`] reads and writes what is inside; [`DiskFiles`] is the
//!   default.
//! - [`ChangeSet`] says how several files change together, all of them or none.
//! - [`process`] starts child processes and sees to it that they end.
//! - [`executable`] finds a project's root and the program that serves it.
//! - [`framing`] cuts byte streams into messages and back.
//! - [`text`] converts between bytes, lines and UTF-16 columns.
//! - [`cap_text`] cuts a text to whole lines within [`Caps`] (from `tiers`,
//!   where every result goes through it).
//!
//! ```
//! use host::{Trust, Workspace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path();
//! let workspace = Workspace::open(root, Trust::Untrusted)?;
//! let path = workspace.resolve("src/new.rs")?; // need not exist yet
//! assert_eq!(path.relative(), "src/new.rs");
//! assert!(workspace.resolve("../outside.rs").is_err());
//! # Ok(())
//! # }
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

#[cfg(not(unix))]
compile_error!("`toolset-host` supports Linux and macOS");

mod change_set;
mod error;
pub mod executable;
mod files;
pub mod framing;
pub mod process;
pub mod text;
mod workspace;

pub use change_set::{
    Applied, ChangeSet, CutOff, Difference, Ending, FileChange, Leftover, Mismatch, Outcome,
    Recovered,
};
pub use error::Error;
pub use files::{DiskFiles, FileKind, FileMetadata, HarnessFiles};
pub use tiers::{Capped, Caps, Trust, cap_text};
pub use workspace::{Location, Workspace, WorkspacePath};
