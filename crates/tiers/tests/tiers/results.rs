//! What dispatch does to a result: caps, notices, content.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tiers::{
    CallContext, Content, ErrorKind, Mode, Registry, Tier, ToolError, ToolOutput, ToolSpec,
    TypedTool,
};

use crate::support::{Fake, Place, text};

fn registry(place: &Place, tools: Vec<Fake>) -> Registry {
    let builder = Registry::builder(place.run(Mode::Full));
    tools
        .into_iter()
        .fold(builder, |builder, tool| builder.tool(tool))
        .build()
        .unwrap()
}

fn nesting() -> Fake {
    Fake::new("outer", Tier::Read, |_, context: CallContext| async move {
        context.dispatch().dispatch("inner", json!({})).await
    })
}

#[tokio::test]
async fn a_long_result_is_cut_and_says_how_to_get_the_rest() {
    let place = Place::new();
    let long = Fake::new("long", Tier::Read, |_, _| async {
        let text: String = (1..=5_000).map(|n| format!("{n}\n")).collect();
        Ok(ToolOutput::text(text)
            .with_rest("narrow `path`")
            .with_details(json!({ "version": 1 })))
    });
    let output = registry(&place, vec![long])
        .dispatch("long", json!({}))
        .await
        .unwrap();
    let text = text(&output);
    assert_eq!(text.lines().count(), 2_000);
    assert!(text.contains("\n[1999 of 5000 lines shown, 3001 left out here; narrow `path`]\n"));
    assert!(text.starts_with("1\n2\n") && text.ends_with("4999\n5000\n"));
    assert_eq!(output.details, json!({ "version": 1 }));
}

#[tokio::test]
async fn a_long_error_is_cut_and_keeps_its_partial_output_cut() {
    let place = Place::new();
    let long = Fake::new("long", Tier::Read, |_, _| async {
        let partial = ToolOutput::text("x\n".repeat(100_000));
        Err(ToolError::failed("it raised")
            .why("y".repeat(1_000_000))
            .with_partial(partial))
    });
    let error = registry(&place, vec![long])
        .dispatch("long", json!({}))
        .await
        .unwrap_err();
    assert!(error.to_string().len() < 10_000);
    let partial = error.partial.unwrap();
    assert_eq!(text(&partial).lines().count(), 2_000);
}

#[tokio::test]
async fn a_result_is_never_empty() {
    let place = Place::new();
    let empty = Fake::new("empty", Tier::Read, |_, _| async {
        let mut output = ToolOutput::text("x");
        output.content.clear();
        Ok(output)
    });
    let output = registry(&place, vec![empty])
        .dispatch("empty", json!({}))
        .await
        .unwrap();
    assert_eq!(output.content, [Content::Text("(no output)".to_owned())]);
}

#[tokio::test]
async fn a_notice_travels_with_the_next_top_level_result_exactly_once() {
    let place = Place::new();
    let inner = Fake::new("inner", Tier::Read, |_, context: CallContext| async move {
        context.run().notices().push("the kernel died");
        Ok(ToolOutput::text("inner"))
    });
    let check = Fake::new("outer", Tier::Read, |_, context: CallContext| async move {
        let nested = context.dispatch().dispatch("inner", json!({})).await?;
        assert_eq!(text(&nested), "inner", "a nested result carries no notices");
        Ok(nested)
    });
    let registry = registry(&place, vec![inner, check, Fake::named("read", Tier::Read)]);
    let output = registry.dispatch("outer", json!({})).await.unwrap();
    assert_eq!(text(&output), "inner|the kernel died");
    assert_eq!(
        text(&registry.dispatch("read", json!({})).await.unwrap()),
        "read"
    );
}

#[tokio::test]
async fn a_notice_travels_with_an_error_too() {
    let place = Place::new();
    let registry = registry(&place, vec![nesting()]);
    registry.run().notices().push("late report");
    let error = registry.dispatch("outer", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::UnknownTool);
    assert_eq!(*error.notices, ["late report".to_owned()]);
    assert_eq!(
        error.content().last(),
        Some(&Content::Text("late report".to_owned()))
    );
}

#[tokio::test]
async fn a_dropped_call_takes_no_notice_with_it() {
    let place = Place::new();
    let sleep = Fake::new("sleep", Tier::Read, |_, _| std::future::pending());
    let registry = registry(&place, vec![sleep, Fake::named("read", Tier::Read)]);
    registry.run().notices().push("still there");
    let call = tokio::spawn({
        let registry = registry.clone();
        async move { registry.dispatch("sleep", json!({})).await }
    });
    tokio::task::yield_now().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_eq!(
        text(&registry.dispatch("read", json!({})).await.unwrap()),
        "read|still there"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Range {
    /// The first line.
    from: u32,
    /// The last line.
    to: u32,
}

struct Lines;

impl TypedTool for Lines {
    type Input = Range;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<Range>("lines", Tier::Write, "Lines", "Touches lines.")
    }

    fn paths(&self, input: &Range) -> Vec<String> {
        vec![format!("{}-{}", input.from, input.to)]
    }

    async fn call(&self, input: Range, _: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(format!("{}", input.to - input.from)))
    }
}

#[tokio::test]
async fn a_typed_tool_gets_parsed_arguments_or_a_readable_error() {
    let place = Place::new();
    let registry = Registry::builder(place.run(Mode::Full))
        .typed(Lines)
        .build()
        .unwrap();
    let output = registry
        .dispatch("lines", json!({ "from": 1, "to": 3 }))
        .await
        .unwrap();
    assert_eq!(text(&output), "2");
    let error = registry
        .dispatch("lines", json!({ "from": "1" }))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "wrong arguments for `lines`: `from` must be an integer of at least 0, not the string `1`: \
         write 1 without quotes; `to` is missing: give an integer of at least 0; `lines` takes \
         `from` (integer of at least 0, required), `to` (integer of at least 0, required)"
    );
}

#[tokio::test]
async fn a_shared_or_typed_tool_forwards_what_the_gate_sees() {
    use std::sync::Arc;
    use tiers::{Tool, Typed};
    let tool: Arc<dyn Tool> = Arc::new(Typed::new(Lines));
    let args = json!({ "from": 1, "to": 3 });
    assert_eq!(tool.paths(&args), ["1-3"]);
    assert!(
        Arc::new(Arc::clone(&tool))
            .check_arguments(&json!({}))
            .is_err()
    );
    assert_eq!(Arc::new(tool).paths(&args), ["1-3"]);
}
