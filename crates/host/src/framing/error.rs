//! What can be wrong with a stream of messages.

use std::io;

use tiers::{ErrorKind, ToolError};

/// A stream of messages that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A message is larger than the limit; it is skipped.
    #[error("cannot transfer a message: it has {bytes} bytes or more, the limit is {limit}")]
    TooLarge {
        /// Its size in bytes, as far as known.
        bytes: u64,
        /// The limit in bytes.
        limit: usize,
    },
    /// A line where a header should be goes on and on.
    #[error("cannot read a message: a header line is longer than {limit} bytes")]
    HeaderTooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// The header does not say how long the message is.
    #[error("cannot read a message: `{value}` is no content length")]
    BadLength {
        /// What it says instead, or both of two lengths that differ.
        value: String,
    },
    /// The stream ended in the middle of a message.
    #[error("cannot read a message: the stream ended inside it, after {bytes} bytes")]
    Truncated {
        /// How many bytes of the message, or of its header, had come.
        bytes: usize,
    },
    /// A message for a stream of lines holds a line break.
    #[error("cannot write a message: it holds a line break, and lines separate messages")]
    LineBreak,
    /// A value has no JSON form.
    #[error("cannot write a message: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The stream failed.
    #[error("cannot reach the other side: {}", crate::error::io_reason(.0))]
    Io(#[from] io::Error),
}

impl From<FrameError> for ToolError {
    fn from(error: FrameError) -> Self {
        let (kind, next) = match &error {
            FrameError::TooLarge { .. } => (ErrorKind::Failed, "ask for less at once"),
            FrameError::HeaderTooLong { .. }
            | FrameError::BadLength { .. }
            | FrameError::Truncated { .. }
            | FrameError::Io(_) => (ErrorKind::Crashed, "start the program again"),
            FrameError::LineBreak | FrameError::NotJson(_) => {
                (ErrorKind::Internal, "report this as a fault")
            }
        };
        crate::error::tool_error(kind, next, error)
    }
}
