//! Searches one file.

use std::ops::{ControlFlow, Range};
use std::time::Duration;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::cache::Slot;
use crate::clock::WorkLimit;
use crate::grammar::Grammar;
use crate::matcher::{DEFAULT_BUDGET, Found, Matcher, Traced, bytes_of};
use crate::pattern::Pattern;
use crate::plan::{Admitted, Plan};
use crate::tree::FlatTree;

/// Time of work that the parser gets for every file.
const PARSE_TIME: Duration = Duration::from_secs(2);

/// Time of work that the parser gets for each MiB of a file.
const PARSE_TIME_PER_MIB: Duration = Duration::from_secs(4);

/// A match in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileMatch {
    /// Bytes of the file, from 0.
    pub bytes: Range<usize>,
    /// Kind of the node; of the first one for several statements. Its name is
    /// [`Grammar::kind_name`].
    pub kind: u16,
    /// Whether a syntax error lies in it or touches it.
    pub has_error: bool,
    /// What each metavariable of the pattern stands for, by its number.
    pub captures: Vec<Option<Range<usize>>>,
}

/// Why one file could not be searched to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// Trying all ways to match takes too long.
    #[error("matching took more than {0} steps")]
    OverBudget(u64),
    /// The parser was stopped.
    #[error("parsing was stopped")]
    Stopped,
    /// The parser takes far longer than for other files of this size.
    #[error("parsing takes more than {} seconds", .0.as_secs())]
    TooSlow(Duration),
}

/// Whether a search notes what each step of a program consumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trace {
    On,
    Off,
}

/// Searches files of one language, one after the other, reusing its memory.
pub(crate) struct FileSearch<'p> {
    grammar: &'p Grammar,
    pattern: &'p Pattern,
    plan: &'p Plan,
    parser: Parser,
    flat: FlatTree,
    faults: Faults,
}

impl<'p> FileSearch<'p> {
    pub(crate) fn new(grammar: &'p Grammar, pattern: &'p Pattern, plan: &'p Plan) -> Self {
        let mut parser = Parser::new();
        // A grammar that does not fit shows as a stopped parse in every file.
        let _ = parser.set_language(grammar.parser_language());
        Self {
            grammar,
            pattern,
            plan,
            parser,
            flat: FlatTree::default(),
            faults: Faults::default(),
        }
    }

    /// Finds the matches in `source`, in order, at most `limit` of them, and why
    /// there may be more where matching had to end early.
    ///
    /// With a slot, the tree is taken from there, or kept there.
    pub(crate) fn search(
        &mut self,
        source: &[u8],
        admitted: &Admitted,
        limit: usize,
        slot: Option<Slot<'_>>,
        mut is_stopped: impl FnMut() -> bool,
    ) -> Result<(Vec<FileMatch>, Option<SearchError>), SearchError> {
        match slot {
            Some(slot) => self.lay_out_kept(source, slot, &mut is_stopped)?,
            None => {
                let tree = self.parse(source, &mut is_stopped)?;
                self.lay_out(&tree, source, admitted);
            }
        }
        let mut found: Vec<FileMatch> = Vec::new();
        let ended = self.each_match(source, admitted, Trace::Off, |search, hit, _, _| {
            if found.iter().rev().take(16).any(|f| f.bytes == hit.bytes) {
                return ControlFlow::Continue(());
            }
            found.push(search.report(&hit));
            if found.len() >= limit {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        Ok((found, ended.err()))
    }

    /// Lays out the whole tree, from the slot if it is there.
    fn lay_out_kept(
        &mut self,
        source: &[u8],
        slot: Slot<'_>,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<(), SearchError> {
        let content = slot.cache.fingerprint(source);
        if let Some(kept) = slot.get(content) {
            self.flat.unpack(&kept);
            self.faults = Faults::of(&self.flat);
            return Ok(());
        }
        let tree = self.parse(source, is_stopped)?;
        self.flat.refill(&tree, |_| true, None, |_| true);
        self.faults = Faults::of(&self.flat);
        slot.put(content, self.flat.pack());
        Ok(())
    }

    /// Copies what matching needs out of a tree.
    pub(crate) fn lay_out(&mut self, tree: &Tree, source: &[u8], admitted: &Admitted) {
        let anchors = self.plan.anchors(self.pattern, admitted, source);
        self.flat.refill(
            tree,
            |kind| self.plan.wants_fields(kind),
            anchors.as_deref(),
            |kind| !self.plan.starting_at(kind).is_empty(),
        );
        self.faults = Faults::of(&self.flat);
    }

    /// Calls `on` with each match in the tree laid out, in the order of their
    /// nodes: the match, the number of its program, what each step consumed.
    pub(crate) fn each_match(
        &self,
        source: &[u8],
        admitted: &Admitted,
        trace: Trace,
        mut on: impl FnMut(&Self, Found, u16, &[Traced]) -> ControlFlow<()>,
    ) -> Result<(), SearchError> {
        let mut matcher = Matcher::new(
            self.grammar,
            &self.flat,
            source,
            self.pattern.variables().len(),
            DEFAULT_BUDGET,
        );
        if trace == Trace::On {
            matcher.trace();
        }
        for index in 0..self.flat.nodes().len() as u32 {
            let node = self.flat.node(index);
            let at_kind = self.plan.starting_at(node.kind);
            let anywhere = self.plan.starting_anywhere();
            if at_kind.is_empty() && anywhere.is_empty() {
                continue;
            }
            for &number in at_kind.iter().chain(anywhere) {
                let Some(program) = self.pattern.programs().get(usize::from(number)) else {
                    continue;
                };
                if !admitted.has(number) || !may_start(self.grammar, &self.flat, program, index) {
                    continue;
                }
                let result = matcher
                    .try_at(program, index)
                    .map_err(|_| SearchError::OverBudget(DEFAULT_BUDGET))?;
                let Some(hit) = result.filter(|hit| !hit.bytes.is_empty()) else {
                    continue;
                };
                if on(self, hit, number, matcher.traced()).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the tree laid out last.
    pub(crate) fn tree(&self) -> &FlatTree {
        &self.flat
    }

    /// Returns how many errors the file parsed last has.
    pub(crate) fn faults(&self) -> usize {
        self.faults.by_start.len()
    }

    pub(crate) fn parse(
        &mut self,
        source: &[u8],
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Tree, SearchError> {
        parse(&mut self.parser, source, None, is_stopped)
    }

    /// Parses what a file became, taking over from `old`, its tree told of the
    /// edits, what they left as it was.
    pub(crate) fn parse_edited(
        &mut self,
        source: &[u8],
        old: &Tree,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Tree, SearchError> {
        parse(&mut self.parser, source, Some(old), is_stopped)
    }

    pub(crate) fn report(&self, hit: &Found) -> FileMatch {
        let has_error = self.faults.touch(&self.flat, hit);
        FileMatch {
            bytes: hit.bytes.clone(),
            kind: self.flat.node(hit.node).kind,
            has_error,
            captures: hit
                .bound
                .iter()
                .map(|b| b.map(|b| bytes_of(&self.flat, b)))
                .collect(),
        }
    }
}

/// Whether a program may start at a node, beyond its kind.
fn may_start(
    grammar: &Grammar,
    flat: &FlatTree,
    program: &crate::program::Program,
    index: u32,
) -> bool {
    if !program.is_sequence {
        return true;
    }
    let parent = flat.node(flat.node(index).parent).kind;
    match program.parent {
        Some(kind) => parent == kind,
        None => {
            program.first.is_some()
                || (grammar.kind(flat.node(index).kind).named && grammar.is_list(parent))
        }
    }
}

/// The errors of a tree, found by where they are.
#[derive(Debug, Default)]
struct Faults {
    /// Their indices, which rise with where they start.
    by_start: Vec<u32>,
    /// Where they end and their indices, sorted.
    by_end: Vec<(u32, u32)>,
}

impl Faults {
    fn of(flat: &FlatTree) -> Self {
        if !flat.has_fault() {
            return Self::default();
        }
        let by_start: Vec<u32> = (0..flat.nodes().len() as u32)
            .filter(|n| flat.node(*n).flags.is_fault())
            .collect();
        let mut by_end: Vec<(u32, u32)> =
            by_start.iter().map(|n| (flat.node(*n).end, *n)).collect();
        by_end.sort_unstable();
        Self { by_start, by_end }
    }

    /// Returns whether an error is in a match or right beside it.
    fn touch(&self, flat: &FlatTree, hit: &Found) -> bool {
        let parent = flat.node(hit.node).parent;
        let (start, end) = (hit.bytes.start as u32, hit.bytes.end as u32);
        let inside = self.by_start.partition_point(|n| *n < hit.node);
        let before = self.by_end.partition_point(|(e, _)| *e < start);
        let after = self.by_start.partition_point(|n| flat.node(*n).start < end);
        let is_inside = |n: &u32| *n < hit.next.max(hit.node + 1);
        self.by_start.get(inside).is_some_and(is_inside)
            || (self.by_end.iter().skip(before))
                .take_while(|(e, _)| *e == start)
                .any(|(_, n)| flat.node(*n).parent == parent)
            || (self.by_start.iter().skip(after))
                .take_while(|n| flat.node(**n).start == end)
                .any(|n| flat.node(*n).parent == parent)
    }
}

/// Returns the time of work that the parser gets for a text.
///
/// Some grammars need time that grows with the square of the text: with errors
/// in it, or, in Python, with a long run of comments.
fn parse_time(bytes: usize) -> Duration {
    PARSE_TIME + PARSE_TIME_PER_MIB * u32::try_from(bytes.div_ceil(1024 * 1024)).unwrap_or(u32::MAX)
}

/// Parses a text, until `is_stopped` says that it is enough.
fn parse(
    parser: &mut Parser,
    source: &[u8],
    old: Option<&Tree>,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<Tree, SearchError> {
    let limit = parse_time(source.len());
    let time = WorkLimit::new(limit);
    let mut is_slow = false;
    let mut progress = |_: &tree_sitter::ParseState| {
        is_slow = time.is_over();
        if is_slow || is_stopped() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = crate::stack::enough_for(source.len(), || {
        let tree = parser.parse_with_options(
            &mut |at, _| source.get(at..).unwrap_or_default(),
            old,
            Some(options),
        );
        if tree.is_none() {
            parser.reset();
        }
        tree
    });
    match tree {
        Some(tree) => Ok(tree),
        None if is_slow => Err(SearchError::TooSlow(limit)),
        None => Err(SearchError::Stopped),
    }
}

/// Parses one text and lays its tree out with all fields; `None` where it was stopped.
pub(crate) fn parse_whole(
    grammar: &Grammar,
    text: &str,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Option<FlatTree> {
    let mut parser = Parser::new();
    parser.set_language(grammar.parser_language()).ok()?;
    let tree = parse(&mut parser, text.as_bytes(), None, is_stopped).ok()?;
    Some(FlatTree::whole(&tree))
}

/// Finds all matches of a pattern in one text.
///
/// Matches are in the order of their nodes: an outer one comes before those in it.
///
/// # Errors
/// [`SearchError::OverBudget`] when the ways to match are too many to try.
pub fn search_text(
    grammar: &Grammar,
    pattern: &Pattern,
    text: &str,
) -> Result<Vec<FileMatch>, SearchError> {
    let plan = Plan::new(pattern, grammar);
    let admitted = plan.admits(text.as_bytes());
    if admitted.is_empty() {
        return Ok(Vec::new());
    }
    let mut search = FileSearch::new(grammar, pattern, &plan);
    match search.search(text.as_bytes(), &admitted, usize::MAX, None, || false)? {
        (_, Some(error)) => Err(error),
        (found, None) => Ok(found),
    }
}
