//! Measures `lsp` against the servers themselves and against mcpls.
//!
//!     cargo bench --package toolset-lsp-bridge -- SERVERS MCPLS RUNS [ID]
//!
//! `SERVERS` is the folder that `cargo xtask setup` installs servers into and
//! `MCPLS` the program, or `-` to leave it out. Each figure is taken of one and the other in turn, so
//! that what else the machine does falls on both. Prints tables for the
//! documentation; `cargo xtask bench lsp` puts them there.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for a terminal"
)]

mod mcpls;
mod measure;
mod ours;
mod processes;
mod raw;
mod rows;

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use measure::Bench;

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` and `cargo test --benches` add words of their own.
    arguments.retain(|argument| !argument.starts_with("--"));
    let mut arguments = arguments.into_iter();
    let Some(servers) = arguments.next() else {
        return Ok(());
    };
    let mcpls = arguments
        .next()
        .context("give the program `mcpls`, or `-`")?;
    let runs = arguments.next().context("give the number of runs")?;
    let bench = Bench {
        servers: PathBuf::from(servers),
        mcpls: (mcpls != "-").then(|| PathBuf::from(mcpls)),
        runs: runs.parse()?,
        only: arguments.next(),
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let tables = runtime.enable_all().build()?.block_on(bench.tables())?;
    println!("{tables}");
    Ok(())
}
