//! The tool `apply_patch`: changes of several files, all of them or none.

use std::collections::BTreeMap;

use host::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiers::{CallContext, Tier, ToolError, ToolOutput, ToolSpec, TypedTool, visible};

use super::access::{Access, Change, DETAILS_VERSION, details_of, to_text};
use super::document::Document;
use super::patch::{FileChange, Hunk, apply_hunks, parse};

/// What `apply_patch` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyPatchInput {
    /// The patch: a unified diff (`--- a/x`, `+++ b/x`, `@@ -1,2 +1,3 @@`), or the form that starts
    /// with `*** Begin Patch` and has `*** Add File: path`, `*** Update File: path` (then perhaps
    /// `*** Move to: path`), `*** Delete File: path` sections and ends with `*** End Patch`.
    patch: String,
}

/// What `apply_patch` says to programs.
#[derive(Debug, Serialize, JsonSchema)]
struct ApplyPatchDetails {
    /// Counts incompatible changes of these details.
    version: u32,
    /// Each file of the patch, in its order.
    files: Vec<FileReport>,
}

/// What happened to one file.
#[derive(Debug, Serialize, JsonSchema)]
struct FileReport {
    /// The path, relative to the workspace.
    path: String,
    /// `added`, `updated`, `moved` or `deleted`.
    action: &'static str,
    /// Where it went, if it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<String>,
    /// The first line of each hunk, from 1, in the new text.
    lines: Vec<usize>,
}

/// Applies patches.
#[derive(Debug)]
pub(crate) struct ApplyPatch {
    access: Access,
}

impl ApplyPatch {
    pub(crate) fn new(access: Access) -> Self {
        Self { access }
    }
}

impl TypedTool for ApplyPatch {
    type Input = ApplyPatchInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<ApplyPatchInput>(
            "apply_patch",
            Tier::Write,
            "Apply a patch",
            "Changes, adds, moves and deletes files as a patch says. Kept and removed lines must \
             match the file exactly; line numbers only choose between equal places. Every file is \
             checked before any is written.",
        )
        .with_details::<ApplyPatchDetails>()
    }

    fn paths(&self, input: &ApplyPatchInput) -> Vec<String> {
        let Ok(patch) = parse(&input.patch) else {
            return Vec::new();
        };
        self.access
            .named(patch.changes.iter().flat_map(FileChange::paths))
    }

    async fn call(
        &self,
        input: ApplyPatchInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let patch = parse(&input.patch).map_err(|error| {
            ToolError::invalid_input(format!("cannot read the patch at its line {}", error.line))
                .why(error.why)
                .next(error.next)
        })?;
        let turn = self.access.turn(context).await?;
        let mut staged = Staged {
            access: &self.access,
            files: BTreeMap::new(),
        };
        let mut reports = Vec::new();
        let mut problems = Vec::new();
        for change in &patch.changes {
            match staged.stage(change).await {
                Ok(report) => reports.push(report),
                Err(problem) => problems.push(problem),
            }
        }
        problems.extend(staged.clash());
        if let Some(error) = join(problems) {
            return Err(error);
        }
        let details = details_of(&ApplyPatchDetails {
            version: DETAILS_VERSION,
            files: reports,
        })?;
        let mut text = describe(&details);
        let changes = staged.into_changes();
        let applied = self.access.apply(context, turn, changes).await?;
        text.push_str(&applied.notes);
        Ok(ToolOutput::text(text)
            .with_details(details)
            .with_touched(applied.touched))
    }
}

/// The files of a patch as they will be; nothing is on disk yet.
struct Staged<'a> {
    access: &'a Access,
    files: BTreeMap<WorkspacePath, State>,
}

struct State {
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    like: Option<WorkspacePath>,
}

impl Staged<'_> {
    async fn stage(&mut self, change: &FileChange) -> Result<FileReport, ToolError> {
        match change {
            FileChange::Add { path, text } => self.add(path, text).await,
            FileChange::Delete { path, hunks } => self.delete(path, hunks).await,
            FileChange::Update {
                path,
                move_to,
                hunks,
            } => self.update(path, move_to.as_deref(), hunks).await,
        }
    }

    async fn add(&mut self, path: &str, text: &str) -> Result<FileReport, ToolError> {
        let (path, state) = self.state(path).await?;
        if state.after.is_some() {
            return Err(ToolError::conflict(format!("cannot add `{path}`"))
                .why("the file exists")
                .next("update it, or delete it first in the same patch"));
        }
        state.after = Some(text.as_bytes().to_vec());
        Ok(report(&path, "added"))
    }

    async fn delete(&mut self, path: &str, hunks: &[Hunk]) -> Result<FileReport, ToolError> {
        let (path, state) = self.state(path).await?;
        let Some(bytes) = &state.after else {
            return Err(missing("delete", &path));
        };
        if !hunks.is_empty() {
            let (text, _) = updated(&path, bytes.clone(), hunks)?;
            if !text.is_empty() {
                return Err(ToolError::conflict(format!("cannot delete `{path}`"))
                    .why("the file has lines that the patch does not remove")
                    .next("read the file again, and remove all of its lines"));
            }
        }
        state.after = None;
        Ok(report(&path, "deleted"))
    }

    async fn update(
        &mut self,
        path: &str,
        move_to: Option<&str>,
        hunks: &[Hunk],
    ) -> Result<FileReport, ToolError> {
        let (from, state) = self.state(path).await?;
        let Some(bytes) = state.after.clone() else {
            return Err(missing("update", &from));
        };
        let (text, lines) = updated(&from, bytes, hunks)?;
        let Some(move_to) = move_to else {
            state.after = Some(text.into_bytes());
            return Ok(FileReport {
                lines,
                ..report(&from, "updated")
            });
        };
        let (to, target) = self.state(move_to).await?;
        if to == from {
            target.after = Some(text.into_bytes());
            return Ok(FileReport {
                lines,
                ..report(&from, "updated")
            });
        }
        if target.after.is_some() {
            return Err(
                ToolError::conflict(format!("cannot move `{from}` to `{to}`"))
                    .why("a file is there already")
                    .next("delete it first in the same patch, or choose another name"),
            );
        }
        target.after = Some(text.into_bytes());
        target.like = Some(from.clone());
        let (_, source) = self.state(path).await?;
        source.after = None;
        let moved_to = Some(to.relative().to_owned());
        Ok(FileReport {
            lines,
            moved_to,
            ..report(&from, "moved")
        })
    }

    /// Returns the state of a file, read the first time it is named.
    async fn state(&mut self, path: &str) -> Result<(WorkspacePath, &mut State), ToolError> {
        let path = self.access.resolve(path)?;
        if !self.files.contains_key(&path) {
            let before = self.access.bytes(&path).await?;
            let state = State {
                after: before.clone(),
                before,
                like: None,
            };
            self.files.insert(path.clone(), state);
        }
        match self.files.get_mut(&path) {
            Some(state) => Ok((path, state)),
            None => Err(ToolError::internal(format!("lost sight of `{path}`"))),
        }
    }

    /// Returns the error of a file that is to lie below another one.
    fn clash(&self) -> Option<ToolError> {
        let kept = || self.files.iter().filter(|(_, s)| s.after.is_some());
        kept().find_map(|(inner, _)| {
            let (outer, _) = kept().find(|(outer, _)| {
                outer != &inner && inner.absolute().starts_with(outer.absolute())
            })?;
            Some(
                ToolError::conflict(format!("cannot write `{inner}`"))
                    .why(format!("the patch makes `{outer}` a file, not a folder"))
                    .next("choose other names"),
            )
        })
    }

    fn into_changes(self) -> Vec<Change> {
        let mut changes: Vec<Change> = self
            .files
            .into_iter()
            .filter(|(_, state)| state.before != state.after)
            .map(
                |(
                    path,
                    State {
                        before,
                        after,
                        like,
                    },
                )| Change {
                    path,
                    before,
                    after,
                    like,
                },
            )
            .collect();
        // New text first: a move is never seen with the file in neither place.
        changes.sort_by_key(|change| change.after.is_none());
        changes
    }
}

fn updated(
    path: &WorkspacePath,
    bytes: Vec<u8>,
    hunks: &[Hunk],
) -> Result<(String, Vec<usize>), ToolError> {
    if hunks.is_empty() {
        return Ok((to_text("move", path, bytes)?, Vec::new()));
    }
    let text = to_text("update", path, bytes)?;
    let mut document = Document::parse(&text);
    let lines = apply_hunks(&mut document, hunks).map_err(|error| {
        ToolError::conflict(format!("cannot apply hunk {} of `{path}`", error.hunk))
            .why(error.why)
            .next(error.next)
    })?;
    Ok((document.to_text(), lines))
}

fn missing(action: &str, path: &WorkspacePath) -> ToolError {
    ToolError::not_found(format!("cannot {action} `{path}`"))
        .why("there is no such file")
        .next("check the path with `read` on its folder")
}

fn report(path: &WorkspacePath, action: &'static str) -> FileReport {
    FileReport {
        path: path.relative().to_owned(),
        action,
        moved_to: None,
        lines: Vec::new(),
    }
}

/// Makes one error of the problems of several files.
fn join(mut problems: Vec<ToolError>) -> Option<ToolError> {
    if problems.len() < 2 {
        return problems.pop().map(|problem| {
            let why = problem.why.clone().unwrap_or_default();
            problem.why(format!("{why}; no file was changed"))
        });
    }
    let first = problems.first()?.kind;
    let listed: Vec<String> = problems
        .iter()
        .map(|problem| format!("- {problem}"))
        .collect();
    Some(
        ToolError::new(
            first,
            format!("cannot apply the patch, in {} places", listed.len()),
        )
        .why(format!("no file was changed\n{}", listed.join("\n"))),
    )
}

fn describe(details: &serde_json::Value) -> String {
    let files = details.get("files").and_then(serde_json::Value::as_array);
    let mut text = String::new();
    for file in files.into_iter().flatten() {
        let field = |name: &str| file.get(name).and_then(serde_json::Value::as_str);
        let (action, path) = (field("action").unwrap_or(""), field("path").unwrap_or(""));
        text.push_str(&format!("{action} `{}`", visible(path)));
        if let Some(to) = field("moved_to") {
            text.push_str(&format!(" to `{}`", visible(to)));
        }
        let lines = file.get("lines").and_then(serde_json::Value::as_array);
        let lines: Vec<String> = lines
            .into_iter()
            .flatten()
            .map(ToString::to_string)
            .collect();
        if !lines.is_empty() {
            let noun = if lines.len() == 1 { "line" } else { "lines" };
            text.push_str(&format!(", at {noun} {}", lines.join(", ")));
        }
        text.push('\n');
    }
    text
}
