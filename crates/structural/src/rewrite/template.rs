//! Reads the template of a rewrite: which of its `$` stand for what was found.

mod dollars;

use std::ops::Range;

use super::recipe::Recipe;
use crate::grammar::Grammar;
use crate::pattern::{Dollar, Leaf, Matter, Pattern, is_word, leaves, normal};
use crate::program::Class;
use dollars::{Form, Place, as_dollar, misspelt, places, settle};

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
