//! `cargo xtask bench lsp-writes`: how long a write waits for its verdict, beside
//! the servers themselves and beside what others do to get one.

use anyhow::Result;

use crate::process::{capture, cargo, command};
use crate::{paths, setup, tables};

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
    let root = paths::root();
    let date = capture(command("date", &root).args(["-u", "+%Y-%m-%d"]))?;
    let cores = std::thread::available_parallelism()?;
    let table = format!(
        "Medians and 95th percentiles of {} edits on {cores} cores, {}.\n\n{}\n",
        runs * TIMED,
        date.trim_end(),
        measured.trim_end()
    );
    if only.is_some() {
        eprintln!("\n{table}");
        return Ok(());
    }
    let path = root.join("docs/benchmarks.md");
    let document = std::fs::read_to_string(&path)?;
    let document = tables::between_markers(&document, "lsp-writes", &table)?;
    std::fs::write(&path, document)?;
    eprintln!("{table}\nbench: wrote docs/benchmarks.md");
    Ok(())
}
