//! A project with the tool, and a way to call it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::Workspace;
use host::process::Environment;
use lsp_bridge::{Catalogue, LanguageServers, Lsp, LspLimits, Supervisor, SupervisorLimits};
use serde_json::{Value, json};
use tempfile::TempDir;
use tiers::{Content, Mode, Registry, Run, ToolError, Trust};

/// The variable that names the folder of a project to its servers.
pub(crate) const FOLDER: &str = "TOOLSET_TEST_FOLDER";

/// One run in a project.
pub(crate) struct Project {
    pub(crate) folder: TempDir,
    pub(crate) registry: Registry,
    pub(crate) supervisor: Arc<Supervisor>,
}

/// What a call gave, whether it failed or not.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// All that the model reads.
    pub(crate) text: String,
    pub(crate) details: Value,
    pub(crate) error: Option<ToolError>,
}

/// How a project is opened.
pub(crate) struct Opening {
    pub(crate) trust: Trust,
    pub(crate) catalogue: Catalogue,
    pub(crate) servers: SupervisorLimits,
    pub(crate) calls: LspLimits,
    /// Folders of `.toolset/servers` whose programs are found.
    pub(crate) programs: &'static [&'static str],
}

impl Default for Opening {
    fn default() -> Self {
        Self {
            trust: Trust::Untrusted,
            catalogue: Catalogue::built_in(),
            servers: SupervisorLimits::default(),
            calls: LspLimits::default(),
            programs: &["pyright", "clangd"],
        }
    }
}

/// Returns where `cargo xtask setup` installs the programs of a server.
pub(crate) fn installed(name: &str) -> PathBuf {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.toolset/servers");
    let folder = servers.join(name);
    let of_npm = folder.join("node_modules/.bin");
    if of_npm.is_dir() {
        of_npm
    } else {
        folder.join("bin")
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "where the tests start is their edge"
)]
pub(crate) fn environment(programs: &[&str]) -> Environment {
    let own: Vec<PathBuf> = programs.iter().map(|name| installed(name)).collect();
    for folder in &own {
        assert!(
            folder.is_dir(),
            "there is no `{}`: run `cargo xtask setup`",
            folder.display()
        );
    }
    let path = std::env::var("PATH").unwrap();
    let path = own.into_iter().chain(std::env::split_paths(&path));
    Environment::usual(std::env::vars_os()).with("PATH", std::env::join_paths(path).unwrap())
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::open(files, Opening::default())
    }

    pub(crate) fn open(files: &[(&str, &str)], opening: Opening) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(folder.path(), name, text);
        }
        // So that tests find their own processes among those of others.
        let environment = environment(opening.programs).with(FOLDER, folder.path());
        let supervisor = Supervisor::with_limits(opening.catalogue, environment, opening.servers);
        let supervisor = Arc::new(supervisor);
        let registry = registry(folder.path(), opening.trust, &supervisor, opening.calls);
        Self {
            folder,
            registry,
            supervisor,
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        write(self.folder.path(), name, text);
    }

    pub(crate) async fn call(&self, arguments: Value) -> Outcome {
        call(&self.registry, arguments).await
    }

    /// Asks about a symbol.
    pub(crate) async fn ask(&self, action: &str, file: &str, line: u32, symbol: &str) -> Outcome {
        let arguments = json!({ "action": action, "file": file, "line": line, "symbol": symbol });
        self.call(arguments).await
    }

    /// Returns the process ids of the servers that run.
    pub(crate) async fn pids(&self) -> Vec<u64> {
        let status = self.call(json!({ "action": "status" })).await;
        let servers = status.details["servers"].as_array().unwrap().iter();
        servers
            .filter_map(|server| server["pid"].as_u64())
            .collect()
    }

    /// Lets everything go and checks that no process is left.
    pub(crate) async fn end(self) {
        let pids = self.pids().await;
        assert!(!pids.is_empty(), "no server ran");
        let Self {
            folder,
            registry,
            supervisor,
        } = self;
        drop((registry, supervisor));
        // Also those that a server started and `status` does not know.
        let start = Instant::now();
        loop {
            let left = test_support::processes_of(FOLDER, folder.path());
            if left.is_empty() {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "left: {left:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Waits until none of the processes exists.
pub(crate) async fn wait_for_end(pids: &[u64]) {
    let start = Instant::now();
    let lives = |pid: &&u64| Path::new("/proc").join(pid.to_string()).exists();
    while let Some(pid) = pids.iter().find(lives) {
        assert!(start.elapsed() < Duration::from_secs(10), "{pid} is left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) fn registry(
    folder: &Path,
    trust: Trust,
    supervisor: &Arc<Supervisor>,
    limits: LspLimits,
) -> Registry {
    let workspace = Workspace::open(folder, trust).unwrap();
    let run = Run::builder(folder.to_owned(), trust, Mode::Plan);
    let run = run.build().unwrap();
    let servers: Arc<dyn LanguageServers> = Arc::clone(supervisor) as _;
    Registry::builder(run)
        .typed(Lsp::new(workspace, servers).limits(limits))
        .build()
        .unwrap()
}

pub(crate) async fn call(registry: &Registry, arguments: Value) -> Outcome {
    match registry.dispatch("lsp", arguments).await {
        Ok(output) => Outcome {
            text: text(&output.content),
            details: output.details,
            error: None,
        },
        Err(error) => Outcome {
            text: text(&error.content()),
            details: Value::Null,
            error: Some(error),
        },
    }
}

fn text(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
