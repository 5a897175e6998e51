//! Built-in tools for coding-agent harnesses: one registry for one agent run.
//!
//! A harness opens a run in a workspace, attaches the resources that it has,
//! adds its own tools, and gets a registry. Only tools whose resource is
//! attached, and whose tier the mode admits, are in it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use toolset::{Mode, Toolset, Trust};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let workspace = folder.path();
//! # std::fs::write(workspace.join("a.rs"), "fn a() { b().unwrap(); }\n")?;
//! // Nothing vouches for this checkout, and there is no default.
//! let builder = Toolset::open(workspace, Trust::Untrusted, Mode::Plan)?;
//! # #[cfg(feature = "structural")]
//! let builder = builder.grammars(Arc::new(toolset::structural::CompiledGrammars::new()));
//! let toolset = builder.build()?;
//! let registry = toolset.registry();
//!
//! // What the model sees: schemas that every provider accepts.
//! for spec in registry.specs() {
//!     println!("{} ({})", spec.name, spec.tier);
//! }
//! // What it does not see, and why: for the harness only.
//! for absent in registry.withheld() {
//!     println!("{absent}");
//! }
//! # #[cfg(feature = "structural")] {
//! // A call of the model: gate, admission, limits and caps apply.
//! let arguments = serde_json::json!({ "pattern": "$X.unwrap()", "language": "rust" });
//! let output = registry.dispatch("ast_grep", arguments).await?;
//! # assert_eq!(output.details["matches"].as_array().map(Vec::len), Some(1));
//! # }
//! toolset.end().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! One for each tool family. The default has those that need nothing but Rust
//! and a C compiler.
//!
//! | feature | tools |
//! | --- | --- |
//! | `structural` (default) | `ast_grep`, `ast_edit`, `resolve` |
//! | `kernel` (default) | `eval` |
//! | `lsp` (default) | `lsp`, `lsp_rename` |
//! | `embedded-python` | `eval` without a `python3`: the program is the interpreter, and needs the shared library of Python |
//! | `all-grammars` | more languages for `structural` |
//! | `language-pack` | languages of `structural` that are not compiled in: `structural::LanguagePack` loads them from a folder |
//! | `language-pack-download` | it also fetches them |
//!
//! The language pack's build script fetches sources that nothing here uses unless
//! `TSLP_OFFLINE=1` is set when it is built.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "a panic is how a test fails")
)]

mod assemble;

pub use assemble::{Error, Toolset, ToolsetBuilder};

pub use host::{DiskFiles, HarnessFiles, Trust, Workspace};
pub use tiers::{Mode, Registry, Run, Tier, ToolError, ToolOutput, ToolSpec};

/// Persistent interpreters: the tool `eval`, and the factory that says which
/// interpreter runs and where.
#[cfg(feature = "kernel")]
pub use kernel;
/// Language servers: the tools `lsp` and `lsp_rename`, the supervisor that keeps
/// servers, and the table of them.
#[cfg(feature = "lsp")]
pub use lsp_bridge as lsp;
/// Structural search and rewrite: patterns, templates, grammars, the tools
/// `ast_grep`, `ast_edit` and `resolve`.
#[cfg(feature = "structural")]
pub use structural;
