//! Lines and their margins.
//!
//! A margin is the white space a line begins with, as bytes: tabs stay tabs.

use std::ops::Range;

use crate::grammar::Grammar;
use crate::tree::FlatTree;

/// Returns the white space that `line` begins with.
pub(super) fn margin(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .position(|b| !matches!(b, b' ' | b'\t'))
        .unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// Returns whether nothing but white space is in `line`.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// Returns the line ending that most lines of a file have.
pub(super) fn line_end(source: &[u8]) -> &'static [u8] {
    let mut balance = 0_i64;
    for at in memchr::memchr_iter(b'\n', source) {
        let is_crlf = at.checked_sub(1).and_then(|i| source.get(i)) == Some(&b'\r');
        balance += if is_crlf { 1 } else { -1 };
    }
    if balance > 0 { b"\r\n" } else { b"\n" }
}

/// Finds the beginnings of lines for places that mostly rise, without looking
/// at any byte twice.
#[derive(Debug, Default)]
pub(super) struct LineStarts {
    at: usize,
    start: usize,
}

impl LineStarts {
    /// Returns where the line of the byte `at` begins; a byte order mark is not in it.
    pub(super) fn of(&mut self, source: &[u8], at: usize) -> usize {
        if at < self.at {
            // Within one match places may fall back.
            if at < self.start {
                *self = Self::default();
            } else {
                return self.start;
            }
        }
        let passed = source.get(self.at..at).unwrap_or_default();
        if let Some(last) = memchr::memrchr(b'\n', passed) {
            self.start = self.at + last + 1;
        } else if self.at == 0 && source.starts_with(b"\xEF\xBB\xBF") {
            self.start = 3.min(at);
        }
        self.at = at;
        self.start
    }
}

/// The tokens of a file that run over several lines, every byte of which counts:
/// strings, heredocs, raw text and comments.
#[derive(Debug, Default)]
pub(super) struct Fixed {
    /// In order, apart from each other.
    ranges: Vec<Range<usize>>,
}

impl Fixed {
    pub(super) fn find(grammar: &Grammar, tree: &FlatTree, source: &[u8]) -> Self {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while (at as usize) < tree.nodes().len() {
            let node = tree.node(at);
            let kind = grammar.kind(node.kind);
            let is_token = tree.is_leaf(at) || kind.textual;
            at = if is_token { node.next } else { at + 1 };
            // Between tags, white space that runs over lines says nothing.
            if !is_token || grammar.kind_name(node.kind) == "jsx_text" {
                continue;
            }
            let range = node.start as usize..node.end as usize;
            let bytes = source.get(range.clone()).unwrap_or_default();
            // A line break at its end is not within it.
            let inner = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            if memchr::memchr(b'\n', inner).is_some()
                && ranges.last().is_none_or(|last| last.end <= range.start)
            {
                ranges.push(range);
            }
        }
        Self { ranges }
    }

    /// Whether the line that begins at `at` begins within such a token.
    fn holds(&self, at: usize) -> bool {
        let next = self.ranges.partition_point(|r| r.start < at);
        next.checked_sub(1)
            .and_then(|i| self.ranges.get(i))
            .is_some_and(|r| at < r.end)
    }

    /// Writes lines of a file whose first one moves from one margin to another.
    ///
    /// The other lines move with it, but for blank ones, those that begin
    /// within a token, and those that are less far in than the first was.
    pub(super) fn write_moved(
        &self,
        source: &[u8],
        range: Range<usize>,
        from: &[u8],
        to: &[u8],
        out: &mut Vec<u8>,
    ) {
        let bytes = source.get(range.clone()).unwrap_or_default();
        if from == to {
            out.extend_from_slice(bytes);
            return;
        }
        let mut at = range.start;
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            let moves = at != range.start && !is_blank(line) && !self.holds(at);
            match line.strip_prefix(from) {
                Some(rest) if moves => {
                    out.extend_from_slice(to);
                    out.extend_from_slice(rest);
                }
                _ => out.extend_from_slice(line),
            }
            at += line.len();
        }
    }
}
