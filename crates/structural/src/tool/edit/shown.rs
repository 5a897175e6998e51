//! Chooses what of a long diff is shown: hunks of as many files as fit.

use std::fmt::Write as _;

use tiers::visible;

use crate::diff::FileDiff;
use crate::tool::counted;

/// Lines of diff shown.
const MAX_LINES: usize = 400;
/// Bytes of diff shown.
const MAX_BYTES: usize = 24 * 1024;
/// Lines shown of one hunk.
const MAX_HUNK_LINES: usize = 100;
/// Characters shown of one line.
const MAX_LINE_CHARS: usize = 300;
/// Hunks looked at, fitting or not.
const MAX_HUNKS: usize = 2_000;
/// Files named of which nothing is shown.
const MAX_NAMED: usize = 30;

/// A changed file, as it is shown.
pub(super) struct Shown<'a> {
    pub(super) path: &'a str,
    pub(super) replacements: usize,
    pub(super) diff: &'a FileDiff,
}

/// Writes the diff, or the first hunks of it with what was left out.
pub(super) fn write(files: &[Shown<'_>], out: &mut String) {
    let chosen = choose(files);
    let mut shown_lines = 0;
    let mut shown_files = 0;
    for (file, hunks) in files.iter().zip(&chosen) {
        if hunks.is_empty() {
            continue;
        }
        shown_files += 1;
        for line in head(file.diff).lines() {
            let _ = writeln!(out, "{}", shown_line(line));
        }
        for hunk in hunks {
            shown_lines += write_hunk(hunk_text(file.diff, *hunk), out);
        }
        let all = file.diff.hunks.len();
        if hunks.len() < all {
            let _ = writeln!(out, "[{} of {all} hunks of this file shown]", hunks.len());
        }
    }
    let lines: usize = files.iter().map(|file| lines_of_hunks(file.diff)).sum();
    if shown_lines == lines {
        return;
    }
    let _ = writeln!(
        out,
        "[{shown_lines} of {lines} lines of the diff shown, of {shown_files} of {}; to see the rest, narrow `path`]",
        counted(files.len(), "file"),
    );
    let hidden = || {
        files
            .iter()
            .zip(&chosen)
            .filter(|(_, hunks)| hunks.is_empty())
            .map(|(file, _)| file)
    };
    for file in hidden().take(MAX_NAMED) {
        let count = counted(file.replacements, "replacement");
        let _ = writeln!(out, "{}: {count}", visible(file.path));
    }
    if let Some(more @ 1..) = hidden().count().checked_sub(MAX_NAMED) {
        let _ = writeln!(out, "and {}", counted(more, "other file"));
    }
}

/// Chooses hunks for each file: first ones before second ones, so that as many
/// files as can be are seen.
fn choose(files: &[Shown<'_>]) -> Vec<Vec<usize>> {
    let mut chosen = vec![Vec::new(); files.len()];
    let mut room = (MAX_LINES, MAX_BYTES);
    let mut looked_at = 0;
    let rounds = files.iter().map(|file| file.diff.hunks.len()).max();
    for round in 0..rounds.unwrap_or(0) {
        for (file, hunks) in files.iter().zip(&mut chosen) {
            if round >= file.diff.hunks.len() {
                continue;
            }
            looked_at += 1;
            if looked_at > MAX_HUNKS {
                return chosen;
            }
            let (mut lines, mut bytes) = cost(hunk_text(file.diff, round));
            if hunks.is_empty() {
                lines += 2;
                bytes += head(file.diff).len();
            }
            if lines <= room.0 && bytes <= room.1 {
                room = (room.0 - lines, room.1 - bytes);
                hunks.push(round);
            }
        }
    }
    chosen
}

/// Returns the lines and bytes that a hunk takes as it is shown.
fn cost(hunk: &str) -> (usize, usize) {
    let lines = || hunk.lines().take(MAX_HUNK_LINES);
    let bytes = lines().map(|line| line.len().min(MAX_LINE_CHARS * 2) + 1);
    (lines().count(), bytes.sum())
}

fn write_hunk(hunk: &str, out: &mut String) -> usize {
    let mut shown = 0;
    for line in hunk.lines().take(MAX_HUNK_LINES) {
        let _ = writeln!(out, "{}", shown_line(line));
        shown += 1;
    }
    let all = hunk.lines().count();
    if shown < all {
        let _ = writeln!(out, "[{shown} of {all} lines of this hunk shown]");
    }
    shown
}

fn shown_line(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        None => visible(line).into_owned(),
        Some((end, _)) => {
            let start = line.get(..end).unwrap_or_default();
            format!("{}…", visible(start))
        }
    }
}

/// Returns the lines that name the file.
fn head(diff: &FileDiff) -> &str {
    let end = diff.hunks.first().copied().unwrap_or(diff.text.len());
    diff.text.get(..end).unwrap_or_default()
}

fn hunk_text(diff: &FileDiff, number: usize) -> &str {
    let start = diff.hunks.get(number).copied().unwrap_or(diff.text.len());
    let end = diff.hunks.get(number + 1).copied();
    diff.text
        .get(start..end.unwrap_or(diff.text.len()))
        .unwrap_or_default()
}

fn lines_of_hunks(diff: &FileDiff) -> usize {
    diff.text.lines().count() - head(diff).lines().count()
}
