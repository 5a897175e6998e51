//! What each command does.

mod call;
mod repl;
mod run;
mod serve;
mod tools;
mod trust;

use std::io::Write;
use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::environment::Environment;

/// Exit codes, as `--help` documents them.
pub(crate) const FAILED: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong.
    Usage(anyhow::Error),
    /// Anything else.
    Other(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

/// Runs one command.
pub(crate) async fn run(cli: Cli, environment: &Environment) -> ExitCode {
    let result = match cli.command {
        Command::Tools(args) => tools::run(&args, environment),
        Command::Call(args) => call::run(&args, environment).await,
        Command::Repl(args) => repl::run(&args, environment).await,
        Command::Serve => serve::run(environment).await,
        Command::Trust(args) => trust::trust(&args, environment),
        Command::Untrust(args) => trust::untrust(&args, environment),
    };
    let (code, error) = match result {
        Ok(code) => return ExitCode::from(code),
        Err(Failure::Usage(error)) => (USAGE, error),
        Err(Failure::Other(error)) => (FAILED, error),
    };
    let is_broken_pipe = error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe);
    if is_broken_pipe {
        // Whoever read the output has enough of it.
        return ExitCode::SUCCESS;
    }
    complain(environment, &format!("{error:#}"));
    ExitCode::from(code)
}

/// Writes `error: …` to standard error.
pub(crate) fn complain(environment: &Environment, message: &str) {
    remark(&format!("{} {message}", environment.stderr.bad("error:")));
}

/// Writes a line to standard error.
pub(crate) fn remark(line: &str) {
    // Nobody can be told that standard error is gone.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
