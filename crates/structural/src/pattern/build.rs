//! Turns the tree of an accepted fragment into a program.

mod check;
mod holes;

use tree_sitter::Tree;

use super::lex::{Dollar, DollarForm};
use super::scaffold::{Kept, Stand, Written, is_run};
use super::{Attempt, Variable};
use crate::grammar::{Grammar, Kind};
use crate::languages::{Context, Rung};
use crate::program::{Class, Literal, Op, Optional, Program, RunAfter, Token};
use crate::tree::FlatTree;
use check::{check_language, check_text};
pub(super) use check::{is_refused_dollar, is_running_text};
use holes::find_hole;
pub(super) use holes::{chain, smallest_around};

/// The deepest pattern accepted, in nested nodes.
const MAX_DEPTH: usize = 200;

/// One way to read a pattern.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) program: Program,
    pub(super) root_name: String,
    /// Whether it has no name and no value of its own beside metavariables.
    pub(super) has_only_holes: bool,
    /// Names of the root, and of what is in it when that is all of it.
    names: Vec<String>,
    /// Metavariables that turned out to be plain text in this reading.
    pub(super) plain_holes: Vec<String>,
}

impl Reading {
    pub(super) fn is_any_of(&self, kinds: &[&str]) -> bool {
        self.names.iter().any(|n| kinds.contains(&n.as_str()))
    }
}

/// Why a context did not accept a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It does not parse.
    Fault { at: usize, cost: usize },
    /// It parses, but not as something whole.
    NotWhole { at: usize },
    /// A metavariable (by number) is in a string, comment or the like.
    InText(usize),
    /// A metavariable (by number) is part of a token.
    HoleInToken(usize),
    /// A `$name` where the language has none.
    BadDollar(usize),
    /// Nothing but metavariables.
    OnlyHoles,
    /// The context is for other kinds of fragments.
    NotMeant,
    /// Nested too deeply.
    TooDeep,
}

impl Refusal {
    pub(super) fn cost(&self) -> usize {
        match self {
            Self::Fault { cost, .. } => *cost,
            _ => usize::MAX,
        }
    }

    pub(super) fn into_attempt(self, rung: Rung, text: &str) -> Attempt {
        let (at, why) = match self {
            Self::Fault { at, .. } => (at, "does not parse"),
            Self::NotWhole { at } => (at, "is not one whole piece of code"),
            Self::NotMeant => (0, "is something else"),
            _ => (0, "does not parse"),
        };
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = text.get(..at).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        let rest = text.get(at..).unwrap_or_default();
        let near: String = rest
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(20)
            .collect();
        Attempt {
            rung,
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            near,
            why,
        }
    }
}

impl Program {
    /// Returns whether two programs do the same, whatever they were read as.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.ops == other.ops
            && self.is_sequence == other.is_sequence
            && self.parent == other.parent
    }
}

struct Builder<'a> {
    grammar: &'a Grammar,
    tree: &'a FlatTree,
    kept: &'a Kept,
    written: &'a Written,
    /// Per metavariable of the reading: the node it stands for, its `$` number.
    holes: Vec<(u32, usize)>,
    dollars: &'a [Dollar],
    variables: &'a [Variable],
    /// Whether the pattern is one node, as against several siblings.
    is_one_node: bool,
    ops: Vec<Op>,
    places: Vec<u32>,
    literals: Vec<Literal>,
}

pub(super) fn build(
    grammar: &Grammar,
    tree: &Tree,
    written: &Written,
    dollars: &[Dollar],
    stands: &[Stand],
    variables: &[Variable],
    context: Context,
) -> Result<Reading, Refusal> {
    let flat = FlatTree::whole(tree);
    check_text(grammar, &flat, written, dollars, stands)?;
    let Some(kept) = Kept::mark(grammar, &flat, written) else {
        return Err(Refusal::NotWhole { at: 0 });
    };
    check_language(grammar, &flat, &kept, written)?;
    let root = find_root(grammar, &flat, &kept, written, context)?;
    if !context.takes(spanning(grammar, &flat, &kept, &root).into_iter()) {
        return Err(Refusal::NotMeant);
    }
    let mut holes = Vec::new();
    for (number, stand) in stands.iter().enumerate() {
        if matches!(stand, Stand::Filler(_)) {
            holes.push((
                find_hole(
                    grammar,
                    &flat,
                    &kept,
                    written,
                    (number, dollars.get(number).is_some_and(is_run)),
                    &root,
                )?,
                number,
            ));
        }
    }
    let mut builder = Builder {
        grammar,
        tree: &flat,
        kept: &kept,
        written,
        holes,
        dollars,
        variables,
        is_one_node: matches!(root, Root::Node(_)),
        ops: Vec::new(),
        places: Vec::new(),
        literals: Vec::new(),
    };
    let (top, is_sequence, parent): (Vec<u32>, bool, Option<u16>) = match &root {
        Root::Node(node) => (vec![*node], false, None),
        Root::Siblings { parent, children } => {
            let kind = flat.node(*parent).kind;
            (
                children.clone(),
                true,
                Some(kind).filter(|k| !grammar.is_list(*k)),
            )
        }
    };
    // Runs at the ends of a sequence would bind nothing.
    let top: Vec<u32> = {
        let is_run_node = |n: &u32| {
            builder
                .hole_at(*n)
                .is_some_and(|d| dollars.get(d).is_some_and(is_run))
        };
        let from = top
            .iter()
            .position(|n| !is_run_node(n))
            .unwrap_or(top.len());
        let to = top
            .iter()
            .rposition(|n| !is_run_node(n))
            .map_or(from, |n| n + 1);
        top.get(from..to).unwrap_or_default().to_vec()
    };
    let has_code = top
        .iter()
        .any(|n| grammar.kind(flat.node(*n).kind).named && builder.hole_at(*n).is_none())
        || (!is_sequence && !top.is_empty() && builder.hole_at(top[0]).is_none());
    if !has_code {
        return Err(if builder.holes.is_empty() {
            Refusal::NotWhole { at: 0 }
        } else {
            Refusal::OnlyHoles
        });
    }
    builder.children(&top, 0, true)?;
    builder.push(Op::Done, written.fragment.end);
    let first = top
        .first()
        .filter(|n| builder.hole_at(**n).is_none())
        .map(|n| flat.node(*n).kind);
    let mut names: Vec<String> = Vec::new();
    if let Root::Node(mut node) = root {
        names.push(grammar.kind_name(flat.node(node).kind).to_owned());
        loop {
            let named: Vec<u32> = flat
                .children(node)
                .filter(|c| grammar.kind(flat.node(*c).kind).named && kept.range(*c).is_some())
                .collect();
            let [only] = named.as_slice() else { break };
            if names.len() == 4 {
                break;
            }
            names.push(grammar.kind_name(flat.node(*only).kind).to_owned());
            node = *only;
        }
    } else {
        names.extend(
            top.iter()
                .filter(|n| grammar.kind(flat.node(**n).kind).named)
                .map(|n| grammar.kind_name(flat.node(*n).kind).to_owned()),
        );
    }
    let plain_holes = dollars
        .iter()
        .zip(stands)
        .filter(|(d, s)| matches!(d.form, DollarForm::Hole(..)) && !matches!(s, Stand::Filler(_)))
        .map(|(d, _)| dollar_text(d))
        .collect();
    let mut literals = builder.literals;
    literals.sort_by_key(|l| std::cmp::Reverse(l.text.len()));
    literals.dedup();
    let (ops, places) = (builder.ops, builder.places);
    let mut depth = 0;
    let has_only_holes = !ops.iter().any(|op| {
        match op {
            Op::Enter { .. } => depth += 1,
            Op::Leave { .. } => depth -= 1,
            _ => {}
        }
        // Beyond the punctuation between the metavariables.
        matches!(op, Op::Token(token) if token.is_named || is_word(&token.text) || depth > 1)
    });
    let depends = depends(&ops);
    let root_name = if is_sequence {
        "sequence".to_owned()
    } else {
        names.first().cloned().unwrap_or_default()
    };
    Ok(Reading {
        program: Program {
            ops,
            places,
            rung: context.rung,
            first,
            is_sequence,
            parent,
            literals,
            depends,
        },
        root_name,
        has_only_holes,
        names,
        plain_holes,
    })
}

fn dollar_text(dollar: &Dollar) -> String {
    match &dollar.form {
        DollarForm::Hole(super::HoleKind::One, name) => format!("${name}"),
        DollarForm::Hole(super::HoleKind::Run, name) => format!("$$${name}"),
        _ => String::new(),
    }
}

enum Root {
    Node(u32),
    Siblings { parent: u32, children: Vec<u32> },
}

/// Finds the smallest node, or the siblings, that the fragment is.
fn find_root(
    grammar: &Grammar,
    tree: &FlatTree,
    kept: &Kept,
    written: &Written,
    context: Context,
) -> Result<Root, Refusal> {
    let mut at = 0;
    if kept.range(at).is_none() {
        return Err(Refusal::NotWhole { at: 0 });
    }
    loop {
        let inside: Vec<u32> = tree
            .children(at)
            .filter(|c| kept.range(*c).is_some())
            .collect();
        match inside.as_slice() {
            [] => break,
            [only]
                if grammar.kind(tree.node(*only).kind).named
                    && !has_own_text(tree, kept, written, at, *only) =>
            {
                at = *only;
            }
            _ => break,
        }
    }
    let children: Vec<u32> = tree
        .children(at)
        .filter(|c| kept.range(*c).is_some())
        .collect();
    let kinds = || children.iter().map(|c| grammar.kind(tree.node(*c).kind));
    let is_list = grammar.is_list(tree.node(at).kind);
    // A bare row of statements is no node of its own, whatever holds it.
    let is_bare_row =
        is_list && kinds().any(|k| k.named) && kinds().all(|k| k.named || k.terminator);
    if !kept.reaches_out(at) && !is_bare_row {
        return Ok(Root::Node(at));
    }
    let fits = is_list || !context.kinds.is_empty();
    if !fits || children.is_empty() || children.iter().any(|c| kept.reaches_out(*c)) {
        return Err(Refusal::NotWhole { at: 0 });
    }
    Ok(Root::Siblings {
        parent: at,
        children,
    })
}

/// Whether the fragment has text that is the node's and not its only child's,
/// with no node of its own: the quotes of a raw string in Rust.
fn has_own_text(tree: &FlatTree, kept: &Kept, written: &Written, node: u32, only: u32) -> bool {
    if kept.reaches_out(node) {
        return false;
    }
    let fragment = &written.fragment;
    let (outer, inner) = (tree.range(node), tree.range(only));
    let text = |from: usize, to: usize| {
        let (from, to) = (from.max(fragment.start), to.min(fragment.end));
        written.text.as_bytes().get(from..to).unwrap_or_default()
    };
    let mut own = Vec::new();
    crate::matcher::push_gap(&mut own, text(outer.start, inner.start));
    crate::matcher::push_gap(&mut own, text(inner.end, outer.end));
    !own.is_empty()
}

/// Returns the kinds that span the whole fragment: see [`Context::takes`].
fn spanning<'g>(grammar: &'g Grammar, tree: &FlatTree, kept: &Kept, root: &Root) -> Vec<&'g str> {
    let name = |n: u32| grammar.kind_name(tree.node(n).kind);
    match root {
        Root::Siblings { children, .. } => children.first().map(|c| name(*c)).into_iter().collect(),
        Root::Node(node) => {
            let range = kept.range(*node);
            let mut names: Vec<&str> = chain(tree, *node)
                .take_while(|n| kept.range(*n) == range)
                .map(name)
                .collect();
            let mut at = *node;
            loop {
                let mut named = tree
                    .children(at)
                    .filter(|c| grammar.kind(tree.node(*c).kind).named && kept.range(*c).is_some());
                let (Some(only), None) = (named.next(), named.next()) else {
                    return names;
                };
                names.push(name(only));
                at = only;
            }
        }
    }
}

impl Builder<'_> {
    fn push(&mut self, op: Op, place: usize) {
        self.ops.push(op);
        self.places.push(self.written.to_pattern(place) as u32);
    }

    fn hole_at(&self, node: u32) -> Option<usize> {
        self.holes.iter().find(|(n, _)| *n == node).map(|(_, d)| *d)
    }

    fn has_hole_inside(&self, node: u32) -> bool {
        let next = self.tree.node(node).next;
        self.holes.iter().any(|(n, _)| (node..next).contains(n))
    }

    fn variable(&self, dollar: usize) -> Option<u8> {
        let DollarForm::Hole(_, name) = &self.dollars.get(dollar)?.form else {
            return None;
        };
        let at = self.variables.iter().position(|v| v.name == *name)?;
        u8::try_from(at).ok()
    }

    /// Writes the steps for a row of siblings.
    fn children(&mut self, nodes: &[u32], depth: usize, is_top: bool) -> Result<(), Refusal> {
        for (at, node) in nodes.iter().enumerate() {
            let is_run_at = |other: Option<&u32>| {
                other
                    .and_then(|n| self.hole_at(*n))
                    .and_then(|d| self.dollars.get(d))
                    .is_some_and(is_run)
            };
            let before_run = is_run_at(nodes.get(at + 1));
            let separator_after = nodes
                .get(at + 1)
                .is_some_and(|n| self.grammar.kind(self.tree.node(*n).kind).separator);
            self.node(*node, depth, is_top, before_run, separator_after)?;
        }
        Ok(())
    }

    fn node(
        &mut self,
        index: u32,
        depth: usize,
        is_top: bool,
        before_run: bool,
        separator_after: bool,
    ) -> Result<(), Refusal> {
        if depth > MAX_DEPTH {
            return Err(Refusal::TooDeep);
        }
        let node = *self.tree.node(index);
        let kind = self.grammar.kind(node.kind);
        let field = if is_top || !kind.named { 0 } else { node.field };
        let start = node.start as usize;
        if let Some(dollar) = self.hole_at(index) {
            let variable = self.variable(dollar);
            let op = if self.dollars.get(dollar).is_some_and(is_run) {
                let after = if separator_after {
                    RunAfter::Separator
                } else {
                    RunAfter::Other
                };
                Op::Run { variable, after }
            } else {
                let parent = self.tree.node(node.parent).kind;
                Op::Hole {
                    variable,
                    field,
                    in_token_run: self.grammar.kind(parent).token_run,
                }
            };
            self.push(op, start);
            return Ok(());
        }
        let has_hole = self.has_hole_inside(index);
        let inside: Vec<u32> = self
            .tree
            .children(index)
            .filter(|c| {
                self.kept.range(*c).is_some()
                    || (self.tree.node(*c).flags.is_extra() && self.in_fragment(*c))
            })
            .filter(|c| !self.kept.is_dropped(*c))
            .collect();
        if inside.is_empty() || (kind.textual && !has_hole) {
            self.token(index, field, before_run);
            return Ok(());
        }
        let enter = self.ops.len();
        self.push(
            Op::Enter {
                kind: node.kind,
                field,
                optional: None,
            },
            start,
        );
        self.children(&inside, depth + 1, false)?;
        let gap = gap(
            kind,
            &self.written.text,
            self.clipped(index),
            inside.iter().map(|c| self.clipped(*c)),
        );
        self.push(Op::Leave { gap }, self.clipped(index).1);
        let behind = self.ops.len();
        if let [only] = inside.as_slice()
            && let Some(dollar) = self.hole_at(*only)
            && self.dollars.get(dollar).is_some_and(is_run)
            && !kind.token_run
            && !(is_top && self.is_one_node)
        {
            let optional = Some(Optional {
                behind: behind as u16,
                variable: self.variable(dollar),
            });
            if let Some(op) = self.ops.get_mut(enter) {
                *op = Op::Enter {
                    kind: node.kind,
                    field,
                    optional,
                };
            }
        }
        Ok(())
    }

    /// Whether a node lies in the fragment.
    fn in_fragment(&self, index: u32) -> bool {
        let range = self.tree.range(index);
        range.start >= self.written.fragment.start && range.end <= self.written.fragment.end
    }

    /// The bytes of a node that belong to the fragment.
    fn clipped(&self, index: u32) -> (usize, usize) {
        let range = self.tree.range(index);
        match self.kept.range(index) {
            Some((_, end)) if range.end > self.written.fragment.end => (range.start, end as usize),
            _ => (range.start, range.end),
        }
    }

    fn token(&mut self, index: u32, field: u16, before_run: bool) {
        let node = *self.tree.node(index);
        let kind = self.grammar.kind(node.kind);
        let (start, end) = self.clipped(index);
        let text = self.written.text.get(start..end).unwrap_or_default();
        let class = match kind {
            k if k.separator => Class::Separator,
            k if k.terminator => Class::Terminator,
            k if k.closer => Class::Closer,
            _ => Class::Plain,
        };
        self.note_literal(text, kind, class);
        let keeps_blanks =
            super::leaves::keeps_blanks(self.grammar, self.tree, self.written, index);
        self.push(
            Op::Token(Token {
                kind: node.kind,
                field,
                text: text.as_bytes().into(),
                class,
                is_extra: node.flags.is_extra(),
                is_named: kind.named,
                keeps_blanks,
                before_run: before_run && class == Class::Separator,
            }),
            start,
        );
    }

    /// Notes a text that must occur byte for byte in every match.
    fn note_literal(&mut self, text: &str, kind: Kind, class: Class) {
        let language = self.grammar.language();
        let is_word =
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if class != Class::Plain || text.contains(['\n', '\r']) {
            return;
        }
        // Operators are written one way; brackets in pairs may have a space in them.
        let is_operator = !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_punctuation() && b != b'#')
            && !matches!(text, "()" | "[]" | "{}");
        let fits = if kind.named {
            !kind.keyword && text.len() > 1
        } else {
            (is_word && text.len() > 1 && !language.ignores_case) || is_operator
        };
        if fits && !text.contains(char::is_whitespace) {
            let starts_alone = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            self.literals.push(Literal {
                text: text.as_bytes().into(),
                is_word: is_word && starts_alone && language.whole_words && !kind.textual,
            });
        }
    }
}

fn is_word(text: &[u8]) -> bool {
    text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

/// Finds a keyword that the grammar took for a name right behind a
/// metavariable, as in `$$$BODY break;`, and returns its first byte.
pub(super) fn keyword_behind_hole(
    grammar: &Grammar,
    tree: &Tree,
    written: &Written,
) -> Option<usize> {
    if grammar.language().reserved.is_empty() {
        return None;
    }
    let flat = FlatTree::whole(tree);
    let mut is_behind = false;
    for index in (0..flat.nodes().len() as u32).filter(|n| flat.is_leaf(*n)) {
        let range = flat.range(index);
        let text = written.text.get(range.clone()).unwrap_or_default();
        let kind = grammar.kind_name(flat.node(index).kind);
        if is_behind && grammar.language().reserves(kind, text) {
            return Some(range.start);
        }
        is_behind = written.stands.iter().any(|s| s.sentinel == range);
    }
    None
}

/// Returns the text of a node that no child covers, without what says nothing.
fn gap(
    kind: Kind,
    text: &str,
    whole: (usize, usize),
    children: impl Iterator<Item = (usize, usize)>,
) -> Box<[u8]> {
    let mut gap = Vec::new();
    let mut at = whole.0;
    for (start, end) in children {
        let text = text.as_bytes().get(at..start).unwrap_or_default();
        crate::matcher::push_gap_in(kind, &mut gap, text);
        at = at.max(end);
    }
    let text = text.as_bytes().get(at..whole.1).unwrap_or_default();
    crate::matcher::push_gap_in(kind, &mut gap, text);
    gap.into()
}

/// For each step, whether a later step compares with something bound before it.
fn depends(ops: &[Op]) -> Vec<bool> {
    let bound = |op: &Op| match op {
        Op::Hole { variable, .. } | Op::Run { variable, .. } => *variable,
        Op::Enter { optional, .. } => optional.and_then(|o| o.variable),
        _ => None,
    };
    (0..ops.len())
        .map(|at| {
            ops[at..]
                .iter()
                .filter_map(bound)
                .any(|v| ops[..at].iter().filter_map(bound).any(|b| b == v))
        })
        .collect()
}
