//! One run of the command line, and the calls in it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tiers::{Call, Content, Dispatch as _, ErrorKind, Registry, ToolError, ToolOutput};
use tokio_util::sync::CancellationToken;
use toolset::Toolset;

use super::{Failure, INTERRUPTED, complain, print, remark, trust};
use crate::assemble::{Attachments, assemble};
use crate::cli::RunArgs;
use crate::environment::Environment;
use crate::progress::{Reporter, TICK};
use crate::wire;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Text for people.
    Text,
    /// One JSON object over several lines.
    Pretty,
    /// One JSON object on one line.
    Line,
}

/// A run.
pub(super) struct Session<'a> {
    toolset: Toolset,
    reporter: Arc<Reporter>,
    environment: &'a Environment,
}

impl<'a> Session<'a> {
    /// Opens the run that the command line describes.
    pub(super) fn open(args: &RunArgs, environment: &'a Environment) -> Result<Self, Failure> {
        Self::with(args, environment, Attachments::default())
    }

    /// Opens such a run for one call.
    pub(super) fn for_one_call(
        args: &RunArgs,
        environment: &'a Environment,
    ) -> Result<Self, Failure> {
        let attachments = Attachments {
            is_one_call: true,
            ..Attachments::default()
        };
        Self::with(args, environment, attachments)
    }

    fn with(
        args: &RunArgs,
        environment: &'a Environment,
        attachments: Attachments,
    ) -> Result<Self, Failure> {
        let workspace = trust::workspace(args, environment)?;
        let reporter = Arc::new(Reporter::new(environment.stderr));
        let attachments = Attachments {
            file_tools: true,
            settings: environment.settings.clone(),
            events: Some(Arc::clone(&reporter) as _),
            ..attachments
        };
        let toolset = assemble(workspace, args.mode.mode(), attachments)?;
        Ok(Self {
            toolset,
            reporter,
            environment,
        })
    }

    pub(super) fn registry(&self) -> &Registry {
        self.toolset.registry()
    }

    /// Returns the input schema of a tool; null where there is no such tool.
    pub(super) fn schema(&self, tool: &str) -> Value {
        let specs = self.registry().specs();
        let spec = specs.iter().find(|spec| spec.name == tool);
        spec.map_or(Value::Null, |spec| spec.input_schema.clone())
    }

    /// Makes one call; Ctrl-C cancels it, and a second time ends the program.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Value,
        timeout: Option<Duration>,
    ) -> Result<ToolOutput, ToolError> {
        let token = CancellationToken::new();
        let mut call = Call::new(tool, arguments).with_token(token.clone());
        if let Some(timeout) = timeout {
            call = call.within(timeout);
        }
        let began = Instant::now();
        let mut running = std::pin::pin!(self.registry().dispatch_call(call));
        let mut ticks = tokio::time::interval(TICK);
        let result = loop {
            tokio::select! {
                biased;
                result = &mut running => break result,
                Ok(()) = tokio::signal::ctrl_c() => {
                    if token.is_cancelled() {
                        self.reporter.clear();
                        // At once: children are killed, not asked.
                        host::process::finish(Duration::ZERO);
                        std::process::exit(i32::from(INTERRUPTED));
                    }
                    token.cancel();
                }
                _ = ticks.tick() => self.reporter.tick(began.elapsed(), Instant::now()),
            }
        };
        self.reporter.clear();
        result
    }

    /// Writes a result.
    pub(super) fn show(
        &self,
        result: &Result<ToolOutput, ToolError>,
        format: Format,
    ) -> Result<(), Failure> {
        match format {
            // Written as it is, without a copy: it may hold very many matches.
            Format::Pretty => print(&match result {
                Ok(output) => serde_json::to_string_pretty(output)? + "\n",
                Err(_) => serde_json::to_string_pretty(&wire::result(result))? + "\n",
            })?,
            Format::Line => print(&match result {
                Ok(output) => serde_json::to_string(output)? + "\n",
                Err(_) => serde_json::to_string(&wire::result(result))? + "\n",
            })?,
            Format::Text => match result {
                Ok(output) => print(&text_of(output))?,
                Err(error) => {
                    if let Some(partial) = &error.partial {
                        print(&text_of(partial))?;
                    }
                    complain(self.environment, &error.to_string());
                    for notice in &error.notices {
                        remark(notice);
                    }
                }
            },
        }
        Ok(())
    }

    /// Ends the run.
    pub(super) async fn end(self) {
        self.toolset.end().await;
    }
}

/// Returns the exit code of a result.
pub(super) fn exit_code(result: &Result<ToolOutput, ToolError>) -> u8 {
    match result {
        Ok(_) => 0,
        Err(error) if error.kind == ErrorKind::Cancelled => INTERRUPTED,
        Err(_) => super::FAILED,
    }
}

fn text_of(output: &ToolOutput) -> String {
    let mut text = String::new();
    for part in &output.content {
        match part {
            Content::Text(part) => text.push_str(part),
            Content::Image { media_type, data } => {
                text.push_str(&format!("[image: {media_type}, {} bytes]", data.len()));
            }
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}
