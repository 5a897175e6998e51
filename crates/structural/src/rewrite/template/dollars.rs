//! Tells which `$` of a template are metavariables.

use std::ops::Range;

use super::TemplateError;
use crate::grammar::Grammar;
use crate::pattern::{
    Backslash, Dollar, DollarForm, HoleKind, Leaf, Matter, Pattern, PlainReason, Variable, is_name,
    is_word, leaves,
};

/// A `$` of the template.
pub(super) struct Place {
    pub(super) span: Range<usize>,
    pub(super) form: Form,
}

/// What a `$` of a template begins.
pub(super) enum Form {
    /// A metavariable of the pattern, by number.
    Bound { variable: usize, is_glued: bool },
    /// `\$NAME`.
    Escaped,
    /// What is no metavariable by its form.
    Plain,
    /// What is refused outside of text.
    Refused(TemplateError),
}

/// What a `$` is glued to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Glue {
    None,
    /// A metavariable that ends where it begins.
    Metavariable,
    /// Other text.
    Text,
}

/// Writes a variable with its `$`.
fn with_dollars(variable: &Variable) -> String {
    let dollars = if variable.is_run { "$$$" } else { "$" };
    format!("{dollars}{}", variable.name)
}

/// Finds the `$` of the template, in order.
pub(super) fn places(text: &str, pattern: &Pattern) -> Vec<Place> {
    let bytes = text.as_bytes();
    let at = |i: usize| bytes.get(i).copied();
    let mut found: Vec<Place> = Vec::new();
    let mut from = 0;
    while let Some(offset) = bytes.get(from..).and_then(|b| memchr::memchr(b'$', b)) {
        let start = from + offset;
        let dollars = (start..).take_while(|i| at(*i) == Some(b'$')).count();
        let word_start = start + dollars;
        let word_end = (word_start..)
            .find(|i| !at(*i).is_some_and(is_word))
            .unwrap_or(word_start);
        let word = text.get(word_start..word_end).unwrap_or_default();
        let before = start.checked_sub(1).and_then(at);
        let last = found.last().filter(|p| p.span.end == start);
        let glue = if at(word_end) == Some(b'$') || (before.is_some_and(is_word) && last.is_none())
        {
            Glue::Text
        } else if last.is_some() {
            match last.map(|p| &p.form) {
                Some(Form::Bound { .. }) => Glue::Metavariable,
                _ => Glue::Text,
            }
        } else {
            Glue::None
        };
        let is_escaped = before == Some(b'\\') && pattern.backslash() == Backslash::Escapes;
        let (form, end) = form(dollars, word, glue, pattern);
        let is_hole = !matches!(form, Form::Plain);
        let place = if is_escaped && is_hole {
            Place {
                span: start - 1..word_end,
                form: Form::Escaped,
            }
        } else {
            Place {
                span: start..word_start + end,
                form,
            }
        };
        from = place.span.end.max(start + 1);
        found.push(place);
    }
    found
}

/// Says what a number of `$` and the word behind them are, and how much of the
/// word belongs to it.
fn form(dollars: usize, word: &str, glue: Glue, pattern: &Pattern) -> (Form, usize) {
    let variables = pattern.variables();
    let number = |name: &str| variables.iter().position(|v| v.name == name);
    let written = || format!("{}{word}", "$".repeat(dollars));
    let is_run = dollars == 3;
    if !matches!(dollars, 1 | 3) {
        let meant = (dollars == 2).then(|| number(word)).flatten();
        return match meant.and_then(|n| variables.get(n)) {
            Some(variable) => {
                let error = TemplateError::OtherForm {
                    written: written(),
                    bound: with_dollars(variable),
                };
                (Form::Refused(error), word.len())
            }
            None => (Form::Plain, word.len()),
        };
    }
    if (word == "_" && dollars == 1) || (is_run && matches!(word, "" | "_")) {
        return (Form::Refused(TemplateError::Unnamed(written())), word.len());
    }
    // `$NAME_x` is `$NAME` with `_x` behind it, where `$NAME_x` is no name itself.
    let name = if is_name(word.as_bytes()) {
        word
    } else {
        let bound = word
            .match_indices('_')
            .map(|(at, _)| word.get(..at).unwrap_or_default())
            .rfind(|name| number(name).is_some());
        match bound {
            Some(name) => name,
            None => return (Form::Plain, word.len()),
        }
    };
    match number(name).and_then(|n| Some((n, variables.get(n)?))) {
        Some((variable, known)) if known.is_run == is_run => {
            let is_glued = glue != Glue::None;
            (Form::Bound { variable, is_glued }, name.len())
        }
        Some((_, known)) => {
            let error = TemplateError::OtherForm {
                written: format!("{}{name}", "$".repeat(dollars)),
                bound: with_dollars(known),
            };
            (Form::Refused(error), name.len())
        }
        None if glue == Glue::Text => (Form::Plain, word.len()),
        None => {
            let nearest = tiers::nearest(name, variables.iter().map(|v| v.name.as_str()))
                .first()
                .and_then(|near| variables.iter().find(|v| v.name == **near));
            let mut bound: Vec<&Variable> = variables.iter().collect();
            bound.sort_by_key(|v| nearest.is_none_or(|n| n.name != v.name));
            let error = TemplateError::Unbound {
                name: written(),
                bound: bound.into_iter().map(with_dollars).collect(),
                nearest: nearest.map(with_dollars),
            };
            (Form::Refused(error), word.len())
        }
    }
}

/// Describes a place in the words of a pattern.
pub(super) fn as_dollar(text: &str, place: &Place) -> Dollar {
    let piece = text.get(place.span.clone()).unwrap_or_default();
    let kind = if piece.starts_with("$$$") {
        HoleKind::Run
    } else {
        HoleKind::One
    };
    let form = match &place.form {
        Form::Bound { variable, .. } => DollarForm::Hole(kind, format!("V{variable}")),
        Form::Refused(_) => DollarForm::Hole(kind, String::new()),
        Form::Escaped => DollarForm::Escaped,
        Form::Plain => DollarForm::Plain(PlainReason::Bare),
    };
    Dollar {
        span: place.span.clone(),
        form,
    }
}

/// Decides what depends on whether a `$` is in a string or a comment.
pub(super) fn settle(
    text: &str,
    places: Vec<Place>,
    leaves: &[Leaf],
    pattern: &Pattern,
    grammar: &Grammar,
) -> Result<Vec<Place>, TemplateError> {
    let mut settled = Vec::with_capacity(places.len());
    for mut place in places {
        let piece = text.get(place.span.clone()).unwrap_or_default();
        let is_in_text = matter_at(leaves, place.span.start) != Matter::Code;
        let is_plain_in_pattern = || pattern.plain_dollars().iter().any(|p| p == piece);
        let form = match place.form {
            Form::Bound { is_glued, .. } if (is_in_text || is_glued) && is_plain_in_pattern() => {
                Form::Plain
            }
            Form::Refused(error)
                if is_in_text
                    && (is_plain_in_pattern() || may_be_text(&error, pattern, grammar)) =>
            {
                Form::Plain
            }
            Form::Refused(error) => return Err(error),
            form => form,
        };
        place.form = form;
        settled.push(place);
    }
    Ok(settled)
}

/// Whether what is refused as code may stand in a text.
fn may_be_text(error: &TemplateError, pattern: &Pattern, grammar: &Grammar) -> bool {
    let is_known = grammar.language().names_in_texts;
    match error {
        TemplateError::Unnamed(_) => true,
        TemplateError::Unbound { name, .. } => {
            let name = name.trim_start_matches('$');
            is_known && !(pattern.variables().iter()).any(|v| is_near_miss(name, &v.name))
        }
        TemplateError::OtherForm { written, .. } => is_known && written.starts_with("$$"),
        TemplateError::Misspelt { .. } | TemplateError::TooLarge => false,
    }
}

/// Whether two names differ by one letter too few, too many, or wrong, or by
/// two that changed places; very short names do not count.
fn is_near_miss(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let same = (a.iter().zip(b)).take_while(|(x, y)| x == y).count();
    let (a, b) = (
        a.get(same..).unwrap_or_default(),
        b.get(same..).unwrap_or_default(),
    );
    if same + a.len().min(b.len()) < 3 {
        return false;
    }
    match (a, b) {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([_, a @ ..], b) if a == b => true,
        (a, [_, b @ ..]) if a == b => true,
        ([a1, a2, a @ ..], [b1, b2, b @ ..]) => a1 == b2 && a2 == b1 && a == b,
        _ => false,
    }
}

/// Finds a `$` that does not parse, and would as a metavariable.
pub(super) fn misspelt(
    text: &str,
    dollars: &[Dollar],
    pattern: &Pattern,
    grammar: &Grammar,
) -> Option<TemplateError> {
    let mut others = dollars.to_vec();
    let mut names: Vec<(Range<usize>, &str)> = Vec::new();
    for dollar in &mut others {
        if !matches!(dollar.form, DollarForm::Plain(_)) {
            continue;
        }
        let Some((end, name)) = misspelt_name(text, dollar) else {
            continue;
        };
        dollar.span.end = end;
        dollar.form = DollarForm::Hole(HoleKind::One, format!("M{}", names.len()));
        names.push((dollar.span.clone(), name));
    }
    if names.is_empty() {
        return None;
    }
    let rung = pattern.programs().first().map(|p| p.rung);
    let leaves = leaves(text, &others, grammar, rung)?;
    let (span, name) =
        (names.into_iter()).find(|(span, _)| matter_at(&leaves, span.start) == Matter::Code)?;
    let variables = pattern.variables();
    let known = |name: &str| variables.iter().find(|v| v.name.eq_ignore_ascii_case(name));
    let meant = known(name)
        .or_else(|| {
            let names = variables.iter().map(|v| v.name.as_str());
            known(tiers::nearest(name, names).first()?)
        })
        .or(variables.first());
    Some(TemplateError::Misspelt {
        text: text.get(span)?.to_owned(),
        meant: meant.map(with_dollars),
    })
}

/// Returns the name in `$name`, `$1` or `${NAME}`, and where that ends.
fn misspelt_name<'t>(text: &'t str, dollar: &Dollar) -> Option<(usize, &'t str)> {
    let name = text.get(dollar.span.clone())?.trim_start_matches('$');
    if !name.is_empty() {
        return Some((dollar.span.end, name));
    }
    let (name, _) = text
        .get(dollar.span.end..)?
        .strip_prefix('{')?
        .split_once('}')?;
    let is_word = !name.is_empty() && name.bytes().all(is_word);
    is_word.then_some((dollar.span.end + name.len() + 2, name))
}

fn matter_at(leaves: &[Leaf], at: usize) -> Matter {
    let next = leaves.partition_point(|l| l.range.start <= at);
    (next.checked_sub(1).and_then(|i| leaves.get(i)))
        .filter(|l| at < l.range.end)
        .map_or(Matter::Code, |l| l.matter)
}
