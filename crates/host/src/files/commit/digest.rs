//! Which bytes a file held: enough to recognise them again.

use std::fs::File;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The length and the SHA-256 of some bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Digest {
    len: u64,
    sha256: String,
}

impl Digest {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self {
            len: bytes.len() as u64,
            sha256: hex(&Sha256::digest(bytes)),
        }
    }

    /// Returns whether the rest of `file` holds these bytes.
    pub(super) fn is_of(&self, file: &mut File, size: u64) -> io::Result<bool> {
        if size != self.len {
            return Ok(false);
        }
        let mut hasher = Sha256::new();
        // One byte more than expected tells that there are more.
        let wanted = usize::try_from(size.saturating_add(1)).unwrap_or(usize::MAX);
        let mut buffer = vec![0; wanted.min(64 * 1024)];
        let mut len = 0;
        loop {
            let read = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            len += read as u64;
            // It may grow while it is read.
            if len > self.len {
                return Ok(false);
            }
            hasher.update(buffer.get(..read).unwrap_or_default());
        }
        Ok(len == self.len && hex(&hasher.finalize()) == self.sha256)
    }
}

/// Returns the beginning of the SHA-256 of `bytes`, 16 characters.
pub(super) fn short_name(bytes: &[u8]) -> String {
    let mut name = hex(&Sha256::digest(bytes));
    name.truncate(16);
    name
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
