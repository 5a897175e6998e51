//! Starts the programs that the tasks are made of.
//!
//! The ban on starting children outside `host` protects runs of tools; a task
//! runner has no run, and its children are meant to own the terminal.
#![expect(
    clippy::disallowed_methods,
    reason = "tasks start programs; nothing here runs inside a tool call"
)]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// Returns a command for `program`, to be run in `directory`.
pub(crate) fn command(program: impl AsRef<OsStr>, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).stdin(Stdio::null());
    command
}

/// Returns `cargo`, to be run at the root of the checkout.
pub(crate) fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = command("cargo", &crate::paths::root());
    command.args(arguments);
    command
}

/// Runs `command` with its output on the terminal and fails where it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    eprintln!("xtask: {line}");
    let start = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    eprintln!("xtask: done in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs `command` without showing its output, and returns its standard output.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command
        .output()
        .with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        bail!(
            "`{line}` failed ({})\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed no UTF-8"))
}

/// Returns whether `program` can be started at all.
pub(crate) fn is_installed(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// Returns the command as it would be typed, with paths relative to the checkout.
pub(crate) fn line(command: &Command) -> String {
    let root = format!("{}/", crate::paths::root().display());
    let mut line = command.get_program().to_string_lossy().replace(&root, "");
    for argument in command.get_args() {
        let argument = argument.to_string_lossy().replace(&root, "");
        // A script is named by its first line.
        let argument = match argument.split_once('\n') {
            Some((first, _)) => format!("{first} ..."),
            None => argument,
        };
        if argument.contains([' ', '(', '$', '*']) {
            let _ = write!(line, " '{argument}'");
        } else {
            let _ = write!(line, " {argument}");
        }
    }
    line
}
