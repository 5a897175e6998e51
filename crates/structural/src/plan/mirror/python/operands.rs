//! Which of the code on both sides of a token may be the same whole operand.

use super::{CLOSE, Code, Gap, OPEN, Place, is_word};

/// Work allowed for one file, in bytes looked at for each byte of it.
const WORK_PER_BYTE: usize = 32;
/// Operators that bind more loosely than arithmetic; no operand of theirs has a
/// `,`, a `;` or a `:` outside brackets.
const LOOSE: &[&[u8]] = &[
    b"==", b"!=", b"<", b">", b"<=", b">=", b"is", b"in", b"and", b"or",
];

/// Compares what is around places of one token.
pub(super) struct Comparison<'c> {
    code: &'c Code,
    is_loose: bool,
    /// For each length of what follows the token, the length of its longest
    /// beginning that it ends with (the failure function of Knuth, Morris, Pratt).
    borders: Vec<u32>,
    work: usize,
}

impl<'c> Comparison<'c> {
    pub(super) fn new(code: &'c Code, token: &[u8], size: usize) -> Self {
        Self {
            code,
            is_loose: LOOSE.contains(&token),
            borders: Vec::new(),
            work: size.saturating_mul(WORK_PER_BYTE),
        }
    }

    /// Whether what is before the token may end with what follows it.
    pub(super) fn may_be_same(&mut self, place: &Place) -> bool {
        let most = self.reach_before(place);
        let reach = self.reach_behind(place, most);
        self.work = self.work.saturating_sub(3 * reach);
        if self.work == 0 {
            return true;
        }
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
        for byte in right.iter().skip(1) {
            length = self.grown(right, length, *byte);
            self.borders.push(length as u32);
        }
        length = 0;
        for byte in left {
            length = self.grown(right, length, *byte);
        }
        while length > 0 {
            self.work = self.work.saturating_sub(length);
            if self.work == 0 || self.is_operand(place, length) {
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
            self.work = self.work.saturating_sub(1);
            match self.code.byte(Some(before)) {
                _ if self.work == 0 => break,
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
