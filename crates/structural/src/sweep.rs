//! Rewrites many files in memory, on all cores, with results that do not
//! depend on how many there are.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::diff::{self, FileDiff};
use crate::excerpt::{Lines, Position};
use crate::parallel;
use crate::rewrite::{Replacement, RewriteError, Rewriter, Rewritten, Template};
use crate::scan::{self, FILES_PER_THREAD, FileOutcome, Job, jobs_for};
use crate::search::SearchError;
use crate::source::Source;
use crate::walk::Candidate;

/// What to do where the result is wrong.
const CHANGE_REWRITE: &str = "change `rewrite`, or match more in `pattern`";
/// What to do where the result is too large.
const WRITE_LESS: &str = "write less in `rewrite`, or match less with `pattern`";

/// How files are rewritten.
pub(crate) struct Sweep<'a> {
    pub(crate) files: &'a [Candidate],
    /// By language id.
    pub(crate) jobs: &'a BTreeMap<&'static str, Job>,
    /// For the same languages.
    pub(crate) templates: &'a BTreeMap<&'static str, Template>,
    pub(crate) source: &'a Source,
    pub(crate) threads: usize,
    pub(crate) use_prefilter: bool,
    /// Old and new bytes of changed files that may be held.
    pub(crate) room: usize,
    pub(crate) is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Told the numbers of files done and replacements made.
    pub(crate) progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// Why a sweep ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Stopped,
    NoRoom,
}

/// What came of one file.
#[derive(Debug, Default)]
pub(crate) struct FileEdit {
    /// As a search says it, without the matches.
    pub(crate) outcome: FileOutcome,
    /// What it becomes, where that is something else.
    pub(crate) change: Option<Change>,
    /// Why it is left alone although something matched.
    pub(crate) refused: Option<Refusal>,
    /// Matches left alone since they touch a syntax error.
    pub(crate) in_errors: Vec<Position>,
    /// Matches inside others that were rewritten.
    pub(crate) nested: usize,
    /// Matches that become what they are.
    pub(crate) unchanged: usize,
    /// Comments that matches had and their results do not.
    pub(crate) lost_comments: usize,
    /// Replacements in which code of a metavariable is no whole any more.
    pub(crate) regrouped: Vec<Position>,
}

impl FileEdit {
    /// Builds the outcome of a file that cannot be changed.
    pub(crate) fn left_alone(refusal: Refusal) -> Self {
        Self {
            refused: Some(refusal),
            ..Self::default()
        }
    }

    /// Whether anything matched, or may have.
    pub(crate) fn has_matches(&self) -> bool {
        self.change.is_some()
            || self.refused.is_some()
            || !self.in_errors.is_empty()
            || self.unchanged > 0
    }
}

/// Why a file is left alone.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Line of the match that it comes from, from 1.
    pub(crate) line: Option<usize>,
    pub(crate) reason: String,
    /// What to do about it.
    pub(crate) next: &'static str,
}

/// The change of one file.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) before: Arc<[u8]>,
    pub(crate) after: Arc<[u8]>,
    /// Bytes before, bytes after.
    pub(crate) replaced: Vec<(Range<usize>, Range<usize>)>,
    pub(crate) diff: FileDiff,
}

/// What a thread keeps from file to file.
#[derive(Default)]
struct Worker<'s> {
    rewriters: BTreeMap<&'static str, Rewriter<'s>>,
    buffer: Vec<u8>,
}

/// What the threads count together.
#[derive(Default)]
struct Totals {
    bytes: AtomicUsize,
    files: AtomicUsize,
    replacements: AtomicUsize,
}

impl Sweep<'_> {
    /// Rewrites the files; the result is the same for every number of threads.
    pub(crate) fn run(&self) -> Result<Vec<FileEdit>, Ended> {
        let totals = Totals::default();
        let most = self.files.len().div_ceil(FILES_PER_THREAD).max(1);
        let edits = parallel::map(
            self.files.len(),
            self.threads.clamp(1, most),
            Worker::default,
            |worker, at| self.file(self.files.get(at)?, worker, &totals),
        );
        match edits {
            Some(edits) => Ok(edits),
            None if totals.bytes.load(Ordering::Relaxed) > self.room => Err(Ended::NoRoom),
            None => Err(Ended::Stopped),
        }
    }

    /// Rewrites one file; `None` ends the sweep.
    fn file<'s>(
        &'s self,
        file: &Candidate,
        worker: &mut Worker<'s>,
        totals: &Totals,
    ) -> Option<FileEdit> {
        if (self.is_stopped)() {
            return None;
        }
        let mut edit = FileEdit::default();
        let Worker { rewriters, buffer } = worker;
        match self.source.read(file, buffer) {
            Ok(text) => self.rewrite(file, text, rewriters, &mut edit)?,
            Err(skip) => edit.outcome.skipped = Some(skip),
        }
        let add = |total: &AtomicUsize, n: usize| total.fetch_add(n, Ordering::Relaxed) + n;
        let bytes = add(&totals.bytes, edit.change.as_ref().map_or(0, Change::bytes));
        let replacements = edit.change.as_ref().map_or(0, |c| c.replaced.len());
        (self.progress)(
            add(&totals.files, 1),
            add(&totals.replacements, replacements),
        );
        (bytes <= self.room).then_some(edit)
    }

    /// Rewrites a text as the language in which it has the fewest errors;
    /// `None` ends the sweep.
    fn rewrite<'s>(
        &'s self,
        file: &Candidate,
        text: &str,
        rewriters: &mut BTreeMap<&'static str, Rewriter<'s>>,
        edit: &mut FileEdit,
    ) -> Option<()> {
        let mut best: Option<(&'static str, Result<Rewritten, RewriteError>, usize)> = None;
        for (id, job) in jobs_for(self.jobs, file) {
            // The first one stands for a file that none is worth parsing for.
            edit.outcome.searched_as = edit.outcome.searched_as.or(Some(id));
            let admitted = if self.use_prefilter {
                job.plan.admits(text.as_bytes())
            } else {
                job.plan.admit_all()
            };
            let template = self.templates.get(id).filter(|_| !admitted.is_empty());
            let Some(template) = template else { continue };
            edit.outcome.has_literals |= job.plan.has_literals();
            edit.outcome.was_parsed = true;
            let rewriter = rewriters
                .entry(id)
                .or_insert_with(|| Rewriter::new(&job.grammar, &job.pattern, &job.plan, template));
            let result = rewriter.rewrite(text.as_bytes(), &admitted, &mut || (self.is_stopped)());
            if matches!(result, Err(RewriteError::Search(SearchError::Stopped))) {
                return None;
            }
            let faults = rewriter.faults();
            if best.as_ref().is_none_or(|(.., least)| faults < *least) {
                best = Some((id, result, faults));
            }
            if faults == 0 {
                break;
            }
        }
        if let Some((id, result, _)) = best {
            edit.outcome.searched_as = Some(id);
            edit.take(file, text, result);
        }
        Some(())
    }
}

impl FileEdit {
    fn take(&mut self, file: &Candidate, text: &str, result: Result<Rewritten, RewriteError>) {
        let rewritten = match result {
            Ok(rewritten) => rewritten,
            Err(error) => {
                let (line, next) = match &error {
                    RewriteError::NewSyntaxErrors { match_line, .. }
                    | RewriteError::EmptiesBlock { match_line, .. } => {
                        (Some(*match_line), CHANGE_REWRITE)
                    }
                    RewriteError::TooLarge { .. } => (None, WRITE_LESS),
                    RewriteError::Search(failed) => {
                        self.outcome.failed = Some(failed.clone());
                        (None, CHANGE_REWRITE)
                    }
                };
                self.refused = Some(Refusal {
                    line,
                    reason: error.to_string(),
                    next,
                });
                return;
            }
        };
        let mut lines = Lines::new(text);
        let at_error = rewritten.left_alone.iter();
        self.in_errors = at_error.map(|m| lines.position(m.bytes.start)).collect();
        self.nested = rewritten.nested;
        self.unchanged = rewritten.unchanged;
        self.lost_comments = rewritten.lost_comments;
        self.regrouped = {
            let mut lines = Lines::new(text);
            let numbers = rewritten.regrouped.iter();
            numbers
                .filter_map(|number| rewritten.replacements.get(*number))
                .map(|replaced| lines.position(replaced.before.start))
                .collect()
        };
        if rewritten.bytes == text.as_bytes() {
            return;
        }
        let after = match scan::fit(&rewritten.bytes) {
            Ok(after) => after,
            Err((reason, detail)) => {
                let outcome = std::mem::take(&mut self.outcome);
                *self = Self::left_alone(Refusal {
                    line: None,
                    reason: format!("the result would be {reason} ({detail})"),
                    next: CHANGE_REWRITE,
                });
                self.outcome = outcome;
                return;
            }
        };
        let places = |r: &Replacement| (r.before.clone(), r.after.clone());
        let diff = diff::unified(
            &file.relative,
            text,
            after,
            rewritten.changes.iter().map(places),
        );
        self.change = Some(Change {
            before: text.as_bytes().into(),
            replaced: rewritten.replacements.iter().map(places).collect(),
            diff,
            after: rewritten.bytes.into(),
        });
    }
}

impl Change {
    fn bytes(&self) -> usize {
        self.before.len() + self.after.len()
    }
}

#[cfg(all(test, feature = "lang-python"))]
mod tests;
