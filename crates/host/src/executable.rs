//! Finds out whether a program can serve a project: its root marker exists *and*
//! its executable resolves.
//!
//! Either alone starts nothing, and the answer says which is missing, what was
//! looked for and where. Servers, debug adapters and interpreters share this one
//! rule, trust included: in an untrusted workspace nothing that the workspace
//! supplies is ever found, whether in a folder of its own, through an entry of
//! `PATH` that lies inside, or through a link that leads there.
//!
//! ```
//! use host::executable::{ProjectPrograms, Requirement, SearchPath, find};
//! use host::{Trust, Workspace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("app.csproj"), "")?;
//! # std::fs::create_dir(folder.path().join("src"))?;
//! let workspace = Workspace::open(folder.path(), Trust::Untrusted)?;
//! let requirement = Requirement::program("sh").marker("*.sln").marker("*.csproj");
//! let finding = find(
//!     &requirement,
//!     &workspace.resolve("src/main.cs")?,
//!     &SearchPath::parse("/usr/bin:/bin".as_ref()),
//!     ProjectPrograms::for_trust(workspace.trust()),
//! );
//! let found = finding.into_found()?;
//! assert_eq!(found.root.folder.relative(), ".");
//! assert_eq!(found.root.marker, "app.csproj");
//! assert!(found.program.path.ends_with("sh"));
//! # Ok(())
//! # }
//! ```

mod marker;
mod program;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tiers::{ErrorKind, ToolError, Trust};

use crate::WorkspacePath;

pub use marker::{NoRoot, Root};
pub use program::{NoProgram, Origin, Program, Rejected, Rejection};

/// The folders of a `PATH`, without those that depend on the current directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath {
    entries: Vec<PathBuf>,
}

/// What a program needs in order to serve a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    programs: Vec<String>,
    markers: Vec<String>,
    project_folders: Vec<String>,
}

/// Whether programs that the workspace supplies may be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectPrograms {
    /// They may, before those of `PATH`: the workspace is trusted, or the call
    /// runs the project's code by its nature.
    Use,
    /// They may not.
    LeaveOut,
}

/// What was found of a [`Requirement`], each half on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The root, or where it was looked for.
    pub root: Result<Root, NoRoot>,
    /// The executable, or why there is none.
    pub program: Result<Program, NoProgram>,
}

/// Both halves of a [`Requirement`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The root.
    pub root: Root,
    /// The executable.
    pub program: Program,
}

/// At least one half of a [`Requirement`] is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot use `{name}` here: {}", self.reasons())]
#[non_exhaustive]
pub struct NotUsable {
    /// The program's preferred name.
    pub name: String,
    /// The missing root, if it is.
    pub root: Option<Box<NoRoot>>,
    /// The missing executable, if it is.
    pub program: Option<Box<NoProgram>>,
}

/// Looks for both halves of `requirement`, for the file or folder `from`.
///
/// The nearest folder with a marker, going up from `from` to the workspace's
/// root, is the project's root. Programs are looked for in the project's own
/// folders, nearest first, then in `path`. Reads the disk, starts nothing.
#[must_use]
pub fn find(
    requirement: &Requirement,
    from: &WorkspacePath,
    path: &SearchPath,
    project: ProjectPrograms,
) -> Finding {
    let folders = folders_upwards(from);
    Finding {
        root: marker::find(&requirement.markers, from, &folders),
        program: program::find(requirement, from, &folders, path, project),
    }
}

impl SearchPath {
    /// Takes the value of `PATH` apart.
    ///
    /// Relative and empty entries are left out: they mean another folder
    /// wherever a program is started.
    #[must_use]
    pub fn parse(path: &OsStr) -> Self {
        Self::from_folders(std::env::split_paths(path))
    }

    /// Builds a search path from `folders`, without the relative ones.
    #[must_use]
    pub fn from_folders(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            entries: folders.into_iter().filter(|f| f.is_absolute()).collect(),
        }
    }

    /// Returns the folders, in order.
    #[must_use]
    pub fn folders(&self) -> &[PathBuf] {
        &self.entries
    }
}

impl Requirement {
    /// Requires the program called `name`: a bare file name, or an absolute path.
    #[must_use]
    pub fn program(name: impl Into<String>) -> Self {
        Self {
            programs: vec![name.into()],
            markers: Vec::new(),
            project_folders: Vec::new(),
        }
    }

    /// Adds a name that does as well, less preferred.
    #[must_use]
    pub fn or_program(mut self, name: impl Into<String>) -> Self {
        self.programs.push(name.into());
        self
    }

    /// Adds a marker; any one of them will do, and without any the workspace's
    /// root is the root.
    ///
    /// A file name in which `*` stands for any characters and `?` for one; with
    /// a `/` at the end, a folder.
    #[must_use]
    pub fn marker(mut self, marker: impl Into<String>) -> Self {
        self.markers.push(marker.into());
        self
    }

    /// Adds a folder of the project that may hold the program: `.venv/bin`,
    /// `node_modules/.bin`. It is looked for beside `from` and in every folder
    /// above, up to the workspace's root.
    #[must_use]
    pub fn project_folder(mut self, folder: impl Into<String>) -> Self {
        self.project_folders.push(folder.into());
        self
    }
}

impl ProjectPrograms {
    /// Returns what a call below the exec tier may use.
    #[must_use]
    pub fn for_trust(trust: Trust) -> Self {
        match trust {
            Trust::Trusted => Self::Use,
            Trust::Untrusted => Self::LeaveOut,
        }
    }
}

impl Finding {
    /// Returns both halves, or what is missing.
    ///
    /// # Errors
    /// A half is missing; the error tells which.
    pub fn into_found(self) -> Result<Found, NotUsable> {
        match (self.root, self.program) {
            (Ok(root), Ok(program)) => Ok(Found { root, program }),
            (root, program) => {
                let name = match &program {
                    Ok(program) => program.name.clone(),
                    Err(missing) => missing.names.first().cloned().unwrap_or_default(),
                };
                Err(NotUsable {
                    name,
                    root: root.err().map(Box::new),
                    program: program.err().map(Box::new),
                })
            }
        }
    }
}

impl NotUsable {
    fn reasons(&self) -> String {
        let root = self.root.as_ref().map(ToString::to_string);
        let program = self.program.as_ref().map(ToString::to_string);
        let reasons: Vec<String> = root.into_iter().chain(program).collect();
        reasons.join("; ")
    }
}

impl From<NotUsable> for ToolError {
    fn from(error: NotUsable) -> Self {
        let is_left_out = (error.program.iter())
            .flat_map(|missing| &missing.rejected)
            .any(|rejected| rejected.why == Rejection::Untrusted);
        let next = match (&error.root, &error.program) {
            (Some(_), _) => "give a file of a project that has one of these markers",
            (None, _) if is_left_out => {
                "install it outside the workspace, or have the user trust the workspace"
            }
            (None, _) => "install it, or add its folder to `PATH`",
        };
        crate::error::tool_error(ErrorKind::Unavailable, next, error)
    }
}

/// Returns the folder of `from` and those above it, up to the root.
fn folders_upwards(from: &WorkspacePath) -> Vec<&Path> {
    let root = from.workspace().root();
    from.absolute()
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .filter(|folder| folder.is_dir())
        .collect()
}

/// Returns `path` from the workspace's root, where it is inside.
fn shown(path: &Path, from: &WorkspacePath) -> String {
    match path.strip_prefix(from.workspace().root()) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => path.to_string_lossy().into_owned(),
    }
}

/// Writes "`a`, `b` or `c`".
fn one_of(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, before @ [_, ..])) => format!("{} or {last}", before.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests;
