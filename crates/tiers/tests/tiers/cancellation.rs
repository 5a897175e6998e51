//! Tokens, grace, deadlines, and work that must not be cut in half.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tiers::{
    Call, CallContext, Dispatch, ErrorKind, Group, Mode, Registry, Run, Tier, TimeLimit, ToolError,
    ToolOutput,
};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::support::{Fake, Place, text};

fn registry(run: &Arc<Run>, tools: Vec<Fake>) -> Registry {
    tools
        .into_iter()
        .fold(Registry::builder(Arc::clone(run)), |builder, tool| {
            builder.tool(tool)
        })
        .build()
        .unwrap()
}

/// Never ends by itself, but tells its peer when it is cancelled.
fn polite(name: &str, told: &Arc<AtomicBool>) -> Fake {
    let told = Arc::clone(told);
    Fake::new(name, Tier::Read, move |_, context: CallContext| {
        let told = Arc::clone(&told);
        async move {
            context.token().cancelled().await;
            told.store(true, Ordering::SeqCst);
            Err(ToolError::cancelled("the query was cancelled")
                .with_partial(ToolOutput::text("half")))
        }
    })
}

/// Never ends and does not listen.
fn deaf(name: &str) -> Fake {
    Fake::new(name, Tier::Read, |_, context: CallContext| async move {
        context.output("line 1\n");
        context.output("line 2\n");
        std::future::pending().await
    })
}

fn nesting(name: &str, inner: &'static str) -> Fake {
    Fake::new(
        name,
        Tier::Read,
        move |_, context: CallContext| async move {
            context.dispatch().dispatch(inner, json!({})).await
        },
    )
}

#[tokio::test(start_paused = true)]
async fn cancelling_the_run_reaches_nested_calls_which_tell_their_peer() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let told = Arc::new(AtomicBool::new(false));
    let registry = registry(
        &run,
        vec![polite("inner", &told), nesting("outer", "inner")],
    );
    let call = tokio::spawn(async move { registry.dispatch("outer", json!({})).await });
    tokio::task::yield_now().await;
    let before = Instant::now();
    run.token().cancel();
    let error = call.await.unwrap().unwrap_err();
    assert!(told.load(Ordering::SeqCst));
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert_eq!(text(error.partial.as_ref().unwrap()), "half");
    assert_eq!(
        before.elapsed(),
        Duration::ZERO,
        "nobody waited for the grace"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_listen_is_dropped_after_the_grace() {
    let place = Place::new();
    let run = place.limited(|limits| limits.grace = Duration::from_secs(3));
    let registry = registry(&run, vec![deaf("deaf")]);
    let token = CancellationToken::new();
    let call = Call::new("deaf", json!({})).with_token(token.clone());
    let call = tokio::spawn(async move { registry.dispatch_call(call).await });
    tokio::task::yield_now().await;
    let before = Instant::now();
    token.cancel();
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(before.elapsed().as_secs(), 3);
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert_eq!(error.what, "`deaf` was cancelled");
    assert_eq!(
        text(error.partial.as_ref().unwrap()),
        "line 1\nline 2\n",
        "what it said is kept"
    );
    assert!(!run.token().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn the_call_around_a_deaf_one_still_reports_what_that_had() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let outer = Fake::new("outer", Tier::Read, |_, context: CallContext| async move {
        let nested = context
            .dispatch()
            .dispatch("deaf", json!({}))
            .await
            .unwrap_err();
        let partial = ToolOutput::text(format!("outer, {}", nested.content().len()));
        Err(ToolError::cancelled("outer was cancelled").with_partial(partial))
    });
    let registry = registry(&run, vec![deaf("deaf"), outer]);
    let call = tokio::spawn(async move { registry.dispatch("outer", json!({})).await });
    tokio::task::yield_now().await;
    let before = Instant::now();
    run.token().cancel();
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(before.elapsed().as_secs(), 1, "half of the grace");
    assert_eq!(text(error.partial.as_ref().unwrap()), "outer, 3");
}

#[tokio::test(start_paused = true)]
async fn cancelling_one_call_leaves_the_others_alone() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let (token, release) = (CancellationToken::new(), Arc::new(Notify::new()));
    let wait = Arc::clone(&release);
    let waits = Fake::new("wait", Tier::Read, move |_, context: CallContext| {
        let wait = Arc::clone(&wait);
        async move {
            tokio::select! {
                () = context.token().cancelled() => Err(ToolError::cancelled("cancelled")),
                () = wait.notified() => Ok(ToolOutput::text("done")),
            }
        }
    });
    let registry = registry(&run, vec![waits]);
    let one = registry.clone();
    let cancelled = Call::new("wait", json!({})).with_token(token.clone());
    let one = tokio::spawn(async move { one.dispatch_call(cancelled).await });
    let two = tokio::spawn(async move { registry.dispatch("wait", json!({})).await });
    tokio::task::yield_now().await;
    token.cancel();
    assert_eq!(one.await.unwrap().unwrap_err().kind, ErrorKind::Cancelled);
    release.notify_one();
    assert!(two.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_call_in_an_ended_run_never_starts() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let registry = registry(&run, vec![Fake::named("read", Tier::Read)]);
    run.end().await;
    let error = registry.dispatch("read", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "`read` was cancelled: before it started");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_a_call_in_a_timeout_with_what_it_had() {
    let place = Place::new();
    let told = Arc::new(AtomicBool::new(false));
    let run = place.limited(|limits| limits.call_timeout = Duration::from_secs(10));
    let registry = registry(&run, vec![deaf("deaf"), polite("polite", &told)]);
    for (name, partial) in [("deaf", "line 1\nline 2\n"), ("polite", "half")] {
        let error = registry.dispatch(name, json!({})).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout, "{name}");
        assert_eq!(
            error.to_string(),
            format!("`{name}` was stopped: it was not done after 10.0 s; ask for less at once")
        );
        assert_eq!(text(error.partial.as_ref().unwrap()), partial, "{name}");
    }
    assert!(told.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_done_within_the_grace_counts() {
    let place = Place::new();
    let run = place.limited(|limits| limits.call_timeout = Duration::from_secs(1));
    let late = Fake::new("late", Tier::Read, |_, context: CallContext| async move {
        context.token().cancelled().await;
        Ok(ToolOutput::text("committed"))
    });
    let registry = registry(&run, vec![late]);
    assert_eq!(
        text(&registry.dispatch("late", json!({})).await.unwrap()),
        "committed"
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_have_a_limit_of_its_own() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let deadline = |name: &str| {
        Fake::new(name, Tier::Read, |_, context: CallContext| async move {
            let left = context.deadline().map(|at| (at - Instant::now()).as_secs());
            Ok(ToolOutput::text(format!("{left:?}")))
        })
    };
    let registry = registry(
        &run,
        vec![
            deadline("usual"),
            deadline("short").limited(TimeLimit::Of(Duration::from_secs(7))),
            deadline("own").limited(TimeLimit::Own),
            nesting("outer", "own").limited(TimeLimit::Of(Duration::from_secs(9))),
        ],
    );
    for (name, left) in [
        ("usual", "Some(300)"),
        ("short", "Some(7)"),
        ("own", "None"),
        ("outer", "Some(9)"),
    ] {
        assert_eq!(
            text(&registry.dispatch(name, json!({})).await.unwrap()),
            left,
            "{name}"
        );
    }
    let call = Call::new("usual", json!({})).within(Duration::from_secs(5));
    assert_eq!(
        text(&registry.dispatch_call(call).await.unwrap()),
        "Some(5)"
    );
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_a_whole_call_counts_while_it_waits_for_a_group() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let group = Group::new("kernel");
    let registry = registry(&run, vec![deaf("eval").in_group(&group)]);
    let first = tokio::spawn({
        let registry = registry.clone();
        async move { registry.dispatch("eval", json!({})).await }
    });
    tokio::task::yield_now().await;
    assert!(group.is_held());
    let call = Call::new("eval", json!({})).within(Duration::from_secs(5));
    let error = registry.dispatch_call(call).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert_eq!(
        error.to_string(),
        "`eval` could not start: its time was up after 5.0 s; try again later"
    );
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert!(!group.is_held());
}

#[tokio::test]
async fn a_tool_that_panics_is_a_fault_of_ours() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let group = Group::new("kernel");
    let panics = Fake::new(
        "broken",
        Tier::Read,
        |args, context: CallContext| async move {
            context.output("so far");
            assert_eq!(args, json!(0), "secret");
            Ok(ToolOutput::text("not reached"))
        },
    );
    let registry = registry(&run, vec![panics.in_group(&group)]);
    let error = registry.dispatch("broken", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(!error.to_string().contains("secret"));
    assert_eq!(text(error.partial.as_ref().unwrap()), "so far");
    assert!(!group.is_held());
}

/// A tool whose commit waits to be let through.
fn committer(gate: oneshot::Receiver<()>, begun: &Arc<AtomicBool>, done: &Arc<AtomicBool>) -> Fake {
    let gate = std::sync::Mutex::new(Some(gate));
    let (begun, done) = (Arc::clone(begun), Arc::clone(done));
    Fake::new("commit", Tier::Write, move |_, context: CallContext| {
        let gate = gate.lock().unwrap().take().unwrap();
        let (begun, done) = (Arc::clone(&begun), Arc::clone(&done));
        async move {
            let work = async move {
                begun.store(true, Ordering::SeqCst);
                let _ = gate.await;
                done.store(true, Ordering::SeqCst);
                "applied"
            };
            context.run_to_completion(work).await.map(ToolOutput::text)
        }
    })
}

#[tokio::test(start_paused = true)]
async fn cancellation_acts_before_or_after_a_commit_never_within() {
    check_commit("commit").await;
}

#[tokio::test(start_paused = true)]
async fn cancellation_acts_before_or_after_a_nested_commit_never_within() {
    check_commit("outer").await;
}

async fn check_commit(name: &'static str) {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let (open, gate) = oneshot::channel();
    let (begun, done) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let tools = vec![committer(gate, &begun, &done), nesting("outer", "commit")];
    let registry = registry(&run, tools);
    let call = tokio::spawn(async move { registry.dispatch(name, json!({})).await });
    while !begun.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    run.token().cancel();
    // Far longer than the grace.
    tokio::time::advance(Duration::from_secs(60)).await;
    tokio::task::yield_now().await;
    assert!(!call.is_finished());
    open.send(()).unwrap();
    assert_eq!(text(&call.await.unwrap().unwrap()), "applied");
    assert!(done.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_commit_is_finished_even_when_its_caller_is_dropped() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let group = Group::new("files");
    let (open, gate) = oneshot::channel();
    let (begun, done) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let registry = registry(&run, vec![committer(gate, &begun, &done).in_group(&group)]);
    let call = tokio::spawn(async move { registry.dispatch("commit", json!({})).await });
    while !begun.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert!(group.is_held(), "the resource is still busy");
    open.send(()).unwrap();
    run.end().await;
    assert!(
        done.load(Ordering::SeqCst),
        "the end of the run waits for it"
    );
    assert!(!group.is_held());
}

#[tokio::test]
async fn a_commit_of_a_cancelled_call_never_starts() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let context = CallContext::detached(&run);
    run.token().cancel();
    let started = context.run_to_completion(async { panic!("started") });
    let result: Result<(), ToolError> = started.await;
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`detached` was cancelled: before it changed anything"
    );
}
