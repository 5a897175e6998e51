//! Where a child runs: on the host, or in the conversation's sandbox.

use std::ffi::OsString;
use std::path::PathBuf;

use async_trait::async_trait;

/// The prefix of a command line that makes it run somewhere else.
///
/// Applied after everything else: `[program, args..., child's program, child's
/// args...]`. Directory and environment are those of the launcher's process; a
/// launcher that does not hand them on names them in its own arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launcher {
    /// The launcher's executable on the host, absolute.
    pub program: PathBuf,
    /// Its arguments, before the child's command line.
    pub args: Vec<OsString>,
}

impl Launcher {
    /// Builds a launcher.
    #[must_use]
    pub fn new(
        program: impl Into<PathBuf>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
        }
    }
}

/// The sandbox of a conversation, where the harness has them.
#[async_trait]
pub trait Sandbox: Send + Sync {
    /// Returns how to run a command in the sandbox if it is running *now*.
    ///
    /// Must not start one: `None` means that the child runs on the host.
    async fn running(&self) -> Option<Launcher>;
}
