//! Refuses readings that say something else than the fragment does.

use super::Refusal;
use super::holes::{chain, smallest_around};
use crate::grammar::Grammar;
use crate::pattern::lex::{Dollar, DollarForm, PlainReason};
use crate::pattern::scaffold::{Kept, Stand, Written};
use crate::tree::FlatTree;

/// Refuses what only the grammar lets through: keywords as names, empty blocks.
pub(super) fn check_language(
    grammar: &Grammar,
    tree: &FlatTree,
    kept: &Kept,
    written: &Written,
) -> Result<(), Refusal> {
    let language = grammar.language();
    let leaves = || (0..tree.nodes().len() as u32).filter(|n| tree.is_leaf(*n));
    if let Some(first) = leaves().find(|n| kept.range(*n).is_some()) {
        let node = tree.node(first);
        let text = written.text.get(tree.range(first)).unwrap_or_default();
        // Some grammars have the keyword itself as a leaf of the name.
        let mut same = chain(tree, first).take_while(|n| tree.range(*n) == tree.range(first));
        if same.any(|n| language.reserves(grammar.kind_name(tree.node(n).kind), text)) {
            return Err(Refusal::NotWhole {
                at: written.to_pattern(node.start as usize),
            });
        }
    }
    if language.never_empty.is_empty() {
        return Ok(());
    }
    for index in 0..tree.nodes().len() as u32 {
        let node = tree.node(index);
        let is_inside = node.start as usize >= written.fragment.start
            && node.end as usize <= written.fragment.end;
        if is_inside
            && tree.is_leaf(index)
            && language.never_empty.contains(&grammar.kind_name(node.kind))
        {
            return Err(Refusal::NotWhole {
                at: written.to_pattern(node.start as usize),
            });
        }
    }
    Ok(())
}

/// Refuses metavariables and `$` where they are text or part of a token.
pub(super) fn check_text(
    grammar: &Grammar,
    tree: &FlatTree,
    written: &Written,
    dollars: &[Dollar],
    stands: &[Stand],
) -> Result<(), Refusal> {
    for (number, (dollar, stand)) in dollars.iter().zip(stands).enumerate() {
        let Some(place) = written.stands.get(number) else {
            continue;
        };
        let around = smallest_around(tree, place.sentinel.start as u32, place.sentinel.end as u32);
        let node = tree.node(around);
        let is_text = chain(tree, around)
            .take_while(|n| {
                let n = tree.node(*n);
                (n.start, n.end) == (node.start, node.end)
            })
            .any(|n| grammar.kind(tree.node(n).kind).textual);
        match stand {
            Stand::Filler(_) if place.is_quoted => {}
            Stand::Filler(_) => {
                let whole = node.start as usize == place.sentinel.start
                    && node.end as usize == place.sentinel.end
                    || node.start as usize >= place.span.start
                        && node.end as usize <= place.span.end;
                if is_text || (!whole && in_text(grammar, tree, around)) {
                    return Err(Refusal::InText(number));
                }
                if !whole {
                    return Err(Refusal::HoleInToken(number));
                }
            }
            Stand::Unescaped => {}
            Stand::Plain => {
                let DollarForm::Plain(reason) = &dollar.form else {
                    continue;
                };
                let text = is_text || in_text(grammar, tree, around);
                if text || *reason == PlainReason::Bare {
                    continue;
                }
                let is_refused = is_refused_dollar(grammar, tree, around);
                if is_refused || *reason == PlainReason::TwoDollars {
                    return Err(Refusal::BadDollar(number));
                }
            }
        }
    }
    Ok(())
}

/// Whether only the grammar has a `$name` here, and no real file.
pub(in crate::pattern) fn is_refused_dollar(
    grammar: &Grammar,
    tree: &FlatTree,
    around: u32,
) -> bool {
    let refused = grammar.language().refused_dollar_kinds;
    let kind = |n: u32| tree.node(n).kind;
    let in_tokens = || chain(tree, around).any(|n| grammar.kind(kind(n)).token_run);
    chain(tree, around)
        .take(3)
        .any(|n| refused.contains(&grammar.kind_name(kind(n))))
        && !in_tokens()
}

/// Whether a node is a text token, or the text between the parts of one.
pub(super) fn in_text(grammar: &Grammar, tree: &FlatTree, index: u32) -> bool {
    let kind = grammar.kind(tree.node(index).kind);
    kind.textual
        || (tree.is_leaf(index) && is_running_text(grammar.kind_name(tree.node(index).kind)))
}

/// Kinds that hold running text: a metavariable is one only when it is all of it.
pub(in crate::pattern) fn is_running_text(name: &str) -> bool {
    name.contains("text")
        || name.contains("content")
        || name.contains("fragment")
        || name.contains("inline")
}
