//! What the process was started with, read once.

use std::ffi::OsString;
use std::io::IsTerminal;
#[cfg(feature = "lsp")]
use std::path::Path;
use std::path::PathBuf;
#[cfg(feature = "lsp")]
use std::sync::Arc;

use anyhow::Context;

#[cfg(feature = "lsp")]
use toolset::lsp::{Catalogue, Supervisor};

#[cfg(feature = "lsp")]
use crate::assemble::Servers;
use crate::assemble::{Interpreters, Python, Search, Settings};
use crate::trust::TrustStore;

/// The folder below the user's configuration folder.
const FOLDER: &str = "toolset";

/// The surroundings of the process.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    /// From `TOOLSET_THREADS`, `TOOLSET_GRAMMARS` and `TOOLSET_PYTHON`, and what
    /// interpreters and language servers see.
    pub(crate) settings: Settings,
    /// The folder that relative paths of the command line start from.
    pub(crate) current: PathBuf,
    /// Where trust is remembered; `None` without a home.
    pub(crate) trust: Option<TrustStore>,
    pub(crate) stdin_is_terminal: bool,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
}

/// How to write to one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stream {
    /// Whether a person reads it as it comes.
    pub(crate) is_terminal: bool,
    /// Whether colours are wanted.
    pub(crate) has_colour: bool,
}

impl Stream {
    /// Puts `text` in bold red, where there are colours.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Puts `text` in bold, where there are colours.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Makes `text` faint, where there are colours.
    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.has_colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

impl Environment {
    /// Reads the surroundings.
    pub(crate) fn read() -> anyhow::Result<Self> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let wants_colour = variable("NO_COLOR").is_none()
            && variable("TERM").is_none_or(|terminal| terminal != "dumb");
        let stream = |is_terminal: bool| Stream {
            is_terminal,
            has_colour: is_terminal && wants_colour,
        };
        let configuration = user_folder(variable("XDG_CONFIG_HOME"), variable("HOME"), ".config");
        let state = user_folder(variable("XDG_STATE_HOME"), variable("HOME"), ".local/state");
        #[expect(clippy::disallowed_methods, reason = "read once here, and passed on")]
        let current = std::env::current_dir().context("cannot find the current folder")?;
        let search_threads = match variable("TOOLSET_THREADS") {
            None => None,
            Some(text) => Some(
                text.to_str()
                    .and_then(|t| t.parse().ok())
                    .filter(|n| *n > 0)
                    .context("`TOOLSET_THREADS` is not a number from 1")?,
            ),
        };
        Ok(Self {
            settings: Settings {
                search: Search {
                    threads: search_threads,
                    grammars: variable("TOOLSET_GRAMMARS").map(|folder| current.join(folder)),
                },
                interpreters: Interpreters {
                    environment: interpreter_environment(&variable),
                    python: variable("TOOLSET_PYTHON").map(|named| match named.to_str() {
                        Some("embedded") => Python::Embedded,
                        _ => Python::Program(current.join(named)),
                    }),
                    state: state.map(|folder| folder.join(FOLDER)),
                    temporary: std::env::temp_dir(),
                },
                #[cfg(feature = "lsp")]
                servers: servers(configuration.as_deref())?,
            },
            current,
            trust: configuration.map(|folder| TrustStore::in_folder(&folder.join(FOLDER))),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout: stream(std::io::stdout().is_terminal()),
            stderr: stream(std::io::stderr().is_terminal()),
        })
    }

    /// Returns where trust is remembered.
    pub(crate) fn trust_store(&self) -> anyhow::Result<&TrustStore> {
        self.trust.as_ref().context(
            "there is no folder to remember trust in: neither `XDG_CONFIG_HOME` nor `HOME` is set",
        )
    }
}

/// Returns what interpreters see: the usual variables, and where the user keeps
/// modules.
fn interpreter_environment(
    variable: &impl Fn(&str) -> Option<OsString>,
) -> host::process::Environment {
    let usual = host::process::Environment::usual(std::env::vars_os());
    ["PYTHONPATH", "MPLBACKEND"]
        .into_iter()
        .fold(usual, |environment, name| match variable(name) {
            Some(value) => environment.with(name, value),
            None => environment,
        })
}

/// Returns the language servers of the table, with what the user's own file
/// `toolset/servers.toml` says of them.
#[cfg(feature = "lsp")]
fn servers(configuration: Option<&Path>) -> anyhow::Result<Servers> {
    let mut catalogue = Catalogue::built_in();
    if let Some(file) = configuration.map(|folder| folder.join(FOLDER).join("servers.toml"))
        && file.is_file()
    {
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read `{}`", file.display()))?;
        catalogue = catalogue
            .with(&text)
            .with_context(|| format!("cannot use `{}`", file.display()))?;
    }
    let environment = host::process::Environment::usual(std::env::vars_os());
    Ok(Servers(Arc::new(Supervisor::new(catalogue, environment))))
}

/// Finds a folder of the user's: the one that is configured, else the one below
/// their home.
///
/// Source: XDG Base Directory Specification: a relative path is ignored.
fn user_folder(
    configured: Option<OsString>,
    home: Option<OsString>,
    below: &str,
) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    configured
        .and_then(absolute)
        .or_else(|| home.and_then(absolute).map(|home| home.join(below)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_folder_follows_the_xdg_rules() {
        let find = |configured: Option<&str>, home: Option<&str>| {
            let (configured, home) = (configured.map(OsString::from), home.map(OsString::from));
            user_folder(configured, home, ".config")
        };
        assert_eq!(find(Some("/c"), Some("/h")), Some(PathBuf::from("/c")));
        assert_eq!(
            find(Some("relative"), Some("/h")),
            Some(PathBuf::from("/h/.config"))
        );
        assert_eq!(find(None, Some("/h")), Some(PathBuf::from("/h/.config")));
        assert_eq!(find(None, None), None);
    }
}
