//! The way back into the dispatch, which ends with the call.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use tiers::{
    Call, CallContext, CallDispatch, Dispatch, ErrorKind, Mode, OpenCall, Registry, Tier, Tool,
    ToolError, ToolOutput,
};

use crate::support::{Fake, Place, text};

/// Shows the chain of calls it is nested in.
fn chain() -> Fake {
    Fake::new("chain", Tier::Read, |_, context: CallContext| async move {
        let parents = context.parents();
        let ids: Vec<&str> = parents.iter().map(|id| id.as_str()).collect();
        Ok(ToolOutput::text(format!(
            "{} in {}",
            context.call_id(),
            ids.join(",")
        )))
    })
}

#[tokio::test]
async fn a_nested_call_knows_the_calls_around_it() {
    let place = Place::new();
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(chain())
        .tool(Fake::new(
            "middle",
            Tier::Read,
            |_, context: CallContext| async move {
                context
                    .dispatch()
                    .dispatch_call(Call::new("chain", json!({})).with_id("c3"))
                    .await
            },
        ))
        .tool(Fake::new(
            "outer",
            Tier::Read,
            |_, context: CallContext| async move {
                context
                    .dispatch()
                    .dispatch_call(Call::new("middle", json!({})).with_id("c2"))
                    .await
            },
        ))
        .build()
        .unwrap();
    let output = registry
        .dispatch_call(Call::new("outer", json!({})).with_id("c1"))
        .await
        .unwrap();
    assert_eq!(text(&output), "c3 in c1,c2");
    let alone = registry
        .dispatch_call(Call::new("chain", json!({})).with_id("c4"))
        .await
        .unwrap();
    assert_eq!(text(&alone), "c4 in ");
}

#[tokio::test]
async fn after_its_call_re_entry_answers_that_no_call_is_running() {
    let place = Place::new();
    let kept: Arc<Mutex<Option<CallDispatch>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let alive = Arc::new(());
    let canary = Arc::clone(&alive);
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(Fake::new(
            "leak",
            Tier::Read,
            move |_, context: CallContext| {
                let _canary = &canary;
                *keep.lock().unwrap() = Some(context.dispatch());
                async { Ok(ToolOutput::text("x")) }
            },
        ))
        .build()
        .unwrap();
    registry.dispatch("leak", json!({})).await.unwrap();
    let dispatch = kept.lock().unwrap().clone().unwrap();
    let error = dispatch.dispatch("leak", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert_eq!(
        error.to_string(),
        "cannot call `leak`: no call is running; call tools only while the call that does so runs"
    );
    // Kept by the tool itself, and still no cycle: the registry goes away.
    drop(registry);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[tokio::test]
async fn a_detached_context_has_nothing_to_call() {
    let place = Place::new();
    let context = CallContext::detached(&place.run(Mode::Full));
    let error = context
        .dispatch()
        .dispatch("read", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.why.as_deref(), Some("no call is running"));
}

#[tokio::test]
async fn a_tool_that_calls_itself_for_ever_is_stopped() {
    let place = Place::new();
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(Fake::new(
            "again",
            Tier::Read,
            |_, context: CallContext| async move {
                context.dispatch().dispatch("again", json!({})).await
            },
        ))
        .build()
        .unwrap();
    let error = registry.dispatch("again", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert_eq!(
        error.why.as_deref(),
        Some("calls are nested 17 deep, the most is 16")
    );
}

#[tokio::test]
async fn a_call_nested_in_a_lower_run_sees_no_more_than_that_run() {
    let place = Place::new();
    let full = Registry::builder(place.run(Mode::Full))
        .tool(Fake::named("edit", Tier::Write))
        .build();
    let full = full.unwrap();
    let plan = CallContext::detached(&place.run(Mode::Plan));
    let call = |name: &str| Call::new(name, json!({})).nested_in(&plan);
    let real = full.dispatch_call(call("edit")).await.unwrap_err();
    let fake = full.dispatch_call(call("edot")).await.unwrap_err();
    assert_eq!(real.kind, ErrorKind::UnknownTool);
    assert_eq!(
        real.to_string().replace("edit", ""),
        fake.to_string().replace("edot", "")
    );
}

/// A harness with a registry of its own.
struct Harness;

#[async_trait]
impl Dispatch for Harness {
    async fn dispatch_call(&self, call: Call) -> Result<ToolOutput, ToolError> {
        let parent = call.parent().map(|parent| parent.call_id().to_string());
        Ok(ToolOutput::text(format!("{} for {parent:?}", call.name())))
    }
}

#[tokio::test]
async fn a_harness_with_a_registry_of_its_own_brings_its_dispatch() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let tool = Fake::new("outer", Tier::Read, |_, context: CallContext| async move {
        context.dispatch().dispatch("their_read", json!({})).await
    });
    let call = Call::new("outer", json!({})).with_id("h1");
    let open = OpenCall::open(&run, &call, Arc::new(Harness));
    let context = open.context().clone();
    let result = tool.call(json!({}), &context).await;
    assert_eq!(
        text(result.as_ref().unwrap()),
        "their_read for Some(\"h1\")"
    );
    open.finish(&result);
    assert!(
        context
            .dispatch()
            .dispatch("their_read", json!({}))
            .await
            .is_err()
    );
    run.notices().push("for the next result");
    assert_eq!(run.notices().drain(), ["for the next result"]);
}
