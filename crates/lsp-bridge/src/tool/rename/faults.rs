//! Errors and warnings that a rename brought.

use std::collections::HashMap;
use std::time::Duration;

use host::WorkspacePath;
use tokio::time::Instant;

use super::details::RenameDiagnosticDetails;
use super::draft::{Changed, Names};
use crate::diagnostics::{Report, Verdict, of_file};
use crate::on_write::note_told;
use crate::server::InUse;
use crate::tool::ask::Ask;
use crate::tool::details::{DiagnosticDetails, VerdictDetails};
use crate::tool::diagnose;

/// Files that are looked at.
const MAX_FILES: usize = 20;
/// How long that may take before the files change, and after.
const BEFORE: Duration = Duration::from_secs(3);
const AFTER: Duration = Duration::from_secs(5);
/// How long a server that pushes must be silent before it is believed.
const SILENCE: Duration = Duration::from_millis(700);

/// The faults of files before they changed.
pub(super) struct Faults {
    files: Vec<(WorkspacePath, Option<Vec<DiagnosticDetails>>)>,
}

/// What is new.
pub(super) struct NewFaults {
    pub(super) faults: Vec<RenameDiagnosticDetails>,
    pub(super) verdict: VerdictDetails,
    pub(super) checked: usize,
    /// Files whose faults from before are not known.
    pub(super) without_before: usize,
}

impl Faults {
    /// Looks at files that are about to change, `first` before the others.
    pub(super) async fn before(
        changed: &[Changed],
        first: &WorkspacePath,
        server: &InUse,
        deadline: Instant,
    ) -> Self {
        let until = deadline.min(Instant::now() + BEFORE);
        let mut paths: Vec<&WorkspacePath> = changed
            .iter()
            .filter(|one| one.is_kept && server.language(one.path.absolute()).is_some())
            .map(|one| &one.path)
            .collect();
        paths.sort_by_key(|path| path.absolute() != first.absolute());
        let mut files = Vec::new();
        for path in paths.into_iter().take(MAX_FILES) {
            let known = match look(path, server, until).await {
                Ok((faults, Verdict::Fresh)) => Some(faults),
                // One that is new, or that nothing is known of.
                Ok(_) | Err(_) => None,
            };
            files.push((path.clone(), known));
        }
        Self { files }
    }

    /// Looks at them again.
    pub(super) async fn after(self, names: &Names, server: &InUse, ask: &Ask<'_>) -> NewFaults {
        let until = ask.deadline.min(Instant::now() + AFTER);
        self.settle(server, until).await;
        let mut new = NewFaults {
            faults: Vec::new(),
            verdict: VerdictDetails::Fresh,
            checked: 0,
            without_before: 0,
        };
        let mut missing = Vec::new();
        for (path, before) in self.files {
            if Instant::now() >= until {
                missing.push("there was no time for all of them".to_owned());
                break;
            }
            let (faults, verdict) = match report(&path, server, until).await {
                Ok(report) => {
                    // Those that are new are told here, and not again by a write.
                    note_told(ask.context.run(), server, &path, &report);
                    (faults_of(&report, server), report.verdict)
                }
                Err(why) => (Vec::new(), Verdict::Unknown(why)),
            };
            match verdict {
                Verdict::Fresh => new.checked += 1,
                Verdict::Partial(why) => {
                    new.checked += 1;
                    missing.push(format!("{path}: {why}"));
                }
                Verdict::Unknown(why) => missing.push(format!("{path}: {why}")),
            }
            new.without_before += usize::from(before.is_none());
            let added = added(before.unwrap_or_default(), faults, names);
            let named = added.into_iter().map(|diagnostic| RenameDiagnosticDetails {
                path: path.relative().to_owned(),
                diagnostic,
            });
            new.faults.extend(named);
        }
        if !missing.is_empty() {
            let why = missing.join("; ");
            new.verdict = match new.checked {
                0 => VerdictDetails::Unknown { why },
                _ => VerdictDetails::Partial { missing: why },
            };
        }
        new
    }
}

impl Faults {
    /// Waits until a server that pushes has said all it has to say of the files.
    ///
    /// One that reads what a file includes behind its back first publishes what
    /// it thinks with the old text of that, and names the right version.
    async fn settle(&self, server: &InUse, until: Instant) {
        if server.offers("textDocument/diagnostic", "diagnosticProvider") {
            return;
        }
        for (path, _) in &self.files {
            if Instant::now() >= until || look(path, server, until).await.is_err() {
                return;
            }
        }
        let mut last = server.seen().publishes();
        loop {
            tokio::time::sleep_until(until.min(Instant::now() + SILENCE)).await;
            let now = server.seen().publishes();
            if now == last || Instant::now() >= until {
                return;
            }
            last = now;
        }
    }
}

/// Returns errors and warnings of a file.
async fn look(
    path: &WorkspacePath,
    server: &InUse,
    until: Instant,
) -> Result<(Vec<DiagnosticDetails>, Verdict), String> {
    let report = report(path, server, until).await?;
    Ok((faults_of(&report, server), report.verdict))
}

async fn report(path: &WorkspacePath, server: &InUse, until: Instant) -> Result<Report, String> {
    let report = of_file(server, path, until).await;
    report.map_err(|error| error.describe())
}

fn faults_of(report: &Report, server: &InUse) -> Vec<DiagnosticDetails> {
    let faults = report.items.iter();
    let faults = faults.map(|item| diagnose::read(item, report, server.encoding()));
    let faults = faults.filter(|fault| matches!(&*fault.severity, "error" | "warning"));
    faults.collect()
}

/// Returns what was not there before, whatever line it moved to. A message that
/// names the old name and one that names the new one are the same.
fn added(
    before: Vec<DiagnosticDetails>,
    after: Vec<DiagnosticDetails>,
    names: &Names,
) -> Vec<DiagnosticDetails> {
    let key = |one: &DiagnosticDetails| {
        let message = one.message.replace(&names.new, &names.old);
        (one.severity.clone(), one.code.clone(), message)
    };
    let mut known: HashMap<_, usize> = HashMap::new();
    for one in &before {
        *known.entry(key(one)).or_default() += 1;
    }
    let mut added = after;
    added.retain(|one| match known.get_mut(&key(one)) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        Some(0) | None => true,
    });
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_under_the_old_name_is_not_new() {
        let names = Names {
            old: "add".to_owned(),
            new: "plus".to_owned(),
        };
        let fault = |line, message: &str| DiagnosticDetails {
            severity: "error".to_owned(),
            line,
            column: 1,
            code: None,
            source: None,
            message: message.to_owned(),
        };
        let before = vec![fault(1, "`add` is odd"), fault(2, "x")];
        let after = vec![
            fault(3, "`plus` is odd"),
            fault(4, "x"),
            fault(5, "x"),
            fault(6, "`plus` hides another"),
        ];
        assert_eq!(
            added(before, after, &names),
            [fault(5, "x"), fault(6, "`plus` hides another")]
        );
    }
}
