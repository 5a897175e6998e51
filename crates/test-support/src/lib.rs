//! Peers that do what a test wants of them.
//!
//! Not published: for the tests of this workspace only.

mod fake_lsp;

pub use fake_lsp::{Script, Step, run};
