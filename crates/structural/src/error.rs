//! What can go wrong in a structural search, and what to do about it.

use std::fmt;

use tiers::ToolError;

use crate::pattern::{Attempt, PatternError};
use crate::scan::SkipReason;

/// A structural search failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path names nothing.
    #[error("cannot search `{}`", short(.0))]
    NoSuchPath(String),
    /// The language is not known.
    #[error("unknown language `{}`", short(name))]
    UnknownLanguage {
        /// The name given.
        name: String,
        /// Known ids, nearest first.
        nearest: Vec<String>,
    },
    /// The path names neither a file nor a folder.
    #[error("cannot search `{0}`")]
    Special(String),
    /// The language of a file is not known.
    #[error("cannot tell the language of `{0}`")]
    NoLanguage(String),
    /// `max_results` is zero.
    #[error("`max_results` is 0")]
    NoResultsWanted,
    /// The pattern cannot be used.
    #[error("cannot use the pattern `{}` for {language}", short(pattern))]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Language id.
        language: &'static str,
        /// Why.
        error: PatternError,
    },
    /// The file named cannot be searched.
    #[error("cannot search `{path}`")]
    CannotSearch {
        /// The file.
        path: String,
        /// Why.
        reason: SkipReason,
        /// More on why.
        detail: String,
    },
    /// Matching took too long in some files.
    #[error("the search did not finish in `{first}`{}", others_text(*others))]
    OverBudget {
        /// The first such file.
        first: String,
        /// Number of others.
        others: usize,
    },
}

fn others_text(others: usize) -> String {
    if others == 0 {
        String::new()
    } else {
        format!(" and {others} more files")
    }
}

fn short(pattern: &str) -> String {
    crate::excerpt::cut(pattern, 200)
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "too large",
            Self::Binary => "binary",
            Self::NotUtf8 => "not UTF-8",
            Self::Unreadable => "unreadable",
            Self::TooSlow => "too slow to parse",
        })
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        let base = match &error {
            Error::NoSuchPath(_) => Self::not_found(&error)
                .why("it does not exist")
                .next("give a file or folder of the workspace, or leave `path` out"),
            Error::Special(_) => Self::invalid_input(&error)
                .why("it is a pipe, a socket or a device")
                .next("give a file or folder of the workspace"),
            Error::UnknownLanguage { nearest, .. } => Self::invalid_input(&error)
                .why(format!(
                    "known languages, nearest first: {}",
                    nearest.join(", ")
                ))
                .next("use one of them, or leave `language` out"),
            Error::NoLanguage(_) => Self::invalid_input(&error)
                .why("neither its name nor its first line says")
                .next("give `language`"),
            Error::NoResultsWanted => Self::invalid_input(&error)
                .why("it is the most matches to return")
                .next("leave it out for 50, or give a number from 1"),
            Error::Pattern {
                error: PatternError::NoGrammar(missing),
                language,
                ..
            } => Self::unavailable(format!("cannot search {language} files"))
                .why(missing.to_string())
                .next("search files of another language, and tell the user that this grammar cannot be used"),
            Error::Pattern { error: pattern, .. } => {
                pattern_error(Self::invalid_input(&error), pattern)
            }
            Error::CannotSearch { reason, detail, .. } => Self::failed(&error)
                .why(format!("{reason}: {detail}"))
                .next("search another file"),
            Error::OverBudget { .. } => Self::failed(&error)
                .why("there are too many ways to match its long lists")
                .next("use fewer `$$$` in one list, or more code between them"),
        };
        base.source(error)
    }
}

fn pattern_error(base: ToolError, error: &PatternError) -> ToolError {
    match error {
        PatternError::NoGrammar(error) => base.why(error.to_string()),
        PatternError::Empty => base.why("it is empty").next("give a fragment of code"),
        PatternError::TooLarge(why) => base.why(why).next("give a smaller fragment"),
        PatternError::Stopped => base
            .why("reading it was stopped")
            .next("call again"),
        PatternError::OnlyMetavariables => base
            .why("it has nothing but metavariables, which match everything")
            .next("add some code around them"),
        PatternError::BadMetavariable { text, why, next } => {
            base.why(format!("`{text}` is not a metavariable: {why}")).next(next)
        }
        PatternError::MixedUse(name) => base
            .why(format!("`${name}` and `$$${name}` are both in it"))
            .next("use two different names"),
        PatternError::Unparsable(attempts) => {
            base.why(format!("it does not parse {}", attempts_text(attempts))).next(
                "give a complete fragment, with its body and closing brackets; `$$$` stands for any body, `$NAME` for any one node",
            )
        }
    }
}

/// Says where each way of reading failed, the same places together.
fn attempts_text(attempts: &[Attempt]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for attempt in attempts {
        let place = if attempt.near.is_empty() {
            format!("{}:{}, its end", attempt.line, attempt.column)
        } else {
            format!("{}:{}, `{}`", attempt.line, attempt.column, attempt.near)
        };
        let rung = attempt.rung.to_string();
        match groups.iter_mut().find(|(p, _)| *p == place) {
            // Several contexts may read it as the same thing.
            Some((_, rungs)) if rungs.contains(&rung) => {}
            Some((_, rungs)) => rungs.push(rung),
            None => groups.push((place, vec![rung])),
        }
    }
    groups.sort_by_key(|g| std::cmp::Reverse(g.1.len()));
    groups
        .iter()
        .take(4)
        .map(|(place, rungs)| format!("as {} (at {place})", rungs.join(", ")))
        .collect::<Vec<_>>()
        .join(", nor ")
}
