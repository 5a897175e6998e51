//! The table of language servers.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;
use crate::languages::{LanguageFiles, language_of};
use crate::tree::Interest;

const BUILT_IN: &str = include_str!("servers.toml");

/// The language servers that may be used, in order of preference.
///
/// A configuration can add servers, change fields of known ones and switch them
/// off:
///
/// ```
/// let catalogue = lsp_bridge::Catalogue::built_in().with(
///     r#"
///     [[server]]
///     id = "clangd"
///     disabled = true
///
///     [[server]]
///     id = "mine"
///     command = ["mine-server", "--stdio"]
///     files = [{ language = "mine", extensions = ["mine"] }]
///     markers = [["mine.toml"]]
///     "#,
/// )?;
/// assert_eq!(catalogue.ids().collect::<Vec<_>>(), ["pyright", "clangd", "mine"]);
/// # Ok::<(), lsp_bridge::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Catalogue {
    servers: Vec<Arc<ServerRow>>,
}

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
    /// Folders of a trusted project that may hold the program.
    #[serde(default)]
    pub(crate) project_folders: Vec<String>,
    /// What of the project it has to be told.
    #[serde(default)]
    pub(crate) environment: ProjectEnvironment,
    /// What it gets when it asks for its configuration.
    #[serde(default)]
    pub(crate) settings: Value,
    /// What it gets when it is initialized.
    #[serde(default)]
    pub(crate) initialization: Value,
    /// How it shows that it knows the whole project.
    #[serde(default)]
    pub(crate) ready: Ready,
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

/// What of a project a server has to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProjectEnvironment {
    #[default]
    Nothing,
    /// Its Python interpreter.
    Python,
}

/// How a server shows that it knows the whole project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Ready {
    /// It reports work under this token or title, and is ready when that ends.
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    server: Vec<toml::Table>,
}

impl Catalogue {
    /// Returns the servers that are known without being told.
    #[must_use]
    pub fn built_in() -> Self {
        Self {
            servers: Vec::new(),
        }
        .with(BUILT_IN)
        .expect("a test reads the table")
    }

    /// Returns a catalogue without servers.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            servers: Vec::new(),
        }
    }

    /// Adds the servers of a configuration in TOML; a known id changes the
    /// fields that are given.
    ///
    /// # Errors
    /// It is no TOML, or a field is missing, unknown or of the wrong type.
    pub fn with(&self, configuration: &str) -> Result<Self, Error> {
        let failed = |why: String| Error::Configuration { why };
        let file: File = toml::from_str(configuration).map_err(|e| failed(e.to_string()))?;
        let mut servers = self.servers.clone();
        for table in file.server {
            let id = table.get("id").and_then(toml::Value::as_str);
            let Some(id) = id.map(str::to_owned) else {
                return Err(failed("a server has no `id`".to_owned()));
            };
            let known = servers.iter().position(|row| row.id == id);
            let merged = match known {
                Some(at) => change(servers.get(at), table),
                None => table.try_into(),
            };
            let row: ServerRow =
                merged.map_err(|e| failed(format!("the server `{id}`: {}", e.message())))?;
            if row.command.is_empty() || row.files.is_empty() {
                return Err(failed(format!(
                    "the server `{id}` has no `command` or no `files`"
                )));
            }
            match known.and_then(|at| servers.get_mut(at)) {
                Some(slot) => *slot = Arc::new(row),
                None => servers.push(Arc::new(row)),
            }
        }
        Ok(Self { servers })
    }

    /// Returns the ids, those that are switched off included.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|row| row.id.as_str())
    }

    /// Returns the extensions and names of files that servers are known for.
    pub(crate) fn extensions(&self) -> Vec<String> {
        let files = self.servers.iter().flat_map(|row| &row.files);
        let mut known: Vec<String> = files
            .flat_map(|files| {
                let extensions = files.extensions.iter().map(|e| format!(".{e}"));
                extensions.chain(files.names.iter().cloned())
            })
            .collect();
        known.sort();
        known.dedup();
        known
    }

    pub(crate) fn rows(&self) -> &[Arc<ServerRow>] {
        &self.servers
    }
}

/// Returns `row` with the fields of `table` in place of its own.
fn change(row: Option<&Arc<ServerRow>>, table: toml::Table) -> Result<ServerRow, toml::de::Error> {
    let mut changed = row.map(|row| ServerRow::clone(row)).unwrap_or_default();
    let given: Vec<String> = table.keys().cloned().collect();
    // Fields that are not given get a value that is thrown away.
    let mut whole = table;
    whole
        .entry("command")
        .or_insert_with(|| toml::Value::Array(Vec::new()));
    whole
        .entry("files")
        .or_insert_with(|| toml::Value::Array(Vec::new()));
    let new: ServerRow = whole.try_into()?;
    for field in given {
        match field.as_str() {
            "command" => changed.command.clone_from(&new.command),
            "files" => changed.files.clone_from(&new.files),
            "markers" => changed.markers.clone_from(&new.markers),
            "project_folders" => changed.project_folders.clone_from(&new.project_folders),
            "environment" => changed.environment = new.environment,
            "settings" => crate::seen::merge(&mut changed.settings, &new.settings),
            "initialization" => {
                crate::seen::merge(&mut changed.initialization, &new.initialization);
            }
            "ready" => changed.ready.clone_from(&new.ready),
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

impl ServerRow {
    /// Returns the language of a file at this server.
    pub(crate) fn language(&self, path: &std::path::Path) -> Option<&str> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_can_be_read() {
        let catalogue = Catalogue::built_in();
        let rows = catalogue.rows();
        assert!(rows.iter().all(|row| !row.install.is_empty()));
        let clangd = rows.iter().find(|row| row.id == "clangd").unwrap();
        assert!(matches!(&clangd.ready, Ready::Progress { index, .. } if index.len() == 2));
        let pyright = rows.iter().find(|row| row.id == "pyright").unwrap();
        assert_eq!(pyright.ready, Ready::Log("source file".to_owned()));
    }

    #[test]
    fn a_configuration_changes_what_it_names_and_nothing_else() {
        let catalogue = Catalogue::built_in()
            .with("[[server]]\nid = \"pyright\"\nsettings = { python = { x = 1 } }\n")
            .unwrap();
        let pyright = &catalogue.rows()[0];
        assert_eq!(pyright.command, ["pyright-langserver", "--stdio"]);
        assert_eq!(pyright.settings["python"]["x"], 1);
    }

    #[test]
    fn a_configuration_that_is_wrong_says_where() {
        for (text, why) in [
            ("[[server]]\n", "no `id`"),
            ("[[server]]\nid = \"x\"\nspeed = 1\n", "speed"),
            (
                "[[server]]\nid = \"x\"\ncommand = []\nfiles = []\n",
                "no `command`",
            ),
            (
                "[[server]]\nid = \"pyright\"\nmarkers = 1\n",
                "the server `pyright`",
            ),
            ("server = 1", "server"),
        ] {
            let error = Catalogue::built_in().with(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
