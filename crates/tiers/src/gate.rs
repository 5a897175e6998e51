//! The gate in front of a call: allow, deny or prompt.
//!
//! It is separate from tiers: a tier decides whether a surface sees a tool at
//! all, the gate whether one call of a visible tool may run. It stands before
//! every call, nested ones too.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, Run, RunId, Tier, ToolError, ToolSpec};

/// What a guardrail says about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow,
    /// It may not.
    Deny {
        /// Why; the model reads it.
        reason: String,
    },
    /// A person decides.
    Prompt {
        /// What to ask.
        question: String,
    },
}

/// The call a guardrail decides about.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GateRequest<'a> {
    /// The run the call belongs to.
    pub run: &'a Run,
    /// The call.
    pub call: &'a CallId,
    /// The calls it is nested in, outermost first.
    pub parents: &'a [CallId],
    /// The tool, with its tier.
    pub tool: &'a ToolSpec,
    /// The arguments, already checked against the schema.
    pub args: &'a Value,
    /// Workspace paths the call would write.
    pub paths: &'a [String],
}

/// Decides per tool, tier and argument whether a call may run.
pub trait Guardrail: Send + Sync {
    /// Decides about one call; called for every call, nested ones too.
    fn decide(&self, request: &GateRequest<'_>) -> Decision;
}

impl<F: Fn(&GateRequest<'_>) -> Decision + Send + Sync> Guardrail for F {
    fn decide(&self, request: &GateRequest<'_>) -> Decision {
        self(request)
    }
}

/// What an approver is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The run the call belongs to.
    pub run: RunId,
    /// The call.
    pub call: CallId,
    /// The calls it is nested in, outermost first.
    pub parents: Vec<CallId>,
    /// The name of the tool.
    pub tool: String,
    /// Its tier.
    pub tier: Tier,
    /// The arguments.
    pub args: Value,
    /// Workspace paths the call would write.
    pub paths: Vec<String>,
    /// The guardrail's question.
    pub question: String,
}

/// What an approver answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Approval {
    /// The call may run.
    Yes,
    /// It may not.
    No {
        /// Why, in the person's words; the model reads it.
        reason: Option<String>,
    },
}

/// Port: asks somebody for a yes or no to one call.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks; the call waits under its cancellation token only, so an approver
    /// that can wait for ever has a time limit of its own.
    ///
    /// # Errors
    /// Any error denies the call: the gate fails closed.
    async fn approve(&self, request: ApprovalRequest) -> Result<Approval, ToolError>;
}

/// Asks all guardrails; the strictest answer wins.
///
/// Questions of several guardrails are joined into one prompt.
pub(crate) fn decide(guardrails: &[Arc<dyn Guardrail>], request: &GateRequest<'_>) -> Decision {
    let mut questions: Vec<String> = Vec::new();
    for guardrail in guardrails {
        match guardrail.decide(request) {
            Decision::Allow => {}
            Decision::Deny { reason } => return Decision::Deny { reason },
            Decision::Prompt { question } => {
                if !questions.contains(&question) {
                    questions.push(question);
                }
            }
        }
    }
    if questions.is_empty() {
        Decision::Allow
    } else {
        Decision::Prompt {
            question: questions.join("\n"),
        }
    }
}

/// Passes a call through the gate.
pub(crate) async fn pass(
    guardrails: &[Arc<dyn Guardrail>],
    approver: Option<&Arc<dyn Approver>>,
    request: &GateRequest<'_>,
) -> Result<(), ToolError> {
    let tool = &request.tool.name;
    let denied = || ToolError::denied(format!("`{tool}` was not allowed to run"));
    let question = match decide(guardrails, request) {
        Decision::Allow => return Ok(()),
        Decision::Deny { reason } => {
            return Err(denied()
                .why(reason)
                .next("do not repeat the call; do without it or ask for another way"));
        }
        Decision::Prompt { question } => question,
    };
    let Some(approver) = approver else {
        return Err(denied()
            .why(format!(
                "it needs approval (\"{question}\") and nobody is attached who could approve it"
            ))
            .next("do not repeat the call; do without it and say what was left undone"));
    };
    let answer = approver
        .approve(ApprovalRequest {
            run: request.run.id().clone(),
            call: request.call.clone(),
            parents: request.parents.to_vec(),
            tool: tool.clone(),
            tier: request.tool.tier,
            args: request.args.clone(),
            paths: request.paths.to_vec(),
            question,
        })
        .await;
    match answer {
        Ok(Approval::Yes) => Ok(()),
        Ok(Approval::No { reason }) => Err(denied()
            .why(reason.unwrap_or_else(|| "the person who was asked said no".to_owned()))
            .next("do not repeat the call; do without it or ask for another way")),
        Err(error) => Err(denied()
            .why(format!("the question could not be put: {error}"))
            .next("do not repeat the call; do without it and say what was left undone")
            .source(error)),
    }
}
