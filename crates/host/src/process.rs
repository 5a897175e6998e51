//! Child processes: the only place that starts one.
//!
//! One thread per program, the reaper, starts, stops and collects every child.
//! It belongs to no asynchronous runtime, so dropping a [`Child`] is always
//! enough, from any thread and while a runtime dies: the reaper then takes the
//! child through its [`ShutdownPlan`] and kills what is left.
//!
//! Each child leads a session of its own, without a terminal. When it has ended,
//! for whatever reason, what remains of its process group is killed, and on
//! Linux what remains of its session. A descendant that starts a session of its
//! own (a daemon) is out of reach, unless the command says
//! [`ChildCommand::mark_descendants`]. When our program dies without a word, Linux
//! kills the child, and marked descendants are killed too; others, and on macOS
//! all, notice only that their pipes closed. A program that ends in order calls
//! [`finish`].
//!
//! A child sees the environment and the directory it is given, nothing of ours.
//!
//! ```
//! use host::process::{ChildCommand, Environment};
//! use std::path::Path;
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let environment = Environment::usual(std::env::vars_os());
//! let finished = ChildCommand::new(Path::new("/bin/sh"), Path::new("/"))
//!     .args(["-c", "echo out; echo err >&2; exit 3"])
//!     .environment(environment)
//!     .run(Duration::from_secs(10))
//!     .await?;
//! assert_eq!(finished.stdout.to_text(), "out\n");
//! assert_eq!(finished.stderr.to_text(), "err\n");
//! assert_eq!(finished.exit.to_string(), "exit code 3");
//! # Ok(())
//! # }
//! ```

mod capture;
mod child;
mod command;
mod environment;
mod error;
mod exit;
#[cfg(target_os = "linux")]
mod guard;
mod inherited;
mod launcher;
mod memory;
mod pipe;
mod plan;
mod reaper;
#[cfg(target_os = "linux")]
mod session;
mod spawn;
#[cfg(target_os = "linux")]
mod tagged;

pub use capture::{CaptureLimits, Captured};
pub use child::{Child, ExitWatch, Signal, Target};
pub use command::{ChildCommand, Finished, Input, Output};
pub use environment::Environment;
pub use error::{RunError, StartError};
pub use exit::Exit;
pub use inherited::Inherited;
pub use launcher::{Launcher, Sandbox};
pub use memory::machine_memory;
pub use pipe::{ChildOutput, ChildStdin};
pub use plan::{ShutdownPlan, Step};
pub use reaper::finish;
