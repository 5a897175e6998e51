//! What a cell wrote and showed, in order, within bounds.

mod ends;
mod whole;

use std::path::{Path, PathBuf};

use tiers::CallContext;

pub(crate) use ends::Ends;
use whole::Whole;

use crate::clean::{Cleaner, Piece};
use crate::frames::Display;

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
    whole: Whole,
    live: Vec<u8>,
    notes: Vec<String>,
    /// What was in the stream before the cell began.
    before: Option<Ends>,
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
            whole: Whole::new(cell, whole_limit),
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
        let said = self.whole.push(text, context.run().folder());
        self.notes.extend(said);
        self.live.extend_from_slice(text);
        if self.live.len() >= LIVE_PIECE {
            self.report(context);
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
        let file = self.whole.into_path();
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
