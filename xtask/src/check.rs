//! `cargo xtask check`: everything that is judged without running a test.

use anyhow::{Context, Result};

use crate::process::{cargo, command, run as run_command};
use crate::{fuzz, paths, setup, tables, test, tidy};

/// Runs the checks, cheapest first.
pub(crate) fn run(options: &setup::Options) -> Result<()> {
    run_command(&mut cargo(["fmt", "--all", "--", "--check"])).context("run `cargo fmt --all`")?;
    tidy::run()?;
    setup::run(options)?;
    run_command(&mut deny())?;
    let mut clippy = cargo(["clippy", "--release", "--workspace", "--all-targets"]);
    run_command(clippy.args(["--", "-D", "warnings"]))?;
    let mut clippy = test::language_pack("clippy");
    run_command(clippy.args(["--all-targets", "--", "-D", "warnings"]))?;
    let mut clippy = test::embedded_python("clippy");
    run_command(clippy.args(["--all-targets", "--", "-D", "warnings"]))?;
    let mut doc = cargo(["doc", "--release", "--workspace", "--no-deps"]);
    run_command(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    tables::check()?;
    tables::tokens()?;
    fuzz::short()
}

/// Licences, bans and sources; advisories need a database from outside the registries.
fn deny() -> std::process::Command {
    let program = paths::installed().join("cargo-deny/bin/cargo-deny");
    let mut deny = command(program, &paths::root());
    deny.args(["--locked", "check", "bans", "licenses", "sources"]);
    deny
}
