//! A run with `eval`, and a way to call it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::Workspace;
use host::process::Environment;
use kernel::{Eval, KernelLimits, Kernels, ProjectInterpreters};
use serde_json::{Value, json};
use tempfile::TempDir;
use tiers::{
    Call, Content, Dispatch as _, Mode, Registry, RegistryBuilder, Run, ToolError, ToolOutput,
    Trust,
};
use tokio_util::sync::CancellationToken;

/// One conversation.
pub(crate) struct Notebook {
    pub(crate) registry: Registry,
    pub(crate) kernels: Arc<Kernels>,
    pub(crate) folder: TempDir,
}

/// What a cell gave, whether it failed or not.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// All that the model reads.
    pub(crate) text: String,
    pub(crate) details: Value,
    pub(crate) error: Option<ToolError>,
}

/// The interpreter of the tests: the one of `TOOLSET_TEST_PYTHON`, else any that
/// is new enough.
pub(crate) fn python() -> PathBuf {
    let named = std::env::vars_os().find(|(name, _)| name == "TOOLSET_TEST_PYTHON");
    if let Some((_, python)) = named {
        return python.into();
    }
    [
        "/usr/bin/python3",
        "/usr/local/bin/python3",
        "/opt/homebrew/bin/python3",
    ]
    .into_iter()
    .map(PathBuf::from)
    .find(|path| path.is_file())
    .expect("the tests need Python 3.9 or later")
}

#[expect(
    clippy::disallowed_methods,
    reason = "where the tests start is their edge"
)]
fn environment() -> Environment {
    let _ = std::env::var("PATH");
    Environment::usual(std::env::vars_os())
}

impl Notebook {
    pub(crate) fn open() -> Self {
        Self::with(KernelLimits::default(), |builder| builder)
    }

    pub(crate) fn with(
        limits: KernelLimits,
        more: impl FnOnce(RegistryBuilder) -> RegistryBuilder,
    ) -> Self {
        Self::in_place(limits, |factory| factory, more)
    }

    /// Opens one whose interpreter runs where `place` says.
    pub(crate) fn in_place(
        limits: KernelLimits,
        place: impl FnOnce(ProjectInterpreters) -> ProjectInterpreters,
        more: impl FnOnce(RegistryBuilder) -> RegistryBuilder,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path(), Trust::Trusted).unwrap();
        let root = workspace.root().to_owned();
        let factory = ProjectInterpreters::new(workspace, environment()).python(Some(python()));
        let kernels = Kernels::new(Arc::new(place(factory)), limits);
        let run = Run::builder(root, Trust::Trusted, Mode::Full)
            .build()
            .unwrap();
        let builder = Registry::builder(run).typed(Eval::new(Arc::clone(&kernels)));
        Self {
            registry: more(builder).build().unwrap(),
            kernels,
            folder,
        }
    }

    /// Runs a cell.
    pub(crate) async fn run(&self, code: &str) -> Outcome {
        self.call(json!({ "code": code, "description": "test" }))
            .await
    }

    /// Runs a cell, and cancels it after a while.
    pub(crate) async fn run_cancelled(&self, code: &str, after: Duration) -> Outcome {
        let arguments = json!({ "code": code, "description": "test" });
        self.call_cancelled(arguments, after).await
    }

    pub(crate) async fn call_cancelled(&self, arguments: Value, after: Duration) -> Outcome {
        let token = CancellationToken::new();
        let cancel = async {
            tokio::time::sleep(after).await;
            token.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            outcome = self.call_with(arguments, token.clone()) => outcome,
            () = cancel => unreachable!(),
        }
    }

    pub(crate) async fn call(&self, arguments: Value) -> Outcome {
        self.call_with(arguments, CancellationToken::new()).await
    }

    async fn call_with(&self, arguments: Value, token: CancellationToken) -> Outcome {
        let shown = arguments.to_string();
        let call = Call::new("eval", arguments).with_token(token);
        let answer = self.registry.dispatch_call(call);
        // Nothing here takes that long unless it is broken.
        let answer = tokio::time::timeout(Duration::from_secs(60), answer);
        match answer.await {
            Ok(answer) => Outcome::of(answer),
            Err(_) => panic!("the host hangs on {shown}"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Outcome {
    fn of(answer: Result<ToolOutput, ToolError>) -> Self {
        let (output, error) = match answer {
            Ok(output) => (output, None),
            Err(mut error) => {
                let partial = error.partial.take();
                (
                    partial.map_or_else(|| ToolOutput::text(""), |p| *p),
                    Some(error),
                )
            }
        };
        let mut texts = Vec::new();

        for part in &output.content {
            match part {
                Content::Text(text) => texts.push(text.as_str()),
                Content::Image { .. } => {}
            }
        }
        let mut text = texts.join("\n");
        if let Some(error) = &error {
            text.push_str(&format!("\n{error}"));
        }
        Self {
            text,
            details: output.details,
            error,
        }
    }

    pub(crate) fn value(&self) -> Option<&str> {
        self.details["value"].as_str()
    }

    pub(crate) fn output(&self) -> &str {
        self.details["output"].as_str().unwrap_or_default()
    }

    pub(crate) fn status(&self) -> &str {
        self.details["status"].as_str().unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn has(&self, piece: &str) {
        assert!(self.text.contains(piece), "no `{piece}` in:\n{}", self.text);
    }
}

/// Waits until `is_true` holds.
pub(crate) async fn eventually(is_true: impl Fn() -> bool) {
    for _ in 0..500 {
        if is_true() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not come true");
}
