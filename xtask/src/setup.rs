//! `cargo xtask setup`: installs what the tests need into `.toolset/`.
//!
//! Every item is pinned by package and version and leaves a stamp, so that a
//! second run does nothing. Packages come through the ordinary clients (`pip`,
//! `npm`, `cargo`, `apt-get`); nothing is installed outside the checkout.

mod corpora;
mod libpython;
mod programs;
mod servers;

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;

pub(crate) use libpython::installed as libpython;

use crate::paths;

/// Options of `setup`.
#[derive(Debug, Args, Clone, Default)]
pub(crate) struct Options {
    /// Install nothing: fail where something is missing, and say what.
    #[arg(long)]
    pub(crate) offline: bool,
    /// Install again what is already there.
    #[arg(long)]
    again: bool,
    /// A folder with prebuilt programs to take instead of installing them.
    #[arg(long, value_name = "DIR")]
    pub(crate) tools_dir: Option<PathBuf>,
}

/// One thing to install.
struct Item {
    /// Where it goes, relative to `.toolset/`.
    folder: &'static str,
    /// The package and its version; a change installs it again.
    version: String,
    /// What it is for.
    purpose: &'static str,
    /// Whether the tests can do without it.
    need: Need,
    /// The program that a folder of prebuilt ones may hold instead.
    program: Option<&'static str>,
    /// Installs it into an empty folder.
    install: fn(&Item, &Path) -> Result<()>,
}

/// Whether the tests can do without an item. One that is missing is reported,
/// and the tests that want it say that they skip.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Everywhere.
    Required,
    /// Wherever this client exists.
    Where(&'static str),
    /// Likewise, and its absence from the client's archive is no failure.
    WhereOffered(&'static str),
}

/// Installs everything that is missing.
pub(crate) fn run(options: &Options) -> Result<()> {
    let start = Instant::now();
    let items: Vec<Item> = programs::items()
        .into_iter()
        .chain([libpython::item()])
        .chain(servers::items())
        .chain(corpora::items())
        .collect();
    let mut missing = Vec::new();
    let mut installed = 0_usize;
    for item in &items {
        let folder = paths::installed().join(item.folder);
        if !options.again && is_current(item) {
            continue;
        }
        let name = format!(
            "{} ({}) in .toolset/{}",
            item.version, item.purpose, item.folder
        );
        if let Need::Where(client) | Need::WhereOffered(client) = item.need
            && !crate::process::is_installed(client)
        {
            eprintln!("setup: skips {name}: there is no `{client}` here");
            continue;
        }
        if options.offline {
            missing.push(name);
            continue;
        }
        eprintln!("setup: installs {name}");
        let step = Instant::now();
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("cannot clear `{}`", folder.display()))?;
        }
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        let outcome = match prebuilt(item, options) {
            Some(program) => take(&program, item.program.unwrap_or_default(), &folder),
            None => (item.install)(item, &folder),
        };
        if let (Err(error), Need::WhereOffered(_)) = (&outcome, item.need) {
            eprintln!("setup: skips {name}: {error:#}");
            fs::remove_dir_all(&folder)?;
            continue;
        }
        outcome.with_context(|| format!("cannot install {name}"))?;
        fs::create_dir_all(paths::installed().join("stamps"))?;
        fs::write(stamp(item), stamped(item))?;
        installed += 1;
        eprintln!("setup: done in {:.1} s", step.elapsed().as_secs_f64());
    }
    if !missing.is_empty() {
        bail!(
            "not installed:\n  {}\nrun `cargo xtask setup` with network",
            missing.join("\n  ")
        );
    }
    eprintln!(
        "setup: {} of {} items were missing; all are in .toolset/ now ({:.1} s)",
        installed,
        items.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Returns the program of `item` in the folder of prebuilt ones, where it is
/// there, as it is or packed; one that the toolchain has comes before it.
fn prebuilt(item: &Item, options: &Options) -> Option<PathBuf> {
    let (folder, program) = (options.tools_dir.as_ref()?, item.program?);
    if servers::of_toolchain(item).is_some() {
        return None;
    }
    let packed = format!("{program}-{}-{}-gnu.xz", ARCH, OS);
    let places = [folder.join(program), folder.join(packed)];
    let found = places.into_iter().find(|program| program.is_file())?;
    std::path::absolute(found).ok()
}

/// Copies a prebuilt program to where its item would install it.
fn take(prebuilt: &Path, program: &str, folder: &Path) -> Result<()> {
    let folder = folder.join("bin");
    fs::create_dir_all(&folder)?;
    let program = folder.join(program);
    if prebuilt.extension().is_none_or(|packed| packed != "xz") {
        fs::copy(prebuilt, program)?;
        return Ok(());
    }
    let unpack = "\
import lzma, os, shutil, sys
with lzma.open(sys.argv[1]) as packed, open(sys.argv[2], 'wb') as program:
    shutil.copyfileobj(packed, program)
os.chmod(sys.argv[2], 0o755)";
    let mut python = crate::process::command("python3", &paths::root());
    crate::process::run(python.args(["-c", unpack]).arg(prebuilt).arg(program))
}

fn stamp(item: &Item) -> PathBuf {
    paths::installed()
        .join("stamps")
        .join(item.folder.replace('/', "-"))
}

/// Returns what the stamp of an item says: its version, and the folder it was
/// installed in, as a Python environment does not work where it was moved to.
fn stamped(item: &Item) -> String {
    format!("{}\n{}\n", item.version, paths::installed().display())
}

fn is_current(item: &Item) -> bool {
    paths::installed().join(item.folder).is_dir()
        && fs::read_to_string(stamp(item)).is_ok_and(|stamp| stamp == stamped(item))
}
