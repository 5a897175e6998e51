//! Where the text of files comes from: the disk, or the harness's file layer.

use std::sync::Arc;

use host::{HarnessFiles, Workspace};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::scan::{self, MAX_FILE_BYTES, SkipReason};
use crate::walk::Candidate;

/// Where the text of files comes from.
pub(crate) enum Source {
    /// Read by the thread that needs it, without a detour.
    Disk,
    Layer(Layer),
}

/// A file layer that has texts of its own, such as an editor's unsaved ones.
pub(crate) struct Layer {
    files: Arc<dyn HarnessFiles>,
    workspace: Workspace,
    runtime: Handle,
    stop: CancellationToken,
}

impl Source {
    /// Builds the source for one call; `stop` ends a read that does not return.
    ///
    /// Called on the runtime, used on threads outside of it.
    pub(crate) fn new(
        files: Option<&Arc<dyn HarnessFiles>>,
        workspace: &Workspace,
        stop: &CancellationToken,
    ) -> Self {
        match files {
            Some(files) if !files.reads_disk() => Self::Layer(Layer {
                files: Arc::clone(files),
                workspace: workspace.clone(),
                runtime: Handle::current(),
                stop: stop.clone(),
            }),
            Some(_) | None => Self::Disk,
        }
    }

    /// Reads a file that is fit to be searched.
    pub(crate) fn read<'b>(
        &self,
        file: &Candidate,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b str, (SkipReason, String)> {
        match self {
            Self::Disk => scan::read(&file.path, buffer),
            Self::Layer(layer) => {
                *buffer = layer.read(file)?;
                scan::fit(buffer)
            }
        }
    }
}

impl Layer {
    fn read(&self, file: &Candidate) -> Result<Vec<u8>, (SkipReason, String)> {
        let unreadable = |error: host::Error| (SkipReason::Unreadable, error.to_string());
        let path = self
            .workspace
            .resolve_path(&file.path)
            .map_err(unreadable)?;
        let read = self.stop.run_until_cancelled(self.files.read(&path));
        let bytes = match self.runtime.block_on(read) {
            Some(read) => read.map_err(unreadable)?,
            None => return Err((SkipReason::Unreadable, "the call was stopped".to_owned())),
        };
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let size = bytes.len();
            return Err((
                SkipReason::TooLarge,
                format!("{size} bytes, the limit is {MAX_FILE_BYTES}"),
            ));
        }
        Ok(bytes)
    }
}
