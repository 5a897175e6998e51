//! Nodes of real files that a person would write as a pattern.

use std::collections::HashSet;
use std::ops::Range;

use structural::Grammar;
use tree_sitter::{Node, Parser, Tree};

/// Sizes of the nodes taken, in bytes.
const BYTES: Range<usize> = 2..2_000;

/// Words of the kinds, and of the groups of kinds, that are taken.
const WORDS: &[&str] = &[
    "statement",
    "expression",
    "declaration",
    "definition",
    "item",
    "member",
    "type",
    "parameter",
    "clause",
    "call",
    "arm",
    "field",
];

/// Words of kinds that are a part of one of these only: the name in a
/// declaration, the type behind a colon, a piece of a text.
const PARTS: &[&str] = &[
    "declarator",
    "annotation",
    "specifier",
    "qualifier",
    "modifier",
    "content",
    "escape",
    "fragment",
    "interpolation",
    "format",
    "default_type",
    "attribute",
    "pattern",
    "element",
];

/// Whether a kind is one that a person would name: a statement, expression,
/// declaration, member, type, parameter or clause.
fn is_meant(name: &str) -> bool {
    WORDS.iter().any(|w| name.contains(w)) && is_whole(name)
}

/// Whether a kind is no list of other things, and no part of one.
pub(crate) fn is_whole(name: &str) -> bool {
    let is_list = (name.ends_with('s') && !name.ends_with("ss"))
        || ["list", "block", "body", "compound"]
            .iter()
            .any(|w| name.contains(w));
    let is_name = name.ends_with("identifier") && !matches!(name, "identifier" | "type_identifier");
    !is_list && !is_name && !PARTS.iter().any(|w| name.contains(w))
}

pub(crate) fn parse(grammar: &Grammar, text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(grammar.parser_language()).unwrap();
    parser.parse(text, None).unwrap()
}

/// Returns all nodes in order; does not recurse.
pub(crate) fn all(tree: &Tree) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    let mut cursor = tree.walk();
    loop {
        nodes.push(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return nodes;
            }
        }
    }
}

/// The kinds of a grammar that are a statement, an expression, a declaration
/// and so on, by their names and by the groups the grammar puts them in.
pub(crate) struct Kinds(HashSet<String>);

impl Kinds {
    pub(crate) fn of(grammar: &Grammar) -> Self {
        let types: Vec<serde_json::Value> =
            serde_json::from_str(grammar.language().node_types).unwrap();
        let mut kinds = HashSet::new();
        for group in types.iter().filter(|t| t["named"] == true) {
            let name = group["type"].as_str().unwrap();
            if !is_meant(name) {
                continue;
            }
            kinds.insert(name.to_owned());
            for member in group["subtypes"].as_array().into_iter().flatten() {
                let member_name = member["type"].as_str().unwrap();
                if member["named"] == true && is_whole(member_name) {
                    kinds.insert(member_name.to_owned());
                }
            }
        }
        Self(kinds)
    }

    fn has(&self, node: &Node<'_>) -> bool {
        self.0.contains(node.kind())
    }
}

/// Nodes worth trying in one file.
pub(crate) struct Sampled<'t> {
    pub(crate) nodes: Vec<Node<'t>>,
    /// Nodes left out since a `$NAME` is in them, which a pattern takes for its own.
    pub(crate) with_dollar: usize,
}

/// Takes up to `count` nodes, spread over the file; of the leaves only a few,
/// since there is little to get wrong in them.
pub(crate) fn nodes<'t>(tree: &'t Tree, text: &str, kinds: &Kinds, count: usize) -> Sampled<'t> {
    let mut inner = Vec::new();
    let mut leaves = Vec::new();
    let mut with_dollar = 0;
    for node in all(tree) {
        let is_fit = node.is_named()
            && node.parent().is_some()
            && !node.has_error()
            && !node.is_extra()
            && BYTES.contains(&node.byte_range().len())
            && kinds.has(&node);
        if !is_fit {
            continue;
        }
        if has_metavariable(&text[node.byte_range()]) {
            with_dollar += 1;
        } else if node.child_count() == 0 {
            leaves.push(node);
        } else {
            inner.push(node);
        }
    }
    let spread = |nodes: Vec<Node<'t>>, count: usize| {
        let step = nodes.len().div_ceil(count.max(1)).max(1);
        nodes.into_iter().step_by(step).collect::<Vec<_>>()
    };
    let few = count / 6;
    let mut nodes = spread(inner, count - few);
    nodes.extend(spread(leaves, few));
    Sampled { nodes, with_dollar }
}

/// Whether a pattern would take something in the text for a metavariable.
fn has_metavariable(text: &str) -> bool {
    text.split('$').skip(1).any(|rest| {
        rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
    }) && text.contains('$')
}

/// Returns the text of a node as it would stand at the start of a line: without
/// the white space that its first line begins with, but for lines that begin
/// inside a string.
pub(crate) fn dedented(source: &str, node: Node<'_>) -> String {
    let text = &source[node.byte_range()];
    let line_start = source[..node.start_byte()].rfind('\n').map_or(0, |n| n + 1);
    let line = &source[line_start..node.start_byte()];
    let margin = &line[..line.len() - line.trim_start().len()];
    if margin.is_empty() || !text.contains('\n') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut at = node.start_byte();
    for line in text.split_inclusive('\n') {
        let is_first = at == node.start_byte();
        let is_inside = is_in_string(node, at);
        let kept = match line.strip_prefix(margin) {
            Some(rest) if !is_first && !is_inside => rest,
            _ => line,
        };
        out.push_str(kept);
        at += line.len();
    }
    out
}

/// Whether a line begins inside a string, whose text is all its own.
fn is_in_string(node: Node<'_>, at: usize) -> bool {
    let around = node.descendant_for_byte_range(at, at);
    std::iter::successors(around, Node::parent).any(|n| {
        ["string", "template", "heredoc"]
            .iter()
            .any(|k| n.kind().contains(k))
            && !n.kind().contains("concat")
            && n.start_byte() < at
            && n.end_byte() > at
    })
}
