//! `cargo xtask bench lsp`: `lsp` against the servers themselves and mcpls.

use std::path::PathBuf;

use anyhow::Result;

use crate::process::{capture, cargo, command, run as run_command};
use crate::{paths, setup, tables};

const MCPLS: &str = "0.6.0";

/// Measures and writes the tables of `docs/benchmarks.md`; with `only`, measures
/// one server and prints them.
pub(super) fn run(runs: usize, only: Option<&str>) -> Result<()> {
    setup::run(&setup::Options::default())?;
    let mcpls = mcpls()?;
    let mut bench = cargo([
        "bench",
        "--quiet",
        "--package",
        "toolset-lsp-bridge",
        "--bench",
        "servers",
        "--",
    ]);
    bench.arg(paths::installed().join("servers")).arg(mcpls);
    bench.arg(runs.to_string()).args(only);
    bench.stderr(std::process::Stdio::inherit());
    let measured = capture(&mut bench)?;
    let table = format!(
        "Medians on {}, with mcpls {MCPLS}.\n\n{}\n",
        when_and_where()?,
        measured.trim_end()
    );
    publish("lsp", &table, only)
}

/// Says on how many cores and on which day.
pub(super) fn when_and_where() -> Result<String> {
    let date = capture(command("date", &paths::root()).args(["-u", "+%Y-%m-%d"]))?;
    let cores = std::thread::available_parallelism()?;
    Ok(format!("{cores} cores, {}", date.trim_end()))
}

/// Puts tables between the markers of `docs/benchmarks.md`; those of one server
/// are only shown.
pub(super) fn publish(marker: &str, table: &str, only: Option<&str>) -> Result<()> {
    if only.is_some() {
        eprintln!("\n{table}");
        return Ok(());
    }
    let path = paths::root().join("docs/benchmarks.md");
    let document = std::fs::read_to_string(&path)?;
    std::fs::write(&path, tables::between_markers(&document, marker, table)?)?;
    eprintln!("{table}\nbench: wrote docs/benchmarks.md");
    Ok(())
}

/// Returns the program that `lsp` is measured against, installed where it is not.
fn mcpls() -> Result<PathBuf> {
    let folder = paths::installed().join("mcpls");
    let program = folder.join("bin/mcpls");
    let is_there = program.is_file()
        && capture(command(&program, &paths::root()).arg("--version"))?.contains(MCPLS);
    if !is_there {
        eprintln!("bench: compiles mcpls {MCPLS}, which takes minutes");
        let mut install = cargo(["install", "--quiet", "--locked", "mcpls", "--version"]);
        install.arg(MCPLS).arg("--root").arg(&folder);
        let target = folder.join("build");
        run_command(install.arg("--target-dir").arg(&target))?;
        std::fs::remove_dir_all(target)?;
    }
    Ok(program)
}
