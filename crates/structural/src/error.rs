//! What can go wrong in a structural search, and what to do about it.

use std::fmt;

use tiers::{ToolError, visible};

use crate::pattern::{Attempt, PatternError};
use crate::rewrite::TemplateError;
use crate::scan::SkipReason;
use crate::stage::NotStaged;
use crate::tool::ResolveAction;

/// A structural search failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path names nothing.
    #[error("cannot search `{}`", name_of(path))]
    NoSuchPath {
        /// The path as given.
        path: String,
        /// Where it leads, if it is a link.
        leads_to: Option<String>,
    },
    /// The language is not known.
    #[error("unknown language `{}`", name_of(name))]
    UnknownLanguage {
        /// The name given.
        name: String,
        /// All known ids, nearest first.
        nearest: Vec<String>,
    },
    /// The path names neither a file nor a folder.
    #[error("cannot search `{}`", name_of(.0))]
    Special(String),
    /// The language of a file is not known.
    #[error("cannot tell the language of `{}`", visible(.0))]
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
    #[error("cannot search `{}`", visible(path))]
    CannotSearch {
        /// The file.
        path: String,
        /// Why.
        reason: SkipReason,
        /// More on why.
        detail: String,
    },
    /// Matching took too long in some files.
    #[error("the search did not finish in `{}`{}", visible(first), others_text(*others))]
    OverBudget {
        /// The first such file.
        first: String,
        /// Number of others.
        others: usize,
    },
    /// What a match is to become cannot be used.
    #[error("cannot use the rewrite `{}` for {language}", short(rewrite))]
    Template {
        /// The template.
        rewrite: String,
        /// Language id.
        language: &'static str,
        /// Why.
        error: TemplateError,
    },
    /// Something matched, but every file it is in has to be left alone.
    #[error("cannot stage the rewrite")]
    NothingStaged {
        /// Why, file by file; the first ones.
        reasons: Vec<String>,
        /// What to do about them, each once.
        next: Vec<&'static str>,
        /// Number of others.
        others: usize,
    },
    /// The staged edits of the run would hold too much.
    #[error("cannot stage the rewrite: staged edits may hold {} MiB of old and new text together", limit / MIB)]
    NoRoom {
        /// Bytes that they may hold.
        limit: usize,
        /// Bytes that those staged already hold.
        held: usize,
        /// Their ids.
        staged: Vec<String>,
    },
    /// No such edit waits to be resolved.
    #[error("cannot {} `{}`", action.verb(), name_of(id))]
    NotStaged {
        /// The id given.
        id: String,
        /// What was to be done.
        action: ResolveAction,
        /// What is wrong with it.
        reason: NotStaged,
        /// Ids of the edits that wait.
        staged: Vec<String>,
    },
    /// Files are not as they were when the edit was staged.
    #[error("cannot accept `{id}`")]
    Rejected {
        /// The edit.
        id: String,
        /// Number of its files.
        files: usize,
        /// What differs, a sentence for each file.
        mismatches: Vec<String>,
        /// How many of them may not be written, whatever they hold.
        forbidden: usize,
    },
}

const MIB: usize = 1024 * 1024;

/// Languages named where another one was given, at most.
const MAX_LANGUAGES: usize = 8;

/// The name that asks for all languages.
const ALL_LANGUAGES: &str = "?";

/// Files named that reject an edit, at most.
const MAX_MISMATCHES: usize = 20;

fn others_text(others: usize) -> String {
    if others == 0 {
        String::new()
    } else {
        format!(" and {others} more files")
    }
}

/// Returns a text of the caller, cut where it is long.
fn short(pattern: &str) -> String {
    crate::excerpt::cut(pattern, 200)
}

/// Does so with a name, which takes one line.
fn name_of(text: &str) -> String {
    visible(&short(text)).into_owned()
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
            Error::NoSuchPath { leads_to, .. } => Self::not_found(&error)
                .why(match leads_to {
                    Some(target) => format!(
                        "it is a symbolic link to `{}`, which does not exist",
                        visible(target)
                    ),
                    None => "it does not exist".to_owned(),
                })
                .next("give a file or folder of the workspace, or leave `path` out"),
            Error::Special(_) => Self::invalid_input(&error)
                .why("it is a pipe, a socket or a device")
                .next("give a file or folder of the workspace"),
            Error::UnknownLanguage { name, nearest } => unknown_language(&error, name, nearest),
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
                .why(format!("{reason}: {}", visible(detail)))
                .next("search another file"),
            Error::OverBudget { .. } => Self::failed(&error)
                .why("there are too many ways to match its long lists")
                .next("use fewer `$$$` in one list, or more code between them"),
            Error::Template { error: template, .. } => Self::invalid_input(&error)
                .why(template)
                .next(template.next()),
            Error::NothingStaged {
                reasons,
                next,
                others,
            } => Self::failed(&error)
                .why(joined(reasons, *others))
                .next(next.join("; ")),
            Error::NoRoom { held, staged, .. } if staged.is_empty() => Self::failed(&error)
                .why(format!("this one alone is larger ({held} bytes are held)"))
                .next("narrow `path` and stage it in parts"),
            Error::NoRoom { held, staged, .. } => Self::conflict(&error)
                .why(format!(
                    "with this one it would be more; {held} bytes are held by {}",
                    quoted(staged)
                ))
                .next("accept or discard some of them with `resolve`, or narrow `path`"),
            Error::NotStaged { .. } => not_staged(&error),
            Error::Rejected {
                id,
                files,
                mismatches,
                forbidden,
            } => Self::conflict(&error)
                .why(format!(
                    "nothing was written, since {} as staged: {}",
                    which(mismatches.len(), *files),
                    joined(
                        mismatches.get(..MAX_MISMATCHES).unwrap_or(mismatches),
                        mismatches.len().saturating_sub(MAX_MISMATCHES)
                    ),
                ))
                .next(format!(
                    "`{id}` stays staged: {} and accept it again, or discard it and call `ast_edit` again",
                    remedy(mismatches.len(), *forbidden)
                )),
        };
        base.source(error)
    }
}

/// Names the languages that are near to the one given, or all where these were
/// asked for.
fn unknown_language(error: &Error, name: &str, nearest: &[String]) -> ToolError {
    let error = ToolError::invalid_input(error);
    let near = nearest.get(..MAX_LANGUAGES).unwrap_or(nearest);
    if name == ALL_LANGUAGES || near.len() == nearest.len() {
        error
            .why(format!(
                "known languages, nearest first: {}",
                nearest.join(", ")
            ))
            .next("use one of them, or leave `language` out")
    } else {
        error
            .why(format!(
                "of {} known languages, nearest first: {}",
                nearest.len(),
                near.join(", ")
            ))
            .next(format!(
                "use one of them, leave `language` out, or give `{ALL_LANGUAGES}` to be told all"
            ))
    }
}

/// Says how many files of an edit reject it.
fn which(mismatches: usize, files: usize) -> String {
    match (mismatches, files) {
        (1, 1) => "its only file cannot be changed".to_owned(),
        (some, all) if some == all => format!("none of its {all} files can be changed"),
        (some, all) => format!("{some} of its {all} files cannot be changed"),
    }
}

/// Says what makes a rejected edit fit.
fn remedy(mismatches: usize, forbidden: usize) -> &'static str {
    match (mismatches, forbidden) {
        (1, 0) => "put the file back as it was",
        (_, 0) => "put these files back as they were",
        (1, _) => "ask the user to make the file and its folder writable",
        (some, all) if some == all => "ask the user to make these files and their folders writable",
        _ => {
            "put the files that differ back as they were, ask the user to make the others and their folders writable,"
        }
    }
}

/// Says what became of an edit that cannot be resolved.
fn not_staged(error: &Error) -> ToolError {
    let Error::NotStaged {
        action,
        reason,
        staged,
        ..
    } = error
    else {
        return ToolError::internal(error);
    };
    let waiting = if staged.is_empty() {
        "nothing is staged in this run".to_owned()
    } else {
        format!("staged: {}", quoted(staged))
    };
    match (reason, action) {
        (NotStaged::Unknown, _) => ToolError::not_found(error)
            .why(format!("there is no such edit; {waiting}"))
            .next("give the edit_id of a `(proposed)` result"),
        (NotStaged::OfAnotherRun, _) => ToolError::not_found(error)
            .why(format!(
                "it belongs to another run, and only that run can resolve it; {waiting}"
            ))
            .next("call `ast_edit` to stage the edit here"),
        (NotStaged::Accepting, _) => ToolError::conflict(error)
            .why("another call is writing it at this moment")
            .next("wait for the answer to that call"),
        (NotStaged::Accepted, ResolveAction::Accept) => ToolError::conflict(error)
            .why("it was accepted already, and its files are written")
            .next("go on; there is nothing left to do for it"),
        (NotStaged::Accepted, ResolveAction::Discard) => ToolError::conflict(error)
            .why("it was accepted already, and its files are written")
            .next("to take it back, stage the reverse rewrite or restore the files"),
        (NotStaged::Discarded, ResolveAction::Accept) => ToolError::conflict(error)
            .why("it was discarded")
            .next("call `ast_edit` again to stage it anew"),
        (NotStaged::Discarded, ResolveAction::Discard) => ToolError::conflict(error)
            .why("it was discarded already")
            .next("go on; there is nothing left to do for it"),
    }
}

/// Joins reasons, and says how many are not among them.
fn joined(reasons: &[String], others: usize) -> String {
    let mut text = reasons.join("; ");
    match others {
        0 => {}
        1 => text.push_str("; and 1 other file"),
        _ => text.push_str(&format!("; and {others} other files")),
    }
    text
}

fn quoted(ids: &[String]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    ids.join(", ")
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
