//! The diagnostics of one document, and whether they can be relied on.
//!
//! What a server says of an older text is never taken for the present one.
//! Pulling is free of races and comes first; a push counts when it names the
//! version that was sent, or when it came after the server had surely read it.
//!
//! Source: Language Server Protocol 3.17, "Diagnostics".

pub(crate) mod flycheck;
pub(crate) mod tsserver;

use std::time::Duration;

use host::WorkspacePath;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::documents::Document;
use crate::error::Error;
use crate::readiness::Readiness;
use crate::row::Diagnostics;
use crate::seen::Progress;
use crate::server::{InUse, Look};
use crate::uri;

const METHOD: &str = "textDocument/diagnostic";
/// How long a server may take to register that it can be asked.
const REGISTRATION: Duration = Duration::from_secs(1);
/// How long a push may take.
const PUSH: Duration = Duration::from_secs(20);

/// How long a server that names no versions may take to publish about a text
/// that it has surely read.
const SILENCE: Duration = Duration::from_millis(300);

/// Whether diagnostics can be relied on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They are all there are for the text as it is.
    Fresh,
    /// Some are missing: which.
    Partial(String),
    /// Nothing is known: why.
    Unknown(String),
}

/// What one server says of one document.
#[derive(Debug)]
pub(crate) struct Report {
    /// As the server gave them.
    pub(crate) items: Vec<Value>,
    pub(crate) verdict: Verdict,
    /// The text that they are about.
    pub(crate) document: Document,
}

/// Asks a server for the diagnostics of a file; waits until `deadline`.
pub(crate) async fn of_file(
    server: &InUse,
    file: &WorkspacePath,
    deadline: Instant,
) -> Result<Report, Error> {
    let document = server.open(file, Look::Always).await?;
    let own = own(server, file, document, deadline).await?;
    whole(server, file, own, deadline).await
}

/// Asks a server for what it finds itself in a document that is open.
pub(crate) async fn own(
    server: &InUse,
    file: &WorkspacePath,
    document: Document,
    deadline: Instant,
) -> Result<Report, Error> {
    let (items, verdict) = match server.diagnostics() {
        Diagnostics::Offered | Diagnostics::Flycheck => {
            offered(server, file, &document, deadline).await?
        }
        Diagnostics::Tsserver => tsserver::ask(server, file, deadline).await?,
    };
    Ok(Report {
        items,
        verdict,
        document,
    })
}

/// Adds what the last check of the files on the disk found, without a new one.
pub(crate) fn with_last_check(server: &InUse, file: &WorkspacePath, mut own: Report) -> Report {
    if server.diagnostics() == Diagnostics::Flycheck {
        flycheck::add_last(server, file, &mut own.items);
    }
    own
}

/// Adds what only a check of the files on the disk finds, where there is one.
pub(crate) async fn whole(
    server: &InUse,
    file: &WorkspacePath,
    own: Report,
    deadline: Instant,
) -> Result<Report, Error> {
    if server.diagnostics() != Diagnostics::Flycheck {
        return Ok(own);
    }
    let found = (own.items, own.verdict);
    let (items, verdict) = checked(server, file, deadline, found).await?;
    Ok(Report {
        items,
        verdict,
        document: own.document,
    })
}

async fn offered(
    server: &InUse,
    file: &WorkspacePath,
    document: &Document,
    deadline: Instant,
) -> Result<(Vec<Value>, Verdict), Error> {
    let identifiers = wait_for_identifiers(server, file, deadline).await;
    if identifiers.is_empty() {
        pushed(server, file, document, deadline).await
    } else {
        pull(server, file, &identifiers, deadline).await
    }
}

/// Adds what a check finds to what the server says itself.
async fn checked(
    server: &InUse,
    file: &WorkspacePath,
    deadline: Instant,
    (mut items, verdict): (Vec<Value>, Verdict),
) -> Result<(Vec<Value>, Verdict), Error> {
    let missing = flycheck::add(server, file, deadline, &mut items).await?;
    let verdict = match (verdict, missing) {
        (verdict, None) => verdict,
        (Verdict::Fresh, Some(missing)) => Verdict::Partial(missing),
        (Verdict::Partial(why), Some(missing)) => Verdict::Partial(format!("{why}; {missing}")),
        (Verdict::Unknown(why), Some(missing)) => Verdict::Unknown(format!("{why}; {missing}")),
    };
    Ok((items, verdict))
}

/// Returns the identifiers to pull with, `None` for the one without a name;
/// nothing where the server only pushes.
fn identifiers(server: &InUse) -> Vec<Option<String>> {
    let mut found: Vec<Option<String>> = Vec::new();
    let fixed = server.capabilities().options("diagnosticProvider").cloned();
    let registered = server.registrations().of(METHOD);
    for options in fixed.into_iter().chain(registered) {
        let name = options.get("identifier").and_then(Value::as_str);
        let name = name.map(str::to_owned);
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// A server may register right after it was initialized.
async fn wait_for_identifiers(
    server: &InUse,
    file: &WorkspacePath,
    deadline: Instant,
) -> Vec<Option<String>> {
    let mut changes = server.seen().changes();
    let left = REGISTRATION.saturating_sub(server.uptime());
    let until = deadline.min(Instant::now() + left);
    loop {
        let found = identifiers(server);
        let has_pushed = server.seen().published(file.absolute()).is_some();
        if !found.is_empty() || has_pushed {
            return found;
        }
        if tokio::time::timeout_at(until, changes.changed())
            .await
            .is_err()
        {
            return identifiers(server);
        }
    }
}

async fn pull(
    server: &InUse,
    file: &WorkspacePath,
    identifiers: &[Option<String>],
    deadline: Instant,
) -> Result<(Vec<Value>, Verdict), Error> {
    // Before it has read its configuration it answers for another one.
    let readiness = server.wait_until_ready(deadline, |_| {}).await;
    let mut items = Vec::new();
    let mut missing = Vec::new();
    let mut answered = 0;
    for identifier in identifiers {
        let mut params = json!({
            "textDocument": { "uri": uri::from_path(file.absolute()) },
        });
        if let (Some(params), Some(name)) = (params.as_object_mut(), identifier) {
            params.insert("identifier".to_owned(), json!(name));
        }
        match server.request(METHOD, &params, deadline).await {
            Ok(mut report) => match report.get_mut("items").map(Value::take) {
                Some(Value::Array(more)) => {
                    items.extend(more);
                    answered += 1;
                }
                _ => missing.push("a report without items".to_owned()),
            },
            Err(error @ (Error::NoAnswer { .. } | Error::Refused { .. })) => {
                missing.push(error.describe());
            }
            Err(error) => return Err(error),
        }
    }
    if let Readiness::Loading { .. } = readiness {
        missing.push(format!("the server is still {}", readiness.describe()));
    }
    Ok((items, verdict(answered, &missing)))
}

fn verdict(answered: usize, missing: &[String]) -> Verdict {
    match (answered, missing) {
        (0, missing) => Verdict::Unknown(missing.join("; ")),
        (_, []) => Verdict::Fresh,
        (_, missing) => Verdict::Partial(missing.join("; ")),
    }
}

async fn pushed(
    server: &InUse,
    file: &WorkspacePath,
    document: &Document,
    deadline: Instant,
) -> Result<(Vec<Value>, Verdict), Error> {
    let path = file.absolute();
    let begun = Instant::now();
    let until = deadline.min(begun + PUSH);
    let mut changes = server.seen().changes();
    // Where versions are missing: what comes after its reply is about our text.
    let mut barrier: Option<(u64, Instant)> = None;
    let mut wants_barrier = false;
    let pass = pass_barrier(server, file, until);
    tokio::pin!(pass);
    loop {
        changes.mark_unchanged();
        let published = server.seen().published(path);
        let mark = document.sent_after;
        let published = published.filter(|push| push.number > mark);
        // One that still works on the text publishes again.
        let progress = server.seen().progress_of(path, mark);
        let (published, settles) = match progress {
            Progress::Done => (published, None),
            Progress::DoneAt(at) if at <= Instant::now() || !document.has_new_includes => {
                (published, None)
            }
            Progress::DoneAt(at) => (None, Some(at)),
            Progress::Busy => (None, None),
        };
        let mut look_again = settles.map_or(until, |at| at.min(until));
        if let Some(push) = published {
            let quiet_at = push.at + server.seen().quiet(path);
            let is_quiet = Instant::now() >= quiet_at;
            if !is_quiet {
                look_again = quiet_at.min(until);
            }
            match push.version {
                Some(version) if version >= document.version => {
                    if is_quiet {
                        if document.has_new_includes {
                            server.settle(file, document, begun).await;
                        }
                        return Ok((push.items.to_vec(), Verdict::Fresh));
                    }
                }
                Some(_) if server.seen().echoes_versions() => {}
                named => {
                    wants_barrier = true;
                    if let Some((passed, at)) = barrier {
                        let is_ours =
                            push.number > passed || server.has_seen_no_edit(document).await;
                        if is_quiet && is_ours {
                            return Ok((push.items.to_vec(), Verdict::Fresh));
                        }
                        // One that names versions may be about to name this one.
                        let silent_at = at + SILENCE * if named.is_some() { 2 } else { 1 };
                        look_again = look_again.min(silent_at.max(quiet_at));
                        if is_quiet && Instant::now() >= silent_at {
                            let missing = "the server does not say which text it read; \
                                           an edit of the last moment may be missing";
                            return Ok((push.items.to_vec(), Verdict::Partial(missing.to_owned())));
                        }
                    }
                }
            }
        }
        if Instant::now() >= until {
            let why = match server.readiness() {
                readiness @ Readiness::Loading { .. } => format!(
                    "it published nothing about this text in time, and is {}",
                    readiness.describe()
                ),
                Readiness::Proven | Readiness::Assumed | Readiness::Never(_) => {
                    "it published nothing about this text in time".to_owned()
                }
            };
            return Ok((Vec::new(), Verdict::Unknown(why)));
        }
        tokio::select! {
            _ = changes.changed() => {}
            passed = &mut pass, if wants_barrier && barrier.is_none() => {
                passed?;
                barrier = Some((server.seen().publishes(), Instant::now()));
            }
            () = server.wait_until_closed() => {
                // Asking says how it ended.
                server.request(METHOD, &Value::Null, until).await?;
            }
            () = tokio::time::sleep_until(look_again) => {}
        }
    }
}

/// Asks something cheap: its reply shows that the server has read the text.
async fn pass_barrier(
    server: &InUse,
    file: &WorkspacePath,
    deadline: Instant,
) -> Result<(), Error> {
    let document = json!({ "uri": uri::from_path(file.absolute()) });
    let method = "textDocument/documentSymbol";
    if !server.offers(method, "documentSymbolProvider") {
        return Ok(());
    }
    let params = json!({ "textDocument": document });
    match server.request(method, &params, deadline).await {
        Ok(_) | Err(Error::Refused { .. } | Error::NoAnswer { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
