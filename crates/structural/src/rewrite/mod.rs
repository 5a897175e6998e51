//! Rewrites the matches of a pattern in one file.
//!
//! [`Template`] says what a match becomes, `recipe` and `pairs` what of it is
//! new, `assemble` and `indent` write it, `delete` takes out what becomes
//! nothing, and `edited` and `check` read the result again.

mod assemble;
mod check;
mod delete;
mod edited;
mod indent;
mod pairs;
mod recipe;
mod template;

use std::ops::{ControlFlow, Range};

use assemble::{Assembler, Hit};
use recipe::Recipe;
pub use template::{MAX_TEMPLATE_BYTES, Template, TemplateError};
use tree_sitter::Tree;

use crate::grammar::Grammar;
use crate::pattern::Pattern;
use crate::plan::{Admitted, Plan};
use crate::scan::MAX_FILE_BYTES;
use crate::search::{FileMatch, FileSearch, SearchError, Trace};
use crate::tree::FlatTree;

/// What a file becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewritten {
    /// The whole file as it would be.
    pub bytes: Vec<u8>,
    /// What was replaced, in order.
    pub replacements: Vec<Replacement>,
    /// Every place that differs, in order: the replacements, and the separators
    /// that went with some of them.
    pub changes: Vec<Replacement>,
    /// Matches left as they are since they lie in one that was replaced, or
    /// overlap with it. Another rewrite of the result finds those that are left.
    pub nested: usize,
    /// Matches left as they are since a syntax error lies in them or beside them.
    pub left_alone: Vec<FileMatch>,
    /// Comments in matches that are not in the result.
    pub lost_comments: usize,
    /// Matches whose replacement is what was there before.
    pub unchanged: usize,
    /// Numbers of the replacements in which code of a metavariable, or the
    /// replacement, is no longer a whole of its own: `a + b` for `$A` in `$A * 2`.
    pub regrouped: Vec<usize>,
}

/// One place that was rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replacement {
    /// Bytes of the file that were replaced.
    pub before: Range<usize>,
    /// The bytes of the result that took their place.
    pub after: Range<usize>,
}

/// Why a file cannot be rewritten; nothing of it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The result has more syntax errors than the file.
    #[error(
        "the result would have a new syntax error at {line}:{column}, {what}, from the match at line {match_line}"
    )]
    NewSyntaxErrors {
        /// Line in the result, from 1.
        line: usize,
        /// Column in the result, in characters, from 1.
        column: usize,
        /// What is wrong there: the token that is missing, or the text that
        /// does not fit.
        what: String,
        /// Line of the file in which the match begins whose replacement is
        /// nearest, from 1.
        match_line: usize,
    },
    /// Nothing would be left in a block that must hold something.
    #[error(
        "the result would have an empty block at line {line}, from the match at line {match_line}"
    )]
    EmptiesBlock {
        /// Line in the result, from 1.
        line: usize,
        /// Line of the file in which the match begins whose replacement is
        /// nearest, from 1.
        match_line: usize,
    },
    /// The result is larger than what can be searched, and than the file.
    #[error("the result would be over {limit} bytes, more than a file may have to be searched")]
    TooLarge {
        /// The most bytes that it may have.
        limit: usize,
    },
    /// The file could not be searched to its end.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Rewrites the matches of `pattern` in `source` by `template`, which must have
/// been read for this pattern and grammar.
///
/// Of matches that overlap, the first and largest is rewritten. What the
/// pattern and the template have in common keeps its bytes. The result is
/// parsed again.
///
/// # Errors
/// [`RewriteError`] when the result has a syntax error that `source` has not,
/// empties a block, or is over 4 MiB and larger than `source`; when matching takes
/// too long; or when `is_stopped` says so.
pub fn rewrite_text(
    grammar: &Grammar,
    pattern: &Pattern,
    template: &Template,
    source: &[u8],
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<Rewritten, RewriteError> {
    let plan = Plan::new(pattern, grammar);
    let admitted = plan.admits(source);
    Rewriter::new(grammar, pattern, &plan, template).rewrite(source, &admitted, is_stopped)
}

/// Rewrites files of one language, one after the other, reusing its memory.
pub(crate) struct Rewriter<'p> {
    grammar: &'p Grammar,
    template: &'p Template,
    search: FileSearch<'p>,
}

/// One change to a file: these bytes become those of the assembler's text.
#[derive(Debug, Clone)]
struct Edit {
    before: Range<usize>,
    text: Range<usize>,
    /// Number of the match it is for; `None` for a separator that goes with one.
    hit: Option<usize>,
}

impl<'p> Rewriter<'p> {
    pub(crate) fn new(
        grammar: &'p Grammar,
        pattern: &'p Pattern,
        plan: &'p Plan,
        template: &'p Template,
    ) -> Self {
        Self {
            grammar,
            template,
            search: FileSearch::new(grammar, pattern, plan),
        }
    }

    /// Returns how many errors the file rewritten last has, before it is rewritten.
    pub(crate) fn faults(&self) -> usize {
        self.search.faults()
    }

    /// Rewrites one file.
    pub(crate) fn rewrite(
        &mut self,
        source: &[u8],
        admitted: &Admitted,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Rewritten, RewriteError> {
        let mut result = Rewritten {
            bytes: Vec::new(),
            replacements: Vec::new(),
            changes: Vec::new(),
            nested: 0,
            left_alone: Vec::new(),
            lost_comments: 0,
            unchanged: 0,
            regrouped: Vec::new(),
        };
        if admitted.is_empty() {
            result.bytes.extend_from_slice(source);
            return Ok(result);
        }
        let tree = self.search.parse(source, is_stopped)?;
        self.search.lay_out(&tree, source, admitted);
        let hits = self.choose(source, admitted, &mut result)?;
        let flat = self.search.tree();
        // No file becomes too large for the next search.
        let limit = (MAX_FILE_BYTES as usize).max(source.len());
        let mut assembler = Assembler::new(self.grammar, flat, source, self.template, limit);
        let mut edits: Vec<Edit> = Vec::with_capacity(hits.len());
        for (number, hit) in hits.iter().enumerate() {
            let text = assembler.write(hit);
            let before = hit.found.bytes.clone();
            let written = assembler.out.get(text.clone()).unwrap_or_default();
            if Some(written) == source.get(before.clone()) {
                result.unchanged += 1;
                assembler.take_back(text.start);
                continue;
            }
            if assembler.out.len() > limit {
                return Err(RewriteError::TooLarge { limit });
            }
            edits.push(Edit {
                before,
                text,
                hit: Some(number),
            });
        }
        result.lost_comments = assembler.lost_comments;
        let edits = delete::widen(self.grammar, flat, source, &hits, edits);
        let may_empty = assembler.has_empty_run || edits.iter().any(|e| e.text.is_empty());
        let removed: usize = edits.iter().map(|e| e.before.len()).sum();
        let added: usize = edits.iter().map(|e| e.text.len()).sum();
        if (source.len() + added).saturating_sub(removed) > limit {
            return Err(RewriteError::TooLarge { limit });
        }
        let captures = splice(source, &edits, &assembler, &mut result);
        // A space may have been put between two words.
        if result.bytes.len() > limit {
            return Err(RewriteError::TooLarge { limit });
        }
        if !result.replacements.is_empty() {
            let parsed = self.parse_again(&tree, source, &result, is_stopped)?;
            let check = check::Check {
                grammar: self.grammar,
                source,
                old: &tree,
                new: &parsed,
                may_empty,
            };
            check.run(&captures, &mut result)?;
        }
        Ok(result)
    }

    /// Parses the result, taking over from the file's tree what is as it was.
    ///
    /// A syntax error is believed only of a parse from scratch: how the parser
    /// recovers from one depends on what it can take over.
    fn parse_again(
        &mut self,
        tree: &Tree,
        source: &[u8],
        result: &Rewritten,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Tree, SearchError> {
        if !tree.root_node().has_error() {
            let edited = edited::tree(tree, source, result);
            let parsed = self
                .search
                .parse_edited(&result.bytes, &edited, is_stopped)?;
            if !parsed.root_node().has_error() {
                return Ok(parsed);
            }
        }
        self.search.parse(&result.bytes, is_stopped)
    }

    /// Chooses the matches to rewrite: of those that overlap the first and largest.
    fn choose(
        &self,
        source: &[u8],
        admitted: &Admitted,
        result: &mut Rewritten,
    ) -> Result<Vec<Hit>, SearchError> {
        let mut hits: Vec<Hit> = Vec::new();
        let mut nested: Vec<Range<usize>> = Vec::new();
        let (left_alone, count) = (&mut result.left_alone, &mut result.nested);
        self.search.each_match(
            source,
            admitted,
            Trace::On,
            |search, mut found, program, trace| {
                found.bytes = assemble::without_line_end(source, found.bytes);
                if self
                    .template
                    .recipe(program)
                    .is_some_and(Recipe::adds_behind_run)
                {
                    found.bytes.end = comment_end(search.tree(), source, found.bytes.end);
                }
                let report = search.report(&found);
                if report.has_error {
                    if !(left_alone.iter().rev().take(16))
                        .any(|f: &FileMatch| f.bytes == found.bytes)
                    {
                        left_alone.push(report);
                    }
                    return ControlFlow::Continue(());
                }
                let last = hits.last().map(|h| h.found.bytes.clone());
                let overlaps = last.as_ref().is_some_and(|l| found.bytes.start < l.end);
                if overlaps {
                    let is_larger = last
                        .as_ref()
                        .is_some_and(|l| l.start == found.bytes.start && l.end < found.bytes.end);
                    let is_known = last.as_ref() == Some(&found.bytes)
                        || nested.iter().rev().take(16).any(|n| *n == found.bytes);
                    if !is_known {
                        *count += 1;
                    }
                    if !is_larger {
                        nested.push(found.bytes);
                        return ControlFlow::Continue(());
                    }
                    nested.extend(last);
                    hits.pop();
                }
                hits.push(Hit {
                    found,
                    program,
                    trace: trace.to_vec(),
                });
                ControlFlow::Continue(())
            },
        )?;
        Ok(hits)
    }
}

/// Returns the end of a comment behind a byte on the same line, or that byte.
fn comment_end(tree: &FlatTree, source: &[u8], at: usize) -> usize {
    let nodes = tree.nodes();
    let next = nodes.partition_point(|n| (n.start as usize) < at);
    let Some(node) = nodes.get(next).filter(|n| n.flags.is_extra()) else {
        return at;
    };
    let between = source.get(at..node.start as usize).unwrap_or_default();
    let is_beside = !between.contains(&b'\n') && between.iter().all(u8::is_ascii_whitespace);
    let range = assemble::without_line_end(source, node.start as usize..node.end as usize);
    let rest = source.get(range.end..).unwrap_or_default();
    let ends_line = rest
        .iter()
        .find(|b| !matches!(b, b' ' | b'\t' | b'\r'))
        .is_none_or(|b| *b == b'\n');
    if is_beside && ends_line {
        range.end
    } else {
        at
    }
}

/// Puts the edits into the file in one pass, and returns where in the result
/// the code of metavariables is.
fn splice(
    source: &[u8],
    edits: &[Edit],
    assembler: &Assembler<'_>,
    result: &mut Rewritten,
) -> Vec<Range<usize>> {
    let growth: usize = edits.iter().map(|e| e.text.len()).sum();
    let mut bytes = Vec::with_capacity(source.len() + growth + edits.len());
    let mut captures = assembler.captures.iter().peekable();
    let mut moved = Vec::with_capacity(assembler.captures.len());
    let mut at = 0;
    for (number, edit) in edits.iter().enumerate() {
        bytes.extend_from_slice(source.get(at..edit.before.start).unwrap_or_default());
        at = edit.before.end;
        let text = assembler.out.get(edit.text.clone()).unwrap_or_default();
        let first = source.get(edit.before.start);
        let last = edit.before.end.checked_sub(1).and_then(|i| source.get(i));
        // `return(a)` must not become `returna`.
        let joins = |before: Option<&u8>, behind: Option<&u8>, were: bool| {
            !were && assemble::would_join(before, behind)
        };
        let before = edit.before.start.checked_sub(1).and_then(|i| source.get(i));
        let is_next_beside =
            (edits.get(number + 1)).is_some_and(|next| next.before.start == edit.before.end);
        let behind = source.get(edit.before.end);
        let start = bytes.len();
        let edge = match text.first() {
            None if is_next_beside => None,
            None => behind,
            some => some,
        };
        if joins(bytes.last(), edge, assemble::would_join(before, first)) {
            bytes.push(b' ');
        }
        let offset = bytes.len();
        bytes.extend_from_slice(text);
        if !text.is_empty()
            && !is_next_beside
            && joins(text.last(), behind, assemble::would_join(last, behind))
        {
            bytes.push(b' ');
        }
        while let Some(capture) = captures.next_if(|c| c.start < edit.text.end) {
            if capture.start >= edit.text.start {
                let shift = |i: usize| i - edit.text.start + offset;
                moved.push(shift(capture.start)..shift(capture.end));
            }
        }
        let change = Replacement {
            before: edit.before.clone(),
            after: start..bytes.len(),
        };
        if edit.hit.is_some() {
            result.replacements.push(change.clone());
        }
        result.changes.push(change);
    }
    bytes.extend_from_slice(source.get(at..).unwrap_or_default());
    result.bytes = bytes;
    moved
}
