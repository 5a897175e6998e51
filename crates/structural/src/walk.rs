//! Lists the files to search.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use host::{Workspace, WorkspacePath};
use rustix::fs::{Mode, OFlags};

use crate::languages::{Language, Languages};
use crate::rules::{Rules, Unfit, Verdict};

/// A file to search.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// Relative to the workspace, with `/`.
    pub(crate) relative: String,
    pub(crate) language: &'static Language,
}

impl Candidate {
    /// Returns the ids of the languages it may be of, the likelier first.
    pub(crate) fn languages(&self) -> Vec<&'static str> {
        let id = self.language.id;
        if id == "c" && is_header(&self.path) {
            vec![id, "cpp"]
        } else {
            vec![id]
        }
    }
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
    /// Files and folders left out, by the file of rules that did it, relative
    /// to the workspace.
    pub(crate) ignored: BTreeMap<String, usize>,
    /// Places that could not be listed or not be listed by the rules: a sentence each.
    pub(crate) troubles: Vec<String>,
}

/// Lists the files below a folder, or the one file named, in a fixed order.
///
/// Files that [`Rules`] leave out are left out, and hidden ones that no rule
/// keeps; links are not followed. A file that is named is taken in any case.
pub(crate) fn list(
    workspace: &Workspace,
    path: &WorkspacePath,
    wanted: Wanted<'_>,
    is_stopped: impl Fn() -> bool,
) -> Listing {
    let mut listing = Listing::default();
    if path.absolute().is_file() {
        match wanted
            .language
            .or_else(|| recognise(wanted.offered, path.absolute()))
        {
            Some(language) => listing.files.push(Candidate {
                path: path.absolute().to_owned(),
                relative: path.relative().to_owned(),
                language,
            }),
            None => listing.other_files += 1,
        }
        return listing;
    }
    let (rules, unfit) = Rules::above(path.absolute(), workspace.root());
    let mut walk = Walk {
        root: workspace.root(),
        wanted,
        listing,
        waiting: Vec::new(),
    };
    for unfit in unfit {
        let said = walk.said(&unfit);
        let trouble = format!("{said}, so that its rules are not obeyed");
        walk.listing.troubles.push(trouble);
    }
    walk.enter(path.absolute(), &rules);
    while let Some(next) = walk.waiting.pop() {
        if is_stopped() {
            break;
        }
        walk.visit(next);
    }
    walk.listing
}

/// A walk on its way.
struct Walk<'a> {
    root: &'a Path,
    wanted: Wanted<'a>,
    listing: Listing,
    /// What is still to be looked at, the next one last.
    waiting: Vec<Waiting>,
}

/// A file or folder to look at.
struct Waiting {
    path: PathBuf,
    kind: FileType,
    /// Those of the folder it is in.
    rules: Rules,
}

impl Walk<'_> {
    fn visit(&mut self, next: Waiting) {
        let Waiting { path, kind, rules } = next;
        if !kind.is_dir() && !kind.is_file() {
            return;
        }
        match rules.verdict(&path, kind.is_dir()) {
            Verdict::LeftOut(file) => {
                let file = relative(self.root, file);
                *self.listing.ignored.entry(file).or_default() += 1;
            }
            Verdict::None if is_hidden(&path) => {}
            Verdict::None | Verdict::Kept if kind.is_dir() => self.enter(&path, &rules),
            Verdict::None | Verdict::Kept => self.take(path),
        }
    }

    /// Lists a folder whose parent has the rules `above`.
    fn enter(&mut self, folder: &Path, above: &Rules) {
        let rules = match above.enter(folder) {
            Ok(rules) => rules,
            Err(unfit) => {
                let (said, place) = (self.said(&unfit), relative(self.root, folder));
                let trouble = format!("`{place}` was not searched: {said}");
                self.listing.troubles.push(trouble);
                return;
            }
        };
        let mut entries: Vec<(OsString, FileType)> = Vec::new();
        let mut failed = None;
        match std::fs::read_dir(folder) {
            Ok(read) => {
                for entry in read {
                    match entry.and_then(|e| Ok((e.file_name(), e.file_type()?))) {
                        Ok((name, _)) if name == ".git" => {}
                        Ok(entry) => entries.push(entry),
                        Err(error) => failed = Some(error),
                    }
                }
            }
            Err(error) => failed = Some(error),
        }
        if let Some(error) = failed {
            let place = relative(self.root, folder);
            let trouble = format!("`{place}` could not be listed: {error}");
            self.listing.troubles.push(trouble);
        }
        entries.sort_unstable_by(|a, b| b.0.cmp(&a.0));
        self.waiting
            .extend(entries.into_iter().map(|(name, kind)| Waiting {
                path: folder.join(name),
                kind,
                rules: rules.clone(),
            }));
    }

    /// Takes a file that the rules let through, if its language is wanted.
    fn take(&mut self, path: PathBuf) {
        let Wanted { offered, language } = self.wanted;
        let known = match language {
            Some(language) => Some(language).filter(|l| belongs(offered, &path, l)),
            None => recognise(offered, &path),
        };
        match known {
            Some(language) => self.listing.files.push(Candidate {
                relative: relative(self.root, &path),
                path,
                language,
            }),
            None => self.listing.other_files += 1,
        }
    }

    fn said(&self, unfit: &Unfit) -> String {
        format!("`{}` {}", relative(self.root, &unfit.path), unfit.why)
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns a path as it is shown: from the workspace, with `/`; one above it
/// begins with `..`.
fn relative(root: &Path, path: &Path) -> String {
    let shown = match path.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => ".".into(),
        Ok(below) => below.to_string_lossy(),
        Err(_) => {
            let up = root
                .ancestors()
                .position(|above| path.starts_with(above))
                .unwrap_or_default();
            let above = root.ancestors().nth(up).unwrap_or(root);
            let below = path.strip_prefix(above).unwrap_or(path);
            Path::new(&"../".repeat(up))
                .join(below)
                .to_string_lossy()
                .into_owned()
                .into()
        }
    };
    shown.replace(std::path::MAIN_SEPARATOR, "/")
}

/// Opens a regular file, and returns its size in bytes too.
///
/// What was one when it was listed may have become a link or a pipe since.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata.len()))
    } else {
        Err(io::Error::other("no regular file any more"))
    }
}

/// Whether a file is searched when `language` is asked for.
pub(crate) fn belongs(offered: &Languages, path: &Path, language: &Language) -> bool {
    match recognise(offered, path) {
        Some(known) if known.id == language.id => true,
        // A header may be of either.
        Some(known) => known.id == "c" && language.id == "cpp" && is_header(path),
        None => false,
    }
}

/// Whether the file may be C or C++.
fn is_header(path: &Path) -> bool {
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
        let read = open(path).and_then(|(mut f, _)| f.read(&mut start)).ok()?;
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
            listing.troubles,
            ["`sub` was not searched: `sub/.gitignore` is no regular file"]
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
