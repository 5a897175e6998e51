//! The tool `ast_edit`: rewrites by shape, staged.

mod proposal;
mod shown;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use host::{HarnessFiles, Workspace, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tiers::{CallContext, Progress, Tier, ToolError, ToolOutput, ToolSpec, TypedTool};
use tokio_util::sync::CancellationToken;

use super::report::{ReadingDetails, Report, SkippedFile};
use super::scope::{Scope, Target};
use super::{PROGRESS_EVERY, counted, off_runtime};
use crate::error::Error;
use crate::excerpt::Position;
use crate::grammar::GrammarSource;
use crate::near::{self, NearMiss};
use crate::rewrite::Template;
use crate::scan::{Scan, Scanned};
use crate::source::Source;
use crate::stage::{DEFAULT_MAX_STAGED_BYTES, NoRoom, StagedEdits, StagedFile};
use crate::sweep::{Change, Ended, FileEdit, Refusal, Sweep};
use crate::walk::{Candidate, Listing};

const DESCRIPTION: &str = "Rewrite code by shape. Nothing is written: the change is staged, shown \
as a diff and named by an edit_id for `resolve`. `pattern` is as for `ast_grep`: $NAME matches \
any one node, $$$NAME a run of siblings (also none), the same $NAME twice must be the same text, \
and everything else must be there. Every match is rewritten; of nested ones the outermost.";

/// Arguments of `ast_edit`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AstEditInput {
    /// Code with metavariables, for example `dispose($X)`.
    pub pattern: String,
    /// What a match becomes, with metavariables of `pattern`, for example `$X.dispose()`. Empty deletes it.
    pub rewrite: String,
    /// File or folder to rewrite, relative to the workspace. Default: the whole workspace.
    #[serde(default)]
    pub path: Option<String>,
    /// Language id such as `rust`, `python`, `tsx`. Default: by file name; give it when `path` is a folder.
    #[serde(default)]
    pub language: Option<String>,
}

/// Structured result of `ast_edit`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct AstEditDetails {
    /// Version of this shape.
    pub version: u32,
    /// Id of the staged edit; left out where nothing is staged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit_id: Option<String>,
    /// How long the staged edit can be resolved; left out where nothing is staged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Lasts>,
    /// Number of replacements in all files.
    pub replacements: usize,
    /// Files that would change, by path.
    pub files: Vec<EditedFile>,
    /// The whole change as a unified diff.
    pub diff: String,
    /// Matches left alone since they touch a syntax error.
    pub in_errors: Vec<Place>,
    /// Files left alone although something matched.
    pub refused: Vec<RefusedFile>,
    /// Matches inside others that were rewritten.
    pub nested: usize,
    /// Matches whose result equals their input.
    pub unchanged: usize,
    /// Comments that matches have and their results do not.
    pub lost_comments: usize,
    /// Replacements in which the code of a metavariable is no whole any more:
    /// `a + b` for `$A` in `$A * 2`.
    pub regrouped: Vec<Place>,
    /// Files searched, by language.
    pub searched: BTreeMap<String, usize>,
    /// Files not searched.
    pub skipped: Vec<SkippedFile>,
    /// How the pattern was read.
    pub readings: Vec<ReadingDetails>,
    /// Where nothing matched: what almost did.
    pub near_misses: Vec<NearMiss>,
}

/// How long something lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lasts {
    /// Until the run ends.
    Run,
}

/// A file that a staged edit changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EditedFile {
    /// File, relative to the workspace.
    pub path: String,
    /// Language id.
    pub language: String,
    /// Number of replacements.
    pub replacements: usize,
    /// Lines added.
    pub lines_added: usize,
    /// Lines removed.
    pub lines_removed: usize,
    /// Per replacement: first byte and one past the last in the old text, then
    /// in the new text, from 0.
    pub ranges: Vec<[usize; 4]>,
}

/// A place in a file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Place {
    /// File, relative to the workspace.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A file that was left alone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RefusedFile {
    /// File, relative to the workspace.
    pub path: String,
    /// Line of the match that the reason comes from, from 1; left out where it
    /// comes from no single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Why.
    pub reason: String,
}

/// The tool `ast_edit`: structural rewrite, staged.
pub struct AstEdit {
    workspace: Workspace,
    grammars: Arc<dyn GrammarSource>,
    files: Option<Arc<dyn HarnessFiles>>,
    threads: usize,
    use_prefilter: bool,
    max_staged_bytes: usize,
}

impl AstEdit {
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
            max_staged_bytes: DEFAULT_MAX_STAGED_BYTES,
        }
    }

    /// Reads files as the harness keeps them, an editor's unsaved ones
    /// included. Which files there are is still read from the disk, and so is
    /// their text where no port is given.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn HarnessFiles>) -> Self {
        self.files = Some(files);
        self
    }

    /// Sets how many threads a rewrite uses; the default is one for each core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets how many bytes, old and new, all staged edits of a run may hold
    /// together; [`DEFAULT_MAX_STAGED_BYTES`] by default.
    #[must_use]
    pub fn max_staged_bytes(mut self, bytes: usize) -> Self {
        self.max_staged_bytes = bytes;
        self
    }

    /// Switches the text search that comes before parsing; for tests and measurements.
    #[must_use]
    pub fn prefilter(mut self, is_on: bool) -> Self {
        self.use_prefilter = is_on;
        self
    }
}

impl TypedTool for AstEdit {
    type Input = AstEditInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<AstEditInput>("ast_edit", Tier::Write, "Structural rewrite", DESCRIPTION)
            .with_details::<AstEditDetails>()
    }

    async fn call(
        &self,
        input: AstEditInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let target = Target::parse(
            input.pattern,
            input.path.as_deref(),
            input.language.as_deref(),
            &self.workspace,
            &*self.grammars,
        )?;
        let stop = context.token().child_token();
        let job = EditJob {
            workspace: self.workspace.clone(),
            grammars: Arc::clone(&self.grammars),
            source: Source::new(self.files.as_ref(), &self.workspace, &stop),
            threads: self.threads,
            use_prefilter: self.use_prefilter,
            limit: self.max_staged_bytes,
            target,
            rewrite: input.rewrite,
            context: context.clone(),
            stop,
        };
        off_runtime("ast_edit", job.stop.clone(), move || job.run()).await
    }
}

/// One rewrite, on a thread of its own.
struct EditJob {
    workspace: Workspace,
    grammars: Arc<dyn GrammarSource>,
    source: Source,
    threads: usize,
    use_prefilter: bool,
    limit: usize,
    target: Target,
    rewrite: String,
    context: CallContext,
    stop: CancellationToken,
}

/// What came of the files of a rewrite.
struct Swept {
    edits: Vec<FileEdit>,
    scanned: Scanned,
    near_misses: Vec<NearMiss>,
}

/// What a rewrite is about to say.
struct Rewritten<'a> {
    report: Report<'a>,
    /// For the files of the report's listing.
    edits: &'a [FileEdit],
    /// The template as it was given.
    rewrite: &'a str,
    edit_id: Option<String>,
}

impl EditJob {
    fn run(&self) -> Result<ToolOutput, ToolError> {
        let is_stopped = || self.stop.is_cancelled();
        let scope = Scope::find(&self.target, &self.workspace, &*self.grammars, &is_stopped)?;
        let mut templates = BTreeMap::new();
        for (id, job) in &scope.jobs {
            let template = Template::parse(&self.rewrite, &job.pattern, &job.grammar);
            let template = template.map_err(|error| Error::Template {
                rewrite: self.rewrite.clone(),
                language: id,
                error,
            })?;
            templates.insert(*id, template);
        }
        let staged = self.context.run().state::<StagedEdits>();
        let mut swept = self.sweep(&scope, &templates, &staged)?;
        let edit_id = self.stage(&scope.listing, &mut swept.edits, &staged)?;
        let rewritten = Rewritten {
            report: Report {
                target: &self.target,
                scope: &scope,
                scanned: &swept.scanned,
                near_misses: swept.near_misses,
            },
            edits: &swept.edits,
            rewrite: &self.rewrite,
            edit_id,
        };
        match rewritten.failed() {
            Some(error) => Err(error.into()),
            None => rewritten.output(),
        }
    }
}

impl EditJob {
    /// Rewrites the files, and where nothing matches, looks for what comes close.
    fn sweep(
        &self,
        scope: &Scope,
        templates: &BTreeMap<&'static str, Template>,
        staged: &StagedEdits,
    ) -> Result<Swept, ToolError> {
        let last = Mutex::new(Instant::now());
        let progress = |done: usize, replacements: usize| {
            let Ok(mut last) = last.try_lock() else {
                return;
            };
            if last.elapsed() >= PROGRESS_EVERY {
                *last = Instant::now();
                self.context.progress(
                    Progress::new(counted(replacements, "replacement"))
                        .done(done as u64)
                        .total(scope.listing.files.len() as u64),
                );
            }
        };
        let is_stopped = || self.stop.is_cancelled();
        let sweep = Sweep {
            files: &scope.listing.files,
            jobs: &scope.jobs,
            templates,
            source: &self.source,
            threads: self.threads,
            use_prefilter: self.use_prefilter,
            room: staged.room(self.limit),
            is_stopped: &is_stopped,
            progress: &progress,
        };
        let mut edits = sweep.run().map_err(|ended| match ended {
            Ended::Stopped => stopped(),
            Ended::NoRoom => no_room(staged, self.limit),
        })?;
        let outcomes = edits.iter_mut().map(|e| std::mem::take(&mut e.outcome));
        let scanned = Scanned {
            outcomes: outcomes.collect(),
            is_complete: true,
        };
        if self.target.is_file()
            && let Some((reason, detail)) = scanned.outcomes.first().and_then(|o| o.skipped.clone())
        {
            return Err(Error::CannotSearch {
                path: self.target.path.relative().to_owned(),
                reason,
                detail,
            }
            .into());
        }
        let near_misses = if edits.iter().any(FileEdit::has_matches) {
            Vec::new()
        } else {
            let scan = Scan {
                files: &scope.listing.files,
                jobs: &scope.jobs,
                source: &self.source,
                limit: usize::MAX,
                threads: self.threads,
                use_prefilter: self.use_prefilter,
                cache: None,
                is_stopped: &is_stopped,
                progress: &|_, _| {},
            };
            near::find(&scan, &scanned.outcomes)
        };
        if self.stop.is_cancelled() {
            return Err(stopped());
        }
        Ok(Swept {
            edits,
            scanned,
            near_misses,
        })
    }

    /// Keeps what the files would become, and returns the id of it. A file that
    /// cannot be named is left alone.
    fn stage(
        &self,
        listing: &Listing,
        edits: &mut [FileEdit],
        staged: &StagedEdits,
    ) -> Result<Option<String>, ToolError> {
        let mut files = Vec::new();
        let mut replacements = 0;
        for (file, edit) in listing.files.iter().zip(edits) {
            let Some(change) = &edit.change else { continue };
            let path = match self.name(file) {
                Ok(path) => path,
                Err(refusal) => {
                    *edit = FileEdit::left_alone(refusal);
                    continue;
                }
            };
            files.push(StagedFile {
                path,
                before: Arc::clone(&change.before),
                after: Arc::clone(&change.after),
            });
            replacements += change.replaced.len();
        }
        if files.is_empty() {
            return Ok(None);
        }
        match staged.stage(files, replacements, self.limit) {
            Ok(edit) => Ok(Some(edit.id.to_string())),
            Err(NoRoom) => Err(no_room(staged, self.limit)),
        }
    }

    /// Returns the name under which a file can be written.
    fn name(&self, file: &Candidate) -> Result<WorkspacePath, Refusal> {
        let refuse = |reason: String, next| Refusal {
            line: None,
            reason,
            next,
        };
        match self.workspace.resolve_path(&file.path) {
            Ok(path) if path.absolute() == file.path => Ok(path),
            Ok(_) => Err(refuse(
                "a symbolic link is on the way to it now".to_owned(),
                "call `ast_edit` again",
            )),
            Err(host::Error::NotUtf8 { .. }) => Err(refuse(
                "its name on disk is not valid UTF-8".to_owned(),
                "ask the user to rename it",
            )),
            Err(error) => Err(refuse(error.to_string(), error.next_step())),
        }
    }
}

fn stopped() -> ToolError {
    ToolError::cancelled("the rewrite was stopped").why("nothing is staged")
}

fn no_room(staged: &StagedEdits, limit: usize) -> ToolError {
    let waiting = staged.staged();
    Error::NoRoom {
        limit,
        held: limit - staged.room(limit),
        staged: waiting.iter().map(|edit| edit.id.to_string()).collect(),
    }
    .into()
}

impl Rewritten<'_> {
    /// Returns what came of each file, with its number and its path.
    fn files(&self) -> impl Iterator<Item = (usize, &str, &FileEdit)> {
        let paths = self.report.scope.listing.files.iter().zip(self.edits);
        paths
            .enumerate()
            .map(|(number, (file, edit))| (number, file.relative.as_str(), edit))
    }

    /// Returns the files that would change.
    fn changes(&self) -> impl Iterator<Item = (&str, &Change)> {
        self.files()
            .filter_map(|(_, path, edit)| Some((path, edit.change.as_ref()?)))
    }

    fn replacements(&self) -> usize {
        self.changes()
            .map(|(_, change)| change.replaced.len())
            .sum()
    }

    fn in_errors(&self) -> impl Iterator<Item = (&str, Position)> {
        self.files()
            .flat_map(|(_, path, edit)| edit.in_errors.iter().map(move |at| (path, *at)))
    }

    fn regrouped(&self) -> impl Iterator<Item = (&str, Position)> {
        self.files()
            .flat_map(|(_, path, edit)| edit.regrouped.iter().map(move |at| (path, *at)))
    }

    fn refused(&self) -> impl Iterator<Item = (&str, &Refusal)> {
        self.files()
            .filter_map(|(_, path, edit)| Some((path, edit.refused.as_ref()?)))
    }

    /// Returns the error where something matched and every file has to be left
    /// alone.
    fn failed(&self) -> Option<Error> {
        if self.edit_id.is_some() || self.refused().next().is_none() {
            return None;
        }
        let reasons = self.refused().take(proposal::MAX_NAMED);
        let mut next = Vec::new();
        for (_, refusal) in self.refused() {
            if !next.contains(&refusal.next) {
                next.push(refusal.next);
            }
        }
        Some(Error::NothingStaged {
            reasons: reasons
                .map(|(path, refusal)| proposal::refusal(path, refusal))
                .collect(),
            next,
            others: self.refused().count().saturating_sub(proposal::MAX_NAMED),
        })
    }

    fn output(&self) -> Result<ToolOutput, ToolError> {
        ToolOutput::text(proposal::text(self))
            .with_rest(format!("{} to see the rest", self.narrower()))
            .with_details_made(self.details())
    }

    /// Says how a call shows less at once.
    fn narrower(&self) -> &'static str {
        match self.changes().nth(1) {
            Some(_) => "narrow `path`",
            None => "match less with `pattern`",
        }
    }

    fn details(&self) -> serde_json::Result<Value> {
        let sum = |count: fn(&FileEdit) -> usize| self.edits.iter().map(count).sum();
        let place = |(path, at): (&str, Position)| Place {
            path: path.to_owned(),
            line: at.line,
            column: at.column,
        };
        let refused = self.refused().map(|(path, refusal)| RefusedFile {
            path: path.to_owned(),
            line: refusal.line,
            reason: refusal.reason.clone(),
        });
        let details = AstEditDetails {
            version: 1,
            edit_id: self.edit_id.clone(),
            lasts: self.edit_id.is_some().then_some(Lasts::Run),
            replacements: self.replacements(),
            files: Vec::new(),
            diff: String::new(),
            in_errors: self.in_errors().map(place).collect(),
            refused: refused.collect(),
            nested: sum(|edit| edit.nested),
            unchanged: sum(|edit| edit.unchanged),
            lost_comments: sum(|edit| edit.lost_comments),
            regrouped: self.regrouped().map(place).collect(),
            searched: self.report.searched_files(),
            skipped: self.report.skipped(),
            readings: self.report.readings(),
            near_misses: self.report.near_misses.clone(),
        };
        let mut value = serde_json::to_value(details)?;
        // Put in one by one, since they may be very large.
        value["files"] = self.edited_files().collect::<Result<_, _>>()?;
        value["diff"] = Value::String(self.changes().map(|(_, c)| c.diff.text.as_str()).collect());
        Ok(value)
    }

    fn edited_files(&self) -> impl Iterator<Item = serde_json::Result<Value>> {
        self.files().filter_map(|(number, path, edit)| {
            let change = edit.change.as_ref()?;
            let (language, _) = self.report.job(number)?;
            let file = EditedFile {
                path: path.to_owned(),
                language: language.to_owned(),
                replacements: change.replaced.len(),
                lines_added: change.diff.added,
                lines_removed: change.diff.removed,
                ranges: change
                    .replaced
                    .iter()
                    .map(|(old, new)| [old.start, old.end, new.start, new.end])
                    .collect(),
            };
            Some(serde_json::to_value(file))
        })
    }
}
