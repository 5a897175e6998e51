//! The very first question to a server that has read nothing yet.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use lsp_bridge::LspLimits;
use serde_json::json;

use crate::cpp::database;
use crate::support::{Opening, Project};

/// Modules that all call one function, 9 references each.
const MODULES: usize = 400;

fn python() -> Vec<(String, String)> {
    let mut files = vec![
        ("pyproject.toml".to_owned(), String::new()),
        (
            "core.py".to_owned(),
            "def core(value: int) -> int:\n    return value\n".to_owned(),
        ),
    ];
    for module in 0..MODULES {
        let mut text =
            format!("from core import core\n\n\ndef work_{module}() -> int:\n    total = 0\n");
        for call in 0..8 {
            writeln!(text, "    total += core({call})").unwrap();
        }
        text.push_str("    return total\n");
        files.push((format!("module_{module:03}.py"), text));
    }
    files
}

fn cpp() -> Vec<(String, String)> {
    let core = "#include \"core.h\"\nint core(int value) { return value; }\n";
    let mut files = vec![
        (
            "core.h".to_owned(),
            "#pragma once\nint core(int value);\n".to_owned(),
        ),
        ("core.cc".to_owned(), core.to_owned()),
    ];
    for module in 0..MODULES {
        let mut text = format!("#include \"core.h\"\nint work_{module}() {{\n    int total = 0;\n");
        for call in 0..9 {
            writeln!(text, "    total += core({call});").unwrap();
        }
        text.push_str("    return total;\n}\n");
        files.push((format!("module_{module:03}.cc"), text));
    }
    files
}

fn open(files: &[(String, String)], calls: LspLimits) -> Project {
    let files = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let files: Vec<(&str, &str)> = files.collect();
    let opening = Opening {
        calls,
        ..Opening::default()
    };
    let project = Project::open(&files, opening);
    let sources = files.iter().map(|(name, _)| *name);
    let sources: Vec<&str> = sources.filter(|name| name.ends_with(".cc")).collect();
    if !sources.is_empty() {
        project.write("compile_commands.json", &database(&project, &sources));
    }
    project
}

#[tokio::test]
async fn pitfall_37_the_first_references_of_pyright_are_all_3601() {
    let project = open(&python(), LspLimits::default());
    let start = Instant::now();
    let references = project.ask("references", "core.py", 1, "core").await;
    let first = "50 of 3601 references to `core` in 401 files shown, its declaration included:\n\
                 core.py:1:5: def core(value: int) -> int:\n\
                 module_000.py:1:18: from core import core\n\
                 module_000.py:1:30";
    let first = first.rsplit_once('\n').unwrap().0;
    assert!(references.text.starts_with(first), "{}", references.text);
    assert_eq!(references.details["incomplete"], json!(null));
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
    project.end().await;
}

#[tokio::test]
async fn pitfall_37_the_first_references_of_clangd_are_all_3602() {
    let project = open(&cpp(), LspLimits::default());
    let start = Instant::now();
    let references = project.ask("references", "core.cc", 2, "core").await;
    // The declaration in the header is one more.
    assert!(
        references
            .text
            .starts_with("50 of 3602 references to `core` in 402 files shown"),
        "{}",
        references.text
    );
    assert_eq!(references.details["incomplete"], json!(null));
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
    project.end().await;
}

#[tokio::test]
async fn pitfall_38_a_short_deadline_gives_a_flag_and_never_a_wrong_total_alone() {
    let mut limits = LspLimits::default();
    limits.ready = Duration::from_millis(300);
    let project = open(&cpp(), limits);
    let references = project.ask("references", "core.cc", 2, "core").await;
    let total = references.details["total"].as_u64().unwrap();
    assert!(total < 3602, "the index was faster than the test expects");
    assert!(
        references
            .text
            .starts_with("incomplete: the index is still building"),
        "{}",
        references.text
    );
    assert!(
        references
            .text
            .contains("files with textual hits are not covered"),
        "{}",
        references.text
    );
    assert!(references.text.contains("at least "), "{}", references.text);
    project.end().await;
}
