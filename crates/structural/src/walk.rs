//! Lists the files to search.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use host::{Workspace, WorkspacePath};
use ignore::WalkBuilder;
use rustix::fs::{Mode, OFlags};

use crate::languages::{Language, Languages};

/// Files whose rules hold for a folder.
const RULE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The largest file of rules that is read, in bytes.
const MAX_RULE_BYTES: u64 = 1024 * 1024;

/// A file to search.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// Relative to the workspace, with `/`.
    pub(crate) relative: String,
    pub(crate) language: &'static Language,
}

/// Which files a walk is for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The languages there are grammars for.
    pub(crate) offered: &'a Languages,
    /// The only one wanted, where it was said.
    pub(crate) language: Option<&'static Language>,
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
    wanted: Wanted<'_>,
    mut is_stopped: impl FnMut() -> bool,
) -> Listing {
    let Wanted { offered, language } = wanted;
    let mut listing = Listing::default();
    let root = workspace.root();
    if path.absolute().is_file() {
        match language.or_else(|| recognise(offered, path.absolute())) {
            Some(language) => listing.files.push(Candidate {
                path: path.absolute().to_owned(),
                relative: path.relative().to_owned(),
                language,
            }),
            None => listing.other_files += 1,
        }
        return listing;
    }
    if let Some(rules) = unfit_rules(path.absolute()) {
        listing
            .unreadable
            .push((path.relative().to_owned(), format!(": {rules}")));
        return listing;
    }
    let has_unfit_parent = path
        .absolute()
        .ancestors()
        .skip(1)
        .any(|parent| unfit_rules(parent).is_some());
    let unfit: Arc<Mutex<Vec<(PathBuf, String)>>> = Arc::default();
    let found = Arc::clone(&unfit);
    let mut builder = WalkBuilder::new(path.absolute());
    builder
        .follow_links(false)
        .require_git(false)
        .git_exclude(false)
        .parents(!has_unfit_parent)
        .sort_by_file_name(std::ffi::OsStr::cmp)
        // Asked before the rules of a folder are read.
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|t| t.is_dir());
            if is_folder && let Some(rules) = unfit_rules(entry.path()) {
                found
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((entry.path().to_owned(), rules));
                return false;
            }
            entry.depth() == 0 || entry.file_name() != ".git"
        });
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
            Some(language) if belongs(offered, entry.path(), language) => Some(language),
            Some(_) => None,
            None => recognise(offered, entry.path()),
        };
        let Some(known) = known else {
            listing.other_files += 1;
            continue;
        };
        let relative = relative(root, entry.path());
        listing.files.push(Candidate {
            path: entry.into_path(),
            relative,
            language: known,
        });
    }
    for (folder, rules) in unfit
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
    {
        listing
            .unreadable
            .push((relative(root, &folder), format!(": {rules}")));
    }
    listing
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .replace(std::path::MAIN_SEPARATOR, "/")
}

/// Says why the rules of a folder must not be read: opening a pipe waits for
/// ever, and a device has no end.
fn unfit_rules(folder: &Path) -> Option<String> {
    RULE_FILES.into_iter().find_map(|name| {
        let metadata = std::fs::metadata(folder.join(name)).ok()?;
        if metadata.is_dir() {
            None
        } else if !metadata.is_file() {
            Some(format!("its `{name}` is no regular file"))
        } else if metadata.len() > MAX_RULE_BYTES {
            Some(format!("its `{name}` is over {MAX_RULE_BYTES} bytes"))
        } else {
            None
        }
    })
}

/// Opens a regular file.
///
/// What was one when it was listed may have become a link or a pipe since.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("no regular file any more"))
    }
}

/// Whether a file is searched when `language` is asked for.
fn belongs(offered: &Languages, path: &Path, language: &'static Language) -> bool {
    match recognise(offered, path) {
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
pub(crate) fn recognise(offered: &Languages, path: &Path) -> Option<&'static Language> {
    offered.by_path(path).or_else(|| {
        if path.extension().is_some() {
            return None;
        }
        let mut start = [0_u8; 128];
        let read = open(path).and_then(|mut f| f.read(&mut start)).ok()?;
        let start = start.get(..read)?;
        if !start.starts_with(b"#!") {
            return None;
        }
        let line = start.split(|b| *b == b'\n').next()?;
        offered.by_shebang(std::str::from_utf8(line).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use host::Trust;

    use super::*;
    use crate::languages::compiled;

    fn everything(offered: &Languages) -> Wanted<'_> {
        Wanted {
            offered,
            language: None,
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes what it needs")]
    fn pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }

    #[test]
    fn rules_that_are_a_pipe_are_reported_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let sub = folder.path().join("sub");
        std::fs::create_dir(&sub).unwrap();
        std::fs::write(folder.path().join("a.rs"), "").unwrap();
        std::fs::write(sub.join("b.rs"), "").unwrap();
        pipe(&sub.join(".gitignore"));
        let workspace = Workspace::open(folder.path(), Trust::Untrusted).unwrap();
        let listing = list(
            &workspace,
            &workspace.root_path(),
            everything(&compiled()),
            || false,
        );
        let names: Vec<_> = listing.files.iter().map(|f| f.relative.as_str()).collect();
        assert_eq!(names, ["a.rs"]);
        assert_eq!(
            listing.unreadable,
            [(
                "sub".to_owned(),
                ": its `.gitignore` is no regular file".to_owned()
            )]
        );
    }

    #[test]
    fn a_file_that_became_a_link_or_a_pipe_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (link, fifo) = (folder.path().join("link"), folder.path().join("fifo"));
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        pipe(&fifo);
        assert!(open(&link).is_err());
        assert!(open(&fifo).is_err());
    }

    #[test]
    fn a_name_that_is_not_utf8_has_a_language() {
        let name = OsStr::from_bytes(b"bad\xff.rs");
        assert_eq!(
            recognise(&compiled(), Path::new(name)).map(|l| l.id),
            Some("rust")
        );
    }
}
