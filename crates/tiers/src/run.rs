//! The state of one agent run, outside the registry: rebuilding the registry
//! loses nothing of it.

mod folder;
mod state;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::context::Link;
use crate::{Approver, CallContext, Caps, Ceiling, EventSink, Mode, RunId, RunNotices};

pub use folder::{RunFile, RunFolder};
use state::RunState;

/// Whether somebody vouches for the workspace.
///
/// There is no default: the harness says it. In an untrusted workspace a
/// read-tier call starts nothing that the workspace supplies or steers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Its own executables and configuration may be used.
    Trusted,
    /// They may not.
    Untrusted,
}

/// The limits of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How long one call may run once it was admitted; 5 minutes.
    pub call_timeout: Duration,
    /// How long one call may wait for a busy resource; 5 minutes.
    pub admission_wait: Duration,
    /// How long a cancelled call may take to tell its peer; 2 seconds. A nested
    /// call has half as long as the one around it.
    pub grace: Duration,
    /// The text of one result; 2,000 lines, 50 KiB.
    pub output: Caps,
    /// The text of the result of a nested call, which code reads and not a
    /// model; 100,000 lines, 4 MiB.
    pub nested_output: Caps,
    /// The images of one result; 20.
    pub images: usize,
    /// The bytes of one image; 5 MiB.
    pub image_bytes: usize,
    /// The output events of one call; 10,000.
    pub output_events: usize,
    /// How deep calls may be nested; 16.
    pub depth: usize,
    /// The bytes of the run folder; 256 MiB.
    pub folder_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call_timeout: Duration::from_secs(300),
            admission_wait: Duration::from_secs(300),
            grace: Duration::from_secs(2),
            output: Caps::default(),
            nested_output: Caps {
                lines: 100_000,
                bytes: 4 * 1024 * 1024,
            },
            images: 20,
            image_bytes: 5 * 1024 * 1024,
            output_events: 10_000,
            depth: 16,
            folder_bytes: 256 * 1024 * 1024,
        }
    }
}

/// Why a run could not be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The workspace root depends on the current directory.
    #[error("workspace root `{}` is not absolute; resolve it first", .0.display())]
    RelativeRoot(PathBuf),
    /// The workspace root is no folder.
    #[error("workspace root `{}` is not a folder; name an existing one", .0.display())]
    NotAFolder(PathBuf),
    /// A child run hangs under its parent's token and can have no other.
    #[error("a child run has two cancellation roots; leave out `token` and cancel the child's own")]
    TwoRoots,
}

/// One agent run: workspace and trust, mode, limits, cancellation root,
/// notices and run folder.
pub struct Run {
    id: RunId,
    workspace_root: PathBuf,
    trust: Trust,
    mode: Mode,
    ceiling: Ceiling,
    limits: Limits,
    token: CancellationToken,
    notices: RunNotices,
    folder: RunFolder,
    state: RunState,
    approver: Option<Arc<dyn Approver>>,
    events: Option<Arc<dyn EventSink>>,
    tasks: TaskTracker,
    /// The call of another run that this run works for.
    origin: Option<Arc<Link>>,
}

impl Run {
    /// Starts building a run in `workspace_root`, an absolute path.
    pub fn builder(workspace_root: PathBuf, trust: Trust, mode: Mode) -> RunBuilder {
        RunBuilder {
            workspace_root,
            trust,
            mode,
            id: None,
            limits: None,
            folder_base: None,
            token: None,
            approver: None,
            events: None,
            parent: None,
            origin: None,
        }
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the absolute path of the workspace.
    #[must_use]
    pub fn workspace_root(&self) -> &Path {
        &self.workspace_root
    }

    /// Returns whether somebody vouches for the workspace.
    #[must_use]
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Returns the mode the run was started in.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the highest tier the run may see: never above its parent's.
    #[must_use]
    pub fn ceiling(&self) -> Ceiling {
        self.ceiling
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the root of the cancellation tree: cancelling it ends every call.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Returns the notices.
    ///
    /// Dispatch appends them to the next top-level result; a harness with a
    /// registry of its own drains them here.
    #[must_use]
    pub fn notices(&self) -> &RunNotices {
        &self.notices
    }

    /// Returns the run folder.
    #[must_use]
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Returns what the tools of one family keep between the calls of this run:
    /// one value per type, made on first use.
    ///
    /// It lives as long as the run, whatever happens to the registry. A child
    /// run has its own.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicU32, Ordering};
    /// # use tiers::{Mode, Run, Trust};
    /// /// How often the tools of a family were called.
    /// #[derive(Default)]
    /// struct Calls(AtomicU32);
    ///
    /// # let folder = std::env::temp_dir();
    /// let run = Run::builder(folder, Trust::Trusted, Mode::Full).build()?;
    /// run.state::<Calls>().0.fetch_add(1, Ordering::Relaxed);
    /// assert_eq!(run.state::<Calls>().0.load(Ordering::Relaxed), 1);
    /// # Ok::<(), tiers::RunError>(())
    /// ```
    pub fn state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.state.get()
    }

    /// Ends the run: cancels what still runs, waits for work that must not be
    /// cut in half, and removes the run folder and what tools kept.
    ///
    /// Dropping the last handle does the same without waiting.
    pub async fn end(&self) {
        self.token.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.folder.remove();
        self.state.clear();
    }

    pub(crate) fn approver(&self) -> Option<&Arc<dyn Approver>> {
        self.approver.as_ref()
    }

    pub(crate) fn events(&self) -> Option<&Arc<dyn EventSink>> {
        self.events.as_ref()
    }

    pub(crate) fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    pub(crate) fn origin(&self) -> Option<&Arc<Link>> {
        self.origin.as_ref()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("id", &self.id)
            .field("workspace_root", &self.workspace_root)
            .field("trust", &self.trust)
            .field("mode", &self.mode)
            .field("ceiling", &self.ceiling)
            .finish_non_exhaustive()
    }
}

/// Builds a [`Run`].
#[must_use]
pub struct RunBuilder {
    workspace_root: PathBuf,
    trust: Trust,
    mode: Mode,
    id: Option<RunId>,
    limits: Option<Limits>,
    folder_base: Option<PathBuf>,
    token: Option<CancellationToken>,
    approver: Option<Arc<dyn Approver>>,
    events: Option<Arc<dyn EventSink>>,
    parent: Option<Arc<Run>>,
    origin: Option<Arc<Link>>,
}

impl RunBuilder {
    /// Sets the id; a fresh one otherwise.
    pub fn id(mut self, id: impl Into<RunId>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the limits; the parent's, or [`Limits::default`], otherwise.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets the folder in which the run folder is created; the system's folder
    /// for temporary files otherwise.
    pub fn folder_in(mut self, base: PathBuf) -> Self {
        self.folder_base = Some(base);
        self
    }

    /// Sets the token whose cancellation ends the run; the run never cancels
    /// it. Not for child runs: these hang under their parent's token.
    pub fn token(mut self, token: &CancellationToken) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// Sets who approves calls; the parent's otherwise.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sets where events go; the parent's sink otherwise.
    pub fn events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.events = Some(events);
        self
    }

    /// Makes this a child run: its ceiling is the lower of its mode's and the
    /// parent's, and it ends with the parent.
    pub fn parent(mut self, parent: &Arc<Run>) -> Self {
        self.parent = Some(Arc::clone(parent));
        self
    }

    /// Makes this a child run of the run of `call`, working for that call:
    /// while the call (or one around it) holds a group, calls of this run
    /// never wait for another, as if they were nested in it.
    pub fn parent_call(mut self, call: &CallContext) -> Self {
        self.parent = Some(Arc::clone(call.run_handle()));
        self.origin = Some(Arc::clone(call.link()));
        self
    }

    /// Builds the run.
    ///
    /// # Errors
    /// When the workspace root is not absolute or not a folder, or a child run
    /// is given a token.
    pub fn build(self) -> Result<Arc<Run>, RunError> {
        if !self.workspace_root.is_absolute() {
            return Err(RunError::RelativeRoot(self.workspace_root));
        }
        if !self.workspace_root.is_dir() {
            return Err(RunError::NotAFolder(self.workspace_root));
        }
        let parent = self.parent.as_deref();
        let own = self.mode.ceiling();
        let ceiling = parent.map_or(own, |parent| own.min(parent.ceiling));
        let limits = self
            .limits
            .or_else(|| parent.map(|parent| parent.limits.clone()))
            .unwrap_or_default();
        let token = match (&self.token, parent) {
            (Some(token), None) => token.child_token(),
            (None, Some(parent)) => parent.token.child_token(),
            (None, None) => CancellationToken::new(),
            (Some(_), Some(_)) => return Err(RunError::TwoRoots),
        };
        let base = self.folder_base.unwrap_or_else(|| match parent {
            Some(parent) => parent.folder.base().to_path_buf(),
            None => std::env::temp_dir(),
        });
        Ok(Arc::new(Run {
            id: self.id.unwrap_or_else(RunId::fresh),
            workspace_root: self.workspace_root,
            trust: self.trust,
            mode: self.mode,
            ceiling,
            folder: RunFolder::new(base, limits.folder_bytes),
            limits,
            token,
            notices: RunNotices::default(),
            state: RunState::default(),
            approver: self
                .approver
                .or_else(|| parent.and_then(|parent| parent.approver.clone())),
            events: self
                .events
                .or_else(|| parent.and_then(|parent| parent.events.clone())),
            tasks: TaskTracker::new(),
            origin: self
                .origin
                .or_else(|| parent.and_then(|parent| parent.origin.clone())),
        }))
    }
}
