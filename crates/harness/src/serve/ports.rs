//! The ports a client brings: its own tools, its approver, its rules.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use host::Workspace;
use serde::Deserialize;
use serde_json::{Value, json};
use tiers::{
    Admission, Approval, ApprovalRequest, Approver, CallContext, Concurrency, Decision,
    GateRequest, Group, Guardrail, Tier, Tool, ToolError, ToolOutput, ToolSpec,
};

use super::peer::Peer;
use crate::wire;

/// The calls that the client runs now: it may call tools nested in them.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenCalls {
    contexts: Arc<Mutex<HashMap<String, CallContext>>>,
}

impl OpenCalls {
    /// Returns the context of a call that the client runs.
    pub(crate) fn get(&self, call: &str) -> Option<CallContext> {
        self.contexts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(call)
            .cloned()
    }

    fn open(&self, context: &CallContext) -> OpenGuard {
        let call = context.call_id().as_str().to_owned();
        let mut contexts = self.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        contexts.insert(call.clone(), context.clone());
        OpenGuard {
            calls: self.clone(),
            call,
        }
    }
}

struct OpenGuard {
    calls: OpenCalls,
    call: String,
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        let mut contexts = self
            .calls
            .contexts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        contexts.remove(&self.call);
    }
}

/// A tool of the client, as it describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientToolSpec {
    name: String,
    title: Option<String>,
    description: String,
    tier: Tier,
    input_schema: Value,
    details_schema: Option<Value>,
    #[serde(default)]
    concurrency: ClientConcurrency,
    /// Names of the arguments that hold paths which a call writes.
    #[serde(default)]
    path_arguments: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClientConcurrency {
    #[default]
    Parallel,
    Serial,
}

/// A tool that the client runs.
#[derive(Debug)]
pub(crate) struct ClientTool {
    spec: ToolSpec,
    group: Option<Arc<Group>>,
    path_arguments: Vec<String>,
    workspace: Workspace,
    peer: Peer,
    open: OpenCalls,
}

impl ClientTool {
    pub(crate) fn new(
        described: ClientToolSpec,
        workspace: &Workspace,
        peer: &Peer,
        open: &OpenCalls,
    ) -> Self {
        let title = described.title.unwrap_or_else(|| described.name.clone());
        let mut spec = ToolSpec::from_schema(
            &described.name,
            described.tier,
            &title,
            &described.description,
            described.input_schema,
        );
        spec.details_schema = described.details_schema;
        let group = match described.concurrency {
            ClientConcurrency::Parallel => None,
            ClientConcurrency::Serial => {
                spec.concurrency = Concurrency::Serial;
                Some(Group::new(described.name))
            }
        };
        Self {
            spec,
            group,
            path_arguments: described.path_arguments,
            workspace: workspace.clone(),
            peer: peer.clone(),
            open: open.clone(),
        }
    }

    /// Holds `touched` to paths of the workspace, and writes each in one way.
    ///
    /// What the tool did is done: an error carries its output.
    fn confined(&self, mut output: ToolOutput) -> Result<ToolOutput, ToolError> {
        let mut touched = Vec::new();
        for path in std::mem::take(&mut output.touched) {
            match self.workspace.resolve(&path) {
                Ok(inside) => touched.push(inside.relative().to_owned()),
                Err(error) => {
                    let name = &self.spec.name;
                    return Err(ToolError::failed(format!(
                        "`{name}` gave a result that cannot be used"
                    ))
                    .why(format!(
                        "a path in `touched` is none of the workspace: {error}"
                    ))
                    .next("take what it did as done, and tell the user of this mistake in it")
                    .with_partial(output.with_touched(touched)));
                }
            }
        }
        Ok(output.with_touched(touched))
    }
}

#[async_trait]
impl Tool for ClientTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Each argument that holds a path, or a list of them.
    fn paths(&self, args: &Value) -> Vec<String> {
        let named = self.path_arguments.iter();
        let values = named.filter_map(|name| args.get(name));
        let paths = values.flat_map(|value| match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        });
        let paths = paths.filter_map(Value::as_str);
        paths.map(str::to_owned).collect()
    }

    fn admission(&self, _args: &Value) -> Admission {
        match &self.group {
            Some(group) => Admission::Serial(Arc::clone(group)),
            None => Admission::Parallel,
        }
    }

    async fn call(&self, args: Value, context: &CallContext) -> Result<ToolOutput, ToolError> {
        let name = &self.spec.name;
        let _open = self.open.open(context);
        let left = context.deadline().map(|deadline| {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
        });
        let id = self.peer.next_id();
        let params = json!({
            "call": context.call_id(),
            "parents": context.parents(),
            "name": name,
            "arguments": args,
            "timeout_ms": left,
        });
        tokio::select! {
            biased;
            () = context.token().cancelled() => {
                let params = json!({ "request": id.to_value(), "call": context.call_id() });
                self.peer.try_notify("client/cancel", params);
                Err(ToolError::cancelled(format!("`{name}` was cancelled")))
            }
            answer = self.peer.request(&id, "client/tool", params) => {
                self.confined(wire::read_result(name, answer?)?)
            }
        }
    }
}

/// Asks the client's approver.
#[derive(Debug)]
pub(crate) struct ClientApprover {
    peer: Peer,
}

impl ClientApprover {
    pub(crate) fn new(peer: &Peer) -> Self {
        Self { peer: peer.clone() }
    }
}

/// Tells the client that a question needs no answer any more.
struct Withdraw<'a> {
    peer: &'a Peer,
    params: Option<Value>,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if let Some(params) = self.params.take() {
            self.peer.try_notify("client/cancel", params);
        }
    }
}

#[async_trait]
impl Approver for ClientApprover {
    async fn approve(&self, request: ApprovalRequest) -> Result<Approval, ToolError> {
        let id = self.peer.next_id();
        let mut withdraw = Withdraw {
            peer: &self.peer,
            params: Some(json!({ "request": id.to_value(), "call": request.call })),
        };
        let params = json!({
            "call": request.call,
            "parents": request.parents,
            "name": request.tool,
            "tier": request.tier,
            "arguments": request.args,
            "paths": request.paths,
            "question": request.question,
        });
        let answer = self.peer.request(&id, "client/approve", params).await;
        withdraw.params = None;
        serde_json::from_value(answer?).map_err(|error| {
            ToolError::failed("the approver's answer cannot be used")
                .why("it is neither {\"answer\": \"yes\"} nor {\"answer\": \"no\"}")
                .source(error)
        })
    }
}

/// The client's rules about which calls may run: the first that fits decides.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// Fits these tools; all where absent.
    tools: Option<Vec<String>>,
    /// Fits these tiers; all where absent.
    tiers: Option<Vec<Tier>>,
    decision: RuleDecision,
    /// The reason of a denial, the question of a prompt.
    message: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RuleDecision {
    Allow,
    Deny,
    Prompt,
}

impl Rules {
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl Rule {
    fn fits(&self, tool: &ToolSpec) -> bool {
        self.tools
            .as_ref()
            .is_none_or(|names| names.contains(&tool.name))
            && self
                .tiers
                .as_ref()
                .is_none_or(|tiers| tiers.contains(&tool.tier))
    }
}

impl Guardrail for Rules {
    fn decide(&self, request: &GateRequest<'_>) -> Decision {
        let tool = request.tool;
        let Some(rule) = self.rules.iter().find(|rule| rule.fits(tool)) else {
            return Decision::Allow;
        };
        let message = |default: String| rule.message.clone().unwrap_or(default);
        match rule.decision {
            RuleDecision::Allow => Decision::Allow,
            RuleDecision::Deny => Decision::Deny {
                reason: message(format!("the harness does not allow `{}`", tool.name)),
            },
            RuleDecision::Prompt => Decision::Prompt {
                question: message(format!("may `{}` run?", tool.name)),
            },
        }
    }
}
