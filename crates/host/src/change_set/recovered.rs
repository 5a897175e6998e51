//! What is said of a change that was cut off, and of files that were left.

use std::fmt;
use std::path::PathBuf;

use tiers::visible;

use crate::WorkspacePath;

/// Files that a text lists at most.
const LISTED: usize = 20;

/// How a change that a crash had cut off was ended.
///
/// The display text says what was done, for people and models.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The title of the change.
    pub title: String,
    /// What the files hold now.
    pub ending: Ending,
    /// The files that were written to get there.
    pub written: Vec<WorkspacePath>,
    /// Files that hold neither their old nor their new bytes, and were left.
    pub left: Vec<Leftover>,
    /// Whether the journal was damaged, so that there may be more files that it
    /// did not name.
    pub is_damaged: bool,
}

/// What files hold after a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// What they held before the change.
    Old,
    /// What the change wrote.
    New,
    /// Nobody knows: the journal could not be read.
    Unknown {
        /// Where the journal is kept now.
        journal: PathBuf,
    },
}

/// A change that a crash cut off and that nobody has ended yet.
///
/// The display text says so, for people and models.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutOff {
    /// The root of the workspace whose files it changes.
    pub root: PathBuf,
    /// The title of the change.
    pub title: String,
}

/// A file that could not be brought to what it was to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// The file.
    pub path: WorkspacePath,
    /// Why.
    pub reason: String,
}

impl Recovered {
    /// Builds the report of a recovery that wrote nothing.
    #[must_use]
    pub fn new(title: impl Into<String>, ending: Ending) -> Self {
        Self {
            title: title.into(),
            ending,
            written: Vec::new(),
            left: Vec::new(),
            is_damaged: false,
        }
    }
}

impl Leftover {
    /// Builds the note about one file.
    #[must_use]
    pub fn new(path: WorkspacePath, reason: impl Into<String>) -> Self {
        Self {
            path,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = visible(&self.title);
        match &self.ending {
            Ending::Old => write!(f, "an earlier change (`{title}`) was cut off and is undone")?,
            Ending::New => write!(
                f,
                "an earlier change (`{title}`) was cut off and is complete"
            )?,
            Ending::Unknown { journal } => write!(
                f,
                "an earlier change was cut off, and its journal cannot be read; it is kept in `{}`",
                journal.display()
            )?,
        }
        if !self.written.is_empty() {
            write!(f, "; written: {}", list_paths(&self.written))?;
        }
        if !self.left.is_empty() {
            write!(f, "; left as they are: {}", list_leftovers(&self.left))?;
        }
        if self.is_damaged && !matches!(self.ending, Ending::Unknown { .. }) {
            write!(f, "; its journal was damaged and may have named more files")?;
        }
        Ok(())
    }
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an earlier change (`{}`) of files in `{}` was cut off: some of them may hold their \
             new text and others their old one",
            visible(&self.title),
            visible(&self.root.to_string_lossy())
        )
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.path, visible(&self.reason))
    }
}

/// Lists paths, cut when there are many.
pub(crate) fn list_paths(paths: &[WorkspacePath]) -> String {
    list(paths.iter().map(|path| format!("`{path}`")))
}

/// Lists files with what is wrong with them, cut when there are many.
pub(crate) fn list_leftovers(leftovers: &[Leftover]) -> String {
    list(leftovers.iter().map(ToString::to_string))
}

fn list(items: impl ExactSizeIterator<Item = String>) -> String {
    let count = items.len();
    let mut listed: Vec<String> = items.take(LISTED).collect();
    if count > LISTED {
        listed.push(format!("and {} more", count - LISTED));
    }
    listed.join(", ")
}
