//! What a run of this harness has: grammars, interpreters, its file tools, and
//! what was brought.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "embedded-python")]
use anyhow::Context as _;
use host::{DiskFiles, HarnessFiles, Workspace};
use tiers::{Approver, EventSink, Guardrail, Mode, Tier, Tool};
#[cfg(feature = "kernel")]
use toolset::kernel::{KernelLimits, Kernels, ProjectInterpreters};
#[cfg(feature = "lsp")]
use toolset::lsp::{Catalogue, LanguageServers, OnWriteLimits, Supervisor};
#[cfg(feature = "structural")]
use toolset::structural::{CompiledGrammars, GrammarSource};
use toolset::{Toolset, ToolsetBuilder};

use crate::commands::remark;
use crate::files as file_tools;

/// How long a write waits for language servers in a run of one call.
#[cfg(feature = "lsp")]
const ONE_CALL: Duration = Duration::from_secs(10);

/// What is attached to a run besides what this harness always has.
#[derive(Default)]
pub(crate) struct Attachments {
    /// Whether the file tools of this harness are part of it.
    pub(crate) file_tools: bool,
    /// What the process was told.
    pub(crate) settings: Settings,
    /// Whether the run makes one call only, so that nothing is kept for another.
    pub(crate) is_one_call: bool,
    /// Tools from elsewhere.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) guardrail: Option<Arc<dyn Guardrail>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) events: Option<Arc<dyn EventSink>>,
}

/// What the process was told, for every run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Where and how searches work.
    pub(crate) search: Search,
    /// Where cells of code run.
    pub(crate) interpreters: Interpreters,
    /// The language servers that all runs of this process share.
    #[cfg(feature = "lsp")]
    pub(crate) servers: Servers,
}

/// Language servers.
#[cfg(feature = "lsp")]
#[derive(Debug, Clone)]
pub(crate) struct Servers(pub(crate) Arc<Supervisor>);

#[cfg(feature = "lsp")]
impl Default for Servers {
    fn default() -> Self {
        let environment = host::process::Environment::empty();
        Self(Arc::new(Supervisor::new(
            Catalogue::built_in(),
            environment,
        )))
    }
}

/// What the process was told about searches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// Threads of one search; one for each core where it is not said.
    pub(crate) threads: Option<usize>,
    /// A folder of grammars besides those compiled in.
    pub(crate) grammars: Option<PathBuf>,
}

/// What the process was told about interpreters.
#[derive(Debug, Clone)]
pub(crate) struct Interpreters {
    /// What they see of the environment.
    pub(crate) environment: host::process::Environment,
    /// The Python that was named.
    pub(crate) python: Option<Python>,
    /// Where this program keeps what outlives it; `None` without a home.
    #[cfg_attr(
        not(feature = "embedded-python"),
        expect(dead_code, reason = "its one use")
    )]
    pub(crate) state: Option<PathBuf>,
    /// Where files of a run that makes one call only are kept.
    pub(crate) temporary: PathBuf,
}

/// A Python that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Python {
    /// An interpreter, absolute.
    Program(PathBuf),
    /// The one that is linked into this program.
    Embedded,
}

impl Default for Interpreters {
    fn default() -> Self {
        Self {
            environment: host::process::Environment::empty(),
            python: None,
            state: None,
            temporary: PathBuf::from("/tmp"),
        }
    }
}

/// Builds the tools of one run.
pub(crate) fn assemble(
    workspace: Workspace,
    mode: Mode,
    attachments: Attachments,
) -> anyhow::Result<Toolset> {
    let files = DiskFiles::new();
    let remarks = recover(&files, &workspace, mode);
    let files: Arc<dyn HarnessFiles> = Arc::new(files);
    let mut builder = Toolset::in_workspace(workspace.clone(), mode);
    #[cfg(any(feature = "structural", feature = "lsp"))]
    {
        builder = builder.files(Arc::clone(&files));
    }
    #[cfg(feature = "structural")]
    {
        builder = builder.grammars(grammars(&attachments.settings.search, &workspace)?);
        if let Some(threads) = attachments.settings.search.threads {
            builder = builder.search_threads(threads);
        }
        if attachments.is_one_call {
            builder = builder.search_cache_bytes(0);
        }
    }
    #[cfg(feature = "kernel")]
    {
        builder = builder.kernels(kernels(&attachments.settings.interpreters, &workspace)?);
        if attachments.is_one_call {
            // The run's own folder is gone before anybody looks.
            builder = builder.images_in(&kept_images(&attachments.settings.interpreters));
        }
    }
    #[cfg(feature = "lsp")]
    {
        let servers = Arc::clone(&attachments.settings.servers.0) as Arc<dyn LanguageServers>;
        builder = builder.language_servers(servers);
        if attachments.is_one_call {
            // Nobody would read a late report, so that more is waited for.
            let mut limits = OnWriteLimits::default();
            limits.budget = ONE_CALL;
            limits.late = Duration::ZERO;
            builder = builder.on_write(limits);
        }
    }
    if attachments.file_tools {
        for tool in file_tools::tools(&workspace, files) {
            builder = attach(builder, tool);
        }
    }
    for tool in attachments.tools {
        builder = attach(builder, tool);
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
    let toolset = builder.build()?;
    for remark in remarks {
        toolset.registry().run().notices().push(remark);
    }
    Ok(toolset)
}

/// Attaches a tool; what one of the tier `write` writes is checked.
fn attach(builder: ToolsetBuilder, tool: Arc<dyn Tool>) -> ToolsetBuilder {
    match tool.spec().tier {
        Tier::Write => builder.writing(tool),
        Tier::Read | Tier::Exec => builder.shared(tool),
    }
}

/// Returns the interpreters of the project.
#[cfg(feature = "kernel")]
fn kernels(interpreters: &Interpreters, workspace: &Workspace) -> anyhow::Result<Arc<Kernels>> {
    let factory = ProjectInterpreters::new(workspace.clone(), interpreters.environment.clone());
    let factory = match &interpreters.python {
        Some(Python::Program(program)) => factory.python(Some(program.clone())),
        Some(Python::Embedded) | None => factory,
    };
    let factory = with_embedded(factory, interpreters)?;
    Ok(Kernels::new(Arc::new(factory), KernelLimits::default()))
}

/// Attaches the Python of this program, for where there is no other unless it
/// was named.
#[cfg(feature = "embedded-python")]
fn with_embedded(
    factory: ProjectInterpreters,
    interpreters: &Interpreters,
) -> anyhow::Result<ProjectInterpreters> {
    use toolset::kernel::{EmbeddedPython, EmbeddedUse};

    let when = match &interpreters.python {
        Some(Python::Program(_)) => return Ok(factory),
        Some(Python::Embedded) => EmbeddedUse::Always,
        None => EmbeddedUse::WhereNoneIsFound,
    };
    let made = match &interpreters.state {
        Some(state) => EmbeddedPython::link_in(&state.join("python")),
        None => Err(std::io::Error::other("there is no home")),
    };
    match made {
        Ok(embedded) => Ok(factory.embedded(embedded, when)),
        // The machine's own will do where there is one.
        Err(_) if when == EmbeddedUse::WhereNoneIsFound => Ok(factory),
        Err(error) => Err(error).context("cannot make a link to this program as `python3`"),
    }
}

#[cfg(all(feature = "kernel", not(feature = "embedded-python")))]
fn with_embedded(
    factory: ProjectInterpreters,
    interpreters: &Interpreters,
) -> anyhow::Result<ProjectInterpreters> {
    if interpreters.python == Some(Python::Embedded) {
        anyhow::bail!(
            "cannot use the embedded Python: this program was built without the feature `embedded-python`"
        );
    }
    Ok(factory)
}

/// Returns a folder that nobody removes, made when it is needed.
#[cfg(feature = "kernel")]
fn kept_images(interpreters: &Interpreters) -> PathBuf {
    let name = format!("toolset-images-{}", tiers::RunId::fresh());
    interpreters.temporary.join(name)
}

/// Returns the grammars compiled in, and those of the folder.
#[cfg(feature = "structural")]
fn grammars(search: &Search, workspace: &Workspace) -> anyhow::Result<Arc<dyn GrammarSource>> {
    let Some(folder) = &search.grammars else {
        return Ok(Arc::new(CompiledGrammars::new()));
    };
    #[cfg(feature = "language-pack")]
    {
        let pack = toolset::structural::LanguagePack::open(folder, workspace)?;
        Ok(Arc::new(pack))
    }
    #[cfg(not(feature = "language-pack"))]
    {
        let _ = workspace;
        anyhow::bail!(
            "cannot use the folder of grammars `{}`: this program was built without the feature `language-pack`",
            folder.display()
        )
    }
}

/// Ends the changes that earlier runs were killed in, before anything reads the
/// files, in this workspace and in those inside it. Returns what the model is to
/// know; the person is told.
///
/// A run that may not write ends none, and neither does one for files outside
/// its workspace: then it is only said.
fn recover(files: &DiskFiles, workspace: &Workspace, mode: Mode) -> Vec<String> {
    // While another run is in the middle of a change there is nothing to end.
    let files = files.clone().with_lock_wait(Duration::ZERO);
    let may_write = mode.ceiling().admits(Tier::Write);
    let mut remarks = Vec::new();
    if may_write {
        remarks.extend(end_change(&files, workspace));
    }
    for cut_off in files.cut_off_blocking(workspace) {
        let is_own = cut_off.root == workspace.root();
        let is_inside = cut_off.root.starts_with(workspace.root());
        if may_write && is_own {
            continue; // it was said why it could not be ended
        }
        if may_write
            && is_inside
            && let Ok(inner) = Workspace::open(&cut_off.root, workspace.trust())
        {
            let root = tiers::visible(&cut_off.root.to_string_lossy()).into_owned();
            remarks.extend(end_change(&files, &inner).map(|said| format!("in `{root}`: {said}")));
        } else {
            remarks.push(format!(
                "{cut_off}; a run in that folder that may write ends the change when it starts"
            ));
        }
    }
    for text in &remarks {
        remark(&format!("note: {text}"));
    }
    remarks
}

/// Ends the change of one workspace; returns what is to be said about it.
fn end_change(files: &DiskFiles, workspace: &Workspace) -> Option<String> {
    match files.recover_blocking(workspace) {
        Ok(None) | Err(host::Error::Busy { .. }) => None,
        Ok(Some(recovered)) => Some(recovered.to_string()),
        Err(error) => Some(format!("{error}; {}", error.next_step())),
    }
}
