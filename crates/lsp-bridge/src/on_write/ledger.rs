//! What a run knows of the errors and warnings of each file, so that only those
//! that are new are told.
//!
//! A fault is known by its severity, code and message, and not by its place: one
//! that moved is not new. Faults are counted: a second one of a kind is new, and
//! one that is gone is new when it comes back.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use host::text::LineIndex;

use crate::tool::details::DiagnosticDetails as Fault;

/// What the ledger of a run is kept by: a server's id and a file.
pub(super) type Place = (String, PathBuf);

/// What makes two faults the same, wherever they stand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    severity: String,
    code: Option<String>,
    message: String,
}

/// What is known of the faults of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// The lines on which faults of each kind stand.
    lines: HashMap<Kind, Vec<u32>>,
    /// The text they stand in.
    text: Option<Arc<LineIndex<String>>>,
    /// Whether these are all.
    pub(super) is_whole: bool,
}

impl Kind {
    pub(super) fn of(fault: &Fault) -> Self {
        Self {
            severity: fault.severity.clone(),
            code: fault.code.clone(),
            message: normal(&fault.message),
        }
    }
}

impl Known {
    /// Builds it of a report.
    pub(super) fn new(faults: &[Fault], text: Option<Arc<LineIndex<String>>>) -> Self {
        let mut known = Self {
            lines: HashMap::new(),
            text,
            is_whole: true,
        };
        for fault in faults {
            let lines = known.lines.entry(Kind::of(fault)).or_default();
            lines.push(fault.line);
        }
        known
    }

    /// Adds a report that has not all: what it lacks may still be there.
    pub(super) fn add(&mut self, faults: &[Fault], text: Option<Arc<LineIndex<String>>>) {
        let more = Self::new(faults, text);
        for (kind, lines) in more.lines {
            let known = self.lines.entry(kind).or_default();
            if lines.len() >= known.len() {
                *known = lines;
            }
        }
        self.text = more.text;
    }

    /// Returns which of the faults of a text are new, as indices.
    pub(super) fn new_ones(
        &self,
        faults: &[Fault],
        text: Option<&LineIndex<String>>,
    ) -> Vec<usize> {
        let mut by_kind: HashMap<Kind, Vec<usize>> = HashMap::new();
        for (index, fault) in faults.iter().enumerate() {
            by_kind.entry(Kind::of(fault)).or_default().push(index);
        }
        let shift = match (&self.text, text) {
            (Some(old), Some(new)) => Shift::between(old, new),
            _ => Shift::default(),
        };
        let mut new = Vec::new();
        for (kind, mut found) in by_kind {
            let known = self.lines.get(&kind).map_or(&[][..], Vec::as_slice);
            let Some(count @ 1..) = found.len().checked_sub(known.len()) else {
                continue;
            };
            // Those on a line that had one before are the old ones.
            let mut old: Vec<u32> = known.iter().filter_map(|line| shift.of(*line)).collect();
            let line = |index: usize| faults.get(index).map_or(0, |fault| fault.line);
            found.sort_by_key(|index| {
                let at = old.iter().position(|old| *old == line(*index));
                at.map(|at| old.swap_remove(at)).is_some()
            });
            found.truncate(count);
            new.extend(found);
        }
        new.sort_unstable();
        new
    }
}

/// Where the lines of a text went that was changed in one place.
#[derive(Debug, Clone, Copy, Default)]
struct Shift {
    /// Lines, from 1, up to which nothing changed.
    same: usize,
    /// The first line after the change, in the old text.
    after: usize,
    by: i64,
}

impl Shift {
    fn between(old: &LineIndex<String>, new: &LineIndex<String>) -> Self {
        let old: Vec<&str> = old.text().lines().collect();
        let new: Vec<&str> = new.text().lines().collect();
        let pairs = old.iter().zip(&new);
        let same = pairs.take_while(|(old, new)| old == new).count();
        let room = old.len().min(new.len()) - same;
        let pairs = old.iter().rev().zip(new.iter().rev()).take(room);
        let end = pairs.take_while(|(old, new)| old == new).count();
        let length = |lines: &[&str]| i64::try_from(lines.len()).unwrap_or(i64::MAX);
        Self {
            same,
            after: old.len() - end + 1,
            by: length(&new) - length(&old),
        }
    }

    /// Returns nothing for a line that was changed itself.
    fn of(self, line: u32) -> Option<u32> {
        let number = usize::try_from(line).unwrap_or(usize::MAX);
        if number <= self.same {
            return Some(line);
        }
        let moved = u32::try_from(i64::from(line) + self.by).ok();
        moved.filter(|_| number >= self.after)
    }
}

/// Writes a message so that what names a place in it does not count.
fn normal(message: &str) -> String {
    // What follows an empty line explains: `help: ...`, `info: ...`.
    let lines = message.lines();
    let lines = lines.take_while(|line| {
        let line = line.trim_start();
        !line.starts_with("help:") && !line.starts_with("info:")
    });
    let words = lines.flat_map(str::split_whitespace);
    words.map(word).collect::<Vec<_>>().join(" ")
}

/// Leaves out of a word that it is an absolute path, or a place in a file.
fn word(word: &str) -> &str {
    let marks: &[char] = &['\'', '"', '`', '(', ')', '[', ']', ',', ';', '.', ':'];
    let bare = word.trim_matches(marks);
    let mut parts = bare.rsplit(':');
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = parts.by_ref().take_while(|part| is_number(part)).count();
    // `/a/b.py`, `/a/b:12`; routes such as `/users` are none.
    let name = bare.rsplit('/').next().unwrap_or_default();
    let is_path = bare.starts_with('/') && (name.contains('.') || numbers > 0);
    if is_path || bare.starts_with("file://") {
        return "<path>";
    }
    // `12:5`, `src/a.c:12:5`
    if numbers >= 2 {
        return "<place>";
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: u32, message: &str) -> Fault {
        Fault {
            severity: "error".to_owned(),
            line,
            column: 1,
            code: Some("E1".to_owned()),
            source: None,
            message: message.to_owned(),
        }
    }

    fn text(lines: &str) -> Arc<LineIndex<String>> {
        let lines: Vec<String> = lines.chars().map(String::from).collect();
        Arc::new(LineIndex::new(lines.join("\n")))
    }

    #[track_caller]
    fn check(before: (&str, &[u32]), after: (&str, &[u32]), new: &[u32]) {
        let faults =
            |lines: &[u32]| -> Vec<Fault> { lines.iter().map(|line| fault(*line, "x")).collect() };
        let known = Known::new(&faults(before.1), Some(text(before.0)));
        let after = (text(after.0), faults(after.1));
        let found = known.new_ones(&after.1, Some(&after.0));
        let found: Vec<u32> = found.iter().map(|index| after.1[*index].line).collect();
        assert_eq!(found, new);
    }

    #[test]
    fn pitfall_30_what_moved_is_not_new_and_a_second_one_is() {
        check(("abc", &[2]), ("xabc", &[3]), &[]);
        check(("abc", &[2]), ("abc", &[2, 3]), &[3]);
        // The old one moved onto the place of none.
        check(("abc", &[2]), ("xabc", &[1, 3]), &[1]);
        check(("abc", &[2, 3]), ("xyabc", &[1, 2, 4, 5]), &[1, 2]);
        check(("abc", &[1, 2, 3]), ("ac", &[1, 2]), &[]);
        check(("abc", &[]), ("abc", &[1, 2]), &[1, 2]);
    }

    #[test]
    fn pitfall_30_what_came_back_is_new_again() {
        let gone = Known::new(&[], None);
        assert_eq!(gone.new_ones(&[fault(1, "x")], None), [0]);
    }

    #[test]
    fn pitfall_30_messages_are_the_same_whatever_place_they_name() {
        let of = |message: &str| Kind::of(&fault(1, message));
        assert_eq!(of("a\u{a0}b  c"), of("a b c"));
        assert_eq!(of("x\n\nhelp: do y"), of("x"));
        assert_eq!(of("x\ninfo: in /a/b"), of("x"));
        assert_eq!(of("see `/a/b.py`"), of("see `/c/b.py`"));
        assert_eq!(of("declared at 12:5"), of("declared at 14:5"));
        assert_eq!(of("declared at a.c:12:5"), of("declared at a.c:14:5"));
        assert_ne!(of("no route `/users`"), of("no route `/items`"));
        assert_ne!(of("expected 2"), of("expected 3"));
        assert_ne!(of("a / b"), of("a b"));
    }

    #[test]
    fn a_report_that_lacks_something_takes_nothing_away() {
        let mut known = Known::new(&[fault(1, "x"), fault(2, "y")], None);
        known.add(&[fault(3, "y"), fault(4, "z"), fault(5, "y")], None);
        let all = [fault(1, "x"), fault(3, "y"), fault(5, "y"), fault(4, "z")];
        assert_eq!(known.new_ones(&all, None), [0_usize; 0]);
    }
}
