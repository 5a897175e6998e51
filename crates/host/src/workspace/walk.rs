//! Follows a path component by component, as the kernel would.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::Workspace;
use crate::Error;

/// As many links as Linux follows before it gives up.
const MAX_LINKS: usize = 40;

enum Step {
    Parent,
    Name(OsString),
}

/// Where the walk stands.
struct Walk<'a> {
    workspace: &'a Workspace,
    given: &'a Path,
    at: PathBuf,
    /// What is still to be followed, the next step last.
    ahead: Vec<Step>,
    /// The component after the deepest existing one has been passed.
    missing: bool,
    is_directory: bool,
    links: usize,
    /// The link being followed, and how many steps are left when its target is done.
    link: Option<(String, usize)>,
    /// The link that led out of the workspace.
    exit: Option<String>,
}

/// Returns where `given` leads, without links, if that is inside.
///
/// What lies outside is not told apart: whatever goes wrong there is reported
/// as "outside", so that an error says nothing about files out there.
pub(super) fn follow(workspace: &Workspace, given: &Path) -> Result<PathBuf, Error> {
    let mut walk = Walk::new(workspace, given);
    while let Some(step) = walk.ahead.pop() {
        let was_inside = walk.is_inside();
        let taken = walk.take(step);
        if was_inside && !walk.is_inside() {
            walk.exit = walk.current_link();
        }
        if let Err(error) = taken {
            return Err(if walk.is_inside() {
                error
            } else {
                walk.outside()
            });
        }
    }
    if !walk.is_inside() {
        return Err(walk.outside());
    }
    spelt_as_on_disk(walk.at)
}

/// Returns whether following the absolute `given` ever enters the workspace.
pub(super) fn passes_through(workspace: &Workspace, given: &Path) -> bool {
    let mut walk = Walk::new(workspace, given);
    while !walk.is_inside() {
        let Some(step) = walk.ahead.pop() else {
            return false;
        };
        if walk.take(step).is_err() {
            return true;
        }
    }
    true
}

impl<'a> Walk<'a> {
    /// Stands at the root, or where an absolute path begins.
    fn new(workspace: &'a Workspace, given: &'a Path) -> Self {
        let mut walk = Self {
            workspace,
            given,
            at: workspace.root().to_owned(),
            ahead: Vec::new(),
            missing: false,
            is_directory: true,
            links: 0,
            link: None,
            exit: None,
        };
        walk.enter(given);
        walk
    }

    /// Queues the components of `path`, which starts at the current directory
    /// or is absolute.
    fn enter(&mut self, path: &Path) {
        let mut rest = path;
        if path.is_absolute() {
            let inner = &self.workspace.inner;
            let below_root = path
                .strip_prefix(&inner.root)
                .ok()
                .or_else(|| path.strip_prefix(inner.spelt.as_ref()?).ok());
            match below_root {
                Some(below) => {
                    self.at = inner.root.clone();
                    rest = below;
                }
                None => self.at = PathBuf::from("/"),
            }
            self.is_directory = true;
        }
        self.ahead.extend(
            rest.components()
                .rev()
                .filter_map(|component| match component {
                    Component::ParentDir => Some(Step::Parent),
                    Component::Normal(name) => Some(Step::Name(name.to_owned())),
                    Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
                }),
        );
    }

    fn take(&mut self, step: Step) -> Result<(), Error> {
        match step {
            Step::Parent if self.missing => Err(Error::ParentOfMissing {
                path: self.given_text(),
                component: self.relative(&self.at),
            }),
            Step::Parent if !self.is_directory => Err(self.not_a_directory()),
            Step::Parent => {
                self.at.pop();
                Ok(())
            }
            Step::Name(name) if self.missing => {
                self.at.push(name);
                Ok(())
            }
            Step::Name(_) if !self.is_directory => Err(self.not_a_directory()),
            Step::Name(name) => self.descend(self.at.join(name)),
        }
    }

    fn descend(&mut self, next: PathBuf) -> Result<(), Error> {
        let metadata = match std::fs::symlink_metadata(&next) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.missing = true;
                self.at = next;
                return Ok(());
            }
            Err(source) => return Err(self.io_error("look at", &next, source)),
        };
        if !metadata.is_symlink() {
            self.is_directory = metadata.is_dir();
            self.at = next;
            return Ok(());
        }
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Error::LinkLoop {
                path: self.given_text(),
                link: self.relative(&next),
            });
        }
        let target = match std::fs::read_link(&next) {
            Ok(target) => target,
            Err(source) => return Err(self.io_error("read the link", &next, source)),
        };
        // Of nested links the outermost is the one that the caller wrote.
        if self.current_link().is_none() {
            self.link = Some((self.relative(&next), self.ahead.len()));
        }
        self.enter(&target);
        Ok(())
    }

    fn current_link(&self) -> Option<String> {
        let (link, steps_left_after) = self.link.as_ref()?;
        (self.ahead.len() >= *steps_left_after).then(|| link.clone())
    }

    fn is_inside(&self) -> bool {
        self.at.starts_with(self.workspace.root())
    }

    fn outside(&self) -> Error {
        Error::Outside {
            path: self.given_text(),
            root: self.workspace.root().to_owned(),
            link: self.exit.clone(),
        }
    }

    fn not_a_directory(&self) -> Error {
        Error::NotADirectory {
            path: self.given_text(),
            component: self.relative(&self.at),
        }
    }

    fn io_error(&self, action: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Io {
            action,
            path: self.relative(path),
            source,
        }
    }

    fn given_text(&self) -> String {
        self.given.to_string_lossy().into_owned()
    }

    fn relative(&self, path: &Path) -> String {
        let below = path.strip_prefix(self.workspace.root()).unwrap_or(path);
        below.to_string_lossy().into_owned()
    }
}

/// Resolves the root itself, which is where confinement begins.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the place that the ban points to"
)]
pub(super) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

#[cfg(not(target_os = "macos"))]
fn spelt_as_on_disk(path: PathBuf) -> Result<PathBuf, Error> {
    Ok(path)
}

/// Corrects the case of the existing part: the usual file system ignores case,
/// and one file must have one name.
#[cfg(target_os = "macos")]
fn spelt_as_on_disk(path: PathBuf) -> Result<PathBuf, Error> {
    for ancestor in path.ancestors() {
        if let Ok(real) = canonicalize(ancestor) {
            return Ok(match path.strip_prefix(ancestor) {
                Ok(below) if below.as_os_str().is_empty() => real,
                Ok(below) => real.join(below),
                Err(_) => path.clone(),
            });
        }
    }
    Ok(path)
}
