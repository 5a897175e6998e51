//! The structured result of `eval`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::factory::Language;

/// Structured result of `eval`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EvalDetails {
    /// Version of this shape.
    pub version: u32,
    /// Language of the cell.
    pub language: Language,
    /// Number of the cell, from 1 with each interpreter.
    pub cell: u64,
    /// How it ended.
    pub status: CellStatus,
    /// Text of the value of the last expression; none where there is none.
    pub value: Option<String>,
    /// What the cell wrote to standard output and error, and the texts that it
    /// displayed, in order; the middle of a long text is left out.
    pub output: String,
    /// Bytes that it wrote.
    pub output_bytes: u64,
    /// File with all that it wrote, where `output` is not all.
    pub output_file: Option<String>,
    /// Images that it displayed.
    pub images: Vec<ImageDetails>,
    /// The exception that ended it.
    pub error: Option<ExceptionDetails>,
    /// Output of earlier cells since they ended.
    pub late: Vec<LateDetails>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// How long the cell ran, in milliseconds.
    pub duration_ms: u64,
    /// The interpreter.
    pub interpreter: InterpreterDetails,
}

/// How a cell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellStatus {
    /// It ran to its end.
    Ok,
    /// It raised an exception.
    Error,
    /// It was stopped from outside, and the interpreter lives.
    Interrupted,
    /// The interpreter ended, and its variables with it.
    Died,
}

/// An image that a cell displayed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ImageDetails {
    /// Media type.
    pub media_type: String,
    /// Width in pixels, where it is known.
    pub width: Option<u32>,
    /// Height in pixels, where it is known.
    pub height: Option<u32>,
    /// File that it was saved as, where it could be.
    pub file: Option<String>,
}

/// An exception that ended a cell.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ExceptionDetails {
    /// Name of its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its message.
    pub message: String,
    /// Traceback, with cells by number.
    pub traceback: String,
    /// Line of the cell, from 1, at which it failed.
    pub line: Option<u64>,
}

/// Output of an earlier cell.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LateDetails {
    /// Number of the cell.
    pub cell: u64,
    /// What it wrote since.
    pub output: String,
}

/// The interpreter that ran a cell.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct InterpreterDetails {
    /// Its executable.
    pub executable: String,
    /// Its version.
    pub version: String,
    /// Where it runs, for example `on the host`.
    pub place: String,
    /// Whether it was started for this cell, so that no variables were there.
    pub is_fresh: bool,
}
