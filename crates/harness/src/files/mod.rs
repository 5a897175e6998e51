//! The harness's own file tools, confined to the workspace.

mod access;
mod apply_patch;
mod document;
mod edit;
mod patch;
mod read;
mod replace;
mod write;

use std::sync::Arc;

use host::{HarnessFiles, Workspace};
use tiers::{Tool, Typed};

/// Returns the file tools of one run: `read`, `write`, `edit` and `apply_patch`.
pub(crate) fn tools(workspace: &Workspace, files: Arc<dyn HarnessFiles>) -> Vec<Arc<dyn Tool>> {
    let access = access::Access::new(workspace.clone(), files);
    vec![
        Arc::new(Typed::new(read::Read::new(access.clone()))),
        Arc::new(Typed::new(write::Write::new(access.clone()))),
        Arc::new(Typed::new(edit::Edit::new(access.clone()))),
        Arc::new(Typed::new(apply_patch::ApplyPatch::new(access))),
    ]
}
