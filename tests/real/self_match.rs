//! The text of a node, as a pattern, finds that node: over real files in six
//! languages.
//!
//! Of the nodes that are a statement, expression, declaration, member, type,
//! parameter or clause and whose text the compiler accepts, at least 98 % must
//! find themselves. `--nocapture` prints what was refused and missed, by kind.

#![allow(clippy::unwrap_used, reason = "a test may fail")]
#![allow(clippy::print_stdout, reason = "the numbers are worth reading")]

use std::collections::BTreeMap;
use std::fs;

use conformance::corpora;
use structural::{CompiledGrammars, GrammarSource as _, Pattern, search_text};
use tree_sitter::{Node, Parser};

/// Files of each language; six languages make more than 200.
const FILES: usize = 36;
/// Nodes tried of each file, spread over it.
const NODES: usize = 24;
/// The longest text that is tried, in bytes.
const TEXT: usize = 600;

/// Endings and words of the kinds that a person would write as a pattern.
const KINDS: [&str; 14] = [
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
    "signature",
    "class",
];

/// Endings of kinds that are only ever a part of what is written: lists with
/// their brackets, a body, a name with its value, and in Dart the head of a
/// function, which alone reads as a call.
const PARTS: [&str; 12] = [
    "_list",
    "parameters",
    "arguments",
    "annotation",
    "_body",
    "macro_type_specifier",
    "assignable_expression",
    "cascade_member_expression",
    "static_final_declaration",
    "constructor_signature",
    "function_signature",
    "method_signature",
];

#[derive(Default)]
struct Counts {
    tried: usize,
    accepted: usize,
    found: usize,
    refused: BTreeMap<String, usize>,
    missed: BTreeMap<String, (usize, String)>,
}

/// Returns the nodes worth trying, in order.
fn nodes<'t>(root: Node<'t>, source: &str) -> Vec<Node<'t>> {
    let mut nodes = Vec::new();
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let length = node.end_byte() - node.start_byte();
        let text = source.get(node.byte_range()).unwrap_or_default();
        if node.is_named()
            && node.parent().is_some()
            && !node.has_error()
            && !node.is_extra()
            && (3..TEXT).contains(&length)
            // In a pattern, `$` would be a metavariable.
            && !text.contains('$')
            && is_written_alone(node)
        {
            nodes.push(node);
        }
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

/// Returns whether a person would write such a node as a pattern: no single
/// token, no part of something larger, and no string over several
/// lines, whose text depends on its indentation.
fn is_written_alone(node: Node) -> bool {
    let kind = node.kind();
    KINDS.iter().any(|word| kind.contains(word))
        && node.named_child_count() > 0
        && !PARTS.iter().any(|part| kind.ends_with(part))
        && !has_long_string(node)
}

fn has_long_string(node: Node) -> bool {
    let mut cursor = node.walk();
    loop {
        let inner = cursor.node();
        let is_long = inner.start_position().row != inner.end_position().row;
        if is_long && inner.kind().contains("string") {
            return true;
        }
        if is_long && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

/// Returns the text of a node as it would be written at the start of a line.
fn dedented(source: &str, node: Node) -> String {
    let text = source.get(node.byte_range()).unwrap();
    let line = source
        .get(..node.start_byte())
        .unwrap()
        .rsplit('\n')
        .next()
        .unwrap();
    let margin = line.get(..line.len() - line.trim_start().len()).unwrap();
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        out.push_str(line.strip_prefix(margin).unwrap_or(line));
    }
    out
}

fn check(language: &str, extension: &str) {
    let Some(corpus) = corpora::find(language) else {
        println!("skipped: the {language} corpus is not installed");
        return;
    };
    let grammar = CompiledGrammars::new().grammar(language).unwrap();
    let mut parser = Parser::new();
    parser.set_language(grammar.parser_language()).unwrap();
    let mut files = corpora::files(&corpus, extension);
    files.retain(|path| {
        fs::metadata(path).is_ok_and(|file| (400..60_000).contains(&file.len()))
            // Broken on purpose.
            && !path.iter().any(|part| part == "testdata")
    });
    let step = (files.len() / FILES).max(1);
    let mut counts = Counts::default();
    let mut searched = 0;
    for path in files.iter().step_by(step) {
        let Ok(source) = fs::read_to_string(path) else {
            continue;
        };
        let tree = parser.parse(&source, None).unwrap();
        let nodes = nodes(tree.root_node(), &source);
        searched += 1;
        for node in nodes.iter().step_by((nodes.len() / NODES).max(1)) {
            counts.tried += 1;
            let text = dedented(&source, *node);
            let Ok(pattern) = Pattern::compile(&text, &grammar) else {
                *counts.refused.entry(node.kind().to_owned()).or_default() += 1;
                continue;
            };
            counts.accepted += 1;
            let found = search_text(&grammar, &pattern, &source).unwrap();
            // The terminator of a statement may be left out of the match.
            if found.iter().any(|found| {
                found.bytes.start == node.start_byte()
                    && found.bytes.end <= node.end_byte()
                    && found.bytes.end + 2 > node.end_byte()
            }) {
                counts.found += 1;
            } else {
                let place = format!("{}: {text}", path.strip_prefix(&corpus).unwrap().display());
                counts
                    .missed
                    .entry(node.kind().to_owned())
                    .or_insert((0, place))
                    .0 += 1;
            }
        }
    }
    println!(
        "{language}: {searched} files, {} nodes tried, {} accepted, {} found themselves\n\
         refused: {:?}\nmissed: {:#?}",
        counts.tried, counts.accepted, counts.found, counts.refused, counts.missed
    );
    assert!(
        searched >= FILES,
        "only {searched} files: is the corpus whole?"
    );
    assert!(
        counts.accepted * 10 >= counts.tried * 7,
        "{language}: more than 30 % refused"
    );
    assert!(
        counts.found * 100 >= counts.accepted * 98,
        "{language}: {} of {} found themselves; missed: {:#?}",
        counts.found,
        counts.accepted,
        counts.missed
    );
}

#[test]
fn rust_nodes_find_themselves() {
    check("rust", "rs");
}

#[test]
fn python_nodes_find_themselves() {
    check("python", "py");
}

#[test]
fn c_nodes_find_themselves() {
    check("c", "c");
}

#[test]
fn go_nodes_find_themselves() {
    check("go", "go");
}

#[test]
fn typescript_nodes_find_themselves() {
    check("typescript", "ts");
}

#[test]
fn dart_nodes_find_themselves() {
    check("dart", "dart");
}
