//! A text file as its lines, each with the line end it had.
//!
//! Edits are matched on text whose line ends are all `\n` and written back with
//! the file's own, so that a change touches nothing but what it names: a byte
//! order mark, mixed line ends and a missing last newline all survive.

use std::ops::Range;

const BOM: char = '\u{feff}';

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// The last line of a file without a final newline.
    Missing,
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
}

impl LineEnd {
    /// Returns the characters of this line end.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "",
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// One line: its text without the line end, and the line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) end: LineEnd,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    has_bom: bool,
    pub(crate) lines: Vec<Line>,
}

impl Document {
    /// Splits `text` into lines.
    pub(crate) fn parse(text: &str) -> Self {
        let body = text.strip_prefix(BOM);
        let has_bom = body.is_some();
        let lines = body
            .unwrap_or(text)
            .split_inclusive('\n')
            .map(|raw| {
                let (text, end) = if let Some(text) = raw.strip_suffix("\r\n") {
                    (text, LineEnd::CrLf)
                } else if let Some(text) = raw.strip_suffix('\n') {
                    (text, LineEnd::Lf)
                } else {
                    (raw, LineEnd::Missing)
                };
                Line {
                    text: text.to_owned(),
                    end,
                }
            })
            .collect();
        Self { has_bom, lines }
    }

    /// Returns the line end that most lines have; `\n` where there is none.
    pub(crate) fn dominant_end(&self) -> LineEnd {
        let crlf = self
            .lines
            .iter()
            .filter(|line| line.end == LineEnd::CrLf)
            .count();
        let lf = self
            .lines
            .iter()
            .filter(|line| line.end == LineEnd::Lf)
            .count();
        if crlf > lf {
            LineEnd::CrLf
        } else {
            LineEnd::Lf
        }
    }

    /// Returns whether the last line has a line end (true for an empty file).
    pub(crate) fn ends_with_newline(&self) -> bool {
        self.lines
            .last()
            .is_none_or(|line| line.end != LineEnd::Missing)
    }

    /// Gives every line but the last a line end, and the last one too if `newline_at_end`.
    pub(crate) fn close_lines(&mut self, newline_at_end: bool) {
        let dominant = self.dominant_end();
        let last = self.lines.len().saturating_sub(1);
        for (index, line) in self.lines.iter_mut().enumerate() {
            if index == last && !newline_at_end {
                line.end = LineEnd::Missing;
            } else if line.end == LineEnd::Missing {
                line.end = dominant;
            }
        }
    }

    /// Returns the text with the file's own line ends.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        if self.has_bom {
            text.push(BOM);
        }
        for line in &self.lines {
            text.push_str(&line.text);
            text.push_str(line.end.as_str());
        }
        text
    }
}

/// Returns `text` with every `\r\n` turned into `\n`.
pub(crate) fn with_unix_ends(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// A file's text without its byte order mark and with `\n` as the only line
/// end, and the way back to the bytes it came from.
pub(crate) struct Normalised {
    /// The text to match in.
    pub(crate) text: String,
    /// Offsets in `text` of the `\n` that were `\r\n`.
    shortened: Vec<usize>,
    bom_length: usize,
}

impl Normalised {
    /// Normalises the text of a file.
    pub(crate) fn of(original: &str) -> Self {
        let body = original.strip_prefix(BOM).unwrap_or(original);
        let mut text = String::with_capacity(body.len());
        let mut shortened = Vec::new();
        for piece in body.split_inclusive('\n') {
            if let Some(line) = piece.strip_suffix("\r\n") {
                text.push_str(line);
                shortened.push(text.len());
                text.push('\n');
            } else {
                text.push_str(piece);
            }
        }
        Self {
            text,
            shortened,
            bom_length: original.len() - body.len(),
        }
    }

    /// Returns the range of the original text that `range` of the normalised one came from.
    pub(crate) fn to_original(&self, range: &Range<usize>) -> Range<usize> {
        let map = |offset: usize| {
            self.bom_length + offset + self.shortened.partition_point(|&end| end < offset)
        };
        map(range.start)..map(range.end)
    }

    /// Returns the line, from 1, that `offset` lies on.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.text
            .as_bytes()
            .iter()
            .take(offset)
            .filter(|&&byte| byte == b'\n')
            .count()
            + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_every_byte() {
        for text in [
            "",
            "a",
            "a\n",
            "a\r\nb\nc",
            "\u{feff}a\r\n",
            "\r\r\n\n",
            "é\r\nü",
        ] {
            assert_eq!(Document::parse(text).to_text(), text);
        }
    }

    #[test]
    fn normalised_ranges_lead_back_to_the_original_bytes() {
        let original = "\u{feff}one\r\ntwo\nthree\r\nfour";
        let normalised = Normalised::of(original);
        assert_eq!(normalised.text, "one\ntwo\nthree\nfour");
        for (part, expected) in [
            ("one\ntwo", "one\r\ntwo"),
            ("\nthree\n", "\nthree\r\n"),
            ("one\n", "one\r\n"),
            ("one", "one"),
            ("four", "four"),
            ("two", "two"),
        ] {
            let start = normalised.text.find(part).unwrap();
            let range = normalised.to_original(&(start..start + part.len()));
            assert_eq!(original.get(range), Some(expected), "{part:?}");
        }
    }

    #[test]
    fn closing_lines_uses_the_line_end_of_the_file() {
        let mut document = Document::parse("a\r\nb\r\nc");
        document.lines.push(Line {
            text: "d".to_owned(),
            end: LineEnd::Missing,
        });
        document.close_lines(true);
        assert_eq!(document.to_text(), "a\r\nb\r\nc\r\nd\r\n");
    }
}
