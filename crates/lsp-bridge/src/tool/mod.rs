//! The tool `lsp`.

mod actions;
mod ask;
pub(crate) mod details;
pub(crate) mod diagnose;
mod enclosing;
mod input;
mod locations;
mod navigate;
mod references;
mod reload;
mod rename;
mod status;
mod symbol;
mod symbols;
mod words;

use std::sync::Arc;
use std::time::Duration;

use host::Workspace;
use tiers::{CallContext, Tier, ToolError, ToolOutput, ToolSpec, TypedTool};

use crate::error::Error;
use crate::port::LanguageServers;
use ask::Ask;
pub(crate) use ask::hold;
use details::Answer;
pub use details::{
    ActionDetails, DiagnosticDetails, LocationDetails, LspDetails, ServerDetails, SymbolDetails,
    VerdictDetails,
};
use input::Request;
pub use input::{LspAction, LspInput};
pub use rename::{
    LspRename, LspRenameDetails, LspRenameInput, PlaceDetails, RenameDiagnosticDetails,
    RenamedFileDetails,
};

const DESCRIPTION: &str = "Ask the language server of a file: where a symbol is declared \
(`definition`), its type (`type_definition`), its implementations, all `references`, its signature \
and documentation (`hover`), symbols of a `file` or of the workspace by `query`, quick fixes \
(`code_actions`, only listed), and the errors and warnings of a file (`diagnostics`). Say where by \
`file`, `line` and the `symbol` on that line; there is no column. `status` says which servers can \
be used and why others cannot; `reload` restarts them.";

/// How long a call may take.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LspLimits {
    /// All of it, the start of a server included; 60 s.
    pub call: Duration,
    /// How much of that may go into waiting for a server to know the whole
    /// project; 30 s.
    pub ready: Duration,
}

impl Default for LspLimits {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(60),
            ready: Duration::from_secs(30),
        }
    }
}

/// The tool `lsp`: questions to language servers.
pub struct Lsp {
    workspace: Workspace,
    servers: Arc<dyn LanguageServers>,
    limits: LspLimits,
}

impl Lsp {
    /// Builds the tool for one workspace.
    #[must_use]
    pub fn new(workspace: Workspace, servers: Arc<dyn LanguageServers>) -> Self {
        Self {
            workspace,
            servers,
            limits: LspLimits::default(),
        }
    }

    /// Sets how long a call may take.
    #[must_use]
    pub fn limits(mut self, limits: LspLimits) -> Self {
        self.limits = limits;
        self
    }

    async fn answer(&self, request: Request, ask: &Ask<'_>) -> Result<Answer, Error> {
        match request {
            Request::Navigate { to, place } => navigate::answer(to, &place, ask).await,
            Request::References(place) => references::answer(&place, ask).await,
            Request::Hover(place) => navigate::hover(&place, ask).await,
            Request::Actions(place) => actions::answer(&place, ask).await,
            Request::FileSymbols(file) => symbols::of_file(&file, ask).await,
            Request::FindSymbols { query, file } => {
                symbols::by_query(&query, file.as_ref(), ask).await
            }
            Request::Diagnostics(file) => diagnose::answer(&file, ask).await,
            Request::Status(file) => status::answer(file.as_ref(), ask).await,
            Request::Reload(file) => reload::answer(file.as_ref(), ask).await,
        }
    }
}

impl TypedTool for Lsp {
    type Input = LspInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<LspInput>("lsp", Tier::Read, "Language server", DESCRIPTION)
            .with_details::<LspDetails>()
    }

    async fn call(&self, input: LspInput, context: &CallContext) -> Result<ToolOutput, ToolError> {
        let request = Request::parse(input, &self.workspace)?;
        let ask = Ask::new(&self.workspace, &*self.servers, &self.limits, context);
        // Dropping what waits tells the server.
        let answer = tokio::select! {
            biased;
            () = context.token().cancelled() => Err(Error::Cancelled),
            answer = self.answer(request, &ask) => answer,
        };
        answer?.into_output()
    }
}
