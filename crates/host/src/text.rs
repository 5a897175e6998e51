//! Lines, columns and the byte-order mark: every conversion between them.
//!
//! Lines end at `\n`, `\r\n` or a lone `\r`, as in the Language Server
//! Protocol; other Unicode line separators are ordinary characters.
//!
//! ```
//! use host::text::{Line, LineIndex, Utf16Column};
//!
//! let index = LineIndex::new("let a;\r\nlet 😀 = b;");
//! let (line, column) = index.utf16_position(17)?; // the `=`
//! assert_eq!((line.one_based(), column), (2, Utf16Column(7)));
//! assert_eq!(index.offset_of_utf16(line, column)?, 17);
//! assert_eq!(index.line_text(Line::from_zero(0))?, "let a;");
//! # Ok::<(), host::text::PositionError>(())
//! ```
//!
//! Source: Language Server Protocol 3.17, "Text Documents".

mod source;

use std::fmt;
use std::ops::Range;

pub use source::{LineEnding, NotUtf8, SourceText};

/// A line of a text; it cannot be mistaken for a count from the other origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(u32);

impl Line {
    /// Builds a line from a number that counts from 0.
    #[must_use]
    pub fn from_zero(number: u32) -> Self {
        Self(number)
    }

    /// Builds a line from a number that counts from 1; `None` for 0.
    #[must_use]
    pub fn from_one(number: u32) -> Option<Self> {
        number.checked_sub(1).map(Self)
    }

    /// Returns the number, counting from 0.
    #[must_use]
    pub fn zero_based(self) -> u32 {
        self.0
    }

    /// Returns the number, counting from 1.
    #[must_use]
    pub fn one_based(self) -> u64 {
        u64::from(self.0) + 1
    }
}

/// A column in UTF-16 code units, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utf16Column(pub u32);

/// A column in bytes of UTF-8, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utf8Column(pub u32);

/// A position that the text does not have.
///
/// Positions are never moved silently. A caller whose protocol says "beyond the
/// end means the end" takes [`PositionError::nearest`], visibly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// The line is after the last.
    #[error("no line {}: the text has {count}", line.one_based())]
    NoSuchLine {
        /// The line asked for.
        line: Line,
        /// How many lines there are.
        count: u32,
        /// The end of the text, in bytes.
        nearest: usize,
    },
    /// The column is after the end of its line.
    #[error(
        "no column {column} in line {}: it has {length} {unit}",
        line.one_based()
    )]
    NoSuchColumn {
        /// The line.
        line: Line,
        /// The column asked for, from 0.
        column: u32,
        /// The length of the line.
        length: u32,
        /// What column and length count.
        unit: Unit,
        /// The end of the line, in bytes.
        nearest: usize,
    },
    /// The position is between the halves of one character.
    #[error("column {column} in line {} is inside a character", line.one_based())]
    InsideCharacter {
        /// The line.
        line: Line,
        /// The column asked for, from 0.
        column: u32,
        /// The start of the character, in bytes.
        nearest: usize,
    },
    /// The offset is between `\r` and `\n`.
    #[error("byte {offset} is inside the line ending of line {}", line.one_based())]
    InsideLineEnding {
        /// The line that ends there.
        line: Line,
        /// The offset asked for.
        offset: usize,
        /// The end of the line's text, in bytes.
        nearest: usize,
    },
    /// The offset is after the end of the text.
    #[error("no byte {offset}: the text has {length}")]
    NoSuchByte {
        /// The offset asked for.
        offset: usize,
        /// The length of the text, in bytes, which is also the nearest offset.
        length: usize,
    },
}

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16.
    Utf16,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf8 => "bytes",
            Self::Utf16 => "UTF-16 units",
        })
    }
}

impl PositionError {
    /// Returns the nearest offset that exists, in bytes.
    #[must_use]
    pub fn nearest(&self) -> usize {
        match *self {
            Self::NoSuchLine { nearest, .. }
            | Self::NoSuchColumn { nearest, .. }
            | Self::InsideCharacter { nearest, .. }
            | Self::InsideLineEnding { nearest, .. } => nearest,
            Self::NoSuchByte { length, .. } => length,
        }
    }
}

impl From<PositionError> for tiers::ToolError {
    fn from(error: PositionError) -> Self {
        let next = "read the file again and take the position from there";
        crate::error::tool_error(tiers::ErrorKind::InvalidInput, next, error)
    }
}

/// A text with the starts of its lines.
///
/// Holds the text (borrowed, owned or shared, as `T` says), so that an index
/// cannot be asked about another one. A text has at least one line, and one more
/// after a final line ending.
#[derive(Debug, Clone)]
pub struct LineIndex<T> {
    text: T,
    starts: Vec<usize>,
}

impl<T: AsRef<str>> LineIndex<T> {
    /// Builds the index in one pass over `text`.
    ///
    /// Lines after the 4,294,967,295th belong to that one.
    pub fn new(text: T) -> Self {
        let bytes = text.as_ref().as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends_line = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends_line && starts.len() < u32::MAX as usize {
                starts.push(at + 1);
            }
        }
        Self { text, starts }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        self.text.as_ref()
    }

    /// Returns how many lines there are; at least 1.
    pub fn line_count(&self) -> u32 {
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }

    /// Returns the bytes of `line`, without its line ending.
    ///
    /// # Errors
    /// There is no such line.
    pub fn line_range(&self, line: Line) -> Result<Range<usize>, PositionError> {
        let text = self.text();
        let at = line.0 as usize;
        let Some(&start) = self.starts.get(at) else {
            return Err(PositionError::NoSuchLine {
                line,
                count: self.line_count(),
                nearest: text.len(),
            });
        };
        let end = match self.starts.get(at + 1) {
            None => text.len(),
            Some(&next) => {
                let before = text.as_bytes().get(start..next).unwrap_or_default();
                let ending = if before.ends_with(b"\r\n") { 2 } else { 1 };
                next - ending
            }
        };
        Ok(start..end)
    }

    /// Returns the text of `line`, without its line ending.
    ///
    /// # Errors
    /// There is no such line.
    pub fn line_text(&self, line: Line) -> Result<&str, PositionError> {
        let range = self.line_range(line)?;
        Ok(self.text().get(range).unwrap_or_default())
    }

    /// Returns the line that holds the byte at `offset`; a line holds its ending.
    ///
    /// # Errors
    /// `offset` is after the end of the text.
    pub fn line_at(&self, offset: usize) -> Result<Line, PositionError> {
        let length = self.text().len();
        if offset > length {
            return Err(PositionError::NoSuchByte { offset, length });
        }
        let after = self.starts.partition_point(|&start| start <= offset);
        Ok(Line(u32::try_from(after - 1).unwrap_or(u32::MAX)))
    }

    /// Returns line and column in bytes of `offset`.
    ///
    /// # Errors
    /// `offset` is after the end, inside a character or inside a `\r\n`.
    pub fn utf8_position(&self, offset: usize) -> Result<(Line, Utf8Column), PositionError> {
        let (line, before) = self.before(offset)?;
        Ok((line, Utf8Column(to_u32(before.len()))))
    }

    /// Returns line and column in UTF-16 code units of `offset`.
    ///
    /// # Errors
    /// `offset` is after the end, inside a character or inside a `\r\n`.
    pub fn utf16_position(&self, offset: usize) -> Result<(Line, Utf16Column), PositionError> {
        let (line, before) = self.before(offset)?;
        Ok((line, Utf16Column(utf16_length(before))))
    }

    /// Returns the byte offset of a column in bytes.
    ///
    /// # Errors
    /// There is no such line or column, or it is inside a character.
    pub fn offset_of_utf8(&self, line: Line, column: Utf8Column) -> Result<usize, PositionError> {
        let range = self.line_range(line)?;
        let offset = range.start.saturating_add(column.0 as usize);
        if offset > range.end {
            return Err(PositionError::NoSuchColumn {
                line,
                column: column.0,
                length: to_u32(range.len()),
                unit: Unit::Utf8,
                nearest: range.end,
            });
        }
        if !self.text().is_char_boundary(offset) {
            return Err(PositionError::InsideCharacter {
                line,
                column: column.0,
                nearest: self.text().floor_char_boundary(offset),
            });
        }
        Ok(offset)
    }

    /// Returns the byte offset of a column in UTF-16 code units.
    ///
    /// # Errors
    /// There is no such line or column, or it is between two surrogates.
    pub fn offset_of_utf16(&self, line: Line, column: Utf16Column) -> Result<usize, PositionError> {
        let range = self.line_range(line)?;
        let text = self.line_text(line)?;
        let mut units = 0u32;
        for (at, character) in text.char_indices() {
            if units == column.0 {
                return Ok(range.start + at);
            }
            units = units.saturating_add(utf16_units(character));
            if units > column.0 {
                return Err(PositionError::InsideCharacter {
                    line,
                    column: column.0,
                    nearest: range.start + at,
                });
            }
        }
        if units == column.0 {
            return Ok(range.end);
        }
        Err(PositionError::NoSuchColumn {
            line,
            column: column.0,
            length: units,
            unit: Unit::Utf16,
            nearest: range.end,
        })
    }

    /// Returns the line of `offset` and its text up to there.
    fn before(&self, offset: usize) -> Result<(Line, &str), PositionError> {
        let line = self.line_at(offset)?;
        let range = self.line_range(line)?;
        // Only `\r\n` has an inside: the offset after its `\r`.
        if offset > range.end {
            return Err(PositionError::InsideLineEnding {
                line,
                offset,
                nearest: range.end,
            });
        }
        match self.text().get(range.start..offset) {
            Some(before) => Ok((line, before)),
            None => Err(PositionError::InsideCharacter {
                line,
                column: to_u32(offset - range.start),
                nearest: self.text().floor_char_boundary(offset),
            }),
        }
    }
}

fn utf16_units(character: char) -> u32 {
    if u32::from(character) > 0xFFFF { 2 } else { 1 }
}

fn utf16_length(text: &str) -> u32 {
    text.chars().fold(0u32, |sum, character| {
        sum.saturating_add(utf16_units(character))
    })
}

fn to_u32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
