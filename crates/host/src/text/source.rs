//! From the bytes of a file to text and back, with nothing lost.

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The text of a file, and whether a byte-order mark stood before it.
///
/// Offsets count from after the mark; protocols do not know of it either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The text without the mark.
    pub text: String,
    /// Whether the file starts with the UTF-8 byte-order mark.
    pub has_bom: bool,
}

/// A file is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {valid_up_to} starts no UTF-8 character")]
pub struct NotUtf8 {
    /// The offset in the file of the first byte that is wrong.
    pub valid_up_to: usize,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r`
    Cr,
}

impl SourceText {
    /// Takes the bytes of a file apart.
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn parse(mut bytes: Vec<u8>) -> Result<Self, NotUtf8> {
        let has_bom = bytes.starts_with(BOM);
        let skipped = if has_bom { BOM.len() } else { 0 };
        bytes.drain(..skipped);
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { text, has_bom }),
            Err(error) => Err(NotUtf8 {
                valid_up_to: error.utf8_error().valid_up_to() + skipped,
            }),
        }
    }

    /// Returns the bytes of the file, the mark included.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = if self.has_bom {
            BOM.to_vec()
        } else {
            Vec::new()
        };
        bytes.extend_from_slice(self.text.as_bytes());
        bytes
    }

    /// Returns the line ending used most, the first seen among equals; `None`
    /// for a text of one line.
    #[must_use]
    pub fn line_ending(&self) -> Option<LineEnding> {
        let bytes = self.text.as_bytes();
        // In order of first appearance.
        let mut counts: Vec<(LineEnding, usize)> = Vec::new();
        for (at, byte) in bytes.iter().enumerate() {
            let ending = match byte {
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => LineEnding::CrLf,
                b'\r' => LineEnding::Cr,
                b'\n' if at == 0 || bytes.get(at - 1) != Some(&b'\r') => LineEnding::Lf,
                _ => continue,
            };
            match counts.iter_mut().find(|(known, _)| *known == ending) {
                Some((_, count)) => *count += 1,
                None => counts.push((ending, 1)),
            }
        }
        // `max_by_key` keeps the last of equals.
        let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
        most.map(|(ending, _)| ending)
    }
}

impl LineEnding {
    /// Returns its characters.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}
