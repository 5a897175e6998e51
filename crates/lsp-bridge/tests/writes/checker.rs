//! What the checker on the command line says of a project: that what is planted
//! is what is there.

use std::collections::BTreeSet;
use std::path::Path;

use host::process::{CaptureLimits, ChildCommand, Input, Output};

use crate::languages::Language;
use crate::planted::{Fault, MODULES, Planted};
use crate::support::{environment, installed};

/// What is kept of a checker's output.
const OUTPUT: CaptureLimits = CaptureLimits {
    head: 1024 * 1024,
    tail: 0,
};

/// Returns the faults that the checker of a language finds in a folder.
pub(crate) async fn check(planted: &Planted, folder: &Path) -> BTreeSet<Fault> {
    let language = planted.language;
    let names: Vec<String> = (0..=MODULES).map(|file| planted.name(file)).collect();
    let mut found = BTreeSet::new();
    if language.id == "clangd" {
        // One file at a time, and without its name on each line.
        for name in names {
            let text = run(language, "clangd", &[&format!("--check={name}")], folder).await;
            let lines = text.lines().filter(|line| line.starts_with('E'));
            found.extend(
                lines
                    .filter_map(marker)
                    .map(|marker| (name.clone(), marker)),
            );
        }
        return found;
    }
    let (program, arguments): (&str, &[&str]) = match language.id {
        "pyright" => ("pyright", &["."]),
        "basedpyright" => ("basedpyright", &["."]),
        "ty" => ("ty", &["check", "--output-format", "concise"]),
        "gopls" => ("go", &["build", "-gcflags=-e", "./..."]),
        "rust-analyzer" => (
            "cargo",
            &["check", "--message-format", "short", "--offline"],
        ),
        _ => ("tsc", &["--noEmit", "--pretty", "false"]),
    };
    let text = run(language, program, arguments, folder).await;
    for line in text.lines() {
        let file = names.iter().find(|name| line.contains(name.as_str()));
        if let (Some(file), Some(marker)) = (file, marker(line)) {
            found.insert((file.clone(), marker));
        }
    }
    found
}

/// Returns the first name of ours that a line has.
fn marker(line: &str) -> Option<String> {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    let word = words.find(|w| w.starts_with("missing_") || w.starts_with("helper_"));
    word.map(str::to_owned)
}

async fn run(language: Language, program: &str, arguments: &[&str], folder: &Path) -> String {
    let environment = environment(language.programs);
    let own = installed(language.id).join(program);
    // `cargo` is where the tests found it.
    let program = match own.is_file() {
        true => own,
        false => {
            let path = environment.get("PATH").unwrap().to_owned();
            let folders: Vec<_> = std::env::split_paths(&path).collect();
            let programs = folders.iter().map(|folder| folder.join(program));
            programs
                .into_iter()
                .find(|program| program.is_file())
                .unwrap()
        }
    };
    let child = ChildCommand::new(&program, folder)
        .args(arguments.iter().copied())
        .environment(environment)
        .stdin(Input::Null)
        .stdout(Output::Captured(OUTPUT))
        .stderr(Output::Captured(OUTPUT))
        .start()
        .await
        .unwrap();
    child.wait_for_exit().await;
    child.stdout().wait_until_closed().await;
    child.stderr().wait_until_closed().await;
    format!("{}\n{}", child.stdout().to_text(), child.stderr().to_text())
}
