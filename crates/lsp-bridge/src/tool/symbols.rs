//! `symbols`: of a file, or of the workspace by name.

use gen_lsp_types::{Position, Range, SymbolKind};
use host::WorkspacePath;
use serde_json::{Value, json};
use tiers::visible;

use super::LspAction;
use super::ask::{Ask, Chosen, check_offer, none_usable};
use super::details::{Answer, LocationDetails, LspDetails, SymbolDetails};
use super::locations::{Shower, Spot};
use super::navigate::unreadable_note;
use crate::error::Error;
use crate::readiness::Readiness;
use crate::server::{InUse, Look};
use crate::uri;

/// Symbols of a file that are shown, and symbols of the workspace.
const MAX_OF_FILE: usize = 200;
const MAX_FOUND: usize = 100;

/// A symbol as the server gave it.
struct Found {
    name: String,
    kind: String,
    depth: usize,
    container: Option<String>,
    spot: Spot,
}

pub(super) async fn of_file(file: &WorkspacePath, ask: &Ask<'_>) -> Result<Answer, Error> {
    let Chosen { server, notes } = ask.server(file).await?;
    let method = "textDocument/documentSymbol";
    check_offer(
        &server,
        method,
        "documentSymbolProvider",
        "symbols of a file",
    )?;
    server.open(file, Look::WhenCheap).await?;
    let uri = uri::from_path(file.absolute());
    let params = json!({ "textDocument": { "uri": uri } });
    let is_empty = |reply: &Value| reply.as_array().is_none_or(Vec::is_empty);
    let (reply, readiness) = ask
        .request(&server, method, &params, |reply| reply, is_empty)
        .await?;
    let mut found = Vec::new();
    let mut unreadable = 0;
    for item in reply.as_array().into_iter().flatten() {
        nested(item, 0, &uri, &mut found, &mut unreadable);
    }
    let mut details = LspDetails::new(LspAction::Symbols);
    details.answered_by.push(server.id().to_owned());
    details.notes = notes;
    if let (true, Readiness::Loading { .. }) = (found.is_empty(), &readiness) {
        details.incomplete = missing(&server, &readiness);
    }
    fill(&mut details, &server, ask, &found, MAX_OF_FILE).await;
    if unreadable > 0 {
        details.notes.push(unreadable_note(unreadable));
    }
    let heading = heading(&details, &format!("in `{file}`"));
    let mut text = heading;
    for symbol in &details.symbols {
        let indent = "  ".repeat(symbol.depth);
        let line = symbol.location.line;
        text.push_str(&format!(
            "\n{line}: {indent}{} {}",
            symbol.kind,
            visible(&symbol.name)
        ));
        if let Some(container) = &symbol.container {
            text.push_str(&format!("  [in {}]", visible(container)));
        }
    }
    Ok(details.into_answer(text))
}

/// Asks every server of the workspace, or that of one file.
pub(super) async fn by_query(
    query: &str,
    file: Option<&WorkspacePath>,
    ask: &Ask<'_>,
) -> Result<Answer, Error> {
    let mut details = LspDetails::new(LspAction::Symbols);
    let mut incomplete = Vec::new();
    let mut found: Vec<(InUse, Vec<Found>)> = Vec::new();
    for (server, file) in servers(file, ask, &mut details).await? {
        match search(query, &server, file.as_ref(), ask).await {
            Ok((symbols, unreadable, readiness)) => {
                details.answered_by.push(server.id().to_owned());
                incomplete.extend(missing(&server, &readiness));
                if unreadable > 0 {
                    details.notes.push(unreadable_note(unreadable));
                }
                found.push((server, symbols));
            }
            Err(error) => incomplete.push(error.describe()),
        }
    }
    if details.answered_by.is_empty() {
        return Err(Error::NoneUsable {
            file: format!("symbols of `{query}`"),
            why: incomplete.join("; "),
            next: "call again, or see `lsp` action `status`".to_owned(),
        });
    }
    for (server, symbols) in &found {
        let left = MAX_FOUND.saturating_sub(details.symbols.len());
        fill(&mut details, server, ask, symbols, left).await;
    }
    details.incomplete = (!incomplete.is_empty()).then(|| incomplete.join("; "));
    let mut text = heading(&details, &format!("match `{query}`"));
    for symbol in &details.symbols {
        let place = &symbol.location;
        let outside = if place.is_outside {
            " (outside the workspace)"
        } else {
            ""
        };
        let path = visible(&place.path);
        text.push_str(&format!(
            "\n{path}:{}:{}{outside}: ",
            place.line, place.column
        ));
        text.push_str(&format!("{} {}", symbol.kind, visible(&symbol.name)));
        if let Some(container) = &symbol.container {
            text.push_str(&format!("  [in {}]", visible(container)));
        }
    }
    Ok(details.into_answer(text))
}

/// Returns the servers to ask, each with a file that it can be shown.
async fn servers(
    file: Option<&WorkspacePath>,
    ask: &Ask<'_>,
    details: &mut LspDetails,
) -> Result<Vec<(InUse, Option<WorkspacePath>)>, Error> {
    if let Some(file) = file {
        let Chosen { server, notes } = ask.server(file).await?;
        details.notes = notes;
        return Ok(vec![(server, Some(file.clone()))]);
    }
    let candidates = ask.servers.survey(ask.workspace);
    let usable = candidates.iter().filter(|c| c.is_usable() && !c.row.linter);
    let mut servers = Vec::new();
    let mut failed = None;
    for candidate in usable {
        match ask.lease(candidate).await {
            Ok(server) => servers.push((server, None)),
            Err(error) => {
                details.notes.push(error.describe());
                failed = Some(error);
            }
        }
    }
    match (servers.is_empty(), failed) {
        (false, _) => Ok(servers),
        (true, Some(error)) => Err(error),
        (true, None) => Err(none_usable("this workspace", &candidates, ask.servers)),
    }
}

async fn search(
    query: &str,
    server: &InUse,
    file: Option<&WorkspacePath>,
    ask: &Ask<'_>,
) -> Result<(Vec<Found>, usize, Readiness), Error> {
    let method = "workspace/symbol";
    check_offer(
        server,
        method,
        "workspaceSymbolProvider",
        "a search for symbols",
    )?;
    server.catch_up(Look::Always).await?;
    // Some servers read the project only once they are shown a file of it.
    let first = match file {
        Some(file) => Some(file.clone()),
        None if server.open_documents() == 0 => {
            let (sources, _) = server.sources().await;
            let first = sources.first().map(|(path, _)| path.clone());
            first.and_then(|path| ask.workspace.resolve_path(&path).ok())
        }
        None => None,
    };
    if let Some(first) = first {
        server.open(&first, Look::WhenCheap).await?;
    }
    let readiness = ask.wait_until_ready(server).await;
    let params = json!({ "query": query });
    let reply = server.request(method, &params, ask.deadline).await?;
    let mut found = Vec::new();
    let mut unreadable = 0;
    for item in reply.as_array().into_iter().flatten() {
        match flat(item) {
            Some(symbol) => found.push(symbol),
            None => unreadable += 1,
        }
    }
    Ok((found, unreadable, readiness))
}

fn missing(server: &InUse, readiness: &Readiness) -> Option<String> {
    let id = server.id();
    match readiness {
        Readiness::Proven => None,
        Readiness::Never(why) => Some(format!("{id}: {why}")),
        Readiness::Loading { .. } => Some(format!(
            "the index is still building ({id}: {})",
            readiness.describe()
        )),
        Readiness::Assumed => Some(format!(
            "{id} does not show whether it knows the whole project"
        )),
    }
}

async fn fill(
    details: &mut LspDetails,
    server: &InUse,
    ask: &Ask<'_>,
    found: &[Found],
    limit: usize,
) {
    details.total += found.len();
    let mut shower = Shower::new(ask.workspace, server);
    for symbol in found.iter().take(limit) {
        let mut location: LocationDetails = shower.show(&symbol.spot).await;
        location.text = None;
        details.symbols.push(SymbolDetails {
            name: symbol.name.clone(),
            kind: symbol.kind.clone(),
            depth: symbol.depth,
            container: symbol.container.clone(),
            location,
        });
    }
}

fn heading(details: &LspDetails, what: &str) -> String {
    let (shown, total) = (details.symbols.len(), details.total);
    match total {
        0 => format!("no symbols {what}"),
        total if total > shown => {
            format!("{shown} of {total} symbols {what} shown; narrow the question for the rest:")
        }
        1 => format!("1 symbol {what}:"),
        total => format!("{total} symbols {what}:"),
    }
}

/// Reads a symbol with those in it; some servers give flat ones.
fn nested(item: &Value, depth: usize, uri: &str, found: &mut Vec<Found>, unreadable: &mut usize) {
    let range = item.get("selectionRange").and_then(range);
    let (Some(name), Some(range)) = (item.get("name").and_then(Value::as_str), range) else {
        match flat(item) {
            Some(symbol) => found.push(symbol),
            None => *unreadable += 1,
        }
        return;
    };
    found.push(Found {
        name: name.to_owned(),
        kind: kind(item),
        depth,
        container: None,
        spot: spot(uri, range),
    });
    let children = item.get("children").and_then(Value::as_array);
    for child in children.into_iter().flatten() {
        nested(child, depth + 1, uri, found, unreadable);
    }
}

/// Reads a symbol that says in which file it is.
fn flat(item: &Value) -> Option<Found> {
    let location = item.get("location")?;
    let uri = location.get("uri")?.as_str()?;
    // Of some symbols only the file is known.
    let range = location.get("range").and_then(range).unwrap_or_default();
    let container = item.get("containerName").and_then(Value::as_str);
    Some(Found {
        name: item.get("name")?.as_str()?.to_owned(),
        kind: kind(item),
        depth: 0,
        container: container.filter(|name| !name.is_empty()).map(str::to_owned),
        spot: spot(uri, range),
    })
}

fn spot(uri: &str, range: Range) -> Spot {
    Spot {
        uri: uri.to_owned(),
        path: uri::to_path(uri),
        range,
        container: None,
    }
}

fn range(value: &Value) -> Option<Range> {
    let position = |name: &str| {
        let position = value.get(name)?;
        let number = |name| u32::try_from(position.get(name)?.as_u64()?).ok();
        Some(Position {
            line: number("line")?,
            character: number("character")?,
        })
    };
    Some(Range {
        start: position("start")?,
        end: position("end")?,
    })
}

/// Returns the kind in words.
fn kind(item: &Value) -> String {
    let kind = item.get("kind").cloned().unwrap_or_default();
    match serde_json::from_value(kind) {
        Ok(SymbolKind::EnumMember) => "enum member".to_owned(),
        Ok(SymbolKind::TypeParameter) => "type parameter".to_owned(),
        Ok(SymbolKind::Custom(number)) => format!("symbol of kind {number}"),
        Ok(kind) => format!("{kind:?}").to_lowercase(),
        Err(_) => "symbol".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_and_flat_symbols_are_read() {
        let range =
            json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 3, "character": 0 } });
        let items = [
            json!({ "name": "A", "kind": 5, "range": range, "selectionRange": range, "children": [
                { "name": "b", "kind": 22, "range": range, "selectionRange": range },
            ] }),
            json!({ "name": "c", "kind": 99, "containerName": "A",
                    "location": { "uri": "file:///x/y.py", "range": range } }),
            json!({ "name": "d" }),
        ];
        let mut found = Vec::new();
        let mut unreadable = 0;
        for item in &items {
            nested(item, 0, "file:///x/a.py", &mut found, &mut unreadable);
        }
        let found: Vec<_> = found
            .iter()
            .map(|f| {
                (
                    f.name.as_str(),
                    f.kind.as_str(),
                    f.depth,
                    f.spot.path.as_ref().unwrap().file_name().unwrap().to_str(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("A", "class", 0, Some("a.py")),
                ("b", "enum member", 1, Some("a.py")),
                ("c", "symbol of kind 99", 0, Some("y.py")),
            ]
        );
        assert_eq!(unreadable, 1);
    }
}
