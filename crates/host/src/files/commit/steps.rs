//! The points at which a commit touches the disk, so that tests can stop it or
//! make it fail at each.

use std::io;

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Read a file, to compare it with what the change was made for.
    Verify,
    /// Write a part of the journal, or put it in place.
    Journal,
    /// Make a folder.
    MakeFolder,
    /// Make, fill or dress a temporary file.
    Stage,
    /// Bring a file or a folder to the disk.
    Sync,
    /// Read a file once more, right before it is replaced.
    Recheck,
    /// Swap a file with a temporary one.
    Exchange,
    /// Give an old file a second name.
    Link,
    /// Copy an old file.
    Copy,
    /// Rename one file.
    Rename,
    /// Mark the change as done.
    Finish,
    /// Remove a temporary file.
    Clean,
    /// Remove a folder that was made for nothing.
    RemoveFolder,
    /// Remove the journal.
    EndJournal,
}

/// What watches the steps.
#[cfg(test)]
pub(in crate::files) type Watch = dyn Fn(Step) -> io::Result<()> + Send + Sync;

/// The steps of a commit. Does nothing outside this crate's tests.
#[derive(Clone, Default)]
pub(in crate::files) struct Steps {
    #[cfg(test)]
    pub(super) watch: Option<std::sync::Arc<Watch>>,
    /// Whether the disk need not keep up: a killed process loses no page.
    #[cfg(test)]
    pub(super) is_volatile: bool,
}

impl Steps {
    /// Is called before each step.
    #[cfg(test)]
    pub(super) fn before(&self, step: Step) -> io::Result<()> {
        match &self.watch {
            Some(watch) => watch(step),
            None => Ok(()),
        }
    }

    /// Is called before each step.
    #[cfg(not(test))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "as the version for tests"
    )]
    pub(super) fn before(&self, _step: Step) -> io::Result<()> {
        Ok(())
    }

    /// Brings what was written to `file` to the disk.
    pub(super) fn sync(&self, file: &impl std::os::fd::AsFd) -> io::Result<()> {
        self.before(Step::Sync)?;
        #[cfg(test)]
        if self.is_volatile {
            return Ok(());
        }
        Ok(rustix::fs::fsync(file)?)
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Steps")
    }
}
