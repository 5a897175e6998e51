//! The check of one server after a write.

use std::sync::{Arc, Weak};
use std::time::Duration;

use host::{Workspace, WorkspacePath};
use tiers::Run;
use tokio::time::Instant;

use super::others;
use super::state::{Checked, FileReport, Watch};
use crate::diagnostics::{Report, Verdict, own, whole};
use crate::error::Error;
use crate::plan::Candidate;
use crate::port::LanguageServers;
use crate::row::Diagnostics;
use crate::server::{InUse, Written};
use crate::tool::{diagnose, hold};

/// For how long a server that publishes is listened to after its report.
const SECOND_THOUGHTS: Duration = Duration::from_secs(1);

/// A check that runs beside the call that wrote, and may outlast it.
pub(super) struct Check {
    pub(super) servers: Arc<dyn LanguageServers>,
    pub(super) candidate: Candidate,
    pub(super) workspace: Workspace,
    pub(super) run: Weak<Run>,
    pub(super) watch: Weak<Watch>,
    pub(super) number: u64,
    pub(super) files: Vec<Written>,
    /// How long the server may take in all.
    pub(super) limit: Duration,
    /// How long files that were not written may take.
    pub(super) others: Duration,
}

impl Check {
    pub(super) async fn run(self) {
        let label = self.candidate.label();
        let (checked, server) = match self.check().await {
            Ok((checked, server)) => (checked, Some(server)),
            Err(error) => {
                let failed = Checked {
                    failed: Some(error.describe()),
                    ..Checked::default()
                };
                (failed, None)
            }
        };
        let known: Vec<WorkspacePath> = written(&checked).cloned().collect();
        let heard = server.as_ref().map(|server| server.seen().publishes());
        if let Some(watch) = self.watch.upgrade() {
            watch.finish(&label, self.number, checked, &self.run);
        }
        let (Some(server), Some(heard)) = (server, heard) else {
            return;
        };
        if others::is_asked(&server) {
            return;
        }
        // One that publishes may have second thoughts.
        let more = listen(&server, &known, heard).await;
        if let (false, Some(watch)) = (more.files.is_empty(), self.watch.upgrade()) {
            watch.add(&label, self.number, &self.files, more, &self.run);
        }
    }

    async fn check(&self) -> Result<(Checked, InUse), Error> {
        let deadline = Instant::now() + self.limit;
        self.note("starting", None);
        let lease = self.servers.lease(&self.candidate, deadline).await?;
        if let Some(run) = self.run.upgrade() {
            hold(&run, &lease);
        }
        let server = lease.enter();
        let heard = server.seen().publishes();
        let documents = server.wrote(&self.files).await?;
        self.note(&doing(&server), None);
        let mut reports = Vec::new();
        let mut files = Vec::new();
        for (written, document) in self.files.iter().zip(documents) {
            let file = &written.file;
            match document {
                Ok(document) => reports.push((file, own(&server, file, document, deadline).await?)),
                // It is gone, and its faults with it.
                Err(_) if !file.absolute().exists() => {
                    files.push(FileReport::empty(file, Verdict::Fresh));
                }
                Err(error) => {
                    files.push(FileReport::empty(file, Verdict::Unknown(error.describe())))
                }
            }
        }
        if reports.len() > 1 && !others::is_asked(&server) {
            // What it published of the first may be without the change of the last.
            let until = deadline.min(Instant::now() + self.others);
            others::wait_for_rest(&server, until).await;
            for (file, report) in &mut reports {
                let document = report.document.clone();
                *report = own(&server, file, document, deadline).await?;
            }
        }
        if server.diagnostics() == Diagnostics::Flycheck && server.lacks().is_none() {
            let missing = Verdict::Partial("`cargo check` has not ended".to_owned());
            let known = reports.iter().map(|(file, report)| {
                let mut known = read(file, report, &server, true);
                known.verdict = missing.clone();
                known
            });
            let known = Checked {
                files: known.collect(),
                ..Checked::default()
            };
            self.note("`cargo check` has not ended", Some(known));
        }
        for (file, own) in reports {
            let report = whole(&server, file, own, deadline).await?;
            files.push(read(file, &report, &server, true));
        }
        if let (false, Some(watch)) = (self.others.is_zero(), self.watch.upgrade()) {
            let until = deadline.min(Instant::now() + self.others);
            let others = others::after(&server, &self.workspace, &self.files, &watch, heard, until);
            files.extend(others.await);
        }
        let checked = Checked {
            files,
            // What it publishes of other files was heard with that.
            is_survey: !self.others.is_zero() && others::is_surveyed(&server),
            failed: None,
        };
        Ok((checked, server))
    }

    fn note(&self, doing: &str, known: Option<Checked>) {
        if let Some(watch) = self.watch.upgrade() {
            watch.meanwhile(&self.candidate.label(), self.number, doing, known);
        }
    }
}

fn written(checked: &Checked) -> impl Iterator<Item = &WorkspacePath> {
    let written = checked.files.iter().filter(|report| report.is_written);
    written.map(|report| &report.file)
}

/// Returns what is published of files for a moment after a mark.
async fn listen(server: &InUse, files: &[WorkspacePath], mark: u64) -> Checked {
    tokio::time::sleep(SECOND_THOUGHTS).await;
    let mut more = Checked::default();
    for file in files {
        let published = server.seen().published(file.absolute());
        if published.is_some_and(|published| published.number > mark)
            && let Ok(document) = server.open_alone(file).await
            && let Ok(report) = own(server, file, document, Instant::now()).await
            && report.verdict == Verdict::Fresh
        {
            more.files.push(read(file, &report, server, true));
        }
    }
    more
}

fn doing(server: &InUse) -> String {
    let readiness = server.readiness();
    match readiness.is_settled() {
        true => String::new(),
        false => readiness.describe(),
    }
}

/// Reads the errors and warnings of a report; each that is there twice, once.
pub(super) fn read(
    file: &WorkspacePath,
    report: &Report,
    server: &InUse,
    is_written: bool,
) -> FileReport {
    let mut faults = Vec::new();
    for item in &report.items {
        let fault = diagnose::read(item, report, server.encoding());
        let is_fault = matches!(&*fault.severity, "error" | "warning");
        if is_fault && !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    FileReport {
        file: file.clone(),
        faults,
        verdict: report.verdict.clone(),
        text: Some(Arc::clone(&report.document.text)),
        is_written,
    }
}
