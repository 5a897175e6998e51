//! What a column counts in the conversation with one server.

use gen_lsp_types::{Position, Range};
use host::text::{Line, LineIndex, PositionError, Utf8Column, Utf16Column};

/// The unit of columns that was agreed on.
///
/// Source: Language Server Protocol 3.17, "PositionEncodingKind".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PositionEncoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16: what holds where nothing was agreed on.
    #[default]
    Utf16,
}

impl PositionEncoding {
    /// Reads what a server chose; `None` where it chose what was not offered.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            _ => None,
        }
    }

    /// Returns the position of the byte at `offset`.
    pub(crate) fn position<T: AsRef<str>>(
        self,
        index: &LineIndex<T>,
        offset: usize,
    ) -> Result<Position, PositionError> {
        let (line, character) = match self {
            Self::Utf8 => {
                let (line, column) = index.utf8_position(offset)?;
                (line, column.0)
            }
            Self::Utf16 => {
                let (line, column) = index.utf16_position(offset)?;
                (line, column.0)
            }
        };
        Ok(Position {
            line: line.zero_based(),
            character,
        })
    }

    /// Returns the byte offset of a position that a server gave.
    ///
    /// Beyond the end of a line means its end, beyond the last line the end of
    /// the text: so the protocol says.
    pub(crate) fn offset<T: AsRef<str>>(self, index: &LineIndex<T>, position: Position) -> usize {
        let line = Line::from_zero(position.line);
        let found = match self {
            Self::Utf8 => index.offset_of_utf8(line, Utf8Column(position.character)),
            Self::Utf16 => index.offset_of_utf16(line, Utf16Column(position.character)),
        };
        found.unwrap_or_else(|error| error.nearest())
    }

    /// Returns the bytes of a range; one that ends before it starts is empty.
    pub(crate) fn range<T: AsRef<str>>(
        self,
        index: &LineIndex<T>,
        range: Range,
    ) -> std::ops::Range<usize> {
        let start = self.offset(index, range.start);
        start..self.offset(index, range.end).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfall_18_columns_count_what_was_agreed_on() {
        let index = LineIndex::new("x = \"😀é\" + symbol\r\n");
        let offset = index.text().find("symbol").unwrap();
        for (encoding, character) in [(PositionEncoding::Utf8, 15), (PositionEncoding::Utf16, 12)] {
            let position = encoding.position(&index, offset).unwrap();
            assert_eq!(position, Position { line: 0, character });
            assert_eq!(encoding.offset(&index, position), offset);
        }
    }

    #[test]
    fn pitfall_21_positions_past_the_end_mean_the_end() {
        let index = LineIndex::new("ab\nc");
        let at = |line, character| Position { line, character };
        let encoding = PositionEncoding::Utf16;
        assert_eq!(encoding.offset(&index, at(0, 99)), 2);
        assert_eq!(encoding.offset(&index, at(9, 0)), 4);
        let backwards = Range {
            start: at(1, 1),
            end: at(0, 0),
        };
        assert_eq!(encoding.range(&index, backwards), 4..4);
    }
}
