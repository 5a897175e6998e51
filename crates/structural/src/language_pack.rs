//! Grammars that are not compiled in: shared libraries in a folder.
//!
//! Loading a shared library runs its code, so the folder is one that the harness
//! names, outside the workspace, and that nobody else can write to.

#[cfg(feature = "language-pack-download")]
mod download;
mod private;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use host::Workspace;
use tree_sitter_language_pack::registry::library_file_name;
use tree_sitter_language_pack::{
    LanguageRegistry, detect_language_from_content, detect_language_from_extension,
    detect_language_from_path,
};

use crate::grammar::{CompiledGrammars, Grammar, GrammarError, GrammarSource};
use crate::languages::{self, Further, Language, Languages, general};

/// The compiled-in grammars, and those that a folder holds.
///
/// A file of the folder is named as the package `tree-sitter-language-pack`
/// names it: `libtree_sitter_<name>.so` (`.dylib` on macOS), where `<name>` is
/// the name of the function in it without `tree_sitter_`. What is compiled in
/// is never replaced. A language of the table (`docs/languages.md`) is read as
/// if it were compiled in. Any other is read in general contexts, and its files
/// are known by the endings that the package lists.
///
/// The folder is listed when it is opened, and a grammar is loaded when it is
/// first asked for.
pub struct LanguagePack {
    folder: PathBuf,
    root: PathBuf,
    languages: Arc<Languages>,
    /// The package's names of the languages in the folder, by id.
    names: HashMap<&'static str, String>,
    registry: LanguageRegistry,
    loaded: Mutex<HashMap<&'static str, Arc<Grammar>>>,
}

/// Why a folder of grammars cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The folder cannot be looked at.
    #[error("cannot read the folder of grammars `{}`: {source}", folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is inside the workspace, or leads there.
    #[error(
        "the folder of grammars `{}` is inside the workspace `{}`; loading a grammar runs its code, so keep it outside",
        folder.display(),
        workspace.display()
    )]
    InWorkspace {
        /// The folder, with links resolved.
        folder: PathBuf,
        /// The root of the workspace.
        workspace: PathBuf,
    },
    /// Somebody else may change it.
    #[error("cannot use the folder of grammars `{}`: {why}", folder.display())]
    NotPrivate {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with which path, and what to do about it.
        why: String,
    },
    /// Grammars could not be fetched.
    #[cfg(feature = "language-pack-download")]
    #[error("cannot fetch grammars into `{}`: {source}", folder.display())]
    Download {
        /// The folder.
        folder: PathBuf,
        /// What the package says.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl LanguagePack {
    /// Opens a folder of grammars for runs in `workspace`.
    ///
    /// # Errors
    /// The folder cannot be read, is inside the workspace, or can be changed by
    /// other users.
    pub fn open(folder: &Path, workspace: &Workspace) -> Result<Self, PackError> {
        let folder = checked(folder, workspace)?;
        let registry = LanguageRegistry::with_libs_dir(folder.clone());
        // Only directories added so are listed.
        registry.add_extra_libs_dir(folder.clone());
        let mut names = HashMap::new();
        let mut rows: Vec<&'static Language> = languages::compiled().iter().collect();
        let mut others = Vec::new();
        for name in registry.available_languages() {
            // Aliases and what is compiled into the package have no file.
            if !folder.join(library_file_name(&name)).exists() {
                continue;
            }
            match row_of(&name) {
                Some(row) if row.grammar.is_some() => {}
                Some(row) => {
                    rows.push(row);
                    names.insert(row.id, name);
                }
                None => others.push(name),
            }
        }
        let known = Languages::new(rows.clone());
        let mut general_rows = Vec::new();
        for name in others {
            let row = general::row(&name);
            // The name of another language stays that.
            if known.by_name(row.id).is_none() {
                general_rows.push(row);
                names.insert(row.id, name);
            }
        }
        let languages = known.with_further(general_rows, FURTHER);
        Ok(Self {
            folder,
            root: workspace.root().to_owned(),
            languages: Arc::new(languages),
            names,
            registry,
            loaded: Mutex::default(),
        })
    }

    /// Returns the folder, with links resolved.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn load(&self, language: &'static Language) -> Result<Grammar, GrammarError> {
        let name = self
            .names
            .get(language.id)
            .ok_or_else(|| GrammarError::Absent(language.id.to_owned()))?;
        let file = self.folder.join(library_file_name(name));
        let unusable = |why: String| GrammarError::Unusable {
            file: file.clone(),
            why,
        };
        private::check_file(&file, &self.root).map_err(&unusable)?;
        let parser = self
            .registry
            .get_language(name)
            .map_err(|error| unusable(error.to_string()))?;
        Grammar::new(general::fitted(language, &parser), parser)
    }
}

impl GrammarSource for LanguagePack {
    fn languages(&self) -> Arc<Languages> {
        Arc::clone(&self.languages)
    }

    fn grammar(&self, id: &str) -> Result<Arc<Grammar>, GrammarError> {
        let language = self
            .languages
            .by_id(id)
            .ok_or_else(|| GrammarError::Absent(id.to_owned()))?;
        if language.grammar.is_some() {
            return CompiledGrammars::new().grammar(id);
        }
        // Held while loading, so that a grammar is loaded once. A failure is not
        // kept: the file may be replaced.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(grammar) = loaded.get(language.id) {
            return Ok(Arc::clone(grammar));
        }
        let grammar = Arc::new(self.load(language)?);
        loaded.insert(language.id, Arc::clone(&grammar));
        Ok(grammar)
    }
}

impl std::fmt::Debug for LanguagePack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LanguagePack")
            .field("folder", &self.folder)
            .field("languages", &self.languages)
            .finish_non_exhaustive()
    }
}

/// How the package recognises files.
const FURTHER: Further = Further {
    by_file_name: detect_language_from_path,
    by_extension: detect_language_from_extension,
    by_shebang: detect_language_from_content,
};

/// Returns the row of the table for one of the package's names.
fn row_of(name: &str) -> Option<&'static Language> {
    let id = match name {
        "csharp" => "c-sharp",
        other => &other.replace('_', "-"),
    };
    languages::table().iter().find(|row| row.id == id)
}

/// Resolves the links of a folder, and refuses one that must not be used.
fn checked(folder: &Path, workspace: &Workspace) -> Result<PathBuf, PackError> {
    let unreadable = |source| PackError::Unreadable {
        folder: folder.to_owned(),
        source,
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the harness names it, and it must be outside every workspace"
    )]
    let folder = std::fs::canonicalize(folder).map_err(unreadable)?;
    std::fs::read_dir(&folder).map_err(|source| PackError::Unreadable {
        folder: folder.clone(),
        source,
    })?;
    if folder.starts_with(workspace.root()) {
        return Err(PackError::InWorkspace {
            folder,
            workspace: workspace.root().to_owned(),
        });
    }
    match private::check(&folder) {
        Ok(()) => Ok(folder),
        Err(why) => Err(PackError::NotPrivate { folder, why }),
    }
}
