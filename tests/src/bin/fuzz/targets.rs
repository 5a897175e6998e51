//! What is thrown input at, and what must hold of the answer.

use std::fmt;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use fastrand::Rng;
use structural::{CompiledGrammars, FileMatch, GrammarSource, Pattern, search_text};

use crate::generate;

/// What is thrown input at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// The pattern compiler, in every language.
    Pattern,
    /// Parser, prefilter and matcher, in every language.
    Matcher,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pattern => "pattern",
            Self::Matcher => "matcher",
        })
    }
}

/// Runs one round. What it does depends on the seed and its number alone.
pub(crate) fn run(target: Target, seed: u64, round: u64, show: bool) -> Result<()> {
    let mut rng = Rng::with_seed(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let grammars = CompiledGrammars::new();
    let language = rng
        .choice(grammars.languages().iter().collect::<Vec<_>>())
        .context("no language is compiled in")?;
    let grammar = grammars
        .grammar(language.id)
        .context("a listed language has a grammar")?;
    let source = generate::source(&mut rng, language);
    let pattern = generate::pattern(&mut rng, language, &source);
    if show {
        println!(
            "language: {}\npattern:\n{pattern}\nsource:\n{source}",
            language.id
        );
    }
    match target {
        Target::Pattern => {
            if let Err(error) = Pattern::compile(&pattern, &grammar) {
                ensure!(
                    !format!("{error:?}").is_empty(),
                    "a refusal that says nothing"
                );
            }
        }
        Target::Matcher => {
            let Ok(pattern) = Pattern::compile(&pattern, &grammar) else {
                return Ok(());
            };
            // Over budget is an answer; a hang is none.
            let Ok(found) = search_text(&grammar, &pattern, &source) else {
                return Ok(());
            };
            for found in &found {
                check(found, &source)?;
            }
        }
    }
    Ok(())
}

/// A match and its captures are pieces of the source, the captures inside.
fn check(found: &FileMatch, source: &str) -> Result<()> {
    ensure!(
        source.get(found.bytes.clone()).is_some(),
        "a match outside the text: {found:?}"
    );
    for capture in found.captures.iter().flatten() {
        ensure!(
            source.get(capture.clone()).is_some(),
            "a capture outside the text: {found:?}"
        );
        ensure!(
            found.bytes.start <= capture.start && capture.end <= found.bytes.end,
            "a capture outside its match: {found:?}"
        );
    }
    Ok(())
}
