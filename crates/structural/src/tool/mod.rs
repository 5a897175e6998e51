//! The tools.

mod edit;
mod nothing;
mod render;
mod report;
mod resolve;
mod scope;
mod search;

use std::time::Duration;

use tiers::{ToolError, ToolOutput};
use tokio_util::sync::CancellationToken;

pub use edit::{AstEdit, AstEditDetails, AstEditInput, EditedFile, Lasts, Place, RefusedFile};
pub use report::{ReadingDetails, SkippedFile};
pub use resolve::{Resolve, ResolveAction, ResolveDetails, ResolveInput};
pub use search::{
    AstGrep, AstGrepDetails, AstGrepInput, CaptureDetails, DEFAULT_MAX_RESULTS, MatchDetails,
};

/// How often a long call says how far it is.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Runs `work` where it may block; `stop` is cancelled when the call is dropped,
/// so that the threads of the work end with it.
async fn off_runtime(
    tool: &str,
    stop: CancellationToken,
    work: impl FnOnce() -> Result<ToolOutput, ToolError> + Send + 'static,
) -> Result<ToolOutput, ToolError> {
    let guard = stop.drop_guard();
    let result = tokio::task::spawn_blocking(work).await;
    drop(guard);
    result.unwrap_or_else(|error| {
        Err(ToolError::internal(format!("`{tool}` did not finish"))
            .why("a thread of it ended unexpectedly")
            .next("try again with a smaller `path`")
            .source(error))
    })
}

/// Writes a number of things: `1 file`, `2 files`.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
