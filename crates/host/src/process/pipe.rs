//! Our ends of a child's pipes, for asynchronous use.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::mpsc::Sender;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

use super::reaper::{ChildId, Message};

/// A child's standard input.
///
/// [`AsyncWriteExt::shutdown`](tokio::io::AsyncWriteExt::shutdown) closes it.
/// Dropping it closes it too, unless the child's plan sends something: then it
/// stays open for the plan.
#[derive(Debug)]
pub struct ChildStdin {
    pipe: Option<pipe::Sender>,
    id: ChildId,
    reaper: Sender<Message>,
}

/// A child's standard output or error.
#[derive(Debug)]
pub struct ChildOutput {
    pipe: pipe::Receiver,
}

impl ChildStdin {
    /// Must be called in a runtime.
    pub(super) fn new(pipe: OwnedFd, id: ChildId, reaper: Sender<Message>) -> io::Result<Self> {
        Ok(Self {
            pipe: Some(pipe::Sender::from_owned_fd(pipe)?),
            id,
            reaper,
        })
    }

    fn give_back(&mut self, use_left: UseLeft) {
        if let Some(pipe) = self.pipe.take() {
            let pipe = match use_left {
                // Where it cannot be taken out of the runtime, it closes.
                UseLeft::Plan => pipe.into_nonblocking_fd().ok(),
                UseLeft::Nobody => None,
            };
            // Without a reaper the pipe just closes.
            let _ = self
                .reaper
                .send(Message::StdinReturned { id: self.id, pipe });
        }
    }
}

/// Who may still write.
enum UseLeft {
    Plan,
    Nobody,
}

impl Drop for ChildStdin {
    fn drop(&mut self) {
        self.give_back(UseLeft::Plan);
    }
}

impl AsyncWrite for ChildStdin {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.pipe {
            Some(pipe) => Pin::new(pipe).poll_write(context, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.give_back(UseLeft::Nobody);
        Poll::Ready(Ok(()))
    }
}

impl ChildOutput {
    /// Must be called in a runtime.
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            pipe: pipe::Receiver::from_owned_fd(pipe)?,
        })
    }
}

/// The pipe, set to not block.
impl AsFd for ChildOutput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

impl AsyncRead for ChildOutput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_read(context, buffer)
    }
}
