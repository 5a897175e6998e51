//! One call to make, and the port that makes it.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{CallContext, CallId, ToolError, ToolOutput};

/// One call to make.
#[derive(Debug, Clone)]
pub struct Call {
    pub(super) name: String,
    pub(super) args: Value,
    pub(super) id: CallId,
    pub(super) token: Option<CancellationToken>,
    pub(super) timeout: Option<Duration>,
    pub(super) parent: Option<CallContext>,
}

impl Call {
    /// Builds a call of the tool `name` with a fresh id.
    pub fn new(name: impl Into<String>, args: Value) -> Self {
        Self {
            name: name.into(),
            args,
            id: CallId::fresh(),
            token: None,
            timeout: None,
            parent: None,
        }
    }

    /// Sets the id, for example the one the model's provider gave it.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<CallId>) -> Self {
        self.id = id.into();
        self
    }

    /// Adds a token that cancels this call, besides the run's and the parent's.
    #[must_use]
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = Some(token);
        self
    }

    /// Limits the whole call, waiting for approval and admission included.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Nests the call in the one that `parent` belongs to.
    #[must_use]
    pub fn nested_in(mut self, parent: &CallContext) -> Self {
        self.parent = Some(parent.clone());
        self
    }

    /// Returns the name of the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments.
    #[must_use]
    pub fn args(&self) -> &Value {
        &self.args
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// Returns the call this one is nested in.
    #[must_use]
    pub fn parent(&self) -> Option<&CallContext> {
        self.parent.as_ref()
    }
}

/// Port: runs a tool by name. [`Registry`](crate::Registry) is one; a harness with a registry of
/// its own implements it instead.
#[async_trait]
pub trait Dispatch: Send + Sync {
    /// Runs one call.
    ///
    /// # Errors
    /// Those of the tool, and `UnknownTool`, `InvalidInput`, `Denied`,
    /// `Conflict`, `Timeout`, `Cancelled` of the dispatch itself.
    ///
    /// # Cancel
    /// Dropping the future drops the call.
    async fn dispatch_call(&self, call: Call) -> Result<ToolOutput, ToolError>;
}
