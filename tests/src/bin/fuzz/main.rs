//! A fuzzer that needs no nightly compiler: seeded random and mutated input,
//! for a given time, in a child process.
//!
//! The child says which round it begins. So a panic, an overflown stack, a
//! signal and a hang are all seen from outside, and every round can be
//! repeated from the seed and its number.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that reports"
)]

mod generate;
mod targets;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ExitCode, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use clap::Parser;
use targets::Target;

/// The longest that one round may take. Compiling and matching have budgets
/// far below it, also on a busy machine.
const HANG: Duration = Duration::from_secs(30);

/// The stack of the thread that runs the rounds: what a thread of the runtime has.
const STACK: usize = 2 * 1024 * 1024;

/// Throws random and mutated input at a target.
#[derive(Debug, Parser)]
#[command(name = "fuzz")]
struct Options {
    /// What to throw input at.
    target: Target,
    /// How long.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The seed; taken from the clock otherwise.
    #[arg(long)]
    seed: Option<u64>,
    /// Runs this one round in this process and prints its input.
    #[arg(long, requires = "seed")]
    only: Option<u64>,
    /// Runs rounds from this one on and says which (for the child process).
    #[arg(long, hide = true, requires = "seed")]
    from: Option<u64>,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let seed = match options.seed {
        Some(seed) => seed,
        None => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map(|d| d.subsec_nanos().into())
            .context("the clock stands before 1970")?,
    };
    let target = options.target;
    if let Some(round) = options.only {
        return in_thread(move || targets::run(target, seed, round, true));
    }
    if let Some(from) = options.from {
        let seconds = options.seconds;
        return in_thread(move || rounds(target, seed, from, seconds));
    }
    watch(target, seed, options.seconds)
}

/// Runs `work` on a stack of the size that tools run on.
fn in_thread(work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<ExitCode> {
    let thread = thread::Builder::new().stack_size(STACK).spawn(work)?;
    match thread.join() {
        Ok(outcome) => outcome.map(|()| ExitCode::SUCCESS),
        // The panic has printed its message.
        Err(_) => Ok(ExitCode::FAILURE),
    }
}

/// The child: one round after the other until the time is up.
fn rounds(target: Target, seed: u64, from: u64, seconds: u64) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut out = std::io::stdout().lock();
    let mut round = from;
    let mut slowest = (Duration::ZERO, from);
    while Instant::now() < end {
        writeln!(out, "{round}")?;
        out.flush()?;
        let start = Instant::now();
        targets::run(target, seed, round, false).with_context(|| format!("round {round}"))?;
        slowest = slowest.max((start.elapsed(), round));
        round += 1;
    }
    eprintln!(
        "fuzz: the slowest round was {}: {} ms",
        slowest.1,
        slowest.0.as_millis()
    );
    Ok(())
}

/// The parent: watches the child and reports how it ended.
fn watch(target: Target, seed: u64, seconds: u64) -> Result<ExitCode> {
    eprintln!("fuzz: target {target}, seed {seed}, {seconds} s");
    let start = Instant::now();
    let mut child = child(target, seed, seconds)?;
    let lines = BufReader::new(child.stdout.take().context("the child has no output")?).lines();
    // A few rounds ahead of the parent are enough: it only keeps the last.
    let (sender, receiver) = mpsc::sync_channel(1024);
    let reader = thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut last = 0_u64;
    let mut said = Instant::now();
    let hung = loop {
        match receiver.recv_timeout(HANG) {
            Ok(line) => {
                last = line
                    .parse()
                    .context("the child says a number for each round")?
            }
            Err(mpsc::RecvTimeoutError::Timeout) => break true,
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
        }
        if said.elapsed() > Duration::from_secs(10) {
            said = Instant::now();
            eprintln!("fuzz: {last} rounds in {} s", start.elapsed().as_secs());
        }
    };
    if hung {
        child.kill()?;
    }
    let status = child.wait()?;
    drop(receiver);
    if reader.join().is_err() {
        bail!("the thread that reads the child's output panicked");
    }
    let repeat = format!(
        "cargo run --release -p conformance --bin fuzz -- {target} --seed {seed} --only {last}"
    );
    if hung {
        println!(
            "fuzz: round {last} took more than {} s; repeat with\n  {repeat}",
            HANG.as_secs()
        );
        return Ok(ExitCode::FAILURE);
    }
    if !status.success() {
        println!("fuzz: round {last} ended the process ({status}); repeat with\n  {repeat}");
        return Ok(ExitCode::FAILURE);
    }
    println!(
        "fuzz: target {target}: {} rounds in {} s, seed {seed}: no panic, no hang, no overflow",
        last + 1,
        start.elapsed().as_secs()
    );
    Ok(ExitCode::SUCCESS)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the fuzzer restarts itself; it runs in no tool call"
)]
fn child(target: Target, seed: u64, seconds: u64) -> Result<std::process::Child> {
    std::process::Command::new(std::env::current_exe()?)
        .arg(target.to_string())
        .args([
            "--seed",
            &seed.to_string(),
            "--from",
            "0",
            "--seconds",
            &seconds.to_string(),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the fuzzer again as a child")
}
