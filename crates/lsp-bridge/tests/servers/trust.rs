//! A workspace that nobody vouches for, and that wants to be run.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lsp_bridge::LspLimits;
use serde_json::json;
use tiers::Trust;

use crate::support::{Opening, Project, call, registry};

/// Programs that a server might start. Each leaves a file behind when it is run.
const PROGRAMS: &[&str] = &[
    ".venv/bin/pyright-langserver",
    ".venv/bin/python",
    ".venv/bin/python3",
    "venv/bin/python3",
    "node_modules/.bin/pyright-langserver",
    "node_modules/.bin/node",
    "python3",
    "python",
    "node",
    "git",
    "clang++",
];

const ACTIONS: &[&str] = &[
    "definition",
    "type_definition",
    "references",
    "hover",
    "code_actions",
];

fn plant(folder: &Path) {
    for program in PROGRAMS {
        let path = folder.join(program);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let script = format!("#!/bin/sh\necho {program} >> '{}/ran'\n", folder.display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::write(folder.join(".venv/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    std::fs::write(
        folder.join("sitecustomize.py"),
        format!("open('{}/ran', 'a').write('python')\n", folder.display()),
    )
    .unwrap();
}

#[tokio::test]
async fn pitfall_57_nothing_of_an_untrusted_workspace_is_run() {
    let files = [
        (
            "pyproject.toml",
            "[tool.pyright]\nvenvPath = \".\"\nvenv = \".venv\"\n",
        ),
        ("a.py", "def core():\n    pass\n"),
        ("a.cc", "int core() { return 1; }\n"),
        ("compile_flags.txt", "-fplugin=./plugin.so\n"),
    ];
    let project = Project::open(&files, Opening::default());
    plant(project.folder.path());
    for (file, line) in [("a.py", 1), ("a.cc", 1)] {
        for action in ACTIONS {
            let outcome = project.ask(action, file, line, "core").await;
            assert!(outcome.error.is_none(), "{action} {file}: {}", outcome.text);
        }
        for action in ["symbols", "diagnostics", "status", "reload"] {
            let outcome = project
                .call(json!({ "action": action, "file": file }))
                .await;
            assert!(outcome.error.is_none(), "{action} {file}: {}", outcome.text);
        }
    }
    let told = project.ask("hover", "a.py", 1, "core").await;
    assert!(
        told.text.contains("was left out because the workspace"),
        "{}",
        told.text
    );
    let ran = std::fs::read_to_string(project.folder.path().join("ran"));
    assert!(ran.is_err(), "{ran:?}");

    // The same workspace trusted: its own server is the one that is started.
    let folder = project.folder.path();
    let trusted = registry(
        folder,
        Trust::Trusted,
        &project.supervisor,
        LspLimits::default(),
    );
    let hover = json!({ "action": "hover", "file": "a.py", "line": 1, "symbol": "core" });
    let failed = call(&trusted, hover).await;
    assert!(failed.error.is_some(), "{}", failed.text);
    let ran = std::fs::read_to_string(folder.join("ran")).unwrap();
    assert_eq!(ran, "node_modules/.bin/pyright-langserver\n");
    drop(trusted);
    project.end().await;
}
