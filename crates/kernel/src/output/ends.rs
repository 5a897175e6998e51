//! The beginning and the end of what a cell wrote.

use std::collections::VecDeque;

use crate::clean::readable;

/// Bytes kept of the beginning and of the end of the output between two
/// displays. Both are within what a result may have by default, so that the note
/// between them is not cut out again.
const HEAD: usize = 16 * 1024;
const TAIL: usize = 16 * 1024;

/// Lines that are shown of each.
pub(super) const LINES: usize = 600;

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Ends {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = HEAD - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        if rest.is_empty() {
            return;
        }
        // Of a large piece only the end can stay.
        let skipped = rest.len().saturating_sub(TAIL);
        self.left_out += skipped as u64;
        self.tail.extend(rest.iter().skip(skipped));
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        self.left_out += surplus as u64;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// Returns the text; where the middle is missing, a line says how much, and
    /// `rest` where the whole is.
    pub(crate) fn to_text(&self, rest: &str) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let mut head = self.head.clone();
        let tail = if self.left_out == 0 {
            head.extend(tail);
            if lines_of(&head) <= 2 * LINES {
                return readable(&head);
            }
            let middle = start_of_line(&head, LINES);
            head.split_off(middle)
        } else {
            tail
        };
        // Whole lines where there are any: half a line reads like a whole one.
        let head_end = memchr::memrchr(b'\n', &head).map_or(head.len(), |at| at + 1);
        let (head, cut) = head.split_at(head_end.min(start_of_line(&head, LINES)));
        let tail_start = match memchr::memchr(b'\n', &tail) {
            Some(at) if at + 1 < tail.len() => at + 1,
            _ => 0,
        };
        let surplus = lines_of(&tail).saturating_sub(LINES);
        let (dropped, tail) = tail.split_at(tail_start.max(start_of_line(&tail, surplus)));
        let left_out = self.left_out + (cut.len() + dropped.len()) as u64;
        let mut text = readable(head);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{left_out} bytes left out here{rest}]\n"));
        text.push_str(&readable(tail));
        text
    }
}

pub(super) fn lines_of(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// Returns where line `number` begins, from 0; the end where there is none.
fn start_of_line(bytes: &[u8], number: usize) -> usize {
    match number.checked_sub(1) {
        None => 0,
        Some(before) => memchr::memchr_iter(b'\n', bytes)
            .nth(before)
            .map_or(bytes.len(), |at| at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept_with_whole_lines() {
        let mut ends = Ends::default();
        for number in 0..20_000 {
            ends.push(format!("{number:06}\n").as_bytes());
        }
        let text = ends.to_text("");
        let lines: Vec<&str> = text.lines().collect();
        let gap = lines.iter().position(|l| l.starts_with('[')).unwrap();
        assert_eq!(lines.first(), Some(&"000000"));
        assert_eq!(lines.last(), Some(&"019999"));
        // Each line is a number and its break, 7 bytes.
        let missing = 7 * (20_000 - (lines.len() - 1));
        assert_eq!(lines[gap], format!("[{missing} bytes left out here]"));
        assert!(lines.iter().all(|l| l.len() == 6 || l.starts_with('[')));
    }

    #[test]
    fn many_short_lines_are_cut_by_their_number() {
        let mut ends = Ends::default();
        ends.push("a\n".repeat(2 * LINES).as_bytes());
        assert_eq!(ends.to_text(""), "a\n".repeat(2 * LINES));
        ends.push("b\n".repeat(50).as_bytes());
        let text = ends.to_text("");
        assert_eq!(text.lines().count(), 2 * LINES + 1);
        assert!(text.contains("a\n[100 bytes left out here]\na\n"));
        assert!(text.ends_with("b\n"));
    }

    #[test]
    fn a_line_without_end_stays_bounded() {
        let mut ends = Ends::default();
        for _ in 0..100 {
            ends.push(&vec![b'x'; 100_000]);
        }
        let text = ends.to_text("");
        assert!(text.len() < HEAD + TAIL + 100);
        let missing = 10_000_000 - HEAD - TAIL;
        assert!(text.contains(&format!("[{missing} bytes left out here]")));
    }
}
