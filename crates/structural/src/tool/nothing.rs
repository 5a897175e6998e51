//! Writes what the model reads where nothing matched: what was looked at, how,
//! and what comes close.

use std::fmt::Write as _;

use tiers::visible;

use super::counted;
use super::render::{quoted, visible_quoted};
use super::report::Report;
use crate::near::NearMiss;
use crate::scan::Job;

/// Words of the pattern named, at most.
const MAX_WORDS: usize = 4;
/// Sets of words told apart, at most.
const MAX_WORD_GROUPS: usize = 3;
/// Ways to read the pattern named, at most.
const MAX_READINGS: usize = 8;
/// Files of rules named, at most.
const MAX_RULE_FILES: usize = 3;

/// Says what was looked at, and what is close.
pub(super) fn text(report: &Report<'_>, out: &mut String) {
    headline(report, out);
    if !report.searched().is_empty() {
        readings(report, out);
        literals(report, out);
        for miss in &report.near_misses {
            near_miss(miss, out);
        }
        hints(report, out);
    }
    left_out(report, out);
}

fn headline(report: &Report<'_>, out: &mut String) {
    let place = if report.target.path.is_root() {
        "the workspace".to_owned()
    } else {
        format!("`{}`", visible(report.target.path.relative()))
    };
    if report.scope.listing.files.is_empty() {
        let language = report
            .target
            .language
            .map_or("a known language".to_owned(), |l| {
                format!("language {}", l.id)
            });
        let _ = writeln!(
            out,
            "no matches: no file of {language} under {place} ({}; hidden ones are not listed)",
            counted(report.scope.listing.other_files, "other file")
        );
        return;
    }
    let searched = report.searched();
    let files: usize = searched.values().sum();
    if files == 0 {
        let listed = counted(report.scope.listing.files.len(), "file");
        let _ = writeln!(
            out,
            "no matches: nothing was searched of {listed} under {place}"
        );
        return;
    }
    let languages: Vec<&str> = searched.into_keys().collect();
    let part = match report.unfinished().next() {
        Some(_) => "what was searched of ",
        None => "",
    };
    let noun = if files == 1 { "file" } else { "files" };
    let _ = writeln!(
        out,
        "no matches in {part}{files} {} {noun} under {place}",
        languages.join(", ")
    );
}

/// Says how the pattern was read.
fn readings(report: &Report<'_>, out: &mut String) {
    let mut readings: Vec<String> = Vec::new();
    for job in report.scope.jobs.values() {
        for (rung, kind) in job.pattern.readings() {
            let reading = format!("{rung} ({kind})");
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
    }
    readings.truncate(MAX_READINGS);
    let _ = writeln!(out, "the pattern was read as: {}", readings.join(", "));
}

/// Says whether the words of the pattern occur at all, of languages that have
/// the same words together.
fn literals(report: &Report<'_>, out: &mut String) {
    let mut groups: Vec<(Vec<String>, usize)> = Vec::new();
    for (id, job) in &report.scope.jobs {
        let words: Vec<String> = job
            .plan
            .words()
            .take(MAX_WORDS)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let outcomes = report.scanned.outcomes.iter();
        let with_all = outcomes
            .filter(|o| o.searched_as == Some(id) && o.has_literals)
            .count();
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, files)) => *files += with_all,
            None if words.is_empty() => {}
            None => groups.push((words, with_all)),
        }
    }
    groups.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
    for (words, files) in groups.into_iter().take(MAX_WORD_GROUPS) {
        let words = quoted(&words);
        let _ = match files {
            0 => writeln!(out, "no file has all of {words}"),
            1 => writeln!(out, "1 file has {words}, but not in this shape"),
            _ => writeln!(out, "{files} files have {words}, but not in this shape"),
        };
    }
}

fn near_miss(miss: &NearMiss, out: &mut String) {
    let _ = write!(
        out,
        "near miss: {}:{} would match but for `{}` ({})",
        visible(&miss.path),
        miss.line,
        visible(&miss.unmatched),
        miss.unmatched_kind
    );
    let _ = match &miss.pattern {
        Some(pattern) if pattern.contains('\n') => {
            writeln!(out, "; to find it:\n{pattern}")
        }
        Some(pattern) => writeln!(out, "; to find it: `{pattern}`"),
        None => writeln!(out, "; mention it in the pattern to find it"),
    };
}

/// Gives the hints of all languages searched, each once; one that holds for
/// some of them only names these.
fn hints(report: &Report<'_>, out: &mut String) {
    let mut hints: Vec<(String, Vec<&str>)> = Vec::new();
    for (id, job) in &report.scope.jobs {
        for hint in [plain(job), clash(job), injection(id)]
            .into_iter()
            .flatten()
        {
            match hints.iter_mut().find(|(known, _)| *known == hint) {
                Some((_, ids)) => ids.push(id),
                None => hints.push((hint, vec![id])),
            }
        }
    }
    for (hint, ids) in hints {
        let _ = if ids.len() == report.scope.jobs.len() {
            writeln!(out, "{hint}")
        } else {
            writeln!(out, "in {}: {hint}", ids.join(", "))
        };
    }
}

fn plain(job: &Job) -> Option<String> {
    let dollars = job.pattern.plain_dollars();
    (!dollars.is_empty()).then(|| {
        format!(
            "taken as plain text, not as metavariables: {} (metavariables are upper case and not inside strings)",
            quoted(dollars)
        )
    })
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

fn injection(id: &str) -> Option<String> {
    let hint = match id {
        "html" | "svelte" => "scripts and styles inside the markup are not searched",
        "markdown" => "code inside fences is not searched",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Says which files of rules left something out: what is looked for may be there.
fn left_out(report: &Report<'_>, out: &mut String) {
    let mut ignored: Vec<(&String, &usize)> = report.scope.listing.ignored.iter().collect();
    if ignored.is_empty() {
        return;
    }
    let total: usize = ignored.iter().map(|(_, n)| **n).sum();
    ignored.sort_by_key(|(file, n)| (std::cmp::Reverse(**n), *file));
    let files: Vec<String> = ignored
        .iter()
        .take(MAX_RULE_FILES)
        .map(|(file, n)| {
            let above = if file.starts_with("..") {
                ", above the workspace"
            } else {
                ""
            };
            format!("{} ({n}{above})", visible_quoted(file))
        })
        .collect();
    let dots = if ignored.len() > MAX_RULE_FILES {
        ", …"
    } else {
        ""
    };
    let noun = if total == 1 {
        "file or folder is"
    } else {
        "files or folders are"
    };
    let _ = writeln!(
        out,
        "{total} {noun} left out by the rules in {}{dots}; a file that `path` names is searched all the same",
        files.join(", ")
    );
}
