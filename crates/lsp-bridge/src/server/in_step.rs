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
        let language = self.plan.row.language(file.absolute()).unwrap_or_default();
        let mut table = self.table.lock().await;
        let wire = self.wire();
        self.refresh(&mut table, &wire, look).await?;
        let opened = table.documents.open(file.absolute(), language, &wire);
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
        match table.documents.refresh(wire, changes) {
            Ok(closed) => closed.iter().for_each(|path| self.forget(path)),
            Err(error) => return Err(self.failure("textDocument/didChange", error).await),
        }
        if misses_some {
            tsserver::reload(self).await?;
        }
        Ok(())
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
            publishes: self.seen.publishes(),
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
