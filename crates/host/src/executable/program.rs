//! The executable: in the project's own folders, then in `PATH`.

use std::fmt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::{ProjectPrograms, Requirement, SearchPath, one_of, shown};
use crate::WorkspacePath;

/// An executable that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Program {
    /// The name that was asked for.
    pub name: String,
    /// Its path, absolute. Links are kept: a virtual environment is recognised
    /// by the name that its interpreter is started with.
    pub path: PathBuf,
    /// Who supplies it.
    pub origin: Origin,
    /// What came first and could not be used.
    pub rejected: Vec<Rejected>,
}

/// Who supplies an executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The workspace.
    Project,
    /// The machine.
    SearchPath,
    /// A path that was named in full.
    Named,
}

/// No executable can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoProgram {
    /// The names, any of which would do.
    pub names: Vec<String>,
    /// What was there and could not be used.
    pub rejected: Vec<Rejected>,
    /// How many folders of `PATH` were looked in.
    pub folders: usize,
}

/// A file of the right name that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// Where it is, from the workspace's root if inside.
    pub path: String,
    /// Why it cannot be used.
    pub why: Rejection,
}

/// Why a file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A path named in full has nothing there.
    Missing,
    /// It is a link to something that does not exist.
    Dangling,
    /// It is a directory, or something else that is no file.
    NotAFile,
    /// It may not be executed.
    NotExecutable,
    /// It is named with a `/` but not in full, so it depends on the current
    /// directory.
    Relative,
    /// It is in the workspace, or leads there, and the workspace is not trusted.
    Untrusted,
}

impl fmt::Display for NoProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.folders {
            0 => write!(f, "no executable {} was found", one_of(&self.names))?,
            1 => write!(
                f,
                "there is no executable {} in the folder of `PATH`",
                one_of(&self.names)
            )?,
            count => write!(
                f,
                "there is no executable {} in the {count} folders of `PATH`",
                one_of(&self.names)
            )?,
        }
        for rejected in &self.rejected {
            write!(f, "; {rejected}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match self.why {
            Rejection::Missing => write!(f, "`{path}` does not exist"),
            Rejection::Dangling => write!(f, "`{path}` is a link to nothing"),
            Rejection::NotAFile => write!(f, "`{path}` is not a file"),
            Rejection::NotExecutable => write!(f, "`{path}` is not executable"),
            Rejection::Relative => write!(f, "`{path}` is neither a name nor an absolute path"),
            Rejection::Untrusted => write!(
                f,
                "`{path}` was left out because the workspace that supplies it is not trusted"
            ),
        }
    }
}

pub(super) fn find(
    requirement: &Requirement,
    from: &WorkspacePath,
    folders: &[&Path],
    path: &SearchPath,
    project: ProjectPrograms,
) -> Result<Program, NoProgram> {
    let mut search = Search {
        from,
        project,
        rejected: Vec::new(),
    };
    let names = &requirement.programs;
    let mut bare = Vec::new();
    for name in names {
        if name.starts_with('/') {
            if let Some(path) = search.check(Path::new(name), Expected::Named) {
                return Ok(search.found(name, path, Origin::Named));
            }
        } else if name.is_empty() || name.contains('/') || name == "." || name == ".." {
            search.reject(Path::new(name), Rejection::Relative);
        } else {
            bare.push(name);
        }
    }
    for folder in folders {
        for own in &requirement.project_folders {
            for name in &bare {
                let candidate = folder.join(own).join(name);
                if let Some(path) = search.check(&candidate, Expected::Perhaps) {
                    return Ok(search.found(name, path, Origin::Project));
                }
            }
        }
    }
    for name in &bare {
        for folder in path.folders() {
            if let Some(path) = search.check(&folder.join(name), Expected::Perhaps) {
                return Ok(search.found(name, path, Origin::SearchPath));
            }
        }
    }
    Err(NoProgram {
        names: names.clone(),
        rejected: search.rejected,
        folders: if bare.is_empty() {
            0
        } else {
            path.folders().len()
        },
    })
}

/// Whether a file that is not there is worth a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Perhaps,
    Named,
}

struct Search<'a> {
    from: &'a WorkspacePath,
    project: ProjectPrograms,
    rejected: Vec<Rejected>,
}

impl Search<'_> {
    fn check(&mut self, candidate: &Path, expected: Expected) -> Option<PathBuf> {
        let why = match std::fs::metadata(candidate) {
            Err(_) if candidate.is_symlink() => Rejection::Dangling,
            Err(_) if expected == Expected::Perhaps => return None,
            Err(_) => Rejection::Missing,
            Ok(found) if !found.is_file() => Rejection::NotAFile,
            // Before its mode: what an untrusted workspace holds is no advice.
            Ok(_) if self.is_left_out(candidate) => Rejection::Untrusted,
            Ok(_) if rustix::fs::access(candidate, Access::EXEC_OK).is_err() => {
                Rejection::NotExecutable
            }
            Ok(_) => return Some(candidate.to_owned()),
        };
        self.reject(candidate, why);
        None
    }

    /// Returns whether the workspace supplies the file although it may not: the
    /// file is there, or any link on the way leads there.
    fn is_left_out(&self, candidate: &Path) -> bool {
        match self.project {
            ProjectPrograms::Use => false,
            ProjectPrograms::LeaveOut => {
                let workspace = self.from.workspace();
                candidate.starts_with(workspace.root()) || workspace.passes_through(candidate)
            }
        }
    }

    fn reject(&mut self, candidate: &Path, why: Rejection) {
        self.rejected.push(Rejected {
            path: shown(candidate, self.from),
            why,
        });
    }

    fn found(self, name: &str, path: PathBuf, origin: Origin) -> Program {
        Program {
            name: name.to_owned(),
            path,
            origin,
            rejected: self.rejected,
        }
    }
}
