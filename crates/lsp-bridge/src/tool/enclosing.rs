//! The function or type around a place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gen_lsp_types::{DocumentSymbol, Position, Range, SymbolKind};
use serde_json::json;
use tokio::time::Instant;

use super::ask::Ask;
use super::locations::Spot;
use crate::server::{InUse, Look};
use crate::uri;

/// Files that are asked about, and how long all of it may take.
const MAX_FILES: usize = 10;
const BUDGET: Duration = Duration::from_millis(500);

/// Returns a name for each spot, where it is cheap to find out.
///
/// A server that names what references are in is not asked again.
pub(super) async fn names(server: &InUse, ask: &Ask<'_>, spots: &[Spot]) -> Vec<Option<String>> {
    let nothing = vec![None; spots.len()];
    if spots.iter().any(|spot| spot.container.is_some())
        || !server.offers("textDocument/documentSymbol", "documentSymbolProvider")
    {
        return nothing;
    }
    let deadline = ask.deadline.min(Instant::now() + BUDGET);
    let mut files: HashMap<&Path, Vec<DocumentSymbol>> = HashMap::new();
    for spot in spots {
        let Some(path) = spot.path.as_deref() else {
            continue;
        };
        if files.contains_key(path) {
            continue;
        }
        if files.len() >= MAX_FILES || Instant::now() >= deadline {
            break;
        }
        let symbols = symbols(server, ask, path, deadline).await;
        files.insert(path, symbols.unwrap_or_default());
    }
    let name = |spot: &Spot| around(files.get(spot.path.as_deref()?)?, spot.range);
    spots.iter().map(name).collect()
}

async fn symbols(
    server: &InUse,
    ask: &Ask<'_>,
    path: &Path,
    deadline: Instant,
) -> Option<Vec<DocumentSymbol>> {
    let file = ask.workspace.resolve_path(path).ok()?;
    server.open(&file, Look::WhenCheap).await.ok()?;
    let params = json!({ "textDocument": { "uri": uri::from_path(&PathBuf::from(path)) } });
    let method = "textDocument/documentSymbol";
    let reply = server.request(method, &params, deadline).await.ok()?;
    serde_json::from_value(reply).ok()
}

/// Returns the dotted name of the innermost function or type around `range`.
fn around(symbols: &[DocumentSymbol], range: Range) -> Option<String> {
    let symbol = symbols.iter().find(|symbol| holds(symbol.range, range))?;
    let is_itself = symbol.selection_range.start == range.start;
    let inner = around(symbol.children.as_deref().unwrap_or_default(), range);
    match (is_named(symbol.kind) && !is_itself, inner) {
        (true, Some(inner)) => Some(format!("{}.{inner}", symbol.name)),
        (true, None) => Some(symbol.name.clone()),
        (false, inner) => inner,
    }
}

fn holds(outer: Range, inner: Range) -> bool {
    let key = |position: Position| (position.line, position.character);
    key(outer.start) <= key(inner.start) && key(inner.end) <= key(outer.end)
}

fn is_named(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Function
            | SymbolKind::Method
            | SymbolKind::Constructor
            | SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Interface
            | SymbolKind::Enum
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfall_60_the_innermost_function_or_type_is_named() {
        let range = |start, end| json!({ "start": { "line": start, "character": 0 }, "end": { "line": end, "character": 9 } });
        let symbols = json!([{
            "name": "Shape", "kind": 5, "range": range(0, 9), "selectionRange": range(0, 0),
            "children": [
                { "name": "area", "kind": 6, "range": range(1, 4), "selectionRange": range(1, 1),
                  "children": [{ "name": "x", "kind": 13, "range": range(2, 2), "selectionRange": range(2, 2) }] },
            ],
        }]);
        let symbols: Vec<DocumentSymbol> = serde_json::from_value(symbols).unwrap();
        let name = |line| {
            let at = |character| Position { line, character };
            around(
                &symbols,
                Range {
                    start: at(3),
                    end: at(5),
                },
            )
        };
        assert_eq!(name(2).as_deref(), Some("Shape.area"));
        assert_eq!(name(7).as_deref(), Some("Shape"));
        assert_eq!(name(11), None);
        // The name of a thing is not in that thing.
        let own = Range {
            start: Position {
                line: 1,
                character: 0,
            },
            end: Position {
                line: 1,
                character: 4,
            },
        };
        assert_eq!(around(&symbols, own).as_deref(), Some("Shape"));
    }
}
