//! Descriptors that a child gets besides its three streams.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};

/// Above what programs use, and what code closes that closes "everything".
const FROM: i32 = 512;

/// A descriptor for a child, under a number that is known before the child is.
///
/// The child has it under the same number, and hands it on to its own children
/// unless it marks it as close-on-exec. Ours is marked so: no other child gets
/// it. A launcher that starts the child elsewhere may not hand it on.
#[derive(Debug, Clone)]
pub struct Inherited {
    descriptor: Arc<OwnedFd>,
}

impl Inherited {
    /// Takes a descriptor; its number is 512 or above, where the limit of the
    /// process allows it, else the lowest free one from 3.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new(descriptor: impl AsFd) -> io::Result<Self> {
        let descriptor = descriptor.as_fd();
        let duplicate = match fcntl_dupfd_cloexec(descriptor, FROM) {
            Err(rustix::io::Errno::INVAL) => fcntl_dupfd_cloexec(descriptor, 3),
            other => other,
        }?;
        Ok(Self {
            descriptor: Arc::new(duplicate),
        })
    }

    /// Returns the number that the child has it under.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// Lets the program that this process is about to execute have it.
    ///
    /// For the time between fork and exec: one plain system call.
    pub(super) fn keep_over_exec(&self) -> io::Result<()> {
        let descriptor: BorrowedFd<'_> = self.descriptor.as_fd();
        Ok(fcntl_setfd(descriptor, FdFlags::empty())?)
    }
}
