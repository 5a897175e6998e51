//! The structured result of `lsp`.

use schemars::JsonSchema;
use serde::Serialize;
use tiers::{ToolError, ToolOutput};

use super::LspAction;

/// Structured result of `lsp`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LspDetails {
    /// Version of this shape.
    pub version: u32,
    /// What was asked.
    pub action: LspAction,
    /// Ids of the servers that answered.
    pub answered_by: Vec<String>,
    /// Places: of navigation and references.
    pub locations: Vec<LocationDetails>,
    /// Symbols, outer ones before those in them.
    pub symbols: Vec<SymbolDetails>,
    /// Code actions.
    pub code_actions: Vec<ActionDetails>,
    /// Errors and warnings, worst first.
    pub diagnostics: Vec<DiagnosticDetails>,
    /// Of diagnostics: whether they are all, and about the text as it is.
    pub verdict: Option<VerdictDetails>,
    /// Servers: of `status` and `reload`.
    pub servers: Vec<ServerDetails>,
    /// How many there are of what was asked for; a list above may show fewer.
    pub total: usize,
    /// Why more may exist than `total` says; none where the answer is complete.
    pub incomplete: Option<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LocationDetails {
    /// File, relative to the workspace; absolute where it is outside; a URI
    /// where it is no file.
    pub path: String,
    /// Whether it is outside the workspace.
    pub is_outside: bool,
    /// First line, from 1.
    pub line: u32,
    /// First column, in characters from 1; in the server's own units where the
    /// text is not at hand.
    pub column: u32,
    /// Last line, from 1.
    pub end_line: u32,
    /// Column of one past the last character, in the same units.
    pub end_column: u32,
    /// The first line's text, without the space around it.
    pub text: Option<String>,
    /// Function or type around it.
    pub container: Option<String>,
}

/// A symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SymbolDetails {
    /// Its name.
    pub name: String,
    /// Its kind, for example `function`.
    pub kind: String,
    /// How deep it is nested, from 0.
    pub depth: usize,
    /// What it is in, where the server says so.
    pub container: Option<String>,
    /// Where it is.
    pub location: LocationDetails,
}

/// A code action; nothing is applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ActionDetails {
    /// What it does.
    pub title: String,
    /// Its kind, for example `quickfix`.
    pub kind: Option<String>,
    /// Whether the server would choose it.
    pub is_preferred: bool,
    /// Why it cannot be used here.
    pub disabled: Option<String>,
    /// Whether it is a command of the server and no edit.
    pub is_command: bool,
}

/// An error or a warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DiagnosticDetails {
    /// `error`, `warning`, `information` or `hint`.
    pub severity: String,
    /// Line, from 1; 0 where the server gave no place.
    pub line: u32,
    /// Column, in characters from 1; 0 where the server gave no place.
    pub column: u32,
    /// The server's code.
    pub code: Option<String>,
    /// What reported it.
    pub source: Option<String>,
    /// The message.
    pub message: String,
}

/// Whether diagnostics can be relied on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum VerdictDetails {
    /// They are all there are for the text as it is on the disk.
    Fresh,
    /// Some are missing.
    Partial {
        /// What is missing.
        missing: String,
    },
    /// Nothing is known.
    Unknown {
        /// Why.
        why: String,
    },
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ServerDetails {
    /// Its id.
    pub id: String,
    /// Its root, relative to the workspace.
    pub root: Option<String>,
    /// `no_root`, `no_executable`, `disabled`, `not_started`, `starting`,
    /// `running` or `backing_off`; of `reload` also `restarted`, `joined`,
    /// `throttled` or `failed`.
    pub state: String,
    /// More on that.
    pub detail: String,
    /// Its executable.
    pub executable: Option<String>,
    /// Its process id.
    pub pid: Option<u32>,
}

impl LspDetails {
    pub(super) fn new(action: LspAction) -> Self {
        Self {
            version: 1,
            action,
            answered_by: Vec::new(),
            locations: Vec::new(),
            symbols: Vec::new(),
            code_actions: Vec::new(),
            diagnostics: Vec::new(),
            verdict: None,
            servers: Vec::new(),
            total: 0,
            incomplete: None,
            notes: Vec::new(),
        }
    }

    /// Joins it with its text.
    pub(super) fn into_answer(self, text: impl Into<String>) -> Answer {
        Answer {
            text: text.into(),
            details: self,
        }
    }
}

/// What an action found: the text without what all texts have, and the details.
pub(super) struct Answer {
    text: String,
    details: LspDetails,
}

impl Answer {
    /// Puts what is missing in front of the text, and the notes behind it.
    pub(super) fn into_output(self) -> Result<ToolOutput, ToolError> {
        let mut text = String::new();
        if let Some(incomplete) = &self.details.incomplete {
            text = format!("incomplete: {incomplete}\n");
        }
        text.push_str(self.text.trim_end());
        for note in &self.details.notes {
            text.push_str("\nnote: ");
            text.push_str(note);
        }
        ToolOutput::text(text).with_details_of(&self.details)
    }
}
