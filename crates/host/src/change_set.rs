//! Several files that change together or not at all.
//!
//! A change set only says what is to change. Whoever keeps the files carries
//! it out: [`HarnessFiles::apply`](crate::HarnessFiles::apply).

mod recovered;

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::recovered::{CutOff, Ending, Leftover, Recovered};

pub(crate) use self::recovered::{list_leftovers, list_paths};

use tiers::visible;

use crate::{Error, WorkspacePath};

/// Changes of several files of one workspace, each with the bytes that it was
/// made for and the bytes that it writes.
///
/// ```
/// # use host::{ChangeSet, DiskFiles, FileChange, HarnessFiles, Outcome, Trust, Workspace};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), host::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let root = folder.path().join("ws");
/// # std::fs::create_dir(&root).unwrap();
/// # let state = folder.path().join("state");
/// let workspace = Workspace::open(&root, Trust::Trusted)?;
/// let files = DiskFiles::new().with_state_folder(&state);
/// let (old, new) = (workspace.resolve("old.md")?, workspace.resolve("new/name.md")?);
/// files.write(&old, b"# Title\n").await?;
///
/// let mut changes = ChangeSet::new("move the page");
/// changes.push(FileChange::delete(old.clone(), *b"# Title\n"))?;
/// changes.push(FileChange::create(new.clone(), *b"# Title\n").like(old.clone()))?;
/// match files.apply(changes.clone()).await? {
///     Outcome::Applied(applied) => assert_eq!(applied.touched, [old, new]),
///     Outcome::Rejected(mismatches) => panic!("{mismatches:?}"),
/// }
///
/// // The files are not what the set was made for any more.
/// let Outcome::Rejected(mismatches) = files.apply(changes).await? else { panic!() };
/// assert_eq!(mismatches[0].to_string(), "`old.md` does not exist any more");
/// assert_eq!(mismatches[1].to_string(), "`new/name.md` exists already");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ChangeSet {
    title: String,
    changes: Vec<FileChange>,
    /// Every path that changes.
    paths: HashSet<PathBuf>,
    /// Every folder that a file of the set is to be in.
    folders: HashSet<PathBuf>,
}

/// The change of one file: an edit, a creation or a deletion.
///
/// Cheap to clone: the bytes are shared.
#[derive(Clone)]
pub struct FileChange {
    path: WorkspacePath,
    before: Option<Arc<[u8]>>,
    after: Option<Arc<[u8]>>,
    like: Option<WorkspacePath>,
}

/// What became of a change set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every file holds its new bytes.
    Applied(Applied),
    /// Some files are not what the set was made for. No file was changed; all
    /// mismatches are named, in the order of the set.
    Rejected(Vec<Mismatch>),
}

/// A change set that was carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// What the user should know besides: a hard link that now differs, an
    /// owner that could not be kept. Whole sentences, lower case.
    pub notes: Vec<String>,
    /// The paths that changed, in the order of the set.
    pub touched: Vec<WorkspacePath>,
}

/// A file that is not what a change was made for.
///
/// The display text is a sentence that names the file and says what differs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The file.
    pub path: WorkspacePath,
    /// What differs.
    pub what: Difference,
}

/// How a file differs from what a change was made for, or why it cannot be
/// changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// It has other bytes.
    Changed {
        /// The first line that differs, from 1.
        line: usize,
    },
    /// Nothing but its line ends differ: `\n` where `\r\n` was, or the other way.
    LineEnds,
    /// It is gone.
    Missing,
    /// It was to be created, and something is there.
    Exists,
    /// It, or a folder on the way to it, became a symbolic link.
    Link {
        /// The link, relative to the workspace.
        component: String,
    },
    /// A directory, pipe, socket or device is in its place.
    NotAFile {
        /// What is there, with its article.
        found: String,
    },
    /// Something on the way to it is not a directory.
    NotADirectory {
        /// That component, relative to the workspace.
        component: String,
    },
    /// It cannot be read any more.
    Unreadable {
        /// Why.
        reason: String,
    },
    /// Nobody may write it.
    ReadOnly,
    /// The one who runs this may not write it.
    NotPermitted {
        /// Why.
        reason: String,
    },
    /// Its folder does not permit files to be made in it.
    FolderReadOnly {
        /// The folder, relative to the workspace.
        folder: String,
        /// Why.
        reason: String,
    },
    /// Another program wrote to it while the change was carried out.
    Disturbed,
}

impl ChangeSet {
    /// Builds an empty set. `title` names it for people: in a review, in the
    /// report of a recovery.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            changes: Vec::new(),
            paths: HashSet::new(),
            folders: HashSet::new(),
        }
    }

    /// Adds a change.
    ///
    /// A change whose bytes before and after are equal is kept: its file is
    /// compared, and not written.
    ///
    /// # Errors
    /// `InvalidChange`: the path is in the set already, is the workspace's root,
    /// belongs to another workspace, or could only exist if another path of the
    /// set were a folder.
    pub fn push(&mut self, change: FileChange) -> Result<(), Error> {
        let path = change.path.absolute();
        let refuse = |problem: &'static str| {
            Err(Error::InvalidChange {
                path: change.path.to_string(),
                problem,
            })
        };
        if change.path.is_root() {
            return refuse("it is the root of the workspace");
        }
        if let Some(first) = self.changes.first()
            && first.path.workspace().root() != change.path.workspace().root()
        {
            return refuse("it is in another workspace than the other changes");
        }
        if self.paths.contains(path) {
            return refuse("it is in the set already");
        }
        let above = || path.ancestors().skip(1);
        if change.after.is_some() {
            if self.folders.contains(path) {
                return refuse("another change of the set needs it as a folder");
            }
            let is_file = |folder: &Path| {
                let is_kept =
                    |other: &FileChange| other.after.is_some() && other.path.absolute() == folder;
                self.paths.contains(folder) && self.changes.iter().any(is_kept)
            };
            if above().any(is_file) {
                return refuse("a folder on the way to it is a file in another change of the set");
            }
            self.folders.extend(above().map(Path::to_owned));
        }
        self.paths.insert(path.to_owned());
        self.changes.push(change);
        Ok(())
    }

    /// Returns the title.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the changes, in the order in which they were added.
    #[must_use]
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }

    /// Returns the bytes of text that the set holds, old and new.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let size = |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map_or(0, |bytes| bytes.len());
        self.changes
            .iter()
            .map(|change| size(&change.before).saturating_add(size(&change.after)))
            .fold(0, usize::saturating_add)
    }
}

impl FileChange {
    /// Replaces the bytes of a file.
    #[must_use]
    pub fn edit(
        path: WorkspacePath,
        before: impl Into<Arc<[u8]>>,
        after: impl Into<Arc<[u8]>>,
    ) -> Self {
        Self {
            path,
            before: Some(before.into()),
            after: Some(after.into()),
            like: None,
        }
    }

    /// Makes a file that is not there yet, with the folders that it needs.
    #[must_use]
    pub fn create(path: WorkspacePath, after: impl Into<Arc<[u8]>>) -> Self {
        Self {
            path,
            before: None,
            after: Some(after.into()),
            like: None,
        }
    }

    /// Removes a file.
    #[must_use]
    pub fn delete(path: WorkspacePath, before: impl Into<Arc<[u8]>>) -> Self {
        Self {
            path,
            before: Some(before.into()),
            after: None,
            like: None,
        }
    }

    /// Gives a created file the permissions, and where possible the owner, of
    /// another one: a file that moves is created like the one it was.
    #[must_use]
    pub fn like(mut self, other: WorkspacePath) -> Self {
        self.like = Some(other);
        self
    }

    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &WorkspacePath {
        &self.path
    }

    /// Returns the bytes that the change was made for; `None`: there was no file.
    #[must_use]
    pub fn before(&self) -> Option<&Arc<[u8]>> {
        self.before.as_ref()
    }

    /// Returns the bytes that it writes; `None`: the file is removed.
    #[must_use]
    pub fn after(&self) -> Option<&Arc<[u8]>> {
        self.after.as_ref()
    }

    /// Returns the file whose permissions a created one gets.
    #[must_use]
    pub fn permissions_of(&self) -> Option<&WorkspacePath> {
        self.like.as_ref()
    }

    /// Returns whether the file is the same before and after.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.before == self.after
    }
}

impl Applied {
    /// Builds the report of a set that changed `touched`.
    #[must_use]
    pub fn new(touched: Vec<WorkspacePath>) -> Self {
        Self {
            notes: Vec::new(),
            touched,
        }
    }

    /// Adds what the user should know besides.
    #[must_use]
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }
}

impl Mismatch {
    /// Builds a mismatch.
    #[must_use]
    pub fn new(path: WorkspacePath, what: Difference) -> Self {
        Self { path, what }
    }

    /// Compares the bytes of a file with those that a change was made for.
    ///
    /// Returns `None` where they are equal.
    #[must_use]
    pub fn between(path: &WorkspacePath, expected: &[u8], found: &[u8]) -> Option<Self> {
        if expected == found {
            return None;
        }
        if is_same_but_for_line_ends(expected, found) {
            return Some(Self::new(path.clone(), Difference::LineEnds));
        }
        let line = 1 + expected
            .iter()
            .zip(found)
            .take_while(|(a, b)| a == b)
            .filter(|&(&byte, _)| byte == b'\n')
            .count();
        Some(Self::new(path.clone(), Difference::Changed { line }))
    }
}

/// Whether two texts differ in nothing but how their lines end.
fn is_same_but_for_line_ends(one: &[u8], other: &[u8]) -> bool {
    fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
        text.split(|&byte| byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }
    lines(one).eq(lines(other))
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.what {
            Difference::LineEnds => write!(f, "`{path}` has changed: its lines end in another way"),
            Difference::Changed { line } => {
                write!(
                    f,
                    "`{path}` has changed: line {line} is the first to differ"
                )
            }
            Difference::Missing => write!(f, "`{path}` does not exist any more"),
            Difference::Exists => write!(f, "`{path}` exists already"),
            Difference::Link { component } if component == path.relative() => {
                write!(f, "`{path}` is a symbolic link now")
            }
            Difference::Link { component } => {
                write!(
                    f,
                    "`{path}` cannot be reached: `{}` is a symbolic link now",
                    visible(component)
                )
            }
            Difference::NotAFile { found } => write!(f, "`{path}` is {} now", visible(found)),
            Difference::NotADirectory { component } => {
                write!(
                    f,
                    "`{path}` cannot be reached: `{}` is not a directory",
                    visible(component)
                )
            }
            Difference::Unreadable { reason } => {
                write!(f, "`{path}` cannot be read any more: {}", visible(reason))
            }
            Difference::ReadOnly => write!(f, "`{path}` is read-only"),
            Difference::NotPermitted { reason } => {
                write!(f, "`{path}` may not be written: {}", visible(reason))
            }
            Difference::FolderReadOnly { folder, reason } => {
                write!(
                    f,
                    "`{path}` cannot be replaced in its folder `{}`: {}",
                    visible(folder),
                    visible(reason)
                )
            }
            Difference::Disturbed => {
                write!(
                    f,
                    "another program changed `{path}` while it was to be replaced"
                )
            }
        }
    }
}

impl fmt::Debug for FileChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |bytes: &Option<Arc<[u8]>>| bytes.as_ref().map(|bytes| bytes.len());
        f.debug_struct("FileChange")
            .field("path", &self.path)
            .field("bytes_before", &size(&self.before))
            .field("bytes_after", &size(&self.after))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Trust, Workspace};

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path(), Trust::Untrusted).unwrap();
        (folder, workspace)
    }

    #[test]
    fn a_set_refuses_paths_that_cannot_stand_beside_each_other() {
        let (_folder, workspace) = workspace();
        let (_elsewhere, other) = self::workspace();
        let path = |name: &str| workspace.resolve(name).unwrap();
        let mut set = ChangeSet::new("t");
        set.push(FileChange::create(path("a/b"), *b"1")).unwrap();
        set.push(FileChange::delete(path("c"), *b"1")).unwrap();
        for (change, problem) in [
            (
                FileChange::edit(path("./a/b"), *b"1", *b"2"),
                "cannot add `a/b` to the change: it is in the set already",
            ),
            (
                FileChange::create(path("a"), *b"1"),
                "cannot add `a` to the change: another change of the set needs it as a folder",
            ),
            (
                FileChange::create(path("a/b/c/d"), *b"1"),
                "cannot add `a/b/c/d` to the change: a folder on the way to it is a file in \
                 another change of the set",
            ),
            (
                FileChange::create(workspace.root_path(), *b"1"),
                "cannot add `.` to the change: it is the root of the workspace",
            ),
            (
                FileChange::create(other.resolve("x").unwrap(), *b"1"),
                "cannot add `x` to the change: it is in another workspace than the other changes",
            ),
        ] {
            assert_eq!(set.push(change).unwrap_err().to_string(), problem);
        }
        set.push(FileChange::edit(path("ab"), *b"12", *b"345"))
            .unwrap();
        assert_eq!(set.changes().len(), 3);
        assert_eq!(set.held_bytes(), 7);
    }

    #[test]
    fn the_first_line_that_differs_is_counted_from_one() {
        let (_folder, workspace) = workspace();
        let path = workspace.resolve("a").unwrap();
        let line = |a: &str, b: &str| match Mismatch::between(&path, a.as_bytes(), b.as_bytes()) {
            None => 0,
            Some(mismatch) => match mismatch.what {
                Difference::Changed { line } => line,
                _ => panic!("{mismatch}"),
            },
        };
        assert_eq!(line("a\nb\n", "a\nb\n"), 0);
        assert_eq!(line("a\nb\n", "x\nb\n"), 1);
        assert_eq!(line("a\nb\n", "a\nc\n"), 2);
        assert_eq!(line("a\nb", "a\nb\n"), 2);
        assert_eq!(line("a\nb\n", "a\nb\nc"), 3);
        assert_eq!(line("a\r\nb\r\n", "a\nx\n"), 1);
        assert_eq!(line("", "a"), 1);
    }

    #[test]
    fn texts_that_differ_in_their_line_ends_only_are_told_apart_from_others() {
        let (_folder, workspace) = workspace();
        let path = workspace.resolve("a").unwrap();
        for (one, other) in [("a\r\nb\r\n", "a\nb\n"), ("a\nb\r\nc", "a\r\nb\r\nc")] {
            for (old, new) in [(one, other), (other, one)] {
                let mismatch = Mismatch::between(&path, old.as_bytes(), new.as_bytes()).unwrap();
                assert_eq!(mismatch.what, Difference::LineEnds, "{old:?} {new:?}");
            }
        }
    }

    #[test]
    fn names_in_sentences_take_one_line_and_hide_nothing() {
        let (_folder, workspace) = workspace();
        let path = workspace.resolve("a\n\u{202e}b/c").unwrap();
        let component = "a\n\u{202e}b".to_owned();
        for what in [
            Difference::Missing,
            Difference::Link {
                component: component.clone(),
            },
            Difference::NotADirectory { component },
            Difference::FolderReadOnly {
                folder: "a\n\u{202e}b".to_owned(),
                reason: "no".to_owned(),
            },
        ] {
            let text = Mismatch::new(path.clone(), what).to_string();
            assert!(!text.contains(['\n', '\u{202e}']), "{text:?}");
            assert!(text.contains("a\\n\\u{202e}b"), "{text}");
        }
        assert_eq!(path.relative(), "a\n\u{202e}b/c");
        let error = Error::NotADirectory {
            path: path.relative().to_owned(),
            component: path.relative().to_owned(),
        };
        let error = tiers::ToolError::from(error).to_string();
        assert!(!error.contains(['\n', '\u{202e}']), "{error:?}");
    }
}
