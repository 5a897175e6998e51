//! Dispatch, the only way to run a tool: look up, parse, gate, admission, call
//! under token and deadline, cap, notices, events.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::admission::admit;
use super::panics::catch;
use crate::{
    Approver, Call, CallContext, Ceiling, Content, Dispatch, ErrorKind, EventSink, GateRequest,
    Guardrail, Hold, OpenCall, RegistryBuilder, Run, TimeLimit, Tool, ToolError, ToolOutput,
    ToolSpec, Withheld, arguments, gate, nearest,
};

/// The tools of one run that its ceiling admits; immutable and cheap to clone.
#[derive(Clone)]
pub struct Registry {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(super) run: Arc<Run>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) by_name: HashMap<String, usize>,
    pub(super) withheld: Vec<Withheld>,
    pub(super) guardrails: Vec<Arc<dyn Guardrail>>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) events: Option<Arc<dyn EventSink>>,
}

impl Registry {
    /// Starts building the registry of `run`.
    pub fn builder(run: Arc<Run>) -> RegistryBuilder {
        RegistryBuilder::new(run)
    }

    pub(super) fn from_inner(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Returns the run.
    #[must_use]
    pub fn run(&self) -> &Arc<Run> {
        &self.inner.run
    }

    /// Returns what the model sees, in the order the tools were added.
    #[must_use]
    pub fn specs(&self) -> Vec<&ToolSpec> {
        self.inner.tools.iter().map(|tool| tool.spec()).collect()
    }

    /// Returns which tools are absent and why: for the harness, not the model.
    #[must_use]
    pub fn withheld(&self) -> &[Withheld] {
        &self.inner.withheld
    }

    /// Runs one call of the model.
    ///
    /// # Errors
    /// See [`Dispatch::dispatch_call`].
    pub async fn dispatch(&self, name: &str, args: Value) -> Result<ToolOutput, ToolError> {
        self.dispatch_call(Call::new(name, args)).await
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.specs().iter().map(|spec| spec.name.as_str()).collect();
        f.debug_struct("Registry")
            .field("run", &self.inner.run)
            .field("tools", &names)
            .field("withheld", &self.inner.withheld)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Dispatch for Registry {
    async fn dispatch_call(&self, call: Call) -> Result<ToolOutput, ToolError> {
        let inner = &self.inner;
        let open = OpenCall::open_with(
            &inner.run,
            &call,
            inner.events.clone(),
            Arc::new(self.clone()),
        );
        let context = open.context().clone();
        let is_top_level = call.parent.is_none();
        let span = tracing::info_span!("call", tool = %shown_name(&call.name), id = %call.id);
        let mut result = catch(inner.run_call(call, &context))
            .instrument(span.clone())
            .await
            .unwrap_or_else(|fault| Err(fault_of_ours(&context, &fault)));
        if let Err(error) = &mut result {
            span.in_scope(|| log(error));
            inner.attach_tail(error, &context);
        }
        let limits = inner.run.limits();
        let caps = if is_top_level {
            limits.output
        } else {
            limits.nested_output
        };
        match &mut result {
            Ok(output) => output.cap(caps, limits),
            Err(error) => error.cap(caps, limits),
        }
        if is_top_level {
            // Nothing is awaited from here on, so that a drained notice is returned.
            let notices = inner.run.notices().drain();
            match &mut result {
                Ok(output) => output
                    .content
                    .extend(notices.into_iter().map(Content::Text)),
                Err(error) => error.notices = notices.into(),
            }
        }
        open.finish(&result);
        result
    }
}

/// Why a call is stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Cancelled,
    Deadline,
}

impl Inner {
    /// Looks a visible tool up; `ceiling` is the caller's.
    fn find(&self, name: &str, ceiling: Ceiling) -> Option<&Arc<dyn Tool>> {
        let tool = self.tools.get(*self.by_name.get(name)?)?;
        ceiling.admits(tool.spec().tier).then_some(tool)
    }

    async fn run_call(&self, call: Call, context: &CallContext) -> Result<ToolOutput, ToolError> {
        let started = Instant::now();
        // A child run's call that got hold of this dispatch sees no more than its own run does.
        let ceiling = call.parent.as_ref().map_or(self.run.ceiling(), |parent| {
            parent.run().ceiling().min(self.run.ceiling())
        });
        let Some(tool) = self.find(&call.name, ceiling) else {
            return Err(self.unknown(&call.name, ceiling));
        };
        let whole = call
            .timeout
            .and_then(|timeout| started.checked_add(timeout));
        let token = call.token.clone();
        let stopped = || self.stopped(context, token.clone(), whole);

        // Until the tool runs there is nothing to tell a peer: dropped at once.
        let prepared = tokio::select! {
            biased;
            stop = stopped() => return Err(stop_error(stop, context, started.elapsed(), Phase::Waiting)),
            prepared = self.prepare(tool, &call, context) => prepared?,
        };
        // Dropped after the call's future: the resource is busy while that cleans up.
        let (_hold, limit) = prepared;
        let limit = match limit {
            TimeLimit::Default => Instant::now().checked_add(self.run.limits().call_timeout),
            TimeLimit::Of(limit) => Instant::now().checked_add(limit),
            TimeLimit::Own => None,
        };
        let above = call.parent.as_ref().and_then(CallContext::deadline);
        let deadline = [limit, whole, above].into_iter().flatten().min();
        if let Some(deadline) = deadline {
            context.set_deadline(deadline);
        }

        let began = Instant::now();
        let mut running = pin!(catch(tool.call(call.args, context)));
        let result = tokio::select! {
            biased;
            result = &mut running => result,
            stop = self.stopped(context, token.clone(), deadline) => {
                let after = began.elapsed();
                context.token().cancel();
                let result = self.within_grace(running, context).await;
                match result {
                    // It had done its work all the same, or says itself how it ended.
                    Some(Ok(Err(error))) if error.kind == ErrorKind::Cancelled && stop == Stop::Deadline => {
                        let mut late = stop_error(stop, context, after, Phase::Running);
                        late.partial = error.partial;
                        Ok(Err(late))
                    }
                    Some(result) => result,
                    None => Ok(Err(stop_error(stop, context, after, Phase::Running))),
                }
            }
        };
        result.unwrap_or_else(|fault| Err(fault_of_ours(context, &fault)))
    }

    /// Everything before the call itself: parse, gate, admission.
    async fn prepare(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Call,
        context: &CallContext,
    ) -> Result<(Option<Hold>, TimeLimit), ToolError> {
        let spec = tool.spec();
        arguments::check(spec, &call.args)?;
        tool.check_arguments(&call.args)?;
        let limits = self.run.limits();
        if context.depth() > limits.depth {
            return Err(
                ToolError::conflict(format!("`{}` cannot run now", spec.name))
                    .why(format!(
                        "calls are nested {} deep, the most is {}",
                        context.depth(),
                        limits.depth
                    ))
                    .next("call it without so many tools calling each other"),
            );
        }
        let paths = tool.paths(&call.args);
        let parents = context.parents();
        let request = GateRequest {
            run: &self.run,
            call: &call.id,
            parents: &parents,
            tool: spec,
            args: &call.args,
            paths: &paths,
        };
        gate::pass(&self.guardrails, self.approver.as_ref(), &request).await?;
        let hold = admit(tool.admission(&call.args), context).await?;
        Ok((hold, tool.time_limit(&call.args)))
    }

    /// Waits until the call has to stop.
    async fn stopped(
        &self,
        context: &CallContext,
        token: Option<CancellationToken>,
        deadline: Option<Instant>,
    ) -> Stop {
        let own = async {
            match &token {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let late = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = context.token().cancelled() => Stop::Cancelled,
            () = self.run.token().cancelled() => Stop::Cancelled,
            () = own => Stop::Cancelled,
            () = late => Stop::Deadline,
        }
    }

    /// Lets a cancelled call tell its peer; none when it had to be dropped.
    ///
    /// Work that must not be cut in half is waited for, and the grace counts
    /// anew after it. A nested call has half the grace of the call around it,
    /// which so gets to report what the nested one had.
    async fn within_grace<F: Future>(
        &self,
        mut running: Pin<&mut F>,
        context: &CallContext,
    ) -> Option<F::Output> {
        let halvings = u32::try_from(context.depth()).unwrap_or(u32::MAX).min(16);
        let grace = self.run.limits().grace / (1 << halvings);
        loop {
            tokio::select! {
                biased;
                result = &mut running => return Some(result),
                () = sleep(grace) => {}
            }
            if !context.has_owned_work() {
                return None;
            }
            tokio::select! {
                biased;
                result = &mut running => return Some(result),
                () = context.wait_for_owned_work() => {}
            }
        }
    }

    /// The answer for a tool that is not there: the same for one that is
    /// withheld, since only visible names are looked at.
    fn unknown(&self, name: &str, ceiling: Ceiling) -> ToolError {
        let visible = || {
            self.tools
                .iter()
                .map(|tool| tool.spec())
                .filter(|spec| ceiling.admits(spec.tier))
                .map(|spec| spec.name.as_str())
        };
        let error = ToolError::unknown_tool(format!("no tool `{}`", shown_name(name)));
        let near = nearest(name, visible());
        if !near.is_empty() {
            return error.next(format!("did you mean {}?", quoted(&near, " or ")));
        }
        let all: Vec<&str> = visible().collect();
        if all.is_empty() {
            error.next("there are no tools in this run")
        } else {
            error.next(format!("the tools are {}", quoted(&all, ", ")))
        }
    }

    /// Keeps what a call had reported when it ended without saying so itself.
    fn attach_tail(&self, error: &mut ToolError, context: &CallContext) {
        let is_ours = matches!(
            error.kind,
            ErrorKind::Cancelled | ErrorKind::Timeout | ErrorKind::Internal | ErrorKind::Crashed
        );
        if !is_ours || error.partial.is_some() {
            return;
        }
        if let Some((tail, is_cut)) = context.take_tail() {
            let text = if is_cut {
                format!("[earlier output is not kept]\n{tail}")
            } else {
                tail
            };
            error.partial = Some(Box::new(ToolOutput::text(text)));
        }
    }
}

enum Phase {
    Waiting,
    Running,
}

fn stop_error(stop: Stop, context: &CallContext, after: Duration, phase: Phase) -> ToolError {
    let tool = context.tool();
    let after = format!("{:.1} s", after.as_secs_f64());
    match (stop, phase) {
        (Stop::Cancelled, Phase::Waiting) => {
            ToolError::cancelled(format!("`{tool}` was cancelled")).why("before it started")
        }
        (Stop::Cancelled, Phase::Running) => {
            ToolError::cancelled(format!("`{tool}` was cancelled")).why(format!("after {after}"))
        }
        (Stop::Deadline, Phase::Waiting) => ToolError::timeout(format!("`{tool}` could not start"))
            .why(format!("its time was up after {after}"))
            .next("try again later"),
        (Stop::Deadline, Phase::Running) => ToolError::timeout(format!("`{tool}` was stopped"))
            .why(format!("it was not done after {after}"))
            .next("ask for less at once"),
    }
}

fn fault_of_ours(context: &CallContext, fault: &str) -> ToolError {
    tracing::error!(tool = context.tool(), fault, "a tool panicked");
    ToolError::internal(format!("`{}` failed", context.tool()))
        .why("a fault in the tool itself, not in the call")
        .next("do without it; the harness has logged the fault")
}

/// Logs an error with its causes, which the model does not see.
fn log(error: &ToolError) {
    let mut causes = Vec::new();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    tracing::debug!(kind = ?error.kind, %error, ?causes, "call failed");
}

/// A name from outside may be anything; the message shows its beginning.
fn shown_name(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_control() && *c != '`')
        .take(64)
        .collect()
}

fn quoted(names: &[&str], between: &str) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(between)
}
