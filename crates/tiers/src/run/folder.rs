//! The run folder: images, logs and journals of one run.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use crate::ToolError;

/// A folder of one run, created when it is first needed, capped, and removed
/// at the end of the run.
#[derive(Debug)]
pub struct RunFolder {
    base: PathBuf,
    cap: u64,
    state: Mutex<State>,
}

/// A file of a run folder that grows.
#[derive(Debug)]
pub struct RunFile {
    path: PathBuf,
    file: fs::File,
}

impl RunFile {
    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[derive(Debug)]
enum State {
    Absent,
    Present { path: PathBuf, used: u64 },
    Removed,
}

impl RunFolder {
    pub(crate) fn new(base: PathBuf, cap: u64) -> Self {
        Self {
            base,
            cap,
            state: Mutex::new(State::Absent),
        }
    }

    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the path of the folder, creating it (for this user only) at the
    /// first call.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be created or the run has ended.
    pub fn path(&self) -> Result<PathBuf, ToolError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.open(&mut state).map(|(path, _)| path.clone())
    }

    /// Writes `bytes` to a new file of the folder and returns its path.
    ///
    /// `name` is a plain file name; where it is taken, a number is added to it.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is a path; `Unavailable` when the folder
    /// is full, cannot be written, or the run has ended. Nothing is left behind.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, ToolError> {
        let mut parts = Path::new(name).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
        {
            return Err(ToolError::invalid_input(format!(
                "cannot write `{name}` to the run folder"
            ))
            .why("it is not a plain file name")
            .next("give a name without folders"));
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (folder, used) = self.open(&mut state)?;
        let size = bytes.len() as u64;
        self.check_room(name, *used, size)?;
        for number in 1_u32.. {
            let path = folder.join(numbered(name, number));
            match fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&path)
            {
                Ok(mut file) => {
                    if let Err(error) = io::Write::write_all(&mut file, bytes) {
                        drop(file);
                        // The first error is the one to report.
                        let _ = fs::remove_file(&path);
                        return Err(failed(name, error));
                    }
                    *used += size;
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(name, error)),
            }
        }
        Err(ToolError::internal(format!(
            "no free name like `{name}` in the run folder"
        )))
    }

    /// Creates an empty file of the folder that grows by [`append`](Self::append).
    ///
    /// `name` is a plain file name; where it is taken, a number is added to it.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn create(&self, name: &str) -> Result<RunFile, ToolError> {
        let path = self.write(name, &[])?;
        let file = fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|error| failed(name, error))?;
        Ok(RunFile { path, file })
    }

    /// Adds `bytes` to a file of this folder.
    ///
    /// # Errors
    /// `Unavailable` when the folder is full, cannot be written, or the run has
    /// ended; the file may then end within `bytes`.
    pub fn append(&self, file: &mut RunFile, bytes: &[u8]) -> Result<(), ToolError> {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, used) = self.open(&mut state)?;
        let size = bytes.len() as u64;
        self.check_room(&name, *used, size)?;
        io::Write::write_all(&mut file.file, bytes).map_err(|error| failed(&name, error))?;
        *used += size;
        Ok(())
    }

    fn check_room(&self, name: &str, used: u64, size: u64) -> Result<(), ToolError> {
        if used.saturating_add(size) <= self.cap {
            return Ok(());
        }
        Err(
            ToolError::unavailable(format!("cannot write `{name}` to the run folder"))
                .why(format!(
                    "it has {used} of {} bytes and {size} more do not fit",
                    self.cap
                ))
                .next("raise the run's limit or write less"),
        )
    }

    /// Removes the folder and everything in it; from now on it cannot be used.
    pub(crate) fn remove(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Present { path, .. } = std::mem::replace(&mut *state, State::Removed)
            && let Err(error) = fs::remove_dir_all(&path)
        {
            tracing::warn!(%error, "the run folder could not be removed");
        }
    }

    fn open<'a>(&self, state: &'a mut State) -> Result<(&'a PathBuf, &'a mut u64), ToolError> {
        if matches!(state, State::Absent) {
            let path = self
                .base
                .join(format!("toolset-run-{}", Uuid::new_v4().simple()));
            create_private(&path).map_err(|error| {
                ToolError::unavailable("cannot create the run folder")
                    .why(format!("`{}`: {error}", path.display()))
                    .source(error)
            })?;
            *state = State::Present { path, used: 0 };
        }
        match state {
            State::Present { path, used } => Ok((path, used)),
            State::Absent | State::Removed => {
                Err(ToolError::unavailable("cannot use the run folder").why("the run has ended"))
            }
        }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        self.remove();
    }
}

fn failed(name: &str, error: io::Error) -> ToolError {
    ToolError::unavailable(format!("cannot write `{name}` to the run folder"))
        .why(&error)
        .source(error)
}

fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, extension))) if !stem.is_empty() => format!("{stem}-{number}.{extension}"),
        _ => format!("{name}-{number}"),
    }
}
