//! The structured form of what is added to the result of a write.

use schemars::JsonSchema;
use serde::Serialize;

use crate::tool::details::{DiagnosticDetails, VerdictDetails};

/// What language servers say after a write; the member `language_servers` of
/// the details of the tool that wrote.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct OnWriteDetails {
    /// Version of this shape.
    pub version: u32,
    /// Errors and warnings that are new, by file and worst first.
    pub diagnostics: Vec<WriteDiagnostic>,
    /// The servers that were asked.
    pub servers: Vec<OnWriteServer>,
    /// Whether some of the diagnostics may be older than the write.
    pub may_be_older: bool,
}

/// An error or a warning that is new since the last report.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct WriteDiagnostic {
    /// File, relative to the workspace.
    pub path: String,
    /// Whether the write changed this file, and not only what it uses.
    pub is_written: bool,
    /// Id of the server that reported it.
    pub server: String,
    /// What it is.
    #[serde(flatten)]
    pub diagnostic: DiagnosticDetails,
}

/// A server that was asked after a write.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct OnWriteServer {
    /// Its id.
    pub id: String,
    /// Whether what it reported can be relied on.
    pub verdict: VerdictDetails,
    /// Whether its report comes with a later result.
    pub is_pending: bool,
}
