//! Language servers for coding agents: one process for many runs, documents in
//! step with the disk, and answers that say when they are not complete.
//!
//! A [`Catalogue`] names the servers, a [`Supervisor`] keeps them running, and
//! the tools [`Lsp`] and [`LspRename`] get at them through the port
//! [`LanguageServers`].

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]
mod cadence;
mod capabilities;
mod client;
mod diagnostics;
mod documents;
mod edit;
mod encoding;
mod error;
mod languages;
mod lookups;
mod on_write;
mod plan;
mod port;
mod project;
mod readiness;
mod row;
mod secrets;
mod seen;
mod server;
mod servers;
mod stamp;
mod supervisor;
mod tool;
mod tree;
mod uri;

pub use error::Error;
pub use on_write::{
    DiagnosticsOnWrite, OnWriteDetails, OnWriteLimits, OnWriteServer, WriteDiagnostic,
};
pub use plan::Candidate;
pub use port::{Hold, LanguageServers, Lease, Reloaded, RunningServer, ServerPhase};
pub use servers::Catalogue;
pub use supervisor::{Supervisor, SupervisorLimits};
pub use tool::{
    ActionDetails, DiagnosticDetails, LocationDetails, Lsp, LspAction, LspDetails, LspInput,
    LspLimits, LspRename, LspRenameDetails, LspRenameInput, PlaceDetails, RenameDiagnosticDetails,
    RenamedFileDetails, ServerDetails, SymbolDetails, VerdictDetails,
};
