//! Reads and writes workspace files: the port, and the disk as its default.

mod beneath;
mod commit;
mod looks;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use crate::{ChangeSet, CutOff, Error, Outcome, Recovered, Workspace, WorkspacePath};

/// The files of a workspace, as the harness keeps them.
///
/// A harness with a file layer of its own (an editor's buffers, a remote
/// machine) implements this; [`DiskFiles`] is the default.
#[async_trait]
pub trait HarnessFiles: Send + Sync {
    /// Returns the whole contents of a regular file.
    ///
    /// # Errors
    /// Nothing is there, it is no regular file, it is too large, or it may not
    /// be read.
    async fn read(&self, path: &WorkspacePath) -> Result<Vec<u8>, Error>;

    /// Returns whether [`read`](Self::read) gives what is on the disk.
    ///
    /// Then a tool that reads very many files may read them from the disk
    /// itself. The default is no.
    fn reads_disk(&self) -> bool {
        false
    }

    /// Returns what is at `path`, or `None` where nothing is.
    ///
    /// # Errors
    /// The system refuses to look.
    async fn metadata(&self, path: &WorkspacePath) -> Result<Option<FileMetadata>, Error>;

    /// Replaces the contents of one file, or creates it with its folders.
    ///
    /// Readers see the old contents or the new, never a mixture. Dropping the
    /// future leaves one or the other.
    ///
    /// # Errors
    /// Something other than a regular file is there, it is too large, or it may
    /// not be written; the file is as it was.
    async fn write(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), Error>;

    /// Carries out several changes: all of them, or none.
    ///
    /// Every file is compared with the bytes that its change was made for. Where
    /// one differs, or may not be changed, the whole set is rejected and no file
    /// is written.
    ///
    /// Dropping the future acts before the change or after it, never in the
    /// middle.
    ///
    /// There is no default: files written one by one could be left half changed,
    /// so whoever keeps the files has to say how they change together.
    ///
    /// # Errors
    /// The change failed on the way and was taken back; the error says which
    /// files were put back, and which could not be.
    async fn apply(&self, changes: ChangeSet) -> Result<Outcome, Error>;

    /// Ends a change of `workspace` that a crash had cut off, so that its files
    /// are entirely old or entirely new; `None` where there was none.
    ///
    /// A harness calls this when it opens a workspace. The default is for file
    /// layers that never leave a change half done.
    ///
    /// # Errors
    /// The files or the journal cannot be read or written.
    async fn recover(&self, workspace: &Workspace) -> Result<Option<Recovered>, Error> {
        let _ = workspace;
        Ok(None)
    }
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileMetadata {
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub len: u64,
    /// When its contents last changed, where the system knows.
    pub modified: Option<SystemTime>,
}

impl FileMetadata {
    /// Builds the description of what is at a path.
    #[must_use]
    pub fn new(kind: FileKind, len: u64, modified: Option<SystemTime>) -> Self {
        Self {
            kind,
            len,
            modified,
        }
    }
}

/// What kind of thing is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A pipe, a socket or a device: never opened, since that may block or act.
    Special,
}

/// The files on disk.
///
/// Every component below the workspace's root is opened without following
/// links, so that a directory which became a link after the path was resolved
/// is an error and not an escape.
///
/// A write makes a new file beside the old one and renames it, keeping mode,
/// access list (on Linux) and, where the system permits, owner. Other hard links
/// to the old file keep the old contents, and other extended attributes are not
/// copied. A setuid or setgid bit is kept only with the owner or group that it
/// stands for.
///
/// ```
/// # use host::{DiskFiles, HarnessFiles, Trust, Workspace};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), host::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// let workspace = Workspace::open(folder.path(), Trust::Trusted)?;
/// let path = workspace.resolve("notes/today.md")?;
/// let files = DiskFiles::new();
/// files.write(&path, b"# Today\n").await?;
/// assert_eq!(files.read(&path).await?, b"# Today\n");
/// # Ok(())
/// # }
/// ```
///
/// # Several files at once
///
/// [`HarnessFiles::apply`] survives a crash at any point: it writes a journal
/// first, and [`HarnessFiles::recover`], or else the next change, ends what was
/// cut off. See [`ChangeSet`] for an example.
///
/// Journals are kept in a folder of the user's state, with one folder for each
/// workspace: `$XDG_STATE_HOME/toolset/changes`, or
/// `~/.local/state/toolset/changes` where that variable is not set to an
/// absolute path. [`DiskFiles::with_state_folder`] names another one. All
/// programs that change one workspace must use the same, since the lock and the
/// journal are there; a workspace that outlives its machine (a mounted folder in
/// a container) needs a state folder that does, too.
///
/// While a change is carried out, hidden files named `.toolset-….tmp` and
/// `.toolset-….old` are beside those that change.
#[derive(Debug, Clone)]
pub struct DiskFiles {
    max_bytes: u64,
    state: Option<PathBuf>,
    lock_wait: Duration,
    steps: commit::Steps,
}

impl DiskFiles {
    /// The largest file read or written by default: 64 MiB.
    pub const DEFAULT_MAX_BYTES: u64 = 64 * 1024 * 1024;
    /// How long a change waits for another one by default.
    pub const DEFAULT_LOCK_WAIT: Duration = Duration::from_secs(10);

    /// Builds the default.
    #[must_use]
    pub fn new() -> Self {
        Self {
            max_bytes: Self::DEFAULT_MAX_BYTES,
            state: None,
            lock_wait: Self::DEFAULT_LOCK_WAIT,
            steps: commit::Steps::default(),
        }
    }

    /// Sets the largest file that is read or written, in bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Sets the folder that journals of changes are kept in; it is made when it
    /// is needed. It must be on a disk that a restart does not empty.
    #[must_use]
    pub fn with_state_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Sets how long a change waits while another one of the same workspace
    /// runs, in this process or in another.
    #[must_use]
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// Reads as [`HarnessFiles::read`] does, on this thread.
    ///
    /// # Errors
    /// As [`HarnessFiles::read`].
    pub fn read_blocking(&self, path: &WorkspacePath) -> Result<Vec<u8>, Error> {
        beneath::read(path, self.max_bytes)
    }

    /// Recovers as [`HarnessFiles::recover`] does, on this thread.
    ///
    /// # Errors
    /// As [`HarnessFiles::recover`].
    pub fn recover_blocking(&self, workspace: &Workspace) -> Result<Option<Recovered>, Error> {
        let Some(state) = self.state_folder() else {
            return Ok(None); // no change could begin without one
        };
        self.committer(workspace, &state, &|| false).recover()
    }

    /// Lists the changes that a crash cut off and that have files in common with
    /// `workspace`: its own, those of workspaces inside it, and those of
    /// workspaces that it is inside of. Reads only, on this thread.
    ///
    /// [`recover_blocking`](Self::recover_blocking) ends one, called for the
    /// workspace at its root. A journal that cannot be read is not listed.
    #[must_use]
    pub fn cut_off_blocking(&self, workspace: &Workspace) -> Vec<CutOff> {
        let Some(state) = self.state_folder() else {
            return Vec::new();
        };
        self.committer(workspace, &state, &|| false).cut_off()
    }

    fn apply_blocking(
        &self,
        changes: &ChangeSet,
        is_abandoned: &dyn Fn() -> bool,
    ) -> Result<Outcome, Error> {
        let Some(first) = changes.changes().first() else {
            return Ok(Outcome::Applied(crate::Applied::default()));
        };
        for change in changes.changes() {
            let bytes = change.after().map_or(0, |bytes| bytes.len() as u64);
            self.check_size(change.path(), bytes)?;
        }
        let state = self.state_folder().ok_or(Error::NoStateFolder)?;
        let workspace = first.path().workspace();
        self.committer(workspace, &state, is_abandoned)
            .apply(changes)
    }

    fn committer<'a>(
        &'a self,
        workspace: &'a Workspace,
        state: &'a Path,
        is_abandoned: &'a dyn Fn() -> bool,
    ) -> commit::Committer<'a> {
        commit::Committer {
            workspace,
            state,
            wait: self.lock_wait,
            steps: &self.steps,
            is_abandoned,
        }
    }

    fn check_size(&self, path: &WorkspacePath, bytes: u64) -> Result<(), Error> {
        if bytes <= self.max_bytes {
            return Ok(());
        }
        Err(Error::TooLarge {
            action: "write",
            path: path.to_string(),
            bytes,
            limit: self.max_bytes,
        })
    }

    fn state_folder(&self) -> Option<PathBuf> {
        match &self.state {
            Some(folder) => Some(folder.clone()),
            None => user_state(std::env::var_os("XDG_STATE_HOME"), std::env::home_dir()),
        }
    }
}

/// Finds the folder for journals in the user's state.
///
/// Source: XDG Base Directory Specification: a relative path is ignored.
fn user_state(configured: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: PathBuf| Some(path).filter(|path| path.is_absolute());
    configured
        .map(PathBuf::from)
        .and_then(absolute)
        .or_else(|| {
            home.and_then(absolute)
                .map(|home| home.join(".local/state"))
        })
        .map(|state| state.join("toolset/changes"))
}

impl Default for DiskFiles {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl HarnessFiles for DiskFiles {
    async fn read(&self, path: &WorkspacePath) -> Result<Vec<u8>, Error> {
        let limit = self.max_bytes;
        off_runtime("read", path, move |path| beneath::read(path, limit)).await
    }

    fn reads_disk(&self) -> bool {
        true
    }

    async fn metadata(&self, path: &WorkspacePath) -> Result<Option<FileMetadata>, Error> {
        off_runtime("look at", path, beneath::metadata).await
    }

    async fn write(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), Error> {
        self.check_size(path, bytes.len() as u64)?;
        let bytes = bytes.to_vec();
        off_runtime("write", path, move |path| beneath::write(path, &bytes)).await
    }

    async fn apply(&self, changes: ChangeSet) -> Result<Outcome, Error> {
        let Some(first) = changes.changes().first() else {
            return Ok(Outcome::Applied(crate::Applied::default()));
        };
        let at = first.path().workspace().root_path();
        let files = self.clone();
        // A caller that is gone before anything is written wants nothing any more.
        let waiting = Waiting::default();
        let is_abandoned = Arc::clone(&waiting.is_abandoned);
        off_runtime("change files in", &at, move |_| {
            files.apply_blocking(&changes, &|| is_abandoned.load(Ordering::Relaxed))
        })
        .await
    }

    async fn recover(&self, workspace: &Workspace) -> Result<Option<Recovered>, Error> {
        let files = self.clone();
        let at = workspace.root_path();
        off_runtime("recover", &at, move |at| {
            files.recover_blocking(at.workspace())
        })
        .await
    }
}

/// Tells the owned task when the one who waits for it is gone.
#[derive(Default)]
struct Waiting {
    is_abandoned: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` where it may block; it runs to its end even if we are dropped.
async fn off_runtime<T: Send + 'static>(
    action: &'static str,
    path: &WorkspacePath,
    work: impl FnOnce(&WorkspacePath) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let owned = path.clone();
    match tokio::task::spawn_blocking(move || work(&owned)).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::Io {
                action,
                path: path.to_string(),
                source: io::Error::other("the program is shutting down"),
            }),
        },
    }
}

#[cfg(test)]
mod tests;
