//! Finds the nodes that metavariables stand for.

use super::{Refusal, Root};
use crate::grammar::Grammar;
use crate::pattern::scaffold::{Kept, Written};
use crate::tree::FlatTree;

pub(in crate::pattern) fn chain(tree: &FlatTree, from: u32) -> impl Iterator<Item = u32> {
    let mut next = Some(from);
    std::iter::from_fn(move || {
        let at = next?;
        let parent = tree.node(at).parent;
        next = (parent != at).then_some(parent);
        Some(at)
    })
}

pub(in crate::pattern) fn smallest_around(tree: &FlatTree, start: u32, end: u32) -> u32 {
    let mut at = 0;
    while let Some(inner) = tree.children(at).find(|c| {
        let node = tree.node(*c);
        node.start <= start && end <= node.end && node.start < node.end
    }) {
        at = inner;
    }
    at
}

/// Finds the node a metavariable stands for.
pub(super) fn find_hole(
    grammar: &Grammar,
    tree: &FlatTree,
    kept: &Kept,
    written: &Written,
    (number, is_a_run): (usize, bool),
    root: &Root,
) -> Result<u32, Refusal> {
    let Some(place) = written.stands.get(number) else {
        return Err(Refusal::HoleInToken(number));
    };
    let core = (place.core.start as u32, place.core.end as u32);
    let lowest = (0..tree.nodes().len() as u32)
        .rev()
        .find(|n| {
            kept.range(*n) == Some(core)
                && !kept.reaches_out(*n)
                && grammar.kind(tree.node(*n).kind).named
        })
        .or_else(|| {
            (0..tree.nodes().len() as u32)
                .rev()
                .find(|n| kept.range(*n) == Some(core))
        });
    let Some(mut at) = lowest else {
        // Some grammars count the separator behind an item to the item.
        return item_with_separator(grammar, tree, kept, core).ok_or(Refusal::HoleInToken(number));
    };
    loop {
        let is_top = match root {
            Root::Node(node) => at == *node,
            Root::Siblings { children, .. } => children.contains(&at),
        };
        let parent = tree.node(at).parent;
        let kind = tree.node(parent).kind;
        if is_top
            || parent == at
            || kept.range(parent) != Some(core)
            || grammar.is_list(kind)
            || grammar.kind(kind).token_run
            || (!is_a_run
                && grammar.is_named_by(kind)
                && !is_item_in_brackets(grammar, tree, kept, parent))
        {
            return Ok(at);
        }
        at = parent;
    }
}

/// Finds the node that is `core` and, as its last child, a separator.
pub(super) fn item_with_separator(
    grammar: &Grammar,
    tree: &FlatTree,
    kept: &Kept,
    core: (u32, u32),
) -> Option<u32> {
    (0..tree.nodes().len() as u32).find(|n| {
        let last = tree
            .children(*n)
            .filter(|c| kept.range(*c).is_some())
            .last();
        let is_separator = |c: u32| grammar.kind(tree.node(c).kind).separator;
        tree.node(*n).start == core.0
            && last.is_some_and(|last| {
                let before = tree
                    .children(*n)
                    .take_while(|c| *c != last)
                    .last()
                    .map(|c| tree.node(c).end);
                is_separator(last) && before == Some(core.1)
            })
    })
}

/// Whether a node is an item of a list in brackets: `(int x)`.
pub(super) fn is_item_in_brackets(
    grammar: &Grammar,
    tree: &FlatTree,
    kept: &Kept,
    index: u32,
) -> bool {
    let list = tree.node(index).parent;
    let opens = tree
        .children(list)
        .find(|c| kept.range(*c).is_some())
        .is_some_and(|first| {
            matches!(
                grammar.kind_name(tree.node(first).kind),
                "(" | "[" | "{" | "<"
            )
        });
    opens && grammar.is_list(tree.node(list).kind)
}
