//! Development tasks of this workspace: `cargo xtask --help` lists them.

#![expect(clippy::print_stderr, reason = "tasks report on the terminal")]

mod check;
mod paths;
mod process;
mod setup;
mod test;
mod tidy;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Development tasks. Everything is built in the release profile.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Install what the tests need into `.toolset/`; a second run does nothing.
    Setup(setup::Options),
    /// Run every test, after `setup`.
    Test(test::Options),
    /// Check the invariants of the architecture and of the repository.
    Tidy,
    /// Formatting, lints, docs, licences and tidy.
    Check(setup::Options),
    /// What continuous integration runs: `check`, then `test`.
    Ci(test::Options),
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Setup(options) => setup::run(&options),
        Task::Test(options) => test::run(&options),
        Task::Tidy => tidy::run(),
        Task::Check(options) => check::run(&options),
        Task::Ci(options) => {
            check::run(options.setup())?;
            test::run(&options)
        }
    }
}
