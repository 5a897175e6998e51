//! The files of a project that a server cares for, and what became of them.
//!
//! Shells and version control change files behind our back. Before a request
//! the tree is swept, and the server hears what was created, changed or deleted
//! since. Files that the repository ignores are not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ignore::WalkBuilder;
use memchr::memmem::Finder;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::languages::LanguageFiles;
use crate::stamp::Stamp;

/// Files that are listed at most; what lies beyond is not watched.
const MAX_FILES: usize = 50_000;
/// A sweep may take one part in so many of the time between two.
const SHARE: u32 = 20;
/// The largest file that is searched for a word, in bytes.
const MAX_SEARCHED: u64 = 2 * 1024 * 1024;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Created,
    Changed,
    Deleted,
}

impl Change {
    /// Returns its number in the protocol.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Created => 1,
            Self::Changed => 2,
            Self::Deleted => 3,
        }
    }
}

/// Which files a server cares for.
#[derive(Debug, Clone)]
pub(crate) struct Interest {
    pub(crate) languages: Vec<LanguageFiles>,
    /// Names of files that configure it.
    pub(crate) names: Vec<String>,
}

/// The files at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listing {
    files: BTreeMap<PathBuf, Stamp>,
    is_complete: bool,
}

/// The files as they were when the server last heard of them.
#[derive(Debug)]
pub(crate) struct Tree {
    listing: Listing,
    /// Files that the server was told of before a sweep found them.
    told: BTreeSet<PathBuf>,
    swept: Instant,
    cost: Duration,
}

impl Interest {
    fn holds(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| self.names.iter().any(|own| own == name)) || self.is_source(path)
    }

    /// Returns whether a file is in one of the server's languages.
    pub(crate) fn is_source(&self, path: &Path) -> bool {
        self.languages.iter().any(|files| files.holds(path))
    }
}

impl Listing {
    /// Walks below `root`.
    pub(crate) fn read(root: &Path, interest: &Interest) -> Self {
        let now = SystemTime::now();
        let mut listing = Self {
            files: BTreeMap::new(),
            is_complete: true,
        };
        let mut walk = WalkBuilder::new(root);
        walk.git_global(false).require_git(false);
        for entry in walk.build().filter_map(Result::ok) {
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if !is_file || !interest.holds(entry.path()) {
                continue;
            }
            if listing.files.len() >= MAX_FILES {
                listing.is_complete = false;
                break;
            }
            if let Ok(metadata) = entry.metadata() {
                let stamp = Stamp::of(&metadata, now);
                listing.files.insert(entry.into_path(), stamp);
            }
        }
        listing
    }

    /// Returns the files in one of the languages of `interest`, by path.
    pub(crate) fn sources<'a>(
        &'a self,
        interest: &'a Interest,
    ) -> impl Iterator<Item = (&'a Path, u64)> {
        let files = self.files.iter();
        files
            .filter(|(path, _)| interest.is_source(path))
            .map(|(path, stamp)| (path.as_path(), stamp.length()))
    }

    /// Returns what was seen of a file.
    pub(crate) fn stamp(&self, path: &Path) -> Option<&Stamp> {
        self.files.get(path)
    }

    /// Returns whether these are all files there are.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }
}

impl Tree {
    /// Starts from what is there.
    pub(crate) fn new(listing: Listing, cost: Duration) -> Self {
        Self {
            listing,
            told: BTreeSet::new(),
            swept: Instant::now(),
            cost,
        }
    }

    /// Returns whether a sweep costs little beside the time since the last one.
    pub(crate) fn is_due(&self) -> bool {
        self.swept.elapsed() >= self.cost * SHARE
    }

    /// Returns the files.
    pub(crate) fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Notes that the server was told of a file as it is now, so that the next
    /// sweep does not find it anew.
    pub(crate) fn note(&mut self, path: &Path) {
        match (Stamp::take(path), self.listing.files.get_mut(path)) {
            (Some(stamp), Some(known)) => *known = stamp,
            // Whether it is one that is listed a sweep has to say.
            (Some(_), None) => drop(self.told.insert(path.to_owned())),
            (None, _) => drop(self.listing.files.remove(path)),
        }
    }

    /// Takes over what a sweep found; returns what is different.
    pub(crate) fn update(&mut self, now: Listing, cost: Duration) -> Vec<(PathBuf, Change)> {
        let mut changes = Vec::new();
        for (path, stamp) in &now.files {
            match self.listing.files.get(path) {
                None if self.told.contains(path) => {}
                None => changes.push((path.clone(), Change::Created)),
                Some(before) if stamp.is_unchanged_since(before) => {}
                Some(_) => changes.push((path.clone(), Change::Changed)),
            }
        }
        if now.is_complete {
            let gone = self.listing.files.keys();
            let gone = gone.filter(|path| !now.files.contains_key(*path));
            changes.extend(gone.map(|path| (path.clone(), Change::Deleted)));
        }
        *self = Self::new(now, cost);
        changes
    }
}

/// The files that hold a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WordFiles {
    pub(crate) files: Vec<PathBuf>,
    /// Whether every file was searched.
    pub(crate) is_complete: bool,
}

/// Finds the files in which `word` stands as a whole word, until `deadline`.
pub(crate) fn files_with_word(
    files: &[(PathBuf, u64)],
    word: &str,
    deadline: std::time::Instant,
    stop: &CancellationToken,
) -> WordFiles {
    let finder = Finder::new(word);
    let mut found = WordFiles {
        files: Vec::new(),
        is_complete: true,
    };
    for (path, length) in files {
        if stop.is_cancelled() || std::time::Instant::now() >= deadline {
            found.is_complete = false;
            return found;
        }
        if *length > MAX_SEARCHED {
            found.is_complete = false;
            continue;
        }
        match std::fs::read(path) {
            Ok(bytes) if has_word(&bytes, &finder) => found.files.push(path.clone()),
            Ok(_) => {}
            // Deleted since it was listed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => found.is_complete = false,
        }
    }
    found
}

fn has_word(bytes: &[u8], finder: &Finder<'_>) -> bool {
    words_in(bytes, finder).next().is_some()
}

/// Returns where `finder` finds a whole word.
fn words_in<'a>(bytes: &'a [u8], finder: &'a Finder<'_>) -> impl Iterator<Item = usize> + 'a {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii())
    };
    finder.find_iter(bytes).filter(move |at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_part(before) && !is_part(bytes.get(at + finder.needle().len()))
    })
}

/// Returns the lines, from 1, on which `word` stands in a file, once for each
/// time that it does; nothing where the file cannot be read.
pub(crate) fn lines_with_word(path: &Path, word: &str) -> Vec<usize> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let finder = Finder::new(word);
    let (mut line, mut counted) = (1, 0);
    let lines = words_in(&bytes, &finder).map(|at| {
        let passed = bytes.get(counted..at).unwrap_or_default();
        line += passed.iter().filter(|byte| **byte == b'\n').count();
        counted = at;
        line
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interest() -> Interest {
        Interest {
            languages: vec![LanguageFiles {
                language: "python".to_owned(),
                extensions: vec!["py".to_owned()],
                names: Vec::new(),
            }],
            names: vec!["pyproject.toml".to_owned()],
        }
    }

    fn name(path: &Path) -> &str {
        path.file_name().unwrap().to_str().unwrap()
    }

    #[test]
    fn a_file_that_the_server_was_told_of_is_not_found_anew() {
        let folder = tempfile::tempdir().unwrap();
        let [listed, ignored] = ["a.x", "b.y"].map(|name| folder.path().join(name));
        let interest = Interest {
            languages: Vec::new(),
            names: vec!["a.x".to_owned(), "b.y".to_owned()],
        };
        std::fs::write(folder.path().join(".ignore"), "b.y").unwrap();
        let read = || Listing::read(folder.path(), &interest);
        let mut tree = Tree::new(read(), Duration::ZERO);
        for path in [&listed, &ignored] {
            std::fs::write(path, "1").unwrap();
            tree.note(path);
        }
        assert_eq!(tree.update(read(), Duration::ZERO), []);
        std::fs::remove_file(&listed).unwrap();
        std::fs::remove_file(&ignored).unwrap();
        tree.note(&listed);
        assert_eq!(tree.update(read(), Duration::ZERO), []);
    }

    #[test]
    fn pitfall_13_a_sweep_sees_what_was_created_changed_and_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::write(root.join("gone.py"), "").unwrap();
        std::fs::write(root.join("kept.py"), "a").unwrap();
        std::fs::write(root.join("notes.txt"), "").unwrap();
        let listing = Listing::read(root, &interest());
        let mut tree = Tree::new(listing, Duration::ZERO);

        std::fs::remove_file(root.join("gone.py")).unwrap();
        std::fs::write(root.join("kept.py"), "ab").unwrap();
        std::fs::write(root.join("pyproject.toml"), "").unwrap();
        std::fs::write(root.join("other.txt"), "").unwrap();
        let listing = Listing::read(root, &interest());
        let changes = tree.update(listing, Duration::ZERO);
        let mut changes: Vec<_> = changes.iter().map(|(p, c)| (name(p), *c)).collect();
        changes.sort_by_key(|(name, _)| *name);
        assert_eq!(
            changes,
            [
                ("gone.py", Change::Deleted),
                ("kept.py", Change::Changed),
                ("pyproject.toml", Change::Created),
            ]
        );
        let interest = interest();
        let sources: Vec<_> = tree.listing().sources(&interest).collect();
        assert_eq!(sources.len(), 1);
    }

    #[test]
    fn words_are_whole() {
        let has = |text: &str| has_word(text.as_bytes(), &Finder::new("core"));
        assert!(has("core") && has("x.core(1)") && has("scored core"));
        assert!(!has("score") && !has("core_") && !has("cores") && !has("écore"));
    }

    #[test]
    fn lines_are_told_for_each_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "core\n\nx core, core\nscore").unwrap();
        assert_eq!(lines_with_word(&path, "core"), [1, 3, 3]);
        assert!(lines_with_word(&folder.path().join("none"), "core").is_empty());
    }
}
