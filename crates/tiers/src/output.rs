//! What a tool returns when it succeeded.

use serde_json::Value;

/// One piece of a result that the model sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// An image.
    Image {
        /// Media type, for example `image/png`.
        media_type: String,
        /// The raw bytes (rendered as base64 where a provider wants it).
        data: Vec<u8>,
    },
}

/// The result of a call that succeeded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What the model sees; never empty.
    pub content: Vec<Content>,
    /// Structured form for user interfaces, tests and kernels; not for the model.
    pub details: Value,
    /// Workspace paths changed, relative to the root, with `/`.
    pub touched: Vec<String>,
}

impl ToolOutput {
    /// Builds an output of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Text(text.into())],
            details: Value::Null,
            touched: Vec::new(),
        }
    }

    /// Sets the structured details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// Sets the paths that were changed.
    #[must_use]
    pub fn with_touched(mut self, touched: Vec<String>) -> Self {
        self.touched = touched;
        self
    }
}
