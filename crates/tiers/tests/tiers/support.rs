//! Tools made of closures, and runs in folders that go away.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;
use tiers::{
    Admission, CallContext, Event, EventKind, EventQueue, Group, Limits, Mode, Outcome, Run,
    RunBuilder, Tier, TimeLimit, Tool, ToolError, ToolOutput, ToolSpec, Trust,
};

type Answer = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;
type Body = Box<dyn Fn(Value, CallContext) -> Answer + Send + Sync>;

/// A tool whose body is a closure; any argument object is accepted under `input`.
pub(crate) struct Fake {
    spec: ToolSpec,
    body: Body,
    group: Option<Arc<Group>>,
    limit: TimeLimit,
    paths: Vec<String>,
}

impl Fake {
    pub(crate) fn new<F, A>(name: &str, tier: Tier, body: F) -> Self
    where
        F: Fn(Value, CallContext) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        let schema = json!({
            "type": "object",
            "properties": { "input": { "type": "string", "description": "Anything." } },
            "additionalProperties": false,
        });
        Self {
            spec: ToolSpec::from_schema(name, tier, name, "Does something.", schema),
            body: Box::new(move |args, context| Box::pin(body(args, context))),
            group: None,
            limit: TimeLimit::Default,
            paths: Vec::new(),
        }
    }

    /// A tool that answers with its name.
    pub(crate) fn named(name: &str, tier: Tier) -> Self {
        Self::new(name, tier, |_, context: CallContext| async move {
            Ok(ToolOutput::text(context.tool()))
        })
    }

    pub(crate) fn in_group(mut self, group: &Arc<Group>) -> Self {
        self.group = Some(Arc::clone(group));
        self
    }

    pub(crate) fn limited(mut self, limit: TimeLimit) -> Self {
        self.limit = limit;
        self
    }

    pub(crate) fn writing(mut self, path: &str) -> Self {
        self.paths.push(path.to_owned());
        self
    }
}

#[async_trait]
impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn paths(&self, _: &Value) -> Vec<String> {
        self.paths.clone()
    }

    fn admission(&self, _: &Value) -> Admission {
        self.group
            .clone()
            .map_or(Admission::Parallel, Admission::Serial)
    }

    fn time_limit(&self, _: &Value) -> TimeLimit {
        self.limit
    }

    async fn call(&self, args: Value, context: &CallContext) -> Result<ToolOutput, ToolError> {
        (self.body)(args, context.clone()).await
    }
}

/// A workspace that is removed with this.
pub(crate) struct Place {
    pub folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn builder(&self, mode: Mode) -> RunBuilder {
        let path = self.folder.path().to_path_buf();
        Run::builder(path.clone(), Trust::Trusted, mode).folder_in(path)
    }

    pub(crate) fn run(&self, mode: Mode) -> Arc<Run> {
        self.builder(mode).build().unwrap()
    }

    pub(crate) fn limited(&self, change: impl FnOnce(&mut Limits)) -> Arc<Run> {
        let mut limits = Limits::default();
        change(&mut limits);
        self.builder(Mode::Full).limits(limits).build().unwrap()
    }
}

pub(crate) fn text(output: &ToolOutput) -> String {
    output
        .content
        .iter()
        .map(|part| match part {
            tiers::Content::Text(text) => text.clone(),
            tiers::Content::Image { media_type, .. } => format!("<{media_type}>"),
        })
        .collect::<Vec<_>>()
        .join("|")
}

/// Takes what is in the queue, one line per event, without ids and times.
pub(crate) fn lines(queue: &EventQueue) -> Vec<String> {
    std::iter::from_fn(|| queue.try_next())
        .map(|event| line(&event))
        .collect()
}

pub(crate) fn line(event: &Event) -> String {
    let kind = match &event.kind {
        EventKind::Started { tool, .. } => format!("started {tool}"),
        EventKind::Progress(progress) => format!("progress {}", progress.message),
        EventKind::Output {
            text,
            dropped_before,
        } => format!("output {text} -{dropped_before}"),
        EventKind::Finished {
            outcome,
            dropped_chunks,
            ..
        } => {
            let outcome = match outcome {
                Outcome::Succeeded => "succeeded".to_owned(),
                Outcome::Failed(kind) => kind.as_str().to_owned(),
                Outcome::Dropped => "dropped".to_owned(),
            };
            format!("finished {outcome} -{dropped_chunks}")
        }
        _ => "unknown".to_owned(),
    };
    format!("{} {kind}", event.sequence)
}
