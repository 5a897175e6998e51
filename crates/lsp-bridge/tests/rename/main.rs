//! `lsp_rename` with real servers, as `cargo xtask setup` installs them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bytes;
mod cold;
mod project;
