//! What a cell wrote and showed, in order, within bounds.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use tiers::{CallContext, RunFile};

use crate::clean::{Cleaner, Piece, readable};
use crate::frames::Display;

/// Bytes kept of the beginning and of the end of the output between two
/// displays. Both are within what a result may have by default, so that the note
/// between them is not cut out again.
const HEAD: usize = 16 * 1024;
const TAIL: usize = 16 * 1024;

/// Lines that are shown of each.
const LINES: usize = 600;

/// From here on the whole output goes to a file too.
const WHOLE_FROM_BYTES: u64 = 16 * 1024;
const WHOLE_FROM_LINES: usize = 2 * LINES;

/// Displays that have a place of their own in the output; later ones go to its
/// end.
const MAX_PLACES: usize = 100;

/// Displays kept at all, and their bytes.
const MAX_DISPLAYS: usize = 200;
const MAX_DISPLAY_BYTES: usize = 48 * 1024 * 1024;

/// Added to the number of a cell, the mark at the beginning of its output.
const BEGINS: u64 = 1 << 40;

/// Output is reported as it comes in pieces of about this size.
const LIVE_PIECE: usize = 8 * 1024;

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

fn lines_of(bytes: &[u8]) -> usize {
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

/// Something that was shown.
#[derive(Debug)]
pub(crate) enum Shown {
    Text(String),
    Image {
        media_type: String,
        data: Vec<u8>,
        width: Option<u32>,
        height: Option<u32>,
    },
}

/// Output up to a place, and what was shown there.
#[derive(Debug, Default)]
struct Segment {
    text: Ends,
    mark: u64,
    shown: Vec<Shown>,
}

/// The output of one cell, as it comes in.
#[derive(Debug)]
pub(crate) struct Transcript {
    cell: u64,
    cleaner: Cleaner,
    segments: Vec<Segment>,
    /// What came before its mark.
    unplaced: Vec<(u64, Shown)>,
    last_mark: u64,
    displays: usize,
    display_bytes: usize,
    bytes: u64,
    lines: usize,
    whole: Whole,
    whole_limit: u64,
    live: Vec<u8>,
    notes: Vec<String>,
    /// What was in the stream before the cell began.
    before: Option<Ends>,
}

/// The file with the whole output.
#[derive(Debug)]
enum Whole {
    /// Not needed so far; what it would hold.
    Waiting(Vec<u8>),
    File {
        file: RunFile,
        written: u64,
    },
    /// As far as it went, where it went anywhere.
    Ended {
        path: Option<PathBuf>,
    },
}

/// A part of a finished transcript.
#[derive(Debug)]
pub(crate) enum Part {
    Output(String),
    Shown(Shown),
}

/// A finished transcript.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) parts: Vec<Part>,
    /// Bytes written, control sequences left out.
    pub(crate) bytes: u64,
    /// The file with the whole output.
    pub(crate) file: Option<PathBuf>,
    pub(crate) notes: Vec<String>,
}

impl Transcript {
    pub(crate) fn new(cell: u64, token: &str, whole_limit: u64) -> Self {
        Self {
            cell,
            cleaner: Cleaner::new(token),
            segments: vec![Segment::default()],
            unplaced: Vec::new(),
            last_mark: 0,
            displays: 0,
            display_bytes: 0,
            bytes: 0,
            lines: 0,
            whole: Whole::Waiting(Vec::new()),
            whole_limit,
            live: Vec::new(),
            notes: Vec::new(),
            before: None,
        }
    }

    /// Takes raw output.
    pub(crate) fn push(&mut self, raw: &[u8], context: &CallContext) {
        // Taken out for the time, since the pieces go to the rest of this.
        let mut cleaner = std::mem::replace(&mut self.cleaner, Cleaner::new(""));
        cleaner.feed(raw, |piece| match piece {
            Piece::Text(text) => self.push_text(text, context),
            Piece::Mark(mark) => self.place(mark),
        });
        self.cleaner = cleaner;
    }

    /// Returns the last mark that was found.
    pub(crate) fn last_mark(&self) -> u64 {
        self.last_mark
    }

    fn push_text(&mut self, text: &[u8], context: &CallContext) {
        self.bytes += text.len() as u64;
        if let Some(segment) = self.segments.last_mut() {
            segment.text.push(text);
        }
        self.push_whole(text, context);
        self.live.extend_from_slice(text);
        if self.live.len() >= LIVE_PIECE {
            self.report(context);
        }
    }

    fn push_whole(&mut self, text: &[u8], context: &CallContext) {
        let folder = context.run().folder();
        if let Whole::Waiting(kept) = &mut self.whole {
            kept.extend_from_slice(text);
            self.lines += lines_of(text);
            if self.bytes <= WHOLE_FROM_BYTES && self.lines <= WHOLE_FROM_LINES {
                return;
            }
            let kept = std::mem::take(kept);
            self.whole = match folder.create(&format!("cell-{}-output.txt", self.cell)) {
                Ok(mut file) => match folder.append(&mut file, &kept) {
                    Ok(()) => Whole::File {
                        file,
                        written: kept.len() as u64,
                    },
                    Err(_) => Whole::Ended { path: None },
                },
                Err(_) => Whole::Ended { path: None },
            };
            return;
        }
        let Whole::File { file, written } = &mut self.whole else {
            return;
        };
        let room = usize::try_from(self.whole_limit.saturating_sub(*written)).unwrap_or(usize::MAX);
        let fits = text.get(..room.min(text.len())).unwrap_or_default();
        let is_written = folder.append(file, fits).is_ok();
        *written += fits.len() as u64;
        if !is_written || fits.len() < text.len() {
            let path = file.path().to_owned();
            self.notes.push(format!(
                "`{}` has the first {written} bytes of the output only",
                path.display()
            ));
            self.whole = Whole::Ended { path: Some(path) };
        }
    }

    /// Reports what has come since, as far as it is whole characters.
    pub(crate) fn report(&mut self, context: &CallContext) {
        let end = match std::str::from_utf8(&self.live) {
            Ok(_) => self.live.len(),
            // A character that is still to be completed waits.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.live.len(),
        };
        let rest = self.live.split_off(end);
        let text = String::from_utf8_lossy(&self.live).into_owned();
        self.live = rest;
        context.output(text);
    }

    /// Returns whether something waits to be reported.
    pub(crate) fn has_unreported(&self) -> bool {
        !self.live.is_empty()
    }

    fn place(&mut self, mark: u64) {
        if let Some(cell) = mark.checked_sub(BEGINS) {
            // Where all cells share one stream: what came before is not ours.
            if cell == self.cell {
                let segments = std::mem::take(&mut self.segments);
                self.before = segments.into_iter().next().map(|segment| segment.text);
                self.segments.push(Segment::default());
            }
            return;
        }
        self.last_mark = self.last_mark.max(mark);
        if self.segments.len() > MAX_PLACES {
            return;
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.mark = mark;
            let mine = |(at, _): &(u64, Shown)| *at == mark;
            for (_, shown) in self.unplaced.extract_if(.., |one| mine(one)) {
                segment.shown.push(shown);
            }
        }
        self.segments.push(Segment::default());
    }

    /// Takes something that is shown.
    pub(crate) fn show(&mut self, display: Display) {
        if let Some(note) = display.note {
            self.notes.push(note);
        }
        let shown = match display.text {
            Some(text) => Shown::Text(text),
            None if display.data.is_empty() => return,
            None => Shown::Image {
                media_type: display.mime,
                data: display.data,
                width: display.width,
                height: display.height,
            },
        };
        let size = match &shown {
            Shown::Text(text) => text.len(),
            Shown::Image { data, .. } => data.len(),
        };
        self.displays += 1;
        if self.displays > MAX_DISPLAYS || self.display_bytes + size > MAX_DISPLAY_BYTES {
            return;
        }
        self.display_bytes += size;
        let place = (self.segments.iter_mut()).find(|s| s.mark == display.mark && s.mark != 0);
        match place {
            Some(segment) => segment.shown.push(shown),
            None => self.unplaced.push((display.mark, shown)),
        }
    }

    /// Returns everything, in order, and what was in the stream before.
    pub(crate) fn finish(mut self, context: &CallContext) -> (Finished, Option<String>) {
        self.report(context);
        let file = match self.whole {
            Whole::Waiting(_) => None,
            Whole::File { file, .. } => Some(file.path().to_owned()),
            Whole::Ended { path } => path,
        };
        let rest = rest_hint(file.as_deref());
        let mut parts = Vec::new();
        for segment in self.segments {
            if !segment.text.is_empty() {
                parts.push(Part::Output(segment.text.to_text(&rest)));
            }
            parts.extend(segment.shown.into_iter().map(Part::Shown));
        }
        parts.extend(self.unplaced.into_iter().map(|(_, s)| Part::Shown(s)));
        let kept = parts.iter().filter(|p| matches!(p, Part::Shown(_))).count();
        if self.displays > kept {
            self.notes.push(format!(
                "{} of {} displays were too many or too large and are not shown",
                self.displays - kept,
                self.displays
            ));
        }
        let before = self.before.filter(|before| !before.is_empty());
        let finished = Finished {
            parts,
            bytes: self.bytes,
            file,
            notes: self.notes,
        };
        (finished, before.map(|before| before.to_text("")))
    }
}

fn rest_hint(file: Option<&Path>) -> String {
    match file {
        Some(path) => format!("; the whole output is in `{}`", path.display()),
        None => "; print less to see all".to_owned(),
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
