//! `cargo xtask bench registry`: how long a run waits for its tools.

use anyhow::Result;

use crate::process::{capture, cargo, command};
use crate::{paths, tables};

/// Measures and writes the table of `docs/benchmarks.md`.
pub(super) fn run() -> Result<()> {
    let mut inspect = cargo(["run", "--release", "--quiet", "--package", "conformance"]);
    let table = capture(inspect.args(["--bin", "inspect", "--", "registry"]))?;
    let date = capture(command("date", &paths::root()).args(["-u", "+%Y-%m-%d"]))?;
    let cores = std::thread::available_parallelism()?;
    let table = format!(
        "Measured on {} on {cores} cores.\n\n{table}",
        date.trim_end()
    );
    let path = paths::root().join("docs/benchmarks.md");
    let document = std::fs::read_to_string(&path)?;
    std::fs::write(
        &path,
        tables::between_markers(&document, "registry", &table)?,
    )?;
    eprintln!("{table}\nbench: wrote docs/benchmarks.md");
    Ok(())
}
