//! The place of one server: who starts it, who waits, when it ends.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::SupervisorLimits;
use crate::error::Error;
use crate::plan::Plan;
use crate::port::{Hold, Lease, Reloaded, RunningServer, ServerPhase};
use crate::server::Server;

/// Failures older than this are forgotten.
const MEMORY: Duration = Duration::from_secs(600);
/// A pause so short is waited for inside a call.
const SHORT_PAUSE: Duration = Duration::from_secs(2);
/// How long ago a start may have begun that a reload waits for; one that takes
/// longer is ended.
const JOINED: Duration = Duration::from_secs(5);
/// How soon after a reload another one is refused.
const RELOAD_PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Slot {
    limits: SupervisorLimits,
    phase: watch::Sender<Phase>,
    history: Mutex<History>,
    /// One more reference than runs that hold the server.
    share: Arc<()>,
    /// Starts the server, then watches it.
    task: Mutex<Option<AbortOnDropHandle<()>>>,
}

#[derive(Debug, Clone)]
enum Phase {
    Idle,
    Starting(Instant),
    Running(Arc<Server>),
    Failed(Arc<Failure>),
}

#[derive(Debug)]
struct Failure {
    /// What the caller who waits is told; taken by the first.
    error: Mutex<Option<Error>>,
    why: String,
    until: Instant,
}

#[derive(Debug, Default)]
struct History {
    failures: VecDeque<Instant>,
    reloaded: Option<Instant>,
}

impl Slot {
    pub(super) fn new(limits: SupervisorLimits) -> Self {
        Self {
            limits,
            phase: watch::Sender::new(Phase::Idle),
            history: Mutex::default(),
            share: Arc::new(()),
            task: Mutex::default(),
        }
    }

    /// Returns whether a process runs, or will in a moment.
    pub(super) fn is_running(&self) -> bool {
        matches!(*self.phase.borrow(), Phase::Starting(_) | Phase::Running(_))
    }

    /// Returns for how long the server has been idle, if it runs and is.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        match &*self.phase.borrow() {
            Phase::Running(server) => server.idle_for(),
            Phase::Idle | Phase::Starting(_) | Phase::Failed(_) => None,
        }
    }

    /// Ends the server.
    pub(super) fn end(&self) {
        self.phase.send_replace(Phase::Idle);
        lock(&self.task).take();
    }

    pub(super) async fn lease(
        self: Arc<Self>,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<Lease, Error> {
        let server = self.running(plan, deadline).await?;
        Ok(Lease {
            server,
            hold: Hold {
                share: Arc::clone(&self.share),
            },
        })
    }

    /// Waits until the server runs, and starts it where nobody does.
    async fn running(
        self: &Arc<Self>,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<Arc<Server>, Error> {
        let mut phases = self.phase.subscribe();
        let mut has_waited = false;
        loop {
            let phase = phases.borrow_and_update().clone();
            match phase {
                Phase::Running(server) if !server.is_closed() => return Ok(server),
                // The task that watches is about to say why.
                Phase::Running(_) => {}
                Phase::Idle => {
                    self.start(plan);
                    continue;
                }
                Phase::Starting(since) if Instant::now() >= deadline => {
                    return Err(still_starting(plan, since));
                }
                Phase::Starting(_) => has_waited = true,
                Phase::Failed(failure) => {
                    let wait = failure.until.saturating_duration_since(Instant::now());
                    // Who did not wait for that start wants another one.
                    let error = lock(&failure.error).take();
                    if let Some(error) = error.filter(|_| has_waited) {
                        return Err(error);
                    }
                    if wait > SHORT_PAUSE || failure.until >= deadline {
                        return Err(Error::BackingOff {
                            server: plan.row.id.clone(),
                            wait,
                            why: failure.why.clone(),
                        });
                    }
                    tokio::time::sleep_until(failure.until).await;
                    self.start(plan);
                    continue;
                }
            }
            let changed = tokio::time::timeout_at(deadline, phases.changed()).await;
            if changed.is_err() && matches!(*phases.borrow(), Phase::Running(_)) {
                return Err(still_starting(plan, Instant::now()));
            }
        }
    }

    /// Starts the server in a task of its own, unless somebody just did.
    fn start(self: &Arc<Self>, plan: &Plan) {
        let now = Instant::now();
        let is_ours = self.phase.send_if_modified(|phase| {
            let may_start = match phase {
                Phase::Idle => true,
                Phase::Failed(failure) => failure.until <= now,
                Phase::Starting(_) | Phase::Running(_) => false,
            };
            if may_start {
                *phase = Phase::Starting(now);
            }
            may_start
        });
        if is_ours {
            let slot = Arc::downgrade(self);
            let plan = plan.clone();
            let limits = self.limits.clone();
            let task = tokio::spawn(run(slot, plan, limits));
            *lock(&self.task) = Some(AbortOnDropHandle::new(task));
        }
    }

    fn fail(&self, error: Option<Error>, why: String) {
        let mut history = lock(&self.history);
        let now = Instant::now();
        history.failures.push_back(now);
        while let Some(first) = history.failures.front()
            && now.duration_since(*first) > MEMORY
        {
            history.failures.pop_front();
        }
        let count = history.failures.len();
        let until = if count >= self.limits.failures {
            history
                .failures
                .front()
                .map_or(now, |first| *first + MEMORY)
        } else {
            let doubled = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
            let factor = 2_u32.saturating_pow(doubled);
            now + (self.limits.back_off.0 * factor).min(self.limits.back_off.1)
        };
        self.phase.send_replace(Phase::Failed(Arc::new(Failure {
            error: Mutex::new(error),
            why,
            until,
        })));
    }

    pub(super) fn describe(&self) -> ServerPhase {
        match &*self.phase.borrow() {
            Phase::Idle => ServerPhase::NotStarted,
            Phase::Starting(since) => ServerPhase::Starting {
                since: since.elapsed(),
            },
            Phase::Running(server) => ServerPhase::Running(describe(server)),
            Phase::Failed(failure) => ServerPhase::BackingOff {
                wait: failure.until.saturating_duration_since(Instant::now()),
                why: failure.why.clone(),
            },
        }
    }

    pub(super) async fn reload(
        self: Arc<Self>,
        plan: &Plan,
        deadline: Instant,
    ) -> Result<Reloaded, Error> {
        let phase = self.phase.borrow().clone();
        if let Phase::Starting(since) = phase
            && since.elapsed() < JOINED
        {
            let server = self.running(plan, deadline).await?;
            return Ok(Reloaded::Joined {
                started: server.pid(),
            });
        }
        let ended = match &phase {
            Phase::Running(server) => Some(server.pid()),
            Phase::Idle | Phase::Starting(_) | Phase::Failed(_) => None,
        };
        {
            let mut history = lock(&self.history);
            let since = history.reloaded.map(|last| last.elapsed());
            if let Some(since) = since
                && ended.is_some()
                && since < RELOAD_PAUSE
            {
                return Ok(Reloaded::Throttled {
                    wait: RELOAD_PAUSE - since,
                });
            }
            history.reloaded = Some(Instant::now());
            history.failures.clear();
        }
        drop(phase);
        self.end();
        let server = self.running(plan, deadline).await?;
        Ok(Reloaded::Restarted {
            ended,
            started: server.pid(),
        })
    }
}

fn still_starting(plan: &Plan, since: Instant) -> Error {
    Error::StillStarting {
        server: plan.row.id.clone(),
        since: since.elapsed(),
    }
}

fn describe(server: &Arc<Server>) -> RunningServer {
    RunningServer {
        name: server.name().to_owned(),
        pid: server.pid(),
        resident_bytes: server.resident_bytes(),
        open_documents: server.open_documents(),
        uptime: server.uptime(),
        last_latency: server.latency(),
        doing: server.readiness().describe(),
        offers: server.offered(),
    }
}

/// Starts the server and watches it until it ends or nobody needs it.
async fn run(slot: Weak<Slot>, plan: Plan, limits: SupervisorLimits) {
    let started = Server::start(plan, limits.initialize).await;
    let mut closed;
    {
        let Some(slot) = slot.upgrade() else {
            return;
        };
        match started {
            Ok(server) => {
                closed = server.closed();
                slot.phase.send_replace(Phase::Running(Arc::new(server)));
            }
            Err(error) => {
                let why = error.describe();
                slot.fail(Some(error), why);
                return;
            }
        }
    }
    // Often enough for any limit, and seldom enough to cost nothing.
    let every = (limits.idle.min(limits.idle_unheld) / 4).max(Duration::from_millis(10));
    loop {
        tokio::select! {
            _ = closed.wait_for(Option::is_some) => break,
            () = tokio::time::sleep(every) => {}
        }
        let Some(slot) = slot.upgrade() else {
            return;
        };
        let is_held = Arc::strong_count(&slot.share) > 1;
        let limit = if is_held {
            limits.idle
        } else {
            limits.idle_unheld
        };
        if slot.idle_for().is_some_and(|idle| idle >= limit) {
            slot.phase.send_replace(Phase::Idle);
            return;
        }
    }
    let Some(slot) = slot.upgrade() else {
        return;
    };
    let ended = match &*slot.phase.borrow() {
        Phase::Running(server) => Arc::clone(server),
        Phase::Idle | Phase::Starting(_) | Phase::Failed(_) => return,
    };
    let why = ended.last_words().await;
    slot.fail(None, why);
}

/// Nothing panics while it holds one of these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
