//! Where the output of a cell comes from.

use std::io;
use std::os::fd::AsFd;

use host::process::ChildOutput;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// Where the output comes from.
pub(super) enum Capture {
    Pipe(pipe::Receiver),
    Stream(ChildOutput),
}

impl Capture {
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read(buffer).await,
            Self::Stream(stream) => stream.read(buffer).await,
        }
    }

    /// Reads what is there, without asking the runtime, which may not know yet.
    pub(super) fn read_now(&self, buffer: &mut [u8]) -> Option<usize> {
        let descriptor = match self {
            Self::Pipe(pipe) => pipe.as_fd(),
            Self::Stream(stream) => stream.as_fd(),
        };
        loop {
            match rustix::io::read(descriptor, &mut *buffer) {
                Ok(0) => return None,
                Ok(count) => return Some(count),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }
}
