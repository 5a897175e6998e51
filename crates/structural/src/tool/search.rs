//! The tool `ast_grep`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use host::{HarnessFiles, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiers::{CallContext, Progress, Tier, ToolError, ToolOutput, ToolSpec, TypedTool};
use tokio_util::sync::CancellationToken;

use super::report::{ReadingDetails, Report, SkippedFile};
use super::scope::{Scope, Target};
use super::{PROGRESS_EVERY, off_runtime, render};
use crate::cache::{DEFAULT_CACHE_BYTES, TreeCache};
use crate::error::Error;
use crate::grammar::GrammarSource;
use crate::near::{self, NearMiss};
use crate::scan::{Hit, Job, Scan, Scanned, Texts};
use crate::source::Source;

/// Matches returned where the call does not say.
pub const DEFAULT_MAX_RESULTS: u64 = 50;

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
    #[schemars(range(min = 1))]
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

/// The tool `ast_grep`: structural search.
pub struct AstGrep {
    workspace: Workspace,
    grammars: Arc<dyn GrammarSource>,
    files: Option<Arc<dyn HarnessFiles>>,
    threads: usize,
    use_prefilter: bool,
    cache_bytes: usize,
}

impl AstGrep {
    /// Builds the tool for one workspace.
    #[must_use]
    pub fn new(workspace: Workspace, grammars: Arc<dyn GrammarSource>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            workspace,
            grammars,
            files: None,
            threads,
            use_prefilter: true,
            cache_bytes: DEFAULT_CACHE_BYTES,
        }
    }

    /// Reads files as the harness keeps them, an editor's unsaved ones
    /// included. Which files there are is still read from the disk, and so is
    /// their text where no file layer is given.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn HarnessFiles>) -> Self {
        self.files = Some(files);
        self
    }

    /// Sets how many threads a search uses; the default is one for each core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets how much memory the run may take to keep the trees of the files it
    /// searched, in bytes; the default is [`DEFAULT_CACHE_BYTES`].
    ///
    /// With 0 nothing is kept, which is right where a run makes only one search.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache_bytes = bytes;
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
        let cache = (self.cache_bytes > 0).then(|| context.run().state::<TreeCache>());
        if let Some(cache) = &cache {
            cache.begin(self.cache_bytes);
        }
        // Ends the threads when this future is dropped.
        let stop = context.token().child_token();
        let hunt = Hunt {
            source: Source::new(self.files.as_ref(), &self.workspace, &stop),
            workspace: self.workspace.clone(),
            grammars: Arc::clone(&self.grammars),
            threads: self.threads,
            use_prefilter: self.use_prefilter,
            cache,
            request,
            context: context.clone(),
            stop,
        };
        off_runtime("ast_grep", hunt.stop.clone(), move || hunt.run()).await
    }
}

/// Arguments that cannot be wrong any more.
struct Request {
    target: Target,
    max_results: usize,
}

impl Request {
    fn parse(
        input: AstGrepInput,
        workspace: &Workspace,
        grammars: &dyn GrammarSource,
    ) -> Result<Self, ToolError> {
        let target = Target::parse(
            input.pattern,
            input.path.as_deref(),
            input.language.as_deref(),
            workspace,
            grammars,
        )?;
        let max_results = match input.max_results {
            None => DEFAULT_MAX_RESULTS as usize,
            Some(0) => return Err(Error::NoResultsWanted.into()),
            Some(n) => usize::try_from(n).unwrap_or(usize::MAX),
        };
        Ok(Self {
            target,
            max_results,
        })
    }
}

/// One search, on a thread of its own.
struct Hunt {
    workspace: Workspace,
    grammars: Arc<dyn GrammarSource>,
    source: Source,
    threads: usize,
    use_prefilter: bool,
    cache: Option<Arc<TreeCache>>,
    request: Request,
    context: CallContext,
    stop: CancellationToken,
}

impl Hunt {
    fn run(&self) -> Result<ToolOutput, ToolError> {
        let target = &self.request.target;
        let scope = Scope::find(target, &self.workspace, &*self.grammars, &|| {
            self.stop.is_cancelled()
        })?;
        let (scanned, near_misses) = self.scan(&scope)?;
        let report = Report {
            target,
            scope: &scope,
            scanned: &scanned,
            near_misses,
        };
        let output = output(&report, self.request.max_results)?;
        match report.failed() {
            Some(error) => Err(ToolError::from(error).with_partial(output)),
            None => Ok(output),
        }
    }

    /// Searches the files, and where that finds nothing, for what comes close.
    fn scan(&self, scope: &Scope) -> Result<(Scanned, Vec<NearMiss>), ToolError> {
        let last = Mutex::new(Instant::now());
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
                        .total(scope.listing.files.len() as u64),
                );
            }
        };
        let is_stopped = || self.stop.is_cancelled();
        let scan = Scan {
            files: &scope.listing.files,
            jobs: &scope.jobs,
            source: &self.source,
            limit: self.request.max_results,
            threads: self.threads,
            use_prefilter: self.use_prefilter,
            cache: self.cache.as_deref(),
            is_stopped: &is_stopped,
            progress: &progress,
        };
        let scanned = scan.run();
        let found = scanned.outcomes.iter().any(|o| !o.hits.is_empty());
        let near_misses = if found {
            Vec::new()
        } else {
            near::find(&scan, &scanned.outcomes)
        };
        if self.stop.is_cancelled() {
            return Err(ToolError::cancelled("the search was stopped"));
        }
        if self.request.target.is_file()
            && let Some((reason, detail)) = scanned.outcomes.first().and_then(|o| o.skipped.clone())
        {
            return Err(Error::CannotSearch {
                path: self.request.target.path.relative().to_owned(),
                reason,
                detail,
            }
            .into());
        }
        Ok((scanned, near_misses))
    }
}

fn output(report: &Report<'_>, max_results: usize) -> Result<ToolOutput, ToolError> {
    let total = report.hits().count();
    let shown = total.min(max_results);
    // A file is searched for one match more than are wanted, not to its end.
    let total_is_exact =
        report.scanned.is_complete && total <= max_results && report.failed().is_none();
    let text = render::text(report, shown, total, total_is_exact);
    let details = details(report, shown, total, total_is_exact);
    ToolOutput::text(text).with_details_made(details)
}

fn details(
    report: &Report<'_>,
    shown: usize,
    total: usize,
    total_is_exact: bool,
) -> serde_json::Result<serde_json::Value> {
    let details = AstGrepDetails {
        version: 1,
        matches: Vec::new(),
        shown,
        total,
        total_is_exact,
        searched: report.searched_files(),
        skipped: report.skipped(),
        readings: report.readings(),
        near_misses: report.near_misses.clone(),
    };
    let mut details = serde_json::to_value(details)?;
    // Put together one by one, since there may be hundreds of thousands.
    details["matches"] = report
        .hits()
        .take(shown)
        .filter_map(|(file, hit)| {
            let (language, job) = report.job(file)?;
            let path = &report.scope.listing.files.get(file)?.relative;
            Some(serde_json::to_value(match_details(
                path, language, job, hit,
            )))
        })
        .collect::<Result<_, _>>()?;
    Ok(details)
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
