//! The tool `lsp_rename`: a rename across the project, all of it or nothing.
//!
//! A tool of its own, and not an action of `lsp`, since the tier decides who
//! sees it: `lsp` changes nothing.

mod details;
mod draft;
mod faults;
mod gather;
mod name;
mod report;

use std::sync::Arc;

use host::text::Line;
use host::{ChangeSet, HarnessFiles, Outcome, Workspace, WorkspacePath};
use schemars::JsonSchema;
use serde::Deserialize;
use tiers::{CallContext, Tier, ToolError, ToolOutput, ToolSpec, TypedTool};

pub use self::details::{
    LspRenameDetails, PlaceDetails, RenameDiagnosticDetails, RenamedFileDetails,
};
use super::LspLimits;
use super::ask::{Ask, Chosen, check_offer};
use super::input::Place;
use crate::error::Error;
use crate::port::LanguageServers;
use crate::server::Look;
use draft::{Changed, Draft, Names};
use faults::Faults;
use report::Report;

const DESCRIPTION: &str = "Rename a symbol in the whole project with its language server. All \
files are written, or none: the rename is refused where the server may not know every use yet, \
where a file changed meanwhile, and where a change would be outside the workspace. The result \
says what was renamed, which errors are new, and where the old name is still written (comments, \
texts).";

/// Arguments of `lsp_rename`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LspRenameInput {
    /// File that has the symbol, relative to the workspace.
    pub file: String,
    /// Line of the symbol, from 1.
    pub line: u32,
    /// The symbol as it is on that line, for example `parse`; `parse#2` is the second one there.
    pub symbol: String,
    /// What it is called afterwards.
    pub new_name: String,
}

/// The tool `lsp_rename`.
pub struct LspRename {
    workspace: Workspace,
    servers: Arc<dyn LanguageServers>,
    files: Arc<dyn HarnessFiles>,
    limits: LspLimits,
}

/// A rename that can be written.
struct Ready {
    changes: ChangeSet,
    changed: Vec<Changed>,
    chosen: Chosen,
    names: Names,
    notes: Vec<String>,
    faults: Faults,
}

impl LspRename {
    /// Builds the tool for one workspace; `files` carries a rename out, as one
    /// change set.
    #[must_use]
    pub fn new(
        workspace: Workspace,
        servers: Arc<dyn LanguageServers>,
        files: Arc<dyn HarnessFiles>,
    ) -> Self {
        Self {
            workspace,
            servers,
            files,
            limits: LspLimits::default(),
        }
    }

    /// Sets how long a call may take.
    #[must_use]
    pub fn limits(mut self, limits: LspLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Does all that can be done before a file is written.
    async fn prepare(&self, place: &Place, new: &str, ask: &Ask<'_>) -> Result<Ready, Error> {
        let target = ask.target(place, Look::Always).await?;
        let server = &target.chosen.server;
        check_offer(server, "textDocument/rename", "renameProvider", "renames")?;
        let names = Names {
            old: target.aim.name.clone(),
            new: new.to_owned(),
        };
        check_names(&names, server.language(place.file.absolute()))?;
        let steps = gather::edit(&target, &names, ask).await?;
        let draft = Draft::of(&steps, &names, &self.workspace, server, &*self.files).await?;
        let changed = draft.changed();
        let changes = draft.into_change_set()?;
        if changed.is_empty() {
            return Err(Error::NothingRenamed {
                server: server.id().to_owned(),
                old: names.old,
                why: "its edit changes nothing".to_owned(),
            });
        }
        ask.context.progress(format!(
            "{}: the edit is complete, in {} files",
            server.id(),
            changed.len()
        ));
        let faults = Faults::before(&changed, &place.file, server, ask.deadline).await;
        Ok(Ready {
            changes,
            changed,
            names,
            notes: target.notes(),
            faults,
            chosen: target.chosen,
        })
    }

    fn place(&self, input: &LspRenameInput) -> Result<Place, ToolError> {
        let wrong = |why: &str, next: &str| Error::Place {
            what: "cannot rename".to_owned(),
            why: why.to_owned(),
            next: next.to_owned(),
        };
        let symbol = input.symbol.trim();
        if symbol.is_empty() {
            return Err(wrong("`symbol` is empty", "give the name as it is written there").into());
        }
        let Some(line) = Line::from_one(input.line) else {
            return Err(wrong("there is no line 0", "give `line`, counting from 1").into());
        };
        Ok(Place {
            file: self.workspace.resolve(&input.file)?,
            line,
            symbol: symbol.to_owned(),
        })
    }
}

fn check_names(names: &Names, language: Option<&str>) -> Result<(), Error> {
    let bad = |why: String| {
        Err(Error::BadName {
            old: names.old.clone(),
            new: names.new.clone(),
            why,
        })
    };
    let language = language.unwrap_or_default();
    if names.old == names.new {
        return bad("that is its name already".to_owned());
    }
    if let Some(why) = name::problem(language, &names.old) {
        return bad(format!("`{}` is no name that was chosen: {why}", names.old));
    }
    match name::problem(language, &names.new) {
        Some(why) => bad(why),
        None => Ok(()),
    }
}

/// Writes the change, whole.
async fn commit(changes: ChangeSet, files: Arc<dyn HarnessFiles>) -> Result<Written, Error> {
    match files.apply(changes).await? {
        Outcome::Applied(applied) => Ok(Written {
            touched: applied.touched,
            notes: applied.notes,
        }),
        Outcome::Rejected(mismatches) => Err(Error::Rejected {
            mismatches: mismatches.iter().map(ToString::to_string).collect(),
        }),
    }
}

/// What was written.
struct Written {
    touched: Vec<WorkspacePath>,
    notes: Vec<String>,
}

impl TypedTool for LspRename {
    type Input = LspRenameInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<LspRenameInput>("lsp_rename", Tier::Write, "Rename", DESCRIPTION)
            .with_details::<LspRenameDetails>()
    }

    /// The file that is named; which others there are is known only later.
    fn paths(&self, input: &LspRenameInput) -> Vec<String> {
        let file = self.workspace.resolve(&input.file);
        file.map(|file| vec![file.relative().to_owned()])
            .unwrap_or_default()
    }

    async fn call(
        &self,
        input: LspRenameInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let place = self.place(&input)?;
        let new = input.new_name.trim();
        let ask = Ask::new(&self.workspace, &*self.servers, &self.limits, context);
        let ready = tokio::select! {
            biased;
            () = context.token().cancelled() => Err(Error::Cancelled),
            ready = self.prepare(&place, new, &ask) => ready,
        }?;
        let written = commit(ready.changes, Arc::clone(&self.files));
        let written = context.run_to_completion(written).await??;
        // From here on the files are renamed, whatever becomes of the rest.
        let touched = written.touched.iter();
        let touched = touched.map(|path| path.relative().to_owned()).collect();
        let report = Report {
            names: ready.names,
            changed: ready.changed,
            notes: ready.notes.into_iter().chain(written.notes).collect(),
        };
        let details = report
            .details(&ready.chosen.server, ready.faults, &ask)
            .await;
        ToolOutput::text(report::text(&details))
            .with_touched(touched)
            .with_details_of(&details)
    }
}
