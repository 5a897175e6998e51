//! Prints what documents and budgets take from code: `languages`, `tokens`.
#![expect(clippy::print_stdout, reason = "the output is this program's result")]

use anyhow::{Result, bail};
use conformance::spec;
use conformance::surface::{Resource, Surface};
use tiers::Mode;

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("languages") => languages(),
        Some("tokens") => tokens(),
        _ => bail!("say `languages` or `tokens`"),
    }
}

/// The manifest that says which features there are.
const MANIFEST: &str = include_str!("../../../crates/structural/Cargo.toml");

/// Returns the feature that compiles a language in.
fn feature(language: &str) -> Result<String> {
    // Grammars that come with another one.
    let grammar = match language {
        "dtd" => "xml",
        "fsharp-signature" => "fsharp",
        "ocaml-interface" => "ocaml",
        other => other,
    };
    let feature = format!("lang-{grammar}");
    if !MANIFEST
        .lines()
        .any(|line| line.starts_with(&format!("{feature} = ")))
    {
        bail!("`{language}` has no feature `{feature}`");
    }
    Ok(feature)
}

/// Prints the compiled-in languages as a Markdown table.
fn languages() -> Result<()> {
    println!("| id | also | files | feature |");
    println!("| --- | --- | --- | --- |");
    for language in structural::languages::compiled().iter() {
        let aliases: Vec<String> = language.aliases.iter().map(|a| code(a)).collect();
        let files: Vec<String> = language
            .extensions
            .iter()
            .map(|extension| code(&format!("*.{extension}")))
            .chain(language.basenames.iter().map(|name| code(name)))
            .chain(
                language
                    .shebangs
                    .iter()
                    .map(|name| code(&format!("#!{name}"))),
            )
            .collect();
        println!(
            "| {} | {} | {} | {} |",
            code(language.id),
            aliases.join(", "),
            files.join(", "),
            code(&feature(language.id)?),
        );
    }
    Ok(())
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Prints the tokens of each spec and fails where one is over its budget.
fn tokens() -> Result<()> {
    let workspace = tempfile::tempdir()?;
    let surface = Surface::open(workspace.path(), Mode::Full, Resource::ALL, None)?;
    let mut over = Vec::new();
    println!("tokens of each spec ({})", spec::TOKENIZER);
    for spec in surface.specs() {
        let (tokens, budget) = (spec::tokens(&spec), spec::budget(&spec.name));
        println!("{:>6} of {budget:<6} {}", tokens, spec.name);
        if tokens > budget {
            over.push(spec.name.clone());
        }
    }
    if !over.is_empty() {
        bail!("over budget: {}", over.join(", "));
    }
    Ok(())
}
