//! The contract every tool fulfils.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Admission, CallContext, ToolError, ToolOutput, ToolSpec, arguments};

/// How long one call may run once it was admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// The run's [`call_timeout`](crate::Limits::call_timeout).
    Default,
    /// This long.
    Of(Duration),
    /// The tool limits itself: it waits for a person, or has a budget of its own.
    Own,
}

/// A tool, as the registry sees it.
///
/// A decorator (a tool around another) forwards everything but what it
/// changes: spec, paths, admission, time limit and the check of arguments.
/// `Arc<T>` does.
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

    /// Returns how long a call with `args` may run.
    fn time_limit(&self, _args: &Value) -> TimeLimit {
        TimeLimit::Default
    }

    /// Checks what the schema cannot say, before the gate is asked.
    ///
    /// # Errors
    /// `InvalidInput` for arguments that [`call`](Self::call) would refuse.
    fn check_arguments(&self, _args: &Value) -> Result<(), ToolError> {
        Ok(())
    }

    /// Runs one call.
    ///
    /// # Cancel
    /// When the context's token is cancelled, tell the peer and return; after
    /// a short grace the future is dropped, and drop must be enough to clean up.
    async fn call(&self, args: Value, context: &CallContext) -> Result<ToolOutput, ToolError>;
}

#[async_trait]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> &ToolSpec {
        (**self).spec()
    }

    fn paths(&self, args: &Value) -> Vec<String> {
        (**self).paths(args)
    }

    fn admission(&self, args: &Value) -> Admission {
        (**self).admission(args)
    }

    fn time_limit(&self, args: &Value) -> TimeLimit {
        (**self).time_limit(args)
    }

    fn check_arguments(&self, args: &Value) -> Result<(), ToolError> {
        (**self).check_arguments(args)
    }

    async fn call(&self, args: Value, context: &CallContext) -> Result<ToolOutput, ToolError> {
        (**self).call(args, context).await
    }
}

/// A tool with typed arguments; [`Typed`] adapts it to [`Tool`].
pub trait TypedTool: Send + Sync + 'static {
    /// The arguments.
    type Input: DeserializeOwned + JsonSchema + Send;

    /// Returns the description; [`Typed`] asks once.
    fn spec(&self) -> ToolSpec;

    /// Returns the workspace paths this call would write.
    fn paths(&self, _input: &Self::Input) -> Vec<String> {
        Vec::new()
    }

    /// Returns how this call shares its resource.
    fn admission(&self, _input: &Self::Input) -> Admission {
        Admission::Parallel
    }

    /// Returns how long this call may run.
    fn time_limit(&self, _input: &Self::Input) -> TimeLimit {
        TimeLimit::Default
    }

    /// Runs one call.
    fn call(
        &self,
        input: Self::Input,
        context: &CallContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// Adapts a [`TypedTool`] to [`Tool`]: parsing, schema and error texts come for free.
#[derive(Debug)]
pub struct Typed<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: TypedTool> Typed<T> {
    /// Wraps `tool`.
    #[must_use]
    pub fn new(tool: T) -> Self {
        let spec = tool.spec();
        Self { tool, spec }
    }

    /// Returns the tool inside.
    #[must_use]
    pub fn inner(&self) -> &T {
        &self.tool
    }

    fn parse(&self, args: Value) -> Result<T::Input, ToolError> {
        arguments::check(&self.spec, &args)?;
        serde_json::from_value(args).map_err(|error| arguments::refused(&self.spec, error))
    }
}

#[async_trait]
impl<T: TypedTool> Tool for Typed<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn paths(&self, args: &Value) -> Vec<String> {
        self.parse(args.clone())
            .map(|input| self.tool.paths(&input))
            .unwrap_or_default()
    }

    fn admission(&self, args: &Value) -> Admission {
        self.parse(args.clone())
            .map_or(Admission::Parallel, |input| self.tool.admission(&input))
    }

    fn time_limit(&self, args: &Value) -> TimeLimit {
        self.parse(args.clone())
            .map_or(TimeLimit::Default, |input| self.tool.time_limit(&input))
    }

    fn check_arguments(&self, args: &Value) -> Result<(), ToolError> {
        self.parse(args.clone()).map(|_| ())
    }

    async fn call(&self, args: Value, context: &CallContext) -> Result<ToolOutput, ToolError> {
        let input = self.parse(args)?;
        self.tool.call(input, context).await
    }
}
