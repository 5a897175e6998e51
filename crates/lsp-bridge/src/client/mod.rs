//! The client's side of the conversation with one server, over any byte stream.
//!
//! Three things never wait for each other: a task that reads, a task that
//! writes, and the callers. Whatever the server asks is answered in the loop
//! that read it, by a [`Peer`] that must not block.
//!
//! Source: Language Server Protocol 3.17, "Base Protocol".

mod error;
mod message;
mod pending;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use host::framing::{FrameError, FrameReader, FrameWriter, Framing};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

pub(crate) use error::RequestError;
use message::Message;
pub(crate) use message::{METHOD_NOT_FOUND, ResponseError};
use pending::Pending;

/// Bytes that may wait to be written: a server that does not read must not fill
/// our memory. A few of the largest documents fit.
const MAX_QUEUED: usize = 64 * 1024 * 1024;

/// Why a conversation is over where nobody broke the rules.
pub(crate) const OUTPUT_CLOSED: &str = "it closed its output";

/// The first pause before a request is sent again, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Who answers what a server asks and hears what it says.
pub(crate) trait Peer: Send + Sync + 'static {
    /// Answers a request of the server, at once.
    fn answer(&self, method: &str, params: &Value) -> Result<Value, ResponseError>;
    /// Hears a notification, and does not wait for anything.
    fn hear(&self, method: &str, params: Value);
}

/// A conversation with one server; ends when it is dropped.
pub(crate) struct Client {
    shared: Arc<Shared>,
    _reader: AbortOnDropHandle<()>,
    _writer: AbortOnDropHandle<()>,
}

struct Shared {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    queued: Arc<AtomicUsize>,
    pending: Pending,
    /// Why nothing will come any more, once nothing will.
    closed: watch::Sender<Option<Arc<str>>>,
}

impl Client {
    /// Starts to speak with the server behind a stream; must be called in a
    /// runtime.
    pub(crate) fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        peer: Arc<dyn Peer>,
    ) -> Self {
        // Bounded by `MAX_QUEUED`: senders must not wait for a stuck server.
        let (outgoing, to_write) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            outgoing,
            queued: Arc::default(),
            pending: Pending::default(),
            closed: watch::Sender::new(None),
        });
        let writing = write_all(writer, to_write, Arc::clone(&shared.queued));
        let reading = read_all(reader, Arc::clone(&shared), peer);
        Self {
            shared,
            _reader: AbortOnDropHandle::new(tokio::spawn(reading)),
            _writer: AbortOnDropHandle::new(tokio::spawn(writing)),
        }
    }

    /// Sends a request and waits for its result until `deadline`.
    ///
    /// Where the server says that the contents changed or that it gave up for
    /// now, the request is sent again, with pauses, inside the deadline.
    ///
    /// # Errors
    /// The server refuses, the deadline passes, or the conversation is over.
    ///
    /// # Cancel
    /// The server is told, and a late reply is dropped.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, RequestError> {
        let mut pause = RETRY.0;
        loop {
            let refused = match self.request_once(method, params, deadline).await {
                Err(RequestError::Refused(error)) if error.wants_retry() => error,
                done => return done,
            };
            if Instant::now() + pause >= deadline {
                return Err(RequestError::Refused(refused));
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(RETRY.1);
        }
    }

    async fn request_once(
        &self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, RequestError> {
        let (mut waiting, reply) = self.shared.pending.register(&self.shared);
        let mut message = json!({ "jsonrpc": "2.0", "id": waiting.id(), "method": method });
        put_params(&mut message, params);
        self.shared.send(&message)?;
        let mut closed = self.shared.closed.subscribe();
        tokio::select! {
            biased;
            reply = reply => {
                waiting.is_done();
                match reply {
                    Ok(reply) => reply.map_err(RequestError::Refused),
                    Err(_) => Err(self.shared.why_closed()),
                }
            }
            _ = closed.wait_for(Option::is_some) => {
                waiting.is_done();
                Err(self.shared.why_closed())
            }
            () = tokio::time::sleep_until(deadline) => Err(RequestError::Timeout {
                method: method.to_owned(),
            }),
        }
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// The conversation is over, or the server has long stopped reading.
    pub(crate) fn notify(&self, method: &str, params: &Value) -> Result<(), RequestError> {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        put_params(&mut message, params);
        self.shared.send(&message)
    }

    /// Returns how many requests wait for their reply.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.pending.len()
    }

    /// Returns something that tells when, and why, the conversation is over.
    pub(crate) fn closed(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.shared.closed.subscribe()
    }

    /// Returns whether the conversation is over.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.closed.borrow().is_some()
    }
}

/// A request without parameters has no such member: some servers refuse `null`.
fn put_params(message: &mut Value, params: &Value) {
    if !params.is_null()
        && let Some(members) = message.as_object_mut()
    {
        members.insert("params".to_owned(), params.clone());
    }
}

impl Shared {
    fn send(&self, message: &Value) -> Result<(), RequestError> {
        if self.closed.borrow().is_some() {
            return Err(self.why_closed());
        }
        let bytes = message.to_string().into_bytes();
        let queued = self.queued.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        if queued > MAX_QUEUED {
            self.queued.fetch_sub(bytes.len(), Ordering::Relaxed);
            return Err(RequestError::NotReading { queued });
        }
        match self.outgoing.send(bytes) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.why_closed()),
        }
    }

    fn why_closed(&self) -> RequestError {
        let why = self.closed.borrow().clone();
        RequestError::Closed {
            why: why.unwrap_or_else(|| "it closed its input".into()),
        }
    }

    fn close(&self, why: &str) {
        self.closed.send_if_modified(|closed| {
            let is_first = closed.is_none();
            if is_first {
                *closed = Some(why.into());
            }
            is_first
        });
    }
}

async fn write_all(
    writer: impl AsyncWrite + Unpin,
    mut to_write: mpsc::UnboundedReceiver<Vec<u8>>,
    queued: Arc<AtomicUsize>,
) {
    let mut writer = FrameWriter::new(writer, Framing::ContentLength);
    while let Some(bytes) = to_write.recv().await {
        let written = writer.write(&bytes).await;
        queued.fetch_sub(bytes.len(), Ordering::Relaxed);
        if let Err(error) = written {
            // The reader sees the end too.
            tracing::debug!(%error, "a server takes no more input");
            return;
        }
    }
}

async fn read_all(reader: impl AsyncRead + Unpin, shared: Arc<Shared>, peer: Arc<dyn Peer>) {
    let mut reader = FrameReader::new(reader, Framing::ContentLength);
    let why = loop {
        let frame = match reader.next().await {
            Ok(Some(frame)) => frame,
            Ok(None) => break OUTPUT_CLOSED.to_owned(),
            Err(error @ FrameError::TooLarge { .. }) => {
                tracing::warn!(%error, "a message of a server was skipped");
                continue;
            }
            Err(error) => break format!("its output is no conversation: {error}"),
        };
        match Message::parse(&frame) {
            Ok(message) => take(message, &shared, &*peer),
            Err(error) => tracing::debug!(%error, bytes = frame.len(), "a message was no message"),
        }
    };
    shared.close(&why);
}

fn take(message: Message, shared: &Shared, peer: &dyn Peer) {
    match message {
        Message::Response { id, result } => {
            if !shared.pending.settle(id, result) {
                tracing::debug!(id, "a late or unknown reply was dropped");
            }
        }
        Message::Failure(error) => tracing::debug!(%error, "an error belongs to no request"),
        Message::Notification { method, params } => peer.hear(&method, params),
        Message::Request { id, method, params } => {
            let reply = match peer.answer(&method, &params) {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": {
                    "code": error.code, "message": error.message,
                } }),
            };
            if let Err(error) = shared.send(&reply) {
                tracing::debug!(%error, method, "a request of a server stays unanswered");
            }
        }
    }
}

#[cfg(test)]
mod tests;
