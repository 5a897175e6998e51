//! Decides what is inside the workspace, and whether it is trusted.
//!
//! Confinement is decided by where a path really leads, after every symbolic
//! link, not by how it is spelt.
//!
//! **What a resolved path promises.** [`Workspace::resolve`] looks at the disk
//! once. Another process may replace a directory by a link afterwards, so a
//! resolved path alone is no protection against an opponent who runs beside us.
//! Two things close that gap: [`WorkspacePath::recheck`] for the moment at
//! which a decision made earlier is carried out, and
//! [`DiskFiles`](crate::DiskFiles), which opens every component below the root
//! without following links. Code that hands [`WorkspacePath::absolute`] to
//! other programs keeps the small window between the check and their use of it.

mod walk;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tiers::{Trust, visible};

use crate::Error;

/// The folder that a run works in, and whether it is trusted.
///
/// Cheap to clone.
#[derive(Clone)]
pub struct Workspace {
    inner: Arc<Inner>,
}

struct Inner {
    /// Without symbolic links.
    root: PathBuf,
    /// As the user spells it, where that is absolute: paths may come back so.
    spelt: Option<PathBuf>,
    trust: Trust,
}

/// A path inside a workspace, existing or not, without symbolic links.
///
/// One file has one `WorkspacePath`, whatever links led to it. Writing to it
/// writes the file that a link points at and keeps the link.
#[derive(Clone)]
pub struct WorkspacePath {
    workspace: Workspace,
    absolute: PathBuf,
    relative: String,
}

/// Where a file named by a peer (a language server, a debugger) is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In the workspace.
    Inside(WorkspacePath),
    /// Elsewhere: it may be shown, flagged as outside, and is never written.
    Outside(PathBuf),
}

impl Workspace {
    /// Opens the folder `root`.
    ///
    /// # Errors
    /// `root` does not exist, is no directory, or cannot be read.
    pub fn open(root: &Path, trust: Trust) -> Result<Self, Error> {
        let failed = |source| Error::Open {
            root: root.to_owned(),
            source,
        };
        let canonical = walk::canonicalize(root).map_err(failed)?;
        if !std::fs::metadata(&canonical).map_err(failed)?.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        let spelt = (root.is_absolute() && root != canonical).then(|| root.to_owned());
        Ok(Self {
            inner: Arc::new(Inner {
                root: canonical,
                spelt,
                trust,
            }),
        })
    }

    /// Returns the root: absolute, without symbolic links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Returns whether the user vouches for what is inside.
    #[must_use]
    pub fn trust(&self) -> Trust {
        self.inner.trust
    }

    /// Returns the root as a workspace path.
    #[must_use]
    pub fn root_path(&self) -> WorkspacePath {
        WorkspacePath {
            workspace: self.clone(),
            absolute: self.inner.root.clone(),
            relative: ".".to_owned(),
        }
    }

    /// Resolves `path`, relative to the root or absolute.
    ///
    /// The file need not exist: then its deepest existing ancestor decides.
    /// `~` is not expanded.
    ///
    /// # Errors
    /// The path leads outside, through `..`, a symbolic link or as it stands;
    /// it is empty or holds a NUL; it runs through a file or a loop of links;
    /// or the system refuses to look.
    pub fn resolve(&self, path: &str) -> Result<WorkspacePath, Error> {
        let problem = if path.is_empty() {
            Some("it is empty")
        } else if path.contains('\0') {
            Some("it contains a NUL character")
        } else if path == "~" || path.starts_with("~/") {
            Some("`~` is not expanded here")
        } else {
            None
        };
        match problem {
            Some(problem) => Err(Error::Malformed {
                path: path.escape_debug().to_string(),
                problem,
            }),
            None => self.resolve_path(Path::new(path)),
        }
    }

    /// Resolves a path that the system gave, such as one from a directory walk.
    ///
    /// # Errors
    /// As [`Workspace::resolve`]; also when a name is not UTF-8.
    pub fn resolve_path(&self, path: &Path) -> Result<WorkspacePath, Error> {
        let absolute = walk::follow(self, path)?;
        let relative = self.relative_to_root(&absolute)?;
        Ok(WorkspacePath {
            workspace: self.clone(),
            absolute,
            relative,
        })
    }

    /// Builds the path that was [`WorkspacePath::relative`] once, without a look
    /// at the disk; `None` where it is no such text.
    pub(crate) fn inside(&self, relative: &str) -> Option<WorkspacePath> {
        let mut absolute = self.inner.root.clone();
        for component in Path::new(relative).components() {
            match component {
                Component::Normal(name) => absolute.push(name),
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir | Component::ParentDir => return None,
            }
        }
        let relative = self.relative_to_root(&absolute).ok()?;
        (relative != "." && !relative.contains('\0')).then_some(WorkspacePath {
            workspace: self.clone(),
            absolute,
            relative,
        })
    }

    /// Says whether a file that a peer names is inside.
    #[must_use]
    pub fn locate(&self, path: &Path) -> Location {
        match self.resolve_path(path) {
            Ok(inside) => Location::Inside(inside),
            Err(_) => Location::Outside(path.to_owned()),
        }
    }

    /// Returns whether following `path` to its end ever enters the workspace,
    /// even when it leaves it again. What cannot be followed counts as if.
    pub(crate) fn passes_through(&self, path: &Path) -> bool {
        walk::passes_through(self, path)
    }

    fn relative_to_root(&self, absolute: &Path) -> Result<String, Error> {
        let below = absolute.strip_prefix(&self.inner.root).unwrap_or(absolute);
        match below.to_str() {
            Some("") => Ok(".".to_owned()),
            // Must mean the same file when it is given back to `resolve`.
            Some(text) if text == "~" || text.starts_with("~/") => Ok(format!("./{text}")),
            Some(text) => Ok(text.to_owned()),
            None => Err(Error::NotUtf8 {
                path: below.to_string_lossy().into_owned(),
            }),
        }
    }
}

impl WorkspacePath {
    /// Returns the path from the file system's root, without symbolic links.
    #[must_use]
    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Returns the path from the workspace's root, with `/`; `.` is the root.
    #[must_use]
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// Returns whether this is the workspace's root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.relative == "."
    }

    /// Returns the workspace it is in.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Checks that the path still means what it meant when it was resolved.
    ///
    /// For the moment at which something decided earlier is carried out: a
    /// directory on the way may have become a symbolic link. Whether the file's
    /// contents changed is another question.
    ///
    /// # Errors
    /// A component or the root is a link now, or the path cannot be resolved.
    pub fn recheck(&self) -> Result<(), Error> {
        let changed = |change: String| Error::Changed {
            path: self.relative.clone(),
            change,
        };
        let root = self.workspace.root();
        match walk::canonicalize(root) {
            Ok(now) if now == root => {}
            Ok(now) => {
                let change = format!("the workspace root leads to `{}` now", now.display());
                return Err(changed(change));
            }
            Err(error) => {
                let reason = crate::error::io_reason(&error);
                return Err(changed(format!("the workspace root is gone: {reason}")));
            }
        }
        match walk::follow(&self.workspace, &self.absolute) {
            Ok(now) if now == self.absolute => Ok(()),
            Ok(now) => Err(changed(format!("it leads to `{}` now", now.display()))),
            Err(error @ Error::Outside { .. }) => Err(error),
            Err(error) => Err(changed(error.to_string())),
        }
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace")
            .field("root", &self.inner.root)
            .field("trust", &self.inner.trust)
            .finish()
    }
}

impl fmt::Debug for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WorkspacePath")
            .field(&self.relative)
            .finish()
    }
}

/// The path from the workspace's root, for messages: characters that cannot be
/// seen are escapes, so that a name takes one line and shows all that is in it.
impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.relative))
    }
}

impl PartialEq for WorkspacePath {
    fn eq(&self, other: &Self) -> bool {
        self.absolute == other.absolute
    }
}

impl Eq for WorkspacePath {}

impl PartialOrd for WorkspacePath {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for WorkspacePath {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.absolute.cmp(&other.absolute)
    }
}

impl Hash for WorkspacePath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.absolute.hash(state);
    }
}

#[cfg(test)]
mod tests;
