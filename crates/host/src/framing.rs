//! Cuts byte streams into messages and back.
//!
//! Language servers and debug adapters put a `Content-Length` header before
//! each message; kernels and `serve` write one JSON text per line. Both are
//! read leniently and written strictly, over any asynchronous stream.
//!
//! ```
//! use host::framing::{FrameReader, FrameWriter, Framing};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), host::framing::FrameError> {
//! let (ours, theirs) = tokio::io::duplex(64);
//! let mut writer = FrameWriter::new(ours, Framing::ContentLength);
//! writer.write_json(&serde_json::json!({"id": 1})).await?;
//! drop(writer);
//!
//! let mut reader = FrameReader::new(theirs, Framing::ContentLength);
//! assert_eq!(reader.next().await?.as_deref(), Some(&br#"{"id":1}"#[..]));
//! assert_eq!(reader.next().await?, None);
//! # Ok(())
//! # }
//! ```
//!
//! Source: Language Server Protocol 3.17, "Base Protocol"; JSON Lines.

mod decode;
mod error;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use decode::Decoder;
pub use decode::Skipped;
pub use error::FrameError;

/// The largest message by default: 64 MiB.
pub const DEFAULT_LIMIT: usize = 64 * 1024 * 1024;

/// How much is read at once; a pipe holds no more on Linux.
const READ_SIZE: usize = 64 * 1024;

/// How messages are told apart in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// `Content-Length: n`, a blank line, `n` bytes.
    ContentLength,
    /// One JSON text per line.
    NewlineJson,
}

/// Reads messages.
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: R,
    decoder: Decoder,
    has_ended: bool,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `stream`, messages of up to [`DEFAULT_LIMIT`] bytes.
    pub fn new(stream: R, framing: Framing) -> Self {
        Self::with_limit(stream, framing, DEFAULT_LIMIT)
    }

    /// Reads from `stream`, messages of up to `limit` bytes.
    pub fn with_limit(stream: R, framing: Framing, limit: usize) -> Self {
        Self {
            stream,
            decoder: Decoder::new(framing, limit),
            has_ended: false,
        }
    }

    /// Waits for the next message; `None` at the end of the stream.
    ///
    /// With content lengths, lines before a header that are no header are
    /// skipped (programs print to the stream that their protocol uses) and kept
    /// for [`FrameReader::take_skipped`]; an empty message is returned as such.
    /// By lines, blank ones are skipped, and what a line holds is not checked.
    ///
    /// # Errors
    /// After [`FrameError::TooLarge`] reading can go on with the next message;
    /// after every other error the stream is of no more use.
    ///
    /// # Cancel
    /// Dropping the future loses nothing: the next call goes on.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        loop {
            if let Some(message) = self.decoder.next()? {
                return Ok(Some(message));
            }
            if self.has_ended {
                return self.decoder.finish();
            }
            self.decoder.make_room(READ_SIZE);
            if self.stream.read_buf(self.decoder.buffer()).await? == 0 {
                self.has_ended = true;
            }
        }
    }

    /// Returns what was skipped since the last call, if anything was.
    pub fn take_skipped(&mut self) -> Option<Skipped> {
        self.decoder.take_skipped()
    }
}

/// Writes messages.
#[derive(Debug)]
pub struct FrameWriter<W> {
    stream: W,
    framing: Framing,
    limit: usize,
    /// Framed bytes that the stream has not taken yet.
    pending: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> FrameWriter<W> {
    /// Writes to `stream`, messages of up to [`DEFAULT_LIMIT`] bytes.
    pub fn new(stream: W, framing: Framing) -> Self {
        Self::with_limit(stream, framing, DEFAULT_LIMIT)
    }

    /// Writes to `stream`, messages of up to `limit` bytes.
    pub fn with_limit(stream: W, framing: Framing, limit: usize) -> Self {
        Self {
            stream,
            framing,
            limit,
            pending: Vec::new(),
            written: 0,
        }
    }

    /// Writes one message and flushes.
    ///
    /// # Errors
    /// The message is over the limit, or holds a line break where lines
    /// separate messages (nothing is written then); or the stream fails.
    ///
    /// # Cancel
    /// Once polled, the message is queued: dropping the future leaves no half
    /// message behind, the next write or [`FrameWriter::flush`] completes it.
    pub async fn write(&mut self, message: &[u8]) -> Result<(), FrameError> {
        self.queue(message)?;
        self.flush().await
    }

    /// Writes `message` as compact JSON; otherwise as [`FrameWriter::write`].
    ///
    /// # Errors
    /// As [`FrameWriter::write`]; also when `message` has no JSON form.
    pub async fn write_json(&mut self, message: &impl Serialize) -> Result<(), FrameError> {
        let bytes = serde_json::to_vec(message).map_err(FrameError::NotJson)?;
        self.write(&bytes).await
    }

    /// Completes messages whose writing was dropped.
    ///
    /// # Errors
    /// The stream fails.
    pub async fn flush(&mut self) -> Result<(), FrameError> {
        while let Some(rest @ [_, ..]) = self.pending.get(self.written..) {
            match self.stream.write(rest).await? {
                0 => return Err(std::io::Error::from(std::io::ErrorKind::WriteZero).into()),
                taken => self.written += taken,
            }
        }
        self.pending.clear();
        self.written = 0;
        Ok(self.stream.flush().await?)
    }

    /// Returns the stream; bytes of a dropped write are lost.
    pub fn into_inner(self) -> W {
        self.stream
    }

    fn queue(&mut self, message: &[u8]) -> Result<(), FrameError> {
        if message.len() > self.limit {
            return Err(FrameError::TooLarge {
                bytes: message.len() as u64,
                limit: self.limit,
            });
        }
        match self.framing {
            Framing::ContentLength => {
                let header = format!("Content-Length: {}\r\n\r\n", message.len());
                self.pending.extend_from_slice(header.as_bytes());
                self.pending.extend_from_slice(message);
            }
            Framing::NewlineJson => {
                if message.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                    return Err(FrameError::LineBreak);
                }
                self.pending.extend_from_slice(message);
                self.pending.push(b'\n');
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
