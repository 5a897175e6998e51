//! Writes the text that the model reads.

use std::fmt::Write as _;

use tiers::visible;

use super::nothing;
use super::report::Report;
use crate::pattern::PatternError;
use crate::scan::{Hit, Job, MAX_TEXTS, SkipReason};

/// Captures shown for one match, in characters.
const MAX_CAPTURES_CHARS: usize = 160;
/// Skipped or refused things named, at most.
const MAX_NAMED: usize = 5;

/// Returns the text of a result.
pub(super) fn text(report: &Report<'_>, shown: usize, total: usize, is_exact: bool) -> String {
    let mut out = String::new();
    unfinished(report, &mut out);
    if total == 0 {
        nothing::text(report, &mut out);
    } else {
        header(report, shown, total, is_exact, &mut out);
        let mut last_file = usize::MAX;
        for (file, hit) in report.hits().take(shown.min(MAX_TEXTS)) {
            let Some((id, job)) = report.job(file) else {
                continue;
            };
            if file != last_file {
                last_file = file;
                if let Some(file) = report.scope.listing.files.get(file) {
                    let _ = write!(out, "\n{}", visible(&file.relative));
                    if file.language.id != id {
                        let _ = write!(out, " (read as {id})");
                    }
                    out.push('\n');
                }
            }
            line(hit, job, &mut out);
        }
        if shown > MAX_TEXTS {
            let _ = writeln!(
                out,
                "\n{} more matches are only in `details`",
                shown - MAX_TEXTS
            );
        }
        if shown < total || !report.scanned.is_complete {
            let _ = writeln!(
                out,
                "\nmore matches exist: narrow `path`, make the pattern more specific, or raise `max_results`"
            );
        }
    }
    notes(report, &mut out);
    out.truncate(out.trim_end().len());
    out
}

/// Says first what the result lacks.
fn unfinished(report: &Report<'_>, out: &mut String) {
    let files: Vec<String> = report.unfinished().map(str::to_owned).collect();
    if files.is_empty() {
        return;
    }
    let named = quoted(files.get(..MAX_NAMED.min(files.len())).unwrap_or_default());
    let others = match files.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        n => format!(" and {n} more files"),
    };
    let _ = writeln!(
        out,
        "incomplete: {named}{others} was not searched to its end, so that matches may be missing"
    );
}

fn header(report: &Report<'_>, shown: usize, total: usize, is_exact: bool, out: &mut String) {
    let files = report
        .scanned
        .outcomes
        .iter()
        .filter(|o| !o.hits.is_empty())
        .count();
    let kinds = kinds(report, shown);
    let noun = if total == 1 { "match" } else { "matches" };
    let files_noun = if files == 1 { "file" } else { "files" };
    let _ = if is_exact && shown == total {
        writeln!(out, "{total} {noun} in {files} {files_noun} ({kinds})")
    } else if is_exact {
        writeln!(
            out,
            "{shown} of {total} {noun} shown, in {files} {files_noun} ({kinds})"
        )
    } else {
        writeln!(out, "{shown} shown, at least {total} {noun} ({kinds})")
    };
}

/// Names the kinds of nodes found, most frequent first.
fn kinds(report: &Report<'_>, shown: usize) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for (file, hit) in report.hits().take(shown.min(MAX_TEXTS)) {
        let Some((_, job)) = report.job(file) else {
            continue;
        };
        let name = job.grammar.kind_name(hit.found.kind);
        match counts.iter_mut().find(|(n, _)| *n == name) {
            Some((_, n)) => *n += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn line(hit: &Hit, job: &Job, out: &mut String) {
    let Some(texts) = &hit.texts else { return };
    let _ = write!(out, "{}: {}", hit.start.line, visible(&texts.line));
    let more = hit.end.line - hit.start.line;
    if more > 0 {
        let _ = write!(
            out,
            " … (+{more} {})",
            if more == 1 { "line" } else { "lines" }
        );
    }
    if hit.found.has_error {
        out.push_str(" [touches a syntax error]");
    }
    let mut captures = String::new();
    for (variable, text) in job.pattern.variables().iter().zip(&texts.captures) {
        let Some(text) = text else { continue };
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let flat = visible(&flat);
        if !captures.is_empty() {
            captures.push_str("  ");
        }
        let short: String = flat.chars().take(60).collect();
        let dots = if short.len() < flat.len() { "…" } else { "" };
        let _ = write!(captures, "{}={short}{dots}", variable.name);
        if captures.chars().count() > MAX_CAPTURES_CHARS {
            captures = captures
                .chars()
                .take(MAX_CAPTURES_CHARS)
                .chain("…".chars())
                .collect();
            break;
        }
    }
    if !captures.is_empty() {
        let _ = write!(out, "   [{captures}]");
    }
    out.push('\n');
}

/// Returns the words as code, with `, ` between them.
pub(super) fn quoted(words: &[String]) -> String {
    words
        .iter()
        .map(|w| visible_quoted(w))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns a text as code.
pub(super) fn visible_quoted(text: &str) -> String {
    format!("`{}`", visible(text))
}

/// Says what was left out.
pub(super) fn notes(report: &Report<'_>, out: &mut String) {
    if let (Some(known), Some(read)) = (report.scope.known_as, report.target.language) {
        let _ = writeln!(
            out,
            "note: {} is {known} by its name, and was read as {} since `language` says so",
            visible_quoted(report.target.path.relative()),
            read.id
        );
    }
    let skipped = report.skipped();
    for reason in [
        SkipReason::NotUtf8,
        SkipReason::Binary,
        SkipReason::TooLarge,
        SkipReason::Unreadable,
        SkipReason::TooSlow,
    ] {
        let paths: Vec<String> = skipped
            .iter()
            .filter(|s| s.reason == reason)
            .map(|s| s.path.clone())
            .collect();
        if paths.is_empty() {
            continue;
        }
        let named = quoted(paths.get(..MAX_NAMED.min(paths.len())).unwrap_or_default());
        let dots = if paths.len() > MAX_NAMED { ", …" } else { "" };
        let noun = if paths.len() == 1 { "file" } else { "files" };
        let _ = writeln!(
            out,
            "skipped {} {noun}, {reason}: {named}{dots}",
            paths.len()
        );
    }
    let unparsable: Vec<&str> = report
        .scope
        .refused
        .iter()
        .filter(|(_, error)| !matches!(error, PatternError::NoGrammar(_)))
        .map(|(id, _)| *id)
        .collect();
    if !unparsable.is_empty() {
        let ids = unparsable
            .get(..MAX_NAMED.min(unparsable.len()))
            .unwrap_or_default();
        let dots = if unparsable.len() > MAX_NAMED {
            ", …"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "not searched, since the pattern does not parse there: {}{dots}",
            ids.join(", ")
        );
    }
    for (id, error) in &report.scope.refused {
        if let PatternError::NoGrammar(error) = error {
            let _ = writeln!(out, "{id} files were not searched: {error}");
        }
    }
    for trouble in report.scope.listing.troubles.iter().take(MAX_NAMED) {
        let _ = writeln!(out, "{}", visible(trouble));
    }
}
