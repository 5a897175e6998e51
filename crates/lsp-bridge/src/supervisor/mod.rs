//! Keeps one server process per root, server, executable and configuration.

mod slot;
mod tables;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use host::process::Environment;
use host::{Workspace, WorkspacePath};
use ignore::WalkBuilder;
use tokio::time::Instant;

use crate::error::Error;
use crate::lookups::Lookups;
use crate::plan::{Candidate, Plan, ServerKey, candidate};
use crate::port::{LanguageServers, Lease, Reloaded, ServerPhase};
use crate::servers::Catalogue;
use slot::Slot;
use tables::Tables;

/// Entries of a workspace that a survey looks at.
const MAX_SURVEYED: usize = 50_000;

/// How long servers may take and stay, and how many there may be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SupervisorLimits {
    /// How long a server may take to answer `initialize`; 45 s.
    pub initialize: Duration,
    /// How long a server that a run holds may be idle; 10 min.
    pub idle: Duration,
    /// How long one that no run holds may be idle; 1 min.
    pub idle_unheld: Duration,
    /// How many servers may run; 8. One that is idle makes room.
    pub servers: usize,
    /// The first and the longest pause after a failure; 1 s and 5 min.
    pub back_off: (Duration, Duration),
    /// How often a server may fail within 10 minutes; 5.
    pub failures: usize,
}

impl Default for SupervisorLimits {
    fn default() -> Self {
        Self {
            initialize: Duration::from_secs(45),
            idle: Duration::from_secs(600),
            idle_unheld: Duration::from_secs(60),
            servers: 8,
            back_off: (Duration::from_secs(1), Duration::from_secs(300)),
            failures: 5,
        }
    }
}

/// The default [`LanguageServers`]: starts servers when they are needed, shares
/// them, restarts those that crash and ends those that nobody uses.
///
/// Belongs to the harness process, not to a run. Servers end when it is dropped.
#[derive(Debug)]
pub struct Supervisor {
    catalogue: Arc<Catalogue>,
    environment: Environment,
    limits: SupervisorLimits,
    lookups: Lookups,
    /// The tables that workspaces have of their own.
    tables: Tables,
    slots: Mutex<HashMap<ServerKey, Arc<Slot>>>,
}

impl Supervisor {
    /// Builds a supervisor; servers see `environment` and nothing else.
    #[must_use]
    pub fn new(catalogue: Catalogue, environment: Environment) -> Self {
        Self::with_limits(catalogue, environment, SupervisorLimits::default())
    }

    /// Builds a supervisor with other limits.
    #[must_use]
    pub fn with_limits(
        catalogue: Catalogue,
        environment: Environment,
        limits: SupervisorLimits,
    ) -> Self {
        Self {
            catalogue: Arc::new(catalogue),
            environment,
            limits,
            lookups: Lookups::default(),
            tables: Tables::default(),
            slots: Mutex::default(),
        }
    }

    fn plan(&self, candidate: &Candidate) -> Result<Arc<Plan>, Error> {
        candidate
            .plan(&self.environment)
            .ok_or_else(|| Error::NoneUsable {
                file: candidate.id().to_owned(),
                why: candidate.lacks(),
                next: candidate.row.install.clone(),
            })
    }

    /// Returns the slot of a plan; a new one makes room among the idle.
    fn slot(&self, plan: &Plan) -> Result<Arc<Slot>, Error> {
        let mut slots = self.lock();
        let known = slots.get(&plan.key).cloned();
        if let Some(slot) = &known
            && slot.is_running()
        {
            return Ok(Arc::clone(slot));
        }
        let running = slots.values().filter(|slot| slot.is_running());
        if running.count() >= self.limits.servers {
            make_room(&slots, plan, self.limits.servers)?;
        }
        let limits = self.limits.clone();
        let slot = known.unwrap_or_else(|| Arc::new(Slot::new(limits)));
        slots.insert(plan.key.clone(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<ServerKey, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the server that was idle longest.
fn make_room(
    slots: &HashMap<ServerKey, Arc<Slot>>,
    plan: &Plan,
    limit: usize,
) -> Result<(), Error> {
    let idle = slots
        .values()
        .filter_map(|slot| Some((slot.idle_for()?, slot)));
    match idle.max_by_key(|(idle, _)| *idle) {
        Some((_, slot)) => {
            slot.end();
            Ok(())
        }
        None => Err(Error::TooMany {
            server: plan.row.id.clone(),
            limit,
        }),
    }
}

#[async_trait]
impl LanguageServers for Supervisor {
    fn candidates(&self, file: &WorkspacePath) -> Vec<Candidate> {
        let catalogue = self.tables.of(&self.catalogue, file.workspace());
        (self.lookups).candidates(&catalogue, file, &self.environment)
    }

    fn forget(&self) {
        self.lookups.forget();
    }

    fn notes(&self, workspace: &Workspace) -> Vec<String> {
        let note = self.tables.note(&self.catalogue, workspace);
        note.into_iter().collect()
    }

    fn extensions(&self) -> Vec<String> {
        self.catalogue.extensions()
    }

    fn survey(&self, workspace: &Workspace) -> Vec<Candidate> {
        let catalogue = self.tables.of(&self.catalogue, workspace);
        let folders = folders_with_files(workspace, &catalogue);
        let mut surveyed: Vec<Candidate> = Vec::new();
        for (row, folders) in catalogue.rows().iter().zip(folders) {
            for folder in folders {
                let Ok(folder) = workspace.resolve_path(&folder) else {
                    continue;
                };
                let found = candidate(row, &folder, &self.environment);
                let is_known = |known: &Candidate| known.id() == row.id && same_root(known, &found);
                if !surveyed.iter().any(is_known) {
                    surveyed.push(found);
                }
            }
        }
        surveyed
    }

    async fn lease(&self, candidate: &Candidate, deadline: Instant) -> Result<Lease, Error> {
        let plan = self.plan(candidate)?;
        self.slot(&plan)?.lease(&plan, deadline).await
    }

    fn phase(&self, candidate: &Candidate) -> ServerPhase {
        let Ok(plan) = self.plan(candidate) else {
            return ServerPhase::NotStarted;
        };
        let slot = self.lock().get(&plan.key).cloned();
        slot.map_or(ServerPhase::NotStarted, |slot| slot.describe())
    }

    async fn reload(&self, candidate: &Candidate, deadline: Instant) -> Result<Reloaded, Error> {
        let plan = self.plan(candidate)?;
        self.slot(&plan)?.reload(&plan, deadline).await
    }
}

fn same_root(one: &Candidate, other: &Candidate) -> bool {
    match (&one.root, &other.root) {
        (Ok(one), Ok(other)) => one.folder == other.folder,
        // Where there is none, one line says so for all folders.
        (Err(_), Err(_)) => true,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

/// Returns for each server the folders that hold files in its languages.
fn folders_with_files(workspace: &Workspace, catalogue: &Catalogue) -> Vec<BTreeSet<PathBuf>> {
    let mut folders = vec![BTreeSet::new(); catalogue.rows().len()];
    let mut walk = WalkBuilder::new(workspace.root());
    walk.git_global(false).require_git(false);
    for entry in walk.build().filter_map(Result::ok).take(MAX_SURVEYED) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        for (row, folders) in catalogue.rows().iter().zip(&mut folders) {
            if row.language(entry.path()).is_some()
                && let Some(folder) = entry.path().parent().map(Path::to_owned)
            {
                folders.insert(folder);
            }
        }
    }
    folders
}
