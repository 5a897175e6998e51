//! Grammars loaded from a folder.
//!
//! The grammars are compiled here from the sources that `cargo xtask setup`
//! puts into `.toolset/grammars`. They prove nothing where they are linked in
//! as well, so build the test without them:
//!
//! ```sh
//! cargo test --release -p toolset-structural --no-default-features \
//!     --features language-pack-download,lang-rust --test language_pack
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]
#![cfg(not(feature = "lang-zig"))]

#[cfg(feature = "language-pack-download")]
mod download;
mod grammars;
mod refused;
mod searched;
