//! Reads and writes workspace files: the port, and the disk as its default.

mod beneath;

use std::io;
use std::time::SystemTime;

use async_trait::async_trait;

use crate::{Error, WorkspacePath};

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
/// A write makes a new file beside the old one and renames it, keeping mode
/// and, where the system permits, owner. Other hard links to the old file keep
/// the old contents, and extended attributes are not copied.
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
#[derive(Debug, Clone)]
pub struct DiskFiles {
    max_bytes: u64,
}

impl DiskFiles {
    /// The largest file read or written by default: 64 MiB.
    pub const DEFAULT_MAX_BYTES: u64 = 64 * 1024 * 1024;

    /// Builds the default.
    #[must_use]
    pub fn new() -> Self {
        Self {
            max_bytes: Self::DEFAULT_MAX_BYTES,
        }
    }

    /// Sets the largest file that is read or written, in bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Reads as [`HarnessFiles::read`] does, on this thread.
    ///
    /// # Errors
    /// As [`HarnessFiles::read`].
    pub fn read_blocking(&self, path: &WorkspacePath) -> Result<Vec<u8>, Error> {
        beneath::read(path, self.max_bytes)
    }
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

    async fn metadata(&self, path: &WorkspacePath) -> Result<Option<FileMetadata>, Error> {
        off_runtime("look at", path, beneath::metadata).await
    }

    async fn write(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), Error> {
        let size = bytes.len() as u64;
        if size > self.max_bytes {
            return Err(Error::TooLarge {
                action: "write",
                path: path.to_string(),
                bytes: size,
                limit: self.max_bytes,
            });
        }
        let bytes = bytes.to_vec();
        off_runtime("write", path, move |path| beneath::write(path, &bytes)).await
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
