//! Who is asked, and for how long.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use gen_lsp_types::Position;
use host::executable::Rejection;
use host::{Workspace, WorkspacePath};
use serde_json::{Value, json};
use tiers::{CallContext, Run};
use tokio::time::Instant;

use super::LspLimits;
use super::input::Place;
use super::symbol::{self, Aim};
use crate::documents::Document;
use crate::error::Error;
use crate::plan::Candidate;
use crate::port::{Hold, LanguageServers, Lease};
use crate::readiness::Readiness;
use crate::server::{InUse, Look};
use crate::uri;

/// What is left of a call's time to write its result.
const REST: Duration = Duration::from_millis(250);

/// Servers that cannot be used of which it is said what they lack.
const MAX_TOLD: usize = 3;

/// How long a start may take before it is worth a word.
const SILENT: Duration = Duration::from_millis(100);

/// What every part of an answer needs.
pub(super) struct Ask<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) servers: &'a dyn LanguageServers,
    pub(super) context: &'a CallContext,
    pub(super) deadline: Instant,
    ready: Duration,
}

/// A server, and what is to be said of its choice.
pub(super) struct Chosen {
    pub(super) server: InUse,
    pub(super) notes: Vec<String>,
}

/// A place as a server has it.
pub(super) struct Target {
    pub(super) chosen: Chosen,
    pub(super) document: Document,
    pub(super) path: PathBuf,
    pub(super) position: Position,
    pub(super) aim: Aim,
    /// `textDocument` and `position`.
    pub(super) params: Value,
}

/// The servers that a run holds, so that they stay while it thinks.
#[derive(Default)]
struct Holds(Mutex<Vec<Hold>>);

impl<'a> Ask<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        servers: &'a dyn LanguageServers,
        limits: &LspLimits,
        context: &'a CallContext,
    ) -> Self {
        let now = Instant::now();
        let own = now + limits.call;
        let deadline = context.deadline().map_or(own, |deadline| {
            let left = deadline.saturating_duration_since(now);
            own.min(now + left.saturating_sub(REST.min(left / 4)))
        });
        Self {
            workspace,
            servers,
            context,
            deadline,
            ready: limits.ready,
        }
    }

    /// Returns until when a server may take to know the project.
    pub(super) fn ready_deadline(&self) -> Instant {
        self.deadline.min(Instant::now() + self.ready)
    }

    /// Waits until `server` knows the project, and says how far it is.
    pub(super) async fn wait_until_ready(&self, server: &InUse) -> Readiness {
        let until = self.ready_deadline();
        let id = server.id().to_owned();
        server
            .wait_until_ready(until, |readiness| {
                self.context
                    .progress(format!("{id}: {}", readiness.describe()));
            })
            .await
    }

    /// Asks; where the answer is empty and the server may not know the project
    /// yet, waits until it does and asks again. Nothing yet is not nothing.
    ///
    /// Returns the answer, and how far the server was before it.
    pub(super) async fn request<T>(
        &self,
        server: &InUse,
        method: &str,
        params: &Value,
        read: impl Fn(Value) -> T,
        is_empty: impl Fn(&T) -> bool,
    ) -> Result<(T, Readiness), Error> {
        let readiness = server.readiness();
        let answer = read(server.request(method, params, self.deadline).await?);
        if !is_empty(&answer) || readiness.is_settled() {
            return Ok((answer, readiness));
        }
        let readiness = self.wait_until_ready(server).await;
        let answer = read(server.request(method, params, self.deadline).await?);
        Ok((answer, readiness))
    }

    /// Returns the server of a file, started where it does not run.
    pub(super) async fn server(&self, file: &WorkspacePath) -> Result<Chosen, Error> {
        let candidates = self.servers.candidates(file);
        let chosen = candidates.iter().find(|candidate| candidate.is_main());
        let Some(candidate) = chosen else {
            return Err(none_usable(file.relative(), &candidates, self.servers));
        };
        let server = self.lease(candidate).await?;
        let mut notes = self.servers.notes(file.workspace());
        for passed in candidates
            .iter()
            .take_while(|passed| passed.id() != candidate.id())
        {
            notes.extend(left_out(passed));
        }
        notes.extend(left_out(candidate));
        Ok(Chosen { server, notes })
    }

    /// Returns the server of a candidate, and holds it for the run.
    pub(super) async fn lease(&self, candidate: &Candidate) -> Result<InUse, Error> {
        let mut lease = self.servers.lease(candidate, self.deadline);
        let lease = tokio::select! {
            lease = &mut lease => lease?,
            // One that runs is there at once.
            () = tokio::time::sleep(SILENT) => {
                self.context.progress(format!("starting {}", candidate.id()));
                lease.await?
            }
        };
        hold(self.context.run(), &lease);
        Ok(lease.enter())
    }

    /// Returns the server of a place, with the file open and the symbol found.
    pub(super) async fn target(&self, place: &Place, look: Look) -> Result<Target, Error> {
        let chosen = self.server(&place.file).await?;
        let document = chosen.server.open(&place.file, look).await?;
        let file = place.file.relative();
        let aim = symbol::find(&document.text, file, place.line, &place.symbol)?;
        let encoding = chosen.server.encoding();
        let position = encoding
            .position(&document.text, aim.bytes.start)
            .map_err(|error| Error::Place {
                what: format!("cannot point at `{}` in `{file}`", place.symbol),
                why: error.to_string(),
                next: "read the file again and take the line from there".to_owned(),
            })?;
        let params = json!({
            "textDocument": { "uri": uri::from_path(place.file.absolute()) },
            "position": position,
        });
        Ok(Target {
            chosen,
            document,
            path: place.file.absolute().to_owned(),
            position,
            aim,
            params,
        })
    }
}

impl Target {
    /// Returns what is to be said besides the answer.
    pub(super) fn notes(&self) -> Vec<String> {
        let chosen = self.chosen.notes.iter().cloned();
        self.aim.note.iter().cloned().chain(chosen).collect()
    }
}

/// Keeps a server for as long as a run lives.
pub(crate) fn hold(run: &Run, lease: &Lease) {
    let holds = run.state::<Holds>();
    let mut holds = holds
        .0
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let hold = lease.hold();
    if !holds.iter().any(|known| known.is_same(&hold)) {
        holds.push(hold);
    }
}

/// Fails where the server does not offer a method.
pub(super) fn check_offer(
    server: &InUse,
    method: &str,
    provider: &str,
    what: &'static str,
) -> Result<(), Error> {
    if server.offers(method, provider) {
        return Ok(());
    }
    Err(Error::NotOffered {
        server: server.id().to_owned(),
        what,
    })
}

/// Says what was not used because the workspace supplies it.
pub(super) fn left_out(candidate: &Candidate) -> Option<String> {
    let rejected = match &candidate.program {
        Ok(program) => &program.rejected,
        Err(missing) => &missing.rejected,
    };
    let rejected = rejected.iter().find(|r| r.why == Rejection::Untrusted)?;
    Some(rejected.to_string())
}

/// Counts what a candidate lacks.
fn lacking(candidate: &Candidate) -> u8 {
    let missing = [candidate.root.is_err(), candidate.program.is_err()];
    let count = missing.into_iter().filter(|is_missing| *is_missing).count();
    u8::try_from(count).unwrap_or(u8::MAX)
}

/// Says why no server of a file can be used.
pub(super) fn none_usable(
    what: &str,
    candidates: &[Candidate],
    servers: &dyn LanguageServers,
) -> Error {
    if candidates.is_empty() {
        return Error::NoLanguage {
            file: what.to_owned(),
            known: servers.extensions().join(", "),
        };
    }
    let mut why = Vec::new();
    let mut next = Vec::new();
    let mut is_root_missing = false;
    let main = candidates.iter().filter(|candidate| !candidate.row.linter);
    let main: Vec<&Candidate> = main.collect();
    // Those that lack least; the others only by name.
    let least = main.iter().map(|candidate| lacking(candidate)).min();
    let (told, others): (Vec<&Candidate>, Vec<&Candidate>) =
        main.iter().partition(|c| Some(lacking(c)) == least);
    let told = told.into_iter();
    for candidate in told.take(MAX_TOLD) {
        why.push(format!("`{}`: {}", candidate.id(), candidate.lacks()));
        if candidate.root.is_err() {
            is_root_missing = true;
        }
        if candidate.program.is_err() && !candidate.row.install.is_empty() {
            next.push(format!(
                "for `{}`: {}",
                candidate.id(),
                candidate.row.install
            ));
        }
    }
    if !others.is_empty() {
        let mut names: Vec<String> = others.iter().map(|c| format!("`{}`", c.id())).collect();
        names.dedup();
        why.push(format!("less is there of {}", names.join(", ")));
    }
    if next.is_empty() && is_root_missing {
        next.push("add one of these files to the project, or search with other tools".to_owned());
    }
    if candidates
        .iter()
        .any(|candidate| left_out(candidate).is_some())
    {
        next.push("or have the user trust the workspace".to_owned());
    }
    Error::NoneUsable {
        file: what.to_owned(),
        why: why.join("; "),
        next: next.join("; "),
    }
}
