//! One row of the table of language servers.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::languages::{LanguageFiles, language_of};
use crate::seen::merge;
use crate::tree::Interest;

/// One server.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerRow {
    pub(crate) id: String,
    /// The program's name or absolute path, and its arguments.
    pub(crate) command: Vec<String>,
    pub(crate) files: Vec<LanguageFiles>,
    /// Rows of root markers: any of the first row in the nearest folder, else
    /// any of the second, and so on. Without any the workspace is the root.
    #[serde(default)]
    pub(crate) markers: Vec<Vec<String>>,
    /// A root that comes before those of the markers: the nearest folder in which
    /// a file says that it is one.
    #[serde(default)]
    pub(crate) outer: Option<Outer>,
    /// Files that show, at the root or above, that another server is meant.
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    /// Folders of a trusted project that may hold the program.
    #[serde(default)]
    pub(crate) project_folders: Vec<String>,
    /// The npm package that the program must be of, and its versions.
    #[serde(default)]
    pub(crate) package: Option<Package>,
    /// What of the project it has to be told.
    #[serde(default)]
    pub(crate) environment: ProjectEnvironment,
    /// Where among its settings it is told the project's interpreter.
    #[serde(default)]
    pub(crate) interpreter: Interpreter,
    /// What it gets when it asks for its configuration.
    #[serde(default)]
    pub(crate) settings: Value,
    /// What it gets when it is initialized.
    #[serde(default)]
    pub(crate) initialization: Value,
    /// What is different in a workspace that nobody vouches for.
    #[serde(default)]
    pub(crate) untrusted: Untrusted,
    /// How it shows that it knows the whole project.
    #[serde(default)]
    pub(crate) ready: Ready,
    /// How it is asked for diagnostics.
    #[serde(default)]
    pub(crate) diagnostics: Diagnostics,
    #[serde(default)]
    pub(crate) install: String,
    /// Version and day a test ran it; empty where none did.
    #[serde(default)]
    pub(crate) verified: String,
    #[serde(default)]
    pub(crate) disabled: bool,
    /// It only reports faults, beside the main server of a language.
    #[serde(default)]
    pub(crate) linter: bool,
}

/// A file of which a line begins so.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Outer {
    pub(crate) file: String,
    pub(crate) holds: String,
}

/// A package, from one major version on, below another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Package {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) from: u64,
    #[serde(default = "any_version")]
    pub(crate) below: u64,
}

fn any_version() -> u64 {
    u64::MAX
}

/// What of a project a server has to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProjectEnvironment {
    #[default]
    Nothing,
    /// Its Python interpreter.
    Python,
    /// The TypeScript, below version 7, that it is to load.
    Typescript,
}

/// Dotted names that get the path of an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Interpreter {
    #[serde(default)]
    pub(crate) settings: Vec<String>,
    #[serde(default)]
    pub(crate) initialization: Vec<String>,
}

impl Default for Interpreter {
    fn default() -> Self {
        let names = ["python.pythonPath", "python.defaultInterpreterPath"];
        Self {
            settings: names.map(str::to_owned).to_vec(),
            initialization: Vec::new(),
        }
    }
}

/// What is different in a workspace that nobody vouches for.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Untrusted {
    /// Why it is not used at all.
    #[serde(default)]
    pub(crate) never: Option<String>,
    /// Files that make the server run what they name: where one is at the root
    /// or above, it is not used.
    #[serde(default)]
    pub(crate) refuse: Vec<String>,
    #[serde(default)]
    pub(crate) settings: Value,
    #[serde(default)]
    pub(crate) initialization: Value,
    #[serde(default)]
    pub(crate) variables: BTreeMap<String, String>,
    /// What its diagnostics lack then.
    #[serde(default)]
    pub(crate) lacks: String,
}

/// How a server shows that it knows the whole project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Ready {
    /// It reports work under this token, or with a title that begins so, and is
    /// ready when that ends.
    Progress {
        token: String,
        /// It builds an index only where one of these files is at its root.
        #[serde(default)]
        index: Vec<String>,
    },
    /// A line with this text is in its log.
    Log(String),
    /// It says so: `experimental/serverStatus`.
    Status,
    /// It answers only once it knows.
    Always,
    /// It does not show it; no work going on is taken for it.
    #[default]
    Quiet,
}

/// How a server is asked for diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Diagnostics {
    /// Pulled where it offers that, else what it publishes.
    #[default]
    Offered,
    /// By requests to the TypeScript server that it wraps: it does not publish
    /// again what did not change.
    Tsserver,
    /// Pulled, and published by a check of the files on the disk that it is
    /// told to run.
    Flycheck,
}

impl ServerRow {
    /// Returns the language of a file at this server.
    pub(crate) fn language(&self, path: &Path) -> Option<&str> {
        language_of(&self.files, path)
    }

    /// Returns the program's name or path.
    pub(crate) fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Returns which files it cares for.
    pub(crate) fn interest(&self) -> Interest {
        let names = self.markers.iter().flatten();
        Interest {
            languages: self.files.clone(),
            names: names
                .filter(|name| !name.contains(['*', '?', '/']))
                .cloned()
                .collect(),
        }
    }

    /// Returns the row with the fields of `table` in place of its own.
    pub(crate) fn changed(&self, table: toml::Table) -> Result<Self, toml::de::Error> {
        let mut changed = self.clone();
        let given: Vec<String> = table.keys().cloned().collect();
        // Fields that are not given get a value that is thrown away.
        let mut whole = table;
        for field in ["command", "files"] {
            let nothing = toml::Value::Array(Vec::new());
            whole.entry(field).or_insert(nothing);
        }
        let new: Self = whole.try_into()?;
        for field in given {
            match field.as_str() {
                "command" => changed.command.clone_from(&new.command),
                "files" => changed.files.clone_from(&new.files),
                "markers" => changed.markers.clone_from(&new.markers),
                "outer" => changed.outer.clone_from(&new.outer),
                "unless" => changed.unless.clone_from(&new.unless),
                "project_folders" => changed.project_folders.clone_from(&new.project_folders),
                "package" => changed.package.clone_from(&new.package),
                "environment" => changed.environment = new.environment,
                "interpreter" => changed.interpreter.clone_from(&new.interpreter),
                "settings" => merge(&mut changed.settings, &new.settings),
                "initialization" => merge(&mut changed.initialization, &new.initialization),
                "untrusted" => changed.untrusted.clone_from(&new.untrusted),
                "ready" => changed.ready.clone_from(&new.ready),
                "diagnostics" => changed.diagnostics = new.diagnostics,
                "install" => changed.install.clone_from(&new.install),
                "verified" => changed.verified.clone_from(&new.verified),
                "disabled" => changed.disabled = new.disabled,
                "linter" => changed.linter = new.linter,
                // `id`; anything else was refused.
                _ => {}
            }
        }
        Ok(changed)
    }
}
