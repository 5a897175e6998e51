//! The unified diff form, as `diff -u` and `git diff` write it.
//!
//! The counts of a hunk header only guide the reading: people and models get
//! them wrong, and the lines themselves are compared with the file anyway.

use super::{FileChange, FinalNewline, Hunk, HunkLine, ParseError, line_numbers, quoted};

/// Reads all files of a diff.
pub(super) fn parse(lines: &[&str]) -> Result<Vec<FileChange>, ParseError> {
    let mut reader = Reader { lines, at: 0 };
    let mut changes = Vec::new();
    while let Some(line) = reader.peek() {
        if line.starts_with("diff --git ") {
            changes.extend(reader.git_file()?);
        } else if reader.is_file_header(reader.at) {
            changes.push(reader.file(Git::default())?);
        } else if line.starts_with("@@") {
            return Err(ParseError::new(
                reader.at,
                "a hunk stands before any file header",
                "put `--- a/path` and `+++ b/path` before it",
            ));
        } else {
            reader.at += 1;
        }
    }
    Ok(changes)
}

/// What the extended header lines of git say.
#[derive(Default)]
struct Git {
    rename_from: Option<String>,
    rename_to: Option<String>,
    is_new: bool,
    is_deleted: bool,
    path: Option<String>,
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn is_file_header(&self, at: usize) -> bool {
        self.lines
            .get(at)
            .is_some_and(|line| line.starts_with("--- "))
            && self
                .lines
                .get(at + 1)
                .is_some_and(|line| line.starts_with("+++ "))
    }

    fn git_file(&mut self) -> Result<Option<FileChange>, ParseError> {
        let start = self.at;
        let mut git = Git {
            path: git_path(self.peek().unwrap_or_default()),
            ..Git::default()
        };
        self.at += 1;
        while let Some(line) = self.peek() {
            self.refuse_special(line)?;
            if self.is_file_header(self.at) {
                return self.file(git).map(Some);
            }
            if let Some(path) = line.strip_prefix("rename from ") {
                git.rename_from = Some(self.unquoted(path)?);
            } else if let Some(path) = line.strip_prefix("rename to ") {
                git.rename_to = Some(self.unquoted(path)?);
            } else if line.starts_with("new file mode ") {
                git.is_new = true;
            } else if line.starts_with("deleted file mode ") {
                git.is_deleted = true;
            } else if line.starts_with("copy from ")
                || line.starts_with("GIT binary patch")
                || line.starts_with("Binary files ")
            {
                return Err(ParseError::new(
                    self.at,
                    "copies and binary changes cannot be applied",
                    "leave this file out of the patch",
                ));
            } else if line.starts_with("diff --git ") {
                break;
            }
            self.at += 1;
        }
        match (git.rename_from, git.rename_to, git.path) {
            (Some(path), Some(to), _) => Ok(Some(FileChange::Update {
                path,
                move_to: Some(to),
                hunks: Vec::new(),
            })),
            (_, _, Some(path)) if git.is_new => Ok(Some(FileChange::Add {
                path,
                text: String::new(),
            })),
            (_, _, Some(path)) if git.is_deleted => Ok(Some(FileChange::Delete {
                path,
                hunks: Vec::new(),
            })),
            _ => Err(ParseError::new(
                start,
                "this file section changes no text (a mode change, perhaps)",
                "leave it out of the patch",
            )),
        }
    }

    fn file(&mut self, git: Git) -> Result<FileChange, ParseError> {
        let start = self.at;
        let old = self.header_path("--- ")?;
        self.at += 1;
        let new = self.header_path("+++ ")?;
        self.at += 1;
        let (old, new) = strip_prefixes(old, new, git.path.as_deref());
        let mut hunks = Vec::new();
        while self.peek().is_some_and(|line| line.starts_with("@@")) {
            hunks.push(self.hunk()?);
        }
        match (old, new) {
            (None, None) => Err(ParseError::new(
                start,
                "both sides are `/dev/null`",
                "name the file on one side at least",
            )),
            (None, Some(path)) => Ok(FileChange::Add {
                path,
                text: added_text(&hunks, start)?,
            }),
            (Some(path), None) => Ok(FileChange::Delete { path, hunks }),
            (Some(old), Some(new)) => {
                if hunks.is_empty() {
                    return Err(ParseError::new(
                        self.at,
                        format!("no hunk follows the header of `{new}`"),
                        "a hunk starts with `@@ -line,count +line,count @@`",
                    ));
                }
                let path = git.rename_from.unwrap_or(old);
                let target = git.rename_to.unwrap_or(new);
                let move_to = (target != path).then_some(target);
                Ok(FileChange::Update {
                    path,
                    move_to,
                    hunks,
                })
            }
        }
    }

    /// Refuses what is neither a file with text nor said as one: its "text"
    /// would be written to a regular file, or to what a link leads to.
    fn refuse_special(&self, line: &str) -> Result<(), ParseError> {
        let mode = [
            "new file mode ",
            "deleted file mode ",
            "old mode ",
            "new mode ",
        ]
        .iter()
        .find_map(|prefix| line.strip_prefix(prefix))
        .or_else(|| {
            line.strip_prefix("index ")?
                .split_once(' ')
                .map(|(_, mode)| mode)
        });
        let what = match mode.map(str::trim) {
            Some("120000") => "a symbolic link",
            Some("160000") => "a submodule",
            Some(_) | None => return Ok(()),
        };
        Err(ParseError::new(
            self.at,
            format!("it is about {what}, and only files with text can be changed"),
            "leave this file out of the patch",
        ))
    }

    /// Reads the path of a `---` or `+++` line; `None` is `/dev/null`.
    fn header_path(&self, prefix: &str) -> Result<Option<String>, ParseError> {
        let line = self.peek().unwrap_or_default();
        let path = line.strip_prefix(prefix).unwrap_or(line).trim_start();
        if path.starts_with('"') {
            return self.unquoted(path).map(Some);
        }
        // `diff -u` puts a tab and the time of change behind the path.
        let path = path.split('\t').next().unwrap_or(path).trim();
        Ok((path != "/dev/null").then(|| path.to_owned()))
    }

    /// Reads a path that may be quoted as in C; what follows the quotes is
    /// dropped.
    fn unquoted(&self, path: &str) -> Result<String, ParseError> {
        if !path.starts_with('"') {
            return Ok(path.to_owned());
        }
        match quoted::parse(path) {
            Some((path, _)) => Ok(path),
            None => Err(ParseError::new(
                self.at,
                format!("`{path}` is not a path in quotes, or not UTF-8"),
                "write the path without quotes",
            )),
        }
    }

    fn hunk(&mut self) -> Result<Hunk, ParseError> {
        let start = self.at;
        let header = self.peek().unwrap_or_default();
        let (line, mut old_left, mut new_left) = match line_numbers(header) {
            Some((line, old, new)) => (Some(line), old, new),
            None if header.trim_matches(['@', ' ', '.']).is_empty() => (None, 0, 0),
            None => {
                return Err(ParseError::new(
                    start,
                    format!("`{header}` is not a hunk header"),
                    "write `@@ -line,count +line,count @@`",
                ));
            }
        };
        let mut hunk = Hunk {
            line,
            ..Hunk::default()
        };
        let mut newline = FinalNewline::default();
        self.at += 1;
        while let Some(text) = self.peek() {
            let counted = old_left > 0 || new_left > 0;
            if !counted && (self.is_file_header(self.at) || text.is_empty()) {
                break;
            }
            let mut rest = text.chars();
            let mark = rest.next();
            let body = rest.as_str().to_owned();
            match mark {
                None | Some(' ') => {
                    hunk.lines.push(HunkLine::Context(body));
                    old_left = old_left.saturating_sub(1);
                    new_left = new_left.saturating_sub(1);
                }
                Some('-') => {
                    hunk.lines.push(HunkLine::Remove(body));
                    old_left = old_left.saturating_sub(1);
                }
                Some('+') => {
                    hunk.lines.push(HunkLine::Add(body));
                    new_left = new_left.saturating_sub(1);
                }
                Some('\\') => match hunk.lines.last() {
                    Some(HunkLine::Context(_)) => {
                        newline = FinalNewline {
                            old_missing: true,
                            new_missing: true,
                        };
                    }
                    Some(HunkLine::Remove(_)) => newline.old_missing = true,
                    Some(HunkLine::Add(_)) => newline.new_missing = true,
                    None => {}
                },
                Some(_) => break,
            }
            self.at += 1;
        }
        hunk.at_end = newline.old_missing || newline.new_missing;
        hunk.newline = newline;
        // Blank lines between a hunk and the next header were never counted.
        if !hunk.changes() {
            return Err(ParseError::new(
                start,
                "this hunk has no line that starts with `-` or `+`",
                "say what changes in it, or leave it out",
            ));
        }
        Ok(hunk)
    }
}

fn added_text(hunks: &[Hunk], start: usize) -> Result<String, ParseError> {
    let mut text = String::new();
    let mut has_newline = true;
    for hunk in hunks {
        has_newline = !hunk.newline.new_missing;
        for line in &hunk.lines {
            let HunkLine::Add(added) = line else {
                return Err(ParseError::new(
                    start,
                    "a new file (`--- /dev/null`) has kept or removed lines",
                    "start every line of it with `+`, or name the old file",
                ));
            };
            text.push_str(added);
            text.push('\n');
        }
    }
    if !has_newline {
        text.pop();
    }
    Ok(text)
}

/// What git puts before the two paths: usually `a` and `b`; with
/// `diff.mnemonicPrefix` the first letters of commit, index, object and work
/// tree. `git diff -R` turns them round.
const PREFIXES: [[&str; 2]; 5] = [
    ["a/", "b/"],
    ["i/", "w/"],
    ["c/", "i/"],
    ["c/", "w/"],
    ["o/", "w/"],
];

/// Takes the prefixes off, where both sides have them. `git` is the path that
/// the line before says is on both sides.
fn strip_prefixes(
    old: Option<String>,
    new: Option<String>,
    git: Option<&str>,
) -> (Option<String>, Option<String>) {
    let bare = |path: &Option<String>, prefix: &str| match path {
        None => Some(None),
        Some(path) => path.strip_prefix(prefix).map(|path| Some(path.to_owned())),
    };
    if let (Some(old), Some(new)) = (bare(&old, "a/"), bare(&new, "b/")) {
        return (old, new);
    }
    // Any other folder may be a real one, unless both sides are the same within it.
    let same = |side: &Option<String>| match (side, git) {
        (Some(path), Some(git)) => path == git,
        (Some(_), None) => false,
        (None, _) => true,
    };
    for [one, other] in PREFIXES {
        for (left, right) in [(one, other), (other, one)] {
            if let (Some(old), Some(new)) = (bare(&old, left), bare(&new, right))
                && ((old.is_some() && old == new) || (same(&old) && same(&new)))
            {
                return (old, new);
            }
        }
    }
    (old, new)
}

/// Reads the path of `diff --git a/x b/x`, where both sides are the same.
fn git_path(line: &str) -> Option<String> {
    let rest = line.strip_prefix("diff --git ")?;
    let (old, new) = if rest.starts_with('"') {
        let (old, rest) = quoted::parse(rest)?;
        let (new, _) = quoted::parse(rest.trim_start())?;
        (old, new)
    } else {
        let half = rest.len().checked_sub(1)? / 2;
        let new = rest.get(half..)?.strip_prefix(' ')?;
        (rest.get(..half)?.to_owned(), new.to_owned())
    };
    PREFIXES.into_iter().find_map(|[one, other]| {
        let path = |left, right| {
            let path = old.strip_prefix(left)?;
            (new.strip_prefix(right)? == path).then(|| path.to_owned())
        };
        path(one, other).or_else(|| path(other, one))
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn changes(text: &str) -> Vec<FileChange> {
        parse(text).unwrap().changes
    }

    #[test]
    fn a_git_diff_of_several_files_is_read() {
        let patch = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn a\n \
                     a\n-b\n+c\ndiff --git a/old b/new\nsimilarity index 100%\nrename from \
                     old\nrename to new\ndiff --git a/gone b/gone\ndeleted file mode 100644\n--- \
                     a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\ndiff --git a/empty b/empty\nnew file \
                     mode 100644\nindex 0..0\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+hi\n\\ No \
                     newline at end of file\n";
        assert_eq!(
            changes(patch),
            vec![
                FileChange::Update {
                    path: "x".to_owned(),
                    move_to: None,
                    hunks: vec![Hunk {
                        line: Some(1),
                        lines: vec![
                            HunkLine::Context("a".to_owned()),
                            HunkLine::Remove("b".to_owned()),
                            HunkLine::Add("c".to_owned()),
                        ],
                        ..Hunk::default()
                    }],
                },
                FileChange::Update {
                    path: "old".to_owned(),
                    move_to: Some("new".to_owned()),
                    hunks: vec![],
                },
                FileChange::Delete {
                    path: "gone".to_owned(),
                    hunks: vec![Hunk {
                        line: Some(1),
                        lines: vec![HunkLine::Remove("bye".to_owned())],
                        ..Hunk::default()
                    }],
                },
                FileChange::Add {
                    path: "made".to_owned(),
                    text: "hi".to_owned()
                },
            ]
        );
    }

    #[test]
    fn prefixes_of_git_are_no_folders() {
        let edit = "@@ -1 +1 @@\n-a\n+b\n";
        let path = |patch: String| match &changes(&patch)[..] {
            [FileChange::Update { path, move_to, .. }] => (path.clone(), move_to.clone()),
            other => panic!("{patch}{other:?}"),
        };
        let same = |path: &str| (path.to_owned(), None);
        for [one, other] in PREFIXES {
            for (left, right) in [(one, other), (other, one)] {
                let sides = format!("--- {left}d/x\n+++ {right}d/x\n{edit}");
                let git = format!("diff --git {left}d/x {right}d/x\n");
                assert_eq!(path(sides.clone()), same("d/x"));
                assert_eq!(path(git.clone() + &sides), same("d/x"));
                // One side only: then the first line says what the prefix is.
                let gone = format!("{git}--- {left}d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
                let [FileChange::Delete { path, .. }] = &changes(&gone)[..] else {
                    panic!("{gone}");
                };
                assert_eq!(path, "d/x");
            }
        }
        // Folders of such names.
        assert_eq!(path(format!("--- b/x\n+++ b/x\n{edit}")), same("b/x"));
        assert_eq!(path(format!("--- a/x\n+++ a/x\n{edit}")), same("a/x"));
        assert_eq!(
            path(format!("--- i/x\n+++ w/y\n{edit}")),
            ("i/x".to_owned(), Some("w/y".to_owned()))
        );
        let [FileChange::Delete { path, .. }] =
            &changes("--- w/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")[..]
        else {
            panic!("no deletion");
        };
        assert_eq!(path, "w/x");
    }

    #[test]
    fn removed_lines_that_look_like_a_header_stay_in_the_hunk() {
        let patch = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- one\n-+ two\n+++ three\n+++ four\n";
        let [FileChange::Update { hunks, .. }] = &changes(patch)[..] else {
            panic!("not one update");
        };
        assert_eq!(
            hunks[0].lines,
            vec![
                HunkLine::Remove("-- one".to_owned()),
                HunkLine::Remove("+ two".to_owned()),
                HunkLine::Add("++ three".to_owned()),
                HunkLine::Add("++ four".to_owned()),
            ]
        );
    }

    #[test]
    fn wrong_counts_do_not_matter() {
        let patch = "--- x\n+++ x\n@@ -1,1 +1,1 @@\n a\n b\n-c\n+d\n+e\n\n";
        let [FileChange::Update { hunks, .. }] = &changes(patch)[..] else {
            panic!("not one update");
        };
        assert_eq!(hunks[0].lines.len(), 5);
    }

    #[test]
    fn a_hunk_without_a_file_is_refused() {
        let error = parse("@@ -1 +1 @@\n-a\n+b\n").unwrap_err();
        assert_eq!(error.why, "a hunk stands before any file header");
    }

    #[test]
    fn names_in_quotes_are_decoded_wherever_git_writes_them() {
        let patch = "diff --git \"a/caf\\303\\251.txt\" \"b/caf\\303\\251.txt\"\nindex 1..2 100644\n--- \
                     \"a/caf\\303\\251.txt\"\n+++ \"b/caf\\303\\251.txt\"\n@@ -1 +1 @@\n-a\n+b\n\
                     diff --git \"a/\\\"q\\\"\" b/plain\nsimilarity index 100%\nrename from \
                     \"\\\"q\\\"\"\nrename to plain\n\
                     diff --git \"a/t\\tab\" \"b/t\\tab\"\nnew file mode 100644\nindex 0..0\n";
        let paths: Vec<_> = changes(patch)
            .iter()
            .flat_map(|change| {
                change
                    .paths()
                    .into_iter()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(paths, ["café.txt", "\"q\"", "plain", "t\tab"]);
    }

    #[test]
    fn a_name_in_bad_quotes_is_refused() {
        for name in ["\"a/x", "\"a/\\q\"", "\"a/\\377\"", "\"a/\\400\""] {
            let patch = format!("--- {name}\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");
            let error = parse(&patch).unwrap_err();
            assert_eq!(error.line, 1);
            assert!(error.why.contains("not a path in quotes"), "{}", error.why);
        }
    }

    #[test]
    fn links_and_submodules_are_refused_in_every_header() {
        for (header, what) in [
            (
                "new file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/x",
                "a symbolic link",
            ),
            (
                "deleted file mode 120000\nindex 1..0\n--- a/x\n+++ /dev/null",
                "a symbolic link",
            ),
            ("index 1..2 120000\n--- a/x\n+++ b/x", "a symbolic link"),
            ("old mode 100644\nnew mode 120000", "a symbolic link"),
            ("index 1..2 160000\n--- a/x\n+++ b/x", "a submodule"),
        ] {
            let patch = format!("diff --git a/x b/x\n{header}\n@@ -0,0 +1 @@\n+target\n");
            let error = parse(&patch).unwrap_err();
            let why = format!("it is about {what}, and only files with text can be changed");
            assert_eq!(error.why, why, "{header}");
        }
    }
}
