//! Chooses what of a long diff is shown: hunks of as many files as fit.

mod lines;

use std::fmt::Write as _;

use tiers::visible;

use self::lines::Lines;
use crate::diff::FileDiff;
use crate::tool::counted;

/// Lines of diff shown.
const MAX_LINES: usize = 400;
/// Bytes of diff shown.
const MAX_BYTES: usize = 24 * 1024;
/// Lines shown of one hunk.
const MAX_HUNK_LINES: usize = 100;
/// Characters shown of one line, and of one in a hunk that is too long with these.
const WIDTHS: [usize; 3] = [300, 160, 80];
/// Hunks looked at, fitting or not.
const MAX_HUNKS: usize = 2_000;
/// Bytes that a first hunk gets at least, where it does not fit whole.
const MIN_SHARE: usize = 2 * 1024;
/// Lines of a hunk that say something of it.
const MIN_PART_LINES: usize = 8;
/// Files named of which nothing is shown.
const MAX_NAMED: usize = 30;

/// A changed file, as it is shown.
pub(super) struct Shown<'a> {
    pub(super) path: &'a str,
    pub(super) replacements: usize,
    pub(super) diff: &'a FileDiff,
}

/// What is shown of a hunk.
#[derive(Default)]
struct Excerpt {
    lines: Vec<String>,
    /// Lines that the hunk has.
    of: usize,
}

/// Lines and bytes that may still be written.
#[derive(Clone, Copy)]
struct Room {
    lines: usize,
    bytes: usize,
}

/// Writes the diff, or the first hunks of it with what was left out; `narrower`
/// says how to see the rest.
pub(super) fn write(files: &[Shown<'_>], narrower: &str, out: &mut String) {
    let chosen = choose(files);
    let mut shown_lines = 0;
    let mut shown_files = 0;
    for (file, hunks) in files.iter().zip(&chosen) {
        if hunks.is_empty() {
            continue;
        }
        shown_files += 1;
        for line in head(file.diff).lines() {
            let _ = writeln!(out, "{}", visible(line));
            shown_lines += 1;
        }
        for hunk in hunks {
            for line in &hunk.lines {
                let _ = writeln!(out, "{line}");
            }
            let shown = hunk.lines.len();
            shown_lines += shown;
            if shown < hunk.of {
                let _ = writeln!(out, "[{shown} of {} lines of this hunk shown]", hunk.of);
            }
        }
        let all = file.diff.hunks.len();
        if hunks.len() < all {
            let _ = writeln!(out, "[{} of {all} hunks of this file shown]", hunks.len());
        }
    }
    let lines: usize = files.iter().map(|f| f.diff.text.lines().count()).sum();
    if shown_lines == lines {
        return;
    }
    let of_files = match files.len() {
        1 => String::new(),
        all => format!(", of {shown_files} of {all} files"),
    };
    let _ = writeln!(
        out,
        "[{shown_lines} of {lines} lines of the diff shown{of_files}; to see the rest, {narrower}]"
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
/// files as can be are seen; of a first one that does not fit, a part.
fn choose(files: &[Shown<'_>]) -> Vec<Vec<Excerpt>> {
    let mut chosen: Vec<Vec<Excerpt>> = files.iter().map(|_| Vec::new()).collect();
    let mut room = Room {
        lines: MAX_LINES,
        bytes: MAX_BYTES,
    };
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
            let whole = Room {
                lines: MAX_HUNK_LINES,
                bytes: room.bytes,
            };
            let [width, ..] = WIDTHS;
            let hunk = hunk_text(file.diff, round);
            let excerpt = Excerpt::of(hunk, whole, width);
            if excerpt.lines.len() == excerpt.of.min(MAX_HUNK_LINES) {
                room.take(file.diff, excerpt, hunks);
            }
        }
        if round == 0 {
            parts(files, &mut chosen, &mut room);
        }
    }
    chosen
}

/// Shows a part of the first hunks that do not fit whole.
fn parts(files: &[Shown<'_>], chosen: &mut [Vec<Excerpt>], room: &mut Room) {
    let mut left = chosen.iter().filter(|hunks| hunks.is_empty()).count();
    for (file, hunks) in files.iter().zip(chosen) {
        if !hunks.is_empty() {
            continue;
        }
        let head = head(file.diff).len();
        let share = (room.bytes / left.max(1)).max(MIN_SHARE).min(room.bytes);
        left -= 1;
        let Some(bytes) = share.checked_sub(head).filter(|_| room.lines > 2) else {
            return;
        };
        let most = Room {
            lines: MAX_HUNK_LINES.min(room.lines - 2),
            bytes,
        };
        let excerpt = Excerpt::fitting(hunk_text(file.diff, 0), most);
        if excerpt.lines.len() < excerpt.of.min(MIN_PART_LINES) {
            return;
        }
        room.take(file.diff, excerpt, hunks);
    }
}

impl Room {
    /// Keeps an excerpt, if there is room for it.
    fn take(&mut self, diff: &FileDiff, excerpt: Excerpt, hunks: &mut Vec<Excerpt>) {
        let (mut lines, mut bytes) = (excerpt.lines.len(), excerpt.bytes());
        if hunks.is_empty() {
            lines += 2;
            bytes += head(diff).len();
        }
        if lines <= self.lines && bytes <= self.bytes {
            self.lines -= lines;
            self.bytes -= bytes;
            hunks.push(excerpt);
        }
    }
}

impl Excerpt {
    /// Takes the lines of a hunk that fit, each of at most so many characters.
    fn of(hunk: &str, most: Room, width: usize) -> Self {
        let mut excerpt = Self {
            lines: Vec::new(),
            of: hunk.lines().count(),
        };
        let mut bytes = 0;
        for line in Lines::of(hunk).take(most.lines) {
            let line = line.shown(width);
            bytes += line.len() + 1;
            if bytes > most.bytes {
                break;
            }
            excerpt.lines.push(line);
        }
        excerpt
    }

    /// Cuts the lines of a hunk as much as it takes to show all of them, as far
    /// as that goes.
    fn fitting(hunk: &str, most: Room) -> Self {
        let mut widest = Self::default();
        for width in WIDTHS {
            widest = Self::of(hunk, most, width);
            if widest.lines.len() == widest.of.min(most.lines) {
                break;
            }
        }
        widest
    }

    fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum()
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
