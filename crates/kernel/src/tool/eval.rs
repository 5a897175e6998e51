//! The tool `eval`: a cell in a persistent interpreter.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tiers::{Admission, CallContext, Tier, TimeLimit, ToolError, ToolOutput, ToolSpec, TypedTool};

use super::page::Saving;
use super::render;
use crate::factory::Language;
use crate::slot::{Kernels, Request};

const DESCRIPTION: &str = "Run a cell of code in an interpreter that stays: variables, imports \
and loaded data are there in the next call. The value of the last expression is returned, as in a \
notebook; `display(x)` shows more, figures and images come back as images. Top-level `await`, \
`%pip install x`, `!command` and `%%bash` work. `tool(name, {...})` calls another of your tools \
from the cell and returns its text (`await tool_async(...)` for several at once). There is no \
standard input.";

/// Arguments of `eval`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EvalInput {
    /// The cell.
    pub code: String,
    /// What it does, in 5 to 10 words, for people who follow along.
    pub description: String,
    /// Default `python`.
    pub language: Option<Language>,
    /// Throw the interpreter away and start clean first; default false.
    pub reset: Option<bool>,
    /// Seconds without output after which the cell is stopped; time in which it
    /// waits for a tool does not count. Default 300, at most 3600.
    pub timeout_seconds: Option<u32>,
}

/// The tool `eval`.
#[derive(Debug)]
pub struct Eval {
    kernels: Arc<Kernels>,
    saved_in: Option<PathBuf>,
}

impl Eval {
    /// Builds the tool on the kernels of a conversation.
    #[must_use]
    pub fn new(kernels: Arc<Kernels>) -> Self {
        Self {
            kernels,
            saved_in: None,
        }
    }

    /// Saves images in `folder`, where they stay; the default is the run's
    /// folder, which ends with the run.
    #[must_use]
    pub fn save_in(mut self, folder: PathBuf) -> Self {
        self.saved_in = Some(folder);
        self
    }
}

impl TypedTool for Eval {
    type Input = EvalInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<EvalInput>("eval", Tier::Exec, "Run code", DESCRIPTION)
            .with_details::<super::EvalDetails>()
            .serial()
    }

    fn admission(&self, input: &EvalInput) -> Admission {
        Admission::Serial(self.kernels.group(language(input)))
    }

    fn time_limit(&self, _input: &EvalInput) -> TimeLimit {
        // The idle budget.
        TimeLimit::Own
    }

    async fn call(&self, input: EvalInput, context: &CallContext) -> Result<ToolOutput, ToolError> {
        let language = language(&input);
        let seconds = input.timeout_seconds.filter(|seconds| *seconds > 0);
        let request = Request {
            language,
            code: input.code,
            reset: input.reset.unwrap_or(false),
            idle: seconds.map(|seconds| Duration::from_secs(seconds.into())),
        };
        let kernels = Arc::clone(&self.kernels);
        let inner = context.clone();
        // Not cut in half: a cell that is stopped ends in order, or its
        // interpreter is killed and the model told.
        let ran = context
            .run_to_completion(async move { kernels.run(request, &inner).await })
            .await??;
        let save = Saving::new(context, self.saved_in.as_deref());
        render::result(language, ran, &save)
    }
}

fn language(input: &EvalInput) -> Language {
    input.language.unwrap_or(Language::Python)
}
