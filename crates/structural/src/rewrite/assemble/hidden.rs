//! Decides which steps write nothing.

use std::ops::Range;

use super::statement::ends_with_terminator;
use super::{Assembler, Hit};
use crate::pattern::Matter;
use crate::program::Class;
use crate::rewrite::recipe::{GapSource, PieceWhat, Recipe, Step};
use crate::rewrite::template::What;

impl Assembler<'_> {
    /// Decides which steps write nothing: empty runs, each with a separator
    /// beside it, and what the file does without.
    pub(super) fn hide(&mut self, hit: &Hit, recipe: &Recipe) {
        let steps = &recipe.steps;
        let mut is_hidden = std::mem::take(&mut self.state.is_hidden);
        let mut has_empty_run = false;
        is_hidden.clear();
        is_hidden.resize(steps.len(), false);
        let class = |at: usize| {
            steps
                .get(at)
                .and_then(|s| self.unit(s))
                .filter(|u| matches!(u.what, What::Text(_)) && u.matter == Matter::Code)
                .map(|u| u.class)
        };
        let is_absent_token =
            |step: &Step| step.is_same && (step.pieces.as_ref()).is_some_and(|p| self.is_absent(p));
        for (at, step) in steps.iter().enumerate() {
            let Some(unit) = self.unit(step) else {
                continue;
            };
            let What::Variable(variable) = unit.what else {
                continue;
            };
            if !self.capture(hit, step, variable).is_empty() || unit.matter == Matter::Text {
                continue;
            }
            has_empty_run |= !step.is_same;
            let beside = |before: bool| {
                let other = if before { at.checked_sub(1)? } else { at + 1 };
                let free = !*is_hidden.get(other)? && class(other)? == Class::Separator;
                free.then_some(other)
            };
            let (before, behind) = (beside(true), beside(false));
            let tight = |other: Option<usize>| other.filter(|o| are_tight(steps, at, *o));
            let absent = [before, behind].into_iter().find_map(|other| {
                tight(other).filter(|o| steps.get(*o).is_some_and(is_absent_token))
            });
            let is_as_found = absent.is_none()
                && [before, behind].into_iter().flatten().next().is_some()
                && [before, behind]
                    .into_iter()
                    .flatten()
                    .all(|o| are_tight(steps, at, o));
            let dropped = absent.or_else(|| if is_as_found { None } else { before.or(behind) });
            for hidden in [Some(at), dropped].into_iter().flatten() {
                if let Some(slot) = is_hidden.get_mut(hidden) {
                    *slot = true;
                }
            }
        }
        let is_whole_behind = |at: usize| {
            matches!(
                recipe.gaps.get(at + 1).map(|g| g.source),
                Some(GapSource::Whole(_))
            )
        };
        let mut last_text: Option<Range<usize>> = None;
        for (at, step) in steps.iter().enumerate() {
            if is_hidden.get(at) == Some(&true) {
                continue;
            }
            let is_hidden_token = match class(at) {
                Some(Class::Separator) if is_absent_token(step) => {
                    is_whole_behind(at)
                        && !step
                            .pieces
                            .as_ref()
                            .is_some_and(|p| self.has_empty_run(recipe, p))
                }
                Some(Class::Terminator) if is_absent_token(step) => {
                    is_whole_behind(at) || at + 1 == steps.len()
                }
                Some(Class::Terminator) if !step.is_same => last_text
                    .clone()
                    .and_then(|range| self.source.get(range))
                    .is_some_and(|text| text.ends_with(b";")),
                _ => false,
            };
            if let Some(slot) = is_hidden.get_mut(at)
                && is_hidden_token
            {
                *slot = true;
            }
            last_text = match self.unit(step).map(|u| &u.what) {
                Some(What::Variable(variable)) => Some(self.capture(hit, step, *variable)),
                _ => None,
            };
        }
        if let (Some(last), Some(slot)) = (steps.len().checked_sub(1), is_hidden.last_mut())
            && class(last) == Some(Class::Terminator)
            && !ends_with_terminator(recipe)
            && !self.wants_terminator(hit)
        {
            *slot = true;
        }
        self.state.is_hidden = is_hidden;
        self.has_empty_run |= has_empty_run;
    }

    /// Whether an empty run stands beside a separator of the pattern.
    fn has_empty_run(&self, recipe: &Recipe, pieces: &Range<usize>) -> bool {
        [pieces.start.checked_sub(1), Some(pieces.end)]
            .into_iter()
            .flatten()
            .any(|other| {
                let is_hole = (recipe.pieces.get(other))
                    .is_some_and(|p| matches!(p.what, PieceWhat::Hole(_)));
                is_hole && self.is_absent(&(other..other + 1))
            })
    }
}

/// Whether two steps stand for pieces that are side by side in the pattern too,
/// and are the same as those.
fn are_tight(steps: &[Step], a: usize, b: usize) -> bool {
    let (Some(first), Some(second)) = (steps.get(a.min(b)), steps.get(a.max(b))) else {
        return false;
    };
    let (Some(left), Some(right)) = (&first.pieces, &second.pieces) else {
        return false;
    };
    first.is_same && second.is_same && left.end == right.start
}
