//! Where things are in the checkout.

use std::path::PathBuf;

/// Returns the root of the checkout.
pub(crate) fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// Returns the folder into which `setup` installs; git ignores it.
pub(crate) fn installed() -> PathBuf {
    root().join(".toolset")
}

/// Returns the folder of the Python environment that `setup` makes.
pub(crate) fn python_programs() -> PathBuf {
    installed().join("python/bin")
}

/// Returns the folder of the corpora, a folder for each language or package.
pub(crate) fn corpora() -> PathBuf {
    installed().join("corpora")
}
