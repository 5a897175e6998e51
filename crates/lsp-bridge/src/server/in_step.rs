//! Keeps a server in step with the disk: its open documents, and the files of
//! the project.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use host::WorkspacePath;
use host::text::{LineIndex, SourceText};
use tokio::time::Instant;

use super::Server;
use crate::capabilities::Sync;
use crate::diagnostics::tsserver;
use crate::documents::{Document, DocumentError, Documents, MAX_BYTES, Wire};
use crate::error::Error;
use crate::row::Diagnostics;
use crate::stamp::Stamp;
use crate::tree::{Change, Interest, Listing, Tree};

/// The documents that are open and the files that were seen.
pub(super) struct Table {
    pub(super) documents: Documents,
    pub(super) tree: Tree,
}

/// Whether the files of the project are looked at before a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// In any case: the answer depends on all of them.
    Always,
    /// Where that costs little.
    WhenCheap,
}

/// A file that was just written.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) file: WorkspacePath,
    /// Whether it was there before.
    pub(crate) was_there: bool,
}

/// What a server knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) is_current: bool,
    /// The version of the document, where it is open.
    pub(crate) version: Option<i64>,
}

impl Server {
    /// Brings the server up to date with the disk and opens `file` at it.
    ///
    /// Returns the document as the server has it now.
    pub(crate) async fn open(&self, file: &WorkspacePath, look: Look) -> Result<Document, Error> {
        let mut table = self.table.lock().await;
        let wire = self.wire();
        self.refresh(&mut table, &wire, look).await?;
        self.open_in(&mut table, file, &wire).await
    }

    async fn open_in(
        &self,
        table: &mut Table,
        file: &WorkspacePath,
        wire: &Wire<'_>,
    ) -> Result<Document, Error> {
        let language = self.plan.row.language(file.absolute()).unwrap_or_default();
        let opened = table.documents.open(file.absolute(), language, wire);
        self.open_documents
            .store(table.documents.len(), Ordering::Relaxed);
        match opened {
            Ok((document, closed)) => {
                closed.iter().for_each(|path| self.forget(path));
                let _ = self.opened.set(Instant::now());
                Ok(document)
            }
            Err(DocumentError::Request(error)) => {
                Err(self.failure("textDocument/didOpen", error).await)
            }
            Err(error) => Err(Error::of_document(file.relative(), &error)),
        }
    }

    /// Tells the server of files that were just written: that they changed, then
    /// the documents, then that these were saved. All are told before anything is
    /// asked.
    ///
    /// Returns for each file what the server has of it; one that is not there any
    /// more, or is no text, has an error.
    pub(crate) async fn wrote(
        &self,
        files: &[Written],
    ) -> Result<Vec<Result<Document, Error>>, Error> {
        let mut table = self.table.lock().await;
        let wire = self.wire();
        let known = files.iter().map(|written| {
            let path = written.file.absolute();
            let is_listed = table.tree.listing().stamp(path).is_some();
            written.was_there || is_listed || table.documents.get(path).is_some()
        });
        let known: Vec<bool> = known.collect();
        let mut changes = self.changes(&mut table, Look::WhenCheap).await;
        for (written, was_there) in files.iter().zip(known) {
            let path = written.file.absolute();
            let is_there = path.is_file();
            let change = match (was_there, is_there) {
                (true, true) => Change::Changed,
                (false, true) => Change::Created,
                (true, false) => Change::Deleted,
                (false, false) => continue,
            };
            if self.interest.is_source(path) {
                table.tree.note(path);
            }
            match changes.iter_mut().find(|(known, _)| known == path) {
                Some((_, known)) => *known = change,
                None => changes.push((path.to_owned(), change)),
            }
        }
        let misses_some =
            self.diagnostics() == Diagnostics::Tsserver && tsserver::misses_some(&changes);
        let known = files.iter().map(|written| {
            let document = table.documents.get(written.file.absolute());
            document.map(|document| document.version)
        });
        let known: Vec<Option<i64>> = known.collect();
        self.send(&mut table, &wire, changes).await?;
        let mut documents = Vec::new();
        for (written, version) in files.iter().zip(known) {
            let file = &written.file;
            let opened = self.open_in(&mut table, file, &wire).await;
            if let Ok(document) = &opened
                // One that changed was said to be saved with that.
                && version.is_none_or(|version| version == document.version)
                && let Err(error) = table.documents.saved(file.absolute(), &wire)
            {
                return Err(self.failure("textDocument/didSave", error).await);
            }
            documents.push(opened);
        }
        drop(table);
        if misses_some {
            tsserver::reload(self).await?;
        }
        Ok(documents)
    }

    /// Opens a file without a look at any other.
    pub(crate) async fn open_alone(&self, file: &WorkspacePath) -> Result<Document, Error> {
        let mut table = self.table.lock().await;
        let wire = self.wire();
        self.open_in(&mut table, file, &wire).await
    }

    /// Notes that a document was reported on as it was at `since`, with all that it
    /// includes.
    pub(crate) async fn settle(&self, file: &WorkspacePath, document: &Document, since: Instant) {
        let mut table = self.table.lock().await;
        let documents = &mut table.documents;
        documents.settle(file.absolute(), document.version, since);
    }

    /// Returns the files that are open, the last used first.
    pub(crate) async fn open_files(&self) -> Vec<PathBuf> {
        self.table.lock().await.documents.by_use()
    }

    /// Brings the server up to date with the disk.
    pub(crate) async fn catch_up(&self, look: Look) -> Result<(), Error> {
        let mut table = self.table.lock().await;
        let wire = self.wire();
        self.refresh(&mut table, &wire, look).await
    }

    /// Returns the project's files in the server's languages with their sizes,
    /// and whether these are all.
    pub(crate) async fn sources(&self) -> (Vec<(PathBuf, u64)>, bool) {
        let table = self.table.lock().await;
        let listing = table.tree.listing();
        let sources = listing.sources(&self.interest);
        let sources = sources.map(|(path, length)| (path.to_owned(), length));
        (sources.collect(), listing.is_complete())
    }

    /// Returns the text of a file as the server has it: as it was sent, else as
    /// it is on the disk.
    pub(crate) async fn text(&self, path: &Path) -> Option<Arc<LineIndex<String>>> {
        let table = self.table.lock().await;
        if let Some(document) = table.documents.get(path) {
            return Some(Arc::clone(&document.text));
        }
        drop(table);
        let metadata = std::fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES * 8 {
            return None;
        }
        let text = SourceText::parse(std::fs::read(path).ok()?).ok()?.text;
        Some(Arc::new(LineIndex::new(text)))
    }

    /// Returns whether `text` is what the server last heard of a file.
    pub(crate) async fn reading(&self, path: &Path, text: &str) -> Reading {
        let table = self.table.lock().await;
        if let Some(document) = table.documents.get(path) {
            return Reading {
                is_current: document.text.text() == text,
                version: Some(document.version),
            };
        }
        // A file that is not listed was not looked at, and is taken as it is.
        let heard = table.tree.listing().stamp(path);
        Reading {
            is_current: heard
                .is_none_or(|heard| Stamp::take(path).is_some_and(|now| now.looks_like(heard))),
            version: None,
        }
    }

    async fn refresh(&self, table: &mut Table, wire: &Wire<'_>, look: Look) -> Result<(), Error> {
        let changes = self.changes(table, look).await;
        let misses_some =
            self.diagnostics() == Diagnostics::Tsserver && tsserver::misses_some(&changes);
        self.send(table, wire, changes).await?;
        if misses_some {
            tsserver::reload(self).await?;
        }
        Ok(())
    }

    async fn send(
        &self,
        table: &mut Table,
        wire: &Wire<'_>,
        changes: Vec<(PathBuf, Change)>,
    ) -> Result<(), Error> {
        match table.documents.refresh(wire, changes) {
            Ok(closed) => {
                closed.iter().for_each(|path| self.forget(path));
                Ok(())
            }
            Err(error) => Err(self.failure("textDocument/didChange", error).await),
        }
    }

    async fn changes(&self, table: &mut Table, look: Look) -> Vec<(PathBuf, Change)> {
        if look == Look::WhenCheap && !table.tree.is_due() {
            return Vec::new();
        }
        let root = self.plan.root.absolute().to_owned();
        let interest = self.interest.clone();
        let start = Instant::now();
        let listing = tokio::task::spawn_blocking(move || Listing::read(&root, &interest)).await;
        match listing {
            Ok(listing) => table.tree.update(listing, start.elapsed()),
            Err(_) => Vec::new(),
        }
    }

    /// Forgets what was published of a document that was closed. What a check of
    /// the files on the disk found stays true.
    fn forget(&self, path: &Path) {
        if self.diagnostics() != Diagnostics::Flycheck {
            self.seen.forget(path);
        }
    }

    fn wire(&self) -> Wire<'_> {
        Wire {
            client: &self.client,
            sync: self.sync(),
            seen: &self.seen,
        }
    }

    fn sync(&self) -> Sync {
        self.capabilities.sync()
    }
}

/// Looks at the files before the server does.
pub(super) async fn sweep(root: PathBuf, interest: Interest) -> Tree {
    let start = Instant::now();
    let listing = tokio::task::spawn_blocking(move || Listing::read(&root, &interest)).await;
    Tree::new(listing.unwrap_or_default(), start.elapsed())
}
