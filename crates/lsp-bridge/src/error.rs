//! Why a question to a language server has no answer.

use std::time::Duration;

use host::process::{Exit, StartError};
use tiers::{ErrorKind, ToolError};

use crate::client::RequestError;
use crate::documents::DocumentError;

/// A question that has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A configuration of servers cannot be used.
    #[error("cannot read the configuration of language servers: {why}")]
    Configuration {
        /// What is wrong with it.
        why: String,
    },
    /// No server in the table speaks the language of a file.
    #[error("no language server is known for `{file}`")]
    NoLanguage {
        /// The file, from the workspace's root.
        file: String,
        /// The extensions that servers are known for.
        known: String,
    },
    /// Every server of the language lacks something here.
    #[error("no language server can be used for `{file}`")]
    NoneUsable {
        /// The file, or what was asked about.
        file: String,
        /// What each of them lacks.
        why: String,
        /// How to get one.
        next: String,
    },
    /// The system does not start it.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It ended before it was ready to talk.
    #[error("`{server}` ended while it started{}", ended(*exit))]
    EndedAtStart {
        /// The server.
        server: String,
        /// How it ended, where that is known.
        exit: Option<Exit>,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It did not answer `initialize` in time.
    #[error("`{server}` did not answer `initialize` within {} s", limit.as_secs_f32())]
    NotInitialized {
        /// The server.
        server: String,
        /// The time it had.
        limit: Duration,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It answered `initialize` with something that cannot be worked with.
    #[error("`{server}` cannot be talked to")]
    BadStart {
        /// The server.
        server: String,
        /// What it said.
        why: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It is not ready to talk, and the call has no more time.
    #[error("`{server}` is still starting, for {} s now", since.as_secs())]
    StillStarting {
        /// The server.
        server: String,
        /// For how long.
        since: Duration,
    },
    /// It failed before, and is not started again yet.
    #[error("`{server}` is not started again for {} s", wait.as_secs() + 1)]
    BackingOff {
        /// The server.
        server: String,
        /// Until when not.
        wait: Duration,
        /// Why it failed.
        why: String,
    },
    /// As many servers as may be are busy.
    #[error("cannot start `{server}`: {limit} language servers are running, and all are busy")]
    TooMany {
        /// The server.
        server: String,
        /// How many may run.
        limit: usize,
    },
    /// It ended in the middle of a call.
    #[error("`{server}` ended in the middle of the call{}", ended(*exit))]
    Crashed {
        /// The server.
        server: String,
        /// How it ended, where that is known.
        exit: Option<Exit>,
        /// Why nothing more is heard of it.
        why: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It does not offer what was asked for.
    #[error("`{server}` cannot answer this")]
    NotOffered {
        /// The server.
        server: String,
        /// What it does not offer.
        what: &'static str,
    },
    /// It answered with an error.
    #[error("`{server}` refused `{method}`")]
    Refused {
        /// The server.
        server: String,
        /// The method.
        method: String,
        /// What it said.
        why: String,
    },
    /// It did not answer in time.
    #[error("`{server}` did not answer `{method}` in time")]
    NoAnswer {
        /// The server.
        server: String,
        /// The method.
        method: String,
        /// What it was doing.
        doing: String,
    },
    /// It has stopped reading.
    #[error("`{server}` does not read what it is sent")]
    NotReading {
        /// The server.
        server: String,
    },
    /// A file cannot be shown to a server.
    #[error("cannot use `{file}`")]
    File {
        /// The file, from the workspace's root.
        file: String,
        /// What is wrong with it.
        why: String,
        /// Whether there is no such file.
        is_missing: bool,
    },
    /// The arguments do not name a place.
    #[error("{what}")]
    Place {
        /// What is missing or wrong.
        what: String,
        /// Why.
        why: String,
        /// What would be right.
        next: String,
    },
    /// The new name is none.
    #[error("cannot rename `{old}` to `{new}`")]
    BadName {
        /// The name.
        old: String,
        /// What it was to become.
        new: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing can or need be renamed.
    #[error("`{server}` renames nothing for `{old}`")]
    NothingRenamed {
        /// The server.
        server: String,
        /// The name.
        old: String,
        /// What is known of the reason.
        why: String,
    },
    /// The server's edit leaves files out that may use the name.
    #[error(
        "cannot rename `{old}` everywhere: {} not covered by the edit of `{server}` ({}); nothing was written",
        counted_files(files.len()),
        some(files)
    )]
    Uncovered {
        /// The server.
        server: String,
        /// The name.
        old: String,
        /// The files, from the workspace's root.
        files: Vec<String>,
        /// Why the edit cannot be relied on.
        why: String,
        /// Whether it may be complete a little later.
        is_loading: bool,
    },
    /// The edit touches what may not be written.
    #[error("the rename would change `{file}`; nothing was written")]
    Forbidden {
        /// The file, or what the server named.
        file: String,
        /// Why it may not.
        why: &'static str,
    },
    /// The edit cannot be carried out.
    #[error("the edit of `{server}` for `{old}` cannot be used; nothing was written")]
    BadEdit {
        /// The server.
        server: String,
        /// The name.
        old: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file changed while the server worked.
    #[error("`{file}` is not what the server read: it has changed since; nothing was written")]
    Stale {
        /// The file, from the workspace's root.
        file: String,
    },
    /// Files are not what the edit was made for.
    #[error("the rename was not written, no file was changed")]
    Rejected {
        /// What differs.
        mismatches: Vec<String>,
    },
    /// Files cannot be read or written.
    #[error(transparent)]
    Files(#[from] host::Error),
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Cancelled,
}

/// What tells of a server's end.
pub(crate) struct Ending {
    pub(crate) exit: Option<Exit>,
    pub(crate) stderr: String,
}

impl Error {
    /// Says which request of which server failed.
    pub(crate) fn of_request(
        server: &str,
        method: &str,
        error: RequestError,
        doing: String,
        ending: impl FnOnce() -> Ending,
    ) -> Self {
        let server = server.to_owned();
        match error {
            RequestError::Refused(error) => Self::Refused {
                server,
                method: method.to_owned(),
                why: error.to_string(),
            },
            RequestError::Timeout { method } => Self::NoAnswer {
                server,
                method,
                doing,
            },
            RequestError::NotReading { .. } => Self::NotReading { server },
            RequestError::Closed { why } => {
                let Ending { exit, stderr } = ending();
                Self::Crashed {
                    server,
                    exit,
                    why: why.to_string(),
                    stderr,
                }
            }
        }
    }

    /// Says which file cannot be used, and why.
    pub(crate) fn of_document(file: &str, error: &DocumentError) -> Self {
        let is_missing = matches!(
            error,
            DocumentError::Unreadable(cause) if cause.kind() == std::io::ErrorKind::NotFound
        );
        Self::File {
            file: file.to_owned(),
            why: error.to_string(),
            is_missing,
        }
    }

    /// Says in one text what failed and why.
    pub(crate) fn describe(&self) -> String {
        match self.why() {
            Some(why) => format!("{self}: {why}"),
            None => self.to_string(),
        }
    }

    fn why(&self) -> Option<String> {
        let why = match self {
            Self::NoLanguage { known, .. } => format!("servers are known for: {known}"),
            Self::NoneUsable { why, .. }
            | Self::BackingOff { why, .. }
            | Self::Refused { why, .. }
            | Self::File { why, .. }
            | Self::BadName { why, .. }
            | Self::NothingRenamed { why, .. }
            | Self::Uncovered { why, .. }
            | Self::BadEdit { why, .. }
            | Self::Place { why, .. } => why.clone(),
            Self::Forbidden { why, .. } => (*why).to_owned(),
            Self::Rejected { mismatches } => mismatches.join("; "),
            Self::EndedAtStart { stderr, .. } | Self::NotInitialized { stderr, .. } => {
                return said(stderr);
            }
            Self::BadStart { why, stderr, .. } | Self::Crashed { why, stderr, .. } => {
                match said(stderr) {
                    Some(said) => format!("{why}; {said}"),
                    None => why.clone(),
                }
            }
            Self::NotOffered { what, .. } => format!("it does not offer {what}"),
            Self::NoAnswer { doing, .. } if !doing.is_empty() => doing.clone(),
            Self::NoAnswer { .. }
            | Self::Configuration { .. }
            | Self::Start(_)
            | Self::StillStarting { .. }
            | Self::TooMany { .. }
            | Self::NotReading { .. }
            | Self::Stale { .. }
            | Self::Files(_)
            | Self::Cancelled => return None,
        };
        Some(why)
    }

    fn next(&self) -> Option<&str> {
        Some(match self {
            Self::Configuration { .. } => "correct the configuration",
            Self::NoLanguage { .. } => "search with other tools, or have the user configure one",
            Self::NoneUsable { next, .. } | Self::Place { next, .. } => next,
            Self::EndedAtStart { .. } | Self::BadStart { .. } => {
                "see what it needs with `lsp` action `status`, then `reload`"
            }
            Self::NotInitialized { .. } | Self::NotReading { .. } | Self::NoAnswer { .. } => {
                "call again; if it stays so, call `lsp` with action `reload`"
            }
            Self::StillStarting { .. } => "call again in a moment",
            Self::BackingOff { .. } => "wait, or call `lsp` with action `reload` to start it now",
            Self::TooMany { .. } => "wait for other calls to end, then call again",
            Self::Crashed { .. } => "call again: it is started anew",
            Self::NotOffered { .. } => {
                "see what it offers with `lsp` action `status` and this `file`"
            }
            Self::File {
                is_missing: true, ..
            } => "give an existing file",
            Self::BadName { .. } => "give another `new_name`",
            Self::NothingRenamed { .. } => {
                "give the line where it is declared; a name in a comment or text is edited with other tools"
            }
            Self::Uncovered {
                is_loading: true, ..
            } => "call again in a moment, when the server knows the project",
            Self::Uncovered { .. } => {
                "see what the server lacks with `lsp` action `status`, or edit these files with other tools"
            }
            Self::Forbidden { .. } => "rename something that is declared in the workspace",
            Self::Stale { .. } | Self::Rejected { .. } => "call again: the files are read anew",
            Self::Start(_)
            | Self::Refused { .. }
            | Self::BadEdit { .. }
            | Self::File { .. }
            | Self::Files(_)
            | Self::Cancelled => {
                return None;
            }
        })
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Configuration { .. } | Self::Place { .. } | Self::BadName { .. } => {
                ErrorKind::InvalidInput
            }
            Self::Forbidden { .. } => ErrorKind::Denied,
            Self::Stale { .. } | Self::Rejected { .. } => ErrorKind::Conflict,
            Self::Uncovered {
                is_loading: true, ..
            } => ErrorKind::Timeout,
            Self::NothingRenamed { .. }
            | Self::Uncovered { .. }
            | Self::BadEdit { .. }
            | Self::Files(_) => ErrorKind::Failed,
            Self::File {
                is_missing: true, ..
            } => ErrorKind::NotFound,
            Self::NoLanguage { .. }
            | Self::NoneUsable { .. }
            | Self::Start(_)
            | Self::EndedAtStart { .. }
            | Self::BadStart { .. }
            | Self::BackingOff { .. }
            | Self::TooMany { .. }
            | Self::NotOffered { .. }
            | Self::File { .. } => ErrorKind::Unavailable,
            Self::NotInitialized { .. }
            | Self::StillStarting { .. }
            | Self::NoAnswer { .. }
            | Self::NotReading { .. } => ErrorKind::Timeout,
            Self::Crashed { .. } => ErrorKind::Crashed,
            Self::Refused { .. } => ErrorKind::Failed,
            Self::Cancelled => ErrorKind::Cancelled,
        }
    }
}

/// Files of an error that are named.
const MAX_NAMED: usize = 20;

fn counted_files(count: usize) -> String {
    match count {
        1 => "1 file with the word is".to_owned(),
        _ => format!("{count} files with the word are"),
    }
}

fn some(files: &[String]) -> String {
    let mut text = files
        .iter()
        .take(MAX_NAMED)
        .map(|file| tiers::visible(file).into_owned())
        .collect::<Vec<_>>()
        .join(", ");
    if files.len() > MAX_NAMED {
        text.push_str(&format!(" and {} more", files.len() - MAX_NAMED));
    }
    text
}

fn ended(exit: Option<Exit>) -> String {
    exit.map_or_else(String::new, |exit| format!(" ({exit})"))
}

/// Quotes the last lines.
fn said(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().filter(|l| !l.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(5)..)?;
    (!last.is_empty()).then(|| format!("its standard error ends with:\n{}", last.join("\n")))
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        let error = match error {
            Error::Start(error) => return error.into(),
            Error::Files(error) => return error.into(),
            other => other,
        };
        let mut tool_error = Self::new(error.kind(), &error);
        if let Some(why) = error.why() {
            tool_error = tool_error.why(why);
        }
        if let Some(next) = error.next() {
            tool_error = tool_error.next(next);
        }
        tool_error.source(error)
    }
}
