//! `cargo xtask bench kernel`: `eval` against a Jupyter kernel.

use anyhow::Result;

use crate::process::{capture, cargo, command, run as run_command};
use crate::{paths, setup, tables};

/// Measures and writes the table of `docs/benchmarks.md`.
pub(super) fn run(runs: usize) -> Result<()> {
    setup::run(&setup::Options::default())?;
    run_command(&mut cargo([
        "build",
        "--release",
        "--package",
        "toolset-harness",
    ]))?;
    let root = paths::root();
    let table = capture(
        command(paths::installed().join("notebook/bin/python"), &root)
            .arg("xtask/src/bench/kernel.py")
            .arg(root.join("target/release/toolset"))
            .arg(runs.to_string()),
    )?;
    let date = capture(command("date", &root).args(["-u", "+%Y-%m-%d"]))?;
    let cores = std::thread::available_parallelism()?;
    let table = format!(
        "Medians of {runs} turns on {cores} cores, {}.\n\n{table}",
        date.trim_end()
    );
    let path = root.join("docs/benchmarks.md");
    let document = std::fs::read_to_string(&path)?;
    std::fs::write(&path, tables::between_markers(&document, "kernel", &table)?)?;
    eprintln!("{table}\nbench: wrote docs/benchmarks.md");
    Ok(())
}
