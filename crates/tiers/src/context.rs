//! What a call knows of itself: its run, its place among the calls, its token
//! and deadline, its events, and the way back into the dispatch.

mod open;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::registry::HoldState;
pub use open::{CallDispatch, OpenCall};

use crate::{Call, CallId, Dispatch, Event, EventKind, EventSink, Hold, Outcome, Run, ToolError};

/// Kept of the output of a call, for the case that it ends without a result.
const TAIL_BYTES: usize = 32 * 1024;

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done.
    pub message: String,
    /// Units done so far.
    pub done: Option<u64>,
    /// Units in all.
    pub total: Option<u64>,
}

impl Progress {
    /// Builds a progress report without counters.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            done: None,
            total: None,
        }
    }

    /// Sets how many units are done.
    #[must_use]
    pub fn done(mut self, done: u64) -> Self {
        self.done = Some(done);
        self
    }

    /// Sets how many units there are in all.
    #[must_use]
    pub fn total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self
    }
}

impl From<String> for Progress {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Progress {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

/// One link of the chain from a call to the calls it is nested in.
#[derive(Debug)]
pub(crate) struct Link {
    id: CallId,
    hold: OnceLock<Weak<HoldState>>,
    parent: Option<Arc<Link>>,
}

impl Link {
    pub(crate) fn new(id: CallId, parent: Option<Arc<Link>>) -> Self {
        Self {
            id,
            hold: OnceLock::new(),
            parent,
        }
    }

    /// Notes what this call holds; a call is admitted once.
    pub(crate) fn hold(&self, hold: &Hold) {
        let _ = self.hold.set(hold.downgrade());
    }

    fn current_hold(&self) -> Option<Hold> {
        self.hold.get().and_then(Hold::upgrade)
    }

    fn ancestors(&self) -> impl Iterator<Item = &Link> {
        std::iter::successors(self.parent.as_deref(), |link| link.parent.as_deref())
    }
}

/// What one call knows of itself; owned and cheap to clone.
#[derive(Clone)]
pub struct CallContext {
    state: Arc<CallState>,
}

struct CallState {
    run: Arc<Run>,
    tool: String,
    link: Arc<Link>,
    token: CancellationToken,
    deadline: OnceLock<Instant>,
    events: Option<Arc<dyn EventSink>>,
    started: Instant,
    stream: Mutex<Stream>,
    /// Taken when the call ends, so that a context that outlives its call
    /// neither calls anything nor keeps a registry alive.
    dispatch: Mutex<Option<Arc<dyn Dispatch>>>,
    /// Work that must not be cut in half, of this call and of those nested in it.
    owned: TaskTracker,
    /// The same of the calls around this one.
    owned_above: Vec<TaskTracker>,
}

#[derive(Default)]
struct Stream {
    sequence: u64,
    is_finished: bool,
    chunks: usize,
    dropped: u64,
    tail: String,
    tail_is_cut: bool,
}

impl CallContext {
    /// Builds the context of a call outside any dispatch: for tests of a tool.
    ///
    /// It has no deadline, and nothing to call back into.
    #[must_use]
    pub fn detached(run: &Arc<Run>) -> Self {
        let call = Call::new("detached", Value::Null);
        Self::new(run, &call, run.events().cloned(), None)
    }

    pub(crate) fn new(
        run: &Arc<Run>,
        call: &Call,
        events: Option<Arc<dyn EventSink>>,
        dispatch: Option<Arc<dyn Dispatch>>,
    ) -> Self {
        let parent = call.parent();
        let base = parent.map_or(run.token(), |parent| &parent.state.token);
        let above = parent.map(|parent| &parent.state.link).or(run.origin());
        Self {
            state: Arc::new(CallState {
                run: Arc::clone(run),
                tool: call.name().to_owned(),
                link: Arc::new(Link::new(call.id().clone(), above.cloned())),
                token: base.child_token(),
                deadline: OnceLock::new(),
                events,
                started: Instant::now(),
                stream: Mutex::default(),
                dispatch: Mutex::new(dispatch),
                owned: TaskTracker::new(),
                owned_above: parent.map(CallContext::trackers).unwrap_or_default(),
            }),
        }
    }

    /// Returns the run.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.state.run
    }

    /// Returns a handle on the run that can be kept.
    #[must_use]
    pub fn run_handle(&self) -> &Arc<Run> {
        &self.state.run
    }

    /// Returns the name of the tool that was called.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.state.tool
    }

    /// Returns the id of this call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.state.link.id
    }

    /// Returns the ids of the calls this one is nested in, outermost first;
    /// empty for a call of the model.
    #[must_use]
    pub fn parents(&self) -> Vec<CallId> {
        let mut ids: Vec<CallId> = self
            .state
            .link
            .ancestors()
            .map(|link| link.id.clone())
            .collect();
        ids.reverse();
        ids
    }

    /// Returns the token of this call; nested calls are cancelled with it, and
    /// it is cancelled when the call ends.
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        &self.state.token
    }

    /// Returns when the call is cancelled for having taken too long.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.state.deadline.get().copied()
    }

    /// Reports how far the call is; never blocks.
    pub fn progress(&self, progress: impl Into<Progress>) {
        self.emit(EventKind::Progress(progress.into()));
    }

    /// Reports a piece of output as it comes; never blocks.
    ///
    /// When the call ends without a result (cancelled, timed out), the end of
    /// what was reported here becomes its partial output.
    pub fn output(&self, chunk: impl Into<String>) {
        let text = chunk.into();
        if !text.is_empty() {
            self.emit(EventKind::Output {
                text,
                dropped_before: 0,
            });
        }
    }

    /// Returns the way back into the dispatch, stamped with this call as parent.
    ///
    /// After the call has ended it answers that no call is running.
    #[must_use]
    pub fn dispatch(&self) -> CallDispatch {
        CallDispatch {
            context: self.clone(),
        }
    }

    /// Returns the group this call holds, to keep it longer than the call: it
    /// is free again when the last [`Hold`] is dropped.
    #[must_use]
    pub fn hold(&self) -> Option<Hold> {
        self.state.link.current_hold()
    }

    /// Runs `work` to its end, whatever happens to the call: for a change that
    /// must not be cut in half.
    ///
    /// # Errors
    /// `Cancelled` when the call was cancelled before; then `work` never
    /// starts. `Internal` when `work` panicked.
    ///
    /// # Cancel
    /// Acts before or after `work`, never within: the run owns it, and the
    /// call's grace is extended until it is done.
    pub async fn run_to_completion<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, ToolError> {
        if self.state.token.is_cancelled() {
            return Err(
                ToolError::cancelled(format!("`{}` was cancelled", self.tool()))
                    .why("before it changed anything"),
            );
        }
        let hold = self.hold();
        let tracked: Vec<_> = self.trackers().iter().map(TaskTracker::token).collect();
        let work = async move {
            let done = work.await;
            // Until here the resource is busy, and no call around this one gives up.
            drop(hold);
            drop(tracked);
            done
        };
        self.state.run.tasks().spawn(work).await.map_err(|error| {
            ToolError::internal(format!(
                "`{}` failed in the middle of its work",
                self.tool()
            ))
            .source(error)
        })
    }

    fn trackers(&self) -> Vec<TaskTracker> {
        let above = self.state.owned_above.iter();
        above.chain([&self.state.owned]).cloned().collect()
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.state.link
    }

    pub(crate) fn depth(&self) -> usize {
        self.state.link.ancestors().count()
    }

    /// Returns a group that a call around this one holds.
    pub(crate) fn held_by_ancestor(&self) -> Option<Hold> {
        self.state.link.ancestors().find_map(Link::current_hold)
    }

    pub(crate) fn set_deadline(&self, deadline: Instant) {
        let _ = self.state.deadline.set(deadline);
    }

    /// Waits until no work that must not be cut in half is left.
    pub(crate) async fn wait_for_owned_work(&self) {
        self.state.owned.close();
        self.state.owned.wait().await;
        self.state.owned.reopen();
    }

    pub(crate) fn has_owned_work(&self) -> bool {
        !self.state.owned.is_empty()
    }

    /// Returns the end of what the call reported, and whether more came before.
    pub(crate) fn take_tail(&self) -> Option<(String, bool)> {
        let mut stream = self
            .state
            .stream
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let tail = std::mem::take(&mut stream.tail);
        (!tail.trim().is_empty()).then_some((tail, stream.tail_is_cut))
    }

    pub(crate) fn emit(&self, kind: EventKind) {
        let mut stream = self
            .state
            .stream
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if stream.is_finished {
            return;
        }
        let mut kind = kind;
        match &mut kind {
            EventKind::Output { text, .. } => {
                stream.remember(text);
                stream.chunks += 1;
                if stream.chunks > self.state.run.limits().output_events {
                    stream.dropped += 1;
                    stream.sequence += 1;
                    return;
                }
            }
            EventKind::Finished { dropped_chunks, .. } => {
                stream.is_finished = true;
                *dropped_chunks = stream.dropped;
            }
            EventKind::Started { .. } | EventKind::Progress(_) => {}
        }
        let event = Event {
            run: self.state.run.id().clone(),
            call: self.call_id().clone(),
            parent: self
                .state
                .link
                .parent
                .as_ref()
                .map(|parent| parent.id.clone()),
            sequence: stream.sequence,
            kind,
        };
        stream.sequence += 1;
        if let Some(events) = &self.state.events {
            // Under the lock: events of one call arrive in order.
            events.emit(event);
        }
    }

    fn finish(&self, outcome: Outcome) {
        let elapsed = self.state.started.elapsed();
        self.emit(EventKind::Finished {
            outcome,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            dropped_chunks: 0,
        });
        let dispatch = self
            .state
            .dispatch
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(dispatch);
        self.state.token.cancel();
    }
}

impl Stream {
    fn remember(&mut self, text: &str) {
        self.tail.push_str(text);
        if self.tail.len() > 2 * TAIL_BYTES {
            let mut cut = self.tail.len() - TAIL_BYTES;
            while !self.tail.is_char_boundary(cut) {
                cut += 1;
            }
            self.tail.drain(..cut);
            self.tail_is_cut = true;
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("tool", &self.state.tool)
            .field("call_id", self.call_id())
            .field("parents", &self.parents())
            .finish_non_exhaustive()
    }
}
