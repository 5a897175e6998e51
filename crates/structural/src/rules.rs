//! The rules that say which files of a workspace are left out of a walk.
//!
//! They stand in files called `.gitignore` and `.ignore`, and hold for the
//! folder of the file and all below it. As with git, those above the workspace
//! count up to the top of the repository that the workspace is in; where it is
//! in none, they count from the workspace down. So what a search finds does
//! not depend on files that nobody who looks at the code has before them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags};

/// The largest file of rules that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The rules that hold in one folder: its own, and those of the folders above.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    own: Option<Arc<Own>>,
}

struct Own {
    /// Of `.ignore`, whose rules go before all of `.gitignore`.
    ignore: Option<RuleFile>,
    gitignore: Option<RuleFile>,
    above: Rules,
}

struct RuleFile {
    path: PathBuf,
    rules: Gitignore,
}

/// What rules say of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict<'a> {
    /// Nothing.
    None,
    /// It is left out, by this file of rules.
    LeftOut(&'a Path),
    /// It is not left out: a rule that begins with `!` names it.
    Kept,
}

/// A file of rules that cannot be read; the rules in it are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) path: PathBuf,
    pub(crate) why: String,
}

impl Rules {
    /// Returns the rules for `folder`, where those of the folder above are `self`.
    pub(crate) fn enter(&self, folder: &Path) -> Result<Self, Unfit> {
        let ignore = RuleFile::read(folder, ".ignore")?;
        let gitignore = RuleFile::read(folder, ".gitignore")?;
        if ignore.is_none() && gitignore.is_none() {
            return Ok(self.clone());
        }
        Ok(Self {
            own: Some(Arc::new(Own {
                ignore,
                gitignore,
                above: self.clone(),
            })),
        })
    }

    /// Returns the rules that hold in the folder above `path`, and what of them
    /// could not be read.
    pub(crate) fn above(path: &Path, workspace: &Path) -> (Self, Vec<Unfit>) {
        let top = top(workspace);
        let mut folders: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(top))
            .collect();
        folders.reverse();
        let mut rules = Self::default();
        let mut unfit = Vec::new();
        for folder in folders {
            match rules.enter(folder) {
                Ok(entered) => rules = entered,
                Err(error) => unfit.push(error),
            }
        }
        (rules, unfit)
    }

    /// Says what the rules have to say of `path`, whose folder they are of.
    pub(crate) fn verdict(&self, path: &Path, is_folder: bool) -> Verdict<'_> {
        let mut by_git = Verdict::None;
        let mut at = self.own.as_deref();
        while let Some(own) = at {
            match RuleFile::asked(own.ignore.as_ref(), path, is_folder) {
                Verdict::None => {}
                verdict => return verdict,
            }
            if by_git == Verdict::None {
                by_git = RuleFile::asked(own.gitignore.as_ref(), path, is_folder);
            }
            at = own.above.own.as_deref();
        }
        by_git
    }
}

/// Returns the top folder of the repository around the workspace, or else the
/// workspace.
fn top(workspace: &Path) -> &Path {
    workspace
        .ancestors()
        .find(|folder| folder.join(".git").symlink_metadata().is_ok())
        .unwrap_or(workspace)
}

impl RuleFile {
    /// Reads the rules of a folder; `None` where it has no such file.
    fn read(folder: &Path, name: &str) -> Result<Option<Self>, Unfit> {
        let path = folder.join(name);
        let text = match text(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(None),
            Err(why) => return Err(Unfit { path, why }),
        };
        let mut builder = GitignoreBuilder::new(folder);
        let text = String::from_utf8_lossy(&text);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A rule that is none leaves nothing out, as in git.
            let _ = builder.add_line(None, line);
        }
        Ok(builder
            .build()
            .ok()
            .filter(|rules| !rules.is_empty())
            .map(|rules| Self { path, rules }))
    }

    fn asked<'f>(file: Option<&'f Self>, path: &Path, is_folder: bool) -> Verdict<'f> {
        let Some(file) = file else {
            return Verdict::None;
        };
        match file.rules.matched(path, is_folder) {
            ignore::Match::None => Verdict::None,
            ignore::Match::Ignore(_) => Verdict::LeftOut(&file.path),
            ignore::Match::Whitelist(_) => Verdict::Kept,
        }
    }
}

/// Reads a file of rules: opening a pipe would wait for ever, and a device has
/// no end.
fn text(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from) {
        Ok(file) => std::fs::File::from(file),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let unreadable = |error: io::Error| format!("cannot be read: {error}");
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Ok(None);
    }
    if !metadata.is_file() {
        return Err("is no regular file".to_owned());
    }
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut text)
        .map_err(unreadable)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("is over {MAX_BYTES} bytes"));
    }
    Ok(Some(text))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    /// Returns the file that leaves `path` of the workspace `ws` out.
    fn excluder(folder: &Path, path: &str) -> Option<String> {
        let workspace = folder.join("ws");
        let path = workspace.join(path);
        let (rules, unfit) = Rules::above(&path, &workspace);
        assert_eq!(unfit, []);
        match rules.verdict(&path, false) {
            Verdict::LeftOut(file) => {
                Some(file.strip_prefix(folder).unwrap().display().to_string())
            }
            Verdict::None | Verdict::Kept => None,
        }
    }

    #[test]
    fn rules_above_the_workspace_count_within_its_repository_only() {
        let files = [(".gitignore", "*.rs\n"), ("repo/.gitignore", "*.py\n")];
        let outside = folder(&files);
        std::fs::create_dir_all(outside.path().join("repo/ws")).unwrap();
        let repo = outside.path().join("repo");
        assert_eq!(excluder(&repo, "a.rs"), None);
        assert_eq!(excluder(&repo, "a.py"), None);
        std::fs::create_dir(repo.join(".git")).unwrap();
        assert_eq!(excluder(&repo, "a.rs"), None);
        assert_eq!(excluder(&repo, "a.py").as_deref(), Some(".gitignore"));
    }

    #[test]
    fn the_nearest_rule_decides_and_ignore_goes_before_gitignore() {
        let folder = folder(&[
            ("ws/.gitignore", "*.a\n*.b\n!/keep.b\n*.c\n"),
            ("ws/sub/.gitignore", "!*.a\n*.d\n"),
            ("ws/.ignore", "!*.d\n*.e\n"),
            ("ws/sub/.ignore", "!x.c\n"),
        ]);
        let by = |path| excluder(folder.path(), path);
        assert_eq!(by("x.a").as_deref(), Some("ws/.gitignore"));
        assert_eq!(by("sub/x.a"), None);
        assert_eq!(by("keep.b"), None);
        assert_eq!(by("sub/keep.b").as_deref(), Some("ws/.gitignore"));
        assert_eq!(by("sub/x.c"), None);
        assert_eq!(by("sub/y.c").as_deref(), Some("ws/.gitignore"));
        assert_eq!(by("sub/x.d"), None);
        assert_eq!(by("sub/x.e").as_deref(), Some("ws/.ignore"));
    }

    #[test]
    fn a_line_that_is_no_rule_spoils_no_other() {
        let folder = folder(&[("ws/.gitignore", "\u{feff}*.a\r\n[\n*.b\n# *.c\n")]);
        let by = |path| excluder(folder.path(), path).is_some();
        assert_eq!(["x.a", "x.b", "x.c"].map(by), [true, true, false]);
    }
}
