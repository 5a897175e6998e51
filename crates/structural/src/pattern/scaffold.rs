//! Writes a fragment into a context and finds it again in the parser's tree.

use std::ops::Range;

use tree_sitter::Tree;

use super::lex::{Dollar, DollarForm, HoleKind};
use crate::grammar::Grammar;
use crate::languages::{Context, HoleForm, OtherFiller};
use crate::tree::FlatTree;

/// What is written in place of one `$` of the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stand {
    /// A stand-in for a metavariable: an entry of [`fillers`].
    Filler(usize),
    /// The text itself.
    Plain,
    /// The text itself, without its backslash.
    Unescaped,
}

/// A fragment written into a context.
#[derive(Debug)]
pub(super) struct Written {
    /// The whole text.
    pub(super) text: String,
    /// The fragment in it, without white space at its ends.
    pub(super) fragment: Range<usize>,
    /// For each `$`, what was written for it.
    pub(super) stands: Vec<WrittenDollar>,
    /// Pairs (byte in `text`, byte in the pattern), rising.
    map: Vec<(usize, usize)>,
}

/// What was written for one `$`.
#[derive(Debug, Clone)]
pub(super) struct WrittenDollar {
    /// All of it.
    pub(super) span: Range<usize>,
    /// The name that stands for a metavariable; equal to `span` for plain text.
    pub(super) sentinel: Range<usize>,
    /// The part that stands for the metavariable: `span` without the terminator.
    pub(super) core: Range<usize>,
    /// Whether the stand-in is a quoted string.
    pub(super) is_quoted: bool,
}

impl Written {
    /// Returns the byte of the pattern that a byte of the text came from.
    pub(super) fn to_pattern(&self, at: usize) -> usize {
        let next = self.map.partition_point(|(text, _)| *text <= at);
        match next.checked_sub(1).and_then(|i| self.map.get(i)) {
            Some((text, pattern)) => {
                let limit = self.map.get(next).map_or(usize::MAX, |(_, p)| *p);
                (pattern + (at - text)).min(limit)
            }
            None => 0,
        }
    }
}

/// A text that may stand for a metavariable: `@` in it is a name, `%` a name in lower case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filler {
    text: &'static str,
    /// Whether it stands only for a metavariable that is alone in its slot.
    pub(super) needs_slot: bool,
    /// What it may stand for beside what the others stand for.
    pub(super) other: Option<OtherFiller>,
}

/// Returns the texts that may stand for a metavariable, the plain ones first.
pub(super) fn fillers(grammar: &Grammar) -> Vec<Filler> {
    let language = grammar.language();
    let plain = language.holes.iter().map(|form| match form {
        HoleForm::Upper => "@",
        HoleForm::Lower => "%",
        HoleForm::Quoted => "\"@\"",
        HoleForm::Dollar => "$%",
    });
    let plain = plain.map(|text| Filler {
        text,
        needs_slot: false,
        other: None,
    });
    let around = std::iter::once("@;").chain(language.fillers.iter().copied());
    plain
        .chain(around.map(|text| Filler {
            text,
            needs_slot: true,
            other: None,
        }))
        .chain(language.other_fillers.iter().map(|other| Filler {
            text: other.text,
            needs_slot: true,
            other: Some(*other),
        }))
        .collect()
}

/// Whether a text stands right before the metavariable, on its line.
pub(super) fn is_behind(pattern: &str, dollar: &Dollar, text: &str) -> bool {
    pattern
        .get(..dollar.span.start)
        .unwrap_or_default()
        .trim_end_matches([' ', '\t'])
        .ends_with(text)
}

/// Whether the metavariable stands alone in its slot: between brackets, `,`,
/// `;`, line ends and the edges the language names.
pub(super) fn is_alone(grammar: &Grammar, pattern: &str, dollar: &Dollar) -> bool {
    const EDGES: &[&str] = &[
        "{", "}", "(", ")", "[", "]", "<", ">", ",", ";", "\n", "|", ":",
    ];
    let edges = || EDGES.iter().chain(grammar.language().slot_edges);
    let before = pattern
        .get(..dollar.span.start)
        .unwrap_or_default()
        .trim_end_matches([' ', '\t']);
    let after = pattern
        .get(dollar.span.end..)
        .unwrap_or_default()
        .trim_start_matches([' ', '\t']);
    let starts = before.is_empty() || edges().any(|e| before.ends_with(e));
    let ends = after.is_empty() || edges().any(|e| after.starts_with(e));
    // A run of statements may have one beside it on its line: `$$$BODY break;`.
    let is_apart = is_run(dollar)
        && (before.len() < dollar.span.start || before.is_empty())
        && (after.len() < pattern.len() - dollar.span.end || after.is_empty());
    let is_blank = |e: &&&str| **e == " ";
    let starts = starts || (before.len() < dollar.span.start && edges().any(|e| is_blank(&e)));
    let ends =
        ends || (after.len() < pattern.len() - dollar.span.end && edges().any(|e| is_blank(&e)));
    (starts && ends) || ((starts || ends) && is_apart)
}

/// Takes the metavariables between quotes as plain text; says whether there was one.
pub(super) fn make_plain_in_quotes(
    pattern: &str,
    dollars: &[Dollar],
    stands: &mut [Stand],
) -> bool {
    let mut has_changed = false;
    for (dollar, stand) in dollars.iter().zip(stands.iter_mut()) {
        let before = pattern.get(..dollar.span.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_quoted = line.matches('"').count() % 2 == 1;
        if is_quoted && matches!(stand, Stand::Filler(_)) {
            *stand = Stand::Plain;
            has_changed = true;
        }
    }
    if has_changed {
        for stand in stands.iter_mut().filter(|s| matches!(s, Stand::Filler(_))) {
            *stand = Stand::Filler(0);
        }
    }
    has_changed
}

/// Chooses the name that stands for metavariables: one that the pattern does not hold.
pub(super) fn sentinel(pattern: &str) -> String {
    let lower = pattern.to_ascii_lowercase();
    let mut name = "Zzmv".to_owned();
    while lower.contains(&name.to_ascii_lowercase()) {
        name.push('q');
    }
    name
}

/// Writes the pattern into a context.
pub(super) fn write(
    pattern: &str,
    dollars: &[Dollar],
    stands: &[Stand],
    fillers: &[Filler],
    sentinel: &str,
    context: Context,
) -> Written {
    let mut text = String::with_capacity(pattern.len() + 64);
    text.push_str(context.prefix);
    let mut map = vec![(0, 0)];
    let mut written = Vec::with_capacity(dollars.len());
    let mut at = 0;
    for (number, (dollar, stand)) in dollars.iter().zip(stands).enumerate() {
        map.push((text.len(), at));
        text.push_str(pattern.get(at..dollar.span.start).unwrap_or_default());
        let start = text.len();
        map.push((start, dollar.span.start));
        let raw = pattern.get(dollar.span.clone()).unwrap_or_default();
        match (stand, &dollar.form) {
            (Stand::Filler(which), DollarForm::Hole(_, name)) => {
                let unique = if name.is_empty() {
                    format!("{sentinel}{number}x")
                } else {
                    // One name, one text: `<$T></$T>` needs equal tags.
                    format!("{sentinel}{}v", first_of_name(dollars, name))
                };
                let Some(filler) = fillers.get(*which) else {
                    continue;
                };
                let mut name_at = start..start;
                for c in filler.text.chars() {
                    let from = text.len();
                    match c {
                        '@' => text.push_str(&unique),
                        '%' => text.push_str(&unique.to_ascii_lowercase()),
                        other => text.push(other),
                    }
                    if matches!(c, '@' | '%') && name_at.is_empty() {
                        name_at = from..text.len();
                    }
                }
                let core_end = start
                    + text
                        .get(start..)
                        .unwrap_or_default()
                        .trim_end_matches([';', ',', ' ', '\n'])
                        .len();
                written.push(WrittenDollar {
                    span: start..text.len(),
                    sentinel: name_at,
                    core: start..core_end,
                    is_quoted: filler.text.starts_with('"'),
                });
            }
            (Stand::Unescaped, _) => {
                // The backslash is not written.
                map.push((start + 1, dollar.span.start + 2));
                text.push_str(raw.strip_prefix('\\').unwrap_or(raw));
                written.push(plain(start..text.len()));
            }
            _ => {
                text.push_str(raw);
                written.push(plain(start..text.len()));
            }
        }
        at = dollar.span.end;
    }
    map.push((text.len(), at));
    text.push_str(pattern.get(at..).unwrap_or_default());
    let end = text.len();
    map.push((end, pattern.len()));
    let body = text.get(context.prefix.len()..end).unwrap_or_default();
    let start = end - body.trim_start().len();
    let fragment = start..start.max(context.prefix.len() + body.trim_end().len());
    text.push_str(context.suffix);
    Written {
        text,
        fragment,
        stands: written,
        map,
    }
}

fn plain(span: Range<usize>) -> WrittenDollar {
    WrittenDollar {
        sentinel: span.clone(),
        core: span.clone(),
        span,
        is_quoted: false,
    }
}

fn first_of_name(dollars: &[Dollar], wanted: &str) -> usize {
    dollars
        .iter()
        .position(|d| matches!(&d.form, DollarForm::Hole(_, name) if name == wanted))
        .unwrap_or(0)
}

/// How badly a text fails to parse, and where first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    /// Bytes in errors, and one for each token the parser made up.
    pub(super) cost: usize,
    /// First byte in an error.
    pub(super) at: usize,
}

/// Returns how badly the tree fails, or `None` if it does not.
pub(super) fn fault(tree: &Tree) -> Option<Fault> {
    if !tree.root_node().has_error() {
        return None;
    }
    let flat = FlatTree::whole(tree);
    let mut total = Fault {
        cost: 0,
        at: usize::MAX,
    };
    for node in flat.nodes().iter().filter(|n| n.flags.is_fault()) {
        total.cost += 1 + (node.end - node.start) as usize;
        total.at = total.at.min(node.start as usize);
    }
    // An error inside an error counts twice, which only makes it worse.
    total.cost = total.cost.max(1);
    Some(total)
}

/// Which leaves of a scaffold's tree belong to the fragment, and what each node then covers.
#[derive(Debug)]
pub(super) struct Kept {
    /// Per node: first and last kept byte, if any leaf of it is kept.
    ranges: Vec<Option<(u32, u32)>>,
    /// Per node: whether a leaf of it before the fragment was dropped.
    before: Vec<bool>,
    /// Per node: whether a leaf of it after the fragment, other than a terminator, was dropped.
    after: Vec<bool>,
    /// Per node: a leaf that was dropped.
    dropped: Vec<bool>,
}

impl Kept {
    /// Marks the leaves of the fragment; `None` if a leaf straddles its border.
    pub(super) fn mark(grammar: &Grammar, tree: &FlatTree, written: &Written) -> Option<Self> {
        let nodes = tree.nodes();
        let fragment = &written.fragment;
        let bytes = written.text.as_bytes();
        let only_comments = nodes.iter().enumerate().all(|(i, n)| {
            !tree.is_leaf(i as u32)
                || n.flags.is_extra()
                || (n.start as usize) < fragment.start
                || (n.end as usize) > fragment.end
        });
        let mut kept = Self {
            ranges: vec![None; nodes.len()],
            before: vec![false; nodes.len()],
            after: vec![false; nodes.len()],
            dropped: vec![false; nodes.len()],
        };
        for index in 0..nodes.len() as u32 {
            if !tree.is_leaf(index) {
                continue;
            }
            let node = tree.node(index);
            let (start, mut end) = (node.start as usize, node.end as usize);
            // Some grammars let a leaf run over the white space behind it.
            while end > fragment.end && end > start && bytes[end - 1].is_ascii_whitespace() {
                end -= 1;
            }
            if start == end && !(start > fragment.start && start < fragment.end) {
                kept.dropped[index as usize] = true;
                continue;
            }
            let kind = grammar.kind(node.kind);
            let in_filler = (kind.terminator || kind.separator)
                && written
                    .stands
                    .iter()
                    .any(|s| start >= s.core.end && end <= s.span.end && s.core.end < s.span.end);
            if start >= fragment.end || end <= fragment.start || in_filler {
                kept.dropped[index as usize] = true;
                let harmless = in_filler
                    || node.flags.is_extra()
                    || ((kind.terminator || kind.separator)
                        && !fills(grammar, tree, index, fragment.end));
                kept.note_dropped(tree, index, end <= fragment.start, harmless);
            } else if start < fragment.start || end > fragment.end {
                return None;
            } else if !node.flags.is_extra() || only_comments {
                kept.grow(tree, index, node.start, end as u32);
            }
        }
        Some(kept)
    }

    fn grow(&mut self, tree: &FlatTree, leaf: u32, start: u32, end: u32) {
        let mut at = leaf;
        loop {
            let slot = &mut self.ranges[at as usize];
            *slot = Some(slot.map_or((start, end), |(s, e)| (s.min(start), e.max(end))));
            let parent = tree.node(at).parent;
            if parent == at {
                return;
            }
            at = parent;
        }
    }

    fn note_dropped(&mut self, tree: &FlatTree, leaf: u32, is_before: bool, is_harmless: bool) {
        let mut at = leaf;
        loop {
            if is_before {
                self.before[at as usize] = true;
            } else if !is_harmless {
                self.after[at as usize] = true;
            }
            let parent = tree.node(at).parent;
            if parent == at {
                return;
            }
            at = parent;
        }
    }

    /// Returns the kept bytes of a node.
    pub(super) fn range(&self, index: u32) -> Option<(u32, u32)> {
        self.ranges[index as usize]
    }

    /// Returns whether a leaf was dropped.
    pub(super) fn is_dropped(&self, index: u32) -> bool {
        self.dropped[index as usize]
    }

    /// Returns whether the node reaches beyond the fragment by more than a terminator.
    pub(super) fn reaches_out(&self, index: u32) -> bool {
        self.before[index as usize] || self.after[index as usize]
    }
}

/// Whether a terminator of the suffix is more than one: an empty statement, or
/// what a field asks for. Then the fragment lacks something.
fn fills(grammar: &Grammar, tree: &FlatTree, leaf: u32, end: usize) -> bool {
    let mut at = leaf;
    loop {
        let node = tree.node(at);
        if (node.start as usize) < end {
            return false;
        }
        if (at != leaf && grammar.kind(node.kind).named) || node.field != 0 {
            // A whole statement behind the fragment is the scaffold's own.
            return (tree.node(node.parent).start as usize) < end && node.parent != 0;
        }
        if node.parent == at {
            return false;
        }
        at = node.parent;
    }
}

/// Returns whether a hole may stand for something by this kind.
pub(super) fn is_run(dollar: &Dollar) -> bool {
    matches!(dollar.form, DollarForm::Hole(HoleKind::Run, _))
}
