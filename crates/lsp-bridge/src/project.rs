//! What of a project a server is told, and why a server whose program was found
//! is not used all the same.

use std::path::{Path, PathBuf};

use host::WorkspacePath;
use host::executable::{Origin, Program, ProjectPrograms, Requirement, SearchPath, find};
use host::process::Environment;
use serde_json::{Value, json};
use tiers::Trust;

use crate::row::{Outer, Package, ProjectEnvironment, ServerRow};

/// Folders of a project that may hold its Python interpreter.
pub(crate) const PYTHON_FOLDERS: [&str; 2] = [".venv/bin", "venv/bin"];

/// The largest description of a package that is read, in bytes.
const MAX_DESCRIPTION: u64 = 1024 * 1024;

/// TypeScript from this version on has no server of its own to wrap.
const NATIVE: u64 = 7;

/// What a server is told of its project.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) settings: Value,
    pub(crate) initialization: Value,
}

/// Returns what the server of `row` is told of the project at `root`.
pub(crate) fn told(
    row: &ServerRow,
    root: &WorkspacePath,
    program: &Program,
    environment: &Environment,
) -> Told {
    let mut told = Told::default();
    match row.environment {
        ProjectEnvironment::Nothing => {}
        ProjectEnvironment::Python => {
            if let Some(path) = python(root, environment) {
                for name in &row.interpreter.settings {
                    set(&mut told.settings, name, &path);
                }
                for name in &row.interpreter.initialization {
                    set(&mut told.initialization, name, &path);
                }
            }
        }
        ProjectEnvironment::Typescript => {
            if let Some(library) = typescript(root, program, environment) {
                told.initialization = json!({ "tsserver": { "path": library } });
            }
        }
    }
    told
}

/// Says why a server is not used although root and program were found.
pub(crate) fn refusal(
    row: &ServerRow,
    root: &WorkspacePath,
    program: &Program,
    environment: &Environment,
) -> Option<String> {
    if let Some(file) = marker_upwards(root, &row.unless) {
        return Some(format!("`{file}` is there, so another server is meant"));
    }
    if let Some(package) = &row.package {
        let refusal = of_package(package, program);
        if refusal.is_some() {
            return refusal;
        }
    }
    if let Some(refusal) = stand_in(program, environment) {
        return Some(format!("{refusal}; to get it: {}", row.install));
    }
    if row.environment == ProjectEnvironment::Typescript
        && typescript(root, program, environment).is_none()
    {
        return Some(format!(
            "it needs the package `typescript` below version {NATIVE}, and there is none beside it{}",
            match root.workspace().trust() {
                Trust::Trusted => " or in the project",
                Trust::Untrusted => "; that of an untrusted workspace is not loaded",
            }
        ));
    }
    let is_untrusted = root.workspace().trust() == Trust::Untrusted;
    if let (true, Some(why)) = (is_untrusted, &row.untrusted.never) {
        return Some(format!("the workspace is not trusted, and {why}"));
    }
    if is_untrusted && let Some(file) = marker_upwards(root, &row.untrusted.refuse) {
        return Some(format!(
            "the workspace is not trusted, and `{file}` can name programs that the server would run"
        ));
    }
    None
}

/// Returns the nearest folder, from `from` up, in which a file says that it is a
/// root.
pub(crate) fn outer_root(outer: &Outer, from: &WorkspacePath) -> Option<WorkspacePath> {
    let workspace = from.workspace();
    let folders = from.absolute().ancestors();
    let mut folders = folders.take_while(|folder| folder.starts_with(workspace.root()));
    let folder = folders.find(|folder| {
        let file = folder.join(&outer.file);
        let is_small = file.metadata().is_ok_and(|m| m.len() <= MAX_DESCRIPTION);
        let text = is_small.then(|| std::fs::read_to_string(file).ok());
        let text = text.flatten().unwrap_or_default();
        text.lines().any(|line| line.starts_with(&outer.holds))
    })?;
    workspace.resolve_path(folder).ok()
}

/// Returns the first of `files` that is in `root` or a folder above it, up to
/// the workspace's root.
fn marker_upwards(root: &WorkspacePath, files: &[String]) -> Option<String> {
    let workspace = root.workspace().root();
    let folders = root.absolute().ancestors();
    let mut folders = folders.take_while(|folder| folder.starts_with(workspace));
    folders.find_map(|folder| {
        let mut files = files.iter();
        let found = files.find(|file| folder.join(file).symlink_metadata().is_ok())?;
        let found = folder.join(found);
        let shown = found.strip_prefix(workspace).unwrap_or(&found);
        Some(shown.to_string_lossy().into_owned())
    })
}

/// Says why a program is not of the wanted package.
fn of_package(package: &Package, program: &Program) -> Option<String> {
    let (name, path) = (&package.name, program.path.display());
    let Some((folder, version)) = package_of(&program.path, name) else {
        return Some(format!("`{path}` is not of the npm package `{name}`"));
    };
    let major = major(&version)?;
    let wanted = match (package.from, package.below) {
        (from, u64::MAX) => format!("{from} or later"),
        (0, below) => format!("below {below}"),
        (from, below) => format!("from {from} and below {below}"),
    };
    let is_wanted = package.from <= major && major < package.below;
    (!is_wanted).then(|| {
        format!(
            "`{name}` in `{}` has version {version}, and {wanted} is needed",
            folder.display()
        )
    })
}

/// Returns the folder and version of the npm package `name` that a program is of.
fn package_of(program: &Path, name: &str) -> Option<(PathBuf, String)> {
    let program = program.canonicalize().ok()?;
    let mut folders = program.ancestors().skip(1);
    folders.find_map(|folder| Some((folder.to_owned(), version_in(folder, name)?)))
}

/// Returns the version of the npm package `name`, if that is in `folder`.
fn version_in(folder: &Path, name: &str) -> Option<String> {
    let file = folder.join("package.json");
    let length = file.metadata().ok()?.len();
    if length > MAX_DESCRIPTION {
        return None;
    }
    let description: Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    let is_it = description.get("name").and_then(Value::as_str) == Some(name);
    let version = description.get("version")?.as_str()?;
    is_it.then(|| version.to_owned())
}

fn major(version: &str) -> Option<u64> {
    version.split('.').next()?.parse().ok()
}

/// Says why a stand-in that rustup puts in place of every program of a toolchain
/// cannot be used: no toolchain has the program.
fn stand_in(program: &Program, environment: &Environment) -> Option<String> {
    let target = program.path.canonicalize().ok()?;
    if target.file_name()? != "rustup" {
        return None;
    }
    let home = environment.get("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(environment.get("HOME")?).join(".rustup")))?;
    let toolchains = std::fs::read_dir(home.join("toolchains")).ok()?;
    let mut toolchains = toolchains.filter_map(Result::ok);
    let is_there = toolchains.any(|toolchain| {
        let own = toolchain.path().join("bin").join(&program.name);
        own.is_file()
    });
    (!is_there).then(|| {
        format!(
            "`{}` is rustup's stand-in, and no toolchain has `{}`",
            program.path.display(),
            program.name
        )
    })
}

/// Returns the folder of the TypeScript that a wrapper is to load: the project's
/// own where it is trusted, else what is beside the wrapper or in `PATH`.
fn typescript(root: &WorkspacePath, program: &Program, environment: &Environment) -> Option<Value> {
    let workspace = root.workspace();
    let is_usable = |folder: &Path| {
        let version = version_in(folder, "typescript").as_deref().and_then(major);
        version.is_some_and(|version| version < NATIVE)
            && folder.join("lib/tsserver.js").is_file()
            && (workspace.trust() == Trust::Trusted || {
                let target = folder.canonicalize();
                !folder.starts_with(workspace.root())
                    && target.is_ok_and(|target| !target.starts_with(workspace.root()))
            })
    };
    let below = |folder: &Path| folder.join("node_modules/typescript");
    let project = root.absolute().ancestors();
    let project = project.take_while(|folder| folder.starts_with(workspace.root()));
    let program = program.path.canonicalize().ok();
    let beside = program.iter().flat_map(|program| program.ancestors());
    let path = SearchPath::parse(environment.get("PATH").unwrap_or_default());
    let compilers = path.folders().iter().filter_map(|folder| {
        let (folder, _) = package_of(&folder.join("tsc"), "typescript")?;
        Some(folder)
    });
    let mut found = project.chain(beside).map(below).chain(compilers);
    let folder = found.find(|folder| is_usable(folder))?;
    Some(Value::from(folder.join("lib").to_str()?))
}

/// Returns the project's Python interpreter.
///
/// In an untrusted workspace that is one from outside: a server runs it to see
/// where its packages are.
fn python(root: &WorkspacePath, environment: &Environment) -> Option<String> {
    let path = SearchPath::parse(environment.get("PATH").unwrap_or_default());
    let trust = root.workspace().trust();
    let active = environment.get("VIRTUAL_ENV");
    let active = active.map(|prefix| Path::new(prefix).join("bin/python"));
    let mut requirement = Requirement::program("python3").or_program("python");
    for folder in PYTHON_FOLDERS {
        requirement = requirement.project_folder(folder);
    }
    let project = ProjectPrograms::for_trust(trust);
    let in_project = find(&requirement, root, &path, project).program.ok();
    let of_activated = active.and_then(|python| {
        let named = Requirement::program(python.to_str()?);
        find(&named, root, &path, project).program.ok()
    });
    let program = match in_project {
        Some(program) if program.origin == Origin::Project => program,
        found => of_activated.or(found)?,
    };
    program.path.to_str().map(str::to_owned)
}

/// Sets the value at a dotted name.
fn set(settings: &mut Value, name: &str, value: &str) {
    let mut names = name.split('.').rev();
    let inner = names.next().map(|name| json!({ name: value }));
    let whole = names.fold(
        inner.unwrap_or_default(),
        |inner, name| json!({ name: inner }),
    );
    crate::seen::merge(settings, &whole);
}

#[cfg(test)]
mod tests;
