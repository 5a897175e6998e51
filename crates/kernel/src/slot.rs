//! The kernels of one conversation, one for each language.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use host::process::Exit;
use tiers::{CallContext, Group, ToolError};
use tokio::sync::Mutex as AsyncMutex;
use tokio_util::task::AbortOnDropHandle;

use crate::cell::{self, CellReport, End};
use crate::error::Error;
use crate::factory::{KernelFactory, Language};
use crate::memory::MemoryLimits;
use crate::process::Kernel;

/// The limits of kernels and their cells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelLimits {
    /// How long an interpreter may take to be ready; 30 seconds.
    pub start: Duration,
    /// How long a cell may be idle, where a call does not say; 5 minutes.
    pub idle: Duration,
    /// How long a cell may run, waiting for tools left out; 1 hour.
    pub ceiling: Duration,
    /// How long an interpreter stays without a cell; for ever by default. The
    /// next result says that it was closed.
    pub unused: Option<Duration>,
    /// Calls of tools that one cell may make; 1,000.
    pub calls_per_cell: usize,
    /// Calls of tools that run at once; 32, more wait.
    pub calls_at_once: usize,
    /// Memory of an interpreter and its children.
    pub memory: MemoryLimits,
    /// Bytes of the file with the whole output of one cell; 64 MiB.
    pub output_file_bytes: u64,
}

impl Default for KernelLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            idle: Duration::from_secs(300),
            ceiling: Duration::from_secs(3600),
            unused: None,
            calls_per_cell: 1000,
            calls_at_once: 32,
            memory: MemoryLimits::of_machine(),
            output_file_bytes: 64 * 1024 * 1024,
        }
    }
}

/// The kernels of one conversation, started when first needed.
///
/// Dropping it ends them with all their children.
pub struct Kernels {
    factory: Arc<dyn KernelFactory>,
    limits: KernelLimits,
    slots: Mutex<BTreeMap<Language, Arc<Slot>>>,
}

/// The place of one kernel.
struct Slot {
    group: Arc<Group>,
    state: AsyncMutex<State>,
}

#[derive(Default)]
struct State {
    kernel: Option<Kernel>,
    /// Where the last one ran.
    place: Option<String>,
    /// Closes it when it stays unused.
    closer: Option<AbortOnDropHandle<()>>,
    /// The one before was closed, after this long without a cell.
    was_unused: Option<Duration>,
}

/// An interpreter that was started for a cell.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) why: WhyStarted,
    /// Where the one before ran, if somewhere else.
    pub(crate) moved_from: Option<String>,
}

/// Why an interpreter was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhyStarted {
    First,
    Reset,
    /// The one before ended, in a cell.
    Lost,
    /// The one before was closed, after this long without a cell.
    Unused(Duration),
    /// The one before ended between two cells.
    Ended(Exit),
}

/// What a call asks of a kernel.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) language: Language,
    pub(crate) code: String,
    pub(crate) reset: bool,
    /// How long the cell may be idle.
    pub(crate) idle: Option<Duration>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) report: CellReport,
    pub(crate) started: Option<Started>,
    pub(crate) version: String,
    pub(crate) executable: String,
    pub(crate) place: String,
    /// Whether the interpreter is there for the next cell.
    pub(crate) is_alive: bool,
}

impl Kernels {
    /// Builds the kernels of a conversation; starts nothing.
    #[must_use]
    pub fn new(factory: Arc<dyn KernelFactory>, limits: KernelLimits) -> Arc<Self> {
        Arc::new(Self {
            factory,
            limits,
            slots: Mutex::default(),
        })
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &KernelLimits {
        &self.limits
    }

    /// Returns the languages there are interpreters for.
    #[must_use]
    pub fn languages(&self) -> Vec<Language> {
        self.factory.languages()
    }

    /// Ends every kernel that no cell uses, letting it run what it has
    /// registered for its end; those in use end when this is dropped.
    pub async fn close(&self) {
        let slots: Vec<Arc<Slot>> = self.lock().values().cloned().collect();
        for slot in slots {
            let kernel = match slot.state.try_lock() {
                Ok(mut state) => state.kernel.take(),
                Err(_) => None,
            };
            if let Some(kernel) = kernel {
                kernel.close().await;
            }
        }
    }

    /// Returns the group in which calls for `language` run one after the other.
    pub(crate) fn group(&self, language: Language) -> Arc<Group> {
        Arc::clone(&self.slot(language).group)
    }

    /// Runs one cell; the caller holds the group.
    pub(crate) async fn run(
        &self,
        request: Request,
        context: &CallContext,
    ) -> Result<Ran, ToolError> {
        let slot = self.slot(request.language);
        let mut state = slot.state.lock().await;
        state.closer = None;
        let mut started = None;
        if let Some(why) = state.needs_start(request.reset).await {
            started = Some(
                self.start(&mut state, why, request.language, context)
                    .await?,
            );
        }
        let Some(kernel) = &mut state.kernel else {
            return Err(Error::NotAttached {
                language: request.language,
            }
            .into());
        };
        let (version, executable) = (kernel.version.clone(), kernel.executable.clone());
        let idle = request.idle.unwrap_or(self.limits.idle);
        let report = cell::run(kernel, &request.code, idle, &self.limits, context).await?;
        let is_alive = matches!(report.end, End::Done(_));
        if !is_alive && let Some(kernel) = state.kernel.take() {
            kernel.kill().await;
        }
        if let (Some(limit), true) = (self.limits.unused, is_alive) {
            let closer = tokio::spawn(close_unused(Arc::downgrade(&slot), limit));
            state.closer = Some(AbortOnDropHandle::new(closer));
        }
        Ok(Ran {
            report,
            started,
            version,
            executable,
            place: state.place.clone().unwrap_or_default(),
            is_alive,
        })
    }

    async fn start(
        &self,
        state: &mut State,
        why: WhyStarted,
        language: Language,
        context: &CallContext,
    ) -> Result<Started, ToolError> {
        let place = self.factory.place(language).await?;
        context.progress(format!("starting {language}"));
        let kernel = Kernel::start(&place, self.limits.start, context.token()).await?;
        context.progress("running the cell");
        state.kernel = Some(kernel);
        let before = state.place.replace(place.name.clone());
        Ok(Started {
            why,
            moved_from: before.filter(|before| *before != place.name),
        })
    }

    fn slot(&self, language: Language) -> Arc<Slot> {
        let mut slots = self.lock();
        let slot = slots.entry(language).or_insert_with(|| {
            Arc::new(Slot {
                group: Group::new(format!("{language} kernel")),
                state: AsyncMutex::default(),
            })
        });
        Arc::clone(slot)
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Language, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the kernel of `slot` after `limit`, unless a cell comes before.
async fn close_unused(slot: Weak<Slot>, limit: Duration) {
    tokio::time::sleep(limit).await;
    let Some(slot) = slot.upgrade() else {
        return;
    };
    let mut state = slot.state.lock().await;
    if let Some(kernel) = state.kernel.take() {
        state.was_unused = Some(limit);
        kernel.close().await;
    }
}

impl State {
    /// Returns why an interpreter has to be started, if it has to; one that is
    /// of no use any more is gone then.
    async fn needs_start(&mut self, reset: bool) -> Option<WhyStarted> {
        let unused = self.was_unused.take();
        let Some(kernel) = self.kernel.take() else {
            return Some(match (&self.place, unused) {
                (None, _) => WhyStarted::First,
                (Some(_), _) if reset => WhyStarted::Reset,
                (Some(_), Some(limit)) => WhyStarted::Unused(limit),
                (Some(_), None) => WhyStarted::Lost,
            });
        };
        if reset {
            kernel.kill().await;
            return Some(WhyStarted::Reset);
        }
        if let Some(exit) = kernel.exit.exit() {
            kernel.kill().await;
            return Some(WhyStarted::Ended(exit));
        }
        self.kernel = Some(kernel);
        None
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
