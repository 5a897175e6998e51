//! Which interpreter runs, and where.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use host::Workspace;
use host::executable::{ProjectPrograms, Requirement, SearchPath, find};
use host::process::{Environment, Launcher, Sandbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "embedded-python")]
use crate::embedded::{EmbeddedPython, EmbeddedUse};
use crate::error::Error;

/// The language of a cell.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Language {
    /// Python 3.9 or later.
    Python,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "python",
        })
    }
}

/// How host and interpreter are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// By a descriptor besides the three streams: on the host, and through
    /// launchers that hand descriptors on (`bwrap`).
    Socket,
    /// By the three streams alone: through `docker exec`, `ssh`, `kubectl exec`.
    Three,
}

/// One interpreter, and how it is started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Place {
    /// What is started, absolute.
    pub program: PathBuf,
    /// Arguments before ours.
    pub args: Vec<OsString>,
    /// The directory that cells start in.
    pub directory: PathBuf,
    /// All that it sees of the environment.
    pub environment: Environment,
    /// The sandbox it runs in; `None` is the host.
    pub launcher: Option<Launcher>,
    /// How it is connected.
    pub streams: Streams,
    /// Where that is, as the model reads it: `on the host`, `in the sandbox`.
    pub name: String,
}

impl Place {
    /// Builds a place on the host, connected by a socket.
    #[must_use]
    pub fn on_host(program: PathBuf, directory: PathBuf, environment: Environment) -> Self {
        Self {
            program,
            args: Vec::new(),
            directory,
            environment,
            launcher: None,
            streams: Streams::Socket,
            name: "on the host".to_owned(),
        }
    }

    /// Moves it into a sandbox.
    #[must_use]
    pub fn in_sandbox(mut self, launcher: Launcher, streams: Streams) -> Self {
        self.launcher = Some(launcher);
        self.streams = streams;
        self.name = "in the sandbox".to_owned();
        self
    }
}

/// Port: says which interpreter a conversation's cells run in.
#[async_trait]
pub trait KernelFactory: Send + Sync {
    /// Returns the languages there are interpreters for.
    fn languages(&self) -> Vec<Language>;

    /// Finds the interpreter for a kernel that is about to start.
    ///
    /// Must not start a sandbox to get there.
    ///
    /// # Errors
    /// There is none; the text says where it was looked for.
    async fn place(&self, language: Language) -> Result<Place, Error>;
}

/// The project's own interpreter: one that is named, else `VIRTUAL_ENV`, else
/// conda's, else `.venv` or `venv` of the workspace, else `python3` of `PATH`;
/// in the conversation's sandbox where it runs, else on the host.
#[derive(Clone)]
pub struct ProjectInterpreters {
    workspace: Workspace,
    environment: Environment,
    python: Option<PathBuf>,
    sandbox: Option<(Arc<dyn Sandbox>, Streams)>,
    #[cfg(feature = "embedded-python")]
    embedded: Option<(EmbeddedPython, EmbeddedUse)>,
}

impl ProjectInterpreters {
    /// Builds the factory; interpreters see `environment` and nothing else.
    #[must_use]
    pub fn new(workspace: Workspace, environment: Environment) -> Self {
        Self {
            workspace,
            environment,
            python: None,
            sandbox: None,
            #[cfg(feature = "embedded-python")]
            embedded: None,
        }
    }

    /// Names the Python interpreter, an absolute path.
    #[must_use]
    pub fn python(mut self, program: Option<PathBuf>) -> Self {
        self.python = program;
        self
    }

    /// Attaches the conversation's sandbox.
    ///
    /// With [`Streams::Socket`] it has the same files as the host, and the
    /// project's interpreter runs in it; with [`Streams::Three`] its own
    /// `python3` does.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Arc<dyn Sandbox>, streams: Streams) -> Self {
        self.sandbox = Some((sandbox, streams));
        self
    }

    /// Attaches the Python that is linked into this program.
    #[cfg(feature = "embedded-python")]
    #[must_use]
    pub fn embedded(mut self, python: EmbeddedPython, when: EmbeddedUse) -> Self {
        self.embedded = Some((python, when));
        self
    }

    /// Returns the project's interpreter, or the embedded one where that is wanted.
    fn on_host(&self) -> Result<Place, Error> {
        let root = self.workspace.root().to_owned();
        #[cfg(feature = "embedded-python")]
        if let Some((embedded, EmbeddedUse::Always)) = &self.embedded {
            return Ok(self.place_of_embedded(embedded));
        }
        let found = self.find_python();
        #[cfg(feature = "embedded-python")]
        if let (Err(_), None, Some((embedded, _))) = (&found, &self.python, &self.embedded) {
            return Ok(self.place_of_embedded(embedded));
        }
        let python = found?;
        let environment = self.environment_for(&python);
        Ok(Place::on_host(python, root, environment))
    }

    /// It passes for the interpreter of the project's virtual environment, where
    /// that is of its version.
    #[cfg(feature = "embedded-python")]
    fn place_of_embedded(&self, embedded: &EmbeddedPython) -> Place {
        let root = self.workspace.root();
        let active = self.environment.get("VIRTUAL_ENV").map(PathBuf::from);
        let usual = [".venv", "venv"].map(|name| root.join(name));
        let link = embedded.link().to_owned();
        let python = active
            .into_iter()
            .chain(usual)
            .filter(|prefix| EmbeddedPython::fits(prefix))
            .map(|prefix| prefix.join("bin/python3"))
            .find(|python| python.exists());
        let mut place = match python {
            Some(python) => {
                let environment = self.environment_for(&python);
                let mut place = Place::on_host(link, root.to_owned(), environment);
                place.args.push(EmbeddedPython::passing_for(&python));
                place
            }
            None => {
                // `python3` in a shell is the same one.
                let environment = match link.parent() {
                    Some(folder) => first_of_path(self.plain_environment(), folder),
                    None => self.plain_environment(),
                };
                Place::on_host(link, root.to_owned(), environment)
            }
        };
        place.name = "embedded, on the host".to_owned();
        place
    }

    fn find_python(&self) -> Result<PathBuf, Error> {
        let from = self.workspace.root_path();
        let path = self.environment.get("PATH").unwrap_or_default();
        let path = SearchPath::parse(path);
        let look = |requirement: Requirement| {
            // The project's code runs in it either way.
            find(&requirement, &from, &path, ProjectPrograms::Use).program
        };
        let of_environment = ["VIRTUAL_ENV", "CONDA_PREFIX"]
            .into_iter()
            .filter_map(|name| self.environment.get(name))
            .map(|prefix| Path::new(prefix).join("bin/python"));
        let named: Vec<PathBuf> = match &self.python {
            // One that was named and does not work is an error, no reason to
            // take another.
            Some(program) => vec![program.clone()],
            None => of_environment.collect(),
        };
        for program in named {
            let requirement = Requirement::program(program.to_string_lossy());
            match look(requirement) {
                Ok(found) => return Ok(found.path),
                Err(missing) if self.python.is_some() => return Err(no_interpreter(missing)),
                Err(_) => {}
            }
        }
        let usual = Requirement::program("python3")
            .or_program("python")
            .project_folder(".venv/bin")
            .project_folder("venv/bin");
        look(usual).map(|found| found.path).map_err(no_interpreter)
    }

    fn plain_environment(&self) -> Environment {
        if self.environment.get("MPLBACKEND").is_some() {
            return self.environment.clone();
        }
        // Figures are collected; there is no window to open.
        self.environment.clone().with("MPLBACKEND", "Agg")
    }

    /// Returns what the interpreter sees: its virtual environment is active.
    fn environment_for(&self, python: &Path) -> Environment {
        let environment = self.plain_environment();
        let Some(folder) = python.parent() else {
            return environment;
        };
        match folder.parent().filter(|p| p.join("pyvenv.cfg").is_file()) {
            Some(prefix) => first_of_path(environment, folder).with("VIRTUAL_ENV", prefix),
            None => environment,
        }
    }
}

fn first_of_path(environment: Environment, folder: &Path) -> Environment {
    let path = environment.get("PATH").unwrap_or_default().to_owned();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    match std::env::join_paths(folders) {
        Ok(path) => environment.with("PATH", path),
        // A folder with a `:` in its name cannot stand in `PATH`.
        Err(_) => environment,
    }
}

fn no_interpreter(missing: host::executable::NoProgram) -> Error {
    Error::NoInterpreter {
        language: Language::Python,
        missing: Box::new(missing),
    }
}

#[async_trait]
impl KernelFactory for ProjectInterpreters {
    fn languages(&self) -> Vec<Language> {
        vec![Language::Python]
    }

    async fn place(&self, language: Language) -> Result<Place, Error> {
        match language {
            Language::Python => {}
        }
        let running = match &self.sandbox {
            Some((sandbox, streams)) => sandbox.running().await.map(|l| (l, *streams)),
            None => None,
        };
        if let Some((launcher, Streams::Three)) = running {
            let root = self.workspace.root().to_owned();
            let mut place = Place::on_host("/usr/bin/env".into(), root, self.environment.clone())
                .in_sandbox(launcher, Streams::Three);
            place.args = vec!["python3".into()];
            return Ok(place);
        }
        let place = self.on_host()?;
        Ok(match running {
            Some((launcher, streams)) => place.in_sandbox(launcher, streams),
            None => place,
        })
    }
}
