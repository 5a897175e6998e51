//! The shared library that `embedded-python` is built and tested with: that of
//! the Python the `notebook` environment was made by.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{Item, Need};
use crate::process::{capture, command, run};

/// Where it is installed.
const FOLDER: &str = "libpython";

pub(super) fn item() -> Item {
    Item {
        folder: FOLDER,
        version: "the shared library of python3".to_owned(),
        purpose: "what the feature `embedded-python` links to",
        need: Need::Required,
        program: None,
        install,
    }
}

/// Returns the file that tells PyO3 what to link to, and the folder in which the
/// loader finds it.
pub(crate) fn installed() -> (PathBuf, PathBuf) {
    let folder = crate::paths::installed().join(FOLDER);
    (folder.join("pyo3.txt"), folder.join("lib"))
}

/// Links to the library that the interpreter came with; Debian has it in a
/// package of its own, which is unpacked here.
fn install(_: &Item, folder: &Path) -> Result<()> {
    let python = crate::paths::installed().join("notebook/bin/python");
    let ask = "\
import sys, sysconfig
print('%d.%d' % sys.version_info[:2])
folder = sysconfig.get_config_var('LIBDIR') or ''
print(folder)
print(folder + '/' + (sysconfig.get_config_var('MULTIARCH') or ''))";
    let said = capture(command(&python, folder).args(["-c", ask]))?;
    let (version, own) = said.trim_end().split_once('\n').context("three lines")?;
    let lib = folder.join("lib");
    fs::create_dir_all(&lib)?;
    let mut is_linked = false;
    for own in own.lines() {
        is_linked = is_linked || link(Path::new(own), &lib, version)?;
    }
    if !is_linked {
        from_packages(folder, &lib, version).with_context(|| {
            format!("Python {version} has no shared library here (Debian: libpython3-dev; pyenv: PYTHON_CONFIGURE_OPTS=--enable-shared)")
        })?;
    }
    let config = format!(
        "implementation=CPython\nversion={version}\nshared=true\nlib_name=python{version}\nlib_dir={}\n",
        lib.display()
    );
    fs::write(folder.join("pyo3.txt"), config)?;
    Ok(())
}

/// Links to the libraries in `from`; returns whether one is there to link with.
fn link(from: &Path, lib: &Path, version: &str) -> Result<bool> {
    let Ok(entries) = fs::read_dir(from) else {
        return Ok(false);
    };
    let wanted = format!("libpython{version}");
    let mut is_found = false;
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let Some(rest) = name.strip_prefix(wanted.as_str()) else {
            continue;
        };
        let target = lib.join(name);
        // One that was found before without what is linked with.
        if (rest.starts_with(".so") || rest == ".dylib") && !target.exists() {
            std::os::unix::fs::symlink(&path, target)?;
            is_found |= matches!(rest, ".so" | ".dylib");
        }
    }
    Ok(is_found)
}

fn from_packages(folder: &Path, lib: &Path, version: &str) -> Result<()> {
    let packages = folder.join("packages");
    fs::create_dir_all(&packages)?;
    let names = [
        format!("libpython{version}"),
        format!("libpython{version}-dev"),
    ];
    run(command("apt-get", &packages)
        .arg("-qq")
        .arg("download")
        .args(names))?;
    let root = folder.join("root");
    for package in fs::read_dir(&packages)? {
        run(command("dpkg-deb", folder)
            .arg("-x")
            .arg(package?.path())
            .arg(&root))?;
    }
    fs::remove_dir_all(packages)?;
    for architecture in fs::read_dir(root.join("usr/lib"))? {
        if link(&architecture?.path(), lib, version)? {
            return Ok(());
        }
    }
    bail!("the packages have none")
}
