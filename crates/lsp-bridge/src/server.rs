//! One running server: its process, what it said, its documents.

mod in_step;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use host::process::{CaptureLimits, Child, ChildCommand, Input, Output, ShutdownPlan};
use serde_json::{Value, json};
use tiers::Trust;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

use crate::capabilities::{self, Capabilities, Registrations};
use crate::client::{Client, OUTPUT_CLOSED, Peer, RequestError};
use crate::documents::{Document, Documents};
use crate::encoding::PositionEncoding;
use crate::error::{Ending, Error};
use crate::plan::{self, Plan};
use crate::readiness::{self, Readiness};
use crate::row::{Diagnostics, Ready};
use crate::secrets::redact;
use crate::seen::{Seen, workspace_folders};
use crate::tree::Interest;
use crate::uri;
pub(crate) use in_step::{Look, Written};
use in_step::{Table, sweep};

/// What is kept of standard error.
const STDERR: CaptureLimits = CaptureLimits {
    head: 0,
    tail: 64 * 1024,
};
/// How long the exit of a server may take to be known once its output closed.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// The actions of the tool, with their methods and providers.
const OFFERS: &[(&str, &str, &str)] = &[
    (
        "definition",
        "textDocument/definition",
        "definitionProvider",
    ),
    (
        "type_definition",
        "textDocument/typeDefinition",
        "typeDefinitionProvider",
    ),
    (
        "implementation",
        "textDocument/implementation",
        "implementationProvider",
    ),
    (
        "references",
        "textDocument/references",
        "referencesProvider",
    ),
    ("hover", "textDocument/hover", "hoverProvider"),
    (
        "symbols (file)",
        "textDocument/documentSymbol",
        "documentSymbolProvider",
    ),
    (
        "symbols (query)",
        "workspace/symbol",
        "workspaceSymbolProvider",
    ),
    (
        "code_actions",
        "textDocument/codeAction",
        "codeActionProvider",
    ),
];

/// A server that can be talked to. Dropping it shuts it down.
pub(crate) struct Server {
    plan: Plan,
    client: Client,
    child: Child,
    seen: Arc<Seen>,
    capabilities: Capabilities,
    encoding: PositionEncoding,
    /// Name and version, where it says so.
    name: String,
    interest: Interest,
    table: AsyncMutex<Table>,
    open_documents: AtomicUsize,
    started: Instant,
    /// When the process was about to start, as files count time.
    started_at: SystemTime,
    opened: OnceLock<Instant>,
    activity: Mutex<Activity>,
    /// Which edits the last check of the files has seen.
    checked: AsyncMutex<Option<u64>>,
}

#[derive(Debug, Clone, Copy)]
struct Activity {
    users: usize,
    last_used: Instant,
    latency: Option<Duration>,
}

/// Keeps a server from being taken for idle.
pub(crate) struct InUse {
    server: Arc<Server>,
}

impl Server {
    /// Starts the process and introduces us.
    pub(crate) async fn start(plan: Plan, limit: Duration) -> Result<Self, Error> {
        let deadline = Instant::now() + limit;
        let interest = plan.row.interest();
        // Before the server reads anything: what changes later, it hears of.
        let tree = sweep(plan.root.absolute().to_owned(), interest.clone()).await;
        let started_at = SystemTime::now();
        let command = ChildCommand::new(&plan.program.path, &plan.directory)
            .args(plan.row.command.iter().skip(1))
            .environment(plan.environment.clone())
            .stdin(Input::Piped)
            .stdout(Output::Piped)
            .stderr(Output::Captured(STDERR))
            .mark_descendants()
            .shutdown(farewell());
        let mut child = command.start().await?;
        let (Some(input), Some(output)) = (child.take_stdin(), child.take_stdout()) else {
            return Err(Error::BadStart {
                server: plan.row.id.clone(),
                why: "it has no standard input or output".to_owned(),
                stderr: String::new(),
            });
        };
        let settings = plan.settings.clone();
        let mut seen = Seen::new(plan.root.absolute().to_owned(), settings);
        if let Ready::Log(line) = &plan.row.ready {
            seen = seen.listening_for(line);
        }
        let seen = Arc::new(seen);
        let client = Client::start(output, input, Arc::clone(&seen) as Arc<dyn Peer>);
        let reply = client
            .request("initialize", &introduction(&plan), deadline)
            .await;
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => return Err(failed_start(&plan, &child, error, limit).await),
        };
        let capabilities = reply.get("capabilities").cloned().unwrap_or_default();
        let capabilities = Capabilities::new(capabilities);
        let bad = |why: String, child: &Child| Error::BadStart {
            server: plan.row.id.clone(),
            why,
            stderr: redact(&child.stderr().to_text(), &plan.environment),
        };
        let encoding = capabilities.encoding().map_err(|name| {
            let why = format!("it counts columns in `{name}`, which was not offered");
            bad(why, &child)
        })?;
        if let Err(error) = client.notify("initialized", &json!({})) {
            return Err(bad(error.to_string(), &child));
        }
        let now = Instant::now();
        Ok(Self {
            name: name_of(&reply, &plan.row.id),
            plan,
            client,
            child,
            seen,
            capabilities,
            encoding,
            interest,
            table: AsyncMutex::new(Table {
                documents: Documents::default(),
                tree,
            }),
            open_documents: AtomicUsize::new(0),
            started: now,
            started_at,
            opened: OnceLock::new(),
            activity: Mutex::new(Activity {
                users: 0,
                last_used: now,
                latency: None,
            }),
            checked: AsyncMutex::new(None),
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.plan.row.id
    }

    /// Returns the name of the server of this root.
    pub(crate) fn label(&self) -> String {
        plan::label(self.id(), &self.plan.root)
    }

    /// Returns name and version as the server gives them, else its id.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn encoding(&self) -> PositionEncoding {
        self.encoding
    }

    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    pub(crate) fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns how it is asked for diagnostics.
    pub(crate) fn diagnostics(&self) -> Diagnostics {
        self.plan.row.diagnostics
    }

    /// Returns what its diagnostics lack because nobody vouches for the workspace.
    pub(crate) fn lacks(&self) -> Option<&str> {
        let lacks = self.plan.row.untrusted.lacks.as_str();
        let is_untrusted = self.plan.root.workspace().trust() == Trust::Untrusted;
        (is_untrusted && !lacks.is_empty()).then_some(lacks)
    }

    /// Returns which edits the last check of the files has seen; whoever holds
    /// it has the files checked.
    pub(crate) fn checked(&self) -> &AsyncMutex<Option<u64>> {
        &self.checked
    }

    /// Returns whether all is as it was before the process started: whatever it
    /// says is about that.
    pub(crate) async fn has_seen_no_edit(&self, document: &Document) -> bool {
        self.edits().await == 0 && document.is_older_than(self.started_at)
    }

    /// Returns how often the server was told of something that changed.
    pub(crate) async fn edits(&self) -> u64 {
        self.table.lock().await.documents.edits()
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: &Value) -> Result<(), Error> {
        let sent = self.client.notify(method, params);
        sent.map_err(|error| {
            Error::of_request(self.id(), method, error, String::new(), || Ending {
                exit: self.child.exit_watch().exit(),
                stderr: self.stderr(),
            })
        })
    }

    pub(crate) fn registrations(&self) -> &Registrations {
        &self.seen.registrations
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Returns the memory of the process and its descendants, in bytes, where the
    /// system says it.
    pub(crate) fn resident_bytes(&self) -> Option<u64> {
        self.child.resident_bytes()
    }

    pub(crate) fn open_documents(&self) -> usize {
        self.open_documents.load(Ordering::Relaxed)
    }

    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns how long the last answer took.
    pub(crate) fn latency(&self) -> Option<Duration> {
        self.activity().latency
    }

    /// Returns whether the server offers a method, by its provider or by a
    /// later registration.
    pub(crate) fn offers(&self, method: &str, provider: &str) -> bool {
        self.capabilities.provides(provider) || !self.registrations().of(method).is_empty()
    }

    /// Returns for each action of the tool whether it can be asked, without a
    /// request that fails.
    pub(crate) fn offered(&self) -> Vec<(&'static str, Result<(), &'static str>)> {
        let offers = OFFERS.iter().map(|(action, method, provider)| {
            let offered = self.offers(method, provider);
            (
                *action,
                if offered {
                    Ok(())
                } else {
                    Err("the server does not offer it")
                },
            )
        });
        let mut offers: Vec<_> = offers.collect();
        let pulls = self.diagnostics() == Diagnostics::Tsserver
            || self.offers("textDocument/diagnostic", "diagnosticProvider");
        let by_push = Err("only when the server publishes them");
        offers.push(("diagnostics", if pulls { Ok(()) } else { by_push }));
        offers
    }

    /// Keeps the server busy until the result is dropped.
    pub(crate) fn enter(self: &Arc<Self>) -> InUse {
        self.touch(|activity| activity.users += 1);
        InUse {
            server: Arc::clone(self),
        }
    }

    /// Returns for how long nobody has needed it; `None` while it is busy.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        let activity = self.activity();
        let is_busy =
            activity.users > 0 || self.client.in_flight() > 0 || !self.seen.working().is_empty();
        (!is_busy).then(|| activity.last_used.elapsed())
    }

    /// Returns something that tells when, and why, the conversation is over.
    pub(crate) fn closed(&self) -> tokio::sync::watch::Receiver<Option<Arc<str>>> {
        self.client.closed()
    }

    /// Waits until the conversation is over.
    pub(crate) async fn wait_until_closed(&self) {
        // An error means that it is over too.
        let _ = self.closed().wait_for(Option::is_some).await.map(drop);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Returns the end of what it wrote to standard error, without secrets.
    pub(crate) fn stderr(&self) -> String {
        redact(&self.child.stderr().to_text(), &self.plan.environment)
    }

    /// Sends a request and waits for its result until `deadline`.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: &Value,
        deadline: Instant,
    ) -> Result<Value, Error> {
        let start = Instant::now();
        let reply = self.client.request(method, params, deadline).await;
        match reply {
            Ok(reply) => {
                self.touch(|activity| activity.latency = Some(start.elapsed()));
                Ok(reply)
            }
            Err(error) => Err(self.failure(method, error).await),
        }
    }

    /// Says how it ended, once its output closed.
    pub(crate) async fn last_words(&self) -> String {
        let why = self.closed().borrow().clone();
        let error = RequestError::Closed {
            why: why.unwrap_or_else(|| OUTPUT_CLOSED.into()),
        };
        self.failure("", error).await.describe()
    }

    async fn failure(&self, method: &str, error: RequestError) -> Error {
        if matches!(error, RequestError::Closed { .. }) {
            wait_for_end(&self.child).await;
        }
        let doing = match self.readiness() {
            Readiness::Loading { .. } => format!("it was {}", self.readiness().describe()),
            Readiness::Proven | Readiness::Assumed | Readiness::Never(_) => String::new(),
        };
        Error::of_request(self.id(), method, error, doing, || Ending {
            exit: self.child.exit_watch().exit(),
            stderr: self.stderr(),
        })
    }

    /// Returns the language of a file; `None` where the server has none for it.
    pub(crate) fn language(&self, path: &Path) -> Option<&str> {
        self.plan.row.language(path)
    }

    /// Looks at whether the server knows the whole project.
    pub(crate) fn readiness(&self) -> Readiness {
        readiness::look(
            &self.plan.row.ready,
            self.plan.root.absolute(),
            &self.seen,
            self.started,
            self.opened.get().copied(),
        )
    }

    /// Waits until the server knows the project, or until `deadline`; tells
    /// `progress` what goes on.
    pub(crate) async fn wait_until_ready(
        &self,
        deadline: Instant,
        mut progress: impl FnMut(&Readiness),
    ) -> Readiness {
        let mut changes = self.seen.changes();
        let mut last = None;
        loop {
            changes.mark_unchanged();
            let readiness = self.readiness();
            let Readiness::Loading { look_again, .. } = &readiness else {
                return readiness;
            };
            if Instant::now() >= deadline || self.is_closed() {
                return readiness;
            }
            if last.as_ref() != Some(&readiness) {
                progress(&readiness);
            }
            let until = look_again.map_or(deadline, |again| again.min(deadline));
            last = Some(readiness);
            tokio::select! {
                _ = changes.changed() => {}
                () = self.wait_until_closed() => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }

    fn activity(&self) -> Activity {
        *self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, change: impl FnOnce(&mut Activity)) {
        let mut activity = self.activity.lock().unwrap_or_else(PoisonError::into_inner);
        activity.last_used = Instant::now();
        change(&mut activity);
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("id", &self.id())
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

impl std::ops::Deref for InUse {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.server.touch(|activity| activity.users -= 1);
    }
}

/// `shutdown` comes before `exit`: some servers do not end without it. Both are
/// sent at once, since a server answers in order.
fn farewell() -> ShutdownPlan {
    let frame = |message: Value| {
        let text = message.to_string();
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    };
    let shutdown = json!({ "jsonrpc": "2.0", "id": "shutdown", "method": "shutdown" });
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
    let words = frame(shutdown) + &frame(exit);
    ShutdownPlan::kill()
        .then_send(words.into_bytes(), Duration::from_secs(2))
        .then_close_stdin(Duration::from_millis(500))
        .then_terminate(Duration::from_secs(1))
}

fn introduction(plan: &Plan) -> Value {
    let root = plan.root.absolute();
    let mut params = json!({
        // Ours: a server ends when we do.
        "processId": std::process::id(),
        "clientInfo": { "name": "toolset", "version": env!("CARGO_PKG_VERSION") },
        "rootPath": root.to_string_lossy(),
        "rootUri": uri::from_path(root),
        "workspaceFolders": workspace_folders(root),
        "capabilities": capabilities::of_client(),
    });
    if let (Some(params), false) = (params.as_object_mut(), plan.initialization.is_null()) {
        let options = plan.initialization.clone();
        params.insert("initializationOptions".to_owned(), options);
    }
    params
}

/// Waits until exit and last words of a child are known, or a moment.
async fn wait_for_end(child: &Child) {
    let _ = tokio::time::timeout(EXIT_GRACE, child.wait_for_exit()).await;
    let stderr = child.stderr().clone();
    let _ = tokio::time::timeout(EXIT_GRACE, stderr.wait_until_closed()).await;
}

async fn failed_start(plan: &Plan, child: &Child, error: RequestError, limit: Duration) -> Error {
    let server = plan.row.id.clone();
    if matches!(error, RequestError::Closed { .. }) {
        wait_for_end(child).await;
    }
    let stderr = redact(&child.stderr().to_text(), &plan.environment);
    match error {
        RequestError::Timeout { .. } => Error::NotInitialized {
            server,
            limit,
            stderr,
        },
        RequestError::Closed { why } => match child.exit_watch().exit() {
            // One that we hung up on may die of that, which is not the reason.
            Some(exit) if &*why == OUTPUT_CLOSED => Error::EndedAtStart {
                server,
                exit: Some(exit),
                stderr,
            },
            Some(_) | None => Error::BadStart {
                server,
                why: why.to_string(),
                stderr,
            },
        },
        error @ (RequestError::Refused(_) | RequestError::NotReading { .. }) => Error::BadStart {
            server,
            why: error.to_string(),
            stderr,
        },
    }
}

fn name_of(reply: &Value, id: &str) -> String {
    let text = |name| reply.get("serverInfo")?.get(name)?.as_str();
    match (text("name"), text("version")) {
        (Some(name), Some(version)) => format!("{name} {version}"),
        (Some(name), None) => name.to_owned(),
        (None, _) => id.to_owned(),
    }
}
