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
        .max(line_note(text.len(), text.len(), total, rest).len());
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
    let tail_lines = (room - head.min(room)).min(total - head);
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
        out.push_str(&line_note(end, first.len(), total, rest));
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

fn line_note(shown: usize, length: usize, total: usize, rest: &str) -> String {
    format!("[{shown} of {length} bytes of line 1 shown, of {total} lines; {rest}]")
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
