//! Keeps the beginning and the end of what a child writes, and reads the rest.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use tokio::sync::watch;

/// How much of a stream is kept; the middle is read and dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureLimits {
    /// Bytes kept from the beginning.
    pub head: usize,
    /// Bytes kept from the end.
    pub tail: usize,
}

impl CaptureLimits {
    /// For error texts: the last 16 KiB.
    pub const TAIL: Self = Self {
        head: 0,
        tail: 16 * 1024,
    };

    /// For results: the first and the last 512 KiB.
    pub const BOTH_ENDS: Self = Self {
        head: 512 * 1024,
        tail: 512 * 1024,
    };
}

/// What a child has written to one stream so far. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Captured {
    kept: Arc<Mutex<Kept>>,
    is_closed: watch::Receiver<bool>,
}

#[derive(Debug)]
struct Kept {
    limits: CaptureLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Captured {
    /// Reads `stream` to its end on a thread of its own.
    ///
    /// The thread ends with the last process that can write to the stream.
    pub(super) fn read_in_background(stream: OwnedFd, limits: CaptureLimits) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(Kept {
            limits,
            head: Vec::new(),
            tail: VecDeque::new(),
            left_out: 0,
        }));
        let (closed, is_closed) = watch::channel(false);
        let shared = Arc::clone(&kept);
        std::thread::Builder::new()
            .name("child output".to_owned())
            .spawn(move || {
                let mut buffer = vec![0; 8 * 1024];
                loop {
                    match rustix::io::read(&stream, &mut *buffer) {
                        Ok(0) => break,
                        Ok(count) => lock(&shared).add(buffer.get(..count).unwrap_or_default()),
                        Err(Errno::INTR) => {}
                        Err(_) => break,
                    }
                }
                closed.send_replace(true);
            })?;
        Ok(Self { kept, is_closed })
    }

    /// A stream that was never captured.
    pub(super) fn nothing() -> Self {
        let limits = CaptureLimits { head: 0, tail: 0 };
        Self {
            kept: Arc::new(Mutex::new(Kept {
                limits,
                head: Vec::new(),
                tail: VecDeque::new(),
                left_out: 0,
            })),
            is_closed: watch::channel(true).1,
        }
    }

    /// Returns the bytes kept; where [`Captured::left_out`] is not 0, beginning
    /// and end do not belong together.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let kept = lock(&self.kept);
        let mut bytes = kept.head.clone();
        bytes.extend(kept.tail.iter());
        bytes
    }

    /// Returns the text kept, invalid bytes replaced, and where something is
    /// missing, a line that says how much.
    #[must_use]
    pub fn to_text(&self) -> String {
        let kept = lock(&self.kept);
        let tail: Vec<u8> = kept.tail.iter().copied().collect();
        if kept.left_out == 0 {
            let mut bytes = kept.head.clone();
            bytes.extend(tail);
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        // Whole lines where there are any: half a line reads like a whole one.
        let head_end = position_after_last_break(&kept.head);
        let head = kept.head.get(..head_end).unwrap_or_default();
        let tail_start = tail
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let tail = match tail.get(tail_start..) {
            Some(whole @ [_, ..]) => whole,
            _ => tail.as_slice(),
        };
        let left_out =
            kept.left_out + (kept.head.len() - head.len() + kept.tail.len() - tail.len()) as u64;
        let mut text = String::from_utf8_lossy(head).into_owned();
        text.push_str(&format!("[{left_out} bytes left out]\n"));
        text.push_str(&String::from_utf8_lossy(tail));
        text
    }

    /// Returns how many bytes from the middle were not kept.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        lock(&self.kept).left_out
    }

    /// Waits until nobody can write to the stream any more.
    pub async fn wait_until_closed(&self) {
        // An error means that the reading thread is gone, which is the same.
        let _ = self
            .is_closed
            .clone()
            .wait_for(|is_closed| *is_closed)
            .await;
    }
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let room = self.limits.head - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(self.limits.tail);
        self.tail.drain(..surplus);
        self.left_out += surplus as u64;
    }
}

fn position_after_last_break(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1)
}

/// Nothing panics while it holds the lock, and the bytes are sound regardless.
fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
