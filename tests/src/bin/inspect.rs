//! Prints what documents and budgets take from code: `languages`, `tokens`,
//! `registry`.
#![expect(clippy::print_stdout, reason = "the output is this program's result")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use async_trait::async_trait;
use conformance::spec;
use conformance::surface::{Resource, Surface};
use serde_json::{Value, json};
use tiers::{CallContext, Mode, Tier, Tool, ToolError, ToolOutput, ToolSpec};
use toolset::structural::CompiledGrammars;
use toolset::{Toolset, Trust, Workspace};

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("languages") => languages(),
        Some("tokens") => tokens(),
        Some("registry") => registry(),
        _ => bail!("say `languages`, `tokens` or `registry`"),
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

/// Builds of each row that are timed.
const BUILDS: usize = 5_001;

/// Prints how long it takes to build registries, as a Markdown table.
fn registry() -> Result<()> {
    println!("| tools | copy of the specs, µs | registry, µs | difference, µs | 99 of 100, µs |");
    println!("| --- | --- | --- | --- | --- |");
    for own in [0, 100] {
        let folder = tempfile::tempdir()?;
        let workspace = Workspace::open(folder.path(), Trust::Untrusted)?;
        let tools: Vec<Arc<dyn Tool>> = (0..own)
            .map(|number| Arc::new(Own::numbered(number)) as Arc<dyn Tool>)
            .collect();
        let build = || -> Result<Toolset> {
            let mut builder = Toolset::in_workspace(workspace.clone(), Mode::Full)
                .grammars(Arc::new(CompiledGrammars::new()));
            for tool in &tools {
                builder = builder.shared(Arc::clone(tool));
            }
            Ok(builder.build()?)
        };
        let first = build()?;
        let specs = first.registry().specs();
        let (mut copies, mut builds) = (Vec::new(), Vec::new());
        for _ in 0..BUILDS {
            let began = Instant::now();
            let copy: Vec<ToolSpec> = specs.iter().map(|spec| (*spec).clone()).collect();
            copies.push(began.elapsed());
            drop(black_box(copy));
            let began = Instant::now();
            let toolset = build()?;
            builds.push(began.elapsed());
            drop(black_box(toolset));
        }
        let micros = |times: &mut [Duration], percent: usize| {
            times.sort_unstable();
            let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        let (copy, median) = (micros(&mut copies, 50), micros(&mut builds, 50));
        let what = if own == 0 {
            format!("the {} of the facade", specs.len())
        } else {
            format!("the same and {own} of the harness's own")
        };
        println!(
            "| {what} | {copy:.0} | {median:.0} | {:.0} | {:.0} |",
            median - copy,
            micros(&mut builds, 99)
        );
    }
    Ok(())
}

/// A tool of a harness, with a spec of the usual size.
struct Own {
    spec: ToolSpec,
}

impl Own {
    fn numbered(number: usize) -> Self {
        let fields: serde_json::Map<_, _> = ["path", "pattern", "limit", "mode"]
            .into_iter()
            .map(|name| {
                let field = json!({
                    "type": "string",
                    "description": "What it is for, in a sentence of the usual length.",
                });
                (name.to_owned(), field)
            })
            .collect();
        let schema = json!({
            "type": "object",
            "properties": fields,
            "required": ["path"],
            "additionalProperties": false,
        });
        let name = format!("own_{number}");
        let description = "Says in a few sentences what it does and when to use it. ".repeat(4);
        Self {
            spec: ToolSpec::from_schema(&name, Tier::Write, "Own", &description, schema),
        }
    }
}

#[async_trait]
impl Tool for Own {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Value, _: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("done"))
    }
}
