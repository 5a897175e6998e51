//! The tool `ast_grep`.

mod nothing;
mod render;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::{Workspace, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiers::{CallContext, Progress, Tier, ToolError, ToolOutput, ToolSpec, TypedTool};
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::grammar::GrammarSource;
use crate::languages::{Language, Rung};
use crate::near::{self, NearMiss};
use crate::pattern::{Pattern, PatternError};
use crate::scan::{self, Hit, Job, Scan, Scanned, SkipReason, Texts};
use crate::walk::{self, Candidate, Listing};

/// Matches returned where the call does not say.
pub const DEFAULT_MAX_RESULTS: u64 = 50;

/// How often a long search says how far it is.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

const DESCRIPTION: &str = "Find code by shape, not text. The pattern is a code fragment in the \
language of the files: a statement, expression, member, declaration, parameter, type, clause or \
several statements. $NAME matches any one node, $$$NAME a run of siblings (also none), $_ any node \
without binding; the same $NAME twice must be the same text. Everything else must be there: `fn \
f() {}` does not match `pub fn f() {}`. White space and comments do not matter; strings and \
comments are never searched.";

/// Arguments of `ast_grep`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AstGrepInput {
    /// Code with metavariables, for example `if ($X != null) $X.dispose()`.
    pub pattern: String,
    /// File or folder to search, relative to the workspace. Default: the whole workspace.
    #[serde(default)]
    pub path: Option<String>,
    /// Language id such as `rust`, `python`, `tsx`. Default: by file name; give it when `path` is a folder.
    #[serde(default)]
    pub language: Option<String>,
    /// Most matches to return. Default 50.
    #[serde(default)]
    pub max_results: Option<u64>,
}

/// Structured result of `ast_grep`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct AstGrepDetails {
    /// Version of this shape.
    pub version: u32,
    /// Matches shown, by path, then place.
    pub matches: Vec<MatchDetails>,
    /// Number of matches in `matches`.
    pub shown: usize,
    /// Number of matches known.
    pub total: usize,
    /// Whether `total` is all there are, as against a lower bound.
    pub total_is_exact: bool,
    /// Files searched, by language.
    pub searched: BTreeMap<String, usize>,
    /// Files not searched.
    pub skipped: Vec<SkippedFile>,
    /// How the pattern was read.
    pub readings: Vec<ReadingDetails>,
    /// Where nothing matched: what almost did.
    pub near_misses: Vec<NearMiss>,
}

/// One match.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct MatchDetails {
    /// File, relative to the workspace.
    pub path: String,
    /// Language id.
    pub language: String,
    /// Kind of the node; of the first one for several statements.
    pub kind: String,
    /// First byte and one past the last, from 0.
    pub bytes: [usize; 2],
    /// Line of the first character, from 1.
    pub line: usize,
    /// Column of the first character, in characters from 1.
    pub column: usize,
    /// Line of one past the last character, from 1.
    pub end_line: usize,
    /// Column of one past the last character, in characters from 1.
    pub end_column: usize,
    /// The text, cut at 2,000 bytes; for the first 1,000 matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What the metavariables stand for; for the first 1,000 matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captures: Option<BTreeMap<String, CaptureDetails>>,
    /// Whether a syntax error is in it or touches it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_error: bool,
}

/// What a metavariable stands for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CaptureDetails {
    /// First byte and one past the last, from 0.
    pub bytes: [usize; 2],
    /// The text, cut at 200 bytes.
    pub text: String,
}

/// A file that was not searched.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SkippedFile {
    /// File, relative to the workspace.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
    /// More on why.
    pub detail: String,
}

/// One way the pattern was read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ReadingDetails {
    /// Language id.
    pub language: String,
    /// What it was read as, for example `expression`.
    pub rung: String,
    /// Kind of its node; `sequence` for several siblings.
    pub kind: String,
}

/// The tool `ast_grep`: structural search.
pub struct AstGrep {
    workspace: Workspace,
    grammars: Arc<dyn GrammarSource>,
    threads: usize,
    use_prefilter: bool,
}

impl AstGrep {
    /// Builds the tool for one workspace.
    #[must_use]
    pub fn new(workspace: Workspace, grammars: Arc<dyn GrammarSource>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            workspace,
            grammars,
            threads,
            use_prefilter: true,
        }
    }

    /// Sets how many threads a search uses; the default is one for each core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Switches the text search that comes before parsing; for tests and measurements.
    #[must_use]
    pub fn prefilter(mut self, is_on: bool) -> Self {
        self.use_prefilter = is_on;
        self
    }
}

impl TypedTool for AstGrep {
    type Input = AstGrepInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<AstGrepInput>("ast_grep", Tier::Read, "Structural search", DESCRIPTION)
            .with_details::<AstGrepDetails>()
    }

    async fn call(
        &self,
        input: AstGrepInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let request = Request::parse(input, &self.workspace, &*self.grammars)?;
        let hunt = Hunt {
            workspace: self.workspace.clone(),
            grammars: Arc::clone(&self.grammars),
            threads: self.threads,
            use_prefilter: self.use_prefilter,
            request,
            context: context.clone(),
            // Ends the threads when this future is dropped.
            stop: context.token().child_token(),
        };
        let guard = hunt.stop.clone().drop_guard();
        let result = tokio::task::spawn_blocking(move || hunt.run()).await;
        drop(guard);
        match result {
            Ok(result) => result,
            Err(error) => Err(ToolError::internal("`ast_grep` did not finish")
                .why("a search thread ended unexpectedly")
                .next("try again with a smaller `path`")
                .source(error)),
        }
    }
}

/// Arguments that cannot be wrong any more.
struct Request {
    pattern: String,
    path: WorkspacePath,
    language: Option<&'static Language>,
    max_results: usize,
}

impl Request {
    fn parse(
        input: AstGrepInput,
        workspace: &Workspace,
        grammars: &dyn GrammarSource,
    ) -> Result<Self, ToolError> {
        let path = match input.path.as_deref() {
            None | Some("") => workspace.root_path(),
            Some(path) => workspace.resolve(path)?,
        };
        if !path.absolute().exists() {
            return Err(Error::NoSuchPath(path.relative().to_owned()).into());
        }
        if !path.absolute().is_file() && !path.absolute().is_dir() {
            return Err(Error::Special(path.relative().to_owned()).into());
        }
        let language = match input.language.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(name) => {
                let offered = grammars.languages();
                Some(offered.by_name(name).ok_or_else(|| {
                    Error::UnknownLanguage {
                        name: name.to_owned(),
                        nearest: offered
                            .nearest(name)
                            .into_iter()
                            .map(str::to_owned)
                            .collect(),
                    }
                })?)
            }
        };
        let max_results = match input.max_results {
            None => DEFAULT_MAX_RESULTS as usize,
            Some(0) => return Err(Error::NoResultsWanted.into()),
            Some(n) => usize::try_from(n).unwrap_or(usize::MAX),
        };
        Ok(Self {
            pattern: input.pattern,
            path,
            language,
            max_results,
        })
    }
}

/// One search, on a thread of its own.
struct Hunt {
    workspace: Workspace,
    grammars: Arc<dyn GrammarSource>,
    threads: usize,
    use_prefilter: bool,
    request: Request,
    context: CallContext,
    stop: CancellationToken,
}

/// What a search is about to say.
struct Report<'a> {
    request: &'a Request,
    listing: &'a Listing,
    jobs: &'a BTreeMap<&'static str, Job>,
    refused: &'a BTreeMap<&'static str, PatternError>,
    scanned: &'a Scanned,
    near_misses: Vec<NearMiss>,
}

/// What became of the pattern in each language.
#[derive(Default)]
struct Compiled {
    jobs: BTreeMap<&'static str, Job>,
    refused: BTreeMap<&'static str, PatternError>,
}

impl Hunt {
    fn run(&self) -> Result<ToolOutput, ToolError> {
        let request = &self.request;
        let mut compiled = Compiled::default();
        // A pattern for one language is checked before anything is listed.
        if let Some(language) = request.language {
            self.compile(language.id, &mut compiled);
            if let Some(error) = compiled.refused.remove(language.id) {
                return Err(self.refused(language.id, error));
            }
        }
        let wanted = walk::Wanted {
            offered: &self.grammars.languages(),
            language: request.language,
        };
        let mut listing = walk::list(&self.workspace, &request.path, wanted, || {
            self.stop.is_cancelled()
        });
        if request.path.absolute().is_file() && listing.files.is_empty() {
            return Err(Error::NoLanguage(request.path.relative().to_owned()).into());
        }
        if request.language.is_none() {
            self.compile_for(&listing, &mut compiled)?;
        }
        let Compiled { jobs, refused } = compiled;
        listing
            .files
            .retain(|file| scan::jobs_for(&jobs, file).next().is_some());
        let (scanned, near_misses) = self.scan(&listing, &jobs)?;
        let report = Report {
            request,
            listing: &listing,
            jobs: &jobs,
            refused: &refused,
            scanned: &scanned,
            near_misses,
        };
        let output = report.output();
        match report.failed() {
            Some(error) => Err(ToolError::from(error).with_partial(output)),
            None => Ok(output),
        }
    }

    /// Compiles the pattern for the languages of all files, and keeps the
    /// refusals of those that leave a file unsearched.
    fn compile_for(&self, listing: &Listing, compiled: &mut Compiled) -> Result<(), ToolError> {
        for id in listing.files.iter().flat_map(Candidate::languages) {
            if !compiled.jobs.contains_key(id) && !compiled.refused.contains_key(id) {
                self.compile(id, compiled);
            }
        }
        let Compiled { jobs, refused } = compiled;
        if jobs.is_empty()
            && let Some((id, error)) = most_frequent(listing, refused)
        {
            return Err(self.refused(id, error));
        }
        let is_unsearched = |file: &&Candidate| scan::jobs_for(jobs, file).next().is_none();
        let unsearched: BTreeSet<&str> = listing
            .files
            .iter()
            .filter(is_unsearched)
            .map(|file| file.language.id)
            .collect();
        refused.retain(|id, _| unsearched.contains(id));
        Ok(())
    }

    fn compile(&self, id: &'static str, compiled: &mut Compiled) {
        let result = match self.grammars.grammar(id) {
            Ok(grammar) => {
                Pattern::compile(&self.request.pattern, &grammar).map(|pattern| (grammar, pattern))
            }
            Err(error) => Err(PatternError::NoGrammar(error)),
        };
        match result {
            Ok((grammar, pattern)) => {
                compiled.jobs.insert(id, Job::new(grammar, pattern));
            }
            Err(error) => {
                compiled.refused.insert(id, error);
            }
        }
    }

    fn refused(&self, language: &'static str, error: PatternError) -> ToolError {
        Error::Pattern {
            pattern: self.request.pattern.clone(),
            language,
            error,
        }
        .into()
    }

    /// Searches the files, and where that finds nothing, for what comes close.
    fn scan(
        &self,
        listing: &Listing,
        jobs: &BTreeMap<&'static str, Job>,
    ) -> Result<(Scanned, Vec<NearMiss>), ToolError> {
        let last = std::sync::Mutex::new(Instant::now());
        let progress = |done: usize, matches: usize| {
            let Ok(mut last) = last.try_lock() else {
                return;
            };
            if last.elapsed() >= PROGRESS_EVERY {
                *last = Instant::now();
                let plural = if matches == 1 { "match" } else { "matches" };
                self.context.progress(
                    Progress::new(format!("{matches} {plural}"))
                        .done(done as u64)
                        .total(listing.files.len() as u64),
                );
            }
        };
        let is_stopped = || self.stop.is_cancelled();
        let scan = Scan {
            files: &listing.files,
            jobs,
            limit: self.request.max_results,
            threads: self.threads,
            use_prefilter: self.use_prefilter,
            is_stopped: &is_stopped,
            progress: &progress,
        };
        let scanned = scan.run();
        let found = scanned.outcomes.iter().any(|o| !o.hits.is_empty());
        let near_misses = if found { Vec::new() } else { near::find(&scan) };
        if self.stop.is_cancelled() {
            return Err(ToolError::cancelled("the search was stopped"));
        }
        if self.request.path.absolute().is_file()
            && let Some((reason, detail)) = scanned.outcomes.first().and_then(|o| o.skipped.clone())
        {
            return Err(Error::CannotSearch {
                path: self.request.path.relative().to_owned(),
                reason,
                detail,
            }
            .into());
        }
        Ok((scanned, near_misses))
    }
}

/// Returns the refusal of the language that most files are in.
fn most_frequent(
    listing: &Listing,
    refused: &mut BTreeMap<&'static str, PatternError>,
) -> Option<(&'static str, PatternError)> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for file in &listing.files {
        *counts.entry(file.language.id).or_default() += 1;
    }
    let id = counts
        .into_iter()
        .max_by_key(|(id, n)| (*n, std::cmp::Reverse(*id)))?
        .0;
    refused.remove(id).map(|error| (id, error))
}

impl Report<'_> {
    fn failed(&self) -> Option<Error> {
        let mut failed = self.unfinished();
        let first = failed.next()?.to_owned();
        Some(Error::OverBudget {
            first,
            others: failed.count(),
        })
    }

    /// Returns the files that were not searched to their end.
    fn unfinished(&self) -> impl Iterator<Item = &str> {
        self.scanned
            .outcomes
            .iter()
            .zip(&self.listing.files)
            .filter(|(o, _)| o.failed.is_some())
            .map(|(_, f)| f.relative.as_str())
    }

    fn hits(&self) -> impl Iterator<Item = (usize, &Hit)> {
        self.scanned
            .outcomes
            .iter()
            .enumerate()
            .flat_map(|(file, outcome)| outcome.hits.iter().map(move |hit| (file, hit)))
    }

    /// Returns the job a file was searched with.
    fn job(&self, file: usize) -> Option<(&'static str, &Job)> {
        let id = self.scanned.outcomes.get(file)?.searched_as?;
        self.jobs.get(id).map(|job| (id, job))
    }

    /// Returns the number of files searched, by language.
    fn searched(&self) -> BTreeMap<&'static str, usize> {
        let mut searched = BTreeMap::new();
        for (file, outcome) in self.scanned.outcomes.iter().enumerate() {
            if outcome.skipped.is_none()
                && let Some((id, _)) = self.job(file)
            {
                *searched.entry(id).or_default() += 1;
            }
        }
        searched
    }

    fn output(&self) -> ToolOutput {
        let total = self.hits().count();
        let shown = total.min(self.request.max_results);
        // A file is searched for one match more than are wanted, not to its end.
        let total_is_exact = self.scanned.is_complete
            && total <= self.request.max_results
            && self.failed().is_none();
        let text = render::text(self, shown, total, total_is_exact);
        let details = self.details(shown, total, total_is_exact);
        ToolOutput::text(text).with_details(details)
    }

    fn details(&self, shown: usize, total: usize, total_is_exact: bool) -> serde_json::Value {
        let details = AstGrepDetails {
            version: 1,
            matches: Vec::new(),
            shown,
            total,
            total_is_exact,
            searched: self
                .searched()
                .into_iter()
                .map(|(id, files)| (id.to_owned(), files))
                .collect(),
            skipped: self.skipped(),
            readings: self
                .jobs
                .iter()
                .flat_map(|(id, job)| job.pattern.readings().map(move |r| (*id, r)))
                .map(|(id, (rung, kind)): (_, (Rung, _))| ReadingDetails {
                    language: id.to_owned(),
                    rung: rung.to_string(),
                    kind: kind.to_owned(),
                })
                .collect(),
            near_misses: self.near_misses.clone(),
        };
        let mut details = serde_json::to_value(details).unwrap_or_default();
        // Put together one by one, since there may be hundreds of thousands.
        if let Some(slot) = details.get_mut("matches") {
            *slot = self
                .hits()
                .take(shown)
                .filter_map(|(file, hit)| {
                    let (language, job) = self.job(file)?;
                    let path = &self.listing.files.get(file)?.relative;
                    serde_json::to_value(match_details(path, language, job, hit)).ok()
                })
                .collect();
        }
        details
    }

    fn skipped(&self) -> Vec<SkippedFile> {
        self.scanned
            .outcomes
            .iter()
            .zip(&self.listing.files)
            .filter_map(|(outcome, file)| {
                let (reason, detail) = outcome.skipped.clone()?;
                Some(SkippedFile {
                    path: file.relative.clone(),
                    reason,
                    detail,
                })
            })
            .collect()
    }
}

fn match_details(path: &str, language: &str, job: &Job, hit: &Hit) -> MatchDetails {
    let captures = |texts: &Texts| {
        job.pattern
            .variables()
            .iter()
            .zip(&hit.found.captures)
            .zip(&texts.captures)
            .filter_map(|((variable, bytes), text)| {
                let bytes = bytes.as_ref()?;
                let details = CaptureDetails {
                    bytes: [bytes.start, bytes.end],
                    text: text.clone().unwrap_or_default(),
                };
                Some((variable.name.clone(), details))
            })
            .collect()
    };
    MatchDetails {
        path: path.to_owned(),
        language: language.to_owned(),
        kind: job.grammar.kind_name(hit.found.kind).to_owned(),
        bytes: [hit.found.bytes.start, hit.found.bytes.end],
        line: hit.start.line,
        column: hit.start.column,
        end_line: hit.end.line,
        end_column: hit.end.column,
        text: hit.texts.as_ref().map(|t| t.text.clone()),
        captures: hit.texts.as_ref().map(|t| captures(t)),
        has_error: hit.found.has_error,
    }
}
