//! The tool in this process, as a harness has it.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use host::Workspace;
use host::process::Environment;
use lsp_bridge::{Catalogue, LanguageServers, Lsp, Supervisor};
use serde_json::{Value, json};
use tiers::{Mode, Registry, Run, Trust};

/// Runs that share servers.
pub(crate) struct Ours {
    supervisor: Arc<Supervisor>,
}

/// One run.
pub(crate) struct OurRun {
    registry: Registry,
}

impl Ours {
    pub(crate) fn new(environment: Environment) -> Self {
        let supervisor = Supervisor::new(Catalogue::built_in(), environment);
        Self {
            supervisor: Arc::new(supervisor),
        }
    }

    pub(crate) fn run(&self, root: &Path) -> Result<OurRun> {
        let trust = Trust::Untrusted;
        let run = Run::builder(root.to_owned(), trust, Mode::Plan).build()?;
        let workspace = Workspace::open(root, trust)?;
        let servers: Arc<dyn LanguageServers> = Arc::clone(&self.supervisor) as _;
        let registry = Registry::builder(run).typed(Lsp::new(workspace, servers));
        Ok(OurRun {
            registry: registry.build()?,
        })
    }
}

impl OurRun {
    /// Asks about `core` in a line, from 1; returns the details.
    pub(crate) async fn ask(&self, action: &str, file: &str, line: u32) -> Result<Value> {
        let place = json!({ "action": action, "file": file, "line": line, "symbol": "core" });
        let answer = self.registry.dispatch("lsp", place).await;
        Ok(answer.map_err(|error| anyhow!("{error}"))?.details)
    }

    /// Returns how many references there are, and whether the tool says that
    /// these are all.
    pub(crate) async fn references(&self, file: &str, line: u32) -> Result<(usize, bool)> {
        let details = self.ask("references", file, line).await?;
        let total = details["total"].as_u64().context("no total")?;
        Ok((usize::try_from(total)?, details["incomplete"].is_null()))
    }
}
