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
    let candidates = match file {
        Some(file) => ask.servers.candidates(file),
        None => ask.servers.survey(ask.workspace),
    };
    let mut details = LspDetails::new(LspAction::Status);
    let mut lines = Vec::new();
    let main = candidates.iter().find(|c| c.is_usable() && !c.row.linter);
    for candidate in &candidates {
        let phase = ask.servers.phase(candidate);
        let (state, detail) = describe(candidate, &phase);
        lines.push(line(candidate, &detail));
        if let (Some(_), ServerPhase::Running(running)) = (file, &phase) {
            lines.extend(actions(running));
        }
        details.notes.extend(left_out(candidate));
        details
            .servers
            .push(server(candidate, &phase, state, &detail));
    }
    details.total = details.servers.len();
    let text = heading(file, &candidates, main, ask) + &lines.concat();
    Ok(details.into_answer(text))
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
            let others = usable - 1;
            let why = match others {
                0 => "the only one that can be used",
                _ => "the first in the table that can be used",
            };
            format!("`{file}` is served by {}, {why}:", main.id())
        }
        (None, count, _) => format!(
            "{usable} of {count} language servers can be used in this workspace (those that run are shared and start on the first question):"
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
