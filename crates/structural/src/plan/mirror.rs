//! Refuses places where what is around a token cannot be the same, without
//! parsing the file.
//!
//! In `$X == $X` the text before `==` must end with what the text behind it
//! begins with. White space and comments may be anywhere in the two, so the
//! texts are compared without them. Where it cannot be said what is a comment
//! (behind a quote, `//` may be a part of a string), the place is let through:
//! a place that is refused holds no match, one that is let through need not
//! hold one.

mod python;
#[cfg(test)]
mod tests;

use memchr::memmem;

use crate::languages::{Comments, Lexis};
use crate::program::{Class, Op, Program};

/// Work allowed for one file, in bytes looked at for each byte of it.
const WORK_PER_BYTE: usize = 64;
/// Bytes searched at the cost of comparing one.
const SEARCHED_PER_COMPARED: usize = 16;

/// Returns the tokens of a program that stand between two holes of one variable.
pub(super) fn mirrored(program: &Program, is_list: impl Fn(u16) -> bool) -> Vec<&[u8]> {
    let mut parents: Vec<u16> = Vec::new();
    let mut found = Vec::new();
    for (at, op) in program.ops.iter().enumerate() {
        match op {
            Op::Enter { kind, .. } => parents.push(*kind),
            Op::Leave { .. } => drop(parents.pop()),
            // In a list, terminators may stand between the two.
            Op::Token(token)
                if token.class == Class::Plain
                    && !token.is_extra
                    && parents.last().is_some_and(|kind| !is_list(*kind)) =>
            {
                let variable = |at: Option<usize>| match program.ops.get(at?) {
                    Some(Op::Hole { variable, .. }) => *variable,
                    _ => None,
                };
                let before = variable(at.checked_sub(1));
                if before.is_some() && before == variable(Some(at + 1)) {
                    found.push(&*token.text);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the places of a token in `text` around which the same may stand, of
/// those in `all`.
pub(super) fn places<'t>(
    text: &'t [u8],
    token: &'t [u8],
    comments: &'t Comments,
    all: impl Iterator<Item = usize> + 't,
) -> impl Iterator<Item = usize> + 't {
    let known = match comments.lexis {
        Lexis::Python => python::places(text, token),
        Lexis::Other => None,
    };
    let others = known.is_none().then(|| {
        let mut mirror = Mirror::new(text, token, comments);
        all.filter(move |at| mirror.may_be_same(*at, *at + token.len()))
    });
    known
        .into_iter()
        .flatten()
        .chain(others.into_iter().flatten())
}

/// Bytes by which most places are told apart at once.
const HEAD: usize = 8;

/// Operators that bind more loosely than `.`, calls, and arithmetic.
const LOOSE: &[&[u8]] = &[
    b"==", b"!=", b"===", b"!==", b"=", b"&&", b"||", b"and", b"or",
];

/// Compares what is around places of one text.
struct Mirror<'t> {
    text: &'t [u8],
    comments: &'t Comments,
    /// Whether what is compared are operands of a loose operator.
    is_loose: bool,
    work: usize,
    /// Per byte, whether it may be, or begin, something that is stepped over.
    is_passable: [bool; 256],
}

impl<'t> Mirror<'t> {
    fn new(text: &'t [u8], token: &[u8], comments: &'t Comments) -> Self {
        let mut is_passable = [false; 256];
        let starts = comments.line.iter().chain(comments.other);
        let starts = starts.filter_map(|start| start.bytes().next());
        for byte in (0x80..=0xff).chain(*b" \t\n\r\x0b\x0c\\").chain(starts) {
            is_passable[usize::from(byte)] = true;
        }
        Self {
            text,
            comments,
            is_loose: LOOSE.contains(&token),
            work: text.len().saturating_mul(WORK_PER_BYTE),
            is_passable,
        }
    }

    /// Whether the text before `from` may end with what the text from `to` on
    /// begins with.
    fn may_be_same(&mut self, from: usize, to: usize) -> bool {
        let is_sign = |at: Option<usize>| at.and_then(|at| self.text.get(at)) == Some(&b'=');
        if is_sign(Some(to)) || is_sign(from.checked_sub(1)) {
            return false;
        }
        let right = Right {
            text: self.text,
            comments: self.comments,
            at: to,
            is_in_code: true,
            plain_until: to,
        };
        let first = match right.clone().peek() {
            Step::Byte(at) => at,
            Step::Unsure => return true,
            Step::End => return false,
        };
        let word = word_from(self.text, first);
        let needle = match word {
            // A number may have a word right behind it: `1or 2`.
            [b'0'..=b'9', ..] | [] => self.text.get(first..=first),
            _ => Some(word),
        };
        let (Some(needle), Some(before)) = (needle, self.text.get(..from)) else {
            return true;
        };
        if !needle.is_ascii() || !self.pay(before.len() / SEARCHED_PER_COMPARED) {
            return true;
        }
        let is_word = !word.is_empty();
        let is_whole = needle.len() == word.len();
        let (head, length) = right.head();
        let head = head.get(..length).unwrap_or_default();
        let finder = memmem::Finder::new(needle);
        finder.find_iter(before).any(|start| {
            if !self.pay(1) {
                return true;
            }
            if self.is_other(before, start, head) {
                return false;
            }
            let is_inside = is_word
                && (is_word_byte(self.text, start.checked_sub(1))
                    || is_whole && is_word_byte(self.text, Some(start + needle.len())));
            !is_inside && self.is_same(start, from, right.clone())
        })
    }

    /// Whether it shows in a few bytes that `before` goes on otherwise from
    /// `start` than what follows the token.
    fn is_other(&self, before: &[u8], start: usize, head: &[u8]) -> bool {
        let rest = before.get(start..).unwrap_or_default();
        let differs = rest.iter().zip(head).find(|(a, b)| a != b);
        differs.is_some_and(|(a, b)| b.is_ascii() && !self.is_passable[usize::from(*a)])
    }

    /// Whether the text in `start..from` may be what `right` begins with.
    fn is_same(&mut self, start: usize, from: usize, mut right: Right<'_>) -> bool {
        let mut at = start;
        let mut ends = (start, start);
        loop {
            at = skip_blanks(self.text, at);
            if at == from {
                return !self.is_cut(ends) && !self.is_part(start, ends);
            }
            if at > from {
                return false;
            }
            let other = match right.peek() {
                Step::Byte(other) => other,
                Step::Unsure => return true,
                Step::End => return false,
            };
            // No part of a string, as there is none in what `right` gave so far.
            match self.comments.at(self.text, at) {
                Some(Comment::Line) => match line_end(self.text, at) {
                    Some(end) => {
                        at = end;
                        continue;
                    }
                    None => return true,
                },
                Some(Comment::Other) => return true,
                None => {}
            }
            if !self.pay(1) {
                return true;
            }
            match (self.text.get(at), self.text.get(other)) {
                (Some(a), Some(b)) if a == b => ends = (at, other),
                // A blank of another script may be on one side.
                (Some(a), Some(b)) => return !(a.is_ascii() && b.is_ascii()),
                _ => return false,
            }
            at += 1;
            right.pass();
        }
    }

    /// Whether what begins at `start`, and ends at the two places, is only a part
    /// of an operand: `b` in `a.b == b + c`.
    fn is_part(&self, start: usize, (left, right): (usize, usize)) -> bool {
        let byte = |at: Option<usize>| at.and_then(|at| self.text.get(at)).copied();
        let first = byte(Some(start)).unwrap_or_default();
        if left == start && matches!(first, b'"' | b'\'') {
            return true;
        }
        if !self.is_loose {
            return false;
        }
        let (Some(before), Some(behind)) = (self.text.get(..start), self.text.get(right + 1..))
        else {
            return false;
        };
        if is_word(first) && before.ends_with(b".") && !before.ends_with(b"..") {
            return true;
        }
        let is_operand_of = match without_blanks_at_end(before) {
            [.., b'*', b'/'] => false,
            [.., b'+' | b'-' | b'/' | b'%'] => true,
            _ => false,
        };
        is_operand_of || self.goes_on(behind)
    }

    /// Whether an operand cannot have ended before `behind`.
    fn goes_on(&self, behind: &[u8]) -> bool {
        match behind {
            [b'.', b'.', ..] => return false,
            [b'.' | b'(' | b'[', ..] => return true,
            _ => {}
        }
        let blanks = behind.iter().take_while(|b| matches!(b, b' ' | b'\t'));
        let behind = behind.get(blanks.count()..).unwrap_or_default();
        match behind {
            [b'-', b'>', ..] => false,
            [b'+' | b'-' | b'*' | b'/' | b'%', ..] => self.comments.at(behind, 0).is_none(),
            _ => false,
        }
    }

    /// Whether a word ends at the first place that goes on at the second.
    fn is_cut(&self, (left, right): (usize, usize)) -> bool {
        let is_word = |at: Option<usize>| is_word_byte(self.text, at);
        if !is_word(Some(left)) || !is_word(Some(right + 1)) {
            return false;
        }
        let mut begin = left;
        while is_word(begin.checked_sub(1)) {
            begin -= 1;
        }
        let byte = |at: Option<usize>| at.and_then(|at| self.text.get(at));
        // What follows a number may be a word: `1or 2`, `1.e5or 2`.
        let is_number = byte(Some(begin)).is_some_and(u8::is_ascii_digit)
            || byte(begin.checked_sub(1)) == Some(&b'.')
                && byte(begin.checked_sub(2)).is_some_and(u8::is_ascii_digit);
        !is_number
    }

    fn pay(&mut self, work: usize) -> bool {
        self.work = self.work.saturating_sub(work);
        self.work > 0
    }
}

/// The bytes behind a token, without blanks and comments.
#[derive(Clone)]
struct Right<'t> {
    text: &'t [u8],
    comments: &'t Comments,
    at: usize,
    /// No quote has been passed of which it is not known where its text ends,
    /// so that a comment is one.
    is_in_code: bool,
    /// One past the last byte of a text in quotes that is known to be one.
    plain_until: usize,
}

enum Step {
    /// The place of a byte.
    Byte(usize),
    /// From here on it cannot be said what is a comment.
    Unsure,
    /// The end of the text.
    End,
}

impl Right<'_> {
    /// Returns the first bytes, and how many they are.
    fn head(&self) -> ([u8; HEAD], usize) {
        let mut right = self.clone();
        let mut head = [0; HEAD];
        for (length, slot) in head.iter_mut().enumerate() {
            let Step::Byte(at) = right.peek() else {
                return (head, length);
            };
            *slot = self.text.get(at).copied().unwrap_or_default();
            right.pass();
        }
        (head, HEAD)
    }

    /// Goes to the next byte.
    fn peek(&mut self) -> Step {
        loop {
            self.at = skip_blanks(self.text, self.at);
            if self.at >= self.text.len() {
                return Step::End;
            }
            match self.comments.at(self.text, self.at) {
                Some(Comment::Line) if self.is_in_code => match line_end(self.text, self.at) {
                    Some(end) => self.at = end,
                    None => return Step::Unsure,
                },
                Some(_) => return Step::Unsure,
                None => return Step::Byte(self.at),
            }
        }
    }

    /// Steps over a byte.
    fn pass(&mut self) {
        let is_quote = |byte| self.comments.quotes.contains(byte);
        if self.at >= self.plain_until && self.text.get(self.at).is_some_and(is_quote) {
            match self.plain_text() {
                Some(length) => self.plain_until = self.at + length,
                None => self.is_in_code = false,
            }
        }
        self.at += 1;
    }

    /// Returns how long the text in quotes is that begins here, if that is plain
    /// to see and there is no sign of a comment in it.
    fn plain_text(&self) -> Option<usize> {
        let (before, rest) = self.text.split_at_checked(self.at)?;
        let quote = rest
            .first()
            .filter(|b| self.comments.plain_quotes.contains(b))?;
        let has_prefix = before
            .last()
            .is_some_and(|b| is_word(*b) || matches!(b, b'@' | b'$' | b'#'));
        let inner = rest.get(1..)?;
        let is_end = |b: &u8| b == quote || matches!(b, b'\\' | b'$' | b'{' | b'\n' | b'\r');
        let length = inner.iter().position(is_end)?;
        let is_plain = inner.get(length) == Some(quote)
            && inner.get(length + 1) != Some(quote)
            && !(0..length).any(|at| {
                self.comments.at(inner, at).is_some()
                    || inner
                        .get(at)
                        .is_some_and(|b| self.comments.plain_quotes.contains(b))
            });
        (is_plain && !has_prefix).then_some(length + 2)
    }
}

enum Comment {
    Line,
    Other,
}

impl Comments {
    fn at(&self, text: &[u8], at: usize) -> Option<Comment> {
        let rest = text.get(at..)?;
        let first = rest.first()?;
        // Asked for nearly every byte, so the first is compared on its own.
        let begins = |starts: &[&str]| {
            let mut starts = starts.iter().map(|s| s.as_bytes());
            starts.any(|s| s.first() == Some(first) && rest.starts_with(s))
        };
        if begins(self.other) {
            Some(Comment::Other)
        } else if begins(self.line) {
            Some(Comment::Line)
        } else {
            None
        }
    }
}

/// Returns where the line ends in which a comment begins; `None` where a `\` at
/// its end may let the comment go on.
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    (rest.get(..length)?.last() != Some(&b'\\')).then_some(at + length)
}

/// Steps over blanks and line ends, also those behind a `\`.
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    loop {
        match text.get(at..) {
            Some([b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c', ..]) => at += 1,
            Some([b'\\', b'\n' | b'\r', ..]) => at += 2,
            _ => return at,
        }
    }
}

fn without_blanks_at_end(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|b| matches!(b, b' ' | b'\t'));
    text.get(..text.len() - blanks.count()).unwrap_or_default()
}

fn word_from(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.iter().take_while(|b| is_word(**b)).count();
    rest.get(..length).unwrap_or_default()
}

fn is_word_byte(text: &[u8], at: Option<usize>) -> bool {
    at.and_then(|at| text.get(at)).is_some_and(|b| is_word(*b))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
