//! A workspace that nobody vouches for, and that wants to be run.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use libtest_mimic::Trial;
use lsp_bridge::{LspLimits, SupervisorLimits};
use serde_json::json;
use tiers::Trust;

use crate::sample::{needing, only};
use crate::support::{Opening, Project, call, registry};

/// Programs that a server might start. Each leaves a file behind when it is run.
const PROGRAMS: &[&str] = &[
    ".venv/bin/pyright-langserver",
    ".venv/bin/basedpyright-langserver",
    ".venv/bin/ty",
    ".venv/bin/ruff",
    ".venv/bin/python",
    ".venv/bin/python3",
    "venv/bin/python3",
    "node_modules/.bin/pyright-langserver",
    "node_modules/.bin/basedpyright-langserver",
    "node_modules/.bin/typescript-language-server",
    "node_modules/.bin/tsc",
    "node_modules/.bin/bash-language-server",
    "node_modules/.bin/node",
    "node_modules/.bin/npm",
    "python3",
    "python",
    "node",
    "npm",
    "git",
    "clang++",
    "cargo",
    "rustc",
    "go",
    "gcc",
    "shellcheck",
    "shfmt",
    "wrapper",
];

const ACTIONS: &[&str] = &[
    "definition",
    "type_definition",
    "implementation",
    "references",
    "hover",
    "code_actions",
];

/// A project for one server, and one of its own programs in it.
#[derive(Clone, Copy)]
struct Hostile {
    id: &'static str,
    beside: &'static [&'static str],
    programs: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    file: &'static str,
    /// What the result says of what was left out.
    told: Option<&'static str>,
    /// What is started in the same workspace where it is trusted.
    own: Option<&'static str>,
}

const PYTHON: &[(&str, &str)] = &[
    (
        "pyproject.toml",
        "[tool.pyright]\nvenvPath = \".\"\nvenv = \".venv\"\n[tool.ty.environment]\npython = \".venv\"\n",
    ),
    ("a.py", "def core():\n    pass\n"),
];

const TYPESCRIPT: &[(&str, &str)] = &[
    (
        "tsconfig.json",
        "{ \"compilerOptions\": { \"plugins\": [{ \"name\": \"evil\" }, { \"name\": \"./evil\" }] } }",
    ),
    (
        "package.json",
        "{ \"name\": \"x\", \"dependencies\": { \"lodash\": \"4\" } }",
    ),
    ("a.ts", "export function core() {}\n"),
];

const RUST: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[workspace]\n[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nmacros = { path = \"macros\" }\n",
    ),
    (
        "build.rs",
        "fn main() { std::fs::write(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/ran\"), \"build script\").unwrap(); }\n",
    ),
    ("src/lib.rs", "pub fn core() {}\n\nmacros::run!();\n"),
    (
        "macros/Cargo.toml",
        "[package]\nname = \"macros\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
    ),
    (
        "macros/src/lib.rs",
        "#[proc_macro]\npub fn run(input: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    std::fs::write(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../ran\"), \"macro\").unwrap();\n    input\n}\n",
    ),
];

const HOSTILE: &[Hostile] = &[
    Hostile {
        id: "pyright",
        beside: &["ruff"],
        programs: &["pyright", "ruff"],
        files: PYTHON,
        file: "a.py",
        told: Some("was left out because the workspace"),
        own: Some("node_modules/.bin/pyright-langserver\n"),
    },
    Hostile {
        id: "basedpyright",
        beside: &[],
        programs: &["basedpyright"],
        files: PYTHON,
        file: "a.py",
        told: Some("was left out because the workspace"),
        own: Some("node_modules/.bin/basedpyright-langserver\n"),
    },
    Hostile {
        id: "ty",
        beside: &[],
        programs: &["ty"],
        files: PYTHON,
        file: "a.py",
        told: Some("was left out because the workspace"),
        own: Some(".venv/bin/ty\n"),
    },
    Hostile {
        id: "clangd",
        beside: &[],
        programs: &["clangd"],
        files: &[
            ("compile_flags.txt", "-fplugin=./plugin.so\n"),
            ("a.cc", "int core() { return 1; }\n"),
        ],
        file: "a.cc",
        told: None,
        own: None,
    },
    Hostile {
        id: "typescript-language-server",
        beside: &[],
        programs: &["typescript-language-server"],
        files: TYPESCRIPT,
        file: "a.ts",
        told: Some("was left out because the workspace"),
        own: Some("node_modules/.bin/typescript-language-server\n"),
    },
    Hostile {
        id: "typescript-native",
        beside: &[],
        programs: &["typescript-native"],
        files: TYPESCRIPT,
        file: "a.ts",
        told: Some("was left out because the workspace"),
        // One that is of no package `typescript` is not started at all.
        own: None,
    },
    Hostile {
        id: "rust-analyzer",
        beside: &[],
        programs: &["rust-analyzer"],
        files: RUST,
        file: "src/lib.rs",
        told: None,
        own: None,
    },
    Hostile {
        id: "gopls",
        beside: &[],
        programs: &["gopls"],
        files: &[
            ("go.mod", "module x\n\ngo 1.19\n"),
            (
                "a.go",
                "package x\n\n// #cgo CFLAGS: -B.\n// int f(void);\nimport \"C\"\n\n//go:generate ./wrapper\nfunc core() { C.f() }\n",
            ),
            ("b.go", "package x\n\nfunc core() {}\n"),
        ],
        file: "b.go",
        told: None,
        own: None,
    },
    Hostile {
        id: "bash-language-server",
        beside: &[],
        programs: &["bash-language-server", "shellcheck"],
        files: &[
            (".git/config", "[core]\n\tfsmonitor = ./wrapper\n"),
            (".shellcheckrc", "external-sources=true\n"),
            ("a.sh", "core() { true; }\n"),
        ],
        file: "a.sh",
        told: Some("was left out because the workspace"),
        own: Some("node_modules/.bin/bash-language-server\n"),
    },
];

/// Files that make rust-analyzer run what they name.
const NAMES_PROGRAMS: &[(&str, &str)] = &[
    (
        ".cargo/config.toml",
        "[build]\nrustc-wrapper = \"./wrapper\"\n",
    ),
    ("rust-toolchain.toml", "[toolchain]\npath = \"toolchain\"\n"),
    (
        "rust-analyzer.toml",
        "checkOnSave = true\n[check]\noverrideCommand = [\"./wrapper\"]\n",
    ),
];

fn plant(folder: &Path) {
    let ran = folder.join("ran");
    let ran = ran.display();
    for program in PROGRAMS
        .iter()
        .copied()
        .chain(["toolchain/bin/cargo", "toolchain/bin/rustc"])
    {
        let path = folder.join(program);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\necho {program} >> '{ran}'\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let leave = |program: &str| format!("require('fs').appendFileSync('{ran}', '{program}\\n');\n");
    for (name, text) in [
        (".venv/pyvenv.cfg", "home = /usr/bin\n".to_owned()),
        (
            "sitecustomize.py",
            format!("open('{ran}', 'a').write('python')\n"),
        ),
        (
            "node_modules/typescript/package.json",
            "{ \"name\": \"typescript\", \"version\": \"5.9.3\" }".to_owned(),
        ),
        (
            "node_modules/typescript/lib/tsserver.js",
            leave("tsserver.js"),
        ),
        (
            "node_modules/typescript/lib/typescript.js",
            leave("typescript.js"),
        ),
        (
            "node_modules/typescript/lib/_tsserver.js",
            leave("_tsserver.js"),
        ),
        ("node_modules/evil/index.js", leave("plugin")),
        ("evil/index.js", leave("plugin")),
        ("evil.js", leave("plugin")),
    ] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

impl Hostile {
    fn opening(self) -> Opening {
        let ids: Vec<&str> = [self.id]
            .into_iter()
            .chain(self.beside.iter().copied())
            .collect();
        let mut calls = LspLimits::default();
        calls.ready = std::time::Duration::from_secs(20);
        Opening {
            trust: Trust::Untrusted,
            catalogue: only(&ids),
            servers: SupervisorLimits::default(),
            calls,
            programs: self.programs,
        }
    }

    /// Calls every action; returns all that was said.
    async fn every_action(self, project: &Project) -> String {
        let text = std::fs::read_to_string(project.folder.path().join(self.file)).unwrap();
        let line = 1 + text.lines().position(|line| line.contains("core")).unwrap();
        let line = u32::try_from(line).unwrap();
        let mut said = String::new();
        for action in ACTIONS {
            let outcome = project.ask(action, self.file, line, "core").await;
            said.push_str(&outcome.text);
        }
        for action in ["symbols", "diagnostics", "status", "reload", "diagnostics"] {
            let arguments = json!({ "action": action, "file": self.file });
            said.push_str(&project.call(arguments).await.text);
        }
        let query = json!({ "action": "symbols", "query": "core" });
        said.push_str(&project.call(query).await.text);
        said
    }

    async fn nothing_is_run(self) {
        let project = Project::open(self.files, self.opening());
        let folder = project.folder.path().to_owned();
        plant(&folder);
        let said = self.every_action(&project).await;
        assert!(said.contains(self.file), "{said}");
        if let Some(told) = self.told {
            assert!(said.contains(told), "{said}");
        }
        let ran = std::fs::read_to_string(folder.join("ran"));
        assert!(ran.is_err(), "{ran:?}\n{said}");
        assert_eq!(project.pids().await.len(), 1 + self.beside.len(), "{said}");

        // The same workspace trusted: its own server is the one that is started.
        if let Some(own) = self.own {
            let limits = LspLimits::default();
            let trusted = registry(&folder, Trust::Trusted, &project.supervisor, limits);
            let hover = json!({ "action": "symbols", "file": self.file });
            let failed = call(&trusted, hover).await;
            assert!(failed.error.is_some(), "{}", failed.text);
            let ran = std::fs::read_to_string(folder.join("ran")).unwrap();
            assert_eq!(ran, own);
            drop(trusted);
        }
        project.end().await;
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    let mut tests: Vec<Trial> = Vec::new();
    for hostile in HOSTILE {
        let id = hostile.id.replace('-', "_");
        let name = format!("pitfall_57_nothing_of_an_untrusted_workspace_is_run_by_{id}");
        tests.push(needing(hostile.programs, name, || hostile.nothing_is_run()));
    }
    tests.push(needing(
        &["rust-analyzer"],
        "pitfall_57_files_that_name_programs_keep_rust_analyzer_from_being_used".to_owned(),
        named_programs,
    ));
    tests
}

async fn named_programs() {
    let hostile = HOSTILE.iter().find(|h| h.id == "rust-analyzer").unwrap();
    for (name, text) in NAMES_PROGRAMS {
        let project = Project::open(hostile.files, hostile.opening());
        plant(project.folder.path());
        project.write(name, text);
        let said = hostile.every_action(&project).await;
        let why = format!("the workspace is not trusted, and `{name}` can name programs");
        assert!(said.contains(&why), "{said}");
        let ran = std::fs::read_to_string(project.folder.path().join("ran"));
        assert!(ran.is_err(), "{ran:?}\n{said}");
        assert!(project.pids().await.is_empty());
    }
}
