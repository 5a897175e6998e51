//! `cargo xtask tables` and `tokens`: what documents take from code.

use std::fs;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::paths;
use crate::process::{capture, cargo, run as run_command};

/// Options of `tables`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Write nothing: fail where a table is out of date.
    #[arg(long)]
    check: bool,
}

const DOCUMENT: &str = "docs/languages.md";

/// Writes the tables.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.check {
        return check();
    }
    let (old, new) = languages()?;
    if old == new {
        eprintln!("tables: {DOCUMENT} is up to date");
    } else {
        fs::write(paths::root().join(DOCUMENT), new)?;
        eprintln!("tables: wrote {DOCUMENT}");
    }
    Ok(())
}

/// Fails where a table is out of date.
pub(crate) fn check() -> Result<()> {
    let (old, new) = languages()?;
    if old != new {
        bail!("{DOCUMENT} is out of date: run `cargo xtask tables`");
    }
    Ok(())
}

/// Prints the tokens of each spec, and fails where one is over its budget.
pub(crate) fn tokens() -> Result<()> {
    let mut inspect = cargo(["run", "--release", "--quiet", "--package", "conformance"]);
    run_command(inspect.args(["--bin", "inspect", "--", "tokens"]))
}

/// Returns the language document as it is and as it should be.
fn languages() -> Result<(String, String)> {
    let mut inspect = cargo(["run", "--release", "--quiet", "--package", "conformance"]);
    let table = capture(inspect.args(["--bin", "inspect", "--", "languages"]))?;
    let old = fs::read_to_string(paths::root().join(DOCUMENT))
        .with_context(|| format!("cannot read `{DOCUMENT}`"))?;
    let new = between_markers(&old, "languages", &table)?;
    Ok((old, new))
}

/// Returns `document` with what stands between the markers of `name` replaced.
pub(crate) fn between_markers(document: &str, name: &str, text: &str) -> Result<String> {
    let begin = format!("<!-- begin: {name} -->\n");
    let end = format!("<!-- end: {name} -->");
    let (before, rest) = document
        .split_once(&begin)
        .with_context(|| format!("the document has no line `{}`", begin.trim_end()))?;
    let (_, after) = rest
        .split_once(&end)
        .with_context(|| format!("the document has no line `{end}`"))?;
    Ok(format!("{before}{begin}{}\n{end}{after}", text.trim_end()))
}
