//! What can go wrong with workspace paths and files, and how a model reads it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tiers::{ErrorKind, ToolError, visible};

use crate::WorkspacePath;
use crate::change_set::{Leftover, list_leftovers, list_paths};

/// A path or file that cannot be used.
///
/// The display text says what failed and why; [`Error::next_step`] says what
/// to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The workspace root cannot be opened.
    #[error("cannot open workspace `{}`: {}", root.display(), io_reason(source))]
    Open {
        /// The root as given.
        root: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The text is no usable path.
    #[error("cannot use `{path}` as a path: {problem}")]
    Malformed {
        /// The text as given, control characters escaped.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The path leads out of the workspace.
    #[error("cannot use `{path}`: it leads outside the workspace `{}`{}", root.display(), via(link))]
    Outside {
        /// The path as given.
        path: String,
        /// The root of the workspace.
        root: PathBuf,
        /// The symbolic link that leads out, relative to the root, where one does.
        link: Option<String>,
    },
    /// The path follows more links than any real tree has.
    #[error("cannot use `{path}`: its symbolic links form a loop at `{link}`")]
    LinkLoop {
        /// The path as given.
        path: String,
        /// The link at which following stopped, relative to the root.
        link: String,
    },
    /// A component in the middle of the path is a file.
    #[error("cannot use `{path}`: `{component}` is not a directory")]
    NotADirectory {
        /// The path as given.
        path: String,
        /// The component, relative to the root.
        component: String,
    },
    /// `..` follows a component that does not exist.
    #[error("cannot use `{path}`: `..` follows `{component}`, which does not exist")]
    ParentOfMissing {
        /// The path as given.
        path: String,
        /// The missing component, relative to the root.
        component: String,
    },
    /// The path, after following links, has a name that is not UTF-8.
    #[error("cannot use `{path}`: its name on disk is not valid UTF-8")]
    NotUtf8 {
        /// The path with the invalid bytes replaced.
        path: String,
    },
    /// A path that was resolved earlier means something else now.
    #[error("cannot use `{path}` any more: {change}")]
    Changed {
        /// The path, relative to the root.
        path: String,
        /// What changed.
        change: String,
    },
    /// Something other than a regular file is there.
    #[error("cannot {action} `{path}`: it is {found}, not a regular file")]
    NotAFile {
        /// What was tried, a verb.
        action: &'static str,
        /// The path, relative to the root.
        path: String,
        /// What is there, with its article.
        found: &'static str,
    },
    /// The file is larger than what may be read or written at once.
    #[error("cannot {action} `{path}`: it has {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// What was tried, a verb.
        action: &'static str,
        /// The path, relative to the root.
        path: String,
        /// Its size in bytes, at least.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The path cannot be part of a change set.
    #[error("cannot add `{path}` to the change: {problem}")]
    InvalidChange {
        /// The path, relative to the root.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Another change of the workspace runs.
    #[error(
        "cannot change files in `{}`: another change has been running there for {} s",
        root.display(),
        waited.as_secs()
    )]
    Busy {
        /// The root of the workspace.
        root: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Nobody waits for the outcome of a change any more; nothing was written.
    #[error("the change was given up before it wrote anything")]
    Abandoned,
    /// There is no folder to keep journals in.
    #[error(
        "cannot keep a journal of changes: neither `XDG_STATE_HOME` nor a home folder is known"
    )]
    NoStateFolder,
    /// The journal of changes cannot be written or read. No file was changed.
    #[error("cannot keep a journal of changes in `{}`: {}", folder.display(), io_reason(source))]
    Journal {
        /// The folder of the workspace's journal.
        folder: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A change set failed on the way and was taken back.
    #[error(
        "cannot {action} `{path}`: {}; {}",
        io_reason(source),
        taken_back(restored, left, failed)
    )]
    NotApplied {
        /// What was tried, a verb.
        action: &'static str,
        /// The path, relative to the root.
        path: String,
        /// The cause.
        source: io::Error,
        /// Files that had been written and hold their old bytes again.
        restored: Vec<WorkspacePath>,
        /// Files that somebody else wrote to, and that were left.
        left: Vec<Leftover>,
        /// Files that could not be put back; the journal is kept, and the next
        /// start or the next change tries again.
        failed: Vec<Leftover>,
    },
    /// A change that a crash had cut off could not be ended.
    #[error(
        "cannot end an earlier change (`{title}`) that was cut off: {}; its journal is `{}`",
        list_leftovers(failed),
        journal.display()
    )]
    Unrecovered {
        /// The title of that change.
        title: String,
        /// Its journal. Without it the files stay as they are.
        journal: PathBuf,
        /// What could not be written or removed.
        failed: Vec<Leftover>,
    },
    /// The operating system refused.
    #[error("cannot {action} `{path}`: {}", io_reason(source))]
    Io {
        /// What was tried, a verb.
        action: &'static str,
        /// The path, relative to the root where it is inside.
        path: String,
        /// The cause.
        source: io::Error,
    },
}

impl Error {
    /// Returns what the caller can do about it.
    #[must_use]
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Open { .. } => "give an existing directory that can be read",
            Self::Malformed { .. } => "give a path relative to the workspace; `.` is its root",
            Self::Outside { .. } => "give a path inside the workspace",
            Self::LinkLoop { .. } => "give the path of the real file, not of the link",
            Self::NotADirectory { .. } => "check the path against a listing of its folder",
            Self::ParentOfMissing { .. } => "write the path without `..`",
            Self::NotUtf8 { .. } => "rename the file, or leave it out",
            Self::Changed { .. } => "resolve the path again and look at what is there now",
            Self::NotAFile { .. } => "give the path of a regular file",
            Self::TooLarge { .. } => "work on a part of it with another program",
            Self::InvalidChange { .. } => "give each file once, in one workspace",
            Self::Busy { .. } => "try again in a moment",
            Self::Abandoned => "repeat the call if the change is still wanted",
            Self::NoStateFolder => {
                "ask the user to set `XDG_STATE_HOME` or `HOME`, or to name a state folder"
            }
            Self::Journal { .. } => "ask the user to make that folder writable",
            Self::Unrecovered { .. } => {
                "ask the user to make these files writable, or to remove the journal to keep them \
                 as they are; then try again"
            }
            Self::NotApplied { failed, .. } if !failed.is_empty() => {
                "ask the user to make these files writable; the next change puts them back first"
            }
            Self::NotApplied { .. } => "try again once the cause is gone",
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the path against a listing of its folder",
                io::ErrorKind::PermissionDenied => "choose another path, or ask for access to it",
                _ => "try again once the cause is gone",
            },
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Malformed { .. } | Self::ParentOfMissing { .. } | Self::NotUtf8 { .. } => {
                ErrorKind::InvalidInput
            }
            Self::Outside { .. } => ErrorKind::Denied,
            Self::LinkLoop { .. }
            | Self::NotADirectory { .. }
            | Self::NotAFile { .. }
            | Self::TooLarge { .. } => ErrorKind::InvalidInput,
            Self::InvalidChange { .. } => ErrorKind::InvalidInput,
            Self::Changed { .. } | Self::Busy { .. } => ErrorKind::Conflict,
            Self::Abandoned => ErrorKind::Cancelled,
            Self::NoStateFolder | Self::Journal { .. } => ErrorKind::Unavailable,
            Self::Unrecovered { .. } => ErrorKind::Failed,
            Self::Open { source, .. }
            | Self::Io { source, .. }
            | Self::NotApplied { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => ErrorKind::NotFound,
                io::ErrorKind::PermissionDenied => ErrorKind::Denied,
                _ => ErrorKind::Failed,
            },
        }
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        // Names may have line ends in them, the messages here have none.
        let text = visible(&error.to_string()).into_owned();
        split(error.kind(), &text)
            .next(error.next_step())
            .source(error)
    }
}

/// Splits "what: why" once, so that the parts are written in one place only.
pub(crate) fn tool_error(
    kind: ErrorKind,
    next: impl std::fmt::Display,
    error: impl std::error::Error + Send + Sync + 'static,
) -> ToolError {
    split(kind, &error.to_string()).next(next).source(error)
}

fn split(kind: ErrorKind, text: &str) -> ToolError {
    match split_outside_backticks(text) {
        Some((what, why)) => ToolError::new(kind, what).why(why),
        None => ToolError::new(kind, text),
    }
}

/// Splits at the first `": "` that is not inside a quoted name.
fn split_outside_backticks(text: &str) -> Option<(&str, &str)> {
    text.match_indices(": ")
        .map(|(at, _)| text.split_at(at))
        .find(|(before, _)| before.matches('`').count() % 2 == 0)
        .and_then(|(before, after)| Some((before, after.strip_prefix(": ")?)))
}

/// Returns the system's reason without the number that means nothing to a model.
pub(crate) fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "unknown reason".to_owned(),
    }
}

/// Says what a change that failed left behind.
fn taken_back(restored: &[WorkspacePath], left: &[Leftover], failed: &[Leftover]) -> String {
    let mut text = if failed.is_empty() && left.is_empty() {
        "no file is changed".to_owned()
    } else {
        "the change was taken back".to_owned()
    };
    if !restored.is_empty() {
        text.push_str(&format!("; put back: {}", list_paths(restored)));
    }
    if !left.is_empty() {
        text.push_str(&format!("; left alone: {}", list_leftovers(left)));
    }
    if !failed.is_empty() {
        text.push_str(&format!(
            "; could not be put back: {}",
            list_leftovers(failed)
        ));
    }
    text
}

fn via(link: &Option<String>) -> String {
    match link {
        Some(link) => format!(" through the symbolic link `{link}`"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_error_splits_what_from_why_and_ignores_colons_in_names() {
        let error = Error::Io {
            action: "read",
            path: "a: b".to_owned(),
            source: io::Error::from_raw_os_error(2),
        };
        let tool: ToolError = error.into();
        assert_eq!(tool.kind, ErrorKind::NotFound);
        assert_eq!(tool.what, "cannot read `a: b`");
        assert_eq!(tool.why.as_deref(), Some("no such file or directory"));
        assert!(tool.next.is_some());
    }
}
