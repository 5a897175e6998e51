//! `definition`, `type_definition`, `implementation` and `hover`.

use serde_json::Value;

use super::LspAction;
use super::ask::{Ask, Target, check_offer};
use super::details::{Answer, LspDetails};
use super::input::{Goal, Place};
use super::locations::{self, Shower};
use crate::error::Error;
use crate::readiness::Readiness;
use crate::server::Look;

/// Places that are shown.
const MAX_SHOWN: usize = 50;
/// Characters of a hover text that are shown.
const MAX_HOVER: usize = 6_000;

impl Goal {
    fn action(self) -> LspAction {
        match self {
            Self::Definition => LspAction::Definition,
            Self::TypeDefinition => LspAction::TypeDefinition,
            Self::Implementation => LspAction::Implementation,
        }
    }

    fn method(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Definition => (
                "textDocument/definition",
                "definitionProvider",
                "definitions",
            ),
            Self::TypeDefinition => (
                "textDocument/typeDefinition",
                "typeDefinitionProvider",
                "definitions of types",
            ),
            Self::Implementation => (
                "textDocument/implementation",
                "implementationProvider",
                "implementations",
            ),
        }
    }

    fn noun(self) -> (&'static str, &'static str) {
        match self {
            Self::Definition => ("definition", "definitions"),
            Self::TypeDefinition => ("type definition", "type definitions"),
            Self::Implementation => ("implementation", "implementations"),
        }
    }
}

pub(super) async fn answer(goal: Goal, place: &Place, ask: &Ask<'_>) -> Result<Answer, Error> {
    let (method, provider, what) = goal.method();
    let target = ask.target(place, Look::WhenCheap).await?;
    let server = &target.chosen.server;
    check_offer(server, method, provider, what)?;
    // Implementations are anywhere in the project.
    if goal == Goal::Implementation {
        ask.wait_until_ready(server).await;
    }
    let is_empty = |(spots, _): &(Vec<_>, usize)| spots.is_empty();
    let ((spots, unreadable), readiness) = ask
        .request(server, method, &target.params, locations::read, is_empty)
        .await?;
    let mut details = LspDetails::new(goal.action());
    details.answered_by.push(server.id().to_owned());
    details.total = spots.len();
    details.notes = target.notes();
    if unreadable > 0 {
        details.notes.push(unreadable_note(unreadable));
    }
    details.incomplete = incomplete(goal, spots.is_empty(), &readiness);
    let mut shower = Shower::new(ask.workspace, server);
    for spot in spots.iter().take(MAX_SHOWN) {
        details.locations.push(shower.show(spot).await);
    }
    let text = text(goal, &target, &details);
    Ok(details.into_answer(text))
}

/// Says why there may be more, where that is so.
fn incomplete(goal: Goal, is_empty: bool, readiness: &Readiness) -> Option<String> {
    let depends = is_empty || goal == Goal::Implementation;
    match readiness {
        Readiness::Loading { .. } if depends => Some(format!(
            "the index is still building: {}",
            readiness.describe()
        )),
        Readiness::Never(why) if goal == Goal::Implementation => Some(why.clone()),
        Readiness::Loading { .. }
        | Readiness::Never(_)
        | Readiness::Proven
        | Readiness::Assumed => None,
    }
}

fn text(goal: Goal, target: &Target, details: &LspDetails) -> String {
    let name = &target.aim.name;
    let (one, many) = goal.noun();
    let mut text = match details.total {
        0 => format!(
            "no {one} of `{name}` is known to {}",
            target.chosen.server.id()
        ),
        1 => format!("{one} of `{name}`:"),
        total if total > details.locations.len() => {
            format!(
                "{} of {total} {many} of `{name}` shown:",
                details.locations.len()
            )
        }
        total => format!("{total} {many} of `{name}`:"),
    };
    for location in &details.locations {
        text.push('\n');
        text.push_str(&locations::line(location));
    }
    text
}

pub(super) fn unreadable_note(count: usize) -> String {
    match count {
        1 => "1 part of the server's answer could not be read and is not shown".to_owned(),
        _ => {
            format!("{count} parts of the server's answer could not be read and are not shown")
        }
    }
}

pub(super) async fn hover(place: &Place, ask: &Ask<'_>) -> Result<Answer, Error> {
    let method = "textDocument/hover";
    let target = ask.target(place, Look::WhenCheap).await?;
    let server = &target.chosen.server;
    check_offer(server, method, "hoverProvider", "hovers")?;
    let read = |reply: Value| hover_text(&reply);
    let (said, readiness) = ask
        .request(server, method, &target.params, read, String::is_empty)
        .await?;
    let mut details = LspDetails::new(LspAction::Hover);
    details.answered_by.push(server.id().to_owned());
    details.notes = target.notes();
    let name = &target.aim.name;
    let text = if said.is_empty() {
        details.incomplete = incomplete(Goal::Definition, true, &readiness);
        format!("{} knows nothing to say about `{name}`", server.id())
    } else {
        details.total = 1;
        let short = match said.char_indices().nth(MAX_HOVER) {
            Some((end, _)) => format!(
                "{}\n[{MAX_HOVER} of {} characters shown; see the definition for the rest]",
                said.get(..end).unwrap_or_default(),
                said.chars().count()
            ),
            None => said,
        };
        short
            .lines()
            .map(tiers::visible)
            .collect::<Vec<_>>()
            .join("\n")
    };
    Ok(details.into_answer(text))
}

/// Reads the three shapes of a hover.
fn hover_text(reply: &Value) -> String {
    let contents = reply.get("contents").unwrap_or(&Value::Null);
    let parts = match contents {
        Value::Array(parts) => parts.iter().map(marked).collect(),
        one => vec![marked(one)],
    };
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// A text, a text in a language, or markup.
fn marked(part: &Value) -> String {
    let value = part.get("value").and_then(Value::as_str);
    let language = part.get("language").and_then(Value::as_str);
    match (part.as_str(), value, language) {
        (Some(text), ..) => text.trim().to_owned(),
        (None, Some(code), Some(language)) if !code.trim().is_empty() => {
            format!("```{language}\n{}\n```", code.trim_end())
        }
        (None, Some(text), _) => text.trim().to_owned(),
        (None, None, _) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_shape_of_a_hover_is_read() {
        for (contents, text) in [
            (json!("plain"), "plain"),
            (json!({ "kind": "markdown", "value": "**x**\n" }), "**x**"),
            (
                json!({ "language": "c", "value": "int x;" }),
                "```c\nint x;\n```",
            ),
            (
                json!(["a", { "language": "c", "value": "" }, "b"]),
                "a\n\nb",
            ),
            (json!([]), ""),
        ] {
            assert_eq!(hover_text(&json!({ "contents": contents })), text);
        }
        assert_eq!(hover_text(&Value::Null), "");
    }
}
