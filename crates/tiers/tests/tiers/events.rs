//! Events of calls and the queue between them and a slow reader.

use std::sync::Arc;

use serde_json::json;
use tiers::{
    Call, CallContext, Dispatch, Event, EventKind, EventQueue, EventSink, Mode, Outcome, Progress,
    Registry, Tier, ToolError, ToolOutput,
};

use crate::support::{Fake, Place, line, lines};

fn talker() -> Fake {
    Fake::new(
        "talk",
        Tier::Read,
        |args, context: CallContext| async move {
            context.progress(Progress::new("talking").done(1).total(2));
            context.output("hello");
            context.output("");
            if args["input"] == "fail" {
                return Err(ToolError::failed("no voice"));
            }
            Ok(ToolOutput::text("said"))
        },
    )
}

#[tokio::test]
async fn a_call_starts_and_finishes_exactly_once() {
    let place = Place::new();
    let queue = EventQueue::new(100);
    let run = place
        .builder(Mode::Full)
        .events(queue.clone())
        .build()
        .unwrap();
    let registry = Registry::builder(run).tool(talker()).build().unwrap();
    registry.dispatch("talk", json!({})).await.unwrap();
    assert_eq!(
        lines(&queue),
        [
            "0 started talk",
            "1 progress talking",
            "2 output hello -0",
            "3 finished succeeded -0"
        ]
    );
    registry
        .dispatch("talk", json!({ "input": "fail" }))
        .await
        .unwrap_err();
    assert_eq!(lines(&queue).last().unwrap(), "3 finished failed -0");
    registry.dispatch("tolk", json!({})).await.unwrap_err();
    assert_eq!(
        lines(&queue),
        ["0 started tolk", "1 finished unknown_tool -0"]
    );
}

#[tokio::test]
async fn nested_calls_name_their_parent_and_finish_before_it() {
    let place = Place::new();
    let queue = EventQueue::new(100);
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(Fake::named("inner", Tier::Read))
        .tool(Fake::new(
            "outer",
            Tier::Read,
            |_, context: CallContext| async move {
                context.dispatch().dispatch("inner", json!({})).await
            },
        ))
        .events(queue.clone())
        .build()
        .unwrap();
    registry
        .dispatch_call(Call::new("outer", json!({})).with_id("c1"))
        .await
        .unwrap();
    let events: Vec<Event> = std::iter::from_fn(|| queue.try_next()).collect();
    assert_eq!(
        events.iter().map(line).collect::<Vec<_>>(),
        [
            "0 started outer",
            "0 started inner",
            "1 finished succeeded -0",
            "1 finished succeeded -0"
        ]
    );
    let parents: Vec<Option<&str>> = events
        .iter()
        .map(|event| event.parent.as_ref().map(|id| id.as_str()))
        .collect();
    assert_eq!(parents, [None, Some("c1"), Some("c1"), None]);
}

#[tokio::test]
async fn a_dropped_call_still_finishes_and_so_do_the_calls_in_it() {
    let place = Place::new();
    let queue = EventQueue::new(100);
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(Fake::new(
            "sleep",
            Tier::Read,
            |_, context: CallContext| async move {
                context.output("zzz");
                std::future::pending().await
            },
        ))
        .tool(Fake::new(
            "outer",
            Tier::Read,
            |_, context: CallContext| async move {
                context.dispatch().dispatch("sleep", json!({})).await
            },
        ))
        .events(queue.clone())
        .build()
        .unwrap();
    let mut call = Box::pin(registry.dispatch("outer", json!({})));
    assert!(futures_poll_once(&mut call).await);
    drop(call);
    assert_eq!(
        lines(&queue),
        [
            "0 started outer",
            "0 started sleep",
            "1 output zzz -0",
            "2 finished dropped -0",
            "1 finished dropped -0"
        ]
    );
}

/// Polls once; true when the future still waits.
async fn futures_poll_once<F: Future + Unpin>(future: &mut F) -> bool {
    std::future::poll_fn(|cx| {
        std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx).is_pending())
    })
    .await
}

#[tokio::test]
async fn nothing_is_reported_after_the_end() {
    let place = Place::new();
    let queue = EventQueue::new(100);
    let kept: Arc<std::sync::Mutex<Option<CallContext>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(Fake::new(
            "leak",
            Tier::Read,
            move |_, context: CallContext| {
                *keep.lock().unwrap() = Some(context);
                async { Ok(ToolOutput::text("x")) }
            },
        ))
        .events(queue.clone())
        .build()
        .unwrap();
    registry.dispatch("leak", json!({})).await.unwrap();
    let context = kept.lock().unwrap().take().unwrap();
    context.output("late");
    context.progress("late");
    assert_eq!(lines(&queue), ["0 started leak", "1 finished succeeded -0"]);
    assert!(context.token().is_cancelled());
}

#[tokio::test]
async fn a_slow_reader_loses_only_output_and_is_told_how_much() {
    let place = Place::new();
    let queue = EventQueue::new(6);
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(Fake::new(
            "flood",
            Tier::Read,
            |_, context: CallContext| async move {
                for n in 0..100 {
                    context.output(format!("{n}"));
                    context.progress(format!("step {n}"));
                }
                Ok(ToolOutput::text("done"))
            },
        ))
        .events(queue.clone())
        .build()
        .unwrap();
    registry.dispatch("flood", json!({})).await.unwrap();
    let found = lines(&queue);
    assert!(found.len() <= 7, "{found:?}");
    assert_eq!(found.first().unwrap(), "0 started flood");
    assert!(
        found.iter().any(|line| line.ends_with("progress step 99")),
        "{found:?}"
    );
    let outputs: Vec<&String> = found
        .iter()
        .filter(|line| line.contains(" output "))
        .collect();
    let dropped = 100 - outputs.len();
    assert_eq!(
        found.last().unwrap(),
        &format!("201 finished succeeded -{dropped}")
    );
    if let Some(first) = outputs.first() {
        assert!(first.ends_with(&format!("-{dropped}")), "{first}");
    }
}

#[tokio::test]
async fn the_limit_on_output_events_of_a_call_is_counted() {
    let place = Place::new();
    let queue = EventQueue::new(100);
    let run = place.limited(|limits| limits.output_events = 2);
    let registry = Registry::builder(run)
        .tool(Fake::new(
            "flood",
            Tier::Read,
            |_, context: CallContext| async move {
                for n in 0..5 {
                    context.output(format!("{n}"));
                }
                Ok(ToolOutput::text("done"))
            },
        ))
        .events(queue.clone())
        .build()
        .unwrap();
    registry.dispatch("flood", json!({})).await.unwrap();
    assert_eq!(
        lines(&queue),
        [
            "0 started flood",
            "1 output 0 -0",
            "2 output 1 -0",
            "6 finished succeeded -3"
        ]
    );
}

#[tokio::test]
async fn a_queue_is_bounded_in_bytes_and_wakes_its_reader() {
    let queue = EventQueue::new(4);
    let place = Place::new();
    let run = place
        .builder(Mode::Full)
        .events(queue.clone())
        .build()
        .unwrap();
    let reader = tokio::spawn({
        let queue = queue.clone();
        async move { line(&queue.next().await) }
    });
    let context = CallContext::detached(&run);
    tokio::task::yield_now().await;
    context.progress("first");
    assert_eq!(reader.await.unwrap(), "0 progress first");
    for _ in 0..3 {
        context.output("x".repeat(10_000));
    }
    let kept: Vec<String> = lines(&queue);
    assert_eq!(kept.len(), 1, "16 KiB hold one piece");
    assert!(kept[0].ends_with("-2"), "two were dropped before it");
}

#[test]
fn an_event_has_one_flat_form_in_json() {
    struct Keep(std::sync::Mutex<Vec<Event>>);
    impl EventSink for Keep {
        fn emit(&self, event: Event) {
            self.0.lock().unwrap().push(event);
        }
    }
    let keep = Arc::new(Keep(std::sync::Mutex::default()));
    let place = Place::new();
    let run = place
        .builder(Mode::Full)
        .id("r1")
        .events(keep.clone())
        .build()
        .unwrap();
    let context = CallContext::detached(&run);
    context.progress(Progress::new("searching").done(3));
    context.output("x");
    let events = keep.0.lock().unwrap();
    let id = context.call_id().as_str();
    assert_eq!(
        serde_json::to_value(&*events).unwrap(),
        json!([
            { "run": "r1", "call": id, "parent": null, "sequence": 0, "event": "progress",
              "message": "searching", "done": 3, "total": null },
            { "run": "r1", "call": id, "parent": null, "sequence": 1, "event": "output",
              "text": "x", "dropped_before": 0 },
        ])
    );
    let finished = EventKind::Finished {
        outcome: Outcome::Failed(tiers::ErrorKind::Timeout),
        elapsed_ms: 5,
        dropped_chunks: 0,
    };
    assert_eq!(
        serde_json::to_value(finished).unwrap(),
        json!({ "event": "finished", "outcome": { "outcome": "failed", "kind": "timeout" },
                "elapsed_ms": 5, "dropped_chunks": 0 })
    );
}
