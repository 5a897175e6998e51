//! One connection: the messages of a client, one run, and its end.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use host::Workspace;
use host::framing::{FrameError, FrameReader, Framing};
use serde_json::{Value, json};
use tiers::{Call, CallId, Dispatch as _, EventQueue, EventSink, Tool};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use toolset::Toolset;

use super::message::{self, Fault, Id, Incoming, RpcError};
use super::methods::{CallTool, Cancel, Initialize, List, Nothing, PROTOCOL_VERSION, read};
use super::peer::Peer;
use super::ports::{ClientApprover, ClientTool, OpenCalls};
use crate::assemble::{self, Attachments, Settings};
use crate::wire;

/// Bytes of one line of input.
const MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// Calls that run or wait at once, nested ones included.
const OPEN_CALLS: usize = 256;
/// Events that wait to be written; past this only output pieces are dropped.
const QUEUED_EVENTS: usize = 1024;

/// How long a client that is told to go may take to read what waits for it.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What comes after a message.
enum Next {
    Continue,
    /// The client asked for the end in the request with this id.
    End(Id),
}

/// Serves one client until it says `shutdown`, closes its end, or `stop` is cancelled.
pub(crate) async fn serve(
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    settings: Settings,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let events = EventQueue::new(QUEUED_EVENTS);
    let (peer, outbox) = Peer::new(Arc::clone(&events));
    let gone = stop.clone();
    let writer = tokio::spawn(async move {
        let too_late = async {
            gone.cancelled().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        // Dropping the outbox ends everything that waits to send.
        let written = tokio::select! {
            written = outbox.write_to(output) => written,
            () = too_late => Ok(()),
        };
        // Nobody reads any more: there is nobody to work for.
        gone.cancel();
        written
    });
    let mut session = Session {
        settings,
        peer,
        events,
        run: None,
        calls: JoinSet::new(),
        tokens: Tokens::default(),
        open: OpenCalls::default(),
    };
    let asked_by = session.read_all(input, &stop).await;
    session.end(asked_by?).await;
    match writer.await {
        Ok(Ok(())) => Ok(()),
        // The client is gone, and that is how it ends a connection.
        Ok(Err(FrameError::Io(error))) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Ok(Err(error)) => Err(std::io::Error::other(error)),
        Err(error) => Err(std::io::Error::other(error)),
    }
}

/// The cancellation tokens of running calls.
#[derive(Debug, Clone, Default)]
struct Tokens(Arc<Mutex<HashMap<String, CancellationToken>>>);

impl Tokens {
    /// Adds a call; `None` if one of that id is running.
    fn add(&self, call: &str) -> Option<CancellationToken> {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tokens.contains_key(call) {
            return None;
        }
        let token = CancellationToken::new();
        tokens.insert(call.to_owned(), token.clone());
        Some(token)
    }

    fn cancel(&self, call: &str) -> bool {
        let tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.get(call).map(CancellationToken::cancel).is_some()
    }

    fn remove(&self, call: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(call);
    }
}

struct Session {
    settings: Settings,
    peer: Peer,
    events: Arc<EventQueue>,
    run: Option<Toolset>,
    calls: JoinSet<()>,
    tokens: Tokens,
    open: OpenCalls,
}

impl Session {
    async fn read_all(
        &mut self,
        input: impl AsyncRead + Unpin,
        stop: &CancellationToken,
    ) -> std::io::Result<Option<Id>> {
        let mut input = FrameReader::with_limit(input, Framing::NewlineJson, MESSAGE_BYTES);
        loop {
            let line = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(None),
                line = input.next() => line,
            };
            // Calls that are done leave room for others.
            while self.calls.try_join_next().is_some() {}
            let incoming = match line {
                // A client that was killed stops in the middle of a line.
                Ok(None) | Err(FrameError::Truncated { .. }) => return Ok(None),
                Ok(Some(line)) => message::read(&line),
                Err(FrameError::TooLarge { .. }) => {
                    let error = Fault::MessageTooLong
                        .error(format!(
                            "a line is too long; the most is {MESSAGE_BYTES} bytes"
                        ))
                        .with("limit", json!(MESSAGE_BYTES));
                    Incoming::Malformed {
                        id: None,
                        error,
                        is_answer: false,
                    }
                }
                Err(error) => return Err(std::io::Error::other(error)),
            };
            if let Next::End(id) = self.handle(incoming).await {
                return Ok(Some(id));
            }
        }
    }

    async fn handle(&mut self, incoming: Incoming) -> Next {
        match incoming {
            Incoming::Malformed {
                id,
                error,
                is_answer,
            } => {
                if let (Some(id), true) = (&id, is_answer) {
                    // The call that waits for it must not wait on.
                    self.peer.answer(id, Err(error.clone()));
                }
                self.peer
                    .send(message::response(id.as_ref(), Err(error)))
                    .await;
            }
            Incoming::Response { id, outcome } => self.peer.answer(&id, outcome),
            Incoming::Notification { method, params } => {
                // The only notification with a meaning; others may be from a later version.
                if method == "tools/cancel"
                    && let Ok(cancel) = read::<Cancel>(&method, params)
                {
                    self.tokens.cancel(&cancel.call);
                }
            }
            Incoming::Request { id, method, params } => {
                if method == "shutdown" {
                    match read::<Nothing>(&method, params) {
                        Ok(Nothing {}) => return Next::End(id),
                        Err(error) => {
                            self.peer
                                .send(message::response(Some(&id), Err(error)))
                                .await;
                        }
                    }
                } else if method == "tools/call" {
                    if let Err(error) = self.call(&id, &method, params) {
                        self.peer
                            .send(message::response(Some(&id), Err(error)))
                            .await;
                    }
                } else {
                    let outcome = self.answer(&method, params);
                    self.peer.send(message::response(Some(&id), outcome)).await;
                }
            }
        }
        Next::Continue
    }

    /// Answers the methods that need no waiting.
    fn answer(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        match method {
            "initialize" => self.initialize(read(method, params)?),
            "tools/list" => {
                let list: List = read(method, params)?;
                let specs = self.toolset()?.registry().specs();
                let tools: Vec<Value> = specs.iter().map(|spec| list.dialect.spec(spec)).collect();
                Ok(json!({ "tools": tools }))
            }
            "tools/cancel" => {
                let cancel: Cancel = read(method, params)?;
                self.toolset()?;
                Ok(json!({ "cancelled": self.tokens.cancel(&cancel.call) }))
            }
            _ => Err(Fault::UnknownMethod
                .error(format!("no method `{method}`"))
                .with(
                    "methods",
                    json!([
                        "initialize",
                        "tools/list",
                        "tools/call",
                        "tools/cancel",
                        "shutdown"
                    ]),
                )),
        }
    }

    fn toolset(&self) -> Result<&Toolset, RpcError> {
        self.run
            .as_ref()
            .ok_or_else(|| Fault::NotInitialized.error("send `initialize` before anything else"))
    }

    fn initialize(&mut self, params: Initialize) -> Result<Value, RpcError> {
        if self.run.is_some() {
            return Err(Fault::AlreadyInitialized.error("one connection has one run"));
        }
        if params.protocol_version != PROTOCOL_VERSION {
            let version = params.protocol_version;
            return Err(Fault::UnsupportedVersion
                .error(format!("protocol version {version} is not spoken here"))
                .with("supported", json!([PROTOCOL_VERSION])));
        }
        if let Some(client) = &params.client {
            tracing::info!(client = %client.name, version = ?client.version, "initialize");
        }
        let workspace = Workspace::open(&params.workspace, params.trust)
            .map_err(|error| Fault::Workspace.error(error.to_string()))?;
        let tools = params.tools.into_iter().map(|spec| {
            Arc::new(ClientTool::new(spec, &workspace, &self.peer, &self.open)) as Arc<dyn Tool>
        });
        let attachments = Attachments {
            file_tools: params.file_tools,
            settings: self.settings.clone(),
            is_one_call: false,
            tools: tools.collect(),
            guardrail: (!params.guardrails.is_empty()).then(|| Arc::new(params.guardrails) as _),
            approver: params
                .approver
                .then(|| Arc::new(ClientApprover::new(&self.peer)) as _),
            events: params
                .events
                .then(|| Arc::clone(&self.events) as Arc<dyn EventSink>),
        };
        let toolset = assemble::assemble(workspace, params.mode, attachments)
            .map_err(|error| Fault::InvalidParams.error(error.to_string()))?;
        let run = toolset.registry().run();
        let result = json!({
            "protocol_version": PROTOCOL_VERSION,
            "server": { "name": "toolset", "version": env!("CARGO_PKG_VERSION") },
            "run": run.id(),
            "workspace": run.workspace_root(),
            "trust": run.trust(),
            "mode": run.mode(),
            "ceiling": run.ceiling(),
            "withheld": toolset.registry().withheld(),
            "limits": {
                "message_bytes": MESSAGE_BYTES,
                "open_calls": OPEN_CALLS,
                "queued_events": QUEUED_EVENTS,
            },
        });
        self.run = Some(toolset);
        Ok(result)
    }

    /// Starts a call; its answer comes when it is done.
    fn call(&mut self, id: &Id, method: &str, params: Value) -> Result<(), RpcError> {
        let registry = self.toolset()?.registry().clone();
        let params: CallTool = read(method, params)?;
        if self.calls.len() >= OPEN_CALLS {
            return Err(Fault::Busy
                .error(format!(
                    "{OPEN_CALLS} calls are open; wait until one is done"
                ))
                .with("limit", json!(OPEN_CALLS)));
        }
        let call_id = params.call.clone().map_or_else(CallId::fresh, CallId::from);
        let Some(token) = self.tokens.add(call_id.as_str()) else {
            return Err(Fault::InvalidParams.error(format!("a call `{call_id}` is running")));
        };
        let timeout = params.timeout();
        let CallTool {
            name,
            arguments,
            parent,
            dialect,
            ..
        } = params;
        let mut call = Call::new(name.clone(), arguments)
            .with_id(call_id.clone())
            .with_token(token);
        if let Some(timeout) = timeout {
            call = call.within(timeout);
        }
        let outer = match &parent {
            None => None,
            Some(parent) => match self.open.get(parent) {
                Some(context) => Some(context.dispatch()),
                None => {
                    self.tokens.remove(call_id.as_str());
                    return Err(Fault::InvalidParams.error(format!(
                        "`parent`: no call `{parent}` of a tool of yours is running"
                    )));
                }
            },
        };
        let (peer, tokens, id) = (self.peer.clone(), self.tokens.clone(), id.clone());
        self.calls.spawn(async move {
            let result = match outer {
                Some(outer) => outer.dispatch_call(call).await,
                None => registry.dispatch_call(call).await,
            };
            tokens.remove(call_id.as_str());
            let mut answer = wire::result(&result);
            if let Value::Object(fields) = &mut answer {
                fields.insert("call".to_owned(), json!(call_id));
                if let Some(rendered) = dialect.rendered(&result, call_id.as_str(), &name) {
                    fields.insert("rendered".to_owned(), rendered);
                }
            }
            peer.send(message::response(Some(&id), Ok(answer))).await;
        });
        Ok(())
    }

    /// Ends the run: cancels its calls, waits for them, and cleans up.
    async fn end(mut self, asked_by: Option<Id>) {
        if let Some(toolset) = &self.run {
            toolset.registry().run().token().cancel();
        }
        // After that: a call that waits for the client is cancelled, and not
        // told that the client is gone.
        self.peer.hang_up();
        if let Some(toolset) = self.run.take() {
            while self.calls.join_next().await.is_some() {}
            toolset.registry().run().end().await;
        }
        if let Some(id) = asked_by {
            self.peer
                .send(message::response(Some(&id), Ok(Value::Null)))
                .await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;

    #[tokio::test]
    async fn a_client_that_reads_nothing_does_not_hold_up_the_end() {
        let (mut client, input) = tokio::io::duplex(1024 * 1024);
        let (output, _unread) = tokio::io::duplex(16);
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(input, output, Settings::default(), stop.clone()));
        let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
        client
            .write_all(line.repeat(1_000).as_bytes())
            .await
            .unwrap();
        stop.cancel();
        tokio::time::timeout(LAST_WORDS * 10, serving)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
    }

    #[tokio::test]
    async fn an_answer_that_is_no_message_fails_the_call_that_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let (mut client, input) = tokio::io::duplex(1024 * 1024);
        let (output, answers) = tokio::io::duplex(1024 * 1024);
        let serving = tokio::spawn(serve(
            input,
            output,
            Settings::default(),
            CancellationToken::new(),
        ));
        let mut lines = BufReader::new(answers).lines();
        let schema = json!({
            "type": "object", "properties": {}, "required": [], "additionalProperties": false,
        });
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocol_version": 1, "workspace": folder.path(), "trust": "untrusted",
                "mode": "plan", "tools": [{"name": "mine", "description": "Mine.",
                "tier": "read", "input_schema": schema}]}}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "mine"}}),
            json!({"jsonrpc": "2.0", "id": "s1", "error": "no object"}),
        ] {
            while message.get("error").is_some() {
                // The question comes first.
                let line = lines.next_line().await.unwrap().unwrap();
                if line.contains("client/tool") {
                    break;
                }
            }
            client
                .write_all(format!("{message}\n").as_bytes())
                .await
                .unwrap();
        }
        let answer = loop {
            let line = lines.next_line().await.unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == json!(2) {
                break message;
            }
        };
        assert_eq!(answer["result"]["error"]["kind"], json!("failed"));
        drop(client);
        serving.await.unwrap().unwrap();
    }
}
