//! Tools that cells call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kernel::KernelLimits;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tiers::{
    CallContext, Decision, ErrorKind, GateRequest, RegistryBuilder, Tier, ToolError, ToolOutput,
    ToolSpec, TypedTool,
};

use crate::support::Notebook;

/// Answers with its text, after a while; fails where that is `fail`.
#[derive(Clone, Default)]
pub(crate) struct Echo {
    calls: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
    now: Arc<AtomicUsize>,
    was_cancelled: Arc<AtomicBool>,
    was_nested: Arc<AtomicBool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EchoInput {
    /// What to answer.
    text: String,
    /// How long to take, in milliseconds.
    wait: Option<u64>,
}

impl TypedTool for Echo {
    type Input = EchoInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<EchoInput>("echo", Tier::Read, "Echo", "Answers with its text.")
    }

    async fn call(&self, input: EchoInput, context: &CallContext) -> Result<ToolOutput, ToolError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        self.was_nested
            .store(context.parents().len() == 1, Ordering::SeqCst);
        let wait = Duration::from_millis(input.wait.unwrap_or(0));
        let result = tokio::select! {
            () = tokio::time::sleep(wait) => Ok(()),
            () = context.token().cancelled() => {
                self.was_cancelled.store(true, Ordering::SeqCst);
                Err(ToolError::cancelled("`echo` was cancelled"))
            }
        };
        self.now.fetch_sub(1, Ordering::SeqCst);
        result?;
        if input.text == "fail" {
            return Err(ToolError::not_found("cannot echo `fail`").next("say something else"));
        }
        Ok(
            ToolOutput::text(input.text.clone())
                .with_details(json!({ "length": input.text.len() })),
        )
    }
}

fn with_echo(limits: KernelLimits) -> (Notebook, Echo) {
    let echo = Echo::default();
    let tool = echo.clone();
    (Notebook::with(limits, |builder| builder.typed(tool)), echo)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_gets_text_and_details_and_errors_raise() {
    let (notebook, echo) = with_echo(KernelLimits::default());
    let result = notebook
        .run("r = tool('echo', {'text': 'hé'})\nr, r.details, r + '!'")
        .await;
    assert_eq!(
        result.value(),
        Some("('hé', {'length': 3}, 'hé!')"),
        "{}",
        result.text
    );
    assert!(echo.was_nested.load(Ordering::SeqCst));
    let named = notebook.run("tool('echo', text='by name')").await;
    assert_eq!(named.value(), Some("'by name'"));
    let failed = notebook.run("tool('echo', {'text': 'fail'})").await;
    failed.has("ToolError: cannot echo `fail`; say something else");
    assert!(!failed.text.contains("<toolset"), "{}", failed.text);
    let wrong = notebook.run("tool('echo', {'txet': 'a'})").await;
    wrong.has("there is no `txet`: write `text`");
    let unfit = notebook.run("tool('echo', {'text': {1, 2}})").await;
    unfit.has("TypeError: args['text'] is of type `set`, which JSON has no form for");
    let caught = notebook
        .run("try:\n    tool('ehco', {})\nexcept ToolError as e:\n    print(e.kind, e)")
        .await;
    caught.has("unknown_tool no tool `ehco`; did you mean `echo`?");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_stands_before_bridged_calls_too() {
    let echo = Echo::default();
    let tool = echo.clone();
    let notebook = Notebook::with(KernelLimits::default(), |builder: RegistryBuilder| {
        builder
            .typed(tool)
            .gate(Arc::new(|request: &GateRequest<'_>| {
                match (request.tool.name.as_str(), request.parents.is_empty()) {
                    ("echo", false) => Decision::Deny {
                        reason: "not from a cell".to_owned(),
                    },
                    _ => Decision::Allow,
                }
            }))
    });
    let denied = notebook.run("tool('echo', {'text': 'a'})").await;
    denied.has("not from a cell");
    assert_eq!(echo.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_from_many_threads_and_tasks_all_get_their_own_answer() {
    let (notebook, echo) = with_echo(KernelLimits::default());
    let threads = r"
import asyncio, threading, time
answers = {}
def work(n):
    for m in range(30):
        answers[n, m] = tool('echo', {'text': f'{n}.{m}'})
threads = [threading.Thread(target=work, args=(n,)) for n in range(32)]
for t in threads: t.start()
for t in threads: t.join()
len(answers), all(answers[key] == '%d.%d' % key for key in answers)";
    assert_eq!(notebook.run(threads).await.value(), Some("(960, True)"));
    let tasks = r"
found = await asyncio.gather(*(tool_async('echo', {'text': str(n), 'wait': 5}) for n in range(200)))
found == [str(n) for n in range(200)]";
    assert_eq!(notebook.run(tasks).await.value(), Some("True"));
    assert!(echo.most_at_once.load(Ordering::SeqCst) <= 32);
    assert!(echo.most_at_once.load(Ordering::SeqCst) > 8);
    let mixed = r"
async def many():
    return await asyncio.gather(*(tool_async('echo', {'text': str(n)}) for n in range(100)))
result = []
side = threading.Thread(target=lambda: result.append(asyncio.run(many())))
side.start()
mine = [tool('echo', {'text': str(n)}) for n in range(200)]
own = await many()
side.join()
len(mine), len(own), len(result[0])";
    assert_eq!(notebook.run(mixed).await.value(), Some("(200, 100, 100)"));
    let cell = "for n in range(900): tool('echo', {'text': 'a'})";
    assert!(notebook.run(cell).await.error.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn c10_a_cancel_reaches_the_tool_and_then_the_cell() {
    let (notebook, echo) = with_echo(KernelLimits::default());
    let after = Duration::from_millis(300);
    let cell = "kept = 1\ntool('echo', {'text': 'a', 'wait': 60000})";
    let began = Instant::now();
    let stopped = notebook.run_cancelled(cell, after).await;
    assert_eq!(stopped.status(), "interrupted", "{}", stopped.text);
    assert!(began.elapsed() < Duration::from_secs(2));
    assert!(echo.was_cancelled.load(Ordering::SeqCst));
    assert_eq!(notebook.run("kept").await.value(), Some("1"));
    assert_eq!(
        notebook.run("tool('echo', {'text': 'b'})").await.value(),
        Some("'b'")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_given_up_is_cancelled() {
    let (notebook, echo) = with_echo(KernelLimits::default());
    let cell = "import asyncio\ntry:\n    await asyncio.wait_for(tool_async('echo', {'text': 'a', 'wait': 60000}), 0.2)\nexcept asyncio.TimeoutError:\n    print('gave up')\nawait asyncio.sleep(0.3)";
    let outcome = notebook.run(cell).await;
    assert_eq!(outcome.output(), "gave up\n", "{}", outcome.text);
    assert!(echo.was_cancelled.load(Ordering::SeqCst));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_stands_while_a_tool_works() {
    let (notebook, _) = with_echo(KernelLimits::default());
    let call = json!({ "code": "tool('echo', {'text': 'slow', 'wait': 2500})", "description": "x", "timeout_seconds": 1 });
    let outcome = notebook.call(call).await;
    assert_eq!(outcome.value(), Some("'slow'"), "{}", outcome.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_makes_so_many_calls_and_no_more() {
    let mut limits = KernelLimits::default();
    limits.calls_per_cell = 5;
    let (notebook, echo) = with_echo(limits);
    let cell = "for n in range(9): tool('echo', {'text': 'a'})";
    let refused = notebook.run(cell).await;
    refused.has("this cell made 5 calls, the most there may be; do the rest in another cell");
    assert_eq!(echo.calls.load(Ordering::SeqCst), 5);
    assert_eq!(
        notebook.run("tool('echo', {'text': 'a'})").await.value(),
        Some("'a'")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_after_the_cell_and_from_forks_are_refused() {
    let (notebook, echo) = with_echo(KernelLimits::default());
    notebook.run("import threading, time, os").await;
    let cell = "def late():\n    time.sleep(0.2)\n    try:\n        tool('echo', {'text': 'a'})\n    except ToolError as error:\n        print(error)\nthreading.Thread(target=late).start()";
    notebook.run(cell).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    notebook
        .run("1")
        .await
        .has("no cell is running, so no tool can be called");
    let fork = "child = os.fork()\nif not child:\n    try:\n        tool('echo', {'text': 'a'})\n    except ToolError as error:\n        print(error)\n    os._exit(0)\n_ = os.waitpid(child, 0)";
    notebook
        .run(fork)
        .await
        .has("a forked process cannot call tools");
    assert_eq!(echo.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_a_cell_leaves_behind_are_cancelled_with_it() {
    let (notebook, echo) = with_echo(KernelLimits::default());
    let cell = "import threading, time\ndef work():\n    try:\n        tool('echo', {'text': 'a', 'wait': 60000})\n    except ToolError as error:\n        print(error.kind)\nthreading.Thread(target=work).start()\ntime.sleep(0.2)";
    let left = notebook.run(cell).await;
    left.has("1 tool call was still pending when the cell ended, and cancelled");
    assert!(echo.was_cancelled.load(Ordering::SeqCst));
    tokio::time::sleep(Duration::from_millis(100)).await;
    notebook
        .run("2")
        .await
        .has("[output of cell 1 since it ended]\ncancelled\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn c19_eval_in_eval_is_refused_at_once() {
    let (notebook, _) = with_echo(KernelLimits::default());
    let began = Instant::now();
    let refused = notebook
        .run("tool('eval', {'code': '1', 'description': 'x'})")
        .await;
    refused.has("nested in one that uses the python kernel");
    assert_eq!(refused.error.unwrap().kind, ErrorKind::Failed);
    assert!(began.elapsed() < Duration::from_secs(5));
}

/// Works in a run of its own, for the call that asked it to, and wants a kernel:
/// the same one, or another.
#[derive(Clone, Default)]
struct Worker {
    kernels: Arc<std::sync::OnceLock<Arc<kernel::Kernels>>>,
    /// The worker that its own cells may call.
    other: Option<Box<Worker>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WorkerInput {
    /// What to evaluate.
    code: String,
}

impl TypedTool for Worker {
    type Input = WorkerInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<WorkerInput>("worker", Tier::Read, "Worker", "Evaluates something.")
    }

    async fn call(
        &self,
        input: WorkerInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let kernels = Arc::clone(self.kernels.get().unwrap());
        let root = context.run().workspace_root().to_owned();
        let run = tiers::Run::builder(root, tiers::Trust::Trusted, tiers::Mode::Full)
            .parent_call(context)
            .build()
            .unwrap();
        let mut registry = tiers::Registry::builder(run).typed(kernel::Eval::new(kernels));
        if let Some(other) = &self.other {
            registry = registry.typed(Self::clone(other));
        }
        let registry = registry.build().unwrap();
        let arguments = json!({ "code": input.code, "description": "work" });
        registry.dispatch("eval", arguments).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_waits_for_a_worker_that_wants_the_kernel_gets_an_answer() {
    let worker = Worker::default();
    let kernels = Arc::clone(&worker.kernels);
    let notebook = Notebook::with(KernelLimits::default(), |builder| builder.typed(worker));
    kernels.set(Arc::clone(&notebook.kernels)).unwrap();
    let began = Instant::now();
    let outcome = notebook.run("tool('worker', {'code': '1'})").await;
    outcome.has("nested in one that uses the python kernel");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_kernels_that_call_into_each_other_end_in_an_answer() {
    let (to_left, mut to_right) = (Worker::default(), Worker::default());
    to_right.other = Some(Box::new(to_left.clone()));
    let kernels = [&to_left, &to_right].map(|worker| Arc::clone(&worker.kernels));
    let left = Notebook::with(KernelLimits::default(), |builder| builder.typed(to_right));
    let right = Notebook::with(KernelLimits::default(), |builder| builder.typed(to_left));
    for (kernels, notebook) in kernels.iter().zip([&left, &right]) {
        kernels.set(Arc::clone(&notebook.kernels)).unwrap();
    }

    // The cell on the left waits for one on the right, and that for the left.
    let began = Instant::now();
    let inner = "tool('worker', {'code': '1'})";
    let outcome = left
        .run(&format!("tool('worker', {{'code': {inner:?}}})"))
        .await;
    outcome.has("nested in one that holds the python kernel");

    // Each holds its own kernel and wants the other's.
    let cell = "import time\ntime.sleep(1)\ntool('worker', {'code': '1'})";
    let (first, second) = tokio::join!(left.run(cell), right.run(cell));
    assert!(began.elapsed() < Duration::from_secs(20));
    let failed = [&first, &second]
        .iter()
        .filter(|outcome| outcome.error.is_some())
        .count();
    assert!(failed > 0, "{}\n{}", first.text, second.text);
    for notebook in [&left, &right] {
        assert_eq!(notebook.run("2 + 2").await.value(), Some("4"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_is_stopped_names_the_calls_that_had_ended_and_keeps_what_they_gave() {
    let (notebook, _) = with_echo(KernelLimits::default());
    let cell = "import time\ntool('echo', {'text': 'the first'})\ntry:\n    tool('echo', {'text': 'fail'})\nexcept ToolError:\n    pass\ntime.sleep(60)";
    let stopped = notebook
        .run_cancelled(cell, Duration::from_millis(500))
        .await;
    stopped.has("tool calls that had ended: `echo` {\"text\":\"the first\"} (9 characters), `echo` {\"text\":\"fail\"} (failed: not_found); what they gave is in `");
    let path = stopped.text.split("what they gave is in `").nth(1).unwrap();
    let kept = std::fs::read_to_string(path.split('`').next().unwrap()).unwrap();
    assert_eq!(
        kept,
        "--- `echo` {\"text\":\"the first\"} (9 characters)\nthe first\n--- `echo` {\"text\":\"fail\"} (failed: not_found)\ncannot echo `fail`; say something else\n"
    );
    let died = notebook
        .run("import os\ntool('echo', {'text': 'last words'})\nos._exit(3)")
        .await;
    died.has("tool calls that had ended: `echo` {\"text\":\"last words\"} (10 characters)");
    let raised = notebook.run("tool('echo', {'text': 'a'})\n1 / 0").await;
    assert!(!raised.text.contains("had ended"), "{}", raised.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn code_gets_longer_results_than_a_model() {
    let (notebook, _) = with_echo(KernelLimits::default());
    let result = notebook
        .run("text = 'a line of text\\n' * 60_000\ntool('echo', {'text': text}) == text")
        .await;
    assert_eq!(result.value(), Some("True"), "{}", result.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_handler_in_the_middle_of_a_call_is_refused_and_not_waited_for() {
    let (notebook, _) = with_echo(KernelLimits::default());
    let cell = "import signal\nrefused = []\ndef handler(*_):\n    try:\n        tool('echo', {'text': 'inner'})\n    except ToolError as error:\n        refused.append(str(error))\n_ = signal.signal(signal.SIGALRM, handler)\n_ = signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)\ntext = tool('echo', {'text': 'outer', 'wait': 400})\n_ = signal.setitimer(signal.ITIMER_REAL, 0)\nprint(*set(refused))\ntext";
    let result = notebook.run(cell).await;
    assert_eq!(result.value(), Some("'outer'"), "{}", result.text);
    assert_eq!(
        result.output(),
        "a signal handler or a finalizer that interrupted a tool call cannot call a tool itself\n"
    );
}
