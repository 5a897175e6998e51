//! Runs one program and reports what it used.
//!
//! The numbers are those the kernel keeps for finished children. A process
//! that starts exactly one child can read them without mixing two programs, so
//! `bench` starts a fresh `cargo xtask measure` for each run.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde::{Deserialize, Serialize};

/// Options of `measure`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What the program reads; nothing by default.
    #[arg(long)]
    stdin: Option<PathBuf>,
    /// Where the program's standard output goes; nowhere by default.
    #[arg(long)]
    stdout: Option<PathBuf>,
    /// The folder to run in.
    #[arg(long)]
    directory: PathBuf,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// What one run used.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// User and system time of the program and what it waited for, in seconds.
    pub(crate) cpu: f64,
    /// Time from start to end, in seconds.
    pub(crate) wall: f64,
    /// Largest resident set, in MiB.
    pub(crate) peak: f64,
    /// Exit code, or -1 where a signal ended it.
    pub(crate) code: i32,
}

/// Runs the program and prints a [`Usage`] as JSON.
#[expect(clippy::print_stdout, reason = "the output is this command's result")]
pub(crate) fn run(options: &Options) -> Result<()> {
    let (program, arguments) = options.command.split_first().context("no program given")?;
    let mut command = crate::process::command(program, &options.directory);
    command.args(arguments);
    command.stdin(match &options.stdin {
        Some(path) => Stdio::from(File::open(path)?),
        None => Stdio::null(),
    });
    command.stdout(match &options.stdout {
        Some(path) => Stdio::from(File::create(path)?),
        None => Stdio::null(),
    });
    command.stderr(Stdio::null());
    let start = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", program.display()))?;
    let wall = start.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    #[expect(clippy::cast_precision_loss, reason = "microseconds of minutes fit")]
    let usage = Usage {
        cpu: cpu as f64 / 1e6,
        wall,
        // Linux counts KiB, macOS bytes.
        peak: usage.max_rss() as f64
            / if cfg!(target_os = "macos") {
                1_048_576.0
            } else {
                1024.0
            },
        code: status.code().unwrap_or(-1),
    };
    println!("{}", serde_json::to_string(&usage)?);
    Ok(())
}
