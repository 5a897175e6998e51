//! Finds messages in bytes that arrive in pieces. No input or output here.

use serde::de::IgnoredAny;

use super::{FrameError, Framing};

/// The longest header line, and the longest line of noise.
const MAX_HEADER_LINE: usize = 64 * 1024;

/// How many skipped lines are kept, and how many characters of each.
const MAX_SKIPPED_LINES: usize = 20;
const MAX_SKIPPED_LINE: usize = 200;

const LENGTH_HEADER: &[u8] = b"content-length:";

/// Lines between messages that belong to none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The first lines, each cut at 200 characters.
    pub first_lines: Vec<String>,
    /// How many lines there were.
    pub lines: u64,
    /// How many bytes they had.
    pub bytes: u64,
}

#[derive(Debug)]
enum State {
    /// In the header; the length, once a line gave it.
    Header { length: Option<u64> },
    /// In a message of so many bytes.
    Body { length: usize },
    /// In a message that is too large; so many bytes are still to come.
    SkippingBytes { left: u64 },
    /// In a line that is too long.
    SkippingLine,
    /// Between lines.
    Line,
}

/// Takes bytes in, gives messages out.
#[derive(Debug)]
pub(super) struct Decoder {
    state: State,
    limit: usize,
    buffer: Vec<u8>,
    /// Bytes at the front that are done with.
    used: usize,
    /// Bytes after `used` that hold no line break.
    scanned: usize,
    is_at_start: bool,
    skipped: Skipped,
}

impl Decoder {
    pub(super) fn new(framing: Framing, limit: usize) -> Self {
        Self {
            state: match framing {
                Framing::ContentLength => State::Header { length: None },
                Framing::NewlineJson => State::Line,
            },
            limit,
            buffer: Vec::new(),
            used: 0,
            scanned: 0,
            is_at_start: true,
            skipped: Skipped::default(),
        }
    }

    /// Returns the buffer; bytes that arrive are appended to it.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Frees what is done with and reserves `bytes` more.
    pub(super) fn make_room(&mut self, bytes: usize) {
        self.buffer.drain(..self.used);
        self.used = 0;
        self.buffer.reserve(bytes);
    }

    /// Returns the next complete message.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        loop {
            match self.state {
                State::Header { length } => {
                    let Some(line) = self.take_line(MAX_HEADER_LINE) else {
                        if self.unread().len() > MAX_HEADER_LINE {
                            return Err(FrameError::HeaderTooLong {
                                limit: MAX_HEADER_LINE,
                            });
                        }
                        return Ok(None);
                    };
                    self.header_line(&line, length)?;
                }
                State::Body { length } => {
                    if self.unread().len() < length {
                        return Ok(None);
                    }
                    self.state = State::Header { length: None };
                    return Ok(Some(self.take(length)));
                }
                State::SkippingBytes { left } => {
                    let available = self.unread().len() as u64;
                    self.used += usize::try_from(available.min(left)).unwrap_or(usize::MAX);
                    if available < left {
                        let left = left - available;
                        self.state = State::SkippingBytes { left };
                        return Ok(None);
                    }
                    self.state = State::Header { length: None };
                }
                State::SkippingLine => {
                    let Some(end) = self.find_line_break() else {
                        self.used = self.buffer.len();
                        self.scanned = 0;
                        return Ok(None);
                    };
                    self.used += end + 1;
                    self.scanned = 0;
                    self.state = State::Line;
                }
                State::Line => {
                    // Two more for the line ending itself.
                    let longest = self.limit.saturating_add(2);
                    let Some(line) = self.take_line(longest) else {
                        let seen = self.unread().len();
                        if seen > longest {
                            self.state = State::SkippingLine;
                            return Err(self.too_large(seen as u64));
                        }
                        return Ok(None);
                    };
                    if line.len() > self.limit {
                        return Err(self.too_large(line.len() as u64));
                    }
                    if !line.iter().all(u8::is_ascii_whitespace) {
                        return Ok(Some(line));
                    }
                }
            }
        }
    }

    /// Returns the last message, once no more bytes come.
    pub(super) fn finish(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let rest = self.unread().len();
        let is_complete = match self.state {
            State::Header { length: None } => {
                // Noise without a line break, as from a program that dies, or
                // the beginning of a header.
                let rest = self.take(rest);
                let line = rest.trim_ascii();
                if length_in(line).is_some() || (!line.is_empty() && is_start_of_header(line)) {
                    return Err(FrameError::Truncated { bytes: rest.len() });
                }
                if !line.is_empty() {
                    self.skip(&rest);
                }
                return Ok(None);
            }
            State::Header { length: Some(_) } | State::Body { .. } => false,
            State::SkippingBytes { .. } => false,
            State::SkippingLine => true,
            State::Line => {
                let line = self.take(rest);
                if line.iter().all(u8::is_ascii_whitespace) {
                    return Ok(None);
                }
                // Many programs leave out the last line break.
                if line.len() <= self.limit && serde_json::from_slice::<IgnoredAny>(&line).is_ok() {
                    return Ok(Some(line));
                }
                return Err(FrameError::Truncated { bytes: line.len() });
            }
        };
        if is_complete {
            return Ok(None);
        }
        self.used = self.buffer.len();
        self.state = State::Header { length: None };
        Err(FrameError::Truncated { bytes: rest })
    }

    pub(super) fn take_skipped(&mut self) -> Option<Skipped> {
        (self.skipped.lines > 0).then(|| std::mem::take(&mut self.skipped))
    }

    fn header_line(&mut self, line: &[u8], known: Option<u64>) -> Result<(), FrameError> {
        if line.is_empty() {
            match known {
                None => {} // a blank line before a header
                Some(length) => match usize::try_from(length) {
                    Ok(length) if length <= self.limit => self.state = State::Body { length },
                    _ => {
                        self.state = State::SkippingBytes { left: length };
                        return Err(self.too_large(length));
                    }
                },
            }
            return Ok(());
        }
        match length_in(line) {
            Some((noise, value)) => {
                let text = String::from_utf8_lossy(value);
                let bad = |value: String| FrameError::BadLength {
                    value: value.chars().take(MAX_SKIPPED_LINE).collect(),
                };
                let Some(length) = parse_length(&text) else {
                    return Err(bad(text.into_owned()));
                };
                if let Some(known) = known
                    && known != length
                {
                    return Err(bad(format!("{known}, {length}")));
                }
                if !noise.is_empty() {
                    self.skip(noise);
                }
                self.state = State::Header {
                    length: Some(length),
                };
            }
            // Other headers, before or after the length, say nothing we need.
            None if known.is_some() || is_other_header(line) => {}
            None => self.skip(line),
        }
        Ok(())
    }

    fn skip(&mut self, line: &[u8]) {
        self.skipped.lines += 1;
        self.skipped.bytes += line.len() as u64;
        if self.skipped.first_lines.len() < MAX_SKIPPED_LINES {
            let text = String::from_utf8_lossy(line.trim_ascii());
            let text = text.chars().take(MAX_SKIPPED_LINE).collect();
            self.skipped.first_lines.push(text);
        }
        tracing::debug!(bytes = line.len(), "skipped a line that is no header");
    }

    fn too_large(&self, bytes: u64) -> FrameError {
        FrameError::TooLarge {
            bytes,
            limit: self.limit,
        }
    }

    fn unread(&self) -> &[u8] {
        self.buffer.get(self.used..).unwrap_or_default()
    }

    /// Returns where the next line break is, counted from the first unread byte.
    fn find_line_break(&mut self) -> Option<usize> {
        let unread = self.buffer.get(self.used..).unwrap_or_default();
        let fresh = unread.get(self.scanned..).unwrap_or_default();
        match fresh.iter().position(|byte| *byte == b'\n') {
            Some(at) => Some(self.scanned + at),
            None => {
                self.scanned = unread.len();
                None
            }
        }
    }

    /// Takes a line without its ending; `None` when it is incomplete or has more
    /// than `longest` bytes.
    fn take_line(&mut self, longest: usize) -> Option<Vec<u8>> {
        let end = self.find_line_break()?;
        if end > longest {
            // Leave it for the caller, who looks at how much there is.
            return None;
        }
        let mut line = self.take(end + 1);
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(line)
    }

    fn take(&mut self, bytes: usize) -> Vec<u8> {
        let mut taken = self.unread().get(..bytes).unwrap_or_default().to_vec();
        self.used += taken.len();
        self.scanned = 0;
        if std::mem::take(&mut self.is_at_start) && taken.starts_with(b"\xef\xbb\xbf") {
            taken.drain(..3);
        }
        taken
    }
}

/// Splits a line that gives the length into what stands before it, and the value.
///
/// A program that prints without a line break leaves its noise on the line.
fn length_in(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line
        .windows(LENGTH_HEADER.len())
        .position(|window| window.eq_ignore_ascii_case(LENGTH_HEADER))?;
    let (noise, header) = line.split_at(at);
    // `X-Content-Length` is another header.
    let is_longer_name = noise.last() == Some(&b'-');
    let value = header.get(LENGTH_HEADER.len()..)?.trim_ascii();
    (!is_longer_name).then_some((noise.trim_ascii_start(), value))
}

fn parse_length(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_other_header(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or(line);
    name.len() < line.len()
        && [&b"content-type"[..], b"content-encoding"]
            .iter()
            .any(|known| name.trim_ascii().eq_ignore_ascii_case(known))
}

fn is_start_of_header(line: &[u8]) -> bool {
    LENGTH_HEADER
        .get(..line.len())
        .is_some_and(|start| line.eq_ignore_ascii_case(start))
}
