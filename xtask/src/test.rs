//! `cargo xtask test` and `cargo xtask conformance`.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::process::{cargo, run as run_command};
use crate::setup;

/// Options of `test`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    setup: setup::Options,
    #[command(flatten)]
    filter: Filter,
}

impl Options {
    /// Returns the part that is about installing.
    pub(crate) fn setup(&self) -> &setup::Options {
        &self.setup
    }
}

/// Which tests to run.
#[derive(Debug, Args)]
pub(crate) struct Filter {
    /// Only tests whose name contains this.
    filter: Option<String>,
}

/// Installs what is missing, then runs every test of the workspace.
///
/// The conformance package switches every grammar on, and one build serves all
/// packages, so that no crate is tested with fewer. Grammars that are loaded
/// from a folder have a build of their own, since they must not be linked in,
/// and so has the embedded Python, which is not to be needed by anything else.
pub(crate) fn run(options: &Options) -> Result<()> {
    setup::run(&options.setup)?;
    let mut all = cargo(["test", "--release", "--workspace", "--no-fail-fast"]);
    let mut pack = language_pack("test");
    pack.args(["--no-fail-fast", "--test", "language_pack"]);
    let mut embedded = embedded_python("test");
    embedded.args(["--no-fail-fast", "--lib", "--test", "cases"]);
    for test in [&mut all, &mut pack, &mut embedded] {
        if let Some(filter) = &options.filter.filter {
            test.arg("--").arg(filter);
        }
        run_command(test)?;
    }
    Ok(())
}

/// Returns a cargo command for the crate that loads grammars from a folder, with
/// that feature and hardly any grammar linked in.
pub(crate) fn language_pack(command: &'static str) -> Command {
    cargo([
        command,
        "--release",
        "--package",
        "toolset-structural",
        "--no-default-features",
        "--features",
        "language-pack-download,lang-rust",
    ])
}

/// Returns a cargo command for the crate whose kernels can be this program, with
/// the shared library that `setup` found.
pub(crate) fn embedded_python(subcommand: &'static str) -> Command {
    let (config, library) = setup::libpython();
    let mut command = cargo([
        subcommand,
        "--release",
        "--package",
        "toolset-kernel",
        "--features",
        "embedded-python",
    ]);
    command.env("PYO3_CONFIG_FILE", config);
    let name = if cfg!(target_vendor = "apple") {
        "DYLD_LIBRARY_PATH"
    } else {
        "LD_LIBRARY_PATH"
    };
    command.env(name, library);
    command
}

/// Runs the package of conformance cases.
pub(crate) fn conformance(filter: &Filter) -> Result<()> {
    let mut test = cargo([
        "test",
        "--release",
        "--package",
        "conformance",
        "--no-fail-fast",
    ]);
    if let Some(filter) = &filter.filter {
        test.arg("--").arg(filter);
    }
    run_command(&mut test)
}
