//! The span of a call: it is opened, it may call back, it ends.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    Call, CallContext, Dispatch, EventKind, EventSink, Outcome, Run, ToolError, ToolOutput,
};

/// A call that runs; it ends when this is finished or dropped.
///
/// The registry opens one per call. A harness with a registry of its own opens
/// one around each call of a tool, so that re-entry, events and cancellation
/// end with the call.
#[derive(Debug)]
pub struct OpenCall {
    context: CallContext,
}

impl OpenCall {
    /// Opens `call` in `run`, and emits `started` to the run's sink; re-entry
    /// goes to `dispatch`.
    #[must_use]
    pub fn open(run: &Arc<Run>, call: &Call, dispatch: Arc<dyn Dispatch>) -> Self {
        Self::open_with(run, call, run.events().cloned(), dispatch)
    }

    pub(crate) fn open_with(
        run: &Arc<Run>,
        call: &Call,
        events: Option<Arc<dyn EventSink>>,
        dispatch: Arc<dyn Dispatch>,
    ) -> Self {
        let context = CallContext::new(run, call, events, Some(dispatch));
        context.emit(EventKind::Started {
            tool: call.name().to_owned(),
            args: call.args().clone(),
        });
        Self { context }
    }

    /// Returns the context to hand to the tool.
    #[must_use]
    pub fn context(&self) -> &CallContext {
        &self.context
    }

    /// Ends the call with its result.
    pub fn finish(self, result: &Result<ToolOutput, ToolError>) {
        self.context.finish(match result {
            Ok(_) => Outcome::Succeeded,
            Err(error) => Outcome::Failed(error.kind),
        });
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        // Does nothing after `finish`.
        self.context.finish(Outcome::Dropped);
    }
}

/// The way back into the dispatch for one running call.
#[derive(Debug, Clone)]
pub struct CallDispatch {
    pub(super) context: CallContext,
}

impl CallDispatch {
    /// Calls a tool, nested in this call.
    ///
    /// # Errors
    /// Those of the tool and the dispatch; `Conflict` after the call has ended.
    pub async fn dispatch(&self, name: &str, args: Value) -> Result<ToolOutput, ToolError> {
        self.dispatch_call(Call::new(name, args)).await
    }
}

#[async_trait]
impl Dispatch for CallDispatch {
    async fn dispatch_call(&self, call: Call) -> Result<ToolOutput, ToolError> {
        let dispatch = self
            .context
            .state
            .dispatch
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let Some(dispatch) = dispatch else {
            return Err(
                ToolError::conflict(format!("cannot call `{}`", call.name()))
                    .why("no call is running")
                    .next("call tools only while the call that does so runs"),
            );
        };
        dispatch.dispatch_call(call.nested_in(&self.context)).await
    }
}
