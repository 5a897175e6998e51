//! `code_actions`: what a server offers to do. Nothing is done.

use serde_json::{Value, json};
use tiers::visible;

use super::LspAction;
use super::ask::{Ask, check_offer};
use super::details::{ActionDetails, Answer, LspDetails};
use super::diagnose;
use super::input::Place;
use crate::diagnostics::{Verdict, of_file};
use crate::error::Error;
use crate::server::Look;

/// Actions that are shown.
const MAX_SHOWN: usize = 50;

pub(super) async fn answer(place: &Place, ask: &Ask<'_>) -> Result<Answer, Error> {
    let method = "textDocument/codeAction";
    let target = ask.target(place, Look::Always).await?;
    let server = &target.chosen.server;
    check_offer(server, method, "codeActionProvider", "code actions")?;
    // Fixes are offered for faults that the client names.
    let report = of_file(server, &place.file, ask.ready_deadline()).await?;
    let line = place.line.zero_based();
    let on_line = report.items.iter().filter(|item| {
        let range = diagnose::range(item);
        range.is_some_and(|range| range.start.line <= line && line <= range.end.line)
    });
    let on_line: Vec<Value> = on_line.cloned().collect();
    let position = |offset| {
        server
            .encoding()
            .position(&target.document.text, offset)
            .ok()
    };
    let range = json!({
        "start": position(target.aim.bytes.start),
        "end": position(target.aim.bytes.end),
    });
    let params = json!({
        "textDocument": target.params.get("textDocument"),
        "range": range,
        "context": { "diagnostics": on_line, "triggerKind": 1 },
    });
    let reply = server.request(method, &params, ask.deadline).await?;
    let mut details = LspDetails::new(LspAction::CodeActions);
    details.answered_by.push(server.id().to_owned());
    details.notes = target.notes();
    let offered = reply.as_array().into_iter().flatten().filter_map(read);
    let offered: Vec<ActionDetails> = offered.collect();
    details.total = offered.len();
    details.code_actions = offered.into_iter().take(MAX_SHOWN).collect();
    if let Verdict::Partial(why) | Verdict::Unknown(why) = &report.verdict {
        details.incomplete = Some(format!("the faults of this line are not all known: {why}"));
    }
    let text = text(&target.aim.name, place, &details, on_line.len());
    Ok(details.into_answer(text))
}

fn read(item: &Value) -> Option<ActionDetails> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let disabled = item.get("disabled").map(|disabled| {
        let reason = disabled.get("reason").and_then(Value::as_str);
        reason.unwrap_or("no reason is given").to_owned()
    });
    // A bare command has its name where an action has an object.
    let is_command =
        item.get("edit").is_none() && (item.get("command").is_some() && item.get("data").is_none());
    Some(ActionDetails {
        title: text("title")?,
        kind: text("kind"),
        is_preferred: item.get("isPreferred").and_then(Value::as_bool) == Some(true),
        disabled,
        is_command,
    })
}

fn text(name: &str, place: &Place, details: &LspDetails, faults: usize) -> String {
    let at = format!(
        "`{name}` in line {} of `{}`",
        place.line.one_based(),
        place.file
    );
    let faults = match faults {
        0 => "no fault is known on that line".to_owned(),
        1 => "1 fault is known on that line".to_owned(),
        count => format!("{count} faults are known on that line"),
    };
    let mut text = match (details.total, details.code_actions.len()) {
        (0, _) => format!("no code action is offered at {at} ({faults})"),
        (total, shown) if total > shown => {
            format!(
                "{shown} of {total} code actions at {at} shown ({faults}); nothing was applied:"
            )
        }
        (total, _) => {
            let plural = if total == 1 { "" } else { "s" };
            format!("{total} code action{plural} at {at} ({faults}); nothing was applied:")
        }
    };
    for action in &details.code_actions {
        text.push_str(&format!("\n- {}", visible(&action.title)));
        let mut marks: Vec<String> = action.kind.iter().cloned().collect();
        if action.is_preferred {
            marks.push("preferred".to_owned());
        }
        if action.is_command {
            marks.push("a command of the server".to_owned());
        }
        if let Some(why) = &action.disabled {
            marks.push(format!("not possible here: {why}"));
        }
        if !marks.is_empty() {
            text.push_str(&format!(" ({})", marks.join(", ")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfall_43_actions_that_are_only_commands_are_told_apart() {
        let is_command = |item: Value| read(&item).unwrap().is_command;
        assert!(is_command(
            json!({ "title": "run", "command": "x", "arguments": [] })
        ));
        assert!(is_command(
            json!({ "title": "run", "command": { "command": "x" } })
        ));
        assert!(!is_command(
            json!({ "title": "fix", "edit": {}, "command": { "command": "x" } })
        ));
        assert!(!is_command(json!({ "title": "fix later", "data": 1 })));
        assert_eq!(read(&json!({ "kind": "quickfix" })), None);
        let disabled = read(&json!({ "title": "x", "disabled": { "reason": "why" } })).unwrap();
        assert_eq!(disabled.disabled.as_deref(), Some("why"));
    }
}
