//! Writes a change of one file as a unified diff.
//!
//! Where the file changed is known, so only the lines that a replacement
//! touches are compared: the work grows with the file and its replacements,
//! not with their product.

use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices_by_key};

/// Unchanged lines shown on each side of a change.
const CONTEXT_LINES: usize = 3;

/// A unified diff of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FileDiff {
    /// The lines that name the file, then the hunks.
    pub(crate) text: String,
    /// Where each hunk begins in the text; the last one ends with it.
    pub(crate) hunks: Vec<usize>,
    /// Lines added.
    pub(crate) added: usize,
    /// Lines removed.
    pub(crate) removed: usize,
}

/// Compares two versions of a file that differ in `replaced` only: bytes before
/// and bytes after, in order and without overlap.
pub(crate) fn unified(
    path: &str,
    before: &str,
    after: &str,
    replaced: impl Iterator<Item = (Range<usize>, Range<usize>)>,
) -> FileDiff {
    let changes = changes(before, after, replaced);
    let mut diff = FileDiff::default();
    if changes.is_empty() {
        return diff;
    }
    let _ = write!(
        diff.text,
        "--- {}\n+++ {}\n",
        name("a/", path),
        name("b/", path)
    );
    let mut rest = changes.as_slice();
    while let Some((first, others)) = rest.split_first() {
        let mut end = first;
        let mut count = 1;
        for next in others {
            let gap = lines_in(before.get(end.before.end..next.before.start));
            if gap > 2 * CONTEXT_LINES {
                break;
            }
            end = next;
            count += 1;
        }
        let (hunk, later) = rest.split_at(count);
        diff.hunk(before, after, hunk);
        rest = later;
    }
    diff
}

/// Lines that were replaced by others; either may be none.
#[derive(Debug, Default)]
struct Change {
    before: Range<usize>,
    after: Range<usize>,
    /// Lines of the file before `before`.
    lines_before: usize,
    /// Lines of the new file before `after`.
    lines_after: usize,
}

impl FileDiff {
    fn hunk(&mut self, before: &str, after: &str, changes: &[Change]) {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else {
            return;
        };
        let (lead, lead_lines) = lines_back(before, first.before.start);
        let (tail, tail_lines) = lines_ahead(before, last.before.end);
        let old_lines = last.lines_before - first.lines_before
            + lines_in(before.get(last.before.clone()))
            + lead_lines
            + tail_lines;
        let new_lines = last.lines_after - first.lines_after
            + lines_in(after.get(last.after.clone()))
            + lead_lines
            + tail_lines;
        self.hunks.push(self.text.len());
        let _ = writeln!(
            self.text,
            "@@ -{} +{} @@",
            span(first.lines_before - lead_lines, old_lines),
            span(first.lines_after - lead_lines, new_lines)
        );
        let mut at = lead;
        for change in changes {
            self.lines(' ', before.get(at..change.before.start));
            self.removed += self.lines('-', before.get(change.before.clone()));
            self.added += self.lines('+', after.get(change.after.clone()));
            at = change.before.end;
        }
        self.lines(' ', before.get(at..tail));
    }

    fn lines(&mut self, mark: char, text: Option<&str>) -> usize {
        let mut count = 0;
        for line in text.unwrap_or_default().split_inclusive('\n') {
            self.text.push(mark);
            self.text.push_str(line);
            if !line.ends_with('\n') {
                self.text.push_str("\n\\ No newline at end of file\n");
            }
            count += 1;
        }
        count
    }
}

/// Returns what changed, in whole lines and in order.
fn changes(
    before: &str,
    after: &str,
    replaced: impl Iterator<Item = (Range<usize>, Range<usize>)>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut place = Place::default();
    for (old, new) in regions(before, after, replaced) {
        refine(before, after, old, new, &mut place, &mut changes);
    }
    changes
}

/// Widens replacements to whole lines, and joins those that share a line.
fn regions(
    before: &str,
    after: &str,
    replaced: impl Iterator<Item = (Range<usize>, Range<usize>)>,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut regions: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for (old, new) in replaced {
        let settled = match regions.last_mut() {
            Some((old_lines, new_lines)) if old.start < old_lines.end => {
                if old.end >= old_lines.end {
                    old_lines.end = end_of_lines(before, after, old.end, new.end);
                }
                new_lines.end = new.end + (old_lines.end - old.end);
                continue;
            }
            Some((old_lines, _)) => old_lines.end,
            None => 0,
        };
        let unchanged = before.get(settled..old.start).unwrap_or_default();
        let start =
            memchr::memrchr(b'\n', unchanged.as_bytes()).map_or(settled, |n| settled + n + 1);
        let end = end_of_lines(before, after, old.end, new.end);
        regions.push((
            start..end,
            new.start - (old.start - start)..new.end + (end - old.end),
        ));
    }
    regions
}

/// Returns where the lines end that a replacement touches, in the old text: at
/// its own end where both texts begin a line there.
fn end_of_lines(before: &str, after: &str, old_end: usize, new_end: usize) -> usize {
    let begins_line = |text: &str, at: usize| {
        at == 0
            || text
                .as_bytes()
                .get(at - 1)
                .is_none_or(|byte| *byte == b'\n')
    };
    if begins_line(before, old_end) && begins_line(after, new_end) {
        return old_end;
    }
    let rest = before.get(old_end..).unwrap_or_default();
    memchr::memchr(b'\n', rest.as_bytes()).map_or(before.len(), |n| old_end + n + 1)
}

/// How far lines were counted: bytes and lines, in the old text and the new.
#[derive(Default)]
struct Place {
    before: (usize, usize),
    after: (usize, usize),
}

impl Place {
    /// Fills in the line numbers of a change that comes after those before it.
    fn count(&mut self, before: &str, after: &str, mut change: Change) -> Change {
        self.before.1 += lines_in(before.get(self.before.0..change.before.start));
        self.before.0 = change.before.start;
        self.after.1 += lines_in(after.get(self.after.0..change.after.start));
        self.after.0 = change.after.start;
        change.lines_before = self.before.1;
        change.lines_after = self.after.1;
        change
    }
}

/// Compares the lines of one region.
fn refine(
    before: &str,
    after: &str,
    old: Range<usize>,
    new: Range<usize>,
    place: &mut Place,
    changes: &mut Vec<Change>,
) {
    let old_lines = lines(before, &old);
    let new_lines = lines(after, &new);
    let start = |lines: &[(usize, &str)], at: usize, end: usize| {
        lines.get(at).map_or(end, |(start, _)| *start)
    };
    for op in capture_diff_slices_by_key(Algorithm::Myers, &old_lines, &new_lines, |l| l.1) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let [olds, news] = [op.old_range(), op.new_range()];
        let change = Change {
            before: start(&old_lines, olds.start, old.end)..start(&old_lines, olds.end, old.end),
            after: start(&new_lines, news.start, new.end)..start(&new_lines, news.end, new.end),
            ..Change::default()
        };
        changes.push(place.count(before, after, change));
    }
}

/// Returns the lines in a range, each with its start.
fn lines<'t>(text: &'t str, range: &Range<usize>) -> Vec<(usize, &'t str)> {
    let mut at = range.start;
    text.get(range.clone())
        .unwrap_or_default()
        .split_inclusive('\n')
        .map(|line| {
            at += line.len();
            (at - line.len(), line)
        })
        .collect()
}

/// Returns the number of lines of a text, a last one without an end included.
fn lines_in(text: Option<&str>) -> usize {
    let bytes = text.unwrap_or_default().as_bytes();
    let ends = memchr::memchr_iter(b'\n', bytes).count();
    ends + usize::from(bytes.last().is_some_and(|byte| *byte != b'\n'))
}

/// Returns the start of the lines of context that end at `at`, and their number.
fn lines_back(text: &str, at: usize) -> (usize, usize) {
    let (mut start, mut count) = (at, 0);
    while count < CONTEXT_LINES && start > 0 {
        let before = text.get(..start - 1).unwrap_or_default();
        start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |n| n + 1);
        count += 1;
    }
    (start, count)
}

/// Returns the end of the lines of context that start at `at`, and their number.
fn lines_ahead(text: &str, at: usize) -> (usize, usize) {
    let (mut end, mut count) = (at, 0);
    while count < CONTEXT_LINES && end < text.len() {
        let rest = text.get(end..).unwrap_or_default();
        end = memchr::memchr(b'\n', rest.as_bytes()).map_or(text.len(), |n| end + n + 1);
        count += 1;
    }
    (end, count)
}

/// Writes the first line, from 1, and how many; no lines are counted after the
/// one in front of them.
fn span(lines_in_front: usize, count: usize) -> String {
    match count {
        0 => format!("{lines_in_front},0"),
        1 => format!("{}", lines_in_front + 1),
        _ => format!("{},{count}", lines_in_front + 1),
    }
}

/// Writes a path so that `git apply` and `patch` read the same one.
fn name(prefix: &str, path: &str) -> String {
    if path.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        let mut quoted = format!("\"{prefix}");
        for byte in path.bytes() {
            match byte {
                b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
                b'\n' => quoted.push_str("\\n"),
                b'\t' => quoted.push_str("\\t"),
                0x20..0x7f => quoted.push(char::from(byte)),
                _ => {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
        }
        quoted.push('"');
        quoted
    } else if path.contains(' ') {
        // What follows a tab is no part of the name.
        format!("{prefix}{path}\t")
    } else {
        format!("{prefix}{path}")
    }
}

#[cfg(test)]
mod tests;
