//! Caps on text: whole lines, head and tail, always "n of m, and how to get
//! the rest".

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// How much text one result may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Lines, the note about the cut included.
    pub lines: usize,
    /// Bytes of UTF-8, the note about the cut included.
    pub bytes: usize,
}

impl Default for Caps {
    /// Returns 2,000 lines and 50 KiB.
    fn default() -> Self {
        Self {
            lines: 2_000,
            bytes: 50 * 1024,
        }
    }
}

/// A text within its caps.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capped {
    /// The text, with a note where something was left out.
    pub text: String,
    /// Lines of the original that are shown whole.
    pub shown_lines: usize,
    /// Lines of the original.
    pub total_lines: usize,
    /// Whether anything was left out.
    pub is_cut: bool,
}

/// Cuts `text` to `caps`, keeping whole lines of its head and its tail.
///
/// The note in the gap reads "n of m lines shown" and ends with `rest`, which
/// says how to get the rest ("narrow `path`"). Where the first line alone is
/// too long, its beginning is shown and the note says so. The result is within
/// `caps`, as long as these leave room for the note itself.
///
/// ```
/// let text = (1..=10).map(|n| format!("{n}\n")).collect::<String>();
/// let capped = tiers::cap_text(&text, tiers::Caps { lines: 5, bytes: 1000 }, "narrow `path`");
/// assert_eq!(capped.text, "1\n2\n[4 of 10 lines shown, 6 left out here; narrow `path`]\n9\n10\n");
/// ```
#[must_use]
pub fn cap_text(text: &str, caps: Caps, rest: &str) -> Capped {
    let lines: Vec<Range<usize>> = line_ranges(text);
    let total = lines.len();
    if total <= caps.lines && text.len() <= caps.bytes {
        return Capped {
            text: text.to_owned(),
            shown_lines: total,
            total_lines: total,
            is_cut: false,
        };
    }
    // The longest the note can get, so that it is always paid for.
    let widest = cut_note(total, total, total, rest)
        .len()
        .max(line_note(text.len(), text.len(), total, total, rest).len());
    let bytes = caps.bytes.saturating_sub(widest + 2);
    let room = caps.lines.saturating_sub(1);

    let head_lines = room.div_ceil(2).min(total);
    let mut head = 0;
    let mut used = 0;
    while head < head_lines {
        let Some(line) = lines.get(head) else { break };
        if used + line.len() > bytes.div_ceil(2) {
            break;
        }
        used += line.len();
        head += 1;
    }
    // Without a whole line at the beginning, the piece of one takes a line too.
    let tail_lines = (room - head.max(1).min(room)).min(total - head);
    let mut tail = 0;
    while tail < tail_lines {
        let Some(line) = lines.get(total - 1 - tail) else {
            break;
        };
        if used + line.len() > bytes {
            break;
        }
        used += line.len();
        tail += 1;
    }
    // The tail may have left room that the head can use.
    while head + tail < total.min(room) {
        let Some(line) = lines.get(head) else { break };
        if used + line.len() > bytes {
            break;
        }
        used += line.len();
        head += 1;
    }

    let head_end = if head == 0 {
        0
    } else {
        lines.get(head - 1).map_or(0, |line| line.end)
    };
    let tail_start = if tail == 0 {
        text.len()
    } else {
        lines
            .get(total - tail)
            .map_or(text.len(), |line| line.start)
    };
    let mut out = String::with_capacity(used + widest + 2);
    out.push_str(text.get(..head_end).unwrap_or_default());
    if head == 0 && room > 1 && bytes > used {
        // Not one whole line fits at the beginning: a piece is better than nothing.
        let first = lines.first().cloned().unwrap_or(0..0);
        let mut end = (bytes - used).min(first.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        out.push_str(
            text.get(..end)
                .unwrap_or_default()
                .trim_end_matches(['\n', '\r']),
        );
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&line_note(end, first.len(), tail, total, rest));
    } else {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&cut_note(head + tail, total, total - head - tail, rest));
    }
    if tail > 0 {
        out.push('\n');
        out.push_str(text.get(tail_start..).unwrap_or_default());
    }
    Capped {
        text: out,
        shown_lines: head + tail,
        total_lines: total,
        is_cut: true,
    }
}

fn cut_note(shown: usize, total: usize, left_out: usize, rest: &str) -> String {
    format!("[{shown} of {total} lines shown, {left_out} left out here; {rest}]")
}

fn line_note(shown: usize, length: usize, tail: usize, total: usize, rest: &str) -> String {
    format!(
        "[{shown} of {length} bytes of line 1 and the last {tail} of {total} lines shown; {rest}]"
    )
}

/// Returns the lines of `text` with their line ends.
fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let range = start..start + line.len();
            start = range.end;
            range
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, lines: usize, bytes: usize, found: Expect) {
        found.assert_eq(&cap_text(text, Caps { lines, bytes }, "narrow `path`").text);
    }

    #[test]
    fn text_within_its_caps_is_untouched() {
        check("a\nb", 2, 3, expect!["a\nb"]);
        check("", 0, 0, expect![""]);
    }

    #[test]
    fn lines_over_the_cap_leave_head_and_tail() {
        let text = (1..=9).map(|n| format!("line {n}\n")).collect::<String>();
        check(
            &text,
            4,
            1000,
            expect![[r#"
                line 1
                line 2
                [3 of 9 lines shown, 6 left out here; narrow `path`]
                line 9
            "#]],
        );
    }

    #[test]
    fn bytes_over_the_cap_leave_whole_lines() {
        let text = (1..=40)
            .map(|n| format!("line {n} {}\n", "x".repeat(20)))
            .collect::<String>();
        check(
            &text,
            100,
            240,
            expect![[r#"
                line 1 xxxxxxxxxxxxxxxxxxxx
                line 2 xxxxxxxxxxxxxxxxxxxx
                [5 of 40 lines shown, 35 left out here; narrow `path`]
                line 38 xxxxxxxxxxxxxxxxxxxx
                line 39 xxxxxxxxxxxxxxxxxxxx
                line 40 xxxxxxxxxxxxxxxxxxxx
            "#]],
        );
    }

    #[test]
    fn a_single_long_line_is_cut_between_characters() {
        check(
            &"ä".repeat(1000),
            10,
            120,
            expect![[r#"
                ääääääääääääääääääää
                [40 of 2000 bytes of line 1 and the last 0 of 1 lines shown; narrow `path`]"#]],
        );
    }

    #[test]
    fn a_long_first_line_leaves_the_tail() {
        check(
            &format!("{}\nlast\n", "x".repeat(1000)),
            10,
            120,
            expect![[r#"
                xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                [36 of 1001 bytes of line 1 and the last 1 of 2 lines shown; narrow `path`]
                last
            "#]],
        );
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "(\\PC{0,40}\r?\n){0,60}\\PC{0,80}",
            "(.{0,400}\n|\n){0,20}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_cut_to_whole_lines_within_its_caps(
            text in any_text(),
            lines in 0_usize..40,
            bytes in 0_usize..3000,
        ) {
            let caps = Caps { lines, bytes };
            let capped = cap_text(&text, caps, "more");
            let original: Vec<&str> = text.split_inclusive('\n').collect();
            prop_assert_eq!(capped.total_lines, original.len());
            prop_assert_eq!(capped.is_cut, original.len() > lines || text.len() > bytes);
            if !capped.is_cut {
                prop_assert_eq!(&capped.text, &text);
                return Ok(());
            }
            // The note itself needs one line and a hundred bytes.
            if lines >= 1 && bytes >= 120 {
                prop_assert!(capped.text.len() <= bytes);
                prop_assert!(capped.text.split_inclusive('\n').count() <= lines);
            }
            let found: Vec<&str> = capped.text.split_inclusive('\n').collect();
            let is_note = |line: &str| line.starts_with('[') && line.trim_end().ends_with("; more]");
            let note = (0..found.len()).find(|&at| {
                is_note(found[at]) && found.len() - at - 1 <= capped.shown_lines
            });
            let note = note.expect("a cut is always said");
            let tail = &found[note + 1..];
            prop_assert!(original.ends_with(tail));
            let is_piece = found[note].contains("bytes of line 1");
            if is_piece {
                prop_assert_eq!(capped.shown_lines, tail.len());
                if let [piece] = &found[..note] {
                    prop_assert!(original[0].starts_with(piece.trim_end_matches('\n')));
                }
            } else {
                prop_assert!(original.starts_with(&found[..note]));
                prop_assert_eq!(capped.shown_lines, note + tail.len());
                let all = format!("[{} of {} lines shown", capped.shown_lines, original.len());
                prop_assert!(found[note].starts_with(&all));
            }
        }
    }
}
