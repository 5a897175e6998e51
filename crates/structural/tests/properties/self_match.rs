//! The text of a node, as a pattern, finds that node; and so does the text with
//! a metavariable in place of one of its children.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use structural::{FileMatch, Grammar, Pattern, search_text};
use tree_sitter::Node;

use crate::corpus::{self, SourceFile};
use crate::sample::{self, Kinds};

/// Files of each language; six languages make more than 200.
const FILES: usize = 40;
/// Nodes tried of each file.
const NODES: usize = 40;
/// Misses shown.
const SHOWN: usize = 40;

#[derive(Default)]
struct Tally {
    tried: usize,
    accepted: usize,
    found: usize,
    /// By kind: tried and refused.
    refused: BTreeMap<String, (usize, usize, String)>,
    missed: BTreeMap<String, Vec<String>>,
}

impl Tally {
    fn refuse(&mut self, kind: &str, text: &str) {
        let entry = self.refused.entry(kind.to_owned()).or_default();
        entry.1 += 1;
        if entry.2.is_empty() || text.len() < entry.2.len() {
            entry.2 = text.to_owned();
        }
    }

    fn miss(&mut self, kind: &str, why: String) {
        self.missed.entry(kind.to_owned()).or_default().push(why);
    }

    fn percent(&self) -> f64 {
        100.0 * self.found as f64 / (self.accepted.max(1)) as f64
    }

    fn report(&self, title: &str) -> String {
        let mut out = format!(
            "{title}: {} tried, {} accepted ({:.1} %), {} found ({:.2} %)\n",
            self.tried,
            self.accepted,
            100.0 * self.accepted as f64 / self.tried.max(1) as f64,
            self.found,
            self.percent()
        );
        let mut refused: Vec<_> = self.refused.iter().filter(|(_, r)| r.1 > 0).collect();
        refused.sort_by_key(|(_, r)| std::cmp::Reverse(r.1));
        for (kind, (tried, refused, text)) in refused {
            let short: String = text.chars().take(70).collect();
            let _ = writeln!(out, "  refused {kind}: {refused} of {tried}, {short:?}");
        }
        let mut shown = 0;
        for (kind, misses) in &self.missed {
            let _ = writeln!(out, "  missed {kind}: {}", misses.len());
            for miss in misses.iter().take(3).take(SHOWN - shown.min(SHOWN)) {
                shown += 1;
                let _ = writeln!(out, "    {miss}");
            }
        }
        out
    }
}

/// Whether a match is the range, but for a terminator at its end.
fn is_at(source: &str, wanted: &Range<usize>, found: &Range<usize>) -> bool {
    let is_end = |short: usize, long: usize| {
        source[short..long]
            .chars()
            .all(|c| c.is_whitespace() || matches!(c, ';' | ','))
    };
    let trimmed = source[wanted.clone()].trim_start();
    let start = wanted.end - trimmed.len();
    (found.start == wanted.start || found.start == start)
        && if found.end <= wanted.end {
            found.end > found.start && is_end(found.end, wanted.end)
        } else {
            is_end(wanted.end, found.end)
        }
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(300).collect();
    format!("{cut:?}")
}

/// Tries one node, and then some of its children as metavariables.
fn try_node(
    grammar: &Grammar,
    file: &SourceFile,
    node: Node<'_>,
    whole: &mut Tally,
    with_hole: &mut Tally,
) {
    let text = sample::dedented(&file.text, node);
    let kind = node.kind();
    whole.tried += 1;
    whole.refused.entry(kind.to_owned()).or_default().0 += 1;
    let Ok(pattern) = Pattern::compile(&text, grammar) else {
        whole.refuse(kind, &text);
        return;
    };
    whole.accepted += 1;
    let found = search_text(grammar, &pattern, &file.text).unwrap();
    let is_found = |found: &[FileMatch]| {
        found
            .iter()
            .position(|f| is_at(&file.text, &node.byte_range(), &f.bytes))
    };
    if is_found(&found).is_none() {
        let readings: Vec<String> = pattern
            .readings()
            .map(|(r, k)| format!("{r} {k}"))
            .collect();
        whole.miss(
            kind,
            format!("{} {} read as {readings:?}", file.name, short(&text)),
        );
        return;
    }
    whole.found += 1;
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node
        .named_children(&mut cursor)
        .filter(|c| !c.is_extra() && !c.byte_range().is_empty())
        .filter(|c| c.byte_range() != node.byte_range() && sample::is_whole(c.kind()))
        // In front of a body, it would be a statement of its own.
        .filter(|c| !c.kind().contains("signature"))
        .collect();
    let Some(child) = children.get(node.start_byte() % children.len().max(1)) else {
        return;
    };
    let Some(pattern) = replaced(&file.text, node, *child) else {
        return;
    };
    with_hole.tried += 1;
    let label = child.kind();
    with_hole.refused.entry(label.to_owned()).or_default().0 += 1;
    let Ok(compiled) = Pattern::compile(&pattern, grammar) else {
        with_hole.refuse(label, &pattern);
        return;
    };
    if compiled.plain_dollars().iter().any(|d| d == "$HOLE") {
        with_hole.refuse(label, &pattern);
        return;
    }
    with_hole.accepted += 1;
    let found = search_text(grammar, &compiled, &file.text).unwrap();
    let bound = |f: &FileMatch| f.captures.first().cloned().flatten();
    let is_bound = found.iter().any(|f| {
        is_at(&file.text, &node.byte_range(), &f.bytes)
            && bound(f).is_some_and(|b| is_at(&file.text, &child.byte_range(), &b))
    });
    if is_bound {
        with_hole.found += 1;
    } else {
        let readings: Vec<String> = compiled
            .readings()
            .map(|(r, k)| format!("{r} {k}"))
            .collect();
        let got = found
            .iter()
            .find(|f| is_at(&file.text, &node.byte_range(), &f.bytes))
            .and_then(bound)
            .map(|b| &file.text[b]);
        with_hole.miss(
            label,
            format!(
                "{} {} read as {readings:?}, bound {got:?}",
                file.name,
                short(&pattern)
            ),
        );
    }
}

/// Returns the text of a node with `$HOLE` for one of its children.
pub(crate) fn replaced(source: &str, node: Node<'_>, child: Node<'_>) -> Option<String> {
    const TEXTS: &[&str] = &["string", "comment", "char", "regex", "template", "text"];
    if TEXTS.iter().any(|t| node.kind().contains(t)) {
        return None;
    }
    let word =
        |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'$');
    let bytes = source.as_bytes();
    // Glued to what is beside it, it would be part of a larger name.
    if word(child.start_byte().checked_sub(1).and_then(|i| bytes.get(i)))
        || word(bytes.get(child.end_byte()))
    {
        return None;
    }
    let copy = format!(
        "{}$HOLE{}",
        &source[node.start_byte()..child.start_byte()],
        &source[child.end_byte()..node.end_byte()]
    );
    if !copy
        .replacen("$HOLE", "", 1)
        .contains(char::is_alphanumeric)
    {
        // A metavariable alone is no pattern.
        return None;
    }
    let text = &source[node.byte_range()];
    if !text.contains('\n') {
        return Some(copy);
    }
    // The same lines lose their margin as in the node's own text.
    let line_start = source[..node.start_byte()].rfind('\n').map_or(0, |n| n + 1);
    let line = &source[line_start..node.start_byte()];
    let margin = &line[..line.len() - line.trim_start().len()];
    let is_plain = sample::dedented(source, node).matches('\n').count() == 0
        || sample::dedented(source, node) == text.replace(&format!("\n{margin}"), "\n");
    is_plain.then(|| copy.replace(&format!("\n{margin}"), "\n"))
}

#[track_caller]
fn check(language: &str, extension: &str) {
    let Some(corpus) = corpus::sample(language, extension, FILES) else {
        return;
    };
    let kinds = Kinds::of(&corpus.grammar);
    let mut whole = Tally::default();
    let mut with_hole = Tally::default();
    let mut with_dollar = 0;
    for file in &corpus.files {
        let tree = sample::parse(&corpus.grammar, &file.text);
        let sampled = sample::nodes(&tree, &file.text, &kinds, NODES);
        with_dollar += sampled.with_dollar;
        for node in sampled.nodes {
            try_node(&corpus.grammar, file, node, &mut whole, &mut with_hole);
        }
    }
    let title = format!("{language}, {} files", corpus.files.len());
    eprintln!(
        "{}{}  {with_dollar} nodes with a `$NAME` in them were left out",
        whole.report(&title),
        with_hole.report(&format!("{title}, one child a metavariable"))
    );
    assert!(whole.percent() >= 98.0, "{}", whole.report(&title));
    assert!(
        whole.accepted * 10 >= whole.tried * 7,
        "{}",
        whole.report(&title)
    );
    assert!(with_hole.percent() >= 95.0, "{}", with_hole.report(&title));
}

#[test]
fn rust_code_finds_itself() {
    check("rust", "rs");
}

#[test]
fn python_code_finds_itself() {
    check("python", "py");
}

#[test]
fn c_code_finds_itself() {
    check("c", "c");
}

#[test]
fn go_code_finds_itself() {
    check("go", "go");
}

#[test]
fn typescript_code_finds_itself() {
    check("typescript", "ts");
}

#[test]
fn javascript_code_finds_itself() {
    check("javascript", "js");
}

#[test]
fn dart_code_finds_itself() {
    check("dart", "dart");
}
