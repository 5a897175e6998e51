//! Carries frames, and descriptors with them, between host and kernel.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use host::process::{ChildOutput, ChildStdin};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::io::{AsyncRead, AsyncWriteExt, BufReader, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

use crate::frames::{self, FromKernel, LinkError, ToKernel};

/// A kernel that is gone is an error, not the end of this program.
#[cfg(not(target_vendor = "apple"))]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
/// There is no such flag; the standard library ignores the signal.
#[cfg(target_vendor = "apple")]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// A display may be large, and whoever takes frames takes them at once.
const WAITING_FRAMES: usize = 8;

/// What comes from a kernel.
#[derive(Debug)]
pub(crate) enum Incoming {
    Frame(FromKernel),
    /// Nothing will come any more.
    Closed(Option<LinkError>),
}

struct Outgoing {
    bytes: Vec<u8>,
    descriptor: Option<OwnedFd>,
}

/// Our end of the link. Sending never blocks: a kernel that is stuck does not
/// read.
#[derive(Debug)]
pub(crate) struct Link {
    outgoing: mpsc::UnboundedSender<Outgoing>,
    incoming: mpsc::Receiver<Incoming>,
    _reader: AbortOnDropHandle<()>,
    _writer: AbortOnDropHandle<()>,
}

impl std::fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.bytes.len())
    }
}

enum Writer {
    Socket(OwnedWriteHalf),
    Pipe(ChildStdin),
}

impl Link {
    /// Speaks over one socket.
    pub(crate) fn over_socket(socket: UnixStream) -> Self {
        let (reader, writer) = socket.into_split();
        Self::start(reader, Writer::Socket(writer))
    }

    /// Speaks over a child's standard input and output.
    pub(crate) fn over_streams(input: ChildStdin, output: ChildOutput) -> Self {
        Self::start(output, Writer::Pipe(input))
    }

    fn start(reader: impl AsyncRead + Send + Unpin + 'static, writer: Writer) -> Self {
        let (outgoing, to_write) = mpsc::unbounded_channel();
        let (frames, incoming) = mpsc::channel(WAITING_FRAMES);
        Self {
            outgoing,
            incoming,
            _reader: owned(tokio::spawn(read_all(reader, frames))),
            _writer: owned(tokio::spawn(write_all(writer, to_write))),
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// It is too large. A link that is gone is reported by [`Link::next`].
    pub(crate) fn send(&self, frame: &ToKernel<'_>) -> Result<(), LinkError> {
        self.send_raw(frames::encode(frame)?, None);
        Ok(())
    }

    /// Sends what is encoded already, and a descriptor with it.
    pub(crate) fn send_raw(&self, bytes: Vec<u8>, descriptor: Option<OwnedFd>) {
        // Its end is reported by the reader.
        let _ = self.outgoing.send(Outgoing { bytes, descriptor });
    }

    /// Waits for what comes next; after `Closed` always that.
    ///
    /// # Cancel
    /// Loses nothing.
    pub(crate) async fn next(&mut self) -> Incoming {
        self.incoming.recv().await.unwrap_or(Incoming::Closed(None))
    }
}

fn owned(task: JoinHandle<()>) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(task)
}

async fn read_all(reader: impl AsyncRead + Unpin, frames: mpsc::Sender<Incoming>) {
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    loop {
        let incoming = match frames::read(&mut reader).await {
            Ok(Some(frame)) => Incoming::Frame(frame),
            Ok(None) => Incoming::Closed(None),
            Err(error) => Incoming::Closed(Some(error)),
        };
        let is_last = matches!(incoming, Incoming::Closed(_));
        if frames.send(incoming).await.is_err() || is_last {
            return;
        }
    }
}

async fn write_all(mut writer: Writer, mut to_write: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some(outgoing) = to_write.recv().await {
        let written = match &mut writer {
            Writer::Socket(half) => write_to_socket(half.as_ref(), &outgoing).await,
            Writer::Pipe(pipe) => pipe.write_all(&outgoing.bytes).await,
        };
        if written.is_err() {
            // The reader sees the end too.
            return;
        }
    }
}

/// The descriptor goes with the first byte.
async fn write_to_socket(socket: &UnixStream, outgoing: &Outgoing) -> std::io::Result<()> {
    let mut rest = outgoing.bytes.as_slice();
    let mut descriptor = outgoing.descriptor.as_ref().map(AsFd::as_fd);
    while !rest.is_empty() {
        let written = socket
            .async_io(Interest::WRITABLE, || {
                let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
                let mut extra = SendAncillaryBuffer::new(&mut space);
                let descriptors = descriptor.as_slice();
                if !descriptors.is_empty() {
                    extra.push(SendAncillaryMessage::ScmRights(descriptors));
                }
                let part = [IoSlice::new(rest)];
                let sent = sendmsg(socket, &part, &mut extra, NO_SIGNAL)?;
                Ok(sent)
            })
            .await?;
        descriptor = None;
        rest = rest.get(written..).unwrap_or_default();
    }
    Ok(())
}
