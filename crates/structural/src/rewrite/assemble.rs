//! Writes what a match is replaced by.

mod gaps;
mod hidden;
mod one_line;
mod statement;
mod surroundings;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use super::indent::{Fixed, LineStarts, is_blank, margin};
use super::recipe::{Recipe, Step};
use super::template::{Template, Unit, What};
use crate::grammar::Grammar;
use crate::matcher::{Bound, Found, Traced, bytes_of};
use crate::pattern::{Matter, is_word};
use crate::tree::FlatTree;

/// A match that is to be rewritten.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) found: Found,
    pub(super) program: u16,
    pub(super) trace: Vec<Traced>,
}

/// Where a piece of the pattern is in the file.
#[derive(Debug, Clone, Default)]
struct At {
    range: Range<usize>,
    /// Whether the file has nothing there.
    is_absent: bool,
}

/// What is between the brackets that are children of a node, by node and by
/// whether braces are left out.
type Brackets = HashMap<(u32, bool), Option<Range<usize>>>;

/// Writes the replacements of one file, one after the other.
pub(super) struct Assembler<'a> {
    grammar: &'a Grammar,
    tree: &'a FlatTree,
    source: &'a [u8],
    template: &'a Template,
    line_end: &'static [u8],
    lines: LineStarts,
    fixed: Option<Fixed>,
    /// Everything written.
    pub(super) out: Vec<u8>,
    /// Where in `out` the code of a metavariable was written.
    pub(super) captures: Vec<Range<usize>>,
    pub(super) lost_comments: usize,
    /// Whether some run was empty that the template has a place for.
    pub(super) has_empty_run: bool,
    /// Once `out` has more bytes than this, nobody wants the rest.
    limit: usize,
    brackets: RefCell<Brackets>,
    state: State,
}

/// What is known while one match is written.
#[derive(Default)]
struct State {
    /// The match.
    whole: Range<usize>,
    places: Vec<At>,
    is_hidden: Vec<bool>,
    /// Bytes of the file that were written.
    kept: Vec<Range<usize>>,
    /// The white space in front of the match.
    base: Vec<u8>,
    /// A margin of the template, and the one that the file has for it.
    margin: Option<(Box<str>, Vec<u8>)>,
    /// Where in `out` the current line begins, if it is not the match's first.
    line_start: Option<usize>,
    /// The gap that was written in front of something new.
    used_gap: Option<usize>,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(
        grammar: &'a Grammar,
        tree: &'a FlatTree,
        source: &'a [u8],
        template: &'a Template,
        limit: usize,
    ) -> Self {
        let has_lines = template.text().contains('\n');
        Self {
            grammar,
            tree,
            source,
            template,
            line_end: if has_lines {
                super::indent::line_end(source)
            } else {
                b"\n"
            },
            lines: LineStarts::default(),
            fixed: None,
            out: Vec::new(),
            captures: Vec::new(),
            lost_comments: 0,
            has_empty_run: false,
            limit,
            brackets: RefCell::default(),
            state: State::default(),
        }
    }

    /// Writes the replacement of a match to the end of `out`, and returns where
    /// it is.
    pub(super) fn write(&mut self, hit: &Hit) -> Range<usize> {
        let start = self.out.len();
        let template = self.template;
        let Some(recipe) = template.recipe(hit.program) else {
            return start..start;
        };
        self.begin(hit, recipe);
        self.hide(hit, recipe);
        self.write_steps(hit, recipe);
        self.end_statement(hit, recipe, start);
        if self.out.get(start..).is_none_or(is_blank) {
            self.take_back(start);
            self.state.kept.clear();
            self.count_lost_comments(hit);
            return start..start;
        }
        self.count_lost_comments(hit);
        start..self.out.len()
    }

    /// Forgets what was written from `start` on.
    pub(super) fn take_back(&mut self, start: usize) {
        self.out.truncate(start);
        let kept = self.captures.partition_point(|c| c.start < start);
        self.captures.truncate(kept);
    }

    fn begin(&mut self, hit: &Hit, recipe: &Recipe) {
        let mut state = std::mem::take(&mut self.state);
        state.kept.clear();
        state.line_start = None;
        state.used_gap = None;
        state.whole = hit.found.bytes.clone();
        state.base.clear();
        let line_start = self.lines.of(self.source, hit.found.bytes.start);
        let before = (self.source.get(line_start..hit.found.bytes.start)).unwrap_or_default();
        state.base.extend_from_slice(margin(before));
        self.state = state;
        self.locate(hit, recipe);
        self.state.margin = self.find_margin(recipe);
    }

    /// Finds the pieces of the pattern in the file.
    fn locate(&mut self, hit: &Hit, recipe: &Recipe) {
        let places = &mut self.state.places;
        places.clear();
        let mut trace = hit.trace.iter().peekable();
        let mut end = hit.found.bytes.start;
        for piece in &recipe.pieces {
            let mut traced = None;
            if let Some(step) = piece.step {
                while trace.next_if(|t| t.step < step).is_some() {}
                traced = trace.next_if(|t| t.step == step && t.from < t.to);
            }
            let at = match traced {
                Some(traced) => {
                    let bound = Bound {
                        from: traced.from,
                        to: traced.to,
                    };
                    let mut range = bytes_of(self.tree, bound);
                    if !piece.keeps_blanks {
                        range = without_line_end(self.source, range);
                    }
                    let start = range.start.max(end);
                    At {
                        range: start..range.end.max(start),
                        is_absent: false,
                    }
                }
                None => At {
                    range: end..end,
                    is_absent: true,
                },
            };
            end = at.range.end;
            places.push(at);
        }
    }

    /// Finds what the file has for the first margin that the pattern has.
    fn find_margin(&self, recipe: &Recipe) -> Option<(Box<str>, Vec<u8>)> {
        recipe.margins.iter().find_map(|(piece, text)| {
            if text.is_empty() {
                return None;
            }
            let gap = self.source.get(self.source_gap(*piece))?;
            let line = gap.get(memchr::memrchr(b'\n', gap)? + 1..)?;
            let inner = margin(line).strip_prefix(self.state.base.as_slice())?;
            (!inner.is_empty()).then(|| (text.clone(), inner.to_vec()))
        })
    }

    /// Returns the bytes of the file in front of a piece, or behind the last.
    fn source_gap(&self, piece: usize) -> Range<usize> {
        let places = &self.state.places;
        let from = piece
            .checked_sub(1)
            .and_then(|i| places.get(i))
            .map(|at| at.range.end);
        let to = places.get(piece).map(|at| at.range.start);
        match (from, to) {
            (Some(from), Some(to)) => from..to,
            (Some(from), None) => from..self.state.whole.end.max(from),
            (None, Some(to)) => self.state.whole.start.min(to)..to,
            (None, None) => self.state.whole.clone(),
        }
    }

    fn is_absent(&self, pieces: &Range<usize>) -> bool {
        let places = self.state.places.get(pieces.clone()).unwrap_or_default();
        places.iter().all(|at| at.is_absent)
    }

    fn unit(&self, step: &Step) -> Option<&'a Unit> {
        self.template.units().get(step.units.start)
    }

    /// Returns the bytes of the file that a step of a metavariable writes.
    fn capture(&self, hit: &Hit, step: &Step, variable: usize) -> Range<usize> {
        if let Some(pieces) = step.pieces.as_ref().filter(|_| step.is_same)
            && let Some(at) = self.state.places.get(pieces.start)
        {
            return at.range.clone();
        }
        let bound = hit.found.bound.get(variable).copied().flatten();
        match bound.filter(|b| b.from < b.to) {
            Some(bound) => without_line_end(self.source, bytes_of(self.tree, bound)),
            None => 0..0,
        }
    }

    fn write_steps(&mut self, hit: &Hit, recipe: &Recipe) {
        let mut last: Option<usize> = None;
        for at in 0..recipe.steps.len() {
            if self.out.len() > self.limit {
                return;
            }
            if self.state.is_hidden.get(at) == Some(&true) {
                continue;
            }
            self.write_gap(hit, recipe, last, Some(at));
            if let Some(step) = recipe.steps.get(at) {
                self.write_step(hit, recipe, at, step);
            }
            last = Some(at);
        }
        if last.is_some() {
            self.write_gap(hit, recipe, last, None);
        }
    }

    /// Returns the margin of the line of a byte.
    fn margin_of(&mut self, at: usize) -> &'a [u8] {
        let start = self.lines.of(self.source, at);
        margin(self.source.get(start..at).unwrap_or_default())
    }

    fn write_step(&mut self, hit: &Hit, recipe: &Recipe, at: usize, step: &Step) {
        let units = self.template.units();
        if let Some(pieces) = step.pieces.as_ref().filter(|_| step.is_same) {
            let places = self.state.places.get(pieces.clone()).unwrap_or_default();
            let is_token = !matches!(self.unit(step).map(|u| &u.what), Some(What::Variable(_)));
            if let (Some(first), Some(last)) = (places.first(), places.last())
                && is_token
                && !places.iter().all(|at| at.is_absent)
            {
                return self.copy(first.range.start..last.range.end);
            }
        }
        let mut end = None;
        for unit in units.get(step.units.clone()).unwrap_or_default() {
            if let Some(end) = end {
                let gap = (self.template.text().get(end..unit.range.start)).unwrap_or_default();
                self.write_template(gap, Lines::Moved);
            }
            end = Some(unit.range.end);
            match &unit.what {
                What::Variable(variable) => {
                    let range = self.capture(hit, step, *variable);
                    let range = self.with_surroundings(recipe, at, *variable, range);
                    if !self.write_on_one_line(hit, recipe, at, *variable, range.clone()) {
                        self.write_capture(range, unit.matter);
                    }
                }
                What::Text(text) => {
                    let lines = match unit.matter {
                        Matter::Text => Lines::Fixed,
                        Matter::Code | Matter::Comment => Lines::Moved,
                    };
                    self.write_template(text, lines);
                }
            }
        }
    }

    /// Copies bytes of the file.
    fn copy(&mut self, range: Range<usize>) {
        let bytes = self.source.get(range.clone()).unwrap_or_default();
        if bytes.is_empty() {
            return;
        }
        let start = self.out.len();
        self.out.extend_from_slice(bytes);
        self.note_lines(start);
        self.state.kept.push(range);
    }

    fn note_lines(&mut self, from: usize) {
        let written = self.out.get(from..).unwrap_or_default();
        if let Some(last) = memchr::memrchr(b'\n', written) {
            self.state.line_start = Some(from + last + 1);
        }
    }

    /// Writes text of the template, with the line endings of the file.
    fn write_template(&mut self, text: &str, lines: Lines) {
        let mut parts = text.split('\n');
        let first = parts.next().unwrap_or_default();
        self.out.extend_from_slice(first.as_bytes());
        let mut parts = parts.peekable();
        while let Some(line) = parts.next() {
            self.out.extend_from_slice(self.line_end);
            self.state.line_start = Some(self.out.len());
            let is_last = parts.peek().is_none();
            if lines == Lines::Fixed {
                self.out.extend_from_slice(line.as_bytes());
            } else if is_last || !is_blank(line.as_bytes()) {
                self.out.extend_from_slice(&self.state.base);
                let mut rest = line;
                if let Some((text, margin)) = &self.state.margin {
                    while let Some(inner) = rest.strip_prefix(&**text) {
                        self.out.extend_from_slice(margin);
                        rest = inner;
                    }
                }
                self.out.extend_from_slice(rest.as_bytes());
            }
        }
    }

    /// Writes what a metavariable stands for.
    fn write_capture(&mut self, range: Range<usize>, matter: Matter) {
        let bytes = self.source.get(range.clone()).unwrap_or_default();
        if bytes.is_empty() {
            return;
        }
        let start = self.out.len();
        if matter == Matter::Text || memchr::memchr(b'\n', bytes).is_none() {
            self.out.extend_from_slice(bytes);
        } else if matter == Matter::Comment {
            // A comment may end with its line.
            for (number, line) in bytes.split(|b| *b == b'\n').enumerate() {
                let line = line.trim_ascii_end();
                let line = if number == 0 { line } else { line.trim_ascii() };
                if number > 0 && !line.is_empty() {
                    self.out.push(b' ');
                }
                self.out.extend_from_slice(line);
            }
        } else {
            let from = self.margin_of(range.start);
            let to = match self.state.line_start {
                Some(line) => margin(self.out.get(line..).unwrap_or_default()).to_vec(),
                None => self.state.base.clone(),
            };
            let fixed = self
                .fixed
                .get_or_insert_with(|| Fixed::find(self.grammar, self.tree, self.source));
            fixed.write_moved(self.source, range.clone(), from, &to, &mut self.out);
        }
        self.note_lines(start);
        if matter == Matter::Code {
            self.captures.push(start..self.out.len());
        }
        self.state.kept.push(range);
    }

    fn count_lost_comments(&mut self, hit: &Hit) {
        let kept = &mut self.state.kept;
        kept.sort_unstable_by_key(|r| (r.start, r.end));
        let mut at = hit.found.node;
        while at < hit.found.next {
            let node = self.tree.node(at);
            if !node.flags.is_extra() || !self.grammar.kind(node.kind).textual {
                at += 1;
                continue;
            }
            at = node.next;
            let range = without_line_end(self.source, node.start as usize..node.end as usize);
            let next = kept.partition_point(|r| r.start <= range.start);
            let is_kept = (kept.get(..next).unwrap_or_default().iter().rev().take(8))
                .any(|r| range.end <= r.end);
            if !is_kept && range.end <= hit.found.bytes.end {
                self.lost_comments += 1;
            }
        }
    }
}

/// What happens to the lines of a text of the template but its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// They are put as far in as the match is.
    Moved,
    /// They stay as they are.
    Fixed,
}

/// Leaves out the white space at the end of a range, if a line ends in it.
pub(super) fn without_line_end(source: &[u8], range: Range<usize>) -> Range<usize> {
    let bytes = source.get(range.clone()).unwrap_or_default();
    let trimmed = bytes.trim_ascii_end();
    let rest = bytes.get(trimmed.len()..).unwrap_or_default();
    if rest.contains(&b'\n') {
        range.start..range.start + trimmed.len()
    } else {
        range
    }
}

/// Returns whether two bytes side by side would be read as one word.
pub(super) fn would_join(before: Option<&u8>, behind: Option<&u8>) -> bool {
    matches!((before, behind), (Some(a), Some(b)) if is_word(*a) && is_word(*b))
}
