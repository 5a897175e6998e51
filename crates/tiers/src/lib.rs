//! Tier, ceiling, tool contract, registry and gate of a coding-agent harness.
//!
//! A harness attaches the live resources of one agent [`Run`] and hands the
//! model a [`Registry`] of tools. Each tool declares one [`Tier`]; the run's
//! [`Ceiling`] decides which tools the model sees at all, and a call to a tool
//! above it answers like a call to one that does not exist. Dispatch is the
//! only way to run a tool: it looks it up, checks the arguments, asks the
//! gate, waits for the resource, runs the call under its token and deadline,
//! cuts what is too long, and appends what the run has to tell the model.
//!
//! This crate knows no protocol and no tool. Someone who writes a tool depends
//! on it alone:
//!
//! ```
//! use std::sync::Arc;
//!
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use tiers::{CallContext, Mode, Registry, Run, Tier, ToolError, ToolOutput, ToolSpec, Trust, TypedTool};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Greeting {
//!     /// Whom to greet.
//!     name: String,
//!     /// How many times; default 1.
//!     times: Option<u8>,
//! }
//!
//! struct Greet;
//!
//! impl TypedTool for Greet {
//!     type Input = Greeting;
//!
//!     fn spec(&self) -> ToolSpec {
//!         ToolSpec::of::<Greeting>("greet", Tier::Read, "Greet", "Greets somebody.")
//!     }
//!
//!     async fn call(&self, input: Greeting, _: &CallContext) -> Result<ToolOutput, ToolError> {
//!         let times = usize::from(input.times.unwrap_or(1));
//!         Ok(ToolOutput::text(format!("hello {}\n", input.name).repeat(times)))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let workspace = folder.path().to_path_buf();
//! let run = Run::builder(workspace, Trust::Trusted, Mode::Plan).build()?;
//! let registry = Registry::builder(Arc::clone(&run)).typed(Greet).build()?;
//!
//! let output = registry.dispatch("greet", serde_json::json!({ "name": "you" })).await?;
//! assert_eq!(output, ToolOutput::text("hello you\n"));
//!
//! let error = registry.dispatch("greet", serde_json::json!({ "nmae": "you" })).await.unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "wrong arguments for `greet`: there is no `nmae`: write `name`; \
//!      `greet` takes `name` (string, required), `times` (integer from 0 to 255)"
//! );
//! # Ok(())
//! # }
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail"))]

mod arguments;
mod cap;
mod context;
mod error;
mod event;
mod gate;
mod id;
mod nearest;
mod notices;
mod output;
mod registry;
mod render;
mod run;
mod schema;
mod spec;
mod tier;
mod tool;
mod visible;

pub use cap::{Capped, Caps, cap_text};
pub use context::{CallContext, CallDispatch, OpenCall, Progress};
pub use error::{ErrorKind, ToolError};
pub use event::{Event, EventKind, EventQueue, EventSink, Outcome};
pub use gate::{Approval, ApprovalRequest, Approver, Decision, GateRequest, Guardrail};
pub use id::{CallId, RunId};
pub use nearest::nearest;
pub use notices::{NoticeId, RunNotices};
pub use output::{Content, ToolOutput};
pub use registry::{
    Absence, Admission, BuildError, Call, Dispatch, Group, Hold, Registry, RegistryBuilder,
    Withheld,
};
pub use run::{Limits, Run, RunBuilder, RunError, RunFile, RunFolder, Trust};
pub use spec::{Concurrency, ToolSpec};
pub use tier::{Ceiling, Mode, Tier};
pub use tool::{TimeLimit, Tool, Typed, TypedTool};
pub use visible::visible;
