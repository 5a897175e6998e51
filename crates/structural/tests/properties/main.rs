//! Properties of the search that hold for every pattern and every file.
//!
//! The real files come from `cargo xtask setup`; where a corpus is missing, a
//! test says that it skips it, and with `CI=true` it fails.
#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]
#![allow(clippy::print_stderr, reason = "the figures are worth reading")]
#![cfg(feature = "all-grammars")]

mod corpus;
mod deep;
mod insertions;
mod rewrites;
mod same_results;
mod sample;
mod self_match;
mod tool;
mod walk;
