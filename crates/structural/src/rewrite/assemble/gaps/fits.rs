//! Says whether what the file has between two things still fits where one of
//! them is new, or the brackets around them are gone.

use std::ops::Range;

use crate::pattern::Matter;
use crate::rewrite::assemble::{Assembler, Hit};
use crate::rewrite::recipe::{GapSource, Piece, Recipe};
use crate::rewrite::template::{Unit, What};

/// The steps of a recipe on both sides of a gap, by number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Between {
    pub(super) before: Option<usize>,
    pub(super) behind: Option<usize>,
}

/// Signs in front of which a line may end in any language that has them.
pub(in crate::rewrite::assemble) const MEMBER_ACCESS: [&str; 4] = [".", "?.", "::", "->"];

/// Signs that belong to what stands right in front of them.
const POSTFIX: [&str; 7] = ["[", "(", "?", "!", "!!", "++", "--"];

impl<'a> Assembler<'a> {
    /// Returns what the template has in a gap.
    pub(super) fn gap_text<'r>(&self, recipe: &'r Recipe, between: Between) -> &'r str {
        let first = between.before.map_or(0, |b| b + 1);
        let last = between.behind.unwrap_or(recipe.steps.len());
        let closes = between
            .behind
            .is_none_or(|b| self.text_unit(recipe, b).is_some_and(closes));
        let gap = recipe.gaps.get(if closes { last } else { first });
        gap.map_or("", |gap| &gap.text)
    }

    /// Returns the code that a step writes, if it is no metavariable.
    fn text_unit<'r>(&self, recipe: &'r Recipe, step: usize) -> Option<&'a str>
    where
        'a: 'r,
    {
        let step = recipe.steps.get(step)?;
        let units = self.template.units().get(step.units.clone())?;
        let (first, last) = (units.first()?, units.last()?);
        let is_text =
            |unit: &Unit| matches!(unit.what, What::Text(_)) && unit.matter == Matter::Code;
        if !units.iter().all(is_text) {
            return None;
        }
        self.template.text().get(first.range.start..last.range.end)
    }

    /// Whether a line may end in a gap in which the template's does not.
    pub(super) fn may_break(&self, hit: &Hit, recipe: &Recipe, between: Between) -> bool {
        let step = |at: Option<usize>| at.and_then(|at| recipe.steps.get(at));
        let text = |at: Option<usize>| at.and_then(|at| self.text_unit(recipe, at));
        let (before, behind) = (step(between.before), step(between.behind));
        let (left, right) = (text(between.before), text(between.behind));
        let are_same = [before, behind].into_iter().flatten().all(|s| s.is_same)
            && are_neighbours(recipe, between);
        if !are_same {
            // `x⏎    .first()` must not become `x⏎    [0]`.
            if self.gap_text(recipe, between).is_empty()
                && right.is_some_and(|r| POSTFIX.contains(&r))
                && behind.is_some_and(|s| !s.is_same)
                && !left.is_some_and(opens)
            {
                return false;
            }
            // What stood between them is gone.
            if left.is_some_and(opens) && right.is_some_and(closes) {
                return false;
            }
        }
        if !self.grammar.language().line_ends_count() {
            return true;
        }
        let braces = self.grammar.language().lines_end_in_braces();
        let depth = self.depth(recipe, between.behind.unwrap_or(recipe.steps.len()), braces);
        if depth > 0 {
            return true;
        }
        if are_same && Self::pattern_depth(recipe, between, braces) == 0 {
            return true;
        }
        let is_block = |sign: &str| braces && matches!(sign, "{" | "}");
        if left.is_some_and(|l| is_block(l) || l == ";" || (braces && l == ","))
            || right.is_some_and(|r| is_block(r) || MEMBER_ACCESS.contains(&r))
        {
            return true;
        }
        self.is_in_brackets(hit, braces)
    }

    /// Returns how many brackets are open in front of a step.
    pub(in crate::rewrite::assemble) fn depth(
        &self,
        recipe: &Recipe,
        step: usize,
        braces: bool,
    ) -> usize {
        let steps = (0..step).filter(|at| self.state.is_hidden.get(*at) != Some(&true));
        let signs = steps.filter_map(|at| self.text_unit(recipe, at));
        open_brackets(signs, braces)
    }

    /// Returns how many brackets of the pattern are open where it has the gap.
    fn pattern_depth(recipe: &Recipe, between: Between, braces: bool) -> usize {
        let end = between
            .behind
            .and_then(|at| recipe.steps.get(at))
            .and_then(|s| s.pieces.as_ref())
            .map_or(recipe.pieces.len(), |p| p.start);
        Self::brackets_around(recipe, end, braces)
    }

    /// Returns how many brackets of the pattern are open in front of a piece.
    pub(in crate::rewrite::assemble) fn brackets_around(
        recipe: &Recipe,
        piece: usize,
        braces: bool,
    ) -> usize {
        let pieces = recipe.pieces.get(..piece).unwrap_or_default();
        open_brackets(pieces.iter().map(|p| piece_text(recipe, p)), braces)
    }

    /// Whether the match is in brackets in the file.
    pub(in crate::rewrite::assemble) fn is_in_brackets(&self, hit: &Hit, braces: bool) -> bool {
        let bytes = &hit.found.bytes;
        let mut at = hit.found.node;
        loop {
            let parent = self.tree.node(at).parent;
            if parent == at {
                return false;
            }
            let kind = self.grammar.kind_name(self.tree.node(parent).kind);
            if ["block", "body", "statements"]
                .iter()
                .any(|word| kind.contains(word))
            {
                return false;
            }
            let around = self.brackets_of(parent, braces);
            if around.is_some_and(|r| r.start <= bytes.start && bytes.end <= r.end) {
                return true;
            }
            at = parent;
        }
    }

    /// Returns what is between the first opening bracket that is a child of a
    /// node and the last closing one; remembered, since there may be thousands
    /// of matches in one list.
    fn brackets_of(&self, parent: u32, braces: bool) -> Option<Range<usize>> {
        let mut known = self.brackets.borrow_mut();
        let between = known.entry((parent, braces)).or_insert_with(|| {
            let mut between: Option<Range<usize>> = None;
            for child in self.tree.children(parent) {
                let range = self.tree.range(child);
                match self.source.get(range.clone()).unwrap_or_default() {
                    b"{" | b"}" if braces => {}
                    b"(" | b"[" | b"{" if between.is_none() => {
                        between = Some(range.end..range.end);
                    }
                    b")" | b"]" | b"}" => {
                        if let Some(between) = &mut between {
                            between.end = range.start;
                        }
                    }
                    _ => {}
                }
            }
            between
        });
        between.clone()
    }

    /// Returns where in what is written a comma stands that was a trailing one,
    /// and would make something else of the brackets it is in now: `f(a,)` is no
    /// `(a,)`, and `[a,]` no `x[a,]`.
    pub(super) fn comma_that_would_mean_more(
        &self,
        recipe: &Recipe,
        between: Between,
        start: usize,
    ) -> Option<usize> {
        let closer = between.behind?;
        let opener = self.opener(recipe, closer)?;
        let sign = self.text_unit(recipe, opener)?;
        let unit = |at: usize| recipe.steps.get(at).and_then(|s| self.unit(s));
        let begins = unit(opener)?.range.start;
        let is_behind_operand = opener
            .checked_sub(1)
            .and_then(|at| {
                let step = recipe.steps.get(at)?;
                self.template.units().get(step.units.end.checked_sub(1)?)
            })
            .is_some_and(|u| u.range.end == begins && is_operand(u, self.template.text()));
        let means_more = match sign {
            "(" => !is_behind_operand,
            "[" => is_behind_operand,
            _ => false,
        };
        if !means_more || Self::was_alike(recipe, closer, sign, is_behind_operand) {
            return None;
        }
        let written = self.out.get(start..).unwrap_or_default();
        let range = self
            .state
            .kept
            .last()
            .filter(|r| r.len() == written.len())?;
        let end = self.last_token(range.clone())?;
        let at = end.checked_sub(1).filter(|at| *at >= range.start)?;
        (self.source.get(at) == Some(&b',')).then_some(start + at - range.start)
    }

    /// Returns the step that opens what a step closes.
    fn opener(&self, recipe: &Recipe, closer: usize) -> Option<usize> {
        let wanted = self.text_unit(recipe, closer).filter(|t| closes(t))?;
        let mut depth = 0_usize;
        for at in (0..closer).rev() {
            match self.text_unit(recipe, at) {
                Some(sign) if closes(sign) => depth += 1,
                Some(sign) if opens(sign) && depth > 0 => depth -= 1,
                Some(sign) if opens(sign) => {
                    let fits = matches!((sign, wanted), ("(", ")") | ("[", "]") | ("{", "}"));
                    return fits.then_some(at);
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the pattern has the same brackets around it, behind the same sort of thing.
    fn was_alike(recipe: &Recipe, closer: usize, sign: &str, is_behind_operand: bool) -> bool {
        let Some(pieces) = recipe.steps.get(closer).and_then(|s| s.pieces.clone()) else {
            return false;
        };
        let mut depth = 0_usize;
        for at in (0..pieces.start).rev() {
            let Some(piece) = recipe.pieces.get(at) else {
                return false;
            };
            match piece_text(recipe, piece) {
                text if closes(text) => depth += 1,
                text if opens(text) && depth > 0 => depth -= 1,
                text if opens(text) => {
                    let left = at.checked_sub(1).and_then(|i| recipe.pieces.get(i));
                    let was_behind_operand = left.is_some_and(|l| {
                        l.range.end == piece.range.start && ends_operand(piece_text(recipe, l))
                    });
                    return text == sign && was_behind_operand == is_behind_operand;
                }
                _ => {}
            }
        }
        false
    }
}

/// Whether two steps stand for pieces side by side, and the gap for what is
/// between those.
fn are_neighbours(recipe: &Recipe, between: Between) -> bool {
    let at = between.before.map_or(0, |b| b + 1);
    let last = between.behind.unwrap_or(recipe.steps.len());
    let gaps = recipe.gaps.get(at..=last).unwrap_or_default();
    !gaps.is_empty() && gaps.iter().all(|g| matches!(g.source, GapSource::Whole(_)))
}

fn open_brackets<'t>(signs: impl Iterator<Item = &'t str>, braces: bool) -> usize {
    signs.fold(0, |depth: usize, sign| match sign {
        "(" | "[" => depth + 1,
        ")" | "]" => depth.saturating_sub(1),
        "{" if !braces => depth + 1,
        "}" if !braces => depth.saturating_sub(1),
        _ => depth,
    })
}

fn piece_text<'r>(recipe: &'r Recipe, piece: &Piece) -> &'r str {
    recipe.pattern.get(piece.range.clone()).unwrap_or_default()
}

fn opens(sign: &str) -> bool {
    matches!(sign, "(" | "[" | "{")
}

fn closes(sign: &str) -> bool {
    matches!(sign, ")" | "]" | "}")
}

/// Whether a call or an index may follow right behind a piece of a template.
fn is_operand(unit: &Unit, template: &str) -> bool {
    match &unit.what {
        What::Variable(_) => true,
        What::Text(_) => ends_operand(template.get(unit.range.clone()).unwrap_or_default()),
    }
}

fn ends_operand(text: &str) -> bool {
    text.bytes()
        .last()
        .is_some_and(|b| crate::pattern::is_word(b) || matches!(b, b')' | b']' | b'"' | b'\''))
}
