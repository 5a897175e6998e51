//! The one place that knows how a harness gets a registry: everything else
//! attaches resources by name and calls tools.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result};
use host::process::Environment;
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;
use tiers::{Call, Caps, Dispatch as _, Limits, Mode, ToolError, ToolOutput, ToolSpec};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use toolset::kernel::{KernelLimits, Kernels, ProjectInterpreters};
use toolset::lsp::{Catalogue, Supervisor};
use toolset::structural::CompiledGrammars;
use toolset::{DiskFiles, Toolset, Trust, Workspace};

/// A live resource that a case may attach to its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// The compiled-in grammars.
    Grammars,
    /// The machine's own Python.
    Interpreters,
    /// The language servers of the machine.
    LanguageServers,
}

impl Resource {
    /// Everything there is.
    pub const ALL: &[Self] = &[Self::Grammars, Self::Interpreters, Self::LanguageServers];
}

/// What one model sees of one run.
pub struct Surface {
    toolset: Toolset,
    /// Where changes of files keep their journal.
    _state: TempDir,
}

/// Interpreters that see nothing of the environment but where programs are.
fn interpreters(workspace: &Path) -> Result<Arc<Kernels>> {
    let environment = Environment::usual(std::env::vars_os())
        .without("VIRTUAL_ENV")
        .without("CONDA_PREFIX");
    let workspace = Workspace::open(workspace, Trust::Untrusted)?;
    let factory = ProjectInterpreters::new(workspace, environment);
    Ok(Kernels::new(Arc::new(factory), KernelLimits::default()))
}

/// The servers of the table; those that a machine lacks can be asked about.
fn language_servers() -> Arc<Supervisor> {
    let environment = Environment::usual(std::env::vars_os());
    Arc::new(Supervisor::new(Catalogue::built_in(), environment))
}

fn runtime() -> &'static Runtime {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Runtime::new().expect("a runtime needs only threads"));
    &RUNTIME
}

impl Surface {
    /// Opens a run in `workspace`, which nobody vouches for.
    ///
    /// # Errors
    /// A workspace that is no folder, and tools that do not fit together.
    pub fn open(
        workspace: &Path,
        mode: Mode,
        attach: &[Resource],
        caps: Option<Caps>,
    ) -> Result<Self> {
        let state = tempfile::tempdir()?;
        let files = DiskFiles::new().with_state_folder(state.path());
        let mut builder = Toolset::open(workspace, Trust::Untrusted, mode)?.files(Arc::new(files));
        if let Some(caps) = caps {
            let mut limits = Limits::default();
            limits.output = caps;
            builder = builder.limits(limits);
        }
        for resource in attach {
            builder = match resource {
                Resource::Grammars => builder.grammars(Arc::new(CompiledGrammars::new())),
                Resource::Interpreters => builder.kernels(interpreters(workspace)?),
                Resource::LanguageServers => builder.language_servers(language_servers()),
            };
        }
        Ok(Self {
            toolset: builder.build().context("cannot build the registry")?,
            _state: state,
        })
    }

    /// Returns what the model is told, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.toolset
            .registry()
            .specs()
            .into_iter()
            .cloned()
            .collect()
    }

    /// Returns the names of the tools the model sees.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        self.specs().into_iter().map(|spec| spec.name).collect()
    }

    /// Calls a tool as the model would, and waits for the answer.
    ///
    /// # Errors
    /// What the model is told.
    pub fn call(&self, tool: &str, input: Value, cancelled: bool) -> Result<ToolOutput, ToolError> {
        let token = CancellationToken::new();
        if cancelled {
            token.cancel();
        }
        let call = Call::new(tool, input).with_token(token);
        runtime().block_on(self.toolset.registry().dispatch_call(call))
    }
}
