//! Compares what is around a token in Python, of which it can be said what is
//! code without parsing it.
//!
//! Strings and comments are told apart as the scanner of the grammar does it. A
//! text for which that is not certain (an unfinished string, quotes within the
//! braces of an f-string) is left to the comparison that knows less.

mod operands;

use std::hash::{DefaultHasher, Hasher as _};
use std::ops::Range;

use memchr::{memchr, memchr2, memchr3};

use operands::Comparison;

/// What a string begins and ends with in [`Code`]; between the two is its hash.
const OPEN: u8 = 1;
const CLOSE: u8 = 2;

/// Words that are no operand.
const KEYWORDS: &[&[u8]] = &[
    b"and",
    b"as",
    b"assert",
    b"async",
    b"await",
    b"case",
    b"class",
    b"def",
    b"del",
    b"elif",
    b"else",
    b"except",
    b"exec",
    b"finally",
    b"for",
    b"from",
    b"global",
    b"if",
    b"import",
    b"in",
    b"is",
    b"lambda",
    b"match",
    b"nonlocal",
    b"not",
    b"or",
    b"print",
    b"raise",
    b"return",
    b"try",
    b"type",
    b"while",
    b"with",
    b"yield",
];

/// Words that go on with an expression.
const INFIX: &[&[u8]] = &[
    b"and", b"as", b"async", b"else", b"for", b"from", b"if", b"in", b"is", b"not", b"or",
];

/// What was left out before a byte of [`Code`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Blank,
    Line,
}

/// A place of the token.
struct Place {
    /// Where it begins in the text.
    at: usize,
    code: Range<usize>,
    is_in_brackets: bool,
}

/// A text without its blanks and comments, each string written short.
struct Code {
    bytes: Vec<u8>,
    /// Before each byte.
    gaps: Vec<Gap>,
}

/// Returns the places of `token` in `text` around which the same may stand;
/// `None` where it is not certain what is code.
pub(super) fn places(text: &[u8], token: &[u8]) -> Option<Vec<usize>> {
    let lexer = Lexer::new(text, token);
    let (code, places, mut found) = lexer.run()?;
    let mut comparison = Comparison::new(&code, token, text.len());
    found.extend(
        places
            .iter()
            .filter(|place| comparison.may_be_same(place))
            .map(|place| place.at),
    );
    found.sort_unstable();
    Some(found)
}

struct Lexer<'t> {
    text: &'t [u8],
    token: &'t [u8],
    at: usize,
    gap: Gap,
    depth: usize,
    code: Code,
    places: Vec<Place>,
    /// Places of the token in the braces of an f-string.
    inner: Vec<usize>,
}

impl<'t> Lexer<'t> {
    fn new(text: &'t [u8], token: &'t [u8]) -> Self {
        Self {
            text,
            token,
            at: 0,
            gap: Gap::None,
            depth: 0,
            code: Code {
                bytes: Vec::with_capacity(text.len()),
                gaps: Vec::with_capacity(text.len()),
            },
            places: Vec::new(),
            inner: Vec::new(),
        }
    }

    fn run(mut self) -> Option<(Code, Vec<Place>, Vec<usize>)> {
        if self.text.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        let first = *self.token.first()?;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\x0c' => self.blank(Gap::Blank, 1),
                b'\n' => self.blank(Gap::Line, 1),
                b'\r' if self.rest().starts_with(b"\r\n") => self.blank(Gap::Line, 2),
                b'\\' if self.rest().starts_with(b"\\\n") => self.blank(Gap::Blank, 2),
                b'\\' if self.rest().starts_with(b"\\\r\n") => self.blank(Gap::Blank, 3),
                b'#' => {
                    let length = memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
                    self.blank(Gap::Blank, length);
                }
                b'"' | b'\'' => self.string(byte)?,
                // A string for the grammar; blanks of other scripts; control signs.
                b'`' | 0..=0x20 | 0x7f | 0xc2 | 0xe1..=0xe3 | 0xef => return None,
                _ => {
                    match byte {
                        b'(' | b'[' | b'{' => self.depth += 1,
                        b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                    if byte == first && self.is_token() {
                        let begin = self.code.bytes.len();
                        self.places.push(Place {
                            at: self.at,
                            code: begin..begin + self.token.len(),
                            is_in_brackets: self.depth > 0,
                        });
                    }
                    self.push(byte);
                    self.at += 1;
                }
            }
        }
        Some((self.code, self.places, self.inner))
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blank(&mut self, gap: Gap, length: usize) {
        if self.gap != Gap::Line {
            self.gap = gap;
        }
        self.at += length;
    }

    fn push(&mut self, byte: u8) {
        self.code.bytes.push(byte);
        self.code.gaps.push(self.gap);
        self.gap = Gap::None;
    }

    /// Whether the token begins here: whole, where it is a word, and no part of a
    /// longer sign that has a `=`.
    fn is_token(&self) -> bool {
        if !self.rest().starts_with(self.token) {
            return false;
        }
        let is_part = |byte: Option<&u8>| {
            byte.is_some_and(|byte| match self.token.first() {
                Some(first) if is_word(*first) => is_word(*byte),
                _ => *byte == b'=',
            })
        };
        let before = self.at.checked_sub(1).and_then(|at| self.text.get(at));
        !is_part(before) && !is_part(self.rest().get(self.token.len()))
    }

    fn string(&mut self, quote: u8) -> Option<()> {
        let prefix = self.code.word_before(self.code.bytes.len());
        let prefix = match self.gap {
            Gap::None => prefix,
            _ => &[],
        };
        let is_prefix = prefix
            .iter()
            .all(|b| matches!(b.to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f' | b't'));
        let is_formatted = is_prefix
            && prefix
                .iter()
                .any(|b| matches!(b.to_ascii_lowercase(), b'f' | b't'));
        let begin = self.at;
        let is_long = self.rest().starts_with(&[quote; 3]);
        self.at += if is_long { 3 } else { 1 };
        let has_code = if is_formatted {
            self.formatted(quote, is_long)?
        } else {
            self.plain(quote, is_long)?;
            false
        };
        let mut hasher = DefaultHasher::new();
        if !has_code {
            hasher.write(self.text.get(begin..self.at)?);
        }
        self.push(OPEN);
        for byte in hasher.finish().to_le_bytes() {
            self.push(byte | 0x80);
        }
        self.push(CLOSE);
        Some(())
    }

    /// Goes to the end of a string without code.
    fn plain(&mut self, quote: u8, is_long: bool) -> Option<()> {
        loop {
            let rest = self.rest();
            let length = if is_long {
                memchr2(quote, b'\\', rest)?
            } else {
                memchr3(quote, b'\\', b'\n', rest)?
            };
            self.at += length;
            if self.end_or_escape(quote, is_long)? {
                return Some(());
            }
        }
    }

    /// Steps over an escape, a quote, or the end of a string; whether it was that.
    fn end_or_escape(&mut self, quote: u8, is_long: bool) -> Option<bool> {
        let rest = self.rest();
        match rest.first()? {
            b'\\' => self.at += 2,
            byte if *byte != quote => return None,
            _ if !is_long => {
                self.at += 1;
                return Some(true);
            }
            _ if rest.starts_with(&[quote; 3]) => {
                self.at += 3;
                return Some(true);
            }
            _ => self.at += 1,
        }
        Some(false)
    }

    /// Goes to the end of a string with code in braces; whether there is any.
    fn formatted(&mut self, quote: u8, is_long: bool) -> Option<bool> {
        let mut has_code = false;
        loop {
            let rest = self.rest();
            match rest.first()? {
                b'{' | b'}' if rest.get(1) == rest.first() => self.at += 2,
                b'{' => {
                    has_code = true;
                    self.braces(quote, is_long)?;
                }
                b'}' | b'\0' => return None,
                b'\n' if !is_long => return None,
                byte if *byte == quote || *byte == b'\\' => {
                    if self.end_or_escape(quote, is_long)? {
                        return Some(has_code);
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    /// Goes to the end of code in braces.
    fn braces(&mut self, quote: u8, is_long: bool) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let rest = self.rest();
            if rest.starts_with(self.token) {
                self.inner.push(self.at);
            }
            match rest.first()? {
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                b'\\' | b'#' | b'`' | b'\0' => return None,
                b'\n' if !is_long => return None,
                byte if *byte == quote => return None,
                other @ (b'"' | b'\'') => {
                    let inner = rest.get(1..)?;
                    let length = memchr(*other, inner)?;
                    let is_plain =
                        |b: &u8| !matches!(b, b'\\' | b'{' | b'}' | b'\n') && *b != quote;
                    if length == 0 || !inner.get(..length)?.iter().all(is_plain) {
                        return None;
                    }
                    self.at += length + 1;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

impl Code {
    fn byte(&self, at: Option<usize>) -> u8 {
        at.and_then(|at| self.bytes.get(at))
            .copied()
            .unwrap_or(b'\n')
    }

    fn gap(&self, at: usize) -> Gap {
        self.gaps.get(at).copied().unwrap_or(Gap::Line)
    }

    /// Returns the word that ends before `end`.
    fn word_before(&self, end: usize) -> &[u8] {
        let mut start = end;
        while is_word(self.byte(start.checked_sub(1))) {
            start -= 1;
            if self.gap(start) != Gap::None {
                break;
            }
        }
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn word_from(&self, start: usize) -> &[u8] {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let is_inner = |at: usize| at == start || self.gap(at) == Gap::None;
        let length = rest
            .iter()
            .enumerate()
            .take_while(|(at, byte)| is_word(**byte) && is_inner(start + at))
            .count();
        rest.get(..length).unwrap_or_default()
    }

    /// Whether an operand ends before `at`, on the same line.
    fn has_operand_before(&self, at: usize) -> bool {
        self.gap(at) != Gap::Line && self.ends_operand(at)
    }

    /// Whether what ends before `at` may be an operand.
    fn ends_operand(&self, at: usize) -> bool {
        match self.byte(at.checked_sub(1)) {
            b')' | b']' | b'}' | CLOSE => true,
            byte if is_word(byte) => !KEYWORDS.contains(&self.word_before(at)),
            _ => false,
        }
    }

    /// Whether an operand begins at `at` although one ends before it, so that the
    /// two are not in one expression.
    fn is_other_operand(&self, at: usize) -> bool {
        if self.gap(at) == Gap::None || !self.ends_operand(at) {
            return false;
        }
        let is_string = self.byte(at.checked_sub(1)) == CLOSE;
        match self.byte(Some(at)) {
            OPEN => !is_string,
            byte if is_word(byte) => {
                let word = self.word_from(at);
                let is_prefix = self.byte(Some(at + word.len())) == OPEN;
                !(INFIX.contains(&word) || is_string && is_prefix)
            }
            _ => false,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
