//! Reads the template of a rewrite: which of its `$` stand for what was found.

use std::ops::Range;

use super::recipe::Recipe;
use crate::grammar::Grammar;
use crate::pattern::{
    Backslash, Dollar, DollarForm, HoleKind, Leaf, Matter, Pattern, PlainReason, Variable, is_name,
    is_word, leaves, normal,
};
use crate::program::Class;

/// The longest template accepted, in bytes.
pub const MAX_TEMPLATE_BYTES: usize = 16 * 1024;

/// What a match of a pattern is replaced by.
///
/// Metavariables that the pattern binds stand for the bytes they were found to
/// be; everything else is code. The template is read against its pattern: what
/// the two have in common keeps the bytes of the file, its line breaks and
/// comments too, so that only the difference between them is written anew.
#[derive(Debug, Clone)]
pub struct Template {
    text: String,
    units: Vec<Unit>,
    /// By the number of the pattern's program.
    recipes: Vec<Recipe>,
    plain_dollars: Vec<String>,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Bytes of the template.
    pub(crate) range: Range<usize>,
    pub(crate) what: What,
    pub(crate) class: Class,
    pub(crate) matter: Matter,
}

/// What a piece of a template is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// What a metavariable stands for, by its number in the pattern.
    Variable(usize),
    /// This text.
    Text(Box<str>),
}

/// Why a template was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// Longer than [`MAX_TEMPLATE_BYTES`].
    #[error("the template is longer than 16 KiB")]
    TooLarge,
    /// A metavariable that the pattern does not bind.
    #[error("the pattern does not bind `{name}`; {}", bound_text(bound))]
    Unbound {
        /// It, with its `$`.
        name: String,
        /// The metavariables that the pattern binds, with their `$`, nearest first.
        bound: Vec<String>,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// A metavariable written with another number of `$` than in the pattern.
    #[error("`{written}` is `{bound}` in the pattern")]
    OtherForm {
        /// As in the template.
        written: String,
        /// As in the pattern.
        bound: String,
    },
    /// What the language has no such name for, and what is written unlike a
    /// metavariable: `$name`, `$1`, `${NAME}`.
    #[error(
        "`{text}` is no metavariable: their names are upper case letters, digits and `_`, and begin with a letter"
    )]
    Misspelt {
        /// It.
        text: String,
        /// The one that was probably meant, with its `$`.
        meant: Option<String>,
    },
    /// `$_`, `$$$` or `$$$_`, which stand for nothing in particular.
    #[error("`{0}` binds nothing, so that nothing can be put in its place")]
    Unnamed(String),
}

impl TemplateError {
    /// Returns what to do about it, as an instruction.
    #[must_use]
    pub fn next(&self) -> String {
        match self {
            Self::TooLarge => "give a smaller template".to_owned(),
            Self::Unbound {
                name,
                nearest,
                bound,
            } => {
                let escaped = format!("write `\\{name}` if it is text");
                match nearest.as_ref().or(bound.first()) {
                    Some(other) => format!("use `{other}`, or {escaped}"),
                    None => format!("put it in the pattern, or {escaped}"),
                }
            }
            Self::OtherForm { bound, .. } => format!("write `{bound}`"),
            Self::Misspelt { meant, .. } => match meant {
                Some(meant) => format!("write `{meant}`"),
                None => "put a metavariable in the pattern, and write it as there".to_owned(),
            },
            Self::Unnamed(text) => {
                format!(
                    "name it in the pattern and use the name, or write `\\{text}` if it is text"
                )
            }
        }
    }
}

fn bound_text(bound: &[String]) -> String {
    if bound.is_empty() {
        return "it binds nothing".to_owned();
    }
    let names: Vec<String> = bound.iter().map(|n| format!("`{n}`")).collect();
    format!("it binds {}", names.join(", "))
}

/// A `$` of the template.
struct Place {
    span: Range<usize>,
    form: Form,
}

/// What a `$` of a template begins.
enum Form {
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

impl Template {
    /// Reads `text` as what matches of `pattern` are replaced by.
    ///
    /// As in a pattern, line ends may be `\n` or `\r\n`, and blank lines and a
    /// margin around the text are left out. A text of nothing deletes.
    ///
    /// # Errors
    /// [`TemplateError`] when it names what the pattern does not bind.
    pub fn parse(text: &str, pattern: &Pattern, grammar: &Grammar) -> Result<Self, TemplateError> {
        if text.len() > MAX_TEMPLATE_BYTES {
            return Err(TemplateError::TooLarge);
        }
        let text = normal(text)
            .trim_start_matches(['\n', ' ', '\t'])
            .to_owned();
        let places = places(&text, pattern);
        let rung = pattern.programs().first().map(|p| p.rung);
        let dollars: Vec<Dollar> = places.iter().map(|p| as_dollar(&text, p)).collect();
        let leaves = match leaves(&text, &dollars, grammar, rung) {
            Some(leaves) => leaves,
            None => match misspelt(&text, &dollars, pattern, grammar) {
                Some(error) => return Err(error),
                None => plain_leaves(&text, &places),
            },
        };
        let places = settle(&text, places, &leaves, pattern, grammar)?;
        let units = units(&text, &places, &leaves);
        let plain_dollars = (places.iter())
            .filter(|p| !matches!(p.form, Form::Bound { .. }))
            .filter_map(|p| text.get(p.span.clone()))
            .filter(|piece| piece.len() > 1)
            .map(str::to_owned)
            .collect();
        let recipes = (pattern.programs().iter())
            .map(|program| Recipe::new(program, pattern, &text, &units))
            .collect();
        Ok(Self {
            text,
            units,
            recipes,
            plain_dollars,
        })
    }

    /// Returns the text, as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the pieces that begin with `$` and are written as they are.
    #[must_use]
    pub fn plain_dollars(&self) -> &[String] {
        &self.plain_dollars
    }

    /// Returns whether matches are deleted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub(crate) fn units(&self) -> &[Unit] {
        &self.units
    }

    pub(crate) fn recipe(&self, program: u16) -> Option<&Recipe> {
        self.recipes.get(usize::from(program))
    }
}

/// Writes a variable with its `$`.
fn with_dollars(variable: &Variable) -> String {
    let dollars = if variable.is_run { "$$$" } else { "$" };
    format!("{dollars}{}", variable.name)
}

/// Finds the `$` of the template, in order.
fn places(text: &str, pattern: &Pattern) -> Vec<Place> {
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
fn as_dollar(text: &str, place: &Place) -> Dollar {
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
fn settle(
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
fn misspelt(
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

/// Splits a text that no context accepts, with eyes for quotes only.
fn plain_leaves(text: &str, places: &[Place]) -> Vec<Leaf> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let place = places.iter().find(|p| p.span.start == at);
        let end = if let Some(place) = place {
            place.span.end
        } else if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        } else if matches!(byte, b'"' | b'\'' | b'`') {
            end_of_quote(bytes, at).unwrap_or(at + 1)
        } else if is_word(byte) {
            (at..)
                .find(|i| !bytes.get(*i).is_some_and(|b| is_word(*b)))
                .unwrap_or(at + 1)
        } else {
            at + 1
        };
        let is_quoted = end > at + 1 && matches!(byte, b'"' | b'\'' | b'`');
        found.push(Leaf {
            range: at..end,
            class: match byte {
                b',' => Class::Separator,
                b';' => Class::Terminator,
                b')' | b']' | b'}' => Class::Closer,
                _ => Class::Plain,
            },
            matter: if is_quoted {
                Matter::Text
            } else {
                Matter::Code
            },
        });
        at = end;
    }
    found
}

/// Returns where the quote that begins at `start` ends, if it does on its line.
fn end_of_quote(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = *bytes.get(start)?;
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Cuts the tokens at the metavariables.
fn units(text: &str, places: &[Place], leaves: &[Leaf]) -> Vec<Unit> {
    let mut found: Vec<Unit> = Vec::new();
    let push_text = |leaf: &Leaf, range: Range<usize>, units: &mut Vec<Unit>| {
        if range.is_empty() {
            return;
        }
        // The backslash of `\$NAME` is not written.
        let mut out = String::new();
        let mut at = range.start;
        for place in (places.iter())
            .filter(|p| matches!(p.form, Form::Escaped))
            .filter(|p| range.start <= p.span.start && p.span.start < range.end)
        {
            out.push_str(text.get(at..place.span.start).unwrap_or_default());
            at = place.span.start + 1;
        }
        out.push_str(text.get(at..range.end).unwrap_or_default());
        units.push(Unit {
            range,
            what: What::Text(out.into()),
            class: leaf.class,
            matter: leaf.matter,
        });
    };
    let mut holes = places
        .iter()
        .filter_map(|p| match p.form {
            Form::Bound { variable, .. } => Some((p.span.clone(), variable)),
            _ => None,
        })
        .peekable();
    let push_hole = |(range, variable): (Range<usize>, usize), matter, units: &mut Vec<Unit>| {
        units.push(Unit {
            range,
            what: What::Variable(variable),
            class: Class::Plain,
            matter,
        });
    };
    let mut at = 0;
    for leaf in leaves {
        // A stand-in may be more than one token.
        at = at.max(leaf.range.start);
        while let Some(hole) = holes.next_if(|(span, _)| span.start < leaf.range.end) {
            push_text(leaf, at..hole.0.start.max(at), &mut found);
            at = at.max(hole.0.end);
            push_hole(hole, leaf.matter, &mut found);
        }
        push_text(leaf, at..leaf.range.end.max(at), &mut found);
        at = at.max(leaf.range.end);
    }
    for hole in holes {
        push_hole(hole, Matter::Code, &mut found);
    }
    found
}
