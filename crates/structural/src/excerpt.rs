//! Where in a file something is, and what of it is shown.
//!
//! What is shown is short and stands on one line. Characters that would move
//! the cursor, reorder the line or hide are written as escapes, so that a file
//! cannot make a result look like another one.

use std::ops::Range;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
}

/// Counts lines and columns on the way through a text.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'t> {
    text: &'t str,
    line: usize,
    line_start: usize,
    /// The byte asked for last, and the characters of its line before it.
    at: usize,
    characters: usize,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            line: 1,
            line_start: 0,
            at: 0,
            characters: 0,
        }
    }

    /// Returns the place of a byte, which moves this there: places further on
    /// cost the way to them, others the way from the start of the text.
    pub(crate) fn position(&mut self, at: usize) -> Position {
        if at < self.at {
            *self = Self::new(self.text);
        }
        let passed = self.text.as_bytes().get(self.at..at).unwrap_or_default();
        if let Some(last) = memchr::memrchr(b'\n', passed) {
            self.line += memchr::memchr_iter(b'\n', passed).count();
            self.line_start = self.at + last + 1;
            self.at = self.line_start;
            self.characters = 0;
        }
        let passed = self.text.get(self.at..at).unwrap_or_default();
        self.characters += passed.chars().count();
        if self.at == 0 && passed.starts_with('\u{feff}') {
            self.characters -= 1;
        }
        self.at = at;
        Position {
            line: self.line,
            column: self.characters + 1,
        }
    }

    /// Returns the part of the line that is shown for `found`, which begins on
    /// it: the whole line where that is short, else what is around `found`,
    /// with `…` where it was cut.
    pub(crate) fn around(&self, found: &Range<usize>, limit: usize) -> String {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(self.text.len(), |n| self.at + n);
        window(self.text, self.line_start..end, found, limit)
    }
}

/// Cuts a line at `limit` characters around `found`.
fn window(text: &str, line: Range<usize>, found: &Range<usize>, limit: usize) -> String {
    let whole = text.get(line.clone()).unwrap_or_default();
    let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let start = line.start + (whole.len() - whole.trim_start_matches(is_blank).len());
    let end = (line.start + whole.trim_end().len()).max(start);
    around(text, start..end, found, limit)
}

/// Returns `limit` characters of a line around `found`, with `…` where it was
/// cut; all of it where it is no longer.
pub(crate) fn around(text: &str, line: Range<usize>, found: &Range<usize>, limit: usize) -> String {
    let Range { start, end } = line;
    let is_short = line.len() <= limit
        || text
            .get(line.clone())
            .is_some_and(|t| t.chars().nth(limit).is_none());
    if is_short {
        return text.get(line).unwrap_or_default().to_owned();
    }
    let found = found.start.clamp(start, end)..found.end.clamp(start, end);
    let inside = characters(text.get(found.clone()), limit);
    let spare = limit - inside;
    let before = text.get(start..found.start).unwrap_or_default();
    let after = text.get(found.end..end).unwrap_or_default();
    let (has_before, has_after) = (
        before.chars().rev().take(spare).count(),
        characters(Some(after), spare),
    );
    let takes_before = has_before.min((spare / 3).max(spare - has_after));
    let takes = inside + has_after.min(spare - takes_before);
    let from = start
        + match takes_before.checked_sub(1) {
            None => before.len(),
            Some(last) => before
                .char_indices()
                .rev()
                .nth(last)
                .map_or(0, |(at, _)| at),
        };
    let tail = text.get(from..end).unwrap_or_default();
    let length = tail
        .char_indices()
        .nth(takes_before + takes)
        .map_or(tail.len(), |(at, _)| at);
    let dots = |is_cut: bool| if is_cut { "…" } else { "" };
    format!(
        "{}{}{}",
        dots(from > start),
        tail.get(..length).unwrap_or_default(),
        dots(length < tail.len())
    )
}

fn characters(text: Option<&str>, most: usize) -> usize {
    text.unwrap_or_default().chars().take(most).count()
}

/// Cuts a text at a limit of bytes, saying how many were left out.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!(
        "{}… ({} more bytes)",
        text.get(..end).unwrap_or_default(),
        text.len() - end
    )
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check_window(text: &str, found: &str, wanted: Expect) {
        let at = text.find(found).unwrap();
        let mut lines = Lines::new(text);
        lines.position(at);
        wanted.assert_eq(&lines.around(&(at..at + found.len()), 20));
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        check_window(
            "a\n    let x = f(1);  \nb",
            "f(1)",
            expect!["let x = f(1);"],
        );
    }

    #[test]
    fn a_long_line_is_cut_around_what_was_found() {
        let line = format!("{}f(1);{}", "a();".repeat(40), "b();".repeat(40));
        check_window(&line, "f(1)", expect!["…;a();f(1);b();b();b(…"]);
        check_window(
            &format!("f(1);{line}"),
            "f(1)",
            expect!["f(1);a();a();a();a()…"],
        );
        check_window(
            &format!("{line}g(2)"),
            "g(2)",
            expect!["…b();b();b();b();g(2)"],
        );
    }

    #[test]
    fn a_long_match_is_shown_from_its_start() {
        let line = format!("a();{}", "b".repeat(100));
        check_window(&line, &"b".repeat(100), expect!["…bbbbbbbbbbbbbbbbbbbb…"]);
    }

    #[test]
    fn a_window_is_measured_in_characters() {
        let line = format!("{}f(1){}", "é".repeat(40), "ß".repeat(40));
        check_window(&line, "f(1)", expect!["…éééééf(1)ßßßßßßßßßßß…"]);
    }

    #[test]
    fn columns_are_counted_from_the_last_place() {
        let mut lines = Lines::new("\u{feff}é = f(f(1))\nx");
        let place = |lines: &mut Lines<'_>, at| {
            let Position { line, column } = lines.position(at);
            (line, column)
        };
        assert_eq!(place(&mut lines, 3), (1, 1));
        assert_eq!(place(&mut lines, 8), (1, 5));
        assert_eq!(place(&mut lines, 10), (1, 7));
        assert_eq!(place(&mut lines, 16), (2, 1));
        assert_eq!(place(&mut lines, 8), (1, 5));
    }
}
