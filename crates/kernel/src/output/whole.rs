//! The file with the whole output of a cell, made when that is long.

use std::path::PathBuf;

use tiers::{RunFile, RunFolder};

use super::ends::{LINES, lines_of};

/// From here on the whole output goes to a file too.
const FROM_BYTES: usize = 16 * 1024;
const FROM_LINES: usize = 2 * LINES;

/// The whole output, as far as it is kept.
#[derive(Debug)]
pub(super) struct Whole {
    cell: u64,
    limit: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Not needed so far; what it would hold.
    Waiting {
        kept: Vec<u8>,
        lines: usize,
    },
    File {
        file: RunFile,
        written: u64,
    },
    /// As far as it went, where it went anywhere.
    Ended {
        path: Option<PathBuf>,
    },
}

impl Whole {
    /// Begins with nothing; the file will have `limit` bytes at most.
    pub(super) fn new(cell: u64, limit: u64) -> Self {
        let kept = Vec::new();
        Self {
            cell,
            limit,
            state: State::Waiting { kept, lines: 0 },
        }
    }

    /// Takes what came; returns what is to be said when it cannot go on.
    pub(super) fn push(&mut self, text: &[u8], folder: &RunFolder) -> Option<String> {
        match &mut self.state {
            State::Waiting { kept, lines } => {
                kept.extend_from_slice(text);
                *lines += lines_of(text);
                if kept.len() <= FROM_BYTES && *lines <= FROM_LINES {
                    return None;
                }
                let kept = std::mem::take(kept);
                match folder.create(&format!("cell-{}-output.txt", self.cell)) {
                    Ok(file) => {
                        self.state = State::File { file, written: 0 };
                        self.append(&kept, folder)
                    }
                    Err(error) => {
                        self.state = State::Ended { path: None };
                        Some(format!("the whole output is not saved: {error}"))
                    }
                }
            }
            State::File { .. } => self.append(text, folder),
            State::Ended { .. } => None,
        }
    }

    fn append(&mut self, text: &[u8], folder: &RunFolder) -> Option<String> {
        let State::File { file, written } = &mut self.state else {
            return None;
        };
        let room = usize::try_from(self.limit.saturating_sub(*written)).unwrap_or(usize::MAX);
        let fits = text.get(..room.min(text.len())).unwrap_or_default();
        let added = folder.append(file, fits);
        if added.is_ok() {
            *written += fits.len() as u64;
        }
        let why = match added {
            Ok(()) if fits.len() == text.len() => return None,
            Ok(()) => String::new(),
            Err(error) => format!(": {error}"),
        };
        let path = file.path().to_owned();
        let said = format!(
            "`{}` has the first {written} bytes of the output only{why}",
            path.display()
        );
        self.state = State::Ended { path: Some(path) };
        Some(said)
    }

    /// Returns the file, where there is one.
    pub(super) fn into_path(self) -> Option<PathBuf> {
        match self.state {
            State::Waiting { .. } => None,
            State::File { file, .. } => Some(file.path().to_owned()),
            State::Ended { path } => path,
        }
    }
}
