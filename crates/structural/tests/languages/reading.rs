//! Reads a fragment in one context and says whether the context accepts it.
//!
//! A plain, slow statement of the rule that the tables are written against: the
//! whole scaffold parses without an error, and the fragment is covered exactly
//! by one node or by consecutive siblings, less a terminator that the suffix
//! supplies.

use std::ops::Range;

use structural::languages::{Context, HoleForm, Language};
use tree_sitter::{Node, Parser, Tree};

/// A fragment read in a context.
pub(crate) struct Reading {
    text: String,
    tree: Tree,
    span: Range<usize>,
}

/// Why a context refuses a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The parser reported an error or put in a missing token.
    Syntax(String),
    /// The fragment is not made of whole nodes.
    Span(String),
    /// The context is not meant for nodes of this kind.
    Kind(String),
}

/// A piece of a fragment: text, or a metavariable with its number.
enum Piece<'a> {
    Text(&'a str),
    Hole(usize),
}

/// Cuts `$NAME`, `$_` and `$$$NAME` out of a fragment; also returns their names.
fn pieces(fragment: &str) -> (Vec<Piece<'_>>, Vec<&str>) {
    let mut pieces = Vec::new();
    let mut names = Vec::new();
    let mut rest = fragment;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        let dollars = from.bytes().take_while(|b| *b == b'$').count();
        let name = from[dollars..]
            .bytes()
            .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
            .count();
        let is_hole = (dollars == 1 && name > 0 || dollars == 3)
            && !from.as_bytes().get(dollars).is_some_and(u8::is_ascii_digit);
        if is_hole {
            pieces.push(Piece::Text(before));
            pieces.push(Piece::Hole(names.len()));
            names.push(&from[dollars..dollars + name]);
        } else {
            pieces.push(Piece::Text(&rest[..at + dollars + name]));
        }
        rest = &from[dollars + name..];
    }
    pieces.push(Piece::Text(rest));
    (pieces, names)
}

/// The texts that may stand for a metavariable: `@` is its name, `%` its name in lower case.
fn forms(language: &Language) -> Vec<&'static str> {
    let plain = language.holes.iter().map(|form| match form {
        HoleForm::Upper => "@",
        HoleForm::Lower => "%",
        HoleForm::Quoted => "\"@\"",
        HoleForm::Dollar => "$%",
    });
    plain
        .chain(["@;"])
        .chain(language.fillers.iter().copied())
        .collect()
}

/// Whether a hole has its slot to itself, so that a whole construct may stand for it.
fn stands_alone(language: &Language, pieces: &[Piece<'_>], number: usize) -> bool {
    const BEFORE: &[&str] = &["{", "}", "(", ")", "[", ",", ";", "\n", "|"];
    const AFTER: &[&str] = &["{", "}", ")", "]", ",", ";", "\n", "|"];
    let at = pieces
        .iter()
        .position(|p| matches!(p, Piece::Hole(n) if *n == number))
        .unwrap();
    let text = |at: usize| match pieces.get(at) {
        Some(Piece::Text(text)) => *text,
        _ => "",
    };
    let (before, after) = (text(at - 1), text(at + 1));
    let ends = |text: &str| {
        BEFORE
            .iter()
            .chain(language.slot_edges)
            .any(|e| text.ends_with(e))
    };
    let starts = |text: &str| {
        AFTER
            .iter()
            .chain(language.slot_edges)
            .any(|e| text.starts_with(e))
    };
    // Beside another hole, or beside text on its line, it is not alone.
    let first = at == 1 && before.trim().is_empty();
    let last = at + 2 == pieces.len() && after.trim().is_empty();
    (first || ends(before) || ends(before.trim_end_matches([' ', '\t'])))
        && (last || starts(after) || starts(after.trim_start_matches([' ', '\t'])))
}

/// Writes the fragment with each hole in the given form.
fn write(pieces: &[Piece<'_>], names: &[&str], forms: &[&str]) -> (String, Vec<Range<usize>>) {
    let mut text = String::new();
    let mut spans = vec![0..0; forms.len()];
    for piece in pieces {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Hole(n) => {
                let start = text.len();
                // One name, one text: the tags of an element must agree.
                let same = |name: &&str| !matches!(*name, "" | "_") && *name == names[*n];
                let number = names.iter().position(same).unwrap_or(*n);
                text += &forms[*n]
                    .replace('@', &format!("Zzmv{number}"))
                    .replace('%', &format!("zzmv{number}"));
                spans[*n] = start..text.len();
            }
        }
    }
    (text, spans)
}

/// Reads `fragment` in `context`.
pub(crate) fn read(
    language: &Language,
    context: &Context,
    fragment: &str,
) -> Result<Reading, Refusal> {
    let mut parser = Parser::new();
    parser
        .set_language(&language.grammar.unwrap().into())
        .unwrap();
    let fragment = fragment.trim();
    let (pieces, names) = pieces(fragment);
    let count = names.len();
    let forms = forms(language);
    let mut chosen = vec![forms[0]; count];
    let alone: Vec<_> = (0..count)
        .map(|n| stands_alone(language, &pieces, n))
        .collect();
    let choices = |n: usize| {
        let alone = alone[n];
        let is_plain = |form: &&str| form.ends_with(['@', '%', '"']);
        forms
            .iter()
            .copied()
            .filter(move |form| alone || is_plain(form))
    };
    let mut best = attempt(&mut parser, language, context, &pieces, &names, &chosen);
    // Coordinate descent: change one hole at a time while the damage shrinks.
    for _ in 0..3 {
        for n in 0..count {
            for form in choices(n) {
                if best.0 == 0 {
                    return best.1;
                }
                let mut other = chosen.clone();
                other[n] = form;
                let result = attempt(&mut parser, language, context, &pieces, &names, &other);
                if result.0 < best.0 {
                    best = result;
                    chosen = other;
                }
            }
        }
    }
    // One hole may hide what another does: every combination, if they are few.
    let total = (0..count).map(|n| choices(n).count()).product::<usize>();
    for number in 0..if total <= 600 { total } else { 0 } {
        if best.0 == 0 {
            break;
        }
        let mut rest = number;
        for (n, slot) in chosen.iter_mut().enumerate() {
            let forms: Vec<_> = choices(n).collect();
            *slot = forms[rest % forms.len()];
            rest /= forms.len();
        }
        let result = attempt(&mut parser, language, context, &pieces, &names, &chosen);
        if result.0 < best.0 {
            best = result;
        }
    }
    best.1
}

/// Parses one way to write the holes. The number is the damage: zero for a clean reading.
fn attempt(
    parser: &mut Parser,
    language: &Language,
    context: &Context,
    pieces: &[Piece<'_>],
    names: &[&str],
    forms: &[&str],
) -> (usize, Result<Reading, Refusal>) {
    let (fragment, holes) = write(pieces, names, forms);
    let text = [context.prefix, &fragment, context.suffix].concat();
    let span = context.prefix.len()..context.prefix.len() + fragment.len();
    let tree = parser.parse(&text, None).unwrap();
    if tree.root_node().has_error() {
        return (
            2 + damage(&tree),
            Err(Refusal::Syntax(sexp(&text, tree.root_node()))),
        );
    }
    for hole in holes {
        let hole = hole.start + span.start..hole.end + span.start;
        let core = hole.start..hole.start + text[hole.clone()].trim_end_matches([';', ',']).len();
        let node = tree
            .root_node()
            .descendant_for_byte_range(core.start, core.end)
            .unwrap();
        if node.byte_range() != core && node.byte_range() != hole {
            let why = format!("hole {:?} in {}", &text[hole], sexp(&text, node));
            return (1, Err(Refusal::Span(why)));
        }
    }
    let reading = Reading { text, tree, span };
    if reading.nodes().is_empty() {
        return (
            1,
            Err(Refusal::Span(sexp(&reading.text, reading.tree.root_node()))),
        );
    }
    let first = reading.first_leaf();
    let word = &reading.text[first.byte_range()];
    if language.reserves(first.kind(), word) {
        return (1, Err(Refusal::Kind(format!("`{word}` as a name"))));
    }
    if let Some(kind) = reading.empty_kind(language.never_empty) {
        return (1, Err(Refusal::Kind(format!("an empty {kind}"))));
    }
    if !context.takes(reading.spanning().iter().map(String::as_str)) {
        return (1, Err(Refusal::Kind(reading.sexp())));
    }
    (0, Ok(reading))
}

/// The bytes under errors and the missing tokens, counted.
fn damage(tree: &Tree) -> usize {
    let mut damage = 0;
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        if node.is_missing() {
            damage += 1;
        } else if node.is_error() {
            damage += 1 + node.byte_range().len();
        } else if node.has_error() {
            stack.extend(children(node));
        }
    }
    damage
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

impl Reading {
    /// The nodes that make up the fragment: one, or consecutive siblings.
    pub(crate) fn nodes(&self) -> Vec<Node<'_>> {
        let mut nodes = vec![self.tree.root_node()];
        loop {
            // A node that the fragment fills is the answer, the outermost one first.
            if let [first, .., last] | [first @ last] = nodes.as_slice()
                && first.start_byte() == self.span.start
                && self.ends(*last)
            {
                return nodes;
            }
            let [node] = nodes.as_slice() else {
                return Vec::new();
            };
            // The suffix completed what the fragment left open.
            if node.start_byte() == self.span.start && self.is_terminated(node.end_byte()) {
                return Vec::new();
            }
            nodes = children(*node)
                .into_iter()
                .filter(|n| n.start_byte() < self.span.end && n.end_byte() > self.span.start)
                .collect();
        }
    }

    /// Whether `node` ends where the fragment does, or after it with no more
    /// than a terminator: one that makes no node of its own and fills no field.
    /// Some grammars count the line end into the node.
    fn ends(&self, node: Node<'_>) -> bool {
        let end = self.span.end;
        if node.end_byte() < end {
            return false;
        }
        if !self.is_terminated(node.end_byte()) {
            return false;
        }
        children(node).into_iter().enumerate().all(|(i, child)| {
            let field = node.field_name_for_child(u32::try_from(i).unwrap());
            if child.start_byte() >= end && child.end_byte() > child.start_byte() {
                !child.is_named() && field.is_none()
            } else {
                child.end_byte() <= end || self.ends(child)
            }
        })
    }

    /// Whether there are only terminators between the fragment and `end`.
    fn is_terminated(&self, end: usize) -> bool {
        let is_terminator = |c: char| c.is_whitespace() || matches!(c, ';' | ',');
        end >= self.span.end && self.text[self.span.end..end].chars().all(is_terminator)
    }

    /// A kind of `kinds` that the fragment leaves empty.
    fn empty_kind(&self, kinds: &[&'static str]) -> Option<&'static str> {
        let mut nodes = self.nodes();
        while let Some(node) = nodes.pop() {
            let kind = kinds.iter().find(|k| **k == node.kind());
            if let Some(kind) = kind.filter(|_| node.byte_range().is_empty()) {
                return Some(kind);
            }
            nodes.extend(children(node));
        }
        None
    }

    /// The first leaf of the fragment.
    fn first_leaf(&self) -> Node<'_> {
        let mut node = self.nodes()[0];
        while let Some(child) = node.child(0) {
            node = child;
        }
        node
    }

    /// The kinds of all nodes that span the fragment, or of its first sibling.
    pub(crate) fn spanning(&self) -> Vec<String> {
        let mut nodes = self.nodes();
        let mut kinds = vec![nodes[0].kind().to_owned()];
        while let [node] = nodes.as_slice() {
            nodes = node.named_children(&mut node.walk()).collect();
            if nodes.len() == 1 {
                kinds.push(nodes[0].kind().to_owned());
            }
        }
        kinds
    }

    /// The kinds of the nodes.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.nodes().iter().map(|n| n.kind().to_owned()).collect()
    }

    /// The nodes with their fields, one line.
    pub(crate) fn sexp(&self) -> String {
        let nodes = self.nodes();
        let parent = nodes[0].parent().map_or("", |p| p.kind());
        let nodes: Vec<_> = nodes.iter().map(|n| sexp(&self.text, *n)).collect();
        format!("{} < {parent}", nodes.join(" "))
    }
}

/// A node with its fields and unnamed tokens; leaves with their text.
fn sexp(text: &str, node: Node<'_>) -> String {
    fn visit(text: &str, node: Node<'_>, out: &mut String) {
        if node.is_missing() {
            *out += "MISSING ";
        }
        if !node.is_named() {
            *out += &format!("{:?}", node.kind());
            return;
        }
        *out += &format!("({}", node.kind());
        if node.child_count() == 0 {
            *out += &format!(" `{}`", text[node.byte_range()].escape_debug());
        }
        for (i, child) in children(node).into_iter().enumerate() {
            out.push(' ');
            if let Some(field) = node.field_name_for_child(u32::try_from(i).unwrap()) {
                *out += field;
                *out += ": ";
            }
            visit(text, child, out);
        }
        out.push(')');
    }
    let mut out = String::new();
    visit(text, node, &mut out);
    out
}
