//! Searches one file.

use std::ops::{ControlFlow, Range};

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::cache::Slot;
use crate::grammar::Grammar;
use crate::matcher::{DEFAULT_BUDGET, Found, Matcher, Traced, bytes_of};
use crate::pattern::Pattern;
use crate::plan::{Admitted, Plan};
use crate::tree::FlatTree;

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
        }
    }

    /// Finds the matches in `source`, in order, at most `limit` of them.
    ///
    /// With a slot, the tree is taken from there, or kept there.
    pub(crate) fn search(
        &mut self,
        source: &[u8],
        admitted: &Admitted,
        limit: usize,
        slot: Option<Slot<'_>>,
        mut is_stopped: impl FnMut() -> bool,
    ) -> Result<Vec<FileMatch>, SearchError> {
        match slot {
            Some(slot) => self.lay_out_kept(source, slot, &mut is_stopped)?,
            None => {
                let tree = self.parse(source, &mut is_stopped)?;
                self.lay_out(&tree, source, admitted);
            }
        }
        let mut found: Vec<FileMatch> = Vec::new();
        self.each_match(source, admitted, Trace::Off, |search, hit, _, _| {
            if found.iter().rev().take(16).any(|f| f.bytes == hit.bytes) {
                return ControlFlow::Continue(());
            }
            found.push(search.report(&hit));
            if found.len() >= limit {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// Lays out the whole tree, from the slot if it is there.
    fn lay_out_kept(
        &mut self,
        source: &[u8],
        slot: Slot<'_>,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<(), SearchError> {
        let content = slot.fingerprint(source);
        if let Some(kept) = slot.get(content) {
            self.flat.unpack(&kept);
            return Ok(());
        }
        let tree = self.parse(source, is_stopped)?;
        self.flat.refill(&tree, |_| true, None, |_| true);
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
        if !self.flat.has_fault() {
            return 0;
        }
        self.flat
            .nodes()
            .iter()
            .filter(|n| n.flags.is_fault())
            .count()
    }

    pub(crate) fn parse(
        &mut self,
        source: &[u8],
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Tree, SearchError> {
        let mut progress = |_: &tree_sitter::ParseState| {
            if is_stopped() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        crate::stack::enough_for(source.len(), || {
            let tree = self.parser.parse_with_options(
                &mut |at, _| source.get(at..).unwrap_or_default(),
                None,
                Some(options),
            );
            tree.ok_or_else(|| {
                self.parser.reset();
                SearchError::Stopped
            })
        })
    }

    pub(crate) fn report(&self, hit: &Found) -> FileMatch {
        let has_error = self.flat.has_fault() && touches_fault(&self.flat, hit);
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

/// Whether an error is in a match or right beside it.
fn touches_fault(flat: &FlatTree, hit: &Found) -> bool {
    (hit.node..hit.next.max(hit.node + 1)).any(|n| flat.node(n).flags.is_fault())
        || flat.children(flat.node(hit.node).parent).any(|sibling| {
            let node = flat.node(sibling);
            node.flags.is_fault()
                && (node.end as usize == hit.bytes.start || node.start as usize == hit.bytes.end)
        })
}

/// Parses one text and lays its tree out with all fields.
pub(crate) fn parse_whole(grammar: &Grammar, text: &str) -> Option<FlatTree> {
    let mut parser = Parser::new();
    parser.set_language(grammar.parser_language()).ok()?;
    let tree = crate::stack::enough_for(text.len(), || parser.parse(text, None));
    Some(FlatTree::whole(&tree?))
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
    FileSearch::new(grammar, pattern, &plan).search(
        text.as_bytes(),
        &admitted,
        usize::MAX,
        None,
        || false,
    )
}
