//! Writes code over several lines on one, where the brackets that let it have
//! several are gone.

use std::ops::Range;

use super::gaps::fits::MEMBER_ACCESS;
use super::{Assembler, Hit};
use crate::rewrite::recipe::{PieceWhat, Recipe};

impl Assembler<'_> {
    /// Writes what a metavariable stands for without the line breaks that its
    /// brackets in the pattern allowed and those of the template do not; says
    /// whether it did.
    pub(super) fn write_on_one_line(
        &mut self,
        hit: &Hit,
        recipe: &Recipe,
        at: usize,
        variable: usize,
        range: Range<usize>,
    ) -> bool {
        let language = self.grammar.language();
        let bytes = self.source.get(range.clone()).unwrap_or_default();
        if !language.lines_end_expressions() || memchr::memchr(b'\n', bytes).is_none() {
            return false;
        }
        let braces = language.lines_end_in_braces();
        let is_it = |what: PieceWhat| what == PieceWhat::Hole(Some(variable));
        let piece = recipe.pieces.iter().position(|p| is_it(p.what));
        let is_free = piece.is_some_and(|p| Self::brackets_around(recipe, p, braces) > 0)
            && self.depth(recipe, at, braces) == 0
            && !self.is_in_brackets(hit, braces);
        let Some(joined) = is_free.then(|| self.joined(range.clone())).flatten() else {
            return false;
        };
        let start = self.out.len();
        self.out.extend_from_slice(&joined);
        self.note_lines(start);
        self.captures.push(start..self.out.len());
        self.state.kept.push(range);
        true
    }

    /// Returns code with a space for each line break that is not in brackets or
    /// a text of its own; `None` where a comment ends a line.
    fn joined(&self, range: Range<usize>) -> Option<Vec<u8>> {
        let nodes = self.tree.nodes();
        let mut at = nodes.partition_point(|n| (n.start as usize) < range.start);
        let mut out = Vec::with_capacity(range.len());
        let (mut end, mut depth) = (range.start, 0_usize);
        while let Some(node) = nodes.get(at).filter(|n| (n.start as usize) < range.end) {
            let is_text = self.grammar.kind(node.kind).textual;
            if !is_text && node.next as usize != at + 1 {
                at += 1;
                continue;
            }
            at = node.next as usize;
            let token = node.start as usize..(node.end as usize).min(range.end);
            let text = self.source.get(token.clone())?;
            let gap = self.source.get(end..token.start)?;
            if depth > 0 || !gap.contains(&b'\n') {
                out.extend_from_slice(gap);
            } else if node.flags.is_extra() {
                return None;
            } else if !MEMBER_ACCESS.iter().any(|sign| sign.as_bytes() == text) {
                out.push(b' ');
            }
            if node.flags.is_extra() && depth == 0 {
                return None;
            }
            match text {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            out.extend_from_slice(text);
            end = token.end;
        }
        out.extend_from_slice(self.source.get(end..range.end)?);
        Some(out)
    }
}
