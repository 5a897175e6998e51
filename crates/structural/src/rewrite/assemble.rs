//! Writes what a match is replaced by.

use std::ops::Range;

use super::indent::{Fixed, LineStarts, is_blank, margin};
use super::recipe::{Gap, GapSource, PieceWhat, Recipe, Step};
use super::template::{Template, Unit, What};
use crate::grammar::Grammar;
use crate::matcher::{Bound, Found, Traced, bytes_of};
use crate::pattern::{Matter, is_word};
use crate::program::Class;
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
                    let range = without_line_end(self.source, bytes_of(self.tree, bound));
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

    /// Decides which steps write nothing: empty runs, each with a separator
    /// beside it, and what the file does without.
    fn hide(&mut self, hit: &Hit, recipe: &Recipe) {
        let steps = &recipe.steps;
        let mut is_hidden = std::mem::take(&mut self.state.is_hidden);
        let mut has_empty_run = false;
        is_hidden.clear();
        is_hidden.resize(steps.len(), false);
        let class = |at: usize| {
            steps
                .get(at)
                .and_then(|s| self.unit(s))
                .filter(|u| matches!(u.what, What::Text(_)) && u.matter == Matter::Code)
                .map(|u| u.class)
        };
        let is_absent_token =
            |step: &Step| step.is_same && (step.pieces.as_ref()).is_some_and(|p| self.is_absent(p));
        for (at, step) in steps.iter().enumerate() {
            let Some(unit) = self.unit(step) else {
                continue;
            };
            let What::Variable(variable) = unit.what else {
                continue;
            };
            if !self.capture(hit, step, variable).is_empty() || unit.matter == Matter::Text {
                continue;
            }
            has_empty_run |= !step.is_same;
            let beside = |before: bool| {
                let other = if before { at.checked_sub(1)? } else { at + 1 };
                let free = !*is_hidden.get(other)? && class(other)? == Class::Separator;
                free.then_some(other)
            };
            let (before, behind) = (beside(true), beside(false));
            let tight = |other: Option<usize>| other.filter(|o| are_tight(steps, at, *o));
            let absent = [before, behind].into_iter().find_map(|other| {
                tight(other).filter(|o| steps.get(*o).is_some_and(is_absent_token))
            });
            let is_as_found = absent.is_none()
                && [before, behind].into_iter().flatten().next().is_some()
                && [before, behind]
                    .into_iter()
                    .flatten()
                    .all(|o| are_tight(steps, at, o));
            let dropped = absent.or_else(|| if is_as_found { None } else { before.or(behind) });
            for hidden in [Some(at), dropped].into_iter().flatten() {
                if let Some(slot) = is_hidden.get_mut(hidden) {
                    *slot = true;
                }
            }
        }
        let is_whole_behind = |at: usize| {
            matches!(
                recipe.gaps.get(at + 1).map(|g| g.source),
                Some(GapSource::Whole(_))
            )
        };
        let mut last_text: Option<Range<usize>> = None;
        for (at, step) in steps.iter().enumerate() {
            if is_hidden.get(at) == Some(&true) {
                continue;
            }
            let is_hidden_token = match class(at) {
                Some(Class::Separator) if is_absent_token(step) => {
                    is_whole_behind(at)
                        && !step
                            .pieces
                            .as_ref()
                            .is_some_and(|p| self.has_empty_run(recipe, p))
                }
                Some(Class::Terminator) if is_absent_token(step) => {
                    is_whole_behind(at) || at + 1 == steps.len()
                }
                Some(Class::Terminator) if !step.is_same => last_text
                    .clone()
                    .and_then(|range| self.source.get(range))
                    .is_some_and(|text| text.ends_with(b";")),
                _ => false,
            };
            if let Some(slot) = is_hidden.get_mut(at)
                && is_hidden_token
            {
                *slot = true;
            }
            last_text = match self.unit(step).map(|u| &u.what) {
                Some(What::Variable(variable)) => Some(self.capture(hit, step, *variable)),
                _ => None,
            };
        }
        if let (Some(last), Some(slot)) = (steps.len().checked_sub(1), is_hidden.last_mut())
            && class(last) == Some(Class::Terminator)
            && !ends_with_terminator(recipe)
            && !self.wants_terminator(hit)
        {
            *slot = true;
        }
        self.state.is_hidden = is_hidden;
        self.has_empty_run |= has_empty_run;
    }

    /// Whether an empty run stands beside a separator of the pattern.
    fn has_empty_run(&self, recipe: &Recipe, pieces: &Range<usize>) -> bool {
        [pieces.start.checked_sub(1), Some(pieces.end)]
            .into_iter()
            .flatten()
            .any(|other| {
                let is_hole = (recipe.pieces.get(other))
                    .is_some_and(|p| matches!(p.what, PieceWhat::Hole(_)));
                is_hole && self.is_absent(&(other..other + 1))
            })
    }

    /// Whether a terminator may be written behind a match that had none: it is
    /// a statement, and none follows.
    fn wants_terminator(&self, hit: &Hit) -> bool {
        let rest = self.source.get(hit.found.bytes.end..).unwrap_or_default();
        let next = rest.iter().find(|b| !b.is_ascii_whitespace());
        if matches!(next, Some(b';' | b',' | b')' | b']')) {
            return false;
        }
        let mut at = hit.found.node;
        loop {
            let node = self.tree.node(at);
            let parent = self.tree.node(node.parent);
            if node.parent == at
                || self.grammar.is_list(parent.kind)
                || self.grammar.kind_name(parent.kind) == "expression_statement"
            {
                return true;
            }
            if (parent.start, parent.end) != (node.start, node.end) {
                return false;
            }
            at = node.parent;
        }
    }

    fn write_steps(&mut self, hit: &Hit, recipe: &Recipe) {
        let mut last: Option<usize> = None;
        for at in 0..recipe.steps.len() {
            if self.state.is_hidden.get(at) == Some(&true) {
                continue;
            }
            self.write_gap(recipe, last, Some(at));
            if let Some(step) = recipe.steps.get(at) {
                self.write_step(hit, step);
            }
            last = Some(at);
        }
        if last.is_some() {
            self.write_gap(recipe, last, None);
        }
    }

    /// Writes what stands between two steps that write something.
    fn write_gap(&mut self, recipe: &Recipe, before: Option<usize>, behind: Option<usize>) {
        let first = before.map_or(0, |b| b + 1);
        let last = behind.unwrap_or(recipe.steps.len());
        let gaps = recipe.gaps.get(first..=last).unwrap_or_default();
        let all_whole = gaps.iter().all(|g| matches!(g.source, GapSource::Whole(_)));
        let are_same = (recipe.steps.get(first..last).unwrap_or_default())
            .iter()
            .all(|s| s.is_same);
        let whole = |gap: Option<&Gap>| match gap.map(|g| g.source) {
            Some(GapSource::Whole(piece)) => Some(self.source_gap(piece)),
            _ => None,
        };
        if gaps.len() > 1
            && all_whole
            && are_same
            && let (Some(from), Some(to)) = (whole(gaps.first()), whole(gaps.last()))
        {
            self.copy(from.start..to.end);
            return;
        }
        let closes = behind.is_none_or(|b| self.is_class(recipe, b, Class::Closer));
        let gap = if closes { gaps.last() } else { gaps.first() };
        if let Some(gap) = gap {
            self.write_one_gap(gap, closes && behind.is_some());
        }
    }

    fn is_class(&self, recipe: &Recipe, step: usize, class: Class) -> bool {
        recipe
            .steps
            .get(step)
            .and_then(|s| self.unit(s))
            .is_some_and(|u| u.class == class && matches!(u.what, What::Text(_)))
    }

    fn write_one_gap(&mut self, gap: &Gap, closes: bool) {
        let piece = match gap.source {
            GapSource::Template => return self.write_template(&gap.text, Lines::Moved),
            GapSource::Whole(piece) => {
                let range = self.source_gap(piece);
                if range.is_empty() && self.is_beside_absent(piece) {
                    return self.write_template(&gap.text, Lines::Moved);
                }
                return self.copy(range);
            }
            GapSource::BeforeNew(piece)
            | GapSource::AfterNew(piece)
            | GapSource::BesideDeleted(piece) => piece,
        };
        let mut range = self.source_gap(piece);
        let text = self.source.get(range.clone()).unwrap_or_default();
        let last_line = memchr::memrchr(b'\n', text);
        if (gap.text.contains('\n') && last_line.is_none())
            || (range.is_empty() && self.is_beside_absent(piece))
        {
            return self.write_template(&gap.text, Lines::Moved);
        }
        if matches!(gap.source, GapSource::AfterNew(_)) && self.state.used_gap == Some(piece) {
            // What is in it stands in front of what is new.
            let Some(last_line) = last_line else {
                return self.write_template(&gap.text, Lines::Moved);
            };
            let is_crlf = last_line.checked_sub(1).and_then(|i| text.get(i)) == Some(&b'\r');
            range.start += last_line - usize::from(is_crlf);
            let end = range.start + usize::from(is_crlf) + 1;
            let line = self.source.get(end..range.end).unwrap_or_default();
            range.end = end + margin(line).len();
            return self.copy(range);
        }
        if let Some(token_end) = self.last_token(range.clone()) {
            let opens = self
                .out
                .last()
                .is_none_or(|b| matches!(b, b'(' | b'[' | b'{' | b'<'));
            if matches!(gap.source, GapSource::BeforeNew(_)) {
                return self.write_template(&gap.text, Lines::Moved);
            }
            if !closes || opens {
                range.start = token_end;
            }
        }
        if matches!(gap.source, GapSource::BeforeNew(_)) {
            self.state.used_gap = Some(piece);
        }
        self.copy(range);
    }

    /// Whether a piece beside a gap is missing in the file, so that the gap says nothing.
    fn is_beside_absent(&self, piece: usize) -> bool {
        let places = &self.state.places;
        let is_absent = |at: Option<&At>| at.is_some_and(|at| at.is_absent);
        is_absent(piece.checked_sub(1).and_then(|i| places.get(i))) || is_absent(places.get(piece))
    }

    /// Returns the end of the last token, other than a comment, in a range
    /// between two pieces.
    fn last_token(&self, range: Range<usize>) -> Option<usize> {
        if self.source.get(range.clone()).is_none_or(is_blank) {
            return None;
        }
        let nodes = self.tree.nodes();
        let mut at = nodes.partition_point(|n| (n.start as usize) < range.start);
        let mut found = None;
        while let Some(node) = nodes.get(at).filter(|n| (n.start as usize) < range.end) {
            let is_leaf = node.next as usize == at + 1;
            if node.flags.is_extra() {
                at = node.next as usize;
                continue;
            }
            if is_leaf && node.start < node.end && node.end as usize <= range.end {
                found = Some(node.end as usize);
            }
            at += 1;
        }
        found
    }

    fn write_step(&mut self, hit: &Hit, step: &Step) {
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
                    self.write_capture(range, unit.matter);
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
        } else {
            let line_start = self.lines.of(self.source, range.start);
            let line = self.source.get(line_start..range.start).unwrap_or_default();
            let to = match self.state.line_start {
                Some(line) => margin(self.out.get(line..).unwrap_or_default()).to_vec(),
                None => self.state.base.clone(),
            };
            let fixed = self
                .fixed
                .get_or_insert_with(|| Fixed::find(self.grammar, self.tree, self.source));
            fixed.write_moved(self.source, range.clone(), margin(line), &to, &mut self.out);
        }
        self.note_lines(start);
        if matter != Matter::Text {
            self.captures.push(start..self.out.len());
        }
        self.state.kept.push(range);
    }

    /// Keeps the terminator of a statement that the template does not write.
    fn end_statement(&mut self, hit: &Hit, recipe: &Recipe, start: usize) {
        let Some(at) = self.state.places.last().filter(|at| !at.is_absent) else {
            return;
        };
        let is_written = (recipe.steps.last())
            .and_then(|s| self.unit(s))
            .is_none_or(|u| u.class == Class::Terminator);
        let ends = self
            .out
            .get(start..)
            .is_none_or(|text| text.is_empty() || text.ends_with(b";") || text.ends_with(b"}"));
        if !ends_with_terminator(recipe) || is_written || ends {
            return;
        }
        // In Rust the last expression of a block is its value: leaving out the
        // `;` there is what the template is for.
        if self.grammar.language().id == "rust" && self.is_last_in_block(hit) {
            return;
        }
        let range = at.range.clone();
        self.copy(range);
    }

    fn is_last_in_block(&self, hit: &Hit) -> bool {
        let parent = self.tree.node(hit.found.node).parent;
        let end = self.tree.node(parent).next;
        let mut at = hit.found.next;
        while at < end && self.tree.node(at).flags.is_extra() {
            at = self.tree.node(at).next;
        }
        at >= end || self.grammar.kind(self.tree.node(at).kind).closer
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

/// Whether two steps stand for pieces that are side by side in the pattern too,
/// and are the same as those.
fn are_tight(steps: &[Step], a: usize, b: usize) -> bool {
    let (Some(first), Some(second)) = (steps.get(a.min(b)), steps.get(a.max(b))) else {
        return false;
    };
    let (Some(left), Some(right)) = (&first.pieces, &second.pieces) else {
        return false;
    };
    first.is_same && second.is_same && left.end == right.start
}

fn ends_with_terminator(recipe: &Recipe) -> bool {
    (recipe.pieces.last()).is_some_and(|p| p.what == PieceWhat::Token(Class::Terminator))
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
