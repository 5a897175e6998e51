//! Splits a fragment of code into the tokens of its language.
//!
//! For what is written and not searched for, as the template of a rewrite:
//! the fragment is read in the same contexts as a pattern, but nothing about it
//! is refused.

use std::ops::Range;

use tree_sitter::Parser;

use super::allowance::{Allowance, Parsed};
use super::scaffold::{self, Stand, Written};
use super::{Compiler, Dollar, DollarForm, Effort, MAX_WORK};
use crate::grammar::Grammar;
use crate::languages::Rung;
use crate::program::Class;
use crate::tree::FlatTree;

/// A token of a fragment, or a whole string or comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Bytes of the fragment.
    pub(crate) range: Range<usize>,
    /// What it does in a list.
    pub(crate) class: Class,
    /// What it is made of.
    pub(crate) matter: Matter,
}

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matter {
    /// Code, in which white space says little.
    Code,
    /// A string or the like, every byte of which counts.
    Text,
    /// A comment.
    Comment,
}

/// Splits `text`, whose `$` are `dollars`, into its tokens.
///
/// Contexts of `rung` are tried first. `None` if no context accepts the text.
pub(crate) fn leaves(
    text: &str,
    dollars: &[Dollar],
    grammar: &Grammar,
    rung: Option<Rung>,
) -> Option<Vec<Leaf>> {
    let mut parser = Parser::new();
    parser.set_language(grammar.parser_language()).ok()?;
    let mut allowance = Allowance::new(&|| false);
    let mut compiler = Compiler {
        text,
        grammar,
        parser,
        fillers: scaffold::fillers(grammar),
        sentinel: scaffold::sentinel(text),
        tried: super::Tried::default(),
        effort: Effort::Quick,
        work: MAX_WORK / 8,
        allowance: &mut allowance,
        fixed: None,
    };
    let contexts = grammar.language().contexts;
    let is_first = |context: &super::Context| Some(context.rung) == rung;
    let ordered =
        (contexts.iter().filter(|c| is_first(c))).chain(contexts.iter().filter(|c| !is_first(c)));
    for context in ordered {
        compiler.allowance.enter_context();
        let mut stands: Vec<Stand> = dollars
            .iter()
            .map(|d| match d.form {
                DollarForm::Hole(..) => Stand::Filler(0),
                DollarForm::Escaped => Stand::Unescaped,
                DollarForm::Plain(_) => Stand::Plain,
            })
            .collect();
        let mut is_accepted = compiler
            .choose_fillers(dollars, &mut stands, *context)
            .is_ok();
        if !is_accepted && scaffold::make_plain_in_quotes(text, dollars, &mut stands) {
            is_accepted = compiler
                .choose_fillers(dollars, &mut stands, *context)
                .is_ok();
        }
        if !is_accepted {
            continue;
        }
        let written = compiler.write(dollars, &stands, *context);
        let found = match compiler.parse(&written) {
            Parsed::Tree(tree) => split(grammar, &FlatTree::whole(&tree), &written, &stands),
            Parsed::Faulty(_) | Parsed::Spent => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the tokens of the fragment; `None` if one straddles its border.
fn split(
    grammar: &Grammar,
    tree: &FlatTree,
    written: &Written,
    stands: &[Stand],
) -> Option<Vec<Leaf>> {
    let holes: Vec<&Range<usize>> = (written.stands.iter().zip(stands))
        .filter(|(_, stand)| matches!(stand, Stand::Filler(_)))
        .map(|(place, _)| &place.span)
        .collect();
    let fragment = &written.fragment;
    let mut found: Vec<Leaf> = Vec::new();
    let mut text_until = 0;
    let mut text_matter = Matter::Code;
    let mut at = 0;
    while (at as usize) < tree.nodes().len() {
        let node = tree.node(at);
        let kind = grammar.kind(node.kind);
        let mut range = tree.range(at);
        if kind.textual && range.start >= text_until {
            text_until = range.end;
            text_matter = if node.flags.is_extra() {
                Matter::Comment
            } else {
                Matter::Text
            };
        }
        let is_text = range.start < text_until;
        let has_hole = holes
            .iter()
            .any(|h| range.start <= h.start && h.end <= range.end);
        let is_whole = tree.is_leaf(at) || (kind.textual && !has_hole);
        at = if is_whole { node.next } else { at + 1 };
        if !is_whole {
            continue;
        }
        if range.end > fragment.end && range.start < fragment.end {
            let beyond = written
                .text
                .get(fragment.end..range.end)
                .unwrap_or_default();
            if !beyond.trim().is_empty() {
                return None;
            }
            range.end = fragment.end;
        }
        // Some grammars let a token run over the white space behind it.
        while range.end > range.start
            && (written.text.as_bytes().get(range.end - 1)).is_some_and(u8::is_ascii_whitespace)
        {
            range.end -= 1;
        }
        if range.is_empty() || range.end <= fragment.start || range.start >= fragment.end {
            continue;
        }
        if range.start < fragment.start {
            return None;
        }
        let mapped = written.to_pattern(range.start)..written.to_pattern(range.end);
        if mapped.is_empty() || found.last().is_some_and(|l| mapped.start < l.range.end) {
            // A part of a longer stand-in.
            continue;
        }
        found.push(Leaf {
            range: mapped,
            class: match kind {
                k if k.separator => Class::Separator,
                k if k.terminator => Class::Terminator,
                k if k.closer => Class::Closer,
                _ => Class::Plain,
            },
            matter: if is_text { text_matter } else { Matter::Code },
        });
    }
    Some(found)
}
