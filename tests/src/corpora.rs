//! The real source trees that `cargo xtask setup` installs.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the corpus of `language`, or nothing where it is not installed.
///
/// # Panics
/// With `CI=true`, where a corpus that is fetched everywhere is missing: a run
/// that skips it would prove nothing.
#[must_use]
pub fn find(language: &str) -> Option<PathBuf> {
    let folder = crate::folder().join("../.toolset/corpora").join(language);
    if folder.is_dir() {
        return folder.canonicalize().ok();
    }
    // Taken from Debian's sources, which not every machine has.
    let is_optional = language == "dart";
    assert!(
        is_optional || option_env("CI") != Some("true".to_owned()),
        "the {language} corpus is missing: run `cargo xtask setup`"
    );
    None
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that asks whether this is CI"
)]
fn option_env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the files below `folder` that end in `extension`, sorted.
#[must_use]
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
