//! The port through which tools get at language servers.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use host::{Workspace, WorkspacePath};
use tokio::time::Instant;

use crate::error::Error;
use crate::plan::Candidate;
use crate::server::{InUse, Server};

/// Port: gives tools language servers that many runs share.
///
/// [`Supervisor`](crate::Supervisor) is the default. A harness that wants a say
/// wraps one and decides which servers may be leased.
#[async_trait]
pub trait LanguageServers: Send + Sync {
    /// Returns the servers that claim the file, in order of preference, usable
    /// or not. Reads the disk, starts nothing; what cannot have changed since the
    /// last time may be remembered.
    fn candidates(&self, file: &WorkspacePath) -> Vec<Candidate>;

    /// Forgets what was found of markers and executables, so that the next
    /// question looks anew. The default is for those that remember nothing.
    fn forget(&self) {}

    /// Returns the extensions and names of files that servers are known for.
    fn extensions(&self) -> Vec<String>;

    /// Returns what is to be said of the servers of a workspace: that its own
    /// table of servers was left out, or cannot be read.
    fn notes(&self, workspace: &Workspace) -> Vec<String> {
        let _ = workspace;
        Vec::new()
    }

    /// Returns every server for which there are files in the workspace, once for
    /// each of its roots. Reads the disk, starts nothing.
    fn survey(&self, workspace: &Workspace) -> Vec<Candidate>;

    /// Returns the server of a candidate, and starts it where it does not run.
    ///
    /// However many ask at once, one process is started.
    ///
    /// # Errors
    /// The candidate cannot be used, its server does not start or has failed a
    /// moment ago, or it does not get ready to talk before `deadline`.
    ///
    /// # Cancel
    /// The start goes on, for the next caller.
    async fn lease(&self, candidate: &Candidate, deadline: Instant) -> Result<Lease, Error>;

    /// Returns how the server of a candidate is, without starting it.
    fn phase(&self, candidate: &Candidate) -> ServerPhase;

    /// Forgets failures of a candidate's server, ends its process and starts a
    /// new one.
    ///
    /// # Errors
    /// As [`LanguageServers::lease`].
    async fn reload(&self, candidate: &Candidate, deadline: Instant) -> Result<Reloaded, Error>;
}

/// The use of a running server for one call.
///
/// While a [`Hold`] of it lives, the server is not ended for want of users.
#[derive(Debug)]
pub struct Lease {
    pub(crate) server: Arc<Server>,
    pub(crate) hold: Hold,
}

/// A run's share in a server; cheap to clone.
#[derive(Debug, Clone)]
pub struct Hold {
    pub(crate) share: Arc<()>,
}

impl Hold {
    /// Returns whether both are shares in the same server.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.share, &other.share)
    }
}

impl Lease {
    pub(crate) fn enter(&self) -> InUse {
        self.server.enter()
    }

    /// Returns the share that keeps the server.
    #[must_use]
    pub fn hold(&self) -> Hold {
        self.hold.clone()
    }
}

/// How a server is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ServerPhase {
    /// It does not run.
    NotStarted,
    /// It was started and has not introduced itself.
    Starting {
        /// For how long.
        since: Duration,
    },
    /// It can be talked to.
    Running(RunningServer),
    /// It failed, and is not started again before some time.
    BackingOff {
        /// Until when not.
        wait: Duration,
        /// Why it failed.
        why: String,
    },
}

/// What is known of a running server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunningServer {
    /// Name and version, as it says.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Memory of it and its descendants, in bytes, where the system says it.
    pub resident_bytes: Option<u64>,
    /// Documents that are open.
    pub open_documents: usize,
    /// How long it runs.
    pub uptime: Duration,
    /// How long its last answer took.
    pub last_latency: Option<Duration>,
    /// What it is doing: `ready`, `indexing (40 %)`.
    pub doing: String,
    /// For each action, whether it can be asked: the server offers it, or why not.
    pub offers: Vec<(&'static str, Result<(), &'static str>)>,
}

/// How a reload ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reloaded {
    /// A new process runs.
    Restarted {
        /// The process that was ended, if one ran.
        ended: Option<u32>,
        /// The new one.
        started: u32,
    },
    /// Another caller was starting it; that start was waited for.
    Joined {
        /// The process.
        started: u32,
    },
    /// It was restarted just now.
    Throttled {
        /// How long not to ask again.
        wait: Duration,
    },
}
