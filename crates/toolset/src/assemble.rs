//! From a workspace and attached resources to a registry. No logic beyond that.

use std::path::Path;
use std::sync::Arc;

#[cfg(any(feature = "structural", feature = "lsp"))]
use host::{DiskFiles, HarnessFiles};
use host::{Trust, Workspace};
#[cfg(feature = "structural")]
use tiers::RegistryBuilder;
#[cfg(feature = "structural")]
use tiers::Typed;
use tiers::{
    Approver, BuildError, CallContext, EventSink, Guardrail, Limits, Mode, Registry, Run, RunError,
    Tool,
};
use tokio_util::sync::CancellationToken;

/// Why a toolset could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The run could not be opened.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The tools do not fit together: a name that is used twice, a bad schema.
    #[error(transparent)]
    Registry(#[from] BuildError),
}

/// The tools of one agent run.
#[derive(Debug)]
pub struct Toolset {
    workspace: Workspace,
    registry: Registry,
}

impl Toolset {
    /// Opens the folder `root` as the workspace of a run.
    ///
    /// # Errors
    /// `root` does not exist or is no directory.
    pub fn open(root: &Path, trust: Trust, mode: Mode) -> Result<ToolsetBuilder, host::Error> {
        Ok(Self::in_workspace(Workspace::open(root, trust)?, mode))
    }

    /// Starts a run in a workspace that is open already.
    pub fn in_workspace(workspace: Workspace, mode: Mode) -> ToolsetBuilder {
        ToolsetBuilder {
            workspace,
            mode,
            limits: None,
            token: None,
            parent: None,
            tools: Vec::new(),
            writing: Vec::new(),
            guardrails: Vec::new(),
            approver: None,
            events: None,
            #[cfg(feature = "kernel")]
            kernels: None,
            #[cfg(feature = "kernel")]
            images_in: None,
            #[cfg(feature = "lsp")]
            language_servers: None,
            #[cfg(feature = "lsp")]
            on_write: lsp_bridge::OnWriteLimits::default(),
            #[cfg(any(feature = "structural", feature = "lsp"))]
            files: None,
            #[cfg(feature = "structural")]
            grammars: None,
            #[cfg(feature = "structural")]
            search_threads: None,
            #[cfg(feature = "structural")]
            search_cache_bytes: None,
        }
    }

    /// Returns the registry: what the model sees, and the way to call it.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Ends the run: cancels what runs, waits for what must not be cut in half,
    /// removes the run's own files.
    pub async fn end(&self) {
        self.registry.run().end().await;
    }
}

/// Collects what a run has.
#[must_use]
pub struct ToolsetBuilder {
    workspace: Workspace,
    mode: Mode,
    limits: Option<Limits>,
    token: Option<CancellationToken>,
    parent: Option<CallContext>,
    tools: Vec<Arc<dyn Tool>>,
    /// Those whose results say what language servers think of what was written.
    writing: Vec<Arc<dyn Tool>>,
    guardrails: Vec<Arc<dyn Guardrail>>,
    approver: Option<Arc<dyn Approver>>,
    events: Option<Arc<dyn EventSink>>,
    #[cfg(feature = "kernel")]
    kernels: Option<Arc<kernel::Kernels>>,
    #[cfg(feature = "kernel")]
    images_in: Option<std::path::PathBuf>,
    #[cfg(feature = "lsp")]
    language_servers: Option<Arc<dyn lsp_bridge::LanguageServers>>,
    #[cfg(feature = "lsp")]
    on_write: lsp_bridge::OnWriteLimits,
    #[cfg(any(feature = "structural", feature = "lsp"))]
    files: Option<Arc<dyn HarnessFiles>>,
    #[cfg(feature = "structural")]
    grammars: Option<Arc<dyn structural::GrammarSource>>,
    #[cfg(feature = "structural")]
    search_threads: Option<usize>,
    #[cfg(feature = "structural")]
    search_cache_bytes: Option<usize>,
}

impl ToolsetBuilder {
    /// Attaches grammars; with them the run has `ast_grep`, `ast_edit` and `resolve`.
    #[cfg(feature = "structural")]
    pub fn grammars(mut self, grammars: Arc<dyn structural::GrammarSource>) -> Self {
        self.grammars = Some(grammars);
        self
    }

    /// Sets how many threads one search or rewrite uses; the default is one for
    /// each core.
    #[cfg(feature = "structural")]
    pub fn search_threads(mut self, threads: usize) -> Self {
        self.search_threads = Some(threads);
        self
    }

    /// Sets how much memory a run takes to keep the trees of the files searched,
    /// in bytes; the default is [`structural::DEFAULT_CACHE_BYTES`], and 0 is
    /// right where a run makes one search only.
    #[cfg(feature = "structural")]
    pub fn search_cache_bytes(mut self, bytes: usize) -> Self {
        self.search_cache_bytes = Some(bytes);
        self
    }

    /// Attaches the interpreters of the conversation; with them the run has `eval`.
    ///
    /// They live as long as the harness keeps them, so that variables outlast
    /// the run where the conversation does.
    #[cfg(feature = "kernel")]
    pub fn kernels(mut self, kernels: Arc<kernel::Kernels>) -> Self {
        self.kernels = Some(kernels);
        self
    }

    /// Sets the folder in which images of `eval` are saved, and stay; the
    /// default is the run's own, which ends with the run.
    #[cfg(feature = "kernel")]
    pub fn images_in(mut self, folder: &Path) -> Self {
        self.images_in = Some(folder.to_owned());
        self
    }

    /// Attaches language servers; with them the run has `lsp` and `lsp_rename`.
    ///
    /// They are shared with the other runs of the harness, and a server stays
    /// while a run that asked it lives.
    #[cfg(feature = "lsp")]
    pub fn language_servers(mut self, servers: Arc<dyn lsp_bridge::LanguageServers>) -> Self {
        self.language_servers = Some(servers);
        self
    }

    /// Attaches the harness's own file layer: what editors have not saved yet
    /// is read from it, and changes of several files are handed to it whole.
    /// The default is the disk.
    #[cfg(any(feature = "structural", feature = "lsp"))]
    pub fn files(mut self, files: Arc<dyn HarnessFiles>) -> Self {
        self.files = Some(files);
        self
    }

    /// Adds a tool of the harness's own.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.shared(Arc::new(tool))
    }

    /// Adds a tool of the harness's own that is shared already.
    pub fn shared(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a tool of the harness's own that writes files, such as `write`,
    /// `edit` or `apply_patch`.
    ///
    /// Where language servers are attached, the errors and warnings that a call
    /// brought are added to its result: see `lsp::DiagnosticsOnWrite`. The tool
    /// says by [`Tool::paths`] which files a call will write and by
    /// [`tiers::ToolOutput::touched`] which it wrote.
    pub fn writing(mut self, tool: Arc<dyn Tool>) -> Self {
        self.writing.push(tool);
        self
    }

    /// Sets how long language servers may hold up a write; a budget of 0 switches
    /// their diagnostics on writes off.
    #[cfg(feature = "lsp")]
    pub fn on_write(mut self, limits: lsp_bridge::OnWriteLimits) -> Self {
        self.on_write = limits;
        self
    }

    /// Adds a guardrail; with several the strictest answer counts.
    pub fn guardrail(mut self, guardrail: Arc<dyn Guardrail>) -> Self {
        self.guardrails.push(guardrail);
        self
    }

    /// Attaches who approves calls; without one, a prompt means no.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Attaches where events go.
    pub fn events(mut self, events: Arc<dyn EventSink>) -> Self {
        self.events = Some(events);
        self
    }

    /// Sets the limits of the run.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets a token whose cancellation ends the run.
    pub fn token(mut self, token: CancellationToken) -> Self {
        self.token = Some(token);
        self
    }

    /// Makes the run a child of the run of `call`: its ceiling is never higher.
    pub fn parent(mut self, call: &CallContext) -> Self {
        self.parent = Some(call.clone());
        self
    }

    /// Builds the registry.
    ///
    /// # Errors
    /// Two tools share a name, or a tool's schema has a shape that not every
    /// model provider accepts.
    pub fn build(self) -> Result<Toolset, Error> {
        let root = self.workspace.root().to_owned();
        let mut run = Run::builder(root, self.workspace.trust(), self.mode);
        if let Some(limits) = self.limits {
            run = run.limits(limits);
        }
        if let Some(token) = &self.token {
            run = run.token(token);
        }
        if let Some(call) = &self.parent {
            run = run.parent_call(call);
        }
        if let Some(approver) = self.approver {
            run = run.approver(approver);
        }
        if let Some(events) = self.events {
            run = run.events(events);
        }
        let run = run.build()?;
        let mut registry = Registry::builder(Arc::clone(&run));
        #[cfg(feature = "lsp")]
        let watched = Watched {
            workspace: self.workspace.clone(),
            servers: self.language_servers.clone(),
            limits: self.on_write,
        };
        #[cfg(not(feature = "lsp"))]
        let watched = Watched;
        #[cfg(feature = "structural")]
        {
            registry = match self.grammars {
                Some(grammars) => Structural {
                    workspace: self.workspace.clone(),
                    grammars,
                    files: self.files.clone(),
                    threads: self.search_threads,
                    cache_bytes: self.search_cache_bytes,
                }
                .add_to(registry, &run, &watched),
                None => ["ast_grep", "ast_edit", "resolve"]
                    .into_iter()
                    .fold(registry, |registry, tool| {
                        registry.not_attached(tool, "grammar source")
                    }),
            };
        }
        #[cfg(feature = "kernel")]
        {
            registry = match self.kernels {
                Some(kernels) => {
                    let eval = kernel::Eval::new(kernels);
                    registry.typed(match self.images_in {
                        Some(folder) => eval.save_in(folder),
                        None => eval,
                    })
                }
                None => registry.not_attached("eval", "kernel factory"),
            };
        }
        #[cfg(feature = "lsp")]
        {
            registry = match self.language_servers {
                Some(servers) => {
                    let workspace = self.workspace.clone();
                    let files = self.files.unwrap_or_else(|| Arc::new(DiskFiles::new()));
                    let rename =
                        lsp_bridge::LspRename::new(workspace.clone(), Arc::clone(&servers), files);
                    let questions = lsp_bridge::Lsp::new(workspace, servers);
                    registry.typed(questions).typed(rename)
                }
                None => ["lsp", "lsp_rename"]
                    .into_iter()
                    .fold(registry, |registry, tool| {
                        registry.not_attached(tool, "language-server supervisor")
                    }),
            };
        }
        for tool in self.tools {
            registry = registry.shared(tool);
        }
        for tool in self.writing {
            registry = registry.shared(watched.wrap(tool));
        }
        for guardrail in self.guardrails {
            registry = registry.gate(guardrail);
        }
        Ok(Toolset {
            workspace: self.workspace,
            registry: registry.build()?,
        })
    }
}

/// What the tools of structural search and rewrite work with.
#[cfg(feature = "structural")]
struct Structural {
    workspace: Workspace,
    grammars: Arc<dyn structural::GrammarSource>,
    files: Option<Arc<dyn HarnessFiles>>,
    threads: Option<usize>,
    cache_bytes: Option<usize>,
}

#[cfg(feature = "structural")]
impl Structural {
    fn add_to(self, registry: RegistryBuilder, run: &Run, watched: &Watched) -> RegistryBuilder {
        let mut search =
            structural::AstGrep::new(self.workspace.clone(), Arc::clone(&self.grammars));
        let mut edit = structural::AstEdit::new(self.workspace, self.grammars);
        if let Some(threads) = self.threads {
            search = search.threads(threads);
            edit = edit.threads(threads);
        }
        if let Some(bytes) = self.cache_bytes {
            search = search.cache_bytes(bytes);
        }
        if let Some(files) = &self.files {
            search = search.files(Arc::clone(files));
            edit = edit.files(Arc::clone(files));
        }
        let files = self.files.unwrap_or_else(|| Arc::new(DiskFiles::new()));
        registry
            .typed(search)
            .typed(edit)
            .shared(watched.wrap(Arc::new(Typed::new(structural::Resolve::new(run, files)))))
    }
}

/// Who is asked about what tools write.
#[cfg(feature = "lsp")]
struct Watched {
    workspace: Workspace,
    servers: Option<Arc<dyn lsp_bridge::LanguageServers>>,
    limits: lsp_bridge::OnWriteLimits,
}

/// Nobody is asked about what tools write.
#[cfg(not(feature = "lsp"))]
struct Watched;

impl Watched {
    #[cfg(feature = "lsp")]
    fn wrap(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        let Some(servers) = self.servers.clone() else {
            return tool;
        };
        let wrapped = lsp_bridge::DiagnosticsOnWrite::new(tool, self.workspace.clone(), servers);
        Arc::new(wrapped.limits(self.limits.clone()))
    }

    #[cfg(not(feature = "lsp"))]
    #[expect(clippy::unused_self, reason = "as where there are language servers")]
    fn wrap(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        tool
    }
}
