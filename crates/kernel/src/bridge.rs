//! Calls of the harness's tools that a cell makes.
//!
//! Each is a call like the model's own, nested in the call of `eval`: gate,
//! ceiling, wrappers, caps, events and cancellation apply.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
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
    tokens: HashMap<u64, CancellationToken>,
}

impl Bridge {
    pub(crate) fn new(most: usize, at_once: usize) -> Self {
        Self {
            most,
            made: 0,
            at_once: Arc::new(Semaphore::new(at_once)),
            running: JoinSet::new(),
            tokens: HashMap::new(),
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
        if self.tokens.contains_key(&number) {
            return refuse(cannot().why("another call has its number"));
        }
        self.made += 1;
        let token = CancellationToken::new();
        self.tokens.insert(number, token.clone());
        let call = Call::new(wanted.tool, wanted.args).with_token(token);
        let dispatch = context.dispatch();
        let at_once = Arc::clone(&self.at_once);
        self.running.spawn(async move {
            // Never closed.
            let _permit = at_once.acquire_owned().await;
            (number, dispatch.dispatch_call(call).await)
        });
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
            match self.running.join_next().await {
                Some(Ok((number, result))) => {
                    self.tokens.remove(&number);
                    return reply(number, result);
                }
                // It panicked; dispatch catches what tools do, so this is ours.
                Some(Err(error)) => tracing::error!(%error, "a bridged call was lost"),
                None => std::future::pending().await,
            }
        }
    }

    /// Cancels one call, if it is still pending.
    pub(crate) fn cancel(&self, number: u64) {
        if let Some(token) = self.tokens.get(&number) {
            token.cancel();
        }
    }

    /// Cancels every call that is pending; returns how many those are.
    pub(crate) fn cancel_all(&self) -> usize {
        for token in self.tokens.values() {
            token.cancel();
        }
        self.tokens.len()
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
