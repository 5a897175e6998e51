//! Takes along what belongs to a run and is not part of it: comments in front
//! of it and behind it, and the terminator of its last member.

use std::ops::Range;

use super::Assembler;
use crate::rewrite::indent::is_blank;
use crate::rewrite::recipe::{PieceWhat, Recipe};
use crate::rewrite::template::What;

impl Assembler<'_> {
    /// Returns the bytes of a run with the comments beside it, where nothing
    /// else of the recipe writes those.
    pub(super) fn with_surroundings(
        &self,
        recipe: &Recipe,
        at: usize,
        variable: usize,
        range: Range<usize>,
    ) -> Range<usize> {
        let is_run = recipe.runs.get(variable) == Some(&true);
        let is_it = |what: PieceWhat| what == PieceWhat::Hole(Some(variable));
        let piece = recipe.pieces.iter().position(|p| is_it(p.what));
        let Some(piece) = piece.filter(|_| is_run && !range.is_empty()) else {
            return range;
        };
        let is_written = |piece: usize| recipe.gaps.iter().any(|g| g.source.piece() == Some(piece));
        let has_line_end = |gap: usize| recipe.gaps.get(gap).is_some_and(|g| g.text.contains('\n'));
        let (mut start, mut end) = (range.start, range.end);
        if !is_written(piece) && has_line_end(at) {
            let before = self.source_gap(piece);
            let text = self.source.get(before.clone()).unwrap_or_default();
            if before.end == start && !is_blank(text) && self.last_token(before.clone()).is_none() {
                let blank = text.len() - text.trim_ascii_start().len();
                start = before.start + blank;
            }
        }
        if !is_written(piece + 1) {
            let behind = self.source_gap(piece + 1);
            let behind = end.max(behind.start)..behind.end.max(end);
            let text = self.source.get(behind.clone()).unwrap_or_default();
            let is_terminated = matches!(
                self.template.units().get(recipe.steps.get(at + 1).map_or(usize::MAX, |s| s.units.start)).map(|u| &u.what),
                Some(What::Text(text)) if &**text == ";"
            );
            let token = self.last_token(behind.clone());
            let is_terminator = token.is_some_and(|end| {
                self.source.get(behind.start..end).map(<[u8]>::trim_ascii) == Some(b";")
            });
            if token.is_none() && !is_blank(text) && has_line_end(at + 1) {
                end = behind.start + text.trim_ascii_end().len();
            } else if is_terminator && !is_terminated {
                end = token.unwrap_or(end);
            }
        }
        start..end
    }
}
