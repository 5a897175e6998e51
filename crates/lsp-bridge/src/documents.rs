//! The documents that are open at one server.
//!
//! The disk is the authority for their text: a document is opened with what is
//! there, and before each request those that changed meanwhile are sent again.
//! A document that is not open is never changed or closed, and one that is open
//! is never opened: some servers die of it.
//!
//! Source: Language Server Protocol 3.17, "Text Document Synchronization".

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use host::text::{LineIndex, SourceText};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::capabilities::{Save, Sync};
use crate::client::{Client, RequestError};
use crate::seen::Seen;
use crate::stamp::Stamp;
use crate::tree::Change;
use crate::uri;

/// Documents that stay open at one server.
const MAX_OPEN: usize = 64;
/// Endings of files that others do not include.
const COMPILED: &[&str] = &["c", "cc", "cpp", "cxx", "c++", "m", "mm", "cu"];
/// The largest document, in bytes.
pub(crate) const MAX_BYTES: u64 = 2 * 1024 * 1024;

/// A document as the server has it.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// The text that was sent: positions are converted on this one.
    pub(crate) text: Arc<LineIndex<String>>,
    pub(crate) version: i64,
    /// How often the server had published when this text was sent.
    pub(crate) sent_after: u64,
    /// Whether what it includes was changed, or which files those are, since it
    /// was last reported on.
    pub(crate) has_new_includes: bool,
    /// When it was opened, or last reported on with all that it includes.
    settled: Instant,
    stamp: Stamp,
    last_used: u64,
}

impl Document {
    /// Builds one that is not open, for reading what is said of its text.
    pub(crate) fn of_text(text: Arc<LineIndex<String>>) -> Self {
        Self {
            text,
            version: 0,
            sent_after: 0,
            has_new_includes: false,
            settled: Instant::now(),
            stamp: Stamp::default(),
            last_used: 0,
        }
    }

    /// Returns whether the file surely has not changed since `moment`.
    pub(crate) fn is_older_than(&self, moment: SystemTime) -> bool {
        self.stamp.is_older_than(moment)
    }
}

/// A file that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DocumentError {
    #[error("it cannot be read: {0}")]
    Unreadable(std::io::Error),
    #[error("it has {bytes} bytes, and files over {MAX_BYTES} are not sent to a server")]
    TooLarge { bytes: u64 },
    #[error("it is not UTF-8: {0}")]
    NotUtf8(#[from] host::text::NotUtf8),
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// All documents of one server.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<PathBuf, Document>,
    /// The last version of every document there ever was: a version never comes
    /// back, even after a close.
    versions: HashMap<PathBuf, i64>,
    clock: u64,
    /// How often the server was told of something that changed.
    edits: u64,
    /// When a file last changed that others may include.
    included: Option<Instant>,
}

/// How to speak with the server.
pub(crate) struct Wire<'a> {
    pub(crate) client: &'a Client,
    pub(crate) sync: Sync,
    pub(crate) seen: &'a Seen,
}

impl Documents {
    /// Returns how many are open.
    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns a document that is open.
    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    /// Returns how often the server was told of something that changed.
    pub(crate) fn edits(&self) -> u64 {
        self.edits
    }

    /// Sends what became different on the disk: first that files changed, then
    /// the documents that are open. Returns the documents that were closed.
    pub(crate) fn refresh(
        &mut self,
        wire: &Wire<'_>,
        mut changes: Vec<(PathBuf, Change)>,
    ) -> Result<Vec<PathBuf>, RequestError> {
        let mut gone = Vec::new();
        let mut changed = Vec::new();
        for (path, document) in &mut self.open {
            let Some(stamp) = Stamp::take(path) else {
                gone.push(path.clone());
                continue;
            };
            if stamp.is_unchanged_since(&document.stamp) {
                continue;
            }
            match read(path, stamp) {
                Ok(text) if text == document.text.text() => document.stamp = stamp,
                Ok(text) => changed.push((path.clone(), text, stamp)),
                // It is no text any more.
                Err(_) => gone.push(path.clone()),
            }
        }
        for (path, change) in gone
            .iter()
            .map(|path| (path, Change::Deleted))
            .chain(changed.iter().map(|(path, ..)| (path, Change::Changed)))
        {
            if !changes.iter().any(|(known, _)| known == path) {
                changes.push((path.clone(), change));
            }
        }
        if !changes.is_empty() {
            self.edits += 1;
        }
        if changes.iter().any(|(path, _)| may_be_included(path)) {
            self.included = Some(Instant::now());
        }
        wire.files_changed(&changes)?;
        for (path, text, stamp) in changed {
            self.change(&path, text, stamp, wire)?;
        }
        for path in &gone {
            self.close(path, wire)?;
        }
        Ok(gone)
    }

    /// Opens a file, unless it is open; returns the document and those that
    /// were closed to make room.
    pub(crate) fn open(
        &mut self,
        path: &Path,
        language: &str,
        wire: &Wire<'_>,
    ) -> Result<(Document, Vec<PathBuf>), DocumentError> {
        self.clock += 1;
        let clock = self.clock;
        if let Some(document) = self.open.get_mut(path) {
            document.last_used = clock;
            let is_newer = |at| at > document.settled;
            document.has_new_includes |= self.included.is_some_and(is_newer);
            return Ok((document.clone(), Vec::new()));
        }
        let stamp = Stamp::take(path)
            .ok_or_else(|| DocumentError::Unreadable(std::io::ErrorKind::NotFound.into()))?;
        let text = read(path, stamp)?;
        let closed = self.make_room(wire)?;
        let document = Document {
            version: self.next_version(path),
            sent_after: wire.seen.publishes(),
            text: Arc::new(LineIndex::new(text)),
            // It is read from the beginning.
            has_new_includes: false,
            settled: Instant::now(),
            stamp,
            last_used: clock,
        };
        wire.seen.sent(path);
        if wire.sync.opens {
            wire.notify(
                "textDocument/didOpen",
                &json!({ "textDocument": {
                "uri": uri::from_path(path),
                "languageId": language,
                "version": document.version,
                "text": document.text.text(),
            } }),
            )?;
        }
        self.open.insert(path.to_owned(), document.clone());
        Ok((document, closed))
    }

    /// Notes that a document was reported on as it was at `since`, with all that it
    /// includes.
    pub(crate) fn settle(&mut self, path: &Path, version: i64, since: Instant) {
        let document = self.open.get_mut(path);
        if let Some(document) = document.filter(|document| document.version == version) {
            document.settled = since;
            document.has_new_includes = false;
        }
    }

    /// Says that an open document was saved.
    pub(crate) fn saved(&self, path: &Path, wire: &Wire<'_>) -> Result<(), RequestError> {
        match self.open.get(path) {
            Some(document) => wire.saved(path, document.text.text()),
            None => Ok(()),
        }
    }

    /// Returns the files that are open, the last used first.
    pub(crate) fn by_use(&self) -> Vec<PathBuf> {
        let mut open: Vec<_> = self.open.iter().collect();
        open.sort_by_key(|(_, document)| std::cmp::Reverse(document.last_used));
        open.into_iter().map(|(path, _)| path.clone()).collect()
    }

    fn change(
        &mut self,
        path: &Path,
        text: String,
        stamp: Stamp,
        wire: &Wire<'_>,
    ) -> Result<(), RequestError> {
        let version = self.next_version(path);
        let Some(document) = self.open.get_mut(path) else {
            return Ok(());
        };
        document.has_new_includes |= !directives(document.text.text()).eq(directives(&text));
        document.text = Arc::new(LineIndex::new(text));
        document.version = version;
        document.sent_after = wire.seen.publishes();
        wire.seen.sent(path);
        document.stamp = stamp;
        let text = document.text.text();
        let uri = uri::from_path(path);
        if wire.sync.opens && wire.sync.changes {
            // The whole text suits servers that take parts of it too.
            wire.notify(
                "textDocument/didChange",
                &json!({
                    "textDocument": { "uri": uri, "version": version },
                    "contentChanges": [{ "text": text }],
                }),
            )?;
        }
        wire.saved(path, text)
    }

    fn close(&mut self, path: &Path, wire: &Wire<'_>) -> Result<(), RequestError> {
        if self.open.remove(path).is_none() || !wire.sync.opens {
            return Ok(());
        }
        let document = json!({ "uri": uri::from_path(path) });
        wire.notify(
            "textDocument/didClose",
            &json!({ "textDocument": document }),
        )
    }

    /// Closes those that were used least recently.
    fn make_room(&mut self, wire: &Wire<'_>) -> Result<Vec<PathBuf>, RequestError> {
        let mut closed = Vec::new();
        while self.open.len() >= MAX_OPEN {
            let oldest = self.open.iter().min_by_key(|(_, open)| open.last_used);
            let Some(path) = oldest.map(|(path, _)| path.clone()) else {
                break;
            };
            self.close(&path, wire)?;
            closed.push(path);
        }
        Ok(closed)
    }

    fn next_version(&mut self, path: &Path) -> i64 {
        let version = self.versions.entry(path.to_owned()).or_insert(0);
        *version += 1;
        *version
    }
}

impl Wire<'_> {
    fn notify(&self, method: &str, params: &Value) -> Result<(), RequestError> {
        self.client.notify(method, params)
    }

    fn saved(&self, path: &Path, text: &str) -> Result<(), RequestError> {
        let uri = uri::from_path(path);
        let params = match self.sync.saves {
            Save::No => return Ok(()),
            Save::WithoutText => json!({ "textDocument": { "uri": uri } }),
            Save::WithText => json!({ "textDocument": { "uri": uri }, "text": text }),
        };
        self.notify("textDocument/didSave", &params)
    }

    fn files_changed(&self, changes: &[(PathBuf, Change)]) -> Result<(), RequestError> {
        if changes.is_empty() {
            return Ok(());
        }
        let changes = changes
            .iter()
            .map(|(path, change)| json!({ "uri": uri::from_path(path), "type": change.number() }));
        let changes = Value::Array(changes.collect());
        self.notify(
            "workspace/didChangeWatchedFiles",
            &json!({ "changes": changes }),
        )
    }
}

/// Returns the lines that say what a text includes, in languages that have such.
fn directives(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| line.trim_start().starts_with('#'))
}

/// Returns whether other files may have the text of this one in theirs.
fn may_be_included(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    !ending.is_some_and(|ending| COMPILED.contains(&ending))
}

/// Reads a text without its byte-order mark.
fn read(path: &Path, stamp: Stamp) -> Result<String, DocumentError> {
    if stamp.length() > MAX_BYTES {
        return Err(DocumentError::TooLarge {
            bytes: stamp.length(),
        });
    }
    let bytes = std::fs::read(path).map_err(DocumentError::Unreadable)?;
    Ok(SourceText::parse(bytes)?.text)
}

#[cfg(test)]
mod tests;
