//! Writes what stands between two steps: of the file where it can, or of the
//! template.

pub(super) mod fits;

use std::ops::Range;

use super::{Assembler, At, Hit, Lines};
use crate::program::Class;
use crate::rewrite::indent::{is_blank, margin};
use crate::rewrite::recipe::{Gap, GapSource, PieceWhat, Recipe};
use crate::rewrite::template::What;
use fits::Between;

/// What writing a gap changes beside what is written.
struct Undo {
    kept: usize,
    line_start: Option<usize>,
    used_gap: Option<usize>,
}

impl Assembler<'_> {
    /// Writes what stands between two steps that write something.
    pub(super) fn write_gap(
        &mut self,
        hit: &Hit,
        recipe: &Recipe,
        before: Option<usize>,
        behind: Option<usize>,
    ) {
        let start = self.out.len();
        let undo = Undo {
            kept: self.state.kept.len(),
            line_start: self.state.line_start,
            used_gap: self.state.used_gap,
        };
        self.write_found_gap(hit, recipe, before, behind);
        let between = Between { before, behind };
        let written = self.out.get(start..).unwrap_or_default();
        if !written.contains(&b'\n') && !written.contains(&b',') {
            return;
        }
        let text = self.gap_text(recipe, between);
        if written.contains(&b'\n') && !text.contains('\n') && !self.may_break(hit, recipe, between)
        {
            self.out.truncate(start);
            self.state.kept.truncate(undo.kept);
            self.state.line_start = undo.line_start;
            self.state.used_gap = undo.used_gap;
            self.write_template(text, Lines::Moved);
        } else if let Some(comma) = self.comma_that_would_mean_more(recipe, between, start) {
            self.out.remove(comma);
            if let Some(line) = self.state.line_start.as_mut().filter(|line| **line > comma) {
                *line -= 1;
            }
        }
    }

    fn write_found_gap(
        &mut self,
        hit: &Hit,
        recipe: &Recipe,
        before: Option<usize>,
        behind: Option<usize>,
    ) {
        let first = before.map_or(0, |b| b + 1);
        let last = behind.unwrap_or(recipe.steps.len());
        let gaps = recipe.gaps.get(first..=last).unwrap_or_default();
        let all_whole = gaps.iter().all(|g| matches!(g.source, GapSource::Whole(_)));
        let are_same = (recipe.steps.get(first..last).unwrap_or_default())
            .iter()
            .all(|s| s.is_same);
        let whole = |gap: Option<&Gap>| match gap.map(|g| g.source) {
            Some(GapSource::Whole(piece)) => Some(self.source_gap(piece)),
            _ => None,
        };
        if gaps.len() > 1
            && all_whole
            && are_same
            && let (Some(from), Some(to)) = (whole(gaps.first()), whole(gaps.last()))
        {
            self.copy(from.start..to.end);
            return;
        }
        let closes = behind.is_none_or(|b| self.is_class(recipe, b, Class::Closer));
        if let (Some(range), 2..) = (whole(gaps.first()), gaps.len())
            && closes
            && self.write_left_over(range, whole(gaps.last()))
        {
            return;
        }
        if let Some(step) = behind
            && self.write_before_new_body(hit, recipe, step)
        {
            return;
        }
        if let Some(step) = before
            && self.write_behind_new_body(recipe, step)
        {
            return;
        }
        let gap = if closes { gaps.last() } else { gaps.first() };
        if let Some(gap) = gap {
            self.write_one_gap(gap, closes && behind.is_some());
        }
    }

    /// Writes the comments in front of a run that is gone, and says whether
    /// what stands behind the run is written too.
    fn write_left_over(&mut self, before: Range<usize>, behind: Option<Range<usize>>) -> bool {
        let text = self.source.get(before.clone()).unwrap_or_default();
        if is_blank(text) || self.last_token(before.clone()).is_some() {
            return false;
        }
        let behind = behind.unwrap_or(before.end..before.end);
        let has_line_end = (self.source.get(behind)).is_some_and(|b| b.contains(&b'\n'));
        if has_line_end {
            let length = text.trim_ascii_end().len();
            self.copy(before.start..before.start + length);
            return false;
        }
        self.copy(before);
        true
    }

    /// Returns what the file has between the brackets in which a step is
    /// written, where the pattern has a run there that is empty in the file.
    fn empty_body(&self, recipe: &Recipe, step: usize) -> Option<Range<usize>> {
        let pieces = recipe.steps.get(step)?.pieces.clone()?;
        let is_run = matches!(recipe.pieces.get(pieces.start)?.what, PieceWhat::Hole(_));
        let is_closed = (recipe.pieces.get(pieces.end))
            .is_some_and(|p| p.what == PieceWhat::Token(Class::Closer));
        let place = self.state.places.get(pieces.start)?;
        let closer = self
            .state
            .places
            .get(pieces.end)
            .filter(|at| !at.is_absent)?;
        (is_run && is_closed && pieces.len() == 1 && place.is_absent)
            .then_some(place.range.end..closer.range.start)
    }

    /// Writes what stands in front of code in brackets that were empty in the file.
    fn write_before_new_body(&mut self, hit: &Hit, recipe: &Recipe, step: usize) -> bool {
        let Some(body) = self.empty_body(recipe, step) else {
            return false;
        };
        let text = self.source.get(body.clone()).unwrap_or_default();
        let Some(last) = memchr::memrchr(b'\n', text) else {
            return false;
        };
        let outer = margin(text.get(last + 1..).unwrap_or_default()).to_vec();
        let length = text.get(..last).unwrap_or_default().trim_ascii_end().len();
        self.copy(body.start..body.start + length);
        self.out.extend_from_slice(if text.contains(&b'\r') {
            b"\r\n"
        } else {
            b"\n"
        });
        self.state.line_start = Some(self.out.len());
        let inner = self.inner_margin(hit, recipe, step, &outer);
        self.out.extend_from_slice(&inner);
        true
    }

    /// Returns the margin of code in brackets whose last line has the margin
    /// `outer`: further in by as much as it was where it is from.
    fn inner_margin(&mut self, hit: &Hit, recipe: &Recipe, step: usize, outer: &[u8]) -> Vec<u8> {
        let steps = recipe.steps.get(step);
        let variable = match steps.and_then(|s| self.unit(s)).map(|u| &u.what) {
            Some(What::Variable(variable)) => *variable,
            _ => return Vec::new(),
        };
        let code = steps.map_or(0..0, |s| self.capture(hit, s, variable));
        let closer = (self.state.places.iter())
            .find(|at| !at.is_absent && at.range.start >= code.end)
            .map_or(code.end, |at| at.range.start);
        let (inner, old_outer) = (self.margin_of(code.start), self.margin_of(closer));
        match inner.strip_prefix(old_outer) {
            Some(further) => [outer, further].concat(),
            None => inner.to_vec(),
        }
    }

    /// Writes what stands behind code in brackets that were empty in the file.
    fn write_behind_new_body(&mut self, recipe: &Recipe, step: usize) -> bool {
        let Some(body) = self.empty_body(recipe, step) else {
            return false;
        };
        let text = self.source.get(body.clone()).unwrap_or_default();
        let Some(last) = memchr::memrchr(b'\n', text) else {
            return false;
        };
        let is_crlf = last.checked_sub(1).and_then(|i| text.get(i)) == Some(&b'\r');
        self.copy(body.start + last - usize::from(is_crlf)..body.end);
        true
    }

    fn is_class(&self, recipe: &Recipe, step: usize, class: Class) -> bool {
        recipe
            .steps
            .get(step)
            .and_then(|s| self.unit(s))
            .is_some_and(|u| u.class == class && matches!(u.what, What::Text(_)))
    }

    fn write_one_gap(&mut self, gap: &Gap, closes: bool) {
        let piece = match gap.source {
            GapSource::Template => return self.write_template(&gap.text, Lines::Moved),
            GapSource::Whole(piece) => {
                let range = self.source_gap(piece);
                if range.is_empty() && self.is_beside_absent(piece) {
                    return self.write_template(&gap.text, Lines::Moved);
                }
                return self.copy(range);
            }
            GapSource::BeforeNew(piece)
            | GapSource::AfterNew(piece)
            | GapSource::BesideDeleted(piece) => piece,
        };
        let mut range = self.source_gap(piece);
        let text = self.source.get(range.clone()).unwrap_or_default();
        let last_line = memchr::memrchr(b'\n', text);
        if (gap.text.contains('\n') && last_line.is_none())
            || (range.is_empty() && self.is_beside_absent(piece))
        {
            return self.write_template(&gap.text, Lines::Moved);
        }
        if matches!(gap.source, GapSource::AfterNew(_)) && self.state.used_gap == Some(piece) {
            // What is in it stands in front of what is new.
            let Some(last_line) = last_line else {
                return self.write_template(&gap.text, Lines::Moved);
            };
            let is_crlf = last_line.checked_sub(1).and_then(|i| text.get(i)) == Some(&b'\r');
            range.start += last_line - usize::from(is_crlf);
            let end = range.start + usize::from(is_crlf) + 1;
            let line = self.source.get(end..range.end).unwrap_or_default();
            range.end = end + margin(line).len();
            return self.copy(range);
        }
        if let Some(token_end) = self.last_token(range.clone()) {
            let opens = self
                .out
                .last()
                .is_none_or(|b| matches!(b, b'(' | b'[' | b'{' | b'<'));
            if matches!(gap.source, GapSource::BeforeNew(_)) {
                return self.write_template(&gap.text, Lines::Moved);
            }
            if !closes || opens {
                range.start = token_end;
            }
        }
        if matches!(gap.source, GapSource::BeforeNew(_)) {
            self.state.used_gap = Some(piece);
        }
        self.copy(range);
    }

    /// Whether a piece beside a gap is missing in the file, so that the gap says nothing.
    fn is_beside_absent(&self, piece: usize) -> bool {
        let places = &self.state.places;
        let is_absent = |at: Option<&At>| at.is_some_and(|at| at.is_absent);
        is_absent(piece.checked_sub(1).and_then(|i| places.get(i))) || is_absent(places.get(piece))
    }

    /// Returns the end of the last token, other than a comment, in a range
    /// between two pieces.
    pub(super) fn last_token(&self, range: Range<usize>) -> Option<usize> {
        if self.source.get(range.clone()).is_none_or(is_blank) {
            return None;
        }
        let nodes = self.tree.nodes();
        let mut at = nodes.partition_point(|n| (n.start as usize) < range.start);
        let mut found = None;
        while let Some(node) = nodes.get(at).filter(|n| (n.start as usize) < range.end) {
            let is_leaf = node.next as usize == at + 1;
            if node.flags.is_extra() {
                at = node.next as usize;
                continue;
            }
            if is_leaf && node.start < node.end && node.end as usize <= range.end {
                found = Some(node.end as usize);
            }
            at += 1;
        }
        found
    }
}
