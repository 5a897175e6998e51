//! The requests that wait for their reply.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Shared;
use super::message::ResponseError;

type Reply = Result<Value, ResponseError>;

/// All requests without a reply, by their id.
#[derive(Default)]
pub(super) struct Pending {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    waiting: HashMap<u64, oneshot::Sender<Reply>>,
}

/// One request; when it is dropped before its reply, the server is told.
pub(super) struct Waiting {
    id: u64,
    shared: Arc<Shared>,
    is_done: bool,
}

impl Pending {
    /// Gives a request its id.
    pub(super) fn register(&self, shared: &Arc<Shared>) -> (Waiting, oneshot::Receiver<Reply>) {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.lock();
        state.last += 1;
        let id = state.last;
        state.waiting.insert(id, sender);
        let shared = Arc::clone(shared);
        (
            Waiting {
                id,
                shared,
                is_done: false,
            },
            receiver,
        )
    }

    /// Hands a reply to whoever waits for it; `false` where nobody does.
    pub(super) fn settle(&self, id: u64, reply: Reply) -> bool {
        let waiting = self.lock().waiting.remove(&id);
        waiting.is_some_and(|sender| sender.send(reply).is_ok())
    }

    pub(super) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Notes that there is nothing to cancel any more.
    pub(super) fn is_done(&mut self) {
        self.is_done = true;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.shared.pending.lock().waiting.remove(&self.id);
        if !self.is_done {
            let message = json!({
                "jsonrpc": "2.0",
                "method": "$/cancelRequest",
                "params": { "id": self.id },
            });
            // A server that is gone needs no word.
            let _ = self.shared.send(&message);
        }
    }
}
