//! Measures how long a write waits for its verdict, beside the server itself and
//! beside what others do to get one.
//!
//!     cargo bench --package toolset-lsp-bridge --bench writes -- EDITS RANDOM [ID]
//!
//! `EDITS` edits in turn of each server are timed, and `RANDOM` random ones are
//! judged. Prints tables for the documentation; `cargo xtask bench lsp-writes`
//! puts them there.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "it is a program for a terminal"
)]
#![allow(dead_code, reason = "parts of what tests use too")]

#[path = "../../tests/writes/checker.rs"]
mod checker;
#[path = "../../tests/writes/languages.rs"]
mod languages;
#[path = "../../tests/writes/planted.rs"]
mod planted;
#[path = "../../tests/writes/random.rs"]
mod random;
#[path = "../../tests/rows/sample.rs"]
mod sample;
mod strategies;
#[path = "../../tests/servers/support.rs"]
mod support;
mod trace;

use std::time::Duration;

use anyhow::{Context as _, Result};
use lsp_bridge::OnWriteLimits;

use languages::{LANGUAGES, Language};
use random::Session;
use strategies::Strategy;
use trace::{Mode, Trace};

/// The file that is edited.
const FILE: usize = 1;

fn main() -> Result<()> {
    let arguments = std::env::args().skip(1);
    let mut arguments = arguments.filter(|argument| !argument.starts_with("--"));
    let Some(edits) = arguments.next() else {
        return Ok(());
    };
    let edits: usize = edits.parse()?;
    let judged: usize = arguments.next().context("give the random edits")?.parse()?;
    let only = arguments.next();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build()?;
    let mut rows = Vec::new();
    let mut judgements = Vec::new();
    for language in LANGUAGES {
        if only.as_deref().is_some_and(|only| only != language.id) {
            continue;
        }
        if !support::installed(language.id).is_dir() {
            eprintln!("{} is not installed: left out", language.id);
            continue;
        }
        eprintln!("{}: {edits} edits in turn", language.id);
        rows.push(runtime.block_on(timed(*language, edits))?);
        if judged > 0 {
            eprintln!("{}: {judged} random edits", language.id);
            let figures = runtime.block_on(random::judged(*language, judged, judged / 20));
            judgements.push(judgement(*language, &figures));
        }
    }
    println!(
        "| server | itself | edited file | with other files | overhead | 150 ms after a publish | 250 ms of silence | 2.5 s for a fault |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n{}",
        rows.join("\n")
    );
    if !judgements.is_empty() {
        println!(
            "\n| server | random edits | checked | stale | missed | repeated | falsely clean | pending |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n{}",
            judgements.join("\n")
        );
    }
    Ok(())
}

/// Times edits in turn, of the server itself, of ours and of what others do.
async fn timed(language: Language, edits: usize) -> Result<String> {
    let mut alone = OnWriteLimits::default();
    alone.others = Duration::ZERO;
    let mut ours = Session::open(language, alone);
    let mut whole = Session::open(language, OnWriteLimits::default());
    ours.warm().await;
    whole.warm().await;
    let mut own = Trace::start(language, Mode::Best).await?;
    let mut pushed = Trace::start(language, Mode::Push).await?;
    let mut itself = Vec::new();
    let mut strategies: Vec<(Strategy, Vec<Duration>, usize)> = Strategy::ALL
        .iter()
        .map(|strategy| (*strategy, Vec::new(), 0))
        .collect();
    for turn in 0..edits {
        itself.push(own.edit(turn).await?.latency);
        for session in [&mut ours, &mut whole] {
            session.planted.step(FILE, turn);
            session.put(&[FILE], "in turn").await;
        }
        let edit = pushed.edit(turn).await?;
        for (strategy, took, wrong) in &mut strategies {
            let (at, names) = strategy.replay(&edit);
            took.push(at);
            *wrong += usize::from(names != edit.names);
        }
    }
    for session in [&ours, &whole] {
        let figures = &session.figures;
        let wrong = figures.stale + figures.missed + figures.repeated + figures.false_clean;
        anyhow::ensure!(wrong == 0, "{figures:?}\n{}", session.log());
    }
    let overhead =
        percentile(&ours.figures.took, 50).as_secs_f64() - percentile(&itself, 50).as_secs_f64();
    let mut row = format!(
        "| {} | {} | {} | {} | {:+.0} ms |",
        language.id,
        both(&itself),
        both(&ours.figures.took),
        both(&whole.figures.took),
        overhead * 1e3,
    );
    for (_, took, wrong) in &strategies {
        row.push_str(&format!(" {} ({wrong} wrong) |", both(took)));
    }
    eprintln!("{row}");
    Ok(row)
}

fn judgement(language: Language, figures: &random::Figures) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |",
        language.id,
        figures.writes,
        figures.checked,
        figures.stale,
        figures.missed,
        figures.repeated,
        figures.false_clean,
        figures.pending,
    )
}

/// Writes the median and the 95th percentile.
fn both(times: &[Duration]) -> String {
    let ms = |part| percentile(times, part).as_secs_f64() * 1e3;
    format!("{:.0} / {:.0} ms", ms(50), ms(95))
}

fn percentile(times: &[Duration], part: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[(times.len() - 1) * part / 100]
}
