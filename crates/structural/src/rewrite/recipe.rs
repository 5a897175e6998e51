//! Compares a template with its pattern: what stays, what goes, what is new.
//!
//! The pieces of the pattern are known to stand for certain bytes of a match.
//! Where a piece of the template is paired with one of them, the bytes of the
//! file are kept; and so is what stands between two that are paired side by
//! side, which is where a file has line breaks, comments and trailing commas
//! that the pattern does not mention.

use std::ops::Range;

use super::pairs::pair;
use super::template::{Unit, What};
use crate::pattern::{DollarForm, HoleKind, Pattern, dollars};
use crate::program::{Class, Op, Program};

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes of the pattern.
    pub(crate) range: Range<usize>,
    /// The step that consumes it; none for a run at the end of a sequence.
    pub(crate) step: Option<u32>,
    pub(crate) what: PieceWhat,
    /// Whether white space at its end is a part of it.
    pub(crate) keeps_blanks: bool,
}

/// What a piece of a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceWhat {
    /// A metavariable, by number; `None` for one that binds nothing.
    Hole(Option<usize>),
    /// A token.
    Token(Class),
}

/// How matches of one program are rewritten.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recipe {
    /// The pattern.
    pub(crate) pattern: Box<str>,
    pub(crate) pieces: Vec<Piece>,
    /// By variable: whether it stands for a run.
    pub(crate) runs: Vec<bool>,
    pub(crate) steps: Vec<Step>,
    /// The text in front of each step, and at last what follows the last one.
    pub(crate) gaps: Vec<Gap>,
    /// Gaps of the pattern with a line break: the gap in front of the piece of
    /// this number, and the white space behind the line break.
    pub(crate) margins: Vec<(usize, Box<str>)>,
}

/// What is written for one or more pieces of the template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// Pieces of the template.
    pub(crate) units: Range<usize>,
    /// The pieces of the pattern in whose place it stands, if any.
    pub(crate) pieces: Option<Range<usize>>,
    /// Whether they are the same as those.
    pub(crate) is_same: bool,
}

/// What is written between two steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The text in the template.
    pub(crate) text: Box<str>,
    /// What of the file may stand there.
    pub(crate) source: GapSource,
}

/// What of the file may stand between two steps: the text in front of the
/// piece of this number (one past the last: behind the last).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GapSource {
    /// Nothing: as in the template.
    Template,
    /// All of it.
    Whole(usize),
    /// Its white space and comments, something new comes behind it.
    BeforeNew(usize),
    /// What was not written of it yet, something new came before it.
    AfterNew(usize),
    /// Its white space and comments, something was deleted beside it.
    BesideDeleted(usize),
}

impl GapSource {
    /// Returns the piece in front of which the text stands in the file.
    pub(crate) fn piece(self) -> Option<usize> {
        match self {
            Self::Template => None,
            Self::Whole(piece)
            | Self::BeforeNew(piece)
            | Self::AfterNew(piece)
            | Self::BesideDeleted(piece) => Some(piece),
        }
    }
}

impl Recipe {
    pub(crate) fn new(
        program: &Program,
        pattern: &Pattern,
        template: &str,
        units: &[Unit],
    ) -> Self {
        let Some(pieces) = pieces(program, pattern) else {
            return Self::plain(template, units);
        };
        let pairs = pair(&pieces, pattern.text(), units, template);
        let mut steps = Vec::new();
        let mut unit = 0;
        for pair in pairs {
            steps.extend((unit..pair.units.start).map(Step::new));
            unit = pair.units.end;
            steps.push(Step {
                units: pair.units,
                pieces: Some(pair.pieces),
                is_same: pair.is_same,
            });
        }
        steps.extend((unit..units.len()).map(Step::new));
        let context = Gaps {
            pieces: &pieces,
            pattern: pattern.text(),
            units,
            template,
        };
        let gaps = (0..=steps.len())
            .map(|at| context.gap(at.checked_sub(1).and_then(|i| steps.get(i)), steps.get(at)))
            .collect();
        let margins = (1..pieces.len())
            .filter_map(|at| {
                let (_, margin) = context.pattern_gap(at).rsplit_once('\n')?;
                Some((at, margin.into()))
            })
            .collect();
        Self {
            pattern: pattern.text().into(),
            runs: pattern.variables().iter().map(|v| v.is_run).collect(),
            pieces,
            steps,
            gaps,
            margins,
        }
    }

    /// Whether the pattern ends with a run, and the template writes something
    /// on a line behind it.
    pub(crate) fn adds_behind_run(&self) -> bool {
        let ends_with_run = self.pieces.last().is_some_and(|piece| match piece.what {
            PieceWhat::Hole(Some(variable)) => self.runs.get(variable) == Some(&true),
            PieceWhat::Hole(None) | PieceWhat::Token(_) => false,
        });
        let keeps_end = self.steps.last().is_some_and(|step| {
            let pieces = step.pieces.as_ref();
            step.is_same && pieces.is_some_and(|p| p.end == self.pieces.len())
        });
        ends_with_run && !keeps_end && self.gaps.iter().any(|gap| gap.text.contains('\n'))
    }

    /// Writes the template as it stands, with nothing of the pattern's.
    fn plain(template: &str, units: &[Unit]) -> Self {
        let steps: Vec<Step> = (0..units.len()).map(Step::new).collect();
        let context = Gaps {
            pieces: &[],
            pattern: "",
            units,
            template,
        };
        let gaps = (0..=steps.len())
            .map(|at| Gap {
                text: context
                    .template_gap(at.checked_sub(1).and_then(|i| steps.get(i)), steps.get(at))
                    .into(),
                source: GapSource::Template,
            })
            .collect();
        Self {
            steps,
            gaps,
            ..Self::default()
        }
    }
}

impl Step {
    fn new(unit: usize) -> Self {
        Self {
            units: unit..unit + 1,
            pieces: None,
            is_same: false,
        }
    }
}

struct Gaps<'a> {
    pieces: &'a [Piece],
    pattern: &'a str,
    units: &'a [Unit],
    template: &'a str,
}

impl Gaps<'_> {
    /// Returns the text of the pattern in front of a piece, or behind the last.
    fn pattern_gap(&self, piece: usize) -> &str {
        let from = piece
            .checked_sub(1)
            .and_then(|i| self.pieces.get(i))
            .map(|p| p.range.end);
        let to = self.pieces.get(piece).map(|p| p.range.start);
        between(self.pattern, from, to)
    }

    fn template_gap(&self, before: Option<&Step>, behind: Option<&Step>) -> &str {
        let from = before
            .and_then(|s| self.units.get(s.units.end.checked_sub(1)?))
            .map(|u| u.range.end);
        let to = behind
            .and_then(|s| self.units.get(s.units.start))
            .map(|u| u.range.start);
        between(self.template, from, to)
    }

    fn gap(&self, before: Option<&Step>, behind: Option<&Step>) -> Gap {
        let text = self.template_gap(before, behind);
        // The pieces that the steps beside it stand for; the ends stand for themselves.
        let left = match before {
            None => Some(0),
            Some(step) => step.pieces.as_ref().map(|p| p.end),
        };
        let right = match behind {
            None => Some(self.pieces.len()),
            Some(step) => step.pieces.as_ref().map(|p| p.start),
        };
        let is_same = |piece: usize| self.pattern_gap(piece) == text;
        let is_in_text = |step: Option<&Step>| {
            step.and_then(|s| self.units.get(s.units.start))
                .is_some_and(|u| u.matter == crate::pattern::Matter::Text)
        };
        let source = match (left, right) {
            (Some(left), Some(right)) if left == right && is_same(left) => GapSource::Whole(left),
            (Some(left), Some(right)) if left != right => {
                let to_the_left = before.is_none_or(|s| self.opens(s));
                let (first, other) = if to_the_left && behind.is_some() {
                    (left, right)
                } else {
                    (right, left)
                };
                if is_same(first) {
                    GapSource::BesideDeleted(first)
                } else if is_same(other) {
                    GapSource::BesideDeleted(other)
                } else {
                    GapSource::Template
                }
            }
            (Some(left), None)
                if is_same(left)
                    && !is_in_text(before)
                    && (!text.is_empty() || before.is_none_or(|s| self.opens(s))) =>
            {
                GapSource::BeforeNew(left)
            }
            // What is behind a run belongs to the run.
            (None, Some(_)) if behind.is_none() && self.ends_with_run() => GapSource::Template,
            (None, Some(right))
                if is_same(right)
                    && !is_in_text(behind)
                    && (!text.is_empty() || behind.is_none_or(|s| self.closes(s))) =>
            {
                GapSource::AfterNew(right)
            }
            _ => GapSource::Template,
        };
        Gap {
            text: text.into(),
            source,
        }
    }

    fn ends_with_run(&self) -> bool {
        let last = self.pieces.last().map(|piece| piece.range.clone());
        last.and_then(|range| self.pattern.get(range))
            .is_some_and(|text| text.starts_with("$$$"))
    }

    fn text_of(&self, step: &Step) -> Option<&str> {
        let from = self.units.get(step.units.start)?.range.start;
        let to = self.units.get(step.units.end.checked_sub(1)?)?.range.end;
        self.template.get(from..to)
    }

    fn opens(&self, step: &Step) -> bool {
        self.text_of(step)
            .is_some_and(|t| matches!(t, "(" | "[" | "{"))
    }

    fn closes(&self, step: &Step) -> bool {
        self.text_of(step)
            .is_some_and(|t| matches!(t, ")" | "]" | "}"))
    }
}

/// Returns the text between two places; behind the last one, to the end.
fn between(text: &str, from: Option<usize>, to: Option<usize>) -> &str {
    match (from, to) {
        (Some(from), Some(to)) => text.get(from..to).unwrap_or_default(),
        (Some(from), None) => text.get(from..).unwrap_or_default(),
        (None, _) => "",
    }
}

/// Returns the pieces of a pattern in order; `None` if they cannot be told apart.
fn pieces(program: &Program, pattern: &Pattern) -> Option<Vec<Piece>> {
    let text = pattern.text();
    let dollars = dollars(text, pattern.backslash());
    let escapes: Vec<usize> = (dollars.iter())
        .filter(|d| matches!(d.form, DollarForm::Escaped))
        .map(|d| d.span.start)
        .collect();
    let holes: Vec<(Range<usize>, Option<usize>)> = (dollars.into_iter())
        .filter_map(|dollar| match dollar.form {
            DollarForm::Hole(HoleKind::One | HoleKind::Run, name) => {
                let variable = pattern.variables().iter().position(|v| v.name == name);
                Some((dollar.span, variable))
            }
            DollarForm::Escaped | DollarForm::Plain(_) => None,
        })
        .collect();
    let mut found: Vec<Piece> = Vec::new();
    for (step, (op, place)) in program.ops.iter().zip(&program.places).enumerate() {
        let start = *place as usize;
        let (range, what) = match op {
            Op::Token(token) => {
                let mut token_text = std::str::from_utf8(&token.text).ok()?;
                if !token.keeps_blanks {
                    token_text = token_text.trim_end();
                }
                let end = end_of_token(text, start, token_text, &escapes)?;
                (start..end, PieceWhat::Token(token.class))
            }
            Op::Hole { .. } | Op::Run { .. } => {
                let (span, variable) = holes.iter().find(|(span, _)| span.contains(&start))?;
                (span.clone(), PieceWhat::Hole(*variable))
            }
            Op::Enter { .. } | Op::Leave { .. } | Op::Done => continue,
        };
        if found.last().is_some_and(|l| l.range.end > range.start) {
            return None;
        }
        found.push(Piece {
            range,
            step: Some(u32::try_from(step).ok()?),
            what,
            keeps_blanks: matches!(op, Op::Token(token) if token.keeps_blanks),
        });
    }
    // Runs at the ends of a sequence have no step.
    for (span, variable) in holes {
        let at = found.partition_point(|p| p.range.start < span.start);
        let is_known = (at.checked_sub(1).and_then(|i| found.get(i)))
            .is_some_and(|p| p.range.end > span.start)
            || found.get(at).is_some_and(|p| p.range.start < span.end);
        if !is_known {
            found.insert(
                at,
                Piece {
                    range: span,
                    step: None,
                    what: PieceWhat::Hole(variable),
                    keeps_blanks: false,
                },
            );
        }
    }
    Some(found)
}

/// Returns where a token of the pattern ends, which has a backslash more for
/// each `\$NAME`; `None` if it is not there.
fn end_of_token(text: &str, start: usize, token: &str, escapes: &[usize]) -> Option<usize> {
    let mut at = start;
    let mut rest = token;
    for escape in escapes.iter().filter(|e| **e >= start) {
        let Some((before, behind)) = rest
            .split_at_checked(escape - at)
            .filter(|(_, b)| !b.is_empty())
        else {
            break;
        };
        if text.get(at..*escape) != Some(before) {
            return None;
        }
        at = escape + 1;
        rest = behind;
    }
    text.get(at..)?.starts_with(rest).then_some(at + rest.len())
}

/// Whether a piece and a unit are the same metavariable or the same text.
pub(super) fn is_same(piece: &Piece, pattern: &str, unit: &Unit, template: &str) -> bool {
    match (piece.what, &unit.what) {
        (PieceWhat::Hole(variable), What::Variable(number)) => variable == Some(*number),
        (PieceWhat::Token(_), What::Text(_)) => {
            let text = pattern.get(piece.range.clone());
            text.is_some() && text == template.get(unit.range.clone())
        }
        _ => false,
    }
}
