//! Compares what is around a token in Python, of which it can be said what is
//! code without parsing it.
//!
//! Strings and comments are told apart as the scanner of the grammar does it. A
//! text for which that is not certain (an unfinished string, quotes within the
//! braces of an f-string) is left to the comparison that knows less.

use std::hash::{DefaultHasher, Hasher as _};
use std::ops::Range;

use memchr::{memchr, memchr2, memchr3};

/// Work allowed for one file, in bytes looked at for each byte of it.
const WORK_PER_BYTE: usize = 32;
/// What a string begins and ends with in [`Code`]; between the two is its hash.
const OPEN: u8 = 1;
const CLOSE: u8 = 2;

/// Operators that bind more loosely than arithmetic; no operand of theirs has a
/// `,`, a `;` or a `:` outside brackets.
const LOOSE: &[&[u8]] = &[
    b"==", b"!=", b"<", b">", b"<=", b">=", b"is", b"in", b"and", b"or",
];

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
    let mut comparison = Comparison {
        code: &code,
        is_loose: LOOSE.contains(&token),
        borders: Vec::new(),
        work: text.len().saturating_mul(WORK_PER_BYTE),
    };
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

struct Comparison<'c> {
    code: &'c Code,
    is_loose: bool,
    /// For each length of what follows the token, the length of its longest
    /// beginning that it ends with (the failure function of Knuth, Morris, Pratt).
    borders: Vec<u32>,
    work: usize,
}

impl Comparison<'_> {
    /// Whether what is before the token may end with what follows it.
    fn may_be_same(&mut self, place: &Place) -> bool {
        let before = self.reach_before(place);
        let reach = self.reach_behind(place, before);
        if self.work <= 8 * reach {
            self.work = 0;
            return true;
        }
        self.work -= 8 * reach;
        let bytes = &self.code.bytes;
        let (Some(left), Some(right)) = (
            bytes.get(place.code.start - reach..place.code.start),
            bytes.get(place.code.end..place.code.end + reach),
        ) else {
            return true;
        };
        self.borders.clear();
        self.borders.push(0);
        let mut length = 0_usize;
        for (at, byte) in right.iter().enumerate().skip(1) {
            length = self.grown(right, length, *byte);
            debug_assert!(length <= at);
            self.borders.push(length as u32);
        }
        length = 0;
        for byte in left {
            length = self.grown(right, length, *byte);
        }
        while length > 0 {
            if self.is_operand(place, length) {
                return true;
            }
            length = self.border(length);
        }
        false
    }

    fn border(&self, length: usize) -> usize {
        let border = length.checked_sub(1).and_then(|at| self.borders.get(at));
        border.map_or(0, |border| *border as usize)
    }

    /// Returns the length of the longest beginning of `right` with which a text
    /// ends that ended with `length` bytes of it, and goes on with `byte`.
    fn grown(&self, right: &[u8], mut length: usize, byte: u8) -> usize {
        loop {
            if right.get(length) == Some(&byte) {
                return length + 1;
            }
            if length == 0 {
                return 0;
            }
            length = self.border(length);
        }
    }

    /// Returns how many bytes before the token an operand may have.
    fn reach_before(&mut self, place: &Place) -> usize {
        let mut depth = 0_usize;
        let mut at = place.code.start;
        while let Some(before) = at.checked_sub(1) {
            if depth == 0 && self.work == 0 {
                break;
            }
            self.work = self.work.saturating_sub(1);
            let byte = self.code.byte(Some(before));
            match byte {
                b')' | b']' | b'}' => depth += 1,
                b'(' | b'[' | b'{' if depth == 0 => break,
                b'(' | b'[' | b'{' => depth -= 1,
                b',' | b';' | b':' if depth == 0 && self.is_loose => break,
                _ => {}
            }
            at = before;
            if depth == 0 && self.code.is_other_operand(at) {
                break;
            }
        }
        place.code.start - at
    }

    /// Returns how many bytes behind the token an operand may have, at most `most`.
    fn reach_behind(&mut self, place: &Place, most: usize) -> usize {
        let mut depth = 0_usize;
        let rest = self.code.bytes.get(place.code.end..).unwrap_or_default();
        let mut reach = 0;
        for (at, byte) in rest.iter().take(most).enumerate() {
            self.work = self.work.saturating_sub(1);
            if depth == 0 && at > 0 && self.code.is_other_operand(place.code.end + at) {
                break;
            }
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => break,
                b')' | b']' | b'}' => depth -= 1,
                b',' | b';' | b':' if depth == 0 && self.is_loose => break,
                _ => {}
            }
            reach = at + 1;
        }
        reach
    }

    /// Whether the `length` bytes on both sides may be a whole operand each.
    fn is_operand(&self, place: &Place, length: usize) -> bool {
        let (start, end) = (place.code.start - length, place.code.end + length);
        if self.is_cut(start, end) {
            return false;
        }
        let depth = |byte: &u8| match byte {
            b'(' | b'[' | b'{' => 1_isize,
            b')' | b']' | b'}' => -1,
            _ => 0,
        };
        let operand = self.code.bytes.get(place.code.end..end);
        if operand.unwrap_or_default().iter().map(depth).sum::<isize>() != 0 {
            return false;
        }
        let goes_on = |at| place.is_in_brackets || self.code.gap(at) != Gap::Line;
        !(self.is_loose
            && (goes_on(start) && self.is_bound_before(start)
                || goes_on(end) && self.is_bound_behind(end)))
    }

    /// Whether a word begins or ends outside what is in `start..end`.
    fn is_cut(&self, start: usize, end: usize) -> bool {
        let is_inside = |at: usize| {
            self.code.gap(at) == Gap::None
                && is_word(self.code.byte(at.checked_sub(1)))
                && is_word(self.code.byte(Some(at)))
        };
        // A number ends at a letter that is no part of it.
        let is_number = self.code.byte(start.checked_sub(1)).is_ascii_digit()
            && !self.code.byte(Some(start)).is_ascii_digit();
        if is_inside(start) && !is_number {
            return true;
        }
        // What follows a number may be a word: `1or 2`, `1.e5or 2`.
        let word = self.code.word_before(end);
        let before = end - word.len();
        let is_number = word.first().is_some_and(u8::is_ascii_digit)
            || self.code.byte(before.checked_sub(1)) == b'.'
                && self.code.byte(before.checked_sub(2)).is_ascii_digit();
        is_inside(end) && !is_number
    }

    /// Whether what begins at `start` is bound to what is before it.
    fn is_bound_before(&self, start: usize) -> bool {
        let before = |n: usize| self.code.byte(start.checked_sub(n));
        let first = self.code.byte(Some(start));
        if matches!(first, b'(' | b'[') && self.code.has_operand_before(start) {
            return true;
        }
        match before(1) {
            b'.' => before(2) != b'.',
            b'+' | b'-' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' => true,
            b'*' => {
                let stars = if before(2) == b'*' { 2 } else { 1 };
                self.code.has_operand_before(start - stars)
            }
            b'=' => matches!(before(2), b'=' | b'!' | b'<' | b'>'),
            b'>' if before(2) == b'-' => false,
            b'>' if before(2) == b'>' => self.code.has_operand_before(start - 2),
            b'<' | b'>' => true,
            CLOSE => first == OPEN,
            _ => self.code.word_before(start) == b"is",
        }
    }

    /// Whether what ends before `end` is bound to what follows it.
    fn is_bound_behind(&self, end: usize) -> bool {
        let next = |n: usize| self.code.byte(Some(end + n));
        match next(0) {
            b'(' | b'[' | b'.' => true,
            b'-' => next(1) != b'>',
            b'+' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'<' | b'>' => true,
            b'=' => next(1) == b'=',
            b'!' => next(1) == b'=',
            OPEN => self.code.byte(end.checked_sub(1)) == CLOSE,
            _ => matches!(self.code.word_from(end), b"in" | b"is" | b"not"),
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
