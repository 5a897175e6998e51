//! The contract every tool fulfils.

use std::future::Future;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Admission, CallContext, ToolError, ToolOutput, ToolSpec};

/// A tool, as the registry sees it.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns the description; it never changes during a run.
    fn spec(&self) -> &ToolSpec;

    /// Returns the workspace paths a call with `args` would write, known before it runs.
    fn paths(&self, _args: &Value) -> Vec<String> {
        Vec::new()
    }

    /// Returns how a call with `args` shares its resource.
    fn admission(&self, _args: &Value) -> Admission {
        Admission::Parallel
    }

    /// Runs one call.
    async fn call(&self, args: Value, context: &CallContext) -> Result<ToolOutput, ToolError>;
}

/// A tool with typed arguments; [`Typed`] adapts it to [`Tool`].
pub trait TypedTool: Send + Sync + 'static {
    /// The arguments.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// Returns the description.
    fn spec(&self) -> ToolSpec;

    /// Returns the workspace paths this call would write.
    fn paths(&self, _input: &Self::Input) -> Vec<String> {
        Vec::new()
    }

    /// Returns how this call shares its resource.
    fn admission(&self, _input: &Self::Input) -> Admission {
        Admission::Parallel
    }

    /// Runs one call.
    fn call(
        &self,
        input: Self::Input,
        context: &CallContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}
