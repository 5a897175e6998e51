//! Events of calls: started, progress, output chunks, exactly one finished.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::{CallId, ErrorKind, Progress, RunId};

/// One event of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Event {
    /// The run the call belongs to.
    pub run: RunId,
    /// The call.
    pub call: CallId,
    /// The call it is nested in.
    pub parent: Option<CallId>,
    /// Counts the events of this call from 0; a gap means dropped output.
    pub sequence: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
#[non_exhaustive]
pub enum EventKind {
    /// The call was received; always the first.
    Started {
        /// The name as it was called, which need not be a tool's.
        tool: String,
        /// The arguments as they came.
        args: Value,
    },
    /// How far the call is.
    Progress(Progress),
    /// A piece of output, as it came.
    Output {
        /// The text; pieces need not be whole lines.
        text: String,
        /// Pieces that were dropped right before this one.
        dropped_before: u64,
    },
    /// The call is over; always the last, and exactly one.
    Finished {
        /// How it ended.
        outcome: Outcome,
        /// Milliseconds since it started, waiting included.
        elapsed_ms: u64,
        /// Pieces of output that were dropped in all.
        dropped_chunks: u64,
    },
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "kind")]
pub enum Outcome {
    /// With an output.
    Succeeded,
    /// With an error.
    Failed(ErrorKind),
    /// Its caller went away and it was dropped.
    Dropped,
}

/// Port: where events go.
pub trait EventSink: Send + Sync {
    /// Takes an event; never blocks, and is called in the order of `sequence`
    /// for each call. [`EventQueue`] is a sink for readers that may be slow.
    fn emit(&self, event: Event);
}

/// A bounded queue of events between calls and one reader.
///
/// When the reader is slow only output pieces are dropped, the oldest first,
/// and the next piece and the `finished` event say how many. Progress nobody
/// has read yet is replaced by newer progress of the same call when the queue
/// is full, since it is a state and not a log. `started` and `finished` are
/// always kept.
#[derive(Debug)]
pub struct EventQueue {
    queued: Mutex<Queued>,
    ready: Notify,
    capacity: usize,
}

/// Output waiting in a queue may have this many bytes for each place in it.
const BYTES_PER_PLACE: usize = 4 * 1024;

#[derive(Debug, Default)]
struct Queued {
    events: VecDeque<Event>,
    output_bytes: usize,
    /// Per call: pieces dropped since the last one delivered, and in all.
    dropped: HashMap<CallId, (u64, u64)>,
}

impl EventQueue {
    /// Builds a queue that holds `capacity` events, and output of 4 KiB for each.
    #[must_use]
    pub fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self {
            queued: Mutex::default(),
            ready: Notify::new(),
            capacity: capacity.max(1),
        })
    }

    /// Waits for the next event.
    ///
    /// # Cancel
    /// Dropping the future loses nothing.
    pub async fn next(&self) -> Event {
        loop {
            // Registered before looking, so that no event is slept through.
            let ready = self.ready.notified();
            if let Some(event) = self.try_next() {
                return event;
            }
            ready.await;
        }
    }

    /// Takes the next event if there is one.
    pub fn try_next(&self) -> Option<Event> {
        let mut queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
        let mut event = queued.events.pop_front()?;
        match &mut event.kind {
            EventKind::Output {
                text,
                dropped_before,
            } => {
                queued.output_bytes -= text.len();
                if let Some((recent, _)) = queued.dropped.get_mut(&event.call) {
                    *dropped_before += std::mem::take(recent);
                }
            }
            EventKind::Finished { dropped_chunks, .. } => {
                if let Some((_, total)) = queued.dropped.remove(&event.call) {
                    *dropped_chunks += total;
                }
            }
            EventKind::Started { .. } | EventKind::Progress(_) => {}
        }
        Some(event)
    }
}

impl Queued {
    /// Drops the oldest output piece; returns whether there was one.
    fn drop_oldest_output(&mut self) -> bool {
        let is_output = |event: &Event| matches!(event.kind, EventKind::Output { .. });
        let Some(at) = self.events.iter().position(is_output) else {
            return false;
        };
        let Some(event) = self.events.remove(at) else {
            return false;
        };
        if let EventKind::Output {
            text,
            dropped_before,
        } = &event.kind
        {
            self.output_bytes -= text.len();
            let (recent, total) = self.dropped.entry(event.call).or_default();
            // What was dropped before this piece is now before the next one,
            // and is counted in `finished` by whoever dropped it.
            *recent += 1 + dropped_before;
            *total += 1;
        }
        true
    }
}

impl EventSink for EventQueue {
    fn emit(&self, event: Event) {
        let mut queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
        if queued.events.len() >= self.capacity && matches!(event.kind, EventKind::Progress(_)) {
            queued.events.retain(|old| {
                old.call != event.call || !matches!(old.kind, EventKind::Progress(_))
            });
        }
        if let EventKind::Output { text, .. } = &event.kind {
            queued.output_bytes += text.len();
        }
        queued.events.push_back(event);
        while (queued.events.len() > self.capacity
            || queued.output_bytes > self.capacity.saturating_mul(BYTES_PER_PLACE))
            && queued.drop_oldest_output()
        {}
        drop(queued);
        self.ready.notify_one();
    }
}
