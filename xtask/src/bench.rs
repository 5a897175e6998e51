//! `cargo xtask bench`: our search and rewrite against the ast-grep command line.
//!
//! Both run as a person would run them, as one process that searches a whole
//! tree, in turn, so that what else the machine does falls on both. A ratio is
//! the median over the pairs of neighbouring runs.

mod again;
mod cases;
mod kernel;
mod lsp;
mod lsp_writes;
mod matches;
mod registry;
mod report;
mod staging;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::measure::Usage;
use crate::process::{capture, cargo, command, run as run_command};
use crate::{paths, setup};
use cases::{CASES, Case, Limit};
use matches::Comparison;

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Family {
    /// `ast_grep` and `ast_edit` against ast-grep.
    Structural,
    /// Building a registry, against copying what it holds.
    Registry,
    /// `eval` against ipykernel.
    Kernel,
    /// `lsp` against the language servers themselves and mcpls.
    Lsp,
    /// Writes until their verdict, against the language servers themselves and
    /// what others do; 20 timed and 200 random edits of each server for each run.
    LspWrites,
}

/// Matches that `ast_grep` gives unasked.
const DEFAULT_LIMIT: usize = 50;
/// What `--only` calls the measurement of how a rewrite grows.
const STAGING: &str = "staging";
/// What it calls the measurement of searches that are made again.
const AGAIN: &str = "again";

/// Options of `bench`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What to measure.
    family: Family,
    /// Pairs of runs for each row.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Only cases whose group, language or pattern contains this, or `staging`
    /// for how a rewrite grows with its edits, or `again` for the later
    /// searches of a run; of `lsp` and `lsp-writes`, only this server. Writes nothing.
    #[arg(long)]
    only: Option<String>,
    /// Count instructions with valgrind instead of seconds; writes nothing.
    #[arg(long)]
    callgrind: bool,
}

/// One row of the table.
struct Row {
    case: &'static Case,
    limit: Limit,
    comparison: Option<Comparison>,
    /// One thread each.
    single: Pairs,
    /// As many threads as each program chooses.
    parallel: Pairs,
}

/// Runs of both programs, in turn.
#[derive(Default)]
struct Pairs {
    ours: Vec<Usage>,
    theirs: Vec<Usage>,
}

/// Which program, and with how many threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Threads {
    One,
    Default,
}

/// Measures and writes `docs/benchmarks.md`.
pub(crate) fn run(options: &Options) -> Result<()> {
    match options.family {
        Family::Structural => structural(options),
        Family::Registry => registry::run(),
        Family::Kernel => kernel::run(options.runs),
        Family::Lsp => lsp::run(options.runs, options.only.as_deref()),
        Family::LspWrites => lsp_writes::run(options.runs, options.only.as_deref()),
    }
}

fn structural(options: &Options) -> Result<()> {
    setup::run(&setup::Options::default())?;
    run_command(&mut cargo([
        "build",
        "--release",
        "--package",
        "toolset-harness",
    ]))?;
    let alone = match options.only.as_deref() {
        Some(STAGING) => Some(staging::table(options.runs)?),
        Some(AGAIN) => Some(again::table(options.runs)?),
        _ => None,
    };
    if let Some(table) = alone {
        eprintln!("\n{table}");
        return Ok(());
    }
    let cases: Vec<&'static Case> = CASES
        .iter()
        .filter(|case| options.only.as_ref().is_none_or(|only| case.is_named(only)))
        .collect();
    if cases.is_empty() {
        bail!(
            "no case is called `{}`",
            options.only.as_deref().unwrap_or_default()
        );
    }
    if options.callgrind {
        return cases.iter().try_for_each(|case| callgrind(case));
    }
    let mut rows: Vec<Row> = Vec::new();
    for (number, case) in (1..).zip(&cases) {
        let mut matches = usize::MAX;
        for limit in case.limits() {
            eprintln!("bench: {number} of {}: {case}, {limit}", cases.len());
            if *limit == Limit::Default && matches <= DEFAULT_LIMIT {
                eprintln!("bench:   {matches} matches: the limit is never reached");
                continue;
            }
            let row = measure(case, *limit, options.runs)?;
            if let Some(comparison) = &row.comparison {
                matches = comparison.ours;
            }
            report::progress(&row);
            rows.push(row);
        }
    }
    let mut table = report::table(&rows, options.runs)?;
    if options.only.is_some() {
        eprintln!("\n{table}");
        return Ok(());
    }
    table.push('\n');
    table.push_str(&again::table(options.runs)?);
    table.push('\n');
    table.push_str(&staging::table(options.runs)?);
    let path = paths::root().join("docs/benchmarks.md");
    let document = std::fs::read_to_string(&path)?;
    std::fs::write(
        &path,
        crate::tables::between_markers(&document, "structural", &table)?,
    )?;
    eprintln!("bench: wrote docs/benchmarks.md");
    Ok(())
}

fn measure(case: &'static Case, limit: Limit, runs: usize) -> Result<Row> {
    let comparison = match (limit, case.rewrite) {
        (Limit::All, None) => Some(compare(case)?),
        // Of a rewrite, one program reports what it replaces and the other
        // every match.
        (Limit::All, Some(_)) | (Limit::Default, _) => None,
    };
    let mut row = Row {
        case,
        limit,
        comparison,
        single: Pairs::default(),
        parallel: Pairs::default(),
    };
    for (threads, pairs) in [
        (Threads::One, &mut row.single),
        (Threads::Default, &mut row.parallel),
    ] {
        // The first pair only warms the page cache.
        for number in 0..=runs {
            let ours = start(&ours(case, limit), &case.folder(), threads, None)?;
            let theirs = start(&theirs(case, threads), &case.folder(), threads, None)?;
            if number > 0 {
                pairs.ours.push(ours);
                pairs.theirs.push(theirs);
            }
        }
    }
    Ok(row)
}

/// Runs both once, keeping what they print, and compares the matches.
fn compare(case: &Case) -> Result<Comparison> {
    let folder = paths::installed().join("bench");
    std::fs::create_dir_all(&folder)?;
    let (mine, other) = (folder.join("ours.json"), folder.join("theirs.jsonl"));
    let at = case.folder();
    start(&ours(case, Limit::All), &at, Threads::Default, Some(&mine))?;
    start(
        &theirs(case, Threads::Default),
        &at,
        Threads::Default,
        Some(&other),
    )?;
    let comparison = Comparison::read(&mine, &other)
        .with_context(|| format!("cannot compare the matches of {case}"))?;
    std::fs::remove_dir_all(folder)?;
    Ok(comparison)
}

/// Runs `line` in a process of its own that reports what it used.
fn start(
    line: &[OsString],
    folder: &Path,
    threads: Threads,
    stdout: Option<&Path>,
) -> Result<Usage> {
    start_with(line, folder, threads, None, stdout)
}

/// Does so with a file as its standard input.
fn start_with(
    line: &[OsString],
    folder: &Path,
    threads: Threads,
    stdin: Option<&Path>,
    stdout: Option<&Path>,
) -> Result<Usage> {
    let mut measure = command(std::env::current_exe()?, &paths::root());
    measure.arg("measure").arg("--directory").arg(folder);
    if let Some(stdin) = stdin {
        measure.arg("--stdin").arg(stdin);
    }
    if let Some(stdout) = stdout {
        measure.arg("--stdout").arg(stdout);
    }
    if threads == Threads::One {
        measure.env("TOOLSET_THREADS", "1");
    }
    measure.arg("--").args(line);
    let usage: Usage = serde_json::from_str(&capture(&mut measure)?)?;
    // ast-grep ends with 1 where nothing matches.
    let is_ours = line.first().is_some_and(|program| *program == *toolset());
    if usage.code != 0 && (is_ours || usage.code != 1) {
        bail!(
            "{} ended with {}",
            crate::process::line(&measure),
            usage.code
        );
    }
    Ok(usage)
}

fn toolset() -> PathBuf {
    paths::root().join("target/release/toolset")
}

fn ours(case: &Case, limit: Limit) -> Vec<OsString> {
    let mut input = serde_json::json!({ "pattern": case.pattern, "language": case.language });
    let tool = match (case.rewrite, limit) {
        (Some(rewrite), _) => {
            input["rewrite"] = rewrite.into();
            "ast_edit"
        }
        (None, Limit::All) => {
            input["max_results"] = 10_000_000.into();
            "ast_grep"
        }
        (None, Limit::Default) => "ast_grep",
    };
    call(tool, &input, &case.folder())
}

/// Returns the command line of one call of ours.
fn call(tool: &str, input: &serde_json::Value, workspace: &Path) -> Vec<OsString> {
    let mut line = vec![toolset().into_os_string()];
    line.extend(["call", tool].map(OsString::from));
    line.push(input.to_string().into());
    line.push("--json".into());
    line.push("--workspace".into());
    line.push(workspace.into());
    line
}

fn theirs(case: &Case, threads: Threads) -> Vec<OsString> {
    let mut line = vec![paths::python_programs().join("ast-grep").into_os_string()];
    line.extend(["run", "--json=stream", "--lang", case.language].map(OsString::from));
    if threads == Threads::One {
        line.extend(["-j", "1"].map(OsString::from));
    }
    if let Some(rewrite) = case.rewrite {
        line.extend(["--rewrite", rewrite].map(OsString::from));
    }
    line.extend(["--pattern", case.pattern, "."].map(OsString::from));
    line
}

/// Counts the instructions of both, on one thread, for all matches.
fn callgrind(case: &Case) -> Result<()> {
    let mut counts = Vec::new();
    for line in [ours(case, Limit::All), theirs(case, Threads::One)] {
        let mut valgrind = command("valgrind", &case.folder());
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        valgrind.env("TOOLSET_THREADS", "1").args(&line);
        valgrind.stdout(std::process::Stdio::null());
        let output = valgrind
            .output()
            .context("valgrind is needed (Debian: valgrind)")?;
        let text = String::from_utf8_lossy(&output.stderr);
        let count = text
            .lines()
            .find_map(|line| line.split_once("Collected :"))
            .and_then(|(_, count)| count.trim().parse::<u64>().ok())
            .with_context(|| format!("valgrind counted nothing:\n{text}"))?;
        counts.push(count);
    }
    if let [ours, theirs] = counts[..] {
        #[expect(clippy::cast_precision_loss, reason = "a ratio of two counts")]
        let ratio = ours as f64 / theirs as f64;
        eprintln!("bench: {case}: {ours} instructions, ast-grep {theirs}: {ratio:.3} times");
    }
    Ok(())
}
