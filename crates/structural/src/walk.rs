//! Lists the files to search.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use host::{Workspace, WorkspacePath};
use ignore::WalkBuilder;

use crate::languages::{self, Language};

/// A file to search.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// Relative to the workspace, with `/`.
    pub(crate) relative: String,
    pub(crate) language: &'static Language,
}

/// What a walk found.
#[derive(Default)]
pub(crate) struct Listing {
    pub(crate) files: Vec<Candidate>,
    /// Files seen that are of no known or of another language.
    pub(crate) other_files: usize,
    /// Places that could not be listed, with the reason.
    pub(crate) unreadable: Vec<(String, String)>,
}

/// Lists the files below a folder, or the one file named, in a fixed order.
///
/// Files that a `.gitignore` excludes and hidden ones are left out, and links
/// are not followed; a file that is named is taken in any case.
pub(crate) fn list(
    workspace: &Workspace,
    path: &WorkspacePath,
    language: Option<&'static Language>,
    mut is_stopped: impl FnMut() -> bool,
) -> Listing {
    let mut listing = Listing::default();
    let root = workspace.root();
    if path.absolute().is_file() {
        match language.or_else(|| recognise(path.absolute())) {
            Some(language) => listing.files.push(Candidate {
                path: path.absolute().to_owned(),
                relative: path.relative().to_owned(),
                language,
            }),
            None => listing.other_files += 1,
        }
        return listing;
    }
    let mut builder = WalkBuilder::new(path.absolute());
    builder
        .follow_links(false)
        .require_git(false)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    for entry in builder.build() {
        if is_stopped() {
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                listing.unreadable.push((String::new(), error.to_string()));
                continue;
            }
        };
        if !entry.file_type().is_some_and(|t| t.is_file()) {
            continue;
        }
        let known = match language {
            Some(language) if belongs(entry.path(), language) => Some(language),
            Some(_) => None,
            None => recognise(entry.path()),
        };
        let Some(known) = known else {
            listing.other_files += 1;
            continue;
        };
        let relative = entry
            .path()
            .strip_prefix(root)
            .unwrap_or(entry.path())
            .to_string_lossy()
            .replace(std::path::MAIN_SEPARATOR, "/");
        listing.files.push(Candidate {
            path: entry.into_path(),
            relative,
            language: known,
        });
    }
    listing
}

/// Whether a file is searched when `language` is asked for.
fn belongs(path: &Path, language: &'static Language) -> bool {
    match recognise(path) {
        Some(known) if known.id == language.id => true,
        // A header may be of either.
        Some(known) => known.id == "c" && language.id == "cpp" && is_header(path),
        None => false,
    }
}

/// Whether the file may be C or C++.
pub(crate) fn is_header(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "h")
}

/// Returns the language of a file by its name, or by its first line where the
/// name has no ending.
pub(crate) fn recognise(path: &Path) -> Option<&'static Language> {
    languages::by_path(path).or_else(|| {
        if path.extension().is_some() {
            return None;
        }
        let mut start = [0_u8; 128];
        let read = File::open(path).and_then(|mut f| f.read(&mut start)).ok()?;
        let start = start.get(..read)?;
        if !start.starts_with(b"#!") {
            return None;
        }
        let line = start.split(|b| *b == b'\n').next()?;
        languages::by_shebang(std::str::from_utf8(line).ok()?)
    })
}
