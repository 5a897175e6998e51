//! `cargo xtask tidy`: invariants that no compiler checks.

mod documents;
mod edges;
mod source;

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::paths;
use crate::process::{capture, command};

/// The most packages the lock file may name. Raise it in the commit that adds
/// a dependency, and say there what it brings.
const LOCKED_PACKAGES: usize = 345;

/// Checks every invariant and reports all that is wrong at once.
pub(crate) fn run() -> Result<()> {
    let files = tracked_files()?;
    let mut wrong = Vec::new();
    edges::check(&mut wrong)?;
    for file in &files {
        source::check(file, &mut wrong);
        documents::check(file, &mut wrong);
    }
    documents::check_changelog(&mut wrong);
    check_lock_file(&mut wrong)?;
    for (name, lines) in source::long_files(&files) {
        eprintln!("tidy: note: {name} has {lines} lines; is there a seam?");
    }
    if !wrong.is_empty() {
        bail!("tidy found {}:\n  {}", wrong.len(), wrong.join("\n  "));
    }
    eprintln!("tidy: {} files are in order", files.len());
    Ok(())
}

/// A file that git knows, with its text.
struct TextFile {
    /// Relative to the root of the checkout.
    name: String,
    text: String,
}

fn tracked_files() -> Result<Vec<TextFile>> {
    let listing = capture(command("git", &paths::root()).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    let mut files = Vec::new();
    for name in listing.split_terminator('\0') {
        let path = paths::root().join(Path::new(name));
        // A file may be binary, or deleted but not yet committed.
        if let Ok(text) = fs::read_to_string(path) {
            files.push(TextFile {
                name: name.to_owned(),
                text,
            });
        }
    }
    Ok(files)
}

fn check_lock_file(wrong: &mut Vec<String>) -> Result<()> {
    let lock = fs::read_to_string(paths::root().join("Cargo.lock"))?;
    let packages = lock.matches("[[package]]").count();
    if packages > LOCKED_PACKAGES {
        wrong.push(format!(
            "Cargo.lock: {packages} packages, more than the {LOCKED_PACKAGES} that tidy allows"
        ));
    }
    Ok(())
}
