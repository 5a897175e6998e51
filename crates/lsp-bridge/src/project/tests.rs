use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use host::Workspace;

use super::*;
use crate::plan::{Candidate, candidate, candidates};
use crate::servers::Catalogue;

struct Setting {
    folder: tempfile::TempDir,
    /// What is installed on the machine.
    machine: tempfile::TempDir,
    variables: Vec<(&'static str, PathBuf)>,
}

impl Setting {
    fn new(files: &[(&str, &str)]) -> Self {
        let setting = Self {
            folder: tempfile::tempdir().unwrap(),
            machine: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        };
        for (name, text) in files {
            write(&setting.folder.path().join(name), text);
        }
        setting
    }

    fn install(&self, name: &str) -> PathBuf {
        executable(&self.machine.path().join("bin").join(name))
    }

    fn environment(&self) -> Environment {
        let path = self.machine.path().join("bin");
        let variables = self.variables.iter();
        variables.fold(
            Environment::empty().with("PATH", path),
            |environment, (name, value)| environment.with(*name, value),
        )
    }

    fn candidate(&self, id: &str, file: &str, trust: Trust) -> Candidate {
        let workspace = Workspace::open(self.folder.path(), trust).unwrap();
        let from = workspace.resolve(file).unwrap();
        let catalogue = Catalogue::built_in();
        let row = catalogue.rows().iter().find(|row| row.id == id).unwrap();
        candidate(row, &from, &self.environment())
    }

    fn refused(&self, id: &str, file: &str, trust: Trust) -> String {
        let candidate = self.candidate(id, file, trust);
        assert!(candidate.root.is_ok() && candidate.program.is_ok());
        candidate.refused.clone().unwrap_or_default()
    }

    fn initialization(&self, id: &str, file: &str, trust: Trust) -> Value {
        let candidate = self.candidate(id, file, trust);
        let plan = candidate.plan(&self.environment()).unwrap();
        plan.initialization.clone()
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn executable(path: &Path) -> PathBuf {
    write(path, "#!/bin/sh\n");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

/// Writes a package of TypeScript.
fn typescript_in(folder: &Path, version: &str) {
    let folder = folder.join("node_modules/typescript");
    let description = format!("{{ \"name\": \"typescript\", \"version\": \"{version}\" }}");
    write(&folder.join("package.json"), &description);
    write(&folder.join("lib/tsserver.js"), "");
    executable(&folder.join("bin/tsc"));
}

#[test]
fn pitfall_57_a_wrapper_loads_typescript_from_outside_an_untrusted_workspace() {
    let setting = Setting::new(&[("tsconfig.json", "{}"), ("a.ts", "")]);
    let id = "typescript-language-server";
    setting.install(id);
    let project = setting.folder.path().canonicalize().unwrap();
    let machine = setting.machine.path().canonicalize().unwrap();
    typescript_in(&project, "5.1.0");
    let refused = setting.refused(id, "a.ts", Trust::Untrusted);
    assert!(refused.contains("is not loaded"), "{refused}");
    typescript_in(&machine, "5.9.3");
    let path = |trust| {
        let initialization = setting.initialization(id, "a.ts", trust);
        initialization["tsserver"]["path"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let library = "node_modules/typescript/lib";
    assert_eq!(
        path(Trust::Untrusted),
        machine.join(library).to_str().unwrap()
    );
    assert_eq!(
        path(Trust::Trusted),
        project.join(library).to_str().unwrap()
    );
    // One that leads into the workspace is of the workspace.
    std::fs::remove_dir_all(machine.join("node_modules")).unwrap();
    std::os::unix::fs::symlink(project.join("node_modules"), machine.join("node_modules")).unwrap();
    let refused = setting.refused(id, "a.ts", Trust::Untrusted);
    assert!(refused.contains("is not loaded"), "{refused}");
}

#[test]
fn the_version_of_typescript_decides_which_server_it_is() {
    let setting = Setting::new(&[("tsconfig.json", "{}"), ("a.ts", "")]);
    let project = setting.folder.path().to_owned();
    let link = project.join("node_modules/.bin/tsc");
    let refused = |version: &str| {
        typescript_in(&project, version);
        if !link.exists() {
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink("../typescript/bin/tsc", &link).unwrap();
        }
        setting.refused("typescript-native", "a.ts", Trust::Trusted)
    };
    let old = refused("5.9.3");
    assert!(
        old.contains("has version 5.9.3, and 7 or later is needed"),
        "{old}"
    );
    assert_eq!(refused("7.0.2"), "");
    let other = Setting::new(&[("tsconfig.json", "{}"), ("a.ts", "")]);
    other.install("tsc");
    let refused = other.refused("typescript-native", "a.ts", Trust::Trusted);
    assert!(
        refused.contains("is not of the npm package `typescript`"),
        "{refused}"
    );
}

#[test]
fn another_servers_marker_is_heeded() {
    let setting = Setting::new(&[
        ("package.json", "{}"),
        ("deno.json", "{}"),
        ("src/a.ts", ""),
    ]);
    setting.install("typescript-language-server");
    let refused = setting.refused("typescript-language-server", "src/a.ts", Trust::Trusted);
    assert_eq!(refused, "`deno.json` is there, so another server is meant");
}

#[test]
fn pitfall_57_servers_that_run_code_of_the_project_are_not_used_untrusted() {
    let setting = Setting::new(&[
        ("Gemfile", ""),
        ("a.rb", ""),
        ("Cargo.toml", ""),
        ("a.rs", ""),
    ]);
    setting.install("ruby-lsp");
    setting.install("rust-analyzer");
    let refused = setting.refused("ruby-lsp", "a.rb", Trust::Untrusted);
    assert_eq!(
        refused,
        "the workspace is not trusted, and it runs the project's `Gemfile`"
    );
    assert_eq!(setting.refused("ruby-lsp", "a.rb", Trust::Trusted), "");

    assert_eq!(
        setting.refused("rust-analyzer", "a.rs", Trust::Untrusted),
        ""
    );
    let told = setting.initialization("rust-analyzer", "a.rs", Trust::Untrusted);
    assert_eq!(told["procMacro"]["enable"], false);
    let told = setting.initialization("rust-analyzer", "a.rs", Trust::Trusted);
    assert_eq!(told["procMacro"], Value::Null);
    write(&setting.folder.path().join(".cargo/config.toml"), "");
    let refused = setting.refused("rust-analyzer", "a.rs", Trust::Untrusted);
    assert!(
        refused.contains("`.cargo/config.toml` can name programs"),
        "{refused}"
    );
    assert_eq!(setting.refused("rust-analyzer", "a.rs", Trust::Trusted), "");
}

#[test]
fn pitfall_48_a_stand_in_without_the_program_is_told_apart() {
    let mut setting = Setting::new(&[("Cargo.toml", ""), ("a.rs", "")]);
    let rustup = setting.install("rustup");
    let bin = rustup.parent().unwrap();
    std::os::unix::fs::symlink("rustup", bin.join("rust-analyzer")).unwrap();
    let home = setting.machine.path().join("home");
    executable(&home.join("toolchains/stable/bin/cargo"));
    setting.variables.push(("RUSTUP_HOME", home.clone()));
    let refused = setting.refused("rust-analyzer", "a.rs", Trust::Trusted);
    assert!(
        refused.contains("is rustup's stand-in, and no toolchain has"),
        "{refused}"
    );
    executable(&home.join("toolchains/stable/bin/rust-analyzer"));
    assert_eq!(setting.refused("rust-analyzer", "a.rs", Trust::Trusted), "");
}

#[test]
fn pitfall_50_the_root_of_a_crate_is_its_workspace() {
    let setting = Setting::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"one\"]\n"),
        ("one/Cargo.toml", "[package]\n"),
        ("one/src/lib.rs", ""),
        ("other/deep/Cargo.toml", "[workspace]\n"),
        ("other/deep/src/lib.rs", ""),
    ]);
    let root = |file| {
        let candidate = setting.candidate("rust-analyzer", file, Trust::Trusted);
        candidate.root.unwrap().folder.relative().to_owned()
    };
    assert_eq!(root("one/src/lib.rs"), ".");
    assert_eq!(root("other/deep/src/lib.rs"), "other/deep");
    std::fs::remove_file(setting.folder.path().join("Cargo.toml")).unwrap();
    assert_eq!(root("one/src/lib.rs"), "one");
}

#[test]
fn pitfall_51_each_python_server_is_told_the_environment_in_its_own_words() {
    let setting = Setting::new(&[("pyproject.toml", ""), ("a.py", "")]);
    let root = setting.folder.path().canonicalize().unwrap();
    let python = executable(&root.join(".venv/bin/python3"));
    let python = Value::from(python.to_str().unwrap());
    for (id, program, place) in [
        ("pyright", "pyright-langserver", "/python/pythonPath"),
        (
            "basedpyright",
            "basedpyright-langserver",
            "/python/pythonPath",
        ),
        ("ty", "ty", "/ty/configuration/environment/python"),
        ("pylsp", "pylsp", "/pylsp/plugins/jedi/environment"),
        (
            "jedi-language-server",
            "jedi-language-server",
            "/workspace/environmentPath",
        ),
    ] {
        setting.install(program);
        let candidate = setting.candidate(id, "a.py", Trust::Trusted);
        let plan = candidate.plan(&setting.environment()).unwrap();
        let told = plan.settings.pointer(place);
        let told = told.or_else(|| plan.initialization.pointer(place));
        assert_eq!(told, Some(&python), "{id}");
    }
}

#[test]
fn pitfall_63_the_order_of_the_table_is_the_order_of_preference() {
    let setting = Setting::new(&[("pyproject.toml", ""), ("a.py", "")]);
    for program in ["ty", "basedpyright-langserver", "pylsp"] {
        setting.install(program);
    }
    let workspace = Workspace::open(setting.folder.path(), Trust::Trusted).unwrap();
    let from = workspace.resolve("a.py").unwrap();
    let catalogue = Arc::new(Catalogue::built_in());
    for _ in 0..3 {
        let candidates = candidates(&catalogue, &from, &setting.environment());
        let chosen = candidates.iter().find(|candidate| candidate.is_main());
        assert_eq!(chosen.unwrap().id(), "basedpyright");
    }
}
