//! Real files to search, the same ones on every run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use structural::{CompiledGrammars, Grammar, GrammarSource as _};

/// Files smaller than this hold too little to be worth it.
const MIN_FILE_BYTES: u64 = 300;
/// Files larger than this take too long for what they add.
const MAX_FILE_BYTES: u64 = 40_000;

/// A language with real files.
pub(crate) struct Corpus {
    pub(crate) grammar: Arc<Grammar>,
    pub(crate) files: Vec<SourceFile>,
}

/// A real file.
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Returns up to `count` files of a language, spread over its corpus.
///
/// Prints that it skips the language where the corpus is not installed.
///
/// # Panics
/// With `CI=true`, where the corpus is missing and can be had.
pub(crate) fn sample(language: &str, extension: &str, count: usize) -> Option<Corpus> {
    let grammar = CompiledGrammars::new().grammar(language).unwrap();
    let root = match language {
        "javascript" => packages(),
        _ => installed(language)?,
    };
    let mut paths = Vec::new();
    collect(&root, extension, &mut paths);
    paths.retain(|path| {
        fs::metadata(path).is_ok_and(|m| (MIN_FILE_BYTES..MAX_FILE_BYTES).contains(&m.len()))
            // Broken on purpose.
            && !path.iter().any(|part| part == "testdata" || part == "test_data")
    });
    if language == "javascript" {
        paths.retain(|path| path.to_string_lossy().contains("tree-sitter-"));
    }
    let step = paths.len().div_ceil(count).max(1);
    let files: Vec<SourceFile> = paths
        .iter()
        .step_by(step)
        .filter_map(|path| {
            let text = fs::read_to_string(path).ok()?;
            let name = path.strip_prefix(&root).unwrap_or(path);
            Some(SourceFile {
                name: name.display().to_string(),
                text,
            })
        })
        .collect();
    assert!(!files.is_empty(), "the {language} corpus has no files");
    Some(Corpus { grammar, files })
}

/// Returns `count` files of a language, or all there are, spread over the
/// corpus in `folder`; none larger than `most_bytes`.
///
/// Prints that it skips the language where the corpus is not installed.
///
/// # Panics
/// With `CI=true`, where the corpus is missing and can be had.
pub(crate) fn many(
    language: &str,
    folder: &str,
    extension: &str,
    count: usize,
    most_bytes: u64,
) -> Option<Corpus> {
    let grammar = CompiledGrammars::new().grammar(language).unwrap();
    let root = installed(folder)?;
    let mut paths = Vec::new();
    collect(&root, extension, &mut paths);
    paths.retain(|path| {
        fs::metadata(path).is_ok_and(|m| (MIN_FILE_BYTES..most_bytes).contains(&m.len()))
    });
    let count = count.min(paths.len());
    let files = (0..count)
        .filter_map(|number| {
            let path = paths.get(number * paths.len() / count)?;
            let name = path.strip_prefix(&root).unwrap_or(path);
            Some(SourceFile {
                name: name.display().to_string(),
                text: fs::read_to_string(path).ok()?,
            })
        })
        .collect();
    Some(Corpus { grammar, files })
}

fn installed(folder_name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../.toolset/corpora")
        .join(folder_name);
    if folder.is_dir() {
        return Some(folder);
    }
    // Taken from Debian's sources, which not every machine has.
    let is_optional = folder_name == "dart";
    assert!(
        is_optional || !is_ci(),
        "the {folder_name} corpus is missing: run `cargo xtask setup`"
    );
    eprintln!("skipped: the {folder_name} corpus is not installed (`cargo xtask setup`)");
    None
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that asks whether this is CI"
)]
fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true")
}

/// Returns the folder that holds the sources of the grammar crates, each with
/// the JavaScript that describes its language.
#[expect(
    clippy::disallowed_methods,
    reason = "asks cargo where its packages are"
)]
fn packages() -> PathBuf {
    // Without the platform, packages are asked for that only others need.
    let version = std::process::Command::new("rustc")
        .arg("-vV")
        .output()
        .unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let platform = version.lines().find_map(|l| l.strip_prefix("host: "));
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline", "--quiet"])
        .args(["--filter-platform", platform.unwrap()])
        .args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let manifest = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["name"] == "tree-sitter-rust")
        .and_then(|p| p["manifest_path"].as_str())
        .unwrap();
    Path::new(manifest).ancestors().nth(2).unwrap().to_owned()
}

fn collect(folder: &Path, extension: &str, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, extension, into);
        } else if path.extension().is_some_and(|e| e == extension) {
            into.push(path);
        }
    }
}
