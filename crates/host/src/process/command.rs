//! What to start, and how.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::capture::{CaptureLimits, Captured};
use super::child::Child;
use super::environment::Environment;
use super::error::{RunError, StartError};
use super::exit::Exit;
use super::inherited::Inherited;
use super::launcher::Launcher;
use super::plan::ShutdownPlan;
use super::reaper;

/// How long output may still come in after a child and its group have ended.
const OUTPUT_GRACE: Duration = Duration::from_millis(500);

/// A child's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Empty.
    Null,
    /// Ours: [`Child::take_stdin`].
    Piped,
}

/// A child's standard output or error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Thrown away.
    Null,
    /// Ours: [`Child::take_stdout`], [`Child::take_stderr`]. The child waits
    /// when we do not read.
    Piped,
    /// Read in the background, beginning and end kept.
    Captured(CaptureLimits),
}

/// Whether a child that crashes may leave its memory in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CoreDumps {
    /// As for this program.
    AsOurs,
    Off,
}

/// A command line with all that a child gets.
///
/// Without further calls: no arguments, an empty environment, no input, output
/// thrown away, the end of standard error kept, the default [`ShutdownPlan`].
#[derive(Debug, Clone)]
pub struct ChildCommand {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) directory: PathBuf,
    pub(super) environment: Environment,
    pub(super) stdin: Input,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    pub(super) plan: ShutdownPlan,
    pub(super) launcher: Option<Launcher>,
    pub(super) inherited: Vec<Inherited>,
    pub(super) marks_descendants: bool,
    pub(super) core_dumps: CoreDumps,
}

/// A child that ran to its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
}

impl ChildCommand {
    /// Builds a command that starts the executable `program`, an absolute path,
    /// in `directory`.
    #[must_use]
    pub fn new(program: &Path, directory: &Path) -> Self {
        Self {
            program: program.to_owned(),
            args: Vec::new(),
            directory: directory.to_owned(),
            environment: Environment::empty(),
            stdin: Input::Null,
            stdout: Output::Null,
            stderr: Output::Captured(CaptureLimits::TAIL),
            plan: ShutdownPlan::default(),
            launcher: None,
            inherited: Vec::new(),
            marks_descendants: false,
            core_dumps: CoreDumps::AsOurs,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the environment: all of it.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets where standard input comes from.
    #[must_use]
    pub fn stdin(mut self, input: Input) -> Self {
        self.stdin = input;
        self
    }

    /// Sets where standard output goes.
    #[must_use]
    pub fn stdout(mut self, output: Output) -> Self {
        self.stdout = output;
        self
    }

    /// Sets where standard error goes.
    #[must_use]
    pub fn stderr(mut self, output: Output) -> Self {
        self.stderr = output;
        self
    }

    /// Sets what happens when the [`Child`] is dropped.
    #[must_use]
    pub fn shutdown(mut self, plan: ShutdownPlan) -> Self {
        self.plan = plan;
        self
    }

    /// Adds a descriptor that the child gets under its [`Inherited::number`].
    #[must_use]
    pub fn inherit(mut self, descriptor: Inherited) -> Self {
        self.inherited.push(descriptor);
        self
    }

    /// Marks the child's environment, so that at its end descendants are killed
    /// wherever they went, those in sessions of their own too.
    ///
    /// When this program dies without a word, a shell that waits for that
    /// (`/bin/sh`, one for all children) kills them. One that clears its
    /// environment is out of reach. Works on Linux only.
    #[must_use]
    pub fn mark_descendants(mut self) -> Self {
        self.marks_descendants = true;
        self
    }

    /// Sees to it that the child leaves no file with its memory when it crashes,
    /// unless it raises its own limit.
    #[must_use]
    pub fn without_core_dumps(mut self) -> Self {
        self.core_dumps = CoreDumps::Off;
        self
    }

    /// Sets where the command runs; `None` is the host.
    #[must_use]
    pub fn launcher(mut self, launcher: Option<Launcher>) -> Self {
        self.launcher = launcher;
        self
    }

    /// Starts the child.
    ///
    /// Must be awaited in a tokio runtime with I/O enabled.
    ///
    /// # Errors
    /// The program or directory cannot be used; the text says which and why.
    ///
    /// # Cancel
    /// A child that was started meanwhile goes through its plan.
    pub async fn start(self) -> Result<Child, StartError> {
        reaper::start(self).await
    }

    /// Runs the child to its end, without input, and captures both streams.
    ///
    /// # Errors
    /// It does not start; or `limit` passes first: then it goes through its plan.
    ///
    /// # Cancel
    /// The child goes through its plan.
    pub async fn run(mut self, limit: Duration) -> Result<Finished, RunError> {
        for (output, limits) in [
            (&mut self.stdout, CaptureLimits::BOTH_ENDS),
            (&mut self.stderr, CaptureLimits::TAIL),
        ] {
            if !matches!(output, Output::Captured(_)) {
                *output = Output::Captured(limits);
            }
        }
        self.stdin = Input::Null;
        let program = self.program.clone();
        let child = self.start().await?;
        let Ok(exit) = tokio::time::timeout(limit, child.wait_for_exit()).await else {
            return Err(RunError::Timeout {
                program,
                limit,
                stderr: child.stderr().to_text(),
            });
        };
        let (stdout, stderr) = (child.stdout().clone(), child.stderr().clone());
        // A descendant out of reach may keep the pipes open for ever.
        let _ = tokio::time::timeout(OUTPUT_GRACE, async {
            stdout.wait_until_closed().await;
            stderr.wait_until_closed().await;
        })
        .await;
        Ok(Finished {
            exit,
            stdout,
            stderr,
        })
    }
}
