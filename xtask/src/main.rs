//! Development tasks of this workspace: `cargo xtask --help` lists them.

#![expect(clippy::print_stderr, reason = "tasks report on the terminal")]

mod bench;
mod check;
mod fuzz;
mod measure;
mod paths;
mod process;
mod setup;
mod tables;
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
    /// Run the conformance cases and golden specs only.
    Conformance(test::Filter),
    /// Check the invariants of the architecture and of the repository.
    Tidy,
    /// Write the tables that documents take from code.
    Tables(tables::Options),
    /// Count the tokens of each tool's spec.
    Tokens,
    /// Measure a tool against its yardstick and write docs/benchmarks.md.
    Bench(bench::Options),
    /// Throw random and mutated input at a target.
    Fuzz(fuzz::Options),
    /// Formatting, lints, docs, licences, tidy, tables and a short fuzz run.
    Check(setup::Options),
    /// What continuous integration runs: `check`, then `test`.
    Ci(test::Options),
    /// Run one program and print what it used, as JSON (used by `bench`).
    #[command(hide = true)]
    Measure(measure::Options),
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Setup(options) => setup::run(&options),
        Task::Test(options) => test::run(&options),
        Task::Conformance(filter) => test::conformance(&filter),
        Task::Tidy => tidy::run(),
        Task::Tables(options) => tables::run(&options),
        Task::Tokens => tables::tokens(),
        Task::Bench(options) => bench::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Check(options) => check::run(&options),
        Task::Ci(options) => {
            check::run(options.setup())?;
            test::run(&options)
        }
        Task::Measure(options) => measure::run(&options),
    }
}
