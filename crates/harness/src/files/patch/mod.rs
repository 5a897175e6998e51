//! Patches: both written forms, and how they are applied to text.
//!
//! Knows nothing of disks: [`super::apply_patch`] reads the files a patch
//! names, asks [`apply`] for their new text, and writes.

mod envelope;
mod hunk;
mod quoted;
mod unified;

pub(crate) use hunk::apply_hunks;

use super::document::with_unix_ends;

/// A parsed patch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    /// What happens to each file, in the order written.
    pub(crate) changes: Vec<FileChange>,
}

/// What a patch does to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// Creates a file that must not exist.
    Add {
        /// Where.
        path: String,
        /// The whole text.
        text: String,
    },
    /// Removes a file.
    Delete {
        /// Which.
        path: String,
        /// The lines it must consist of, where the patch says them.
        hunks: Vec<Hunk>,
    },
    /// Changes a file, moves it, or both.
    Update {
        /// Which.
        path: String,
        /// Where it goes, if it moves.
        move_to: Option<String>,
        /// What changes in it.
        hunks: Vec<Hunk>,
    },
}

impl FileChange {
    /// Returns the paths this change writes or removes.
    pub(crate) fn paths(&self) -> Vec<&str> {
        match self {
            Self::Add { path, .. } | Self::Delete { path, .. } => vec![path],
            Self::Update { path, move_to, .. } => std::iter::once(path.as_str())
                .chain(move_to.as_deref())
                .collect(),
        }
    }
}

/// One place of change in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Lines that stand somewhere above, in order (`@@ class A`).
    pub(crate) anchors: Vec<String>,
    /// The line, from 1, it is said to start on.
    pub(crate) line: Option<usize>,
    /// The lines kept, removed and added.
    pub(crate) lines: Vec<HunkLine>,
    /// Whether it must end where the file ends.
    pub(crate) at_end: bool,
    /// What it says of the last newline.
    pub(crate) newline: FinalNewline,
}

/// What a hunk says of the newline at the end of the file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FinalNewline {
    /// The old last line has none.
    pub(crate) old_missing: bool,
    /// The new last line has none.
    pub(crate) new_missing: bool,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HunkLine {
    /// In both texts.
    Context(String),
    /// In the old text only.
    Remove(String),
    /// In the new text only.
    Add(String),
}

impl Hunk {
    /// Returns the lines it expects to find.
    pub(crate) fn old_lines(&self) -> Vec<&str> {
        self.lines
            .iter()
            .filter_map(|line| match line {
                HunkLine::Context(text) | HunkLine::Remove(text) => Some(text.as_str()),
                HunkLine::Add(_) => None,
            })
            .collect()
    }

    /// Returns whether it changes anything.
    fn changes(&self) -> bool {
        self.newline.old_missing != self.newline.new_missing
            || self
                .lines
                .iter()
                .any(|line| !matches!(line, HunkLine::Context(_)))
    }
}

/// Why a patch cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ParseError {
    /// The line of the patch, from 1.
    pub(crate) line: usize,
    /// What is wrong there.
    pub(crate) why: String,
    /// What would be right.
    pub(crate) next: String,
}

impl ParseError {
    fn new(index: usize, why: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            line: index + 1,
            why: why.into(),
            next: next.into(),
        }
    }
}

/// Reads a patch in either form.
pub(crate) fn parse(text: &str) -> Result<Patch, ParseError> {
    let text = with_unix_ends(text);
    let lines: Vec<&str> = text
        .strip_suffix('\n')
        .unwrap_or(&text)
        .split('\n')
        .collect();
    let starts = |prefix: &str| lines.iter().position(|line| line.trim_end() == prefix);
    let changes = match starts("*** Begin Patch") {
        Some(begin) => envelope::parse(&lines, begin)?,
        None if lines.iter().any(|line| is_envelope_header(line)) => {
            return Err(ParseError::new(
                0,
                "it has `*** … File:` lines but no `*** Begin Patch` line",
                "put `*** Begin Patch` first and `*** End Patch` last",
            ));
        }
        None => unified::parse(&lines)?,
    };
    if changes.is_empty() {
        return Err(ParseError::new(
            0,
            "it names no file",
            "start with `*** Begin Patch`, or with `--- a/path` and `+++ b/path` of a unified diff",
        ));
    }
    Ok(Patch { changes })
}

fn is_envelope_header(line: &str) -> bool {
    ["*** Add File:", "*** Update File:", "*** Delete File:"]
        .iter()
        .any(|header| line.starts_with(header))
}

/// Reads `@@ -12,3 +14,4 @@`; returns the old line, the old count and the new count.
fn line_numbers(line: &str) -> Option<(usize, usize, usize)> {
    let ranges = line.strip_prefix("@@ -")?;
    let (ranges, _) = ranges.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((line, count)) => Some((line.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let (line, old_count) = range(old)?;
    let (_, new_count) = range(new)?;
    Some((line, old_count, new_count))
}
