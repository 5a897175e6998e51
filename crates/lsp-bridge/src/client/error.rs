//! Why a request has no result.

use std::sync::Arc;

use super::message::ResponseError;

/// A request that has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum RequestError {
    /// The server answered with an error.
    #[error("{0}")]
    Refused(ResponseError),
    /// It did not answer in time, and was told to stop.
    #[error("it did not answer `{method}` in time")]
    Timeout { method: String },
    /// The conversation is over.
    #[error("{why}")]
    Closed { why: Arc<str> },
    /// It has not read for so long that nothing more is kept for it.
    #[error("it does not read what it is sent: {queued} bytes are waiting")]
    NotReading { queued: usize },
}
