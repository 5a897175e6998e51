//! Diagnostics in the result of whatever writes files.
//!
//! After a write, each file is shown to its language servers as it is on the
//! disk, and the errors and warnings that are new are added to the result of the
//! tool that wrote. A report that does not come within the budget reaches the
//! model with a later result, once.

mod check;
mod details;
mod ledger;
mod others;
mod state;
mod text;

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use host::{Workspace, WorkspacePath};
use serde_json::{Value, json};
use tiers::{
    Admission, CallContext, Content, Run, Tier, TimeLimit, Tool, ToolError, ToolOutput, ToolSpec,
};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

pub use self::details::{OnWriteDetails, OnWriteServer, WriteDiagnostic};
use crate::diagnostics::{Report, Verdict, own, whole, with_last_check};
use crate::plan::{Candidate, asked_for_faults};
use crate::port::{LanguageServers, ServerPhase};
use crate::server::{InUse, Written};
use check::Check;
use state::{FileReport, Told, Watch};

/// The member of a result's details that holds [`OnWriteDetails`].
const MEMBER: &str = "language_servers";
/// How long a server that owes an answer may take before writes do not wait for
/// it any more.
const PATIENCE: Duration = Duration::from_secs(3);
/// The part of the budget that goes into a server that owes an answer.
const OWED_PART: u32 = 5;
/// The part of the budget that what was there before a write may take.
const BEFORE_PART: u32 = 3;
/// What is left of a call's time for its result.
const REST: Duration = Duration::from_millis(100);

/// How long diagnostics may hold up a write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OnWriteLimits {
    /// How much longer a write may take; 1.5 s. With 0 nothing is asked.
    pub budget: Duration,
    /// How long a server may take until its report is given up; 60 s. With 0
    /// there are no late reports, for a run that makes one call only.
    pub late: Duration,
    /// How much of it may go into files that were not written; 300 ms. With 0 they
    /// are not looked at.
    pub others: Duration,
}

impl Default for OnWriteLimits {
    fn default() -> Self {
        Self {
            budget: Duration::from_millis(1500),
            late: Duration::from_secs(60),
            others: Duration::from_millis(300),
        }
    }
}

type PathsOf = dyn Fn(&Value) -> Vec<String> + Send + Sync;
type TouchedOf = dyn Fn(&Value, &ToolOutput) -> Vec<String> + Send + Sync;

/// A tool that writes files, with what language servers say of them in its
/// result.
///
/// It has the name, schema and tier of the tool inside. It never makes a failure
/// of a success, and never makes a call wait longer than its budget.
pub struct DiagnosticsOnWrite {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
    workspace: Workspace,
    servers: Arc<dyn LanguageServers>,
    limits: OnWriteLimits,
    paths: Option<Arc<PathsOf>>,
    touched: Option<Arc<TouchedOf>>,
}

/// The files of a call that servers care for.
struct Claimed {
    written: Written,
    candidates: Vec<Candidate>,
}

/// A check that the call waits for; dropped without being taken, its report
/// comes later.
struct Waiting {
    watch: Arc<Watch>,
    run: Weak<Run>,
    server: String,
    number: u64,
    done: Arc<tokio::sync::Notify>,
    /// For how long it is waited.
    patience: Duration,
    is_taken: bool,
}

impl DiagnosticsOnWrite {
    /// Wraps a tool that writes files of `workspace`.
    ///
    /// Which files a call will write is what [`Tool::paths`] says, and which it
    /// wrote is [`ToolOutput::touched`].
    #[must_use]
    pub fn new(
        tool: Arc<dyn Tool>,
        workspace: Workspace,
        servers: Arc<dyn LanguageServers>,
    ) -> Self {
        let spec = with_details(tool.spec());
        Self {
            tool,
            spec,
            workspace,
            servers,
            limits: OnWriteLimits::default(),
            paths: None,
            touched: None,
        }
    }

    /// Sets how long a write may be held up.
    #[must_use]
    pub fn limits(mut self, limits: OnWriteLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Says which files a call will write, for a tool whose `paths` does not.
    #[must_use]
    pub fn paths_from(
        mut self,
        paths: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.paths = Some(Arc::new(paths));
        self
    }

    /// Says which files a call wrote, for a tool whose result does not; given
    /// are its arguments and its result.
    #[must_use]
    pub fn touched_from(
        mut self,
        touched: impl Fn(&Value, &ToolOutput) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.touched = Some(Arc::new(touched));
        self
    }

    /// Returns those of `paths` that are in the workspace and that servers can
    /// be asked about.
    fn claimed(&self, paths: &[String], before: &HashMap<String, bool>) -> Vec<Claimed> {
        let mut claimed: Vec<Claimed> = Vec::new();
        for path in paths {
            let Ok(file) = self.workspace.resolve(path) else {
                continue;
            };
            if claimed.iter().any(|known| known.written.file == file) {
                continue;
            }
            let candidates = self.servers.candidates(&file);
            let candidates: Vec<Candidate> = asked_for_faults(&candidates).cloned().collect();
            if !candidates.is_empty() {
                let was_there = before.get(file.relative()).copied();
                claimed.push(Claimed {
                    written: Written {
                        was_there: was_there.unwrap_or(false),
                        file,
                    },
                    candidates,
                });
            }
        }
        claimed
    }

    /// Learns what servers that run say of files before they are written.
    async fn before(&self, files: &[Claimed], watch: &Watch, until: Instant) {
        for (candidate, files) in by_server(files) {
            let id = &candidate.label();
            for written in files.iter().filter(|written| !written.was_there) {
                if watch.wants_baseline(id, &written.file) {
                    watch.learn(id, FileReport::empty(&written.file, Verdict::Fresh));
                }
            }
            let is_running = matches!(self.servers.phase(candidate), ServerPhase::Running(_));
            // What it owes would be taken for what was there before.
            if !is_running || watch.is_owing(id) {
                continue;
            }
            let Ok(lease) = self.servers.lease(candidate, until).await else {
                continue;
            };
            let server = lease.enter();
            let mut is_first = false;
            for written in &files {
                if !watch.wants_baseline(id, &written.file) {
                    continue;
                }
                is_first = true;
                let is_surveyed = watch.is_surveyed(id);
                let report = baseline(&server, &written.file, is_surveyed, until);
                if let Some(report) = report.await {
                    watch.learn(id, report);
                }
            }
            if is_first && !self.limits.others.is_zero() {
                let until = until.min(Instant::now() + self.limits.others);
                others::before(&server, &self.workspace, &files, watch, until).await;
            }
        }
    }

    /// Starts a check at each server.
    fn start(&self, files: &[Claimed], watch: &Arc<Watch>, context: &CallContext) -> Vec<Waiting> {
        let run = context.run_handle();
        let mut waiting = Vec::new();
        for (candidate, files) in by_server(files) {
            let id = candidate.label();
            let begun = watch.begin(&id, files, run);
            let is_starting = !matches!(self.servers.phase(candidate), ServerPhase::Running(_));
            let patience = match begun.owes_since {
                None => self.limits.budget,
                // An earlier write has waited for it.
                Some(since) if is_starting || since.elapsed() > PATIENCE => Duration::ZERO,
                Some(_) => self.limits.budget / OWED_PART,
            };
            let check = Check {
                servers: Arc::clone(&self.servers),
                candidate: candidate.clone(),
                workspace: self.workspace.clone(),
                run: Arc::downgrade(run),
                watch: Arc::downgrade(watch),
                number: begun.number,
                files: begun.files,
                limit: self.limits.late.max(self.limits.budget),
                others: self.limits.others,
            };
            let task = AbortOnDropHandle::new(tokio::spawn(check.run()));
            watch.keep(&id, begun.number, task);
            waiting.push(Waiting {
                watch: Arc::clone(watch),
                run: Arc::downgrade(run),
                server: id,
                number: begun.number,
                done: begun.done,
                patience,
                is_taken: false,
            });
        }
        waiting
    }

    fn paths_of(&self, args: &Value) -> Vec<String> {
        match &self.paths {
            Some(paths) => paths(args),
            None => self.tool.paths(args),
        }
    }
}

#[async_trait]
impl Tool for DiagnosticsOnWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn paths(&self, args: &Value) -> Vec<String> {
        self.paths_of(args)
    }

    fn admission(&self, args: &Value) -> Admission {
        self.tool.admission(args)
    }

    fn time_limit(&self, args: &Value) -> TimeLimit {
        self.tool.time_limit(args)
    }

    fn check_arguments(&self, args: &Value) -> Result<(), ToolError> {
        self.tool.check_arguments(args)
    }

    async fn call(&self, args: Value, context: &CallContext) -> Result<ToolOutput, ToolError> {
        if self.limits.budget.is_zero() {
            return self.tool.call(args, context).await;
        }
        let watch = context.run().state::<Watch>();
        let start = Instant::now();
        let paths = self.paths_of(&args);
        let was_there = self.were_there(&paths);
        let claimed = self.claimed(&paths, &was_there);
        let until = start + self.limits.budget / BEFORE_PART;
        tokio::select! {
            biased;
            () = context.token().cancelled() => {}
            // What is waited for has a limit of its own; a lock may not.
            _ = tokio::time::timeout_at(until, self.before(&claimed, &watch, until)) => {}
        }
        let left = self.limits.budget.saturating_sub(start.elapsed());
        let given = self.touched.is_some().then(|| args.clone());
        let output = self.tool.call(args, context).await?;
        let touched = match (&self.touched, &given) {
            (Some(touched), Some(args)) => touched(args, &output),
            _ => output.touched.clone(),
        };
        let claimed = self.claimed(&touched, &was_there);
        if claimed.is_empty() {
            return Ok(output);
        }
        let start = Instant::now();
        let mut told = Vec::new();
        for mut waiting in self.start(&claimed, &watch, context) {
            let patience = waiting.patience.min(left);
            let mut until = start + patience;
            if let Some(deadline) = context.deadline() {
                until = until.min(deadline - REST.min(deadline.duration_since(start)));
            }
            tokio::select! {
                biased;
                () = context.token().cancelled() => {
                    // Its report comes with a later result.
                    drop(waiting);
                    continue;
                }
                () = waiting.wait(until) => {}
            }
            let mut one = waiting.take();
            one.is_last |= self.limits.late.is_zero();
            told.push(one);
        }
        Ok(folded(output, &told))
    }
}

impl DiagnosticsOnWrite {
    /// Returns which of the files are there, by their relative paths.
    fn were_there(&self, paths: &[String]) -> HashMap<String, bool> {
        let files = paths
            .iter()
            .filter_map(|path| self.workspace.resolve(path).ok());
        let known = files.map(|file| (file.relative().to_owned(), file.absolute().exists()));
        known.collect()
    }
}

impl std::fmt::Debug for DiagnosticsOnWrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiagnosticsOnWrite")
            .field("tool", &self.spec.name)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Waiting {
    /// Waits until the check is done, or until `until`.
    async fn wait(&self, until: Instant) {
        loop {
            let done = self.done.notified();
            tokio::pin!(done);
            // From here on no notification is missed.
            done.as_mut().enable();
            if self.watch.is_done(&self.server, self.number) {
                return;
            }
            if tokio::time::timeout_at(until, done).await.is_err() {
                return;
            }
        }
    }

    fn take(&mut self) -> Told {
        self.is_taken = true;
        self.watch.take(&self.server, self.number)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_taken {
            self.watch.abandon(&self.server, self.number, &self.run);
        }
    }
}

/// Notes that a run was told, in another way, all that a server reports of a file.
pub(crate) fn note_told(run: &Run, server: &InUse, file: &WorkspacePath, report: &Report) {
    let report = check::read(file, report, server, false);
    run.state::<Watch>().know(&server.label(), report);
}

/// Returns each server with the files it is asked about.
fn by_server(files: &[Claimed]) -> Vec<(&Candidate, Vec<Written>)> {
    let mut servers: Vec<(&Candidate, Vec<Written>)> = Vec::new();
    for claimed in files {
        for candidate in &claimed.candidates {
            let known = servers
                .iter_mut()
                .find(|(known, _)| known.label() == candidate.label());
            match known {
                Some((_, files)) => files.push(claimed.written.clone()),
                None => servers.push((candidate, vec![claimed.written.clone()])),
            }
        }
    }
    servers
}

/// Returns what a server says of a file that is about to be written.
async fn baseline(
    server: &InUse,
    file: &WorkspacePath,
    is_surveyed: bool,
    until: Instant,
) -> Option<FileReport> {
    let document = server.open_alone(file).await.ok()?;
    let own = own(server, file, document, until).await.ok()?;
    let report = match is_surveyed {
        // Nothing was written since the last check that was not told.
        true => with_last_check(server, file, own),
        false => whole(server, file, own, until).await.ok()?,
    };
    let known = check::read(file, &report, server, false);
    (!matches!(known.verdict, Verdict::Unknown(_))).then_some(known)
}

/// Adds what was told to a result; the tool's own text comes first.
fn folded(mut output: ToolOutput, told: &[Told]) -> ToolOutput {
    let block = text::block(told);
    if !block.is_empty() {
        output.content.push(Content::Text(block));
    }
    let details = serde_json::to_value(text::details(told));
    match (&mut output.details, details) {
        (Value::Object(members), Ok(details)) => {
            members.entry(MEMBER).or_insert(details);
        }
        (Value::Null, Ok(details)) => output.details = json!({ "version": 1, MEMBER: details }),
        (_, Ok(_)) => {}
        (_, Err(error)) => tracing::error!(%error, "the details of a report have no form in JSON"),
    }
    output
}

/// Adds what a result may hold besides to a tool's spec.
fn with_details(inner: &ToolSpec) -> ToolSpec {
    let mut spec = inner.clone();
    let own = ToolSpec::from_schema("x", Tier::Write, "", "", Value::Null);
    let own = own.with_details::<OnWriteDetails>().details_schema;
    let Some(own) = own else {
        return spec;
    };
    let schema = spec.details_schema.get_or_insert_with(|| {
        json!({
            "type": "object",
            "properties": { "version": { "type": "integer" } },
        })
    });
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.entry(MEMBER).or_insert(own);
    }
    spec
}
