//! The structured result of `lsp_rename`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::tool::details::{DiagnosticDetails, VerdictDetails};

/// Structured result of `lsp_rename`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LspRenameDetails {
    /// Version of this shape.
    pub version: u32,
    /// The name before.
    pub old_name: String,
    /// The name after.
    pub new_name: String,
    /// Id of the server whose edit was written.
    pub server: String,
    /// How many names were replaced.
    pub places: usize,
    /// The files that changed, by path.
    pub files: Vec<RenamedFileDetails>,
    /// Errors and warnings that are new, in the files that were looked at.
    pub diagnostics: Vec<RenameDiagnosticDetails>,
    /// Whether these are all of those files, and about their text as it is.
    pub verdict: VerdictDetails,
    /// How many of the files were looked at for new errors.
    pub checked: usize,
    /// Where the old name still stands as a word, in files of the server's
    /// languages; the first 50.
    pub remaining: Vec<PlaceDetails>,
    /// How often it does.
    pub remaining_total: usize,
    /// What else there is to know.
    pub notes: Vec<String>,
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RenamedFileDetails {
    /// File, relative to the workspace.
    pub path: String,
    /// How many names were replaced in it.
    pub places: usize,
    /// Whether it is gone: it was moved or deleted.
    pub is_gone: bool,
}

/// An error or a warning of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RenameDiagnosticDetails {
    /// File, relative to the workspace.
    pub path: String,
    /// What is wrong in it.
    #[serde(flatten)]
    pub diagnostic: DiagnosticDetails,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PlaceDetails {
    /// File, relative to the workspace.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
}
