//! Places that a server names, as a reader wants them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{Location, LocationLink, Range};
use host::Location as Where;
use host::Workspace;
use host::text::{Line, LineIndex};
use serde_json::Value;
use tiers::visible;

use super::details::LocationDetails;
use crate::encoding::PositionEncoding;
use crate::server::InUse;
use crate::uri;

/// Characters of a source line that are shown.
const MAX_LINE: usize = 200;

/// A place as the server gave it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) uri: String,
    /// Its file, where it is one.
    pub(super) path: Option<PathBuf>,
    pub(super) range: Range,
    /// What it is in, where the server says so.
    pub(super) container: Option<String>,
}

/// Reads every shape in which servers answer: one place, a list, links, nothing.
///
/// What cannot be read is counted and not dropped in silence.
pub(super) fn read(answer: Value) -> (Vec<Spot>, usize) {
    let items = match answer {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        one => vec![one],
    };
    let mut spots: Vec<Spot> = Vec::new();
    let mut unreadable = 0;
    for item in items {
        match spot(item) {
            Some(spot) if spots.last() == Some(&spot) => {}
            Some(spot) => spots.push(spot),
            None => unreadable += 1,
        }
    }
    let mut seen = std::collections::HashSet::new();
    spots.retain(|spot| {
        let place = (
            spot.uri.clone(),
            spot.range.start.line,
            spot.range.start.character,
        );
        seen.insert(place)
    });
    (spots, unreadable)
}

fn spot(item: Value) -> Option<Spot> {
    // An extension of clangd.
    let container = item.get("containerName").and_then(Value::as_str);
    let container = container.filter(|name| !name.is_empty()).map(str::to_owned);
    let (uri, range) = if item.get("targetUri").is_some() {
        let link: LocationLink = serde_json::from_value(item).ok()?;
        (link.target_uri.0, link.target_selection_range)
    } else {
        let location: Location = serde_json::from_value(item).ok()?;
        (location.uri.0, location.range)
    };
    Some(Spot {
        path: uri::to_path(&uri),
        uri,
        range,
        container,
    })
}

/// Turns spots into what is shown, with the text of their lines.
pub(super) struct Shower<'a> {
    workspace: &'a Workspace,
    server: &'a InUse,
    texts: HashMap<PathBuf, Option<Arc<LineIndex<String>>>>,
}

impl<'a> Shower<'a> {
    pub(super) fn new(workspace: &'a Workspace, server: &'a InUse) -> Self {
        Self {
            workspace,
            server,
            texts: HashMap::new(),
        }
    }

    pub(super) async fn show(&mut self, spot: &Spot) -> LocationDetails {
        let Some(path) = &spot.path else {
            return bare(spot, &spot.uri, true, spot.container.clone());
        };
        let (name, is_outside) = name_of(self.workspace, path);
        let text = self.text(path).await;
        let Some(text) = text else {
            return bare(spot, &name, is_outside, spot.container.clone());
        };
        let encoding = self.server.encoding();
        let start = place(&text, encoding.offset(&text, spot.range.start));
        let end = place(&text, encoding.range(&text, spot.range).end);
        let line = Line::from_zero(start.0 - 1);
        LocationDetails {
            path: name,
            is_outside,
            line: start.0,
            column: start.1,
            end_line: end.0,
            end_column: end.1,
            text: text.line_text(line).ok().map(shorten),
            container: spot.container.clone(),
        }
    }

    async fn text(&mut self, path: &Path) -> Option<Arc<LineIndex<String>>> {
        if let Some(known) = self.texts.get(path) {
            return known.clone();
        }
        let text = self.server.text(path).await;
        self.texts.insert(path.to_owned(), text.clone());
        text
    }
}

/// Returns the path as it is shown, and whether it is outside the workspace.
pub(super) fn name_of(workspace: &Workspace, path: &Path) -> (String, bool) {
    match workspace.locate(path) {
        Where::Inside(inside) => (inside.relative().to_owned(), false),
        Where::Outside(path) => (path.to_string_lossy().into_owned(), true),
    }
}

/// Returns line and column, both from 1, the column in characters.
pub(super) fn place(text: &LineIndex<String>, offset: usize) -> (u32, u32) {
    let line = text.line_at(offset).unwrap_or(Line::from_zero(0));
    let start = text.line_range(line).map_or(offset, |range| range.start);
    let before = text.text().get(start..offset).unwrap_or_default();
    let column = u32::try_from(before.chars().count()).unwrap_or(u32::MAX);
    (
        line.zero_based().saturating_add(1),
        column.saturating_add(1),
    )
}

/// A place whose text is not at hand, in the server's units.
fn bare(spot: &Spot, path: &str, is_outside: bool, container: Option<String>) -> LocationDetails {
    let one_based = |number: u32| number.saturating_add(1);
    LocationDetails {
        path: path.to_owned(),
        is_outside,
        line: one_based(spot.range.start.line),
        column: one_based(spot.range.start.character),
        end_line: one_based(spot.range.end.line),
        end_column: one_based(spot.range.end.character),
        text: None,
        container,
    }
}

fn shorten(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Writes one place on one line.
pub(super) fn line(location: &LocationDetails) -> String {
    let mut line = format!(
        "{}:{}:{}",
        visible(&location.path),
        location.line,
        location.column
    );
    if location.is_outside {
        line.push_str(" (outside the workspace)");
    }
    if let Some(text) = &location.text {
        line.push_str(": ");
        line.push_str(&visible(text));
    }
    if let Some(container) = &location.container {
        line.push_str("  [in ");
        line.push_str(&visible(container));
        line.push(']');
    }
    line
}

impl PositionEncoding {
    /// Returns line and column of a position, both from 1, the column in
    /// characters.
    pub(super) fn place(
        self,
        text: &LineIndex<String>,
        position: gen_lsp_types::Position,
    ) -> (u32, u32) {
        place(text, self.offset(text, position))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pitfall_36_every_shape_of_places_is_read() {
        let range =
            json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 1, "character": 4 } });
        let location = json!({ "uri": "file:///a%20b.py", "range": range });
        let link = json!({
            "targetUri": "file:///a%20b.py", "targetRange": range, "targetSelectionRange": range,
        });
        for answer in [
            location.clone(),
            json!([location]),
            json!([link]),
            json!([location, link, location]),
        ] {
            let (spots, unreadable) = read(answer);
            assert_eq!((spots.len(), unreadable), (1, 0));
            assert_eq!(spots[0].path.as_deref(), Some(Path::new("/a b.py")));
        }
        assert_eq!(read(Value::Null), (Vec::new(), 0));
        assert_eq!(read(json!([])), (Vec::new(), 0));
        let (spots, unreadable) = read(json!([{ "uri": 1 }, { "uri": "jdt://x", "range": range }]));
        assert_eq!((spots.len(), unreadable), (1, 1));
        assert_eq!(spots[0].path, None);
    }
}
