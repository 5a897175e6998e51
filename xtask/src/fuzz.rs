//! `cargo xtask fuzz`: starts the fuzzer of the conformance package, or the one
//! that drives interpreters.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::paths;
use crate::process::{cargo, command, run as run_command};

/// What is thrown input at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// The pattern compiler, in every language.
    Pattern,
    /// Matcher and tool, over generated and mutated sources.
    Matcher,
    /// `eval`, with cells that fork, close, exit, take signals and call tools.
    Kernel,
}

/// Options of `fuzz`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What to throw input at.
    target: Target,
    /// How long.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed; a random one is chosen and printed otherwise.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs one target.
pub(crate) fn run(options: &Options) -> Result<()> {
    start(options.target, options.seconds, options.seed)
}

/// Runs every target for a few seconds, for continuous integration.
pub(crate) fn short() -> Result<()> {
    for target in Target::value_variants() {
        start(*target, 15, None)?;
    }
    Ok(())
}

fn start(target: Target, seconds: u64, seed: Option<u64>) -> Result<()> {
    let name = match target {
        Target::Pattern => "pattern",
        Target::Matcher => "matcher",
        Target::Kernel => return kernel(seconds, seed),
    };
    let mut fuzz = cargo([
        "run",
        "--release",
        "--package",
        "conformance",
        "--bin",
        "fuzz",
    ]);
    fuzz.args(["--", name, "--seconds", &seconds.to_string()]);
    if let Some(seed) = seed {
        fuzz.args(["--seed", &seed.to_string()]);
    }
    run_command(&mut fuzz)
}

/// Runs random cells through the server.
fn kernel(seconds: u64, seed: Option<u64>) -> Result<()> {
    run_command(&mut cargo([
        "build",
        "--release",
        "--package",
        "toolset-harness",
    ]))?;
    let root = paths::root();
    let mut torture = command("python3", &root);
    torture
        .arg("crates/kernel/tests/torture.py")
        .arg(root.join("target/release/toolset"))
        .args(["--cells", "1000000", "--seconds", &seconds.to_string()]);
    if let Some(seed) = seed {
        torture.args(["--seed", &seed.to_string()]);
    }
    run_command(&mut torture)
}
