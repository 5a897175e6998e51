//! Splits a fragment of code into the tokens of its language.
//!
//! For what is written and not searched for, as the template of a rewrite:
//! the fragment is read in the same contexts as a pattern, but nothing about it
//! is refused.

use std::ops::Range;

use tree_sitter::Parser;

use super::allowance::{Allowance, Parsed};
use super::build::{chain, is_refused_dollar, is_running_text, smallest_around};
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
            Parsed::Tree(tree) => {
                let tree = FlatTree::whole(&tree);
                if has_refused_dollar(grammar, &tree, &written, &stands) {
                    continue;
                }
                split(grammar, &tree, &written, &stands)
            }
            Parsed::Faulty(_) | Parsed::Spent => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Whether there is a `$name` as no real file has it.
fn has_refused_dollar(
    grammar: &Grammar,
    tree: &FlatTree,
    written: &Written,
    stands: &[Stand],
) -> bool {
    let plain = (written.stands.iter().zip(stands)).filter(|(_, s)| matches!(s, Stand::Plain));
    plain.map(|(place, _)| &place.span).any(|span| {
        let around = smallest_around(tree, span.start as u32, span.end as u32);
        is_refused_dollar(grammar, tree, around)
    })
}

/// Returns the tokens of the fragment; `None` if one straddles its border.
///
/// Every byte that says something is in one: some grammars have no node for a
/// part of a string, or for its closing quote.
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
    let mut splitter = Splitter {
        grammar,
        tree,
        written,
        covered: fragment.start,
        found: Vec::new(),
    };
    let mut at = 0;
    while (at as usize) < tree.nodes().len() {
        let index = at;
        let node = tree.node(index);
        let kind = grammar.kind(node.kind);
        let mut range = tree.range(index);
        let has_hole = holes
            .iter()
            .any(|h| range.start <= h.start && h.end <= range.end);
        let is_whole = tree.is_leaf(index) || (kind.textual && !has_hole);
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
        if range.is_empty() || range.end <= fragment.start || range.start >= fragment.end {
            continue;
        }
        if range.start < fragment.start {
            return None;
        }
        splitter.cover_until(range.start);
        let class = match kind {
            k if k.separator => Class::Separator,
            k if k.terminator => Class::Terminator,
            k if k.closer => Class::Closer,
            _ => Class::Plain,
        };
        if !keeps_blanks(grammar, tree, written, index) {
            let text = written.text.get(range.clone()).unwrap_or_default();
            range.end = range.start + text.trim_ascii_end().len();
        }
        splitter.push(range, class, matter(grammar, tree, written, index));
    }
    splitter.cover_until(fragment.end);
    Some(splitter.found)
}

struct Splitter<'a> {
    grammar: &'a Grammar,
    tree: &'a FlatTree,
    written: &'a Written,
    /// Bytes of what was written up to here are in a token, or say nothing.
    covered: usize,
    found: Vec<Leaf>,
}

impl Splitter<'_> {
    fn push(&mut self, range: Range<usize>, class: Class, matter: Matter) {
        self.covered = self.covered.max(range.end);
        let mapped = self.written.to_pattern(range.start)..self.written.to_pattern(range.end);
        let is_part = (self.found.last()).is_some_and(|l| mapped.start < l.range.end);
        // A part of a longer stand-in.
        if mapped.is_empty() || is_part {
            return;
        }
        self.found.push(Leaf {
            range: mapped,
            class,
            matter,
        });
    }

    /// Makes a token of what has no node up to here, if it says something.
    fn cover_until(&mut self, end: usize) {
        let mut range = self.covered..end;
        let text = self.written.text.get(range.clone()).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        let around = smallest_around(self.tree, range.start as u32, range.end as u32);
        let matter = matter(self.grammar, self.tree, self.written, around);
        if matter != Matter::Text {
            let mut said = Vec::new();
            crate::matcher::push_gap(&mut said, text.as_bytes());
            if said.is_empty() {
                return;
            }
            range.start = range.end - text.trim_start().len();
            range.end = range.start + text.trim().len();
        }
        self.push(range, Class::Plain, matter);
    }
}

/// Whether the white space at the end of a token counts, which some grammars
/// let a token run over: in a text, but for a line break between tags.
pub(super) fn keeps_blanks(
    grammar: &Grammar,
    tree: &FlatTree,
    written: &Written,
    index: u32,
) -> bool {
    match matter(grammar, tree, written, index) {
        Matter::Text => true,
        Matter::Code => {
            let text = written.text.get(tree.range(index)).unwrap_or_default();
            let blanks = text.get(text.trim_ascii_end().len()..);
            is_running_text(grammar.kind_name(tree.node(index).kind))
                && blanks.is_some_and(|b| !b.contains('\n'))
        }
        Matter::Comment => false,
    }
}

/// Says what a token is made of, or what stands between the children of a node.
///
/// What is in brackets of its own in a string is code.
fn matter(grammar: &Grammar, tree: &FlatTree, written: &Written, index: u32) -> Matter {
    let is_dollar = |range: Range<usize>| {
        let mut spans = written.stands.iter().map(|s| &s.span);
        spans.any(|s| s.start <= range.start && range.end <= s.end)
    };
    for at in chain(tree, index) {
        let node = tree.node(at);
        let kind = grammar.kind(node.kind);
        if kind.textual || kind.verbatim {
            return if node.flags.is_extra() {
                Matter::Comment
            } else {
                Matter::Text
            };
        }
        if kind.named && !tree.is_leaf(at) && !is_dollar(tree.range(at)) {
            return Matter::Code;
        }
    }
    Matter::Code
}
