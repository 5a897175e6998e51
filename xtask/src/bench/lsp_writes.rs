//! `cargo xtask bench lsp-writes`: how long a write waits for its verdict, beside
//! the servers themselves and beside what others do to get one.

use anyhow::Result;

use super::lsp;
use crate::process::{capture, cargo};
use crate::setup;

/// Timed and random edits of each server, for each run.
const TIMED: usize = 20;
const RANDOM: usize = 200;

/// Measures and writes the tables of `docs/benchmarks.md`; with `only`, measures
/// one server and prints them.
pub(super) fn run(runs: usize, only: Option<&str>) -> Result<()> {
    setup::run(&setup::Options::default())?;
    let mut bench = cargo([
        "bench",
        "--quiet",
        "--package",
        "toolset-lsp-bridge",
        "--bench",
        "writes",
        "--",
    ]);
    bench.arg((runs * TIMED).to_string());
    bench.arg((runs * RANDOM).to_string()).args(only);
    bench.stderr(std::process::Stdio::inherit());
    let measured = capture(&mut bench)?;
    let table = format!(
        "Medians and 95th percentiles of {} edits on {}.\n\n{}\n",
        runs * TIMED,
        lsp::when_and_where()?,
        measured.trim_end()
    );
    lsp::publish("lsp-writes", &table, only)
}
