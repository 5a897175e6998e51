//! How servers start, are shared, and end.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use host::process::Environment;
use lsp_bridge::{Catalogue, LspLimits, Supervisor};
use serde_json::json;
use tiers::{ErrorKind, Trust};

use crate::support::{FOLDER, Opening, Project, call, registry, wait_for_end};

const FILES: &[(&str, &str)] = &[("pyproject.toml", ""), ("a.py", "def core():\n    pass\n")];

#[tokio::test(flavor = "multi_thread")]
async fn pitfall_44_eight_first_calls_start_one_process_also_when_the_first_is_cancelled() {
    let project = Project::new(FILES);
    let arguments = json!({ "action": "hover", "file": "a.py", "line": 1, "symbol": "core" });
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let folder = project.folder.path();
            let limits = LspLimits::default();
            Arc::new(registry(
                folder,
                Trust::Untrusted,
                &project.supervisor,
                limits,
            ))
        })
        .collect();
    let calls: Vec<_> = runs
        .iter()
        .map(|run| {
            let (run, arguments) = (Arc::clone(run), arguments.clone());
            tokio::spawn(async move { call(&run, arguments).await })
        })
        .collect();
    let mut calls = calls.into_iter();
    tokio::time::sleep(Duration::from_millis(50)).await; // it is about to start
    calls.next().unwrap().abort();
    for call in calls {
        let hover = call.await.unwrap();
        assert!(hover.text.contains("core"), "{}", hover.text);
    }
    // Those that were started, not those that the supervisor knows of.
    let folder = project.folder.path().to_path_buf();
    assert_eq!(started_in(&folder), 1);
    assert_eq!(project.pids().await.len(), 1);
    drop(runs);
    project.end().await;
}

/// Counts the children of this process that serve `folder`.
fn started_in(folder: &Path) -> usize {
    let own = format!("PPid:\t{}\n", std::process::id());
    let mark = format!("{FOLDER}={}", folder.display());
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let children = processes.filter(|process| {
        let read = |name| std::fs::read_to_string(process.path().join(name)).unwrap_or_default();
        let is_marked = read("environ").split('\0').any(|variable| variable == mark);
        is_marked && read("status").contains(&own)
    });
    children.count()
}

#[tokio::test]
async fn pitfall_46_a_crash_is_told_and_the_next_call_works() {
    let project = Project::new(FILES);
    let before = project.ask("hover", "a.py", 1, "core").await;
    assert!(before.error.is_none(), "{}", before.text);
    let pids = project.pids().await;
    let pid = i32::try_from(pids[0]).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    wait_for_end(&pids).await;
    let mut after = project.ask("hover", "a.py", 1, "core").await;
    // The end of a process is heard of a moment after it.
    if let Some(error) = &after.error {
        assert_eq!(error.kind, ErrorKind::Crashed, "{}", after.text);
        after = project.ask("hover", "a.py", 1, "core").await;
    }
    assert_eq!(after.text, before.text);
    assert_ne!(project.pids().await, pids);
    project.end().await;
}

#[tokio::test]
async fn pitfall_49_and_55_a_reload_says_how_it_ended() {
    let project = Project::new(FILES);
    let arguments = json!({ "action": "reload" });
    let idle = project.call(arguments.clone()).await;
    assert!(idle.text.contains("pyright: does not run"), "{}", idle.text);
    project.ask("hover", "a.py", 1, "core").await;
    let pids = project.pids().await;
    let reloaded = project.call(arguments.clone()).await;
    let expected = format!("pyright: restarted: process {} was ended", pids[0]);
    assert!(reloaded.text.contains(&expected), "{}", reloaded.text);
    assert_eq!(reloaded.details["servers"][0]["state"], "restarted");
    wait_for_end(&pids).await;
    let again = project.call(arguments).await;
    assert_eq!(
        again.details["servers"][0]["state"], "throttled",
        "{}",
        again.text
    );
    project.end().await;
}

#[tokio::test]
async fn pitfall_48_status_says_what_is_missing() {
    let catalogue = Catalogue::built_in()
        .with(
            r#"
            [[server]]
            id = "none"
            command = ["no-such-server"]
            files = [{ language = "none", extensions = ["none"] }]
            markers = [["none.toml"]]
            install = "nobody has it"
            "#,
        )
        .unwrap();
    let opening = Opening {
        catalogue,
        ..Opening::default()
    };
    let project = Project::open(FILES, opening);
    project.write("x.none", "");
    let status = project.call(json!({ "action": "status" })).await;
    assert!(
        status
            .text
            .starts_with("1 of 9 language servers that are known for files here can be used"),
        "{}",
        status.text
    );
    assert!(
        status
            .text
            .contains("- pyright in `.` (by pyproject.toml): can be used, not started yet"),
        "{}",
        status.text
    );
    assert!(
        status
            .text
            .contains("- can be used as well once installed: basedpyright (pip install"),
        "{}",
        status.text
    );
    assert!(status.text.contains("- none: not usable: there is no `none.toml` in `.`; there is no executable `no-such-server`"), "{}", status.text);
    assert!(
        status.text.contains("to get it: nobody has it"),
        "{}",
        status.text
    );
    let asked = project
        .call(json!({ "action": "symbols", "file": "x.none" }))
        .await;
    assert_eq!(asked.error.unwrap().kind, ErrorKind::Unavailable);

    project.ask("references", "a.py", 1, "core").await;
    // Pitfall 54: what can be asked here.
    let status = project
        .call(json!({ "action": "status", "file": "a.py" }))
        .await;
    assert!(
        status
            .text
            .contains("works: definition, type_definition, references, hover"),
        "{}",
        status.text
    );
    assert!(
        status
            .text
            .contains("implementation: the server does not offer it"),
        "{}",
        status.text
    );
    assert!(status.text.contains("ready, pid "), "{}", status.text);
    let asked = project.ask("implementation", "a.py", 1, "core").await;
    assert_eq!(asked.error.unwrap().kind, ErrorKind::Unavailable);
    project.end().await;
}

#[tokio::test]
async fn pitfall_47_an_idle_server_ends_and_comes_back() {
    let mut opening = Opening::default();
    opening.servers.idle = Duration::from_millis(300);
    let project = Project::open(FILES, opening);
    project.ask("hover", "a.py", 1, "core").await;
    let pids = project.pids().await;
    wait_for_end(&pids).await;
    let hover = project.ask("hover", "a.py", 1, "core").await;
    assert!(hover.error.is_none(), "{}", hover.text);
    project.end().await;
}

#[tokio::test]
async fn arguments_that_name_no_place_are_refused_before_a_server_starts() {
    let project = Project::new(FILES);
    for (arguments, text) in [
        (
            json!({ "action": "hover", "file": "a.py", "line": 1 }),
            "it needs a symbol",
        ),
        (
            json!({ "action": "hover", "file": "a.py", "symbol": "core" }),
            "it needs the line",
        ),
        (
            json!({ "action": "hover", "line": 1, "symbol": "core" }),
            "it needs a file",
        ),
        (json!({ "action": "symbols" }), "it needs a file"),
        (
            json!({ "action": "symbols", "query": " " }),
            "`query` is empty",
        ),
        (
            json!({ "action": "hover", "file": "../x.py", "line": 1, "symbol": "x" }),
            "outside",
        ),
        (
            json!({ "action": "hover", "file": "a.xyz", "line": 1, "symbol": "x" }),
            "no language server is known",
        ),
    ] {
        let outcome = project.call(arguments).await;
        assert!(
            outcome.error.is_some() && outcome.text.contains(text),
            "{}",
            outcome.text
        );
    }
    assert!(project.pids().await.is_empty());
}

/// Programs that fetch others.
const FETCHING: &[&str] = &[
    "npm", "npx", "pip", "pip3", "pipx", "uv", "cargo", "rustup", "go", "gem", "dotnet", "curl",
    "wget", "git", "brew", "apt-get",
];

#[tokio::test]
async fn pitfall_53_nothing_is_fetched_for_a_server_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let bin = tempfile::tempdir().unwrap();
    let ran = bin.path().join("ran");
    for program in FETCHING {
        let path = bin.path().join(program);
        let script = format!("#!/bin/sh\necho {program} >> '{}'\n", ran.display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for name in ["pyproject.toml", "tsconfig.json", "Cargo.toml", "go.mod"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let files = ["a.py", "a.ts", "a.rs", "a.go"];
    for name in files {
        std::fs::write(folder.path().join(name), "core\n").unwrap();
    }
    let environment = Environment::empty().with("PATH", bin.path());
    let supervisor = Arc::new(Supervisor::new(Catalogue::built_in(), environment));
    let limits = LspLimits::default();
    let registry = registry(folder.path(), Trust::Trusted, &supervisor, limits);
    for name in files {
        for action in ["symbols", "diagnostics", "reload"] {
            let asked = call(&registry, json!({ "action": action, "file": name })).await;
            assert_eq!(asked.error.unwrap().kind, ErrorKind::Unavailable);
            assert!(
                asked.text.contains("there is no executable"),
                "{}",
                asked.text
            );
        }
    }
    let status = call(&registry, json!({ "action": "status" })).await;
    assert!(status.text.contains("to get it: "), "{}", status.text);
    assert!(!ran.exists(), "{:?}", std::fs::read_to_string(ran));
}
