//! What a run of this harness has: grammars, its file tools, and what was brought.

use std::sync::Arc;

use host::{DiskFiles, Workspace};
use tiers::{Approver, EventSink, Guardrail, Mode, Tool};
use toolset::{Error, Toolset};

use crate::files;

/// What is attached to a run besides what this harness always has.
#[derive(Default)]
pub(crate) struct Attachments {
    /// Whether the file tools of this harness are part of it.
    pub(crate) file_tools: bool,
    /// Threads of one search; one for each core where it is not said.
    pub(crate) search_threads: Option<usize>,
    /// Tools from elsewhere.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) guardrail: Option<Arc<dyn Guardrail>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) events: Option<Arc<dyn EventSink>>,
}

/// Builds the tools of one run.
pub(crate) fn assemble(
    workspace: Workspace,
    mode: Mode,
    attachments: Attachments,
) -> Result<Toolset, Error> {
    let mut builder = Toolset::in_workspace(workspace.clone(), mode);
    #[cfg(feature = "structural")]
    {
        builder = builder.grammars(Arc::new(toolset::structural::CompiledGrammars::new()));
        if let Some(threads) = attachments.search_threads {
            builder = builder.search_threads(threads);
        }
    }
    if attachments.file_tools {
        for tool in files::tools(&workspace, Arc::new(DiskFiles::new())) {
            builder = builder.shared(tool);
        }
    }
    for tool in attachments.tools {
        builder = builder.shared(tool);
    }
    if let Some(guardrail) = attachments.guardrail {
        builder = builder.guardrail(guardrail);
    }
    if let Some(approver) = attachments.approver {
        builder = builder.approver(approver);
    }
    if let Some(events) = attachments.events {
        builder = builder.events(events);
    }
    builder.build()
}
