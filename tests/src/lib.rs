//! What the conformance targets share: cases, the surface they call, the
//! corpora they search.

pub mod case;
pub mod corpora;
pub mod expected;
pub mod spec;
pub mod surface;

use std::path::PathBuf;

/// Returns the folder of this package, where cases and golden files are.
#[must_use]
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
