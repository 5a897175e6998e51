//! Calls of the harness's tools that a cell makes.
//!
//! Each is a call like the model's own, nested in the call of `eval`: gate,
//! ceiling, wrappers, caps, events and cancellation apply.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use tiers::{Call, CallContext, Content, Dispatch as _, ToolError, ToolOutput};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::frames::{BridgedCall, Reply, ReplyError, ReplyImage, ReplyValue};

/// The calls of one cell.
#[derive(Debug)]
pub(crate) struct Bridge {
    most: usize,
    made: usize,
    /// How many run at once; more wait.
    at_once: Arc<Semaphore>,
    running: JoinSet<(u64, Result<ToolOutput, ToolError>)>,
    pending: HashMap<u64, Pending>,
    arrived: Vec<Arrived>,
    /// Bytes of the texts in `arrived`.
    arrived_bytes: usize,
}

#[derive(Debug)]
struct Pending {
    task: tokio::task::Id,
    token: CancellationToken,
    tool: String,
    /// The arguments, cut to what identifies the call.
    args: String,
}

/// A call that has ended. A cell that is stopped may not have come to use what
/// it gave.
#[derive(Debug)]
pub(crate) struct Arrived {
    tool: String,
    args: String,
    characters: usize,
    /// The kind of failure.
    failed: Option<&'static str>,
    /// What the cell got; none where all texts together are too long.
    text: Option<String>,
}

/// The most that is kept of the texts of all calls of a cell, in bytes.
const MOST_KEPT: usize = 4 * 1024 * 1024;

/// The most that is shown of the arguments of a call, in characters.
const MOST_ARGS: usize = 100;

impl fmt::Display for Arrived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.tool, self.args)?;
        match self.failed {
            Some(kind) => write!(f, " (failed: {kind})"),
            None => write!(f, " ({} characters)", self.characters),
        }
    }
}

impl Arrived {
    /// Returns what the cell got, under a line that says of which call.
    pub(crate) fn to_text(&self) -> String {
        let text = match &self.text {
            Some(text) => text.trim_end_matches('\n'),
            None => "(not kept: there was too much)",
        };
        format!("--- {self}\n{text}\n")
    }
}

impl Bridge {
    pub(crate) fn new(most: usize, at_once: usize) -> Self {
        Self {
            most,
            made: 0,
            at_once: Arc::new(Semaphore::new(at_once)),
            running: JoinSet::new(),
            pending: HashMap::new(),
            arrived: Vec::new(),
            arrived_bytes: 0,
        }
    }

    /// Starts a call; returns the refusal of one that may not be made.
    pub(crate) fn start(
        &mut self,
        wanted: BridgedCall,
        cell: u64,
        context: &CallContext,
    ) -> Option<Reply> {
        let number = wanted.call;
        let refuse = |error: ToolError| Some(reply(number, Err(error)));
        let cannot = || ToolError::conflict(format!("cannot call `{}`", wanted.tool));
        if wanted.cell != cell {
            return refuse(
                cannot()
                    .why("the cell that does so has ended")
                    .next("call tools before the cell ends, and wait for them"),
            );
        }
        if self.made >= self.most {
            return refuse(
                cannot()
                    .why(format!(
                        "this cell made {} calls, the most there may be",
                        self.made
                    ))
                    .next("do the rest in another cell"),
            );
        }
        if self.pending.contains_key(&number) {
            return refuse(cannot().why("another call has its number"));
        }
        self.made += 1;
        let token = CancellationToken::new();
        let (tool, args) = (wanted.tool.clone(), shortened(&wanted.args));
        let call = Call::new(wanted.tool, wanted.args).with_token(token.clone());
        let dispatch = context.dispatch();
        let at_once = Arc::clone(&self.at_once);
        let started = self.running.spawn(async move {
            // Never closed.
            let _permit = at_once.acquire_owned().await;
            (number, dispatch.dispatch_call(call).await)
        });
        let task = started.id();
        let pending = Pending {
            task,
            token,
            tool,
            args,
        };
        self.pending.insert(number, pending);
        None
    }

    /// Returns whether a call is pending.
    pub(crate) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Waits for the next call to end; for ever where none is pending.
    ///
    /// # Cancel
    /// Loses nothing.
    pub(crate) async fn next(&mut self) -> Reply {
        loop {
            match self.running.join_next_with_id().await {
                Some(Ok((_, (number, result)))) => {
                    let reply = reply(number, result);
                    if let Some(pending) = self.pending.remove(&number) {
                        self.keep(pending, &reply);
                    }
                    return reply;
                }
                // It panicked; dispatch catches what tools do, so this is ours.
                Some(Err(error)) => {
                    tracing::error!(%error, "a bridged call was lost");
                    let lost = (self.pending.iter()).find(|(_, call)| call.task == error.id());
                    if let Some(number) = lost.map(|(number, _)| *number) {
                        self.pending.remove(&number);
                        let fault = ToolError::internal("the call was lost")
                            .why("its task failed")
                            .next("call again");
                        return reply(number, Err(fault));
                    }
                }
                None => std::future::pending().await,
            }
        }
    }

    /// Cancels one call, if it is still pending.
    pub(crate) fn cancel(&self, number: u64) {
        if let Some(pending) = self.pending.get(&number) {
            pending.token.cancel();
        }
    }

    /// Cancels every call that is pending; returns how many those are.
    pub(crate) fn cancel_all(&self) -> usize {
        for pending in self.pending.values() {
            pending.token.cancel();
        }
        self.pending.len()
    }

    fn keep(&mut self, call: Pending, reply: &Reply) {
        let (text, failed) = match (&reply.value, &reply.error) {
            (Some(value), _) => (value.text.as_str(), None),
            (None, Some(error)) => (error.message.as_str(), Some(error.kind)),
            (None, None) => ("", None),
        };
        self.arrived_bytes += text.len();
        self.arrived.push(Arrived {
            tool: call.tool,
            args: call.args,
            characters: text.chars().count(),
            failed,
            text: (self.arrived_bytes <= MOST_KEPT).then(|| text.to_owned()),
        });
    }

    /// Returns the calls that have ended, in the order of their ends.
    pub(crate) fn into_arrived(self) -> Vec<Arrived> {
        self.arrived
    }
}

fn shortened(args: &Value) -> String {
    let text = args.to_string();
    match text.char_indices().nth(MOST_ARGS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Returns the answer to a call as a cell gets it.
fn reply(call: u64, result: Result<ToolOutput, ToolError>) -> Reply {
    match result {
        Ok(output) => Reply {
            call,
            ok: true,
            value: Some(value_of(output)),
            error: None,
        },
        Err(error) => refusal(call, error.kind.as_str(), message_of(&error)),
    }
}

/// Returns a failure as a cell gets it.
pub(crate) fn refusal(call: u64, kind: &'static str, message: String) -> Reply {
    Reply {
        call,
        ok: false,
        value: None,
        error: Some(ReplyError { kind, message }),
    }
}

/// Returns what the model would read, without the images.
fn message_of(error: &ToolError) -> String {
    let content = error.content();
    texts(&content).join("\n")
}

fn value_of(output: ToolOutput) -> ReplyValue {
    let text = texts(&output.content).join("\n");
    let images = output.content.iter().filter_map(|part| match part {
        Content::Text(_) => None,
        Content::Image { media_type, data } => Some(ReplyImage {
            media_type: media_type.clone(),
            data: BASE64_STANDARD.encode(data),
        }),
    });
    ReplyValue {
        text,
        images: images.collect(),
        details: output.details,
        touched: output.touched,
    }
}

fn texts(content: &[Content]) -> Vec<&str> {
    let parts = content.iter();
    parts
        .filter_map(|part| match part {
            Content::Text(text) => Some(text.as_str()),
            Content::Image { .. } => None,
        })
        .collect()
}
