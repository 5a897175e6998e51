//! Groups: one call at a time, and no cycle of waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tiers::{
    Admission, CallContext, Dispatch, ErrorKind, EventQueue, Group, Hold, Mode, Registry, Run,
    Tier, Tool, ToolError, ToolOutput, ToolSpec, Trust,
};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;

use crate::support::{Fake, Place, lines};

/// A tool that holds its group until it is told to stop.
fn holder(name: &str, group: &Arc<Group>, release: &Arc<Notify>) -> Fake {
    let release = Arc::clone(release);
    Fake::new(name, Tier::Read, move |_, _| {
        let release = Arc::clone(&release);
        async move {
            release.notified().await;
            Ok(ToolOutput::text("released"))
        }
    })
    .in_group(group)
}

async fn wait_until(is_true: impl Fn() -> bool) {
    while !is_true() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn calls_of_one_group_wait_for_each_other_in_any_registry() {
    let place = Place::new();
    let (group, release) = (Group::new("python kernel"), Arc::new(Notify::new()));
    let queue = EventQueue::new(100);
    let registry = |name: &str| {
        Registry::builder(place.run(Mode::Full))
            .tool(holder(name, &group, &release))
            .events(queue.clone())
            .build()
            .unwrap()
    };
    let (first, second) = (registry("first"), registry("second"));
    let one = tokio::spawn(async move { first.dispatch("first", json!({})).await });
    wait_until(|| group.is_held()).await;
    lines(&queue);
    let two = tokio::spawn(async move { second.dispatch("second", json!({})).await });
    assert_eq!(
        crate::support::line(&queue.next().await),
        "0 started second"
    );
    assert_eq!(
        crate::support::line(&queue.next().await),
        "1 progress waiting for the python kernel"
    );
    assert!(!two.is_finished());
    release.notify_one();
    assert!(one.await.unwrap().is_ok());
    release.notify_one();
    assert!(two.await.unwrap().is_ok());
    assert!(!group.is_held());
}

#[tokio::test]
async fn a_group_is_held_until_its_resource_is_idle_even_if_the_caller_is_dropped() {
    let place = Place::new();
    let group = Group::new("kernel");
    let (send, receive) = oneshot::channel::<Hold>();
    let send = std::sync::Mutex::new(Some(send));
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(
            Fake::new("eval", Tier::Read, move |_, context: CallContext| {
                let hold = context.hold().unwrap();
                let _ = send.lock().unwrap().take().unwrap().send(hold);
                std::future::pending()
            })
            .in_group(&group),
        )
        .build()
        .unwrap();
    let caller = tokio::spawn(async move { registry.dispatch("eval", json!({})).await });
    // The resource keeps the hold while it interrupts what runs.
    let hold = receive.await.unwrap();
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    assert!(group.is_held());
    assert_eq!(hold.group().name(), "kernel");
    drop(hold);
    assert!(!group.is_held());
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_busy_group_ends_in_a_timeout() {
    let place = Place::new();
    let (group, release) = (Group::new("kernel"), Arc::new(Notify::new()));
    let registry = Registry::builder(place.limited(|limits| limits.call_timeout *= 100))
        .tool(holder("eval", &group, &release))
        .build()
        .unwrap();
    let first = tokio::spawn({
        let registry = registry.clone();
        async move { registry.dispatch("eval", json!({})).await }
    });
    wait_until(|| group.is_held()).await;
    let error = registry.dispatch("eval", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert_eq!(
        error.to_string(),
        "`eval` could not start: the kernel was busy for 300 s; try again later"
    );
    release.notify_one();
    first.await.unwrap().unwrap();
}

/// Holds `outer` and calls `inner` from within.
fn nesting(name: &str, group: &Arc<Group>, inner: &'static str) -> Fake {
    Fake::new(
        name,
        Tier::Read,
        move |_, context: CallContext| async move {
            context.dispatch().dispatch(inner, json!({})).await
        },
    )
    .in_group(group)
}

#[tokio::test]
async fn a_call_nested_in_a_holder_of_its_group_gets_a_conflict() {
    let place = Place::new();
    let group = Group::new("python kernel");
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(nesting("outer", &group, "inner"))
        .tool(Fake::named("inner", Tier::Read).in_group(&group))
        .build()
        .unwrap();
    let error = registry.dispatch("outer", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert_eq!(
        error.to_string(),
        "`inner` cannot run now: this call is nested in one that uses the python kernel; call it \
         after the outer call has returned"
    );
    assert!(!group.is_held());
}

#[tokio::test]
async fn a_call_that_holds_a_group_takes_another_free_or_gets_a_conflict() {
    let place = Place::new();
    let (kernel, session) = (Group::new("kernel"), Group::new("session"));
    let release = Arc::new(Notify::new());
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(nesting("outer", &kernel, "inner"))
        .tool(Fake::named("inner", Tier::Read).in_group(&session))
        .tool(holder("hold", &session, &release))
        .build()
        .unwrap();
    assert!(registry.dispatch("outer", json!({})).await.is_ok());
    let other = tokio::spawn({
        let registry = registry.clone();
        async move { registry.dispatch("hold", json!({})).await }
    });
    wait_until(|| session.is_held()).await;
    let error = registry.dispatch("outer", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert_eq!(
        error.why.unwrap(),
        "the session is busy, and this call is nested in one that holds the kernel, so it must \
         not wait"
    );
    release.notify_one();
    other.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_rule_holds_across_child_runs() {
    let place = Place::new();
    let (kernel, session) = (Group::new("kernel"), Group::new("session"));
    let release = Arc::new(Notify::new());
    let inner = Arc::clone(&session);
    let root = place.folder.path().to_path_buf();
    let registry = Registry::builder(place.run(Mode::Full))
        .tool(holder("hold", &session, &release))
        .tool(
            Fake::new("spawn", Tier::Read, move |_, context: CallContext| {
                let run = Run::builder(root.clone(), Trust::Trusted, Mode::Full)
                    .parent_call(&context)
                    .build()
                    .unwrap();
                let worker = Registry::builder(run)
                    .tool(Fake::named("inner", Tier::Read).in_group(&inner))
                    .build()
                    .unwrap();
                async move { worker.dispatch("inner", json!({})).await }
            })
            .in_group(&kernel),
        )
        .build()
        .unwrap();
    let other = tokio::spawn({
        let registry = registry.clone();
        async move { registry.dispatch("hold", json!({})).await }
    });
    wait_until(|| session.is_held()).await;
    let error = registry.dispatch("spawn", json!({})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    release.notify_one();
    other.await.unwrap().unwrap();
    assert!(registry.dispatch("spawn", json!({})).await.is_ok());
}

// Random schedules: trees of calls, each in a group or in none, whose children
// run one after the other or all at once, in the same run or in a child run,
// some of them dropped half-way, some with a resource that stays busy longer.

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Node {
    group: Option<usize>,
    children: Vec<Node>,
    at_once: bool,
    in_child_run: bool,
    /// Yields before the children are called.
    pause: u8,
    /// Yields for which the resource stays busy after the call.
    linger: u8,
    /// Yields after which the caller goes away.
    dropped_after: Option<u8>,
}

impl Node {
    fn random(rng: &mut Rng, depth: u32) -> Self {
        let count = if depth == 0 { 0 } else { rng.usize(0..4) };
        Self {
            group: rng.u8(0..3).checked_sub(1).map(|_| rng.usize(0..GROUPS)),
            children: (0..count).map(|_| Self::random(rng, depth - 1)).collect(),
            at_once: rng.bool(),
            in_child_run: rng.u8(0..4) == 0,
            pause: rng.u8(0..4),
            linger: if rng.u8(0..4) == 0 { rng.u8(1..6) } else { 0 },
            dropped_after: (rng.u8(0..8) == 0).then(|| rng.u8(0..10)),
        }
    }

    fn args(&self) -> Value {
        json!({ "input": serde_json::to_string(self).unwrap() })
    }

    fn parse(args: &Value) -> Self {
        serde_json::from_str(args["input"].as_str().unwrap()).unwrap()
    }
}

const GROUPS: usize = 3;

struct World {
    groups: Vec<Arc<Group>>,
    busy: Vec<AtomicBool>,
    ran: AtomicUsize,
    conflicts: AtomicUsize,
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            groups: (0..GROUPS)
                .map(|n| Group::new(format!("group {n}")))
                .collect(),
            busy: (0..GROUPS).map(|_| AtomicBool::new(false)).collect(),
            ran: AtomicUsize::new(0),
            conflicts: AtomicUsize::new(0),
        })
    }

    fn registry(self: &Arc<Self>, run: Arc<Run>) -> Registry {
        Registry::builder(run)
            .tool(NodeTool::new(self))
            .build()
            .unwrap()
    }
}

/// Marks a group as in use; two at once are a failure of exclusion.
struct InUse {
    world: Arc<World>,
    group: usize,
}

impl InUse {
    fn new(world: &Arc<World>, group: usize) -> Self {
        let was_busy = world.busy[group].swap(true, Ordering::SeqCst);
        assert!(!was_busy, "two calls in group {group}");
        Self {
            world: Arc::clone(world),
            group,
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.world.busy[self.group].store(false, Ordering::SeqCst);
    }
}

struct NodeTool {
    spec: ToolSpec,
    world: Arc<World>,
}

impl NodeTool {
    fn new(world: &Arc<World>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": { "input": { "type": "string", "description": "A node." } },
            "additionalProperties": false,
        });
        Self {
            spec: ToolSpec::from_schema("node", Tier::Read, "Node", "Runs a node.", schema),
            world: Arc::clone(world),
        }
    }
}

#[async_trait]
impl Tool for NodeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn admission(&self, args: &Value) -> Admission {
        Node::parse(args).group.map_or(Admission::Parallel, |n| {
            Admission::Serial(Arc::clone(&self.world.groups[n]))
        })
    }

    async fn call(&self, args: Value, context: &CallContext) -> Result<ToolOutput, ToolError> {
        let node = Node::parse(&args);
        self.world.ran.fetch_add(1, Ordering::SeqCst);
        let in_use = node.group.map(|group| InUse::new(&self.world, group));
        pause(node.pause).await;
        let dispatch: Arc<dyn Dispatch> = if node.in_child_run {
            let root = context.run().workspace_root().to_path_buf();
            let run = Run::builder(root, Trust::Trusted, Mode::Full)
                .parent_call(context)
                .build()
                .unwrap();
            Arc::new(self.world.registry(run))
        } else {
            Arc::new(context.dispatch())
        };
        if node.at_once {
            let mut children = JoinSet::new();
            for child in node.children {
                children.spawn(run_node(
                    Arc::clone(&self.world),
                    Arc::clone(&dispatch),
                    child,
                ));
            }
            children.join_all().await;
        } else {
            for child in node.children {
                run_node(Arc::clone(&self.world), Arc::clone(&dispatch), child).await;
            }
        }
        drop(in_use);
        if node.linger > 0
            && let Some(hold) = context.hold()
        {
            let (world, group) = (Arc::clone(&self.world), node.group.unwrap());
            tokio::spawn(async move {
                let _in_use = InUse::new(&world, group);
                pause(node.linger).await;
                drop(_in_use);
                drop(hold);
            });
        }
        Ok(ToolOutput::text("ran"))
    }
}

async fn pause(yields: u8) {
    for _ in 0..yields {
        tokio::task::yield_now().await;
    }
}

async fn run_node(world: Arc<World>, dispatch: Arc<dyn Dispatch>, node: Node) {
    let call = dispatch.dispatch_call(tiers::Call::new("node", node.args()));
    let result = match node.dropped_after {
        Some(yields) => tokio::select! {
            biased;
            result = call => result,
            () = pause(yields) => return,
        },
        None => call.await,
    };
    match result {
        Ok(_) => {}
        Err(error) if error.kind == ErrorKind::Conflict => {
            world.conflicts.fetch_add(1, Ordering::SeqCst);
        }
        // A call around this one was dropped.
        Err(error) if error.kind == ErrorKind::Cancelled => {}
        // The clock is paused and moves only when nothing else can: a timeout
        // is a deadlock. A panic is a failure of exclusion.
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn random_nested_schedules_never_deadlock_or_overlap() {
    let place = Place::new();
    let (mut ran, mut conflicts) = (0, 0);
    for seed in 0..600 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        runtime.unwrap().block_on(async {
            let mut rng = Rng::with_seed(seed);
            let world = World::new();
            let dispatch: Arc<dyn Dispatch> = Arc::new(world.registry(place.run(Mode::Full)));
            let mut roots = JoinSet::new();
            for _ in 0..rng.usize(2..6) {
                let node = Node::random(&mut rng, 3);
                roots.spawn(run_node(Arc::clone(&world), Arc::clone(&dispatch), node));
            }
            while let Some(root) = roots.join_next().await {
                root.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            }
            // What lingers ends by itself; then every group is free.
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
            assert!(
                world.groups.iter().all(|group| !group.is_held()),
                "seed {seed}"
            );
            ran += world.ran.load(Ordering::SeqCst);
            conflicts += world.conflicts.load(Ordering::SeqCst);
        });
    }
    // The schedules are worth something only if they meet.
    assert!(
        ran > 5_000 && conflicts > 1_000,
        "{ran} calls, {conflicts} conflicts"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn random_nested_schedules_end_on_many_threads_too() {
    let place = Place::new();
    for seed in 0..60 {
        let mut rng = Rng::with_seed(seed);
        let world = World::new();
        let dispatch: Arc<dyn Dispatch> = Arc::new(world.registry(place.run(Mode::Full)));
        let mut roots = JoinSet::new();
        for _ in 0..6 {
            let node = Node::random(&mut rng, 3);
            roots.spawn(run_node(Arc::clone(&world), Arc::clone(&dispatch), node));
        }
        while let Some(root) = roots.join_next().await {
            root.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
}
