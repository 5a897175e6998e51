//! The points at which a commit touches the disk, so that tests can stop it or
//! make it fail at each.

use std::io;
use std::os::fd::AsFd;

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

/// The steps of a commit: where tests can stop it, and what waits for the disk.
#[derive(Clone, Default)]
pub(in crate::files) struct Steps {
    /// Whether the order of steps need not survive a loss of power.
    is_unordered: bool,
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

    /// Does not wait for anything but contents: for a change of one file, which
    /// one swap makes old or new as a whole.
    pub(super) fn unordered(&self) -> Self {
        let mut steps = self.clone();
        steps.is_unordered = true;
        steps
    }

    /// Brings the contents of a new file to the disk, before it gets its name.
    pub(super) fn sync_contents(&self, file: &impl AsFd) -> io::Result<()> {
        self.before(Step::Sync)?;
        #[cfg(test)]
        if self.is_volatile {
            return Ok(());
        }
        Ok(rustix::fs::fsync(file)?)
    }

    /// Brings everything to the disk that is in `file`, a folder mostly, so that
    /// it comes before what is done next.
    pub(super) fn sync(&self, file: &impl AsFd) -> io::Result<()> {
        if self.is_unordered {
            return Ok(());
        }
        self.sync_contents(file)
    }
}

impl std::fmt::Debug for Steps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Steps")
    }
}
