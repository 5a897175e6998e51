//! Allow, deny, prompt.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use tiers::{
    Approval, ApprovalRequest, Approver, CallContext, Decision, ErrorKind, GateRequest, Guardrail,
    Mode, Registry, Run, Tier, ToolError,
};
use tokio_util::sync::CancellationToken;

use crate::support::{Fake, Place, text};

/// Answers as told and keeps what it was asked.
struct Person {
    answer: fn() -> Result<Approval, ToolError>,
    asked: Mutex<Vec<ApprovalRequest>>,
}

impl Person {
    fn new(answer: fn() -> Result<Approval, ToolError>) -> Arc<Self> {
        Arc::new(Self {
            answer,
            asked: Mutex::default(),
        })
    }
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: ApprovalRequest) -> Result<Approval, ToolError> {
        self.asked.lock().unwrap().push(request);
        (self.answer)()
    }
}

fn prompt_writes(request: &GateRequest<'_>) -> Decision {
    if request.tool.tier >= Tier::Write {
        Decision::Prompt {
            question: format!("May `{}` write {:?}?", request.tool.name, request.paths),
        }
    } else {
        Decision::Allow
    }
}

fn deny_secrets(request: &GateRequest<'_>) -> Decision {
    if request.args["input"] == "secret" {
        Decision::Deny {
            reason: "secrets are off limits".to_owned(),
        }
    } else {
        Decision::Allow
    }
}

fn guarded(run: &Arc<Run>) -> tiers::RegistryBuilder {
    Registry::builder(Arc::clone(run))
        .tool(Fake::named("read", Tier::Read))
        .tool(Fake::named("edit", Tier::Write).writing("src/a.rs"))
        .tool(Fake::new("outer", Tier::Read, |args, context: CallContext| async move {
            context.dispatch().dispatch("edit", args).await
        }))
        .gate(Arc::new(prompt_writes))
        .gate(Arc::new(deny_secrets))
}

#[tokio::test]
async fn without_a_guardrail_every_visible_tool_runs() {
    let place = Place::new();
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(Fake::named("eval", Tier::Exec))
        .build()
        .unwrap();
    assert_eq!(
        text(&registry.dispatch("eval", json!({})).await.unwrap()),
        "eval"
    );
}

#[tokio::test]
async fn deny_stops_a_call_with_its_reason() {
    let place = Place::new();
    let registry = guarded(&place.run(Mode::Full)).build().unwrap();
    let error = registry
        .dispatch("read", json!({ "input": "secret" }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied);
    assert_eq!(
        error.to_string(),
        "`read` was not allowed to run: secrets are off limits; do not repeat the call; do \
         without it or ask for another way"
    );
    assert!(
        registry
            .dispatch("read", json!({ "input": "open" }))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn prompt_without_an_approver_fails_closed() {
    let place = Place::new();
    let registry = guarded(&place.run(Mode::Full)).build().unwrap();
    let error = registry.dispatch("edit", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied);
    assert_eq!(
        error.why.unwrap(),
        "it needs approval (\"May `edit` write [\"src/a.rs\"]?\") and nobody is attached who could \
         approve it"
    );
}

#[tokio::test]
async fn a_yes_lets_the_call_run_and_a_no_does_not() {
    let place = Place::new();
    let person = Person::new(|| Ok(Approval::Yes));
    let registry = guarded(&place.run(Mode::Full))
        .approver(person.clone())
        .build()
        .unwrap();
    assert!(
        registry
            .dispatch("edit", json!({ "input": "x" }))
            .await
            .is_ok()
    );
    let asked = person.asked.lock().unwrap().clone();
    let [request] = asked.as_slice() else {
        panic!("asked {} times", asked.len())
    };
    assert_eq!(
        (
            request.tool.as_str(),
            request.tier,
            &request.args,
            request.paths.as_slice()
        ),
        (
            "edit",
            Tier::Write,
            &json!({ "input": "x" }),
            ["src/a.rs".to_owned()].as_slice()
        )
    );

    let person = Person::new(|| {
        Ok(Approval::No {
            reason: Some("not on a Friday".to_owned()),
        })
    });
    let registry = guarded(&place.run(Mode::Full))
        .approver(person)
        .build()
        .unwrap();
    let error = registry.dispatch("edit", json!({})).await.unwrap_err();
    assert_eq!(
        (error.kind, error.why.as_deref()),
        (ErrorKind::Denied, Some("not on a Friday"))
    );
}

#[tokio::test]
async fn the_strictest_guardrail_counts() {
    let place = Place::new();
    let person = Person::new(|| Ok(Approval::Yes));
    let registry = guarded(&place.run(Mode::Full))
        .approver(person.clone())
        .build()
        .unwrap();
    let error = registry
        .dispatch("edit", json!({ "input": "secret" }))
        .await
        .unwrap_err();
    assert_eq!(error.why.as_deref(), Some("secrets are off limits"));
    assert!(person.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_approver_that_fails_denies() {
    let place = Place::new();
    let person = Person::new(|| Err(ToolError::unavailable("no human is attached")));
    let run = place.builder(Mode::Full).approver(person).build().unwrap();
    let error = guarded(&run)
        .build()
        .unwrap()
        .dispatch("edit", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied);
    assert_eq!(
        error.why.unwrap(),
        "the question could not be put: no human is attached"
    );
}

#[tokio::test]
async fn a_guardrail_that_panics_lets_nothing_through() {
    let place = Place::new();
    let broken: Arc<dyn Guardrail> = Arc::new(|_: &GateRequest<'_>| -> Decision { panic!("oops") });
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(Fake::named("read", Tier::Read))
        .gate(broken)
        .build();
    let error = registry
        .unwrap()
        .dispatch("read", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
}

#[tokio::test]
async fn the_gate_stands_before_nested_calls_too() {
    let place = Place::new();
    let person = Person::new(|| Ok(Approval::No { reason: None }));
    let registry = guarded(&place.run(Mode::Full))
        .approver(person.clone())
        .build()
        .unwrap();
    let error = registry.dispatch("outer", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied);
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(
        asked
            .iter()
            .map(|request| request.parents.len())
            .collect::<Vec<_>>(),
        [1]
    );
}

#[tokio::test]
async fn the_gate_is_not_asked_about_wrong_arguments_or_absent_tools() {
    let place = Place::new();
    let person = Person::new(|| Ok(Approval::Yes));
    let registry = guarded(&place.run(Mode::Plan))
        .approver(person.clone())
        .build()
        .unwrap();
    registry.dispatch("edit", json!({})).await.unwrap_err();
    registry
        .dispatch("outer", json!({ "wrong": 1 }))
        .await
        .unwrap_err();
    assert!(person.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn waiting_for_approval_ends_with_the_call() {
    struct Absent(CancellationToken);
    #[async_trait]
    impl Approver for Absent {
        async fn approve(&self, _: ApprovalRequest) -> Result<Approval, ToolError> {
            self.0.cancel();
            std::future::pending().await
        }
    }
    let place = Place::new();
    let token = CancellationToken::new();
    let registry = guarded(&place.run(Mode::Full))
        .approver(Arc::new(Absent(token.clone())))
        .build()
        .unwrap();
    let call = tiers::Call::new("edit", json!({})).with_token(token);
    let error = tiers::Dispatch::dispatch_call(&registry, call)
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert_eq!(error.to_string(), "`edit` was cancelled: before it started");
}
