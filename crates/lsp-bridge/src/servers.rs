//! The table of language servers.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::error::Error;
use crate::row::ServerRow;

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
/// assert_eq!(catalogue.ids().last(), Some("mine"));
/// # Ok::<(), lsp_bridge::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Catalogue {
    servers: Vec<Arc<ServerRow>>,
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
            let merged = match known.and_then(|at| servers.get(at)) {
                Some(row) => row.changed(table),
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

    /// Returns the servers that claim a file of this name, in order of preference.
    pub(crate) fn claiming(&self, path: &Path) -> impl Iterator<Item = &Arc<ServerRow>> {
        let servers = self.servers.iter();
        servers.filter(|row| row.language(path).is_some())
    }

    pub(crate) fn rows(&self) -> &[Arc<ServerRow>] {
        &self.servers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Ready;

    #[test]
    fn the_built_in_table_can_be_read() {
        let catalogue = Catalogue::built_in();
        let rows = catalogue.rows();
        assert!(rows.len() >= 50, "{}", rows.len());
        let mut ids: Vec<&str> = catalogue.ids().collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), rows.len(), "an id is there twice");
        for row in rows {
            let id = &row.id;
            assert!(!row.install.is_empty(), "{id}");
            assert!(!row.markers.is_empty(), "{id}");
            assert!(row.markers.iter().all(|row| !row.is_empty()), "{id}");
            assert!(!row.program().contains('/'), "{id}");
            for files in &row.files {
                assert!(!files.language.is_empty(), "{id}");
                assert!(
                    files.extensions.len() + files.names.len() > 0,
                    "{id}: {}",
                    files.language
                );
                let has_dot = files.extensions.iter().any(|e| e.starts_with('.'));
                assert!(!has_dot, "{id}: {}", files.language);
            }
            // What no test has run does not start by saying that it is ready.
            let is_proven = !matches!(row.ready, Ready::Quiet);
            assert!(!row.verified.is_empty() || !is_proven, "{id}");
        }
        let verified = rows.iter().filter(|row| !row.verified.is_empty());
        let verified: Vec<&str> = verified.map(|row| row.id.as_str()).collect();
        assert_eq!(
            verified,
            [
                "rust-analyzer",
                "typescript-native",
                "typescript-language-server",
                "pyright",
                "basedpyright",
                "ty",
                "ruff",
                "gopls",
                "clangd",
                "bash-language-server",
            ]
        );
        let clangd = rows.iter().find(|row| row.id == "clangd").unwrap();
        assert!(matches!(&clangd.ready, Ready::Progress { index, .. } if index.len() == 2));
    }

    #[test]
    fn a_configuration_changes_what_it_names_and_nothing_else() {
        let catalogue = Catalogue::built_in()
            .with(
                "[[server]]\nid = \"pyright\"\nsettings = { python = { x = 1 } }\n\
                 [[server]]\nid = \"ty\"\ndisabled = true\n\
                 [[server]]\nid = \"yaml-language-server\"\ndisabled = false\n",
            )
            .unwrap();
        let row = |id: &str| catalogue.rows().iter().find(|row| row.id == id).unwrap();
        let pyright = row("pyright");
        assert_eq!(pyright.command, ["pyright-langserver", "--stdio"]);
        assert_eq!(pyright.settings["python"]["x"], 1);
        assert!(!pyright.disabled);
        assert!(row("ty").disabled && !row("yaml-language-server").disabled);
        let count = Catalogue::built_in().rows().len();
        assert_eq!(catalogue.rows().len(), count);
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
