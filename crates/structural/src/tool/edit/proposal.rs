//! Writes what the model reads of a staged edit: what would change, what was
//! left alone and why.

use std::fmt::Write as _;

use tiers::visible;

use super::Rewritten;
use super::shown::{self, Shown};
use crate::excerpt::Position;
use crate::sweep::{FileEdit, Refusal};
use crate::tool::{counted, nothing, render};

/// Places named of each kind of thing that was left alone.
pub(super) const MAX_NAMED: usize = 5;

pub(super) fn text(rewritten: &Rewritten<'_>) -> String {
    let mut out = String::new();
    match &rewritten.edit_id {
        Some(id) => {
            let _ = writeln!(
                out,
                "(proposed) {} in {}, nothing is written yet: call resolve with edit_id \"{id}\" and action \"accept\" or \"discard\"\n",
                counted(rewritten.replacements(), "replacement"),
                counted(rewritten.changes().count(), "file"),
            );
            let files: Vec<Shown<'_>> = rewritten
                .changes()
                .map(|(path, change)| Shown {
                    path,
                    replacements: change.replaced.len(),
                    diff: &change.diff,
                })
                .collect();
            shown::write(&files, rewritten.narrower(), &mut out);
            out.push('\n');
        }
        None if rewritten.edits.iter().any(FileEdit::has_matches) => {
            let _ = writeln!(out, "0 changes, nothing is staged");
        }
        None => {
            nothing::text(&rewritten.report, &mut out);
            let _ = writeln!(out, "nothing is staged");
        }
    }
    left_alone(rewritten, &mut out);
    render::notes(&rewritten.report, &mut out);
    out.truncate(out.trim_end().len());
    out
}

/// Says which matches become nothing new, and why.
fn left_alone(rewritten: &Rewritten<'_>, out: &mut String) {
    let sum = |count: fn(&FileEdit) -> usize| rewritten.edits.iter().map(count).sum::<usize>();
    let unchanged = sum(|edit| edit.unchanged);
    if unchanged > 0 {
        let noun = if unchanged == 1 {
            "result equals its input"
        } else {
            "results equal their input"
        };
        let _ = writeln!(out, "{unchanged} {noun}");
    }
    let in_errors = rewritten.in_errors().count();
    if in_errors > 0 {
        let places = rewritten.in_errors().map(place);
        let verb = if in_errors == 1 {
            "match touches"
        } else {
            "matches touch"
        };
        let _ = writeln!(
            out,
            "left alone: {in_errors} {verb} a syntax error: {}",
            some(places, in_errors)
        );
    }
    let refused = rewritten.refused().count();
    for (path, why) in rewritten.refused().take(MAX_NAMED) {
        let _ = writeln!(out, "left alone: {}", refusal(path, why));
    }
    if let Some(more @ 1..) = refused.checked_sub(MAX_NAMED) {
        let _ = writeln!(
            out,
            "left alone for such reasons: {}",
            counted(more, "other file")
        );
    }
    let nested = sum(|edit| edit.nested);
    if nested > 0 {
        let (noun, them) = if nested == 1 {
            ("match inside another", "it")
        } else {
            ("matches inside others", "them")
        };
        let _ = writeln!(
            out,
            "left alone: {nested} {noun}; call ast_edit again after accepting to rewrite {them}"
        );
    }
    let regrouped = rewritten.regrouped().count();
    if regrouped > 0 {
        let places = rewritten.regrouped();
        let _ = writeln!(
            out,
            "check: {} where code groups differently than before: {}; {}",
            counted(regrouped, "replacement"),
            some(places.map(place), regrouped),
            if has_several_statements(rewritten.rewrite) {
                "where one statement became several, braces around those of `rewrite` keep them together"
            } else {
                "parentheses around the metavariable in `rewrite` keep it whole"
            }
        );
    }
    let lost = sum(|edit| edit.lost_comments);
    if lost > 0 {
        let (noun, verb) = if lost == 1 {
            ("comment", "is")
        } else {
            ("comments", "are")
        };
        let _ = writeln!(
            out,
            "{lost} {noun} inside the matches {verb} lost: outside every metavariable, so the result has no place for them"
        );
    }
}

/// Whether a template looks like more than one statement.
fn has_several_statements(rewrite: &str) -> bool {
    let text = rewrite.trim().trim_end_matches(';');
    !text.starts_with('{') && text.contains([';', '\n'])
}

/// Says why a file is left alone.
pub(super) fn refusal(path: &str, refusal: &Refusal) -> String {
    format!("`{}`, {}", visible(path), visible(&refusal.reason))
}

fn place((path, at): (&str, Position)) -> String {
    format!("{}:{}", visible(path), at.line)
}

/// Joins the first of some places.
fn some(places: impl Iterator<Item = String>, all: usize) -> String {
    let mut text = places.take(MAX_NAMED).collect::<Vec<_>>().join(", ");
    if all > MAX_NAMED {
        let _ = write!(text, " and {} more", all - MAX_NAMED);
    }
    text
}
