//! Fills a folder from the releases of the package.

use std::path::Path;

use host::Workspace;
use tree_sitter_language_pack::DownloadManager;
use tree_sitter_language_pack::registry::library_file_name;

use super::{LanguagePack, PackError, checked};

/// The version of the package, whose releases hold the grammars.
const VERSION: &str = "1.23.1";

impl LanguagePack {
    /// Fetches the grammars named that are not there yet, and opens their folder:
    /// `libs` in `folder/v<version of the package>`.
    ///
    /// The names are those of the package `tree-sitter-language-pack`. They come
    /// as one archive for all languages from its releases on GitHub, or from
    /// where the environment variable `TREE_SITTER_LANGUAGE_PACK_MANIFEST_URL`
    /// says, and are checked against the hash that the release lists. The file
    /// of hashes is trusted as it comes over TLS. `folder` must exist; with every
    /// grammar in place nothing is fetched.
    ///
    /// Blocks until that is done.
    ///
    /// # Errors
    /// As [`LanguagePack::open`]; a name is not known; something cannot be
    /// fetched, or does not have the hash.
    pub fn download(
        folder: &Path,
        workspace: &Workspace,
        names: &[&str],
    ) -> Result<Self, PackError> {
        let base = checked(folder, workspace)?;
        let libs = base.join(format!("v{VERSION}")).join("libs");
        let failed = |source| PackError::Download {
            folder: libs.clone(),
            source,
        };
        let missing: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| !libs.join(library_file_name(name)).exists())
            .collect();
        if !missing.is_empty() {
            DownloadManager::with_cache_dir(VERSION, libs.clone())
                .ensure_languages(&missing)
                .map_err(|error| failed(Box::new(error)))?;
        }
        std::fs::create_dir_all(&libs).map_err(|error| failed(Box::new(error)))?;
        Self::open(&libs, workspace)
    }
}
