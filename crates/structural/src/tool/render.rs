//! Writes the text that the model reads.

use std::fmt::Write as _;

use super::Report;
use crate::pattern::PatternError;
use crate::scan::{Hit, Job, MAX_TEXTS, SkipReason};

/// Captures shown for one match, in characters.
const MAX_CAPTURES_CHARS: usize = 160;
/// Skipped or refused things named, at most.
const MAX_NAMED: usize = 5;

/// Returns the text of a result.
pub(super) fn text(report: &Report<'_>, shown: usize, total: usize, is_exact: bool) -> String {
    let mut out = String::new();
    if total == 0 {
        nothing(report, &mut out);
    } else {
        header(report, shown, total, is_exact, &mut out);
        let mut last_file = usize::MAX;
        for (file, hit) in report.hits().take(shown.min(MAX_TEXTS)) {
            let Some((_, job)) = report.job(file) else {
                continue;
            };
            if file != last_file {
                last_file = file;
                let path = report
                    .listing
                    .files
                    .get(file)
                    .map_or("", |f| f.relative.as_str());
                let _ = writeln!(out, "\n{path}");
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
        if shown < total || !is_exact {
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
    let _ = write!(out, "{}: {}", hit.start.line, texts.line.trim());
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

/// Says what was looked at, and what is close.
fn nothing(report: &Report<'_>, out: &mut String) {
    let files = report
        .scanned
        .outcomes
        .iter()
        .filter(|o| o.skipped.is_none())
        .count();
    let place = report.request.path.relative();
    let place = if report.request.path.is_root() {
        "the workspace".to_owned()
    } else {
        format!("`{place}`")
    };
    if report.listing.files.is_empty() {
        let language = report
            .request
            .language
            .map_or("a known language".to_owned(), |l| {
                format!("language {}", l.id)
            });
        let _ = writeln!(
            out,
            "no matches: no file of {language} under {place} ({} other files; ignored and hidden files are not listed)",
            report.listing.other_files
        );
        return;
    }
    let languages: Vec<&str> = {
        let mut ids: Vec<&str> = report.listing.files.iter().map(|f| f.language.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    let noun = if files == 1 { "file" } else { "files" };
    let _ = writeln!(
        out,
        "no matches in {files} {} {noun} under {place}",
        languages.join(", ")
    );
    let mut readings: Vec<String> = report
        .jobs
        .values()
        .flat_map(|job| {
            job.pattern
                .readings()
                .map(|(rung, kind)| format!("{rung} ({kind})"))
                .collect::<Vec<_>>()
        })
        .collect();
    readings.dedup();
    readings.truncate(8);
    let _ = writeln!(out, "the pattern was read as: {}", readings.join(", "));
    literals(report, out);
    for miss in &report.near_misses {
        let _ = write!(
            out,
            "near miss: {}:{} would match but for `{}` ({})",
            miss.path, miss.line, miss.unmatched, miss.unmatched_kind
        );
        let _ = match &miss.pattern {
            Some(pattern) if pattern.contains('\n') => {
                writeln!(out, "; to find it:\n{pattern}")
            }
            Some(pattern) => writeln!(out, "; to find it: `{pattern}`"),
            None => writeln!(out, "; mention it in the pattern to find it"),
        };
    }
    for job in report.jobs.values().take(1) {
        if !job.pattern.plain_dollars().is_empty() {
            let _ = writeln!(
                out,
                "taken as plain text, not as metavariables: {} (metavariables are upper case and not inside strings)",
                quoted(job.pattern.plain_dollars())
            );
        }
        if let Some(hint) = clash(job) {
            let _ = writeln!(out, "{hint}");
        }
        if let Some(hint) = injection(job.grammar.language().id) {
            let _ = writeln!(out, "{hint}");
        }
    }
}

/// Says whether the words of the pattern occur at all.
fn literals(report: &Report<'_>, out: &mut String) {
    let has_literals = report
        .jobs
        .values()
        .any(|j| j.plan.words().next().is_some());
    if !has_literals {
        return;
    }
    let with_all = report
        .scanned
        .outcomes
        .iter()
        .filter(|o| o.has_literals)
        .count();
    let mut words: Vec<String> = Vec::new();
    for job in report.jobs.values() {
        for word in job.plan.words() {
            let word = String::from_utf8_lossy(word).into_owned();
            if !words.contains(&word) && words.len() < 4 {
                words.push(word);
            }
        }
    }
    let words = quoted(&words);
    let noun = if with_all == 1 {
        "file has"
    } else {
        "files have"
    };
    let _ = if with_all == 0 {
        writeln!(out, "no file has all of {words}")
    } else {
        writeln!(out, "{with_all} {noun} {words}, but not in this shape")
    };
}

fn quoted(words: &[String]) -> String {
    words
        .iter()
        .map(|w| format!("`{w}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A hint where `$NAME` is also a variable of the language.
fn clash(job: &Job) -> Option<String> {
    let id = job.grammar.language().id;
    let name = job.pattern.variables().first()?.name.clone();
    matches!(
        id,
        "bash" | "php" | "powershell" | "make" | "r" | "dockerfile"
    )
    .then(|| {
        format!("`${name}` is a metavariable here; for the variable of that name write `\\${name}`")
    })
}

fn injection(id: &str) -> Option<&'static str> {
    match id {
        "html" | "svelte" => Some("scripts and styles inside the markup are not searched"),
        "markdown" => Some("code inside fences is not searched"),
        _ => None,
    }
}

/// Says what was left out.
fn notes(report: &Report<'_>, out: &mut String) {
    let skipped = report.skipped();
    for reason in [
        SkipReason::NotUtf8,
        SkipReason::Binary,
        SkipReason::TooLarge,
        SkipReason::Unreadable,
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
    if let Some(error) = report.failed() {
        let _ = writeln!(out, "{error}");
    }
    let unparsable: Vec<&str> = report
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
    for (id, error) in report.refused {
        if let PatternError::NoGrammar(error) = error {
            let _ = writeln!(out, "{id} files were not searched: {error}");
        }
    }
    for (place, error) in report.listing.unreadable.iter().take(MAX_NAMED) {
        let _ = writeln!(out, "could not list: {place}{error}");
    }
}
