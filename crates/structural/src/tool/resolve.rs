//! The tool `resolve`: writes a staged edit, or forgets it.

use std::fmt::Write as _;
use std::sync::Arc;

use host::{Applied, ChangeSet, Difference, FileChange, HarnessFiles, Mismatch, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiers::{CallContext, Run, Tier, ToolError, ToolOutput, ToolSpec, TypedTool, visible};

use crate::error::Error;
use crate::stage::{Accepting, EditId, NotStaged, StagedEdit, StagedEdits};

/// Files named in an answer, at most.
const MAX_NAMED: usize = 40;

const DESCRIPTION: &str = "Write or forget an edit that `ast_edit` staged. Accepting writes all \
of its files, or none: if one is not as it was when the edit was staged, nothing is written and \
the answer says which and why.";

/// Arguments of `resolve`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ResolveInput {
    /// Id from the `(proposed)` result, for example `edit_1`.
    pub edit_id: String,
    /// What to do with it.
    pub action: ResolveAction,
}

/// What becomes of a staged edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResolveAction {
    /// Its files are written.
    Accept,
    /// Nothing is written.
    Discard,
}

impl ResolveAction {
    /// Returns the word for it, as in "cannot accept".
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Discard => "discard",
        }
    }
}

/// Structured result of `resolve`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ResolveDetails {
    /// Version of this shape.
    pub version: u32,
    /// The edit.
    pub edit_id: String,
    /// What became of it.
    pub action: ResolveAction,
    /// Its replacements.
    pub replacements: usize,
    /// Its files, relative to the workspace.
    pub files: Vec<String>,
    /// What the user should know besides, for example that a hard link now differs.
    pub notes: Vec<String>,
    /// Staged edits whose files this one has changed: they cannot be accepted any more.
    pub outdated: Vec<String>,
    /// Edits that are still staged, the outdated ones included.
    pub staged: Vec<String>,
}

/// The tool `resolve`: accepts or discards what `ast_edit` staged.
pub struct Resolve {
    staged: Arc<StagedEdits>,
    files: Arc<dyn HarnessFiles>,
}

impl Resolve {
    /// Builds the tool for the staged edits of `run`; `files` carries out what
    /// is accepted, each edit as one change set.
    #[must_use]
    pub fn new(run: &Run, files: Arc<dyn HarnessFiles>) -> Self {
        Self {
            staged: run.state(),
            files,
        }
    }
}

impl TypedTool for Resolve {
    type Input = ResolveInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<ResolveInput>("resolve", Tier::Write, "Accept or discard", DESCRIPTION)
            .with_details::<ResolveDetails>()
    }

    fn paths(&self, input: &ResolveInput) -> Vec<String> {
        let edit = match input.action {
            ResolveAction::Accept => EditId::parse(&input.edit_id),
            ResolveAction::Discard => None,
        };
        edit.and_then(|id| self.staged.find(id))
            .map(|edit| names(&edit))
            .unwrap_or_default()
    }

    async fn call(
        &self,
        input: ResolveInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let refused = |reason| {
            ToolError::from(Error::NotStaged {
                id: input.edit_id.clone(),
                action: input.action,
                reason,
                staged: self.waiting(),
            })
        };
        let id = EditId::parse(&input.edit_id).ok_or_else(|| refused(NotStaged::Unknown))?;
        match input.action {
            ResolveAction::Discard => {
                let edit = self.staged.discard(id).map_err(refused)?;
                self.output(&edit, ResolveAction::Discard, Applied::default(), &[])
            }
            ResolveAction::Accept => {
                let accepting = self.staged.begin(id).map_err(refused)?;
                let edit = Arc::clone(&accepting.edit);
                let work = accept(accepting, Arc::clone(&self.files));
                let (applied, outdated) = match context.run_to_completion(work).await {
                    Ok(done) => done?,
                    Err(error) => return Err(stays(error, id)),
                };
                self.output(&edit, ResolveAction::Accept, applied, &outdated)
            }
        }
    }
}

/// Hands the edit to whoever keeps the files, whole.
async fn accept(
    accepting: Accepting,
    files: Arc<dyn HarnessFiles>,
) -> Result<(Applied, Vec<EditId>), ToolError> {
    let edit = Arc::clone(&accepting.edit);
    let failed = |error: host::Error| stays(error.into(), edit.id);
    let changes = change_set(&edit).map_err(failed)?;
    match files.apply(changes).await.map_err(failed)? {
        Outcome::Applied(applied) => {
            let outdated = accepting.written();
            Ok((applied, outdated))
        }
        Outcome::Rejected(mismatches) => {
            let reasons =
                mismatches
                    .iter()
                    .map(|mismatch| match accepting.changed_since(&mismatch.path) {
                        Some(other) => {
                            format!("{mismatch} (`{other}`, accepted since, changed it)")
                        }
                        None => mismatch.to_string(),
                    });
            Err(Error::Rejected {
                id: edit.id.to_string(),
                files: edit.files.len(),
                mismatches: reasons.collect(),
                forbidden: mismatches.iter().filter(|m| is_forbidden(m)).count(),
            }
            .into())
        }
    }
}

/// Whether a file may not be written, whatever it holds.
fn is_forbidden(mismatch: &Mismatch) -> bool {
    matches!(
        mismatch.what,
        Difference::ReadOnly | Difference::NotPermitted { .. } | Difference::FolderReadOnly { .. }
    )
}

fn change_set(edit: &StagedEdit) -> Result<ChangeSet, host::Error> {
    let mut changes = ChangeSet::new(format!("ast_edit {}", edit.id));
    for file in &edit.files {
        changes.push(FileChange::edit(
            file.path.clone(),
            Arc::clone(&file.before),
            Arc::clone(&file.after),
        ))?;
    }
    Ok(changes)
}

/// Adds that the edit can be resolved again.
fn stays(mut error: ToolError, id: EditId) -> ToolError {
    let next = match error.next.take() {
        Some(next) => format!("{next}; `{id}` stays staged"),
        None => format!("`{id}` stays staged: accept it again, or discard it"),
    };
    error.next(next)
}

fn names(edit: &StagedEdit) -> Vec<String> {
    let files = edit.files.iter();
    files.map(|f| f.path.relative().to_owned()).collect()
}

impl Resolve {
    /// Returns the ids of the edits that wait, oldest first.
    fn waiting(&self) -> Vec<String> {
        let staged = self.staged.staged();
        staged.iter().map(|edit| edit.id.to_string()).collect()
    }

    fn output(
        &self,
        edit: &StagedEdit,
        action: ResolveAction,
        applied: Applied,
        outdated: &[EditId],
    ) -> Result<ToolOutput, ToolError> {
        let details = ResolveDetails {
            version: 1,
            edit_id: edit.id.to_string(),
            action,
            replacements: edit.replacements,
            files: names(edit),
            notes: applied.notes,
            outdated: outdated.iter().map(EditId::to_string).collect(),
            staged: self.waiting(),
        };
        let touched = applied.touched.iter();
        let touched = touched.map(|path| path.relative().to_owned()).collect();
        ToolOutput::text(text(&details))
            .with_touched(touched)
            .with_details_of(&details)
    }
}

fn text(details: &ResolveDetails) -> String {
    let mut out = String::new();
    let id = &details.edit_id;
    match details.action {
        ResolveAction::Accept => {
            let _ = writeln!(
                out,
                "accepted `{id}`: {} written to {}",
                super::counted(details.replacements, "replacement"),
                super::counted(details.files.len(), "file"),
            );
            for file in details.files.iter().take(MAX_NAMED) {
                let _ = writeln!(out, "{}", visible(file));
            }
            if let Some(more @ 1..) = details.files.len().checked_sub(MAX_NAMED) {
                let _ = writeln!(out, "and {}", super::counted(more, "other file"));
            }
        }
        ResolveAction::Discard => {
            let _ = writeln!(out, "discarded `{id}`: nothing was written");
        }
    }
    for note in &details.notes {
        let _ = writeln!(out, "note: {}", visible(note));
    }
    if !details.outdated.is_empty() {
        let _ = writeln!(
            out,
            "made for these files as they were before: {}; discard and stage again",
            quoted(&details.outdated)
        );
    }
    if !details.staged.is_empty() {
        let _ = writeln!(out, "still staged: {}", quoted(&details.staged));
    }
    out.truncate(out.trim_end().len());
    out
}

fn quoted(ids: &[String]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    ids.join(", ")
}
