//! `status`: which servers can be used here, and why the others cannot.

use std::time::Duration;

use host::WorkspacePath;
use tiers::visible;

use super::LspAction;
use super::ask::{Ask, left_out};
use super::details::{Answer, LspDetails, ServerDetails};
use crate::error::Error;
use crate::plan::Candidate;
use crate::port::{RunningServer, ServerPhase};

/// Characters of a reason that are shown.
const MAX_REASON: usize = 1_500;

pub(super) async fn answer(file: Option<&WorkspacePath>, ask: &Ask<'_>) -> Result<Answer, Error> {
    ask.servers.forget();
    let mut candidates = match file {
        Some(file) => ask.servers.candidates(file),
        None => ask.servers.survey(ask.workspace),
    };
    if file.is_none() {
        candidates.sort_by_key(|candidate| !candidate.is_usable());
    }
    let mut details = LspDetails::new(LspAction::Status);
    details.notes = ask.servers.notes(ask.workspace);
    let mut lines = Vec::new();
    let mut others = Others::default();
    let main = candidates.iter().find(|c| c.is_usable() && !c.row.linter);
    for candidate in &candidates {
        let phase = ask.servers.phase(candidate);
        let (state, detail) = describe(candidate, &phase);
        if file.is_some() || !others.take(candidate, &candidates) {
            lines.push(line(candidate, &detail));
        }
        if let (Some(_), ServerPhase::Running(running)) = (file, &phase) {
            lines.extend(actions(running));
        }
        let left_out = left_out(candidate).filter(|note| !details.notes.contains(note));
        details.notes.extend(left_out);
        details
            .servers
            .push(server(candidate, &phase, state, &detail));
    }
    details.total = details.servers.len();
    let text = heading(file, &candidates, main, ask) + &lines.concat() + &others.lines();
    Ok(details.into_answer(text))
}

/// Servers that are named in one line: others of their languages come first, or
/// they only report faults.
#[derive(Default)]
struct Others {
    passed_over: Vec<String>,
    not_installed: Vec<String>,
    not_set_up: Vec<String>,
}

impl Others {
    /// Takes a candidate that needs no line of its own; returns whether it did.
    fn take(&mut self, candidate: &Candidate, all: &[Candidate]) -> bool {
        let is_served = |other: &Candidate| other.is_main() && share(candidate, other);
        if let Some(why) = &candidate.refused
            && !candidate.row.disabled
            && all.iter().any(is_served)
        {
            // Another one is meant, and there.
            let name = format!("{} ({why})", candidate.id());
            if !self.passed_over.contains(&name) {
                self.passed_over.push(name);
            }
            return true;
        }
        let list = match (&candidate.root, &candidate.program) {
            _ if candidate.row.disabled => return false,
            // What was there and left out is worth a line.
            (_, Err(missing)) if !missing.rejected.is_empty() => return false,
            (Ok(_), Err(_)) => &mut self.not_installed,
            (Err(_), Err(_)) => &mut self.not_set_up,
            (_, Ok(_)) => return false,
        };
        // The first of a language says how it can be served.
        let mains = all.iter().filter(|other| !other.row.linter);
        let before = mains.take_while(|other| other.id() != candidate.id());
        let usable = all.iter().filter(|other| other.is_main());
        let mut alike = before.chain(usable);
        if !candidate.row.linter && !alike.any(|other| share(candidate, other)) {
            return false;
        }
        let name = match candidate.row.install.as_str() {
            "" => candidate.id().to_owned(),
            hint => format!("{} ({hint})", candidate.id()),
        };
        if !list.contains(&name) {
            list.push(name);
        }
        true
    }

    fn lines(&self) -> String {
        let mut text = String::new();
        for (what, names) in [
            ("not meant here", &self.passed_over),
            ("can be used as well once installed", &self.not_installed),
            ("neither installed nor set up here", &self.not_set_up),
        ] {
            if !names.is_empty() {
                text.push_str(&format!("\n- {what}: {}", names.join(", ")));
            }
        }
        text
    }
}

/// Returns whether two servers are for the same language.
fn share(one: &Candidate, other: &Candidate) -> bool {
    let mut languages = one.row.files.iter().map(|files| &files.language);
    let others = &other.row.files;
    languages.any(|language| others.iter().any(|files| files.language == *language))
}

fn heading(
    file: Option<&WorkspacePath>,
    candidates: &[Candidate],
    main: Option<&Candidate>,
    ask: &Ask<'_>,
) -> String {
    let usable = candidates.iter().filter(|c| c.is_usable()).count();
    match (file, candidates.len(), main) {
        (Some(file), 0, _) => format!(
            "no language server is known for `{file}`; servers are known for {}",
            ask.servers.extensions().join(", ")
        ),
        (Some(file), _, None) => format!("no language server can be used for `{file}`:"),
        (Some(file), _, Some(main)) => {
            let is_other = |c: &&Candidate| c.is_usable() && !c.row.linter && c.id() != main.id();
            let why = match candidates.iter().filter(is_other).count() {
                0 => "the only one that can be used",
                _ => "the first in the table that can be used",
            };
            let linters = candidates.iter().filter(|c| c.is_usable() && c.row.linter);
            let linters: Vec<&str> = linters.map(Candidate::id).collect();
            let beside = match linters.as_slice() {
                [] => String::new(),
                linters => format!("; diagnostics also come from {}", linters.join(", ")),
            };
            format!("`{file}` is served by {}, {why}{beside}:", main.id())
        }
        (None, 0, _) => format!(
            "no file here is in a language that a server is known for; servers are known for {}",
            ask.servers.extensions().join(", ")
        ),
        (None, count, _) if usable == 0 => format!(
            "none of the {count} language servers that are known for files here can be used:"
        ),
        (None, count, _) => format!(
            "{usable} of {count} language servers that are known for files here can be used; each starts with the first question, and is shared by all runs:"
        ),
    }
}

/// Returns the state in one word, and all that is known of it.
fn describe(candidate: &Candidate, phase: &ServerPhase) -> (&'static str, String) {
    if candidate.row.disabled {
        return (
            "disabled",
            "it is switched off by the configuration".to_owned(),
        );
    }
    if let Err(no_root) = &candidate.root {
        let also = match &candidate.program {
            Ok(program) => format!("; its executable is `{}`", program.path.display()),
            Err(missing) => format!("; {missing}{}", install(candidate)),
        };
        return ("no_root", format!("not usable: {no_root}{also}"));
    }
    if let Err(missing) = &candidate.program {
        let text = format!("not usable: {missing}{}", install(candidate));
        return ("no_executable", text);
    }
    if let Some(refused) = &candidate.refused {
        return ("refused", format!("not usable: {refused}"));
    }
    match phase {
        ServerPhase::NotStarted => ("not_started", "can be used, not started yet".to_owned()),
        ServerPhase::Starting { since } => {
            ("starting", format!("starting for {}", seconds(*since)))
        }
        ServerPhase::Running(running) => ("running", describe_running(running)),
        ServerPhase::BackingOff { wait, why } => (
            "backing_off",
            format!(
                "failed, not started again for {} (`reload` starts it now): {}",
                seconds(*wait),
                shorten(why)
            ),
        ),
    }
}

fn install(candidate: &Candidate) -> String {
    let hint = &candidate.row.install;
    if hint.is_empty() {
        String::new()
    } else {
        format!("; to get it: {hint}")
    }
}

fn describe_running(running: &RunningServer) -> String {
    let mut parts = vec![running.doing.clone(), format!("pid {}", running.pid)];
    if let Some(bytes) = running.resident_bytes {
        parts.push(format!("{} MB", bytes / 1_000_000));
    }
    parts.push(match running.open_documents {
        1 => "1 open document".to_owned(),
        count => format!("{count} open documents"),
    });
    if let Some(latency) = running.last_latency {
        parts.push(format!("last answer in {} ms", latency.as_millis()));
    }
    parts.push(format!("up for {}", seconds(running.uptime)));
    format!("{} ({})", parts.join(", "), visible(&running.name))
}

fn line(candidate: &Candidate, detail: &str) -> String {
    let mut line = format!("\n- {}", candidate.id());
    if let Ok(root) = &candidate.root {
        line.push_str(&format!(" in `{}`", root.folder));
        if !root.marker.is_empty() {
            line.push_str(&format!(" (by {})", visible(&root.marker)));
        }
    }
    line.push_str(&format!(": {detail}"));
    if candidate.is_usable()
        && let Ok(program) = &candidate.program
    {
        line.push_str(&format!("; executable `{}`", program.path.display()));
    }
    if candidate.row.verified.is_empty() {
        line.push_str("; unverified: no test has run this server");
    }
    line
}

/// Says which actions can be asked of a running server.
fn actions(running: &RunningServer) -> Vec<String> {
    let works = running.offers.iter().filter(|(_, offered)| offered.is_ok());
    let works: Vec<&str> = works.map(|(action, _)| *action).collect();
    let mut lines = vec![format!("\n  works: {}", works.join(", "))];
    for (action, offered) in &running.offers {
        if let Err(why) = offered {
            lines.push(format!("\n  {action}: {why}"));
        }
    }
    lines
}

fn server(candidate: &Candidate, phase: &ServerPhase, state: &str, detail: &str) -> ServerDetails {
    let root = candidate.root.as_ref().ok();
    let program = candidate.program.as_ref().ok();
    ServerDetails {
        id: candidate.id().to_owned(),
        root: root.map(|root| root.folder.relative().to_owned()),
        state: state.to_owned(),
        detail: detail.to_owned(),
        executable: program.map(|program| program.path.to_string_lossy().into_owned()),
        pid: match phase {
            ServerPhase::Running(running) => Some(running.pid),
            ServerPhase::NotStarted
            | ServerPhase::Starting { .. }
            | ServerPhase::BackingOff { .. } => None,
        },
    }
}

fn shorten(reason: &str) -> String {
    match reason.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{}…", reason.get(..end).unwrap_or_default()),
        None => reason.to_owned(),
    }
}

fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..=119 => format!("{} s", duration.as_secs()),
        seconds => format!("{} min", seconds / 60),
    }
}
