//! Takes out whole what becomes nothing: a statement with its line, an element
//! of a list with one separator.

use std::ops::Range;

use super::Edit;
use super::assemble::Hit;
use crate::grammar::Grammar;
use crate::tree::FlatTree;

/// The nodes that a deletion takes out: siblings, without what is between them.
#[derive(Debug, Clone, Copy)]
struct Siblings {
    parent: u32,
    first: u32,
    /// One past the last.
    next: u32,
}

/// Widens the edits that delete; the others stay as they are.
///
/// Edits stay in order and apart from each other.
pub(super) fn widen(
    grammar: &Grammar,
    tree: &FlatTree,
    source: &[u8],
    hits: &[Hit],
    edits: Vec<Edit>,
) -> Vec<Edit> {
    if edits.iter().all(|e| !e.text.is_empty()) {
        return edits;
    }
    let context = Context {
        grammar,
        tree,
        source,
    };
    let mut widened: Vec<Edit> = Vec::with_capacity(edits.len());
    // The separator in front of the deleted elements that the last edit ends,
    // and how many edits there are before the first of those.
    let mut row: Option<Row> = None;
    let mut edits = edits.into_iter().peekable();
    while let Some(edit) = edits.next() {
        let floor = widened.last().map_or(0, |e| e.before.end);
        let ceiling = edits.peek().map_or(source.len(), |e| e.before.start);
        let hit = edit.hit.and_then(|h| hits.get(h));
        let Some(hit) = hit.filter(|_| edit.text.is_empty()) else {
            row = None;
            widened.push(edit);
            continue;
        };
        let siblings = context.widest(hit);
        let mut range = edit.before.clone();
        range.end = range.end.max(context.end(siblings));
        let before = context.before(siblings);
        let behind = context.behind(siblings);
        let mut blanks = Blanks::BehindOthers;
        let is_separator = |n: Option<u32>| n.is_some_and(|n| context.is_separator(n));
        let own_row = row.take().filter(|r| r.next == siblings.first);
        if is_separator(before) || is_separator(behind) {
            let mut this = own_row.unwrap_or(Row {
                separator: before.filter(|n| context.is_separator(*n)),
                edits: widened.len(),
                next: 0,
            });
            match behind.filter(|n| context.is_separator(*n)) {
                Some(separator) => {
                    range.end = tree.node(separator).end as usize;
                    this.next = context.item_behind(separator);
                    if this.next >= tree.node(siblings.parent).next
                        || grammar.kind(tree.node(this.next).kind).closer
                    {
                        blanks = Blanks::Before;
                    }
                    row = Some(this);
                }
                // The last element goes with the separator in front of the row.
                None => {
                    if let Some(separator) = this.separator {
                        blanks = Blanks::None;
                        let comma_blanks = if context.is_before_comment(separator) {
                            Blanks::None
                        } else {
                            Blanks::Behind
                        };
                        let comma = context.clean(tree.range(separator), comma_blanks);
                        let room = |e: &Edit| e.before.end;
                        let floor = this
                            .edits
                            .checked_sub(1)
                            .and_then(|i| widened.get(i))
                            .map_or(0, room);
                        let ceiling = widened
                            .get(this.edits)
                            .map_or(range.start, |e| e.before.start);
                        widened.insert(
                            this.edits,
                            Edit {
                                before: comma.start.max(floor)..comma.end.min(ceiling),
                                text: 0..0,
                                hit: None,
                            },
                        );
                    }
                }
            }
        } else if let Some(terminator) =
            behind.filter(|n| grammar.kind(tree.node(*n).kind).terminator)
        {
            range.end = range.end.max(tree.node(terminator).end as usize);
        }
        let floor = widened.last().map_or(floor, |e| e.before.end);
        let range = context.clean(range, blanks);
        widened.push(Edit {
            before: range.start.max(floor)..range.end.min(ceiling),
            ..edit
        });
    }
    widened
}

/// Deleted elements of a list, side by side.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// The separator in front of the first.
    separator: Option<u32>,
    /// How many edits come before the first.
    edits: usize,
    /// The element behind the last.
    next: u32,
}

/// Which blanks beside a deletion go with it, on a line that has more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blanks {
    None,
    /// Those in front of it.
    Before,
    /// Those behind it.
    Behind,
    /// Those behind it, where blanks or a bracket are in front of it.
    BehindOthers,
}

struct Context<'a> {
    grammar: &'a Grammar,
    tree: &'a FlatTree,
    source: &'a [u8],
}

impl Context<'_> {
    /// Returns what holds nothing but the match and a terminator.
    fn widest(&self, hit: &Hit) -> Siblings {
        let (mut first, mut next) = (hit.found.node, hit.found.next);
        loop {
            let parent = self.tree.node(first).parent;
            let siblings = Siblings {
                parent,
                first,
                next,
            };
            let outer = self.tree.node(parent);
            let is_all = parent != first
                && parent != 0
                && first == parent + 1
                && !self.grammar.is_list(outer.kind)
                && self.is_ended(next, outer.next);
            if !is_all {
                return siblings;
            }
            (first, next) = (parent, outer.next);
        }
    }

    /// Whether nothing but terminators and comments come before `end`.
    fn is_ended(&self, mut at: u32, end: u32) -> bool {
        while at < end {
            let node = self.tree.node(at);
            if !node.flags.is_extra() && !self.grammar.kind(node.kind).terminator {
                return false;
            }
            at = node.next;
        }
        true
    }

    fn end(&self, siblings: Siblings) -> usize {
        let mut at = siblings.first;
        let mut end = 0;
        while at < siblings.next {
            let node = self.tree.node(at);
            end = node.end as usize;
            at = node.next;
        }
        super::assemble::without_line_end(
            self.source,
            self.tree.node(siblings.first).start as usize..end,
        )
        .end
    }

    fn is_separator(&self, at: u32) -> bool {
        self.grammar.kind(self.tree.node(at).kind).separator
    }

    /// Returns the sibling behind, over comments.
    fn behind(&self, siblings: Siblings) -> Option<u32> {
        let end = self.tree.node(siblings.parent).next;
        let mut at = siblings.next;
        while at < end && self.tree.node(at).flags.is_extra() {
            at = self.tree.node(at).next;
        }
        (at < end).then_some(at)
    }

    /// Whether a comment is next behind a separator.
    fn is_before_comment(&self, separator: u32) -> bool {
        let node = self.tree.node(separator);
        node.next < self.tree.node(node.parent).next && self.tree.node(node.next).flags.is_extra()
    }

    /// Returns the element behind a separator, over comments.
    fn item_behind(&self, separator: u32) -> u32 {
        let node = self.tree.node(separator);
        let end = self.tree.node(node.parent).next;
        let mut at = node.next;
        while at < end && self.tree.node(at).flags.is_extra() {
            at = self.tree.node(at).next;
        }
        at
    }

    /// Returns the sibling in front, over comments.
    fn before(&self, siblings: Siblings) -> Option<u32> {
        // Back over the nodes within the sibling in front, up to itself.
        let mut at = siblings.first.checked_sub(1)?;
        loop {
            if at <= siblings.parent {
                return None;
            }
            let node = self.tree.node(at);
            if node.parent != siblings.parent {
                at = node.parent;
            } else if node.flags.is_extra() {
                at -= 1;
            } else {
                return Some(at);
            }
        }
    }

    /// Widens a range to its lines, if nothing else is on them, or else to the
    /// white space that would be left over.
    fn clean(&self, range: Range<usize>, blanks: Blanks) -> Range<usize> {
        let source = self.source;
        let before = source.get(..range.start).unwrap_or_default();
        let behind = source.get(range.end..).unwrap_or_default();
        let is_blank = |b: &&u8| matches!(**b, b' ' | b'\t');
        let before_len = before.iter().rev().take_while(is_blank).count();
        let behind_len = behind.iter().take_while(is_blank).count();
        let start = range.start - before_len;
        let end = range.end + behind_len;
        let begins_line = matches!(
            before.get(..before.len() - before_len).unwrap_or_default(),
            [] | [.., b'\n'] | b"\xEF\xBB\xBF"
        );
        let rest = behind.get(behind_len..).unwrap_or_default();
        let line_end = match rest {
            [b'\n', ..] => Some(1),
            [b'\r', b'\n', ..] => Some(2),
            [] => Some(0),
            _ => None,
        };
        match line_end {
            Some(length) if begins_line => start..end + length,
            Some(_) => start..range.end,
            None if begins_line => range.start..end,
            None if blanks == Blanks::None => range,
            None if blanks == Blanks::Before => start..range.end,
            None if blanks == Blanks::Behind
                || before_len > 0
                || matches!(before.last(), Some(b'(' | b'[' | b'{' | b'<')) =>
            {
                range.start..end
            }
            None => range,
        }
    }
}
