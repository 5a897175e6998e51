//! The search for a word in the files of a server's languages: what holds the
//! word and is not in an answer may be missing from it.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;

use super::ask::Ask;
use crate::server::InUse;
use crate::tree::{WordFiles, files_with_word};

/// How long the search may take.
const SEARCH: Duration = Duration::from_secs(2);

/// A search that goes on beside other things; stops when it is dropped.
pub(super) struct Words {
    search: Option<JoinHandle<WordFiles>>,
    found: WordFiles,
    _stop: DropGuard,
}

impl Words {
    /// Starts to search the files that the server last heard of.
    pub(super) async fn start(word: &str, server: &InUse, ask: &Ask<'_>) -> Self {
        let (files, is_complete) = server.sources().await;
        let word = word.to_owned();
        let stop = ask.context.token().child_token();
        let guard = stop.clone().drop_guard();
        let deadline = std::time::Instant::now() + SEARCH;
        let search = tokio::task::spawn_blocking(move || {
            let mut found = files_with_word(&files, &word, deadline, &stop);
            found.is_complete &= is_complete;
            found
        });
        Self {
            search: Some(search),
            found: WordFiles::default(),
            _stop: guard,
        }
    }

    /// Waits until it is done.
    pub(super) async fn found(&mut self) -> &WordFiles {
        if let Some(search) = self.search.take() {
            self.found = search.await.unwrap_or_default();
        }
        &self.found
    }
}
