//! Searches many files on all cores, with results that do not depend on how
//! many there are.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::cache::{Slot, TreeCache};
use crate::excerpt::{Lines, Position, cut};
use crate::grammar::Grammar;
use crate::pattern::Pattern;
use crate::plan::{Admitted, Plan};
use crate::search::{FileMatch, FileSearch, SearchError};
use crate::source::Source;
use crate::walk::{self, Candidate};

/// The largest file that is searched, in bytes.
pub const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// A zero byte within this many first bytes makes a file binary.
const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// Files each thread must have to be worth starting.
pub(crate) const FILES_PER_THREAD: usize = 16;

/// A pattern compiled for one language, with all that files of it need.
pub(crate) struct Job {
    pub(crate) grammar: Arc<Grammar>,
    pub(crate) pattern: Pattern,
    pub(crate) plan: Plan,
}

impl Job {
    pub(crate) fn new(grammar: Arc<Grammar>, pattern: Pattern) -> Self {
        let plan = Plan::new(&pattern, &grammar);
        Self {
            grammar,
            pattern,
            plan,
        }
    }
}

/// How a scan is done.
pub(crate) struct Scan<'a> {
    pub(crate) files: &'a [Candidate],
    /// By language id.
    pub(crate) jobs: &'a BTreeMap<&'static str, Job>,
    pub(crate) source: &'a Source,
    /// The scan stops once more matches than this are known.
    pub(crate) limit: usize,
    pub(crate) threads: usize,
    pub(crate) use_prefilter: bool,
    /// Where trees are kept for the next search.
    pub(crate) cache: Option<&'a TreeCache>,
    pub(crate) is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Told the numbers of files done and matches found.
    pub(crate) progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// Why a file was not searched.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// Larger than [`MAX_FILE_BYTES`].
    TooLarge,
    /// Has a zero byte near its start.
    Binary,
    /// Not UTF-8.
    NotUtf8,
    /// Could not be read.
    Unreadable,
    /// Takes the parser far longer than other files of its size.
    TooSlow,
}

/// A match with its place in the file as people count.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) found: FileMatch,
    pub(crate) start: Position,
    pub(crate) end: Position,
    /// The text of it; left out once [`MAX_TEXTS`] matches come before it.
    pub(crate) texts: Option<Box<Texts>>,
}

/// The text of a match.
#[derive(Debug, Clone)]
pub(crate) struct Texts {
    /// The line the match starts on; where it is long, what is around the match.
    pub(crate) line: String,
    /// The text matched, cut.
    pub(crate) text: String,
    /// Per metavariable, the text it stands for, cut.
    pub(crate) captures: Vec<Option<String>>,
}

/// Matches that come with their text; later ones have their place only.
pub(crate) const MAX_TEXTS: usize = 1_000;

/// What came of one file.
#[derive(Debug, Default)]
pub(crate) struct FileOutcome {
    pub(crate) hits: Vec<Hit>,
    pub(crate) skipped: Option<(SkipReason, String)>,
    pub(crate) failed: Option<SearchError>,
    /// Whether every literal of some reading occurs.
    pub(crate) has_literals: bool,
    pub(crate) was_parsed: bool,
    /// The language it was searched as.
    pub(crate) searched_as: Option<&'static str>,
}

/// What came of a scan: outcomes by file, up to where it stopped.
pub(crate) struct Scanned {
    pub(crate) outcomes: Vec<FileOutcome>,
    /// Whether every file was looked at.
    pub(crate) is_complete: bool,
}

/// State that the threads share.
struct Shared {
    outcomes: Vec<Option<FileOutcome>>,
    /// Files `..settled` are done, and hold `matches` matches.
    settled: usize,
    matches: usize,
}

impl Scan<'_> {
    /// Searches the files; the result is the same for every number of threads.
    pub(crate) fn run(&self) -> Scanned {
        let next = AtomicUsize::new(0);
        let is_full = AtomicBool::new(false);
        let shared = Mutex::new(Shared {
            outcomes: (0..self.files.len()).map(|_| None).collect(),
            settled: 0,
            matches: 0,
        });
        let threads = self
            .threads
            .clamp(1, self.files.len().div_ceil(FILES_PER_THREAD).max(1));
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.work(&next, &is_full, &shared));
            }
            self.work(&next, &is_full, &shared);
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        let settled = shared.settled;
        let is_complete = settled == self.files.len();
        let mut outcomes: Vec<FileOutcome> = shared
            .outcomes
            .into_iter()
            .take(settled)
            .flatten()
            .collect();
        // A thread may be ahead of what is known of the files before its own.
        let hits = outcomes.iter_mut().flat_map(|o| &mut o.hits);
        for hit in hits.skip(MAX_TEXTS) {
            hit.texts = None;
        }
        Scanned {
            outcomes,
            is_complete,
        }
    }

    fn work(&self, next: &AtomicUsize, is_full: &AtomicBool, shared: &Mutex<Shared>) {
        let mut searches: BTreeMap<&'static str, FileSearch<'_>> = BTreeMap::new();
        let mut buffer = Vec::new();
        while !is_full.load(Ordering::Relaxed) && !(self.is_stopped)() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = self.files.get(at) else {
                return;
            };
            // What is settled comes before this file in the result.
            let has_texts = shared.lock().is_ok_and(|s| s.matches <= MAX_TEXTS);
            let outcome = self.search_file(file, &mut searches, &mut buffer, has_texts);
            if outcome.failed == Some(SearchError::Stopped) {
                return;
            }
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(slot) = shared.outcomes.get_mut(at) {
                *slot = Some(outcome);
            }
            while shared.matches <= self.limit {
                let settled = shared.settled;
                let Some(Some(done)) = shared.outcomes.get(settled) else {
                    break;
                };
                shared.matches += done.hits.len();
                shared.settled += 1;
            }
            if shared.matches > self.limit {
                is_full.store(true, Ordering::Relaxed);
            }
            (self.progress)(shared.settled, shared.matches);
        }
    }

    fn search_file<'s>(
        &'s self,
        file: &Candidate,
        searches: &mut BTreeMap<&'static str, FileSearch<'s>>,
        buffer: &mut Vec<u8>,
        has_texts: bool,
    ) -> FileOutcome {
        let mut outcome = FileOutcome::default();
        let text = match self.source.read(file, buffer) {
            Ok(text) => text,
            Err(skip) => {
                outcome.skipped = Some(skip);
                return outcome;
            }
        };
        let limit = self.limit.saturating_add(1);
        let mut best: Option<(&'static str, Vec<FileMatch>, usize)> = None;
        for (id, job) in self.jobs_for(file) {
            // The first one stands for a file that none is worth parsing for.
            outcome.searched_as = outcome.searched_as.or(Some(id));
            if let Some((found, faults)) =
                self.search_as(job, file, text, limit, searches, &mut outcome)
                && best.as_ref().is_none_or(|(.., least)| faults < *least)
            {
                best = Some((id, found, faults));
            }
            let is_clean = best.as_ref().is_some_and(|(.., faults)| *faults == 0);
            if is_clean || outcome.failed.is_some() {
                break;
            }
        }
        if let Some((id, found, _)) = best {
            outcome.searched_as = Some(id);
            outcome.skipped = None;
            outcome.hits = hits(text, found, has_texts);
        }
        outcome
    }

    /// Returns the jobs a file may be searched with, the likelier first: a
    /// header may be C or C++.
    pub(crate) fn jobs_for(&self, file: &Candidate) -> impl Iterator<Item = (&'static str, &Job)> {
        jobs_for(self.jobs, file)
    }

    /// Returns what a plan admits of a text; `None` where an earlier search found
    /// that it is nothing, and that takes time to find.
    fn admits(&self, plan: &Plan, text: &[u8]) -> Option<Admitted> {
        let (Some(cache), Some(key)) = (self.cache, plan.key()) else {
            return Some(plan.admits(text));
        };
        let content = cache.fingerprint(text);
        if cache.is_refused(key, content) {
            return None;
        }
        let admitted = plan.admits(text);
        if admitted.is_empty() {
            cache.refuse(key, content);
        }
        Some(admitted)
    }

    fn search_as<'s>(
        &'s self,
        job: &'s Job,
        file: &Candidate,
        text: &str,
        limit: usize,
        searches: &mut BTreeMap<&'static str, FileSearch<'s>>,
        outcome: &mut FileOutcome,
    ) -> Option<(Vec<FileMatch>, usize)> {
        let admitted = if self.use_prefilter {
            self.admits(&job.plan, text.as_bytes())?
        } else {
            job.plan.admit_all()
        };
        if admitted.is_empty() {
            return None;
        }
        outcome.has_literals = job.plan.has_literals();
        outcome.was_parsed = true;
        let search = searches
            .entry(job.grammar.language().id)
            .or_insert_with(|| FileSearch::new(&job.grammar, &job.pattern, &job.plan));
        let slot = self.cache.map(|cache| Slot {
            cache,
            path: &file.path,
            grammar: &job.grammar,
        });
        match search.search(text.as_bytes(), &admitted, limit, slot, || {
            (self.is_stopped)()
        }) {
            Ok((found, ended)) => {
                outcome.failed = ended;
                Some((found, search.faults()))
            }
            Err(error @ SearchError::TooSlow(_)) => {
                outcome.skipped = Some((SkipReason::TooSlow, error.to_string()));
                None
            }
            Err(error) => {
                outcome.failed = Some(error);
                None
            }
        }
    }
}

/// Returns the jobs a file may be searched with, the likelier first.
pub(crate) fn jobs_for<'j>(
    jobs: &'j BTreeMap<&'static str, Job>,
    file: &Candidate,
) -> impl Iterator<Item = (&'static str, &'j Job)> + use<'j> {
    file.languages()
        .into_iter()
        .filter_map(|id| jobs.get_key_value(id))
        .map(|(id, job)| (*id, job))
}

/// Reads a file that is fit to be searched.
pub(crate) fn read<'b>(
    path: &Path,
    buffer: &'b mut Vec<u8>,
) -> Result<&'b str, (SkipReason, String)> {
    buffer.clear();
    let unreadable = |e: io::Error| (SkipReason::Unreadable, e.to_string());
    let (file, size) = walk::open(path).map_err(unreadable)?;
    if size > MAX_FILE_BYTES {
        return Err((
            SkipReason::TooLarge,
            format!("{size} bytes, the limit is {MAX_FILE_BYTES}"),
        ));
    }
    read_all(&file, size as usize, buffer).map_err(unreadable)?;
    if buffer.len() as u64 > MAX_FILE_BYTES {
        return Err((SkipReason::TooLarge, format!("over {MAX_FILE_BYTES} bytes")));
    }
    fit(buffer)
}

/// Returns the text of a file that is fit to be searched.
pub(crate) fn fit(buffer: &[u8]) -> Result<&str, (SkipReason, String)> {
    let probe = buffer
        .get(..buffer.len().min(BINARY_PROBE_BYTES))
        .unwrap_or_default();
    if memchr::memchr(0, probe).is_some() {
        return Err((SkipReason::Binary, "has a zero byte".to_owned()));
    }
    simdutf8::compat::from_utf8(buffer).map_err(|e| {
        (
            SkipReason::NotUtf8,
            format!("byte {} is not UTF-8", e.valid_up_to()),
        )
    })
}

/// Reads a file of about `size` bytes, in one call of the system where that is
/// its size.
fn read_all(file: &File, size: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    let most = MAX_FILE_BYTES as usize + 1;
    buffer.reserve(size + 1);
    loop {
        // Room for one byte more tells the end of the file from a full buffer.
        let got = match rustix::io::read(file, rustix::buffer::spare_capacity(buffer)) {
            Err(rustix::io::Errno::INTR) => continue,
            got => got?,
        };
        let is_whole = buffer.len() == size && size > 0 && buffer.capacity() > size;
        if got == 0 || is_whole || buffer.len() >= most {
            return Ok(());
        }
        if buffer.len() == buffer.capacity() {
            buffer.reserve(buffer.len().max(8 * 1024));
        }
    }
}

/// Longest part of a line shown, in characters.
const MAX_LINE_CHARS: usize = 200;
/// Longest text of a match kept, in bytes.
const MAX_TEXT_BYTES: usize = 2_000;
/// Longest text of a metavariable kept, in bytes.
const MAX_CAPTURE_BYTES: usize = 200;

fn hits(text: &str, found: Vec<FileMatch>, has_texts: bool) -> Vec<Hit> {
    let mut lines = Lines::new(text);
    let part = |range: &std::ops::Range<usize>, limit| {
        cut(text.get(range.clone()).unwrap_or_default(), limit)
    };
    found
        .into_iter()
        .enumerate()
        .map(|(number, found)| {
            let start = lines.position(found.bytes.start);
            let mut ahead = lines;
            let end = ahead.position(found.bytes.end);
            let texts = (has_texts && number < MAX_TEXTS).then(|| {
                Box::new(Texts {
                    line: lines.around(&found.bytes, MAX_LINE_CHARS),
                    text: part(&found.bytes, MAX_TEXT_BYTES),
                    captures: found
                        .captures
                        .iter()
                        .map(|c| c.as_ref().map(|c| part(c, MAX_CAPTURE_BYTES)))
                        .collect(),
                })
            });
            Hit {
                start,
                end,
                texts,
                found,
            }
        })
        .collect()
}
