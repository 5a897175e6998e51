//! What is written down before a change, so that it can be undone after a crash.
//!
//! Each workspace has a folder below the state folder, with up to four files:
//!
//! - `lock`: held, by an advisory lock of the system, while a change runs;
//! - `journal.new`: a journal that is being written; nothing has happened yet;
//! - `journal`: a change that began; without more it is to be undone;
//! - `finished`: the same file, renamed once every file holds its new bytes;
//!   what is left to do is to remove the temporary files.
//!
//! A journal has one line for the change, one for each file and each new folder,
//! and a last one that counts them. A line starts with the beginning of its own
//! SHA-256, so that damage is noticed and the lines before it still count.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::digest::{Digest, short_name};
use super::slot::Slot;
use super::steps::{Step, Steps};
use crate::{Error, Workspace};

/// The name of a journal that is not complete yet.
const NEW: &str = "journal.new";
/// The version of the journal's form.
const VERSION: u32 = 1;
/// How long a lock may seem to be held after it was released: a child that was
/// forked meanwhile has a copy of it until it runs its own program.
const INHERITED: Duration = Duration::from_millis(50);
/// How long to wait before trying to take the lock again.
const LOCK_INTERVAL: Duration = Duration::from_millis(10);
/// No journal of a change that fits in memory is larger.
const MAX_JOURNAL_BYTES: u64 = 1 << 30;
/// No first line of a journal is longer.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// The folder of one workspace's journal.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    folder: PathBuf,
}

/// The lock of a workspace, released on drop and by the system on a crash.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// How far a change got, by the name of its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Begun,
    Finished,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Begun => "journal",
            Self::Finished => "finished",
        }
    }
}

/// A change as written down.
#[derive(Debug, Clone)]
pub(super) struct Journal {
    pub(super) title: String,
    pub(super) slots: Vec<Slot>,
    /// Folders that the change makes, outermost first, relative to the root.
    pub(super) folders: Vec<String>,
    /// Whether the end is there.
    pub(super) is_complete: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Record {
    Change {
        version: u32,
        id: String,
        /// For people; the folder's name is what counts.
        workspace: String,
        title: String,
    },
    File {
        path: String,
        old: Option<Digest>,
        new: Option<Digest>,
    },
    Folder {
        path: String,
    },
    End {
        lines: usize,
    },
}

impl Desk {
    /// Names the folder of `workspace` below `state`.
    pub(super) fn new(state: &Path, workspace: &Workspace) -> Self {
        Self::of_root(state, workspace.root())
    }

    /// Lists the folders of all workspaces below `state`.
    pub(super) fn all(state: &Path) -> impl Iterator<Item = Self> {
        let entries = std::fs::read_dir(state).into_iter().flatten().flatten();
        entries.map(|entry| Self {
            folder: entry.path(),
        })
    }

    /// Returns the workspace and the title of a change that began here and
    /// neither ended nor is being made.
    pub(super) fn cut_off(&self, state: &Path) -> Option<(PathBuf, String)> {
        let journal = File::open(self.journal()).ok()?;
        let mut first = Vec::new();
        let mut reader = BufReader::new(journal.take(MAX_LINE_BYTES));
        reader.read_until(b'\n', &mut first).ok()?;
        let record = read_line(first.strip_suffix(b"\n").unwrap_or(&first))?;
        let Record::Change {
            workspace, title, ..
        } = record
        else {
            return None;
        };
        let root = PathBuf::from(workspace);
        // What is written there is for people, and may not be the very name.
        let is_its_own = Self::of_root(state, &root).folder == self.folder;
        (is_its_own && !self.is_locked()).then_some((root, title))
    }

    /// Returns whether a change is being made.
    fn is_locked(&self) -> bool {
        let begun = Instant::now();
        loop {
            let lock = File::open(self.folder.join("lock"));
            let is_held =
                lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
            if !is_held || begun.elapsed() >= INHERITED {
                return is_held;
            }
            std::thread::sleep(LOCK_INTERVAL);
        }
    }

    fn of_root(state: &Path, root: &Path) -> Self {
        let label: String = root
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .take(40)
            .collect();
        let name = short_name(root.as_os_str().as_bytes());
        Self {
            folder: state.join(format!("{name}-{label}")),
        }
    }

    /// Returns whether a change was left behind, or is being made.
    pub(super) fn is_in_use(&self) -> bool {
        let exists = |name: &str| self.folder.join(name).symlink_metadata().is_ok();
        [NEW, Stage::Begun.name(), Stage::Finished.name()]
            .into_iter()
            .any(exists)
    }

    /// Returns where the journal of a change that began is.
    pub(super) fn journal(&self) -> PathBuf {
        self.folder.join(Stage::Begun.name())
    }

    /// Waits until no other change of the workspace runs.
    ///
    /// # Errors
    /// `Busy` after `wait`; `Journal` where the folder cannot be used.
    pub(super) fn lock(
        &self,
        workspace: &Workspace,
        wait: Duration,
        is_abandoned: &dyn Fn() -> bool,
    ) -> Result<Lock, Error> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|error| self.failed(error))?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(self.folder.join("lock"))
            .map_err(|error| self.failed(error))?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(self.failed(error)),
            }
            let waited = began.elapsed();
            if waited >= wait || is_abandoned() {
                return Err(Error::Busy {
                    root: workspace.root().to_owned(),
                    waited,
                });
            }
            std::thread::sleep(LOCK_INTERVAL.min(wait - waited));
        }
    }

    /// Writes down a change that is about to begin.
    pub(super) fn begin(
        &self,
        workspace: &Workspace,
        id: &str,
        journal: &Journal,
        steps: &Steps,
    ) -> io::Result<()> {
        let text = journal.to_text(workspace, id)?;
        steps.before(Step::Journal)?;
        let new = self.folder.join(NEW);
        let mut file = File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&new)?;
        // In two halves, so that tests can stop between them.
        let (first, second) = text.as_bytes().split_at(text.len() / 2);
        file.write_all(first)?;
        steps.before(Step::Journal)?;
        file.write_all(second)?;
        steps.sync(&file)?;
        steps.before(Step::Journal)?;
        std::fs::rename(&new, self.journal())?;
        self.sync(steps)
    }

    /// Marks the change as done.
    pub(super) fn finish(&self, steps: &Steps) -> io::Result<()> {
        steps.before(Step::Finish)?;
        let finished = self.folder.join(Stage::Finished.name());
        std::fs::rename(self.journal(), &finished)?;
        match self.sync(steps) {
            // The mark is there after all.
            Err(_) if std::fs::rename(&finished, self.journal()).is_err() => Ok(()),
            synced => synced,
        }
    }

    /// Removes what was written down.
    pub(super) fn end(&self, steps: &Steps) -> io::Result<()> {
        for name in [NEW, Stage::Begun.name(), Stage::Finished.name()] {
            steps.before(Step::EndJournal)?;
            match std::fs::remove_file(self.folder.join(name)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        self.sync(steps)
    }

    /// Puts a journal that cannot be read out of the way; returns where it is.
    pub(super) fn set_aside(&self, stage: Stage, steps: &Steps) -> io::Result<PathBuf> {
        let aside = self.folder.join("damaged");
        std::fs::rename(self.folder.join(stage.name()), &aside)?;
        self.sync(steps)?;
        Ok(aside)
    }

    /// Reads what was written down; `None` where nothing is.
    ///
    /// # Errors
    /// `Journal` where it cannot be read, or a newer version wrote it.
    pub(super) fn read(
        &self,
        workspace: &Workspace,
    ) -> Result<Option<(Stage, Option<Journal>)>, Error> {
        for stage in [Stage::Finished, Stage::Begun] {
            let mut bytes = Vec::new();
            match File::open(self.folder.join(stage.name())) {
                Ok(file) => file
                    .take(MAX_JOURNAL_BYTES)
                    .read_to_end(&mut bytes)
                    .map_err(|error| self.failed(error))?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(self.failed(error)),
            };
            let journal = Journal::parse(&bytes, workspace).map_err(|error| self.failed(error))?;
            return Ok(Some((stage, journal)));
        }
        Ok(None)
    }

    pub(super) fn failed(&self, source: io::Error) -> Error {
        Error::Journal {
            folder: self.folder.clone(),
            source,
        }
    }

    fn sync(&self, steps: &Steps) -> io::Result<()> {
        steps.sync(&File::open(&self.folder)?)
    }
}

impl Journal {
    fn to_text(&self, workspace: &Workspace, id: &str) -> io::Result<String> {
        let mut text = String::new();
        let mut add = |record: &Record| -> io::Result<()> {
            let json = serde_json::to_string(record)?;
            text.push_str(&format!("{} {json}\n", short_name(json.as_bytes())));
            Ok(())
        };
        add(&Record::Change {
            version: VERSION,
            id: id.to_owned(),
            workspace: workspace.root().to_string_lossy().into_owned(),
            title: self.title.clone(),
        })?;
        for slot in &self.slots {
            add(&Record::File {
                path: slot.path.relative().to_owned(),
                old: slot.old.clone(),
                new: slot.new.clone(),
            })?;
        }
        for path in &self.folders {
            add(&Record::Folder { path: path.clone() })?;
        }
        let lines = 2 + self.slots.len() + self.folders.len();
        add(&Record::End { lines })?;
        Ok(text)
    }

    /// Reads the lines up to the first that is damaged; `None` where already
    /// the first one is.
    ///
    /// # Errors
    /// It has another version.
    fn parse(bytes: &[u8], workspace: &Workspace) -> io::Result<Option<Self>> {
        let mut records = bytes.split(|&byte| byte == b'\n').map_while(read_line);
        let Some(Record::Change {
            version, id, title, ..
        }) = records.next()
        else {
            return Ok(None);
        };
        if version != VERSION {
            return Err(io::Error::other(format!(
                "the journal there has the form {version}, and this program knows {VERSION}"
            )));
        }
        let mut journal = Self {
            title,
            slots: Vec::new(),
            folders: Vec::new(),
            is_complete: false,
        };
        let mut read = 1;
        for record in records {
            read += 1;
            match record {
                Record::File { path, old, new } => {
                    let Some(path) = workspace.inside(&path) else {
                        break;
                    };
                    let index = journal.slots.len();
                    let slot = Slot::new(path, (old, new), &id, index);
                    journal.slots.push(slot);
                }
                Record::Folder { path } => journal.folders.push(path),
                Record::End { lines } => {
                    journal.is_complete = lines == read;
                    break;
                }
                Record::Change { .. } => break,
            }
        }
        Ok(Some(journal))
    }
}

fn read_line(line: &[u8]) -> Option<Record> {
    let line = std::str::from_utf8(line).ok()?;
    let (sum, json) = line.split_once(' ')?;
    (sum == short_name(json.as_bytes()))
        .then(|| serde_json::from_str(json).ok())
        .flatten()
}
