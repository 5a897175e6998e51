//! Finds the place of each hunk in a file and applies it.
//!
//! A hunk applies only where every line it keeps or removes stands in the file,
//! character for character. Line numbers choose between several such places;
//! they never make up for text that differs.

use super::super::document::{Document, Line};
use super::super::replace::{list_lines, quote};
use super::{Hunk, HunkLine};

/// Why a hunk does not apply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HunkError {
    /// Which hunk of the file, from 1.
    pub(crate) hunk: usize,
    /// What is wrong.
    pub(crate) why: String,
    /// What to do.
    pub(crate) next: String,
}

/// Applies `hunks`, in order, to `document`; returns the first line, from 1, of each.
///
/// On an error the document is left half changed; the caller drops it.
pub(crate) fn apply_hunks(
    document: &mut Document,
    hunks: &[Hunk],
) -> Result<Vec<usize>, HunkError> {
    let had_newline = document.ends_with_newline();
    let mut newline_at_end = had_newline;
    // Hunks come in the order of the file: none is looked for above the last.
    let mut from = 0;
    // How far the line numbers of the patch lie from those of the changed file.
    let mut drift = 0_isize;
    let mut places = Vec::with_capacity(hunks.len());
    for (index, hunk) in hunks.iter().enumerate() {
        let place = find(document, hunk, from, drift).map_err(|(why, next)| HunkError {
            hunk: index + 1,
            why,
            next,
        })?;
        let old = hunk.old_lines().len();
        if hunk.newline.old_missing && had_newline {
            return Err(HunkError {
                hunk: index + 1,
                why: "it says that the file has no newline at its end, but it has one".to_owned(),
                next: "take the `\\ No newline at end of file` line out".to_owned(),
            });
        }
        if hunk.newline.old_missing || hunk.newline.new_missing {
            newline_at_end = !hunk.newline.new_missing;
        }
        let new_lines = replacement(document, hunk, place);
        let added = new_lines.len();
        document.lines.splice(place..place + old, new_lines);
        if let Some(line) = hunk.line {
            // The stated number counts old lines, an empty range the one before.
            let stated = if old == 0 {
                line
            } else {
                line.saturating_sub(1)
            };
            drift = signed(place) - signed(stated) + signed(added) - signed(old);
        } else {
            drift += signed(added) - signed(old);
        }
        from = place + added;
        places.push(place + 1);
    }
    document.close_lines(newline_at_end);
    Ok(places)
}

fn signed(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}

/// Returns the lines a hunk puts at `place`: kept ones are the file's own.
fn replacement(document: &Document, hunk: &Hunk, place: usize) -> Vec<Line> {
    let end = document.dominant_end();
    let mut old = place;
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        match line {
            HunkLine::Context(text) => {
                let end = document.lines.get(old).map_or(end, |line| line.end);
                lines.push(Line {
                    text: text.clone(),
                    end,
                });
                old += 1;
            }
            HunkLine::Remove(_) => old += 1,
            HunkLine::Add(text) => lines.push(Line {
                text: text.clone(),
                end,
            }),
        }
    }
    lines
}

type Reason = (String, String);

fn find(document: &Document, hunk: &Hunk, from: usize, drift: isize) -> Result<usize, Reason> {
    let old = hunk.old_lines();
    let length = document.lines.len();
    let from = find_anchors(document, hunk, from)?;
    let stated = hunk.line.map(|line| {
        let line = if old.is_empty() {
            line
        } else {
            line.saturating_sub(1)
        };
        line.saturating_add_signed(drift)
    });
    if old.is_empty() {
        // Nothing to compare with: only the place that is named will do.
        return match stated {
            Some(place) if place <= length && place >= from => Ok(place),
            Some(place) => Err((
                format!("it adds lines after line {place}, but the file has {length} lines"),
                "give lines that stand around the place as context".to_owned(),
            )),
            None if hunk.at_end || hunk.anchors.is_empty() => Ok(length),
            None => Ok(from),
        };
    }
    let fits = |place: usize| {
        document
            .lines
            .get(place..place + old.len())
            .is_some_and(|lines| lines.iter().zip(&old).all(|(line, old)| line.text == *old))
    };
    if hunk.at_end {
        let place = length
            .checked_sub(old.len())
            .filter(|&place| place >= from && fits(place));
        return place.ok_or_else(|| mismatch(document, &old, from, length.checked_sub(old.len())));
    }
    let places: Vec<usize> = (from..(length + 1).saturating_sub(old.len()))
        .filter(|&p| fits(p))
        .collect();
    match (places.as_slice(), stated) {
        ([], _) => Err(mismatch(document, &old, from, stated)),
        ([place], _) => Ok(*place),
        (_, Some(stated)) if places.contains(&stated) => Ok(stated),
        ([first, ..], None) if !hunk.anchors.is_empty() => Ok(*first),
        _ => {
            let lines: Vec<usize> = places.iter().map(|place| place + 1).collect();
            Err((
                format!(
                    "its lines stand in {} places, at lines {}",
                    lines.len(),
                    list_lines(&lines)
                ),
                "add neighbouring lines as context, or an `@@ ` line that names the enclosing \
                 definition"
                    .to_owned(),
            ))
        }
    }
}

/// Returns the index of the line after the last anchor.
fn find_anchors(document: &Document, hunk: &Hunk, from: usize) -> Result<usize, Reason> {
    let mut from = from;
    for anchor in &hunk.anchors {
        let place = document
            .lines
            .iter()
            .skip(from)
            .position(|line| line.text.trim() == anchor);
        let Some(offset) = place else {
            return Err((
                format!(
                    "no line after line {from} is `{}`, which its `@@` line names",
                    quote(anchor)
                ),
                "copy the whole line of the enclosing definition behind `@@`, or leave it empty"
                    .to_owned(),
            ));
        };
        from += offset + 1;
    }
    Ok(from)
}

/// Says which line differs at the place that fits best.
fn mismatch(document: &Document, old: &[&str], from: usize, stated: Option<usize>) -> Reason {
    let next = "read the file again and copy the kept and removed lines from it exactly".to_owned();
    let agreeing = |start: usize| {
        let lines = document
            .lines
            .iter()
            .skip(start)
            .map(|line| line.text.as_str());
        lines
            .zip(old)
            .filter(|(line, old)| line == *old && !old.trim().is_empty())
            .count()
    };
    let best = (from..document.lines.len())
        .map(|start| {
            (
                agreeing(start),
                Some(start) == stated,
                std::cmp::Reverse(start),
            )
        })
        .max()
        .filter(|(count, is_stated, _)| *count > 0 || *is_stated);
    let Some((_, _, std::cmp::Reverse(start))) = best else {
        let first = old
            .iter()
            .find(|line| !line.trim().is_empty())
            .or(old.first());
        let first = first.copied().unwrap_or_default();
        let earlier = document
            .lines
            .iter()
            .take(from)
            .any(|line| line.text == first);
        let why = if earlier {
            format!(
                "expected `{}` below line {from}, found it only above, where an earlier hunk or \
                 `@@` line is",
                quote(first)
            )
        } else {
            format!(
                "expected `{}`, found no such line in the file",
                quote(first)
            )
        };
        return (why, next);
    };
    let differing = old.iter().enumerate().find_map(|(offset, expected)| {
        let found = document.lines.get(start + offset);
        (found.map(|line| line.text.as_str()) != Some(*expected))
            .then_some((offset, expected, found))
    });
    let why = match differing {
        Some((offset, expected, Some(found))) => format!(
            "expected `{}`, found `{}` at line {}",
            quote(expected),
            quote(&found.text),
            start + offset + 1
        ),
        Some((_, expected, None)) => {
            format!("expected `{}`, found the end of the file", quote(expected))
        }
        None => "its lines stand in the file, but not at the end of it".to_owned(),
    };
    (why, next)
}

#[cfg(test)]
mod tests {
    use super::super::{FileChange, parse};
    use super::*;

    fn envelope(original: &str, hunks: &str) -> Result<String, HunkError> {
        apply(
            original,
            &format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch"),
        )
    }

    fn unified(original: &str, hunks: &str) -> Result<String, HunkError> {
        apply(original, &format!("--- a/f\n+++ b/f\n{hunks}"))
    }

    fn apply(original: &str, patch: &str) -> Result<String, HunkError> {
        let changes = parse(patch).unwrap().changes;
        let [FileChange::Update { hunks, .. }] = changes.as_slice() else {
            panic!("not one update");
        };
        let mut document = Document::parse(original);
        apply_hunks(&mut document, hunks).map(|_| document.to_text())
    }

    #[test]
    fn a_hunk_applies_where_its_lines_stand_whatever_its_numbers_say() {
        assert_eq!(
            unified("0\na\nb\nc\n", "@@ -90,3 +90,3 @@\n a\n-b\n+x\n c\n").unwrap(),
            "0\na\nx\nc\n"
        );
    }

    #[test]
    fn stated_lines_choose_between_equal_places_after_earlier_hunks_moved_them() {
        let original = "a\nx\nb\nx\nc\nx\n";
        assert_eq!(
            unified(
                original,
                "@@ -1 +1,3 @@\n-a\n+1\n+2\n+3\n@@ -4 +6 @@\n-x\n+y\n"
            )
            .unwrap(),
            "1\n2\n3\nx\nb\ny\nc\nx\n"
        );
    }

    #[test]
    fn equal_places_without_a_hint_are_refused() {
        let error = envelope("x\na\nx\n", "@@\n-x\n+y\n").unwrap_err();
        assert_eq!(
            (error.hunk, error.why.as_str()),
            (1, "its lines stand in 2 places, at lines 1, 3")
        );
    }

    #[test]
    fn anchors_choose_the_first_place_below_them() {
        let original = "class A\n  def f\n    x\nclass B\n  def f\n    x\n  def g\n    x\n";
        assert_eq!(
            envelope(original, "@@ class B\n@@ def f\n-    x\n+    y\n").unwrap(),
            "class A\n  def f\n    x\nclass B\n  def f\n    y\n  def g\n    x\n"
        );
    }

    #[test]
    fn a_differing_line_is_named_with_what_stands_there() {
        let error = unified("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-B\n+x\n c\n").unwrap_err();
        assert_eq!(error.why, "expected `B`, found `b` at line 2");
    }

    #[test]
    fn white_space_counts() {
        let error = envelope("\ta\n", "@@\n-    a\n+b\n").unwrap_err();
        assert_eq!(
            error.why,
            "expected `    a`, found no such line in the file"
        );
    }

    #[test]
    fn line_ends_and_the_byte_order_mark_of_the_file_are_kept() {
        assert_eq!(
            envelope("\u{feff}a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n").unwrap(),
            "\u{feff}a\r\nx\r\ny\r\nc\r\n"
        );
    }

    #[test]
    fn a_missing_last_newline_stays_missing_unless_the_patch_says_otherwise() {
        assert_eq!(envelope("a\nb", "@@\n-b\n+c\n+d\n").unwrap(), "a\nc\nd");
        assert_eq!(
            unified(
                "a\nb",
                "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
            )
            .unwrap(),
            "a\nb\n"
        );
        assert_eq!(
            unified(
                "a\nb\n",
                "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"
            )
            .unwrap(),
            "a\nb"
        );
    }

    #[test]
    fn pure_additions_go_to_the_stated_line_or_the_end() {
        assert_eq!(
            unified("a\nb\n", "@@ -1,0 +2 @@\n+x\n").unwrap(),
            "a\nx\nb\n"
        );
        assert_eq!(envelope("a\nb\n", "@@\n+x\n").unwrap(), "a\nb\nx\n");
        assert_eq!(envelope("", "@@\n+x\n").unwrap(), "x\n");
    }

    #[test]
    fn the_end_of_the_file_is_a_place() {
        assert_eq!(
            envelope("x\na\nx\n", "@@\n-x\n+y\n*** End of File\n").unwrap(),
            "x\na\ny\n"
        );
        let error = envelope("x\na\n", "@@\n-x\n+y\n*** End of File\n").unwrap_err();
        assert_eq!(
            error.why,
            "its lines stand in the file, but not at the end of it"
        );
    }

    #[test]
    fn hunks_out_of_order_say_so() {
        let error = envelope("a\nb\n", "@@\n-b\n+y\n@@\n-a\n+x\n").unwrap_err();
        assert_eq!(
            (error.hunk, error.why.as_str()),
            (
                2,
                "expected `a` below line 2, found it only above, where an earlier hunk or `@@` line is"
            )
        );
    }
}
