//! The client as we see it: messages to it, and requests that it answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use host::framing::{FrameError, FrameWriter, Framing};
use serde_json::Value;
use tiers::{EventQueue, ToolError};
use tokio::io::AsyncWrite;
use tokio::sync::{mpsc, oneshot};

use super::message::{self, Id, RpcError};

/// Messages that wait to be written; a sender waits when it is full, so that a
/// client that does not read slows down its own calls and nothing else.
const QUEUED_MESSAGES: usize = 256;

/// What the client answers.
type Answer = Result<Value, RpcError>;

/// The client's end of the line; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    outbox: mpsc::Sender<Value>,
    next_id: AtomicU64,
    /// `None` once the client is gone.
    waiting: Mutex<Option<HashMap<Id, oneshot::Sender<Answer>>>>,
}

/// The other end of the outbox.
#[derive(Debug)]
pub(crate) struct Outbox {
    messages: mpsc::Receiver<Value>,
    events: Arc<EventQueue>,
}

/// Forgets a request when nobody waits for its answer any more.
struct Waiting<'a> {
    peer: &'a Peer,
    id: Id,
}

impl Peer {
    /// Builds a peer; what it sends comes out of the outbox, `events` among it.
    pub(crate) fn new(events: Arc<EventQueue>) -> (Self, Outbox) {
        let (outbox, messages) = mpsc::channel(QUEUED_MESSAGES);
        let inner = Inner {
            outbox,
            next_id: AtomicU64::new(1),
            waiting: Mutex::new(Some(HashMap::new())),
        };
        (
            Self {
                inner: Arc::new(inner),
            },
            Outbox { messages, events },
        )
    }

    /// Sends a message; one to a client that is gone is dropped.
    pub(crate) async fn send(&self, message: Value) {
        let _ = self.inner.outbox.send(message).await;
    }

    /// Sends a notification if there is room, without waiting.
    pub(crate) fn try_notify(&self, method: &str, params: Value) {
        let _ = self
            .inner
            .outbox
            .try_send(message::notification(method, params));
    }

    /// Returns the id of the next request.
    pub(crate) fn next_id(&self) -> Id {
        Id::Text(format!(
            "s{}",
            self.inner.next_id.fetch_add(1, Ordering::Relaxed)
        ))
    }

    /// Sends a request and waits for its answer, without any limit of time.
    pub(crate) async fn request(
        &self,
        id: &Id,
        method: &str,
        params: Value,
    ) -> Result<Value, ToolError> {
        let gone = || {
            ToolError::unavailable(format!("cannot ask the client for `{method}`"))
                .why("it has closed the connection")
        };
        let (sender, receiver) = oneshot::channel();
        match &mut *self.waiting() {
            Some(waiting) => waiting.insert(id.clone(), sender),
            None => return Err(gone()),
        };
        let _forget = Waiting {
            peer: self,
            id: id.clone(),
        };
        self.send(message::request(id, method, params)).await;
        match receiver.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(ToolError::failed(format!("the client refused `{method}`"))
                .why(format!("{} (code {})", error.message, error.code))),
            Err(_) => Err(gone()),
        }
    }

    /// Hands in an answer; one that nobody waits for is dropped.
    pub(crate) fn answer(&self, id: &Id, answer: Answer) {
        let sender = self
            .waiting()
            .as_mut()
            .and_then(|waiting| waiting.remove(id));
        if let Some(sender) = sender {
            let _ = sender.send(answer);
        }
    }

    /// Ends all requests: no answer will come.
    pub(crate) fn hang_up(&self) {
        self.waiting().take();
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Option<HashMap<Id, oneshot::Sender<Answer>>>> {
        self.inner
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = self.peer.waiting().as_mut() {
            waiting.remove(&self.id);
        }
    }
}

impl Outbox {
    /// Writes everything, until every [`Peer`] is dropped or writing fails.
    ///
    /// Events go first: those of a call are written before its answer.
    pub(crate) async fn write_to(
        mut self,
        output: impl AsyncWrite + Unpin,
    ) -> Result<(), FrameError> {
        // The caps of a result are the limit; a line that was cut would be no JSON.
        let mut output = FrameWriter::with_limit(output, Framing::NewlineJson, usize::MAX);
        loop {
            tokio::select! {
                biased;
                event = self.events.next() => output.write_json(&event_message(&event)).await?,
                message = self.messages.recv() => {
                    while let Some(event) = self.events.try_next() {
                        output.write_json(&event_message(&event)).await?;
                    }
                    match message {
                        Some(message) => output.write_json(&message).await?,
                        None => return Ok(()),
                    }
                }
            }
        }
    }
}

fn event_message(event: &tiers::Event) -> Value {
    message::notification("event", serde_json::json!(event))
}
