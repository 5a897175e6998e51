//! Reads the result of a rewrite again: no new syntax errors, no block left
//! empty, and no code torn apart by what it was put beside.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Tree;

use super::{RewriteError, Rewritten};
use crate::grammar::Grammar;
use crate::tree::FlatTree;

/// A file before and after.
pub(super) struct Check<'a> {
    pub(super) grammar: &'a Grammar,
    pub(super) source: &'a [u8],
    pub(super) old: &'a Tree,
    pub(super) new: &'a Tree,
    /// Whether something was deleted, so that a block may be empty now.
    pub(super) may_empty: bool,
}

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    range: Range<usize>,
    /// The kind of the token that is missing.
    missing: Option<u16>,
}

impl Check<'_> {
    /// Holds the result against the file; `captures` is where in the result
    /// the code of metavariables is.
    pub(super) fn run(
        &self,
        captures: &[Range<usize>],
        result: &mut Rewritten,
    ) -> Result<(), RewriteError> {
        let new = faults(self.new);
        if !new.is_empty() {
            let old = faults(self.old);
            let starts = |faults: &[Fault]| faults.iter().map(|f| f.range.start).collect();
            if let Some(added) = first_added(result, starts(&old), &starts(&new))
                && let Some(fault) = new.iter().find(|f| f.range.start == added)
            {
                let (line, column) = position(&result.bytes, added);
                return Err(RewriteError::NewSyntaxErrors {
                    line,
                    column,
                    what: what(self.grammar, &result.bytes, fault),
                    match_line: match_line(self.source, result, added),
                });
            }
        }
        if self.may_empty && !self.grammar.language().never_empty.is_empty() {
            let (old, new) = (
                empty_blocks(self.old, self.grammar),
                empty_blocks(self.new, self.grammar),
            );
            if let Some(added) = first_added(result, old, &new) {
                return Err(RewriteError::EmptiesBlock {
                    line: position(&result.bytes, added).0,
                    match_line: match_line(self.source, result, added),
                });
            }
        }
        result.regrouped = regrouped(self.grammar, self.new, captures, result);
        Ok(())
    }
}

/// Returns the first place that is new, if there are more than before.
fn first_added(result: &Rewritten, old: Vec<usize>, new: &[usize]) -> Option<usize> {
    if new.len() <= old.len() {
        return None;
    }
    let known: HashSet<usize> = old.into_iter().map(|at| moved(result, at)).collect();
    new.iter()
        .find(|at| !known.contains(at))
        .or(new.first())
        .copied()
}

/// Returns the syntax errors of a tree, without a look at what has none.
fn faults(tree: &Tree) -> Vec<Fault> {
    let mut found = Vec::new();
    if !tree.root_node().has_error() {
        return found;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            found.push(Fault {
                range: node.byte_range(),
                missing: node.is_missing().then(|| node.kind_id()),
            });
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Returns where the blocks are that hold nothing though they must.
fn empty_blocks(tree: &Tree, grammar: &Grammar) -> Vec<usize> {
    let kinds = grammar.language().never_empty;
    let mut found = Vec::new();
    if kinds.is_empty() {
        return found;
    }
    let ids: Vec<u16> = kinds
        .iter()
        .map(|k| grammar.parser_language().id_for_node_kind(k, true))
        .collect();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if ids.contains(&node.kind_id()) {
            let mut inner = node.walk();
            let is_empty = node.children(&mut inner).all(|c| c.is_extra());
            if is_empty {
                found.push(node.start_byte());
            }
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Returns where a byte of the file is in the result.
fn moved(result: &Rewritten, at: usize) -> usize {
    let next = result.changes.partition_point(|r| r.before.end <= at);
    match next.checked_sub(1).and_then(|i| result.changes.get(i)) {
        Some(last) => at - last.before.end + last.after.end,
        None => at,
    }
}

/// Returns the line in the file of the match whose replacement is nearest.
fn match_line(source: &[u8], result: &Rewritten, at: usize) -> usize {
    let next = result.replacements.partition_point(|r| r.after.start <= at);
    let nearest = result.replacements.get(next.saturating_sub(1));
    position(source, nearest.map_or(0, |r| r.before.start)).0
}

/// Returns line and column of a byte, from 1.
fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = bytes.get(..at).unwrap_or(bytes);
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |n| n + 1);
    let line = before.get(line_start..).unwrap_or_default();
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    (
        memchr::memchr_iter(b'\n', before).count() + 1,
        String::from_utf8_lossy(line).chars().count() + 1,
    )
}

/// Says what is wrong at a place.
fn what(grammar: &Grammar, bytes: &[u8], fault: &Fault) -> String {
    if let Some(kind) = fault.missing {
        return format!("a missing `{}`", grammar.kind_name(kind));
    }
    let text = String::from_utf8_lossy(bytes.get(fault.range.clone()).unwrap_or_default());
    let line = text.lines().next().unwrap_or_default();
    format!("near `{}`", crate::excerpt::cut(line.trim(), 60))
}

/// Returns the replacements in which a piece that was whole no longer is.
fn regrouped(
    grammar: &Grammar,
    parsed: &Tree,
    captures: &[Range<usize>],
    result: &Rewritten,
) -> Vec<usize> {
    // Only what holds a border of a piece can reach over it.
    let pieces = result.replacements.iter().map(|r| &r.after).chain(captures);
    let mut borders: Vec<u32> = pieces
        .filter(|piece| !piece.is_empty())
        .flat_map(|piece| [piece.start as u32, piece.end as u32 - 1])
        .collect();
    borders.sort_unstable();
    let mut flat = FlatTree::default();
    flat.refill(parsed, |_| false, Some(&borders), |_| false);
    let bytes = &result.bytes;
    let mut found = Vec::new();
    let mut captures = captures.iter().peekable();
    for (number, replacement) in result.replacements.iter().enumerate() {
        let mut has_torn = is_torn(grammar, &flat, bytes, &replacement.after);
        while let Some(capture) = captures.next_if(|c| c.start < replacement.after.end) {
            has_torn = has_torn || is_torn(grammar, &flat, bytes, capture);
        }
        if has_torn {
            found.push(number);
        }
    }
    found
}

/// Whether some node reaches over one border of a range and not the other.
fn is_torn(grammar: &Grammar, flat: &FlatTree, bytes: &[u8], range: &Range<usize>) -> bool {
    if range.is_empty() {
        return false;
    }
    let nodes = flat.nodes();
    let (start, end) = (range.start as u32, range.end as u32);
    // White space and terminators do not count.
    let says_nothing = |from: u32, to: u32| {
        let text = bytes.get(from as usize..to as usize).unwrap_or_default();
        text.iter()
            .all(|b| b.is_ascii_whitespace() || matches!(b, b';' | b','))
    };
    let first = nodes.partition_point(|n| n.start < start);
    let mut at = nodes.get(first).map_or(0, |n| n.parent);
    // The smallest node that begins before it.
    while at != 0 && nodes.get(at as usize).is_some_and(|n| n.start >= start) {
        at = nodes.get(at as usize).map_or(0, |n| n.parent);
    }
    if let Some(outer) = nodes.get(at as usize)
        && outer.start < start
        && outer.end > start
        && outer.end < end
        && !says_nothing(outer.start, start)
    {
        return true;
    }
    nodes
        .get(first..)
        .unwrap_or_default()
        .iter()
        .take_while(|n| n.start < end)
        .any(|n| {
            n.start > start
                && n.end > end
                && !says_nothing(end, n.end)
                && !grammar.kind(n.kind).textual
        })
}
