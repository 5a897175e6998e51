//! Tells the tree of a file what changed in the text, so that parsing the result
//! takes over the rest.

use tree_sitter::{InputEdit, Point, Tree};

use super::Rewritten;

/// Returns the tree of a file with its places moved to those of the result.
///
/// Source: tree-sitter, "Advanced parsing", "Editing".
pub(super) fn tree(tree: &Tree, source: &[u8], result: &Rewritten) -> Tree {
    let mut edited = tree.clone();
    let lines = Lines::of(source);
    // The last one first: what is before an edit still is where it was.
    for change in result.changes.iter().rev() {
        let start = lines.point(change.before.start);
        let text = result.bytes.get(change.after.clone()).unwrap_or_default();
        edited.edit(&InputEdit {
            start_byte: change.before.start,
            old_end_byte: change.before.end,
            new_end_byte: change.before.start + text.len(),
            start_position: start,
            old_end_position: lines.point(change.before.end),
            new_end_position: behind(start, text),
        });
    }
    edited
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &[u8]) -> Self {
        let behind = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
        Self(std::iter::once(0).chain(behind).collect())
    }

    /// Returns line and column of a byte, both from 0 and in bytes.
    fn point(&self, at: usize) -> Point {
        let row = self.0.partition_point(|start| *start <= at) - 1;
        Point::new(row, at - self.0.get(row).copied().unwrap_or_default())
    }
}

/// Returns where a text ends that begins at `start`.
fn behind(start: Point, text: &[u8]) -> Point {
    match memchr::memrchr(b'\n', text) {
        None => Point::new(start.row, start.column + text.len()),
        Some(last) => Point::new(
            start.row + memchr::memchr_iter(b'\n', text).count(),
            text.len() - last - 1,
        ),
    }
}
