//! `reload`: starts servers anew, and says how that ended.

use host::WorkspacePath;
use tiers::ToolError;

use super::LspAction;
use super::ask::{Ask, none_usable};
use super::details::{Answer, LspDetails, ServerDetails};
use crate::error::Error;
use crate::plan::Candidate;
use crate::port::{Reloaded, ServerPhase};

pub(super) async fn answer(file: Option<&WorkspacePath>, ask: &Ask<'_>) -> Result<Answer, Error> {
    ask.servers.forget();
    let (what, candidates) = match file {
        Some(file) => (file.relative(), ask.servers.candidates(file)),
        None => ("this workspace", ask.servers.survey(ask.workspace)),
    };
    let usable: Vec<&Candidate> = candidates.iter().filter(|c| c.is_usable()).collect();
    if usable.is_empty() {
        return Err(none_usable(what, &candidates, ask.servers));
    }
    let mut details = LspDetails::new(LspAction::Reload);
    let mut text = String::new();
    for candidate in usable {
        // What nobody has asked yet starts with the first question.
        let is_needed =
            file.is_some() || !matches!(ask.servers.phase(candidate), ServerPhase::NotStarted);
        let (state, detail, pid) = if is_needed {
            ask.context
                .progress(format!("restarting {}", candidate.id()));
            one(candidate, ask).await
        } else {
            let detail = "does not run; it starts with the first question".to_owned();
            ("not_started", detail, None)
        };
        text.push_str(&format!("\n- {}: {detail}", candidate.id()));
        let root = candidate.root.as_ref().ok();
        let program = candidate.program.as_ref().ok();
        details.servers.push(ServerDetails {
            id: candidate.id().to_owned(),
            root: root.map(|root| root.folder.relative().to_owned()),
            state: state.to_owned(),
            detail,
            executable: program.map(|program| program.path.to_string_lossy().into_owned()),
            pid,
        });
    }
    let others = candidates.iter().filter(|c| !c.is_usable()).count();
    if others > 0 {
        text.push_str(&format!(
            "\n{others} others cannot be used here; `status` says why"
        ));
    }
    details.total = details.servers.len();
    Ok(details.into_answer(format!("markers and executables were read again{text}")))
}

async fn one(candidate: &Candidate, ask: &Ask<'_>) -> (&'static str, String, Option<u32>) {
    match ask.servers.reload(candidate, ask.deadline).await {
        Ok(Reloaded::Restarted {
            ended: Some(ended),
            started,
        }) => {
            let text = format!("restarted: process {ended} was ended, {started} answers");
            ("restarted", text, Some(started))
        }
        Ok(Reloaded::Restarted {
            ended: None,
            started,
        }) => (
            "restarted",
            format!("started: process {started} answers"),
            Some(started),
        ),
        Ok(Reloaded::Joined { started }) => {
            let text = format!("another call was starting it: process {started} answers");
            ("joined", text, Some(started))
        }
        Ok(Reloaded::Throttled { wait }) => {
            let wait = wait.as_secs_f32();
            let text = format!("was restarted just now; call again in {wait:.0} s if needed");
            ("throttled", text, None)
        }
        Err(error) => {
            let error = ToolError::from(error);
            ("failed", format!("failed: {error}"), None)
        }
    }
}
