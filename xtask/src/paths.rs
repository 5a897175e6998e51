//! Where things are in the checkout.

use std::path::PathBuf;

/// Returns the root of the checkout.
pub(crate) fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// Returns the folder into which `setup` installs; git ignores it. Where it is
/// a link, say of one checkout to another, this is what it leads to: scripts
/// of a Python environment name the folder they were installed in.
pub(crate) fn installed() -> PathBuf {
    let folder = root().join(".toolset");
    folder.canonicalize().unwrap_or(folder)
}

/// Returns the folder of the Python environment that `setup` makes.
pub(crate) fn python_programs() -> PathBuf {
    installed().join("python/bin")
}

/// Returns the folder of the corpora, a folder for each language or package.
pub(crate) fn corpora() -> PathBuf {
    installed().join("corpora")
}
