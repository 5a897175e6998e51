//! A project in which things are renamed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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

/// Returns where `cargo xtask setup` installs the programs of a server.
pub(crate) fn installed(id: &str) -> PathBuf {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.toolset/servers");
    let folder = servers.join(id);
    let of_npm = folder.join("node_modules/.bin");
    if of_npm.is_dir() {
        of_npm
    } else {
        folder.join("bin")
    }
}

/// Returns the table with all other servers switched off.
fn only(id: &str) -> Catalogue {
    let all = Catalogue::built_in();
    let others = all.ids().filter(|other| *other != id);
    let off = others.map(|id| format!("[[server]]\nid = \"{id}\"\ndisabled = true\n"));
    all.with(&off.collect::<String>()).unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "where the tests start is their edge"
)]
fn environment(id: &str) -> Environment {
    let folder = installed(id);
    assert!(
        folder.is_dir(),
        "there is no `{}`: run `cargo xtask setup`",
        folder.display()
    );
    let path = std::env::var("PATH").unwrap();
    let path = std::iter::once(folder).chain(std::env::split_paths(&path));
    Environment::usual(std::env::vars_os()).with("PATH", std::env::join_paths(path).unwrap())
}

impl Project {
    /// Opens a project; nothing runs in it yet.
    pub(crate) fn new(id: &str, write: impl FnOnce(&Path), limits: LspLimits) -> Self {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(folder.path());
        let environment = environment(id).with(FOLDER, folder.path());
        let servers = Supervisor::new(only(id), environment);
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

    /// Returns the files with their bytes as text.
    pub(crate) fn tree(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), "", &mut files);
        files
    }

    /// Lets everything go and checks that no process is left.
    pub(crate) async fn end(self) {
        let Self {
            folder, registry, ..
        } = self;
        drop(registry);
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

fn text(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        let kind = entry.file_type().unwrap();
        // Servers keep an index there.
        let is_own = name != "target" && !name.starts_with('.');
        if kind.is_dir() && is_own {
            collect(&entry.path(), &format!("{name}/"), files);
        } else if kind.is_file() && name != "Cargo.lock" {
            files.insert(name, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
}
