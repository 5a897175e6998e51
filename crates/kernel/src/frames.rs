//! The frames that host and kernel exchange.
//!
//! A frame is a length (4 bytes, big endian, what follows counted), a kind (1
//! byte) and a body: `J` is a JSON object whose `frame` names it, `B` are raw
//! bytes that belong to the `J` frame before, which announces them with
//! `"binary": true`. The first frame to a kernel is the text of the kernel.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The version of the protocol, which `ready` repeats.
pub(crate) const VERSION: u32 = 1;

/// The largest frame, both ways.
pub(crate) const MAX_FRAME: usize = 64 * 1024 * 1024;

const JSON: u8 = b'J';
const BINARY: u8 = b'B';

/// What the host says.
#[derive(Debug, Serialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub(crate) enum ToKernel<'a> {
    Init {
        sources: serde_json::Map<String, Value>,
        options: Options<'a>,
    },
    Run {
        cell: u64,
        code: &'a str,
    },
    Cancel {
        cell: u64,
        /// Whether an interrupt signal comes besides, which means the same.
        signals: bool,
    },
    Reply(&'a Reply),
    Exit,
}

/// What a kernel is told once.
#[derive(Debug, Serialize)]
pub(crate) struct Options<'a> {
    /// Part of every mark in the output, so that no program writes one by chance.
    pub(crate) token: &'a str,
    /// Whether a mark ends the output of each cell.
    pub(crate) marks_end: bool,
}

/// The answer to a bridged call.
#[derive(Debug, Serialize)]
pub(crate) struct Reply {
    pub(crate) call: u64,
    pub(crate) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<ReplyValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<ReplyError>,
}

/// The result of a tool, as a cell gets it.
#[derive(Debug, Serialize)]
pub(crate) struct ReplyValue {
    pub(crate) text: String,
    pub(crate) details: Value,
    pub(crate) touched: Vec<String>,
    pub(crate) images: Vec<ReplyImage>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ReplyImage {
    pub(crate) media_type: String,
    /// In base64.
    pub(crate) data: String,
}

/// Why a tool failed, as a cell gets it.
#[derive(Debug, Serialize)]
pub(crate) struct ReplyError {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
}

/// What a kernel says.
#[derive(Debug, Deserialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub(crate) enum FromKernel {
    Ready(Ready),
    Display(Display),
    Call(BridgedCall),
    CancelCall { call: u64 },
    Note { text: String },
    Done(Box<Done>),
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ready {
    pub(crate) version: u32,
    pub(crate) python: String,
    pub(crate) executable: String,
}

/// Something to show at one place of the output.
#[derive(Debug, Deserialize)]
pub(crate) struct Display {
    pub(crate) mime: String,
    /// The mark in the output where it belongs; 0 where none could be written.
    pub(crate) mark: u64,
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    binary: bool,
    #[serde(default)]
    pub(crate) width: Option<u32>,
    #[serde(default)]
    pub(crate) height: Option<u32>,
    #[serde(default)]
    pub(crate) note: Option<String>,
    #[serde(skip)]
    pub(crate) data: Vec<u8>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct BridgedCall {
    pub(crate) call: u64,
    pub(crate) cell: u64,
    pub(crate) tool: String,
    pub(crate) args: Value,
}

/// The end of a cell.
#[derive(Debug, Deserialize)]
pub(crate) struct Done {
    pub(crate) cell: u64,
    pub(crate) status: Status,
    #[serde(default)]
    pub(crate) value: Option<String>,
    #[serde(default)]
    pub(crate) error: Option<Raised>,
    #[serde(default)]
    pub(crate) pending_tasks: u64,
    /// Whether the interpreter has children, dead ones that nobody waited for
    /// included.
    #[serde(default)]
    pub(crate) children: bool,
    /// The mark that ends the output; 0 where there is none.
    #[serde(default)]
    pub(crate) mark: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Ok,
    Error,
    Interrupted,
    Exit,
}

/// An exception that ended a cell.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Raised {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) traceback: String,
    /// The line of the cell, from 1, at which it failed.
    #[serde(default)]
    pub(crate) line: Option<u64>,
    /// Whether something of the cell had run.
    #[serde(default)]
    pub(crate) ran: bool,
}

/// Why the link to a kernel is of no use any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("the link failed: {0}")]
    Io(#[from] std::io::Error),
    #[error("it sent a frame of {0} bytes, the most is {MAX_FRAME}")]
    TooLarge(usize),
    #[error("it sent what is no frame: {0}")]
    Malformed(String),
}

/// Returns `frame` in the form it is sent in.
pub(crate) fn encode(frame: &ToKernel<'_>) -> Result<Vec<u8>, LinkError> {
    let mut bytes = vec![0, 0, 0, 0, JSON];
    serde_json::to_writer(&mut bytes, frame)
        .map_err(|error| LinkError::Malformed(error.to_string()))?;
    with_length(bytes)
}

/// Returns the text of the kernel in the form it is sent in.
pub(crate) fn encode_source(source: &str) -> Result<Vec<u8>, LinkError> {
    let mut bytes = vec![0, 0, 0, 0, b'S'];
    bytes.extend_from_slice(source.as_bytes());
    with_length(bytes)
}

fn with_length(mut bytes: Vec<u8>) -> Result<Vec<u8>, LinkError> {
    let size = bytes.len() - 4;
    if size > MAX_FRAME {
        return Err(LinkError::TooLarge(size));
    }
    let length = u32::try_from(size).map_err(|_| LinkError::TooLarge(size))?;
    for (place, byte) in bytes.iter_mut().zip(length.to_be_bytes()) {
        *place = byte;
    }
    Ok(bytes)
}

/// Reads one frame; none at the end of the stream.
pub(crate) async fn read(
    reader: &mut (impl AsyncRead + Unpin),
) -> Result<Option<FromKernel>, LinkError> {
    let Some((kind, body)) = read_raw(reader).await? else {
        return Ok(None);
    };
    if kind != JSON {
        return Err(LinkError::Malformed(format!("kind {kind}")));
    }
    let mut frame: FromKernel =
        serde_json::from_slice(&body).map_err(|error| LinkError::Malformed(error.to_string()))?;
    if let FromKernel::Display(display) = &mut frame
        && display.binary
    {
        match read_raw(reader).await? {
            Some((BINARY, data)) => display.data = data,
            Some((kind, _)) => return Err(LinkError::Malformed(format!("kind {kind}"))),
            None => return Ok(None),
        }
    }
    Ok(Some(frame))
}

async fn read_raw(
    reader: &mut (impl AsyncRead + Unpin),
) -> Result<Option<(u8, Vec<u8>)>, LinkError> {
    let size = match reader.read_u32().await {
        Ok(size) => size as usize,
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if size == 0 || size > MAX_FRAME {
        return Err(LinkError::TooLarge(size));
    }
    let kind = reader.read_u8().await?;
    // Grows as it comes: a length alone takes no memory.
    let mut body = Vec::new();
    let wanted = (size - 1) as u64;
    reader.take(wanted).read_to_end(&mut body).await?;
    if body.len() as u64 != wanted {
        return Ok(None);
    }
    Ok(Some((kind, body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(mut bytes: &[u8]) -> Result<Vec<FromKernel>, LinkError> {
        let mut frames = Vec::new();
        while let Some(frame) = read(&mut bytes).await? {
            frames.push(frame);
        }
        Ok(frames)
    }

    fn raw(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = u32::try_from(body.len() + 1)
            .unwrap()
            .to_be_bytes()
            .to_vec();
        bytes.push(kind);
        bytes.extend_from_slice(body);
        bytes
    }

    #[tokio::test]
    async fn an_image_comes_with_its_bytes() {
        let mut bytes = raw(
            b'J',
            br#"{"frame":"display","cell":1,"mime":"image/png","mark":3,"binary":true}"#,
        );
        bytes.extend(raw(b'B', &[1, 2]));
        bytes.extend(raw(b'J', br#"{"frame":"note","cell":1,"text":"a"}"#));
        let frames = read_all(&bytes).await.unwrap();
        let [FromKernel::Display(display), FromKernel::Note { text }] = frames.as_slice() else {
            panic!("{frames:?}");
        };
        assert_eq!((display.data.as_slice(), display.mark), (&[1, 2][..], 3));
        assert_eq!(text, "a");
    }

    #[tokio::test]
    async fn what_is_no_frame_is_an_error_and_a_torn_one_an_end() {
        assert!(read_all(&raw(b'X', b"{}")).await.is_err());
        assert!(read_all(&raw(b'J', b"{}")).await.is_err());
        assert!(read_all(&u32::MAX.to_be_bytes()).await.is_err());
        assert!(read_all(&[0, 0, 0, 0]).await.is_err());
        assert!(read_all(&raw(b'J', b"{}")[..5]).await.unwrap().is_empty());
    }

    #[test]
    fn a_frame_starts_with_its_length() {
        let bytes = encode(&ToKernel::Cancel {
            cell: 7,
            signals: true,
        })
        .unwrap();
        assert_eq!(
            bytes,
            raw(b'J', br#"{"frame":"cancel","cell":7,"signals":true}"#)
        );
    }
}
