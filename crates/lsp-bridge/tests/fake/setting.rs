//! A project in a made-up language whose server follows a script.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use host::Workspace;
use host::process::Environment;
use host::{ChangeSet, DiskFiles, FileMetadata, HarnessFiles, Outcome as Applied, WorkspacePath};
use libtest_mimic::Trial;
use lsp_bridge::{
    Catalogue, DiagnosticsOnWrite, LanguageServers, Lsp, LspLimits, LspRename, OnWriteLimits,
    Supervisor, SupervisorLimits,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Script, Step, Writer};
use tiers::{Content, Mode, Registry, Run, ToolError, Trust, Typed};

pub(crate) const TEXT: &str = "one two\nthree one\n";

/// The variable that names the folder of a setting to all that it starts.
pub(crate) const FOLDER: &str = "TOOLSET_TEST_FOLDER";

/// One run in the project.
pub(crate) struct Setting {
    pub(crate) folder: TempDir,
    pub(crate) registry: Registry,
    pub(crate) supervisor: Arc<Supervisor>,
    /// What a fake server was sent, in a folder beside its script.
    pub(crate) log: PathBuf,
    pub(crate) files: Arc<Between>,
}

/// What a call gave, whether it failed or not.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) details: Value,
    pub(crate) error: Option<ToolError>,
    pub(crate) took: Duration,
}

/// Returns a folder outside the workspace, where programs and what is theirs
/// are.
fn outside() -> PathBuf {
    tempfile::tempdir().unwrap().keep()
}

/// Makes a test of an asynchronous function.
pub(crate) fn test<F>(name: &str, body: fn() -> F) -> Trial
where
    F: Future<Output = ()> + 'static,
{
    Trial::test(name, move || {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.enable_all().build()?.block_on(body());
        Ok(())
    })
}

/// Everything a server can be asked.
pub(crate) fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-8",
        "textDocumentSync": { "openClose": true, "change": 1, "save": true },
        "definitionProvider": true, "referencesProvider": true, "hoverProvider": true,
        "documentSymbolProvider": true, "workspaceSymbolProvider": true,
        "codeActionProvider": true,
    })
}

pub(crate) fn script(on: &[(&str, Vec<Vec<Step>>)]) -> Script {
    let on = on.iter();
    Script {
        capabilities: capabilities(),
        on: on
            .map(|(name, steps)| ((*name).to_owned(), steps.clone()))
            .collect(),
        log: None,
    }
}

impl Setting {
    pub(crate) fn new(script: Script) -> Self {
        let mut calls = LspLimits::default();
        calls.call = Duration::from_secs(3);
        calls.ready = Duration::from_secs(2);
        Self::with(script, "\"always\"", calls, SupervisorLimits::default())
    }

    pub(crate) fn with(
        mut script: Script,
        ready: &str,
        calls: LspLimits,
        servers: SupervisorLimits,
    ) -> Self {
        let outside = outside();
        let log = outside.join("log");
        script.log = Some(log.clone());
        let file = outside.join("script.json");
        std::fs::write(&file, serde_json::to_vec(&script).unwrap()).unwrap();
        let program = std::env::current_exe().unwrap();
        let row = format!(
            "[[server]]\nid = \"fake\"\ncommand = [{program:?}, \"--fake-lsp\", {file:?}]\n\
             files = [{{ language = \"fake\", extensions = [\"fake\"] }}]\n\
             markers = [[\"fake.toml\"]]\nready = {ready}\n"
        );
        let files = [("fake.toml", ""), ("a.fake", TEXT)];
        Self::open(&row, &files, log, calls, servers)
    }

    /// Opens a project that the sample server serves.
    pub(crate) fn sample(files: &[(&str, &str)]) -> Self {
        let program = std::env::current_exe().unwrap();
        let row = format!(
            "[[server]]\nid = \"sample\"\ncommand = [{program:?}, \"--sample-lsp\"]\n\
             files = [{{ language = \"sample\", extensions = [\"sample\"] }}]\nready = \"always\"\n"
        );
        let (calls, servers) = (LspLimits::default(), SupervisorLimits::default());
        Self::open(&row, files, outside().join("log"), calls, servers)
    }

    fn open(
        row: &str,
        files: &[(&str, &str)],
        log: PathBuf,
        calls: LspLimits,
        servers: SupervisorLimits,
    ) -> Self {
        Self::writing(row, files, log, calls, servers, OnWriteLimits::default())
    }

    /// Opens a project whose servers follow scripts, by the ids of the servers;
    /// those after the first are linters.
    pub(crate) fn of_writes(scripts: Vec<(&str, Script)>, limits: OnWriteLimits) -> Self {
        let outside = outside();
        let program = std::env::current_exe().unwrap();
        let mut rows = String::new();
        for (at, (id, mut script)) in scripts.into_iter().enumerate() {
            script.log = Some(outside.join("log"));
            let file = outside.join(format!("{id}.json"));
            std::fs::write(&file, serde_json::to_vec(&script).unwrap()).unwrap();
            rows.push_str(&format!(
                "[[server]]\nid = \"{id}\"\ncommand = [{program:?}, \"--fake-lsp\", {file:?}]\n\
                 files = [{{ language = \"fake\", extensions = [\"fake\"] }}]\n\
                 markers = [[\"fake.toml\"]]\nready = \"always\"\nlinter = {}\n",
                at > 0
            ));
        }
        let files = [("fake.toml", ""), ("a.fake", TEXT)];
        let (calls, servers) = (LspLimits::default(), SupervisorLimits::default());
        Self::writing(&rows, &files, outside.join("log"), calls, servers, limits)
    }

    fn writing(
        row: &str,
        files: &[(&str, &str)],
        log: PathBuf,
        calls: LspLimits,
        servers: SupervisorLimits,
        writes: OnWriteLimits,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let catalogue = Catalogue::empty().with(row).unwrap();
        let environment = Environment::empty()
            .with("A_TOKEN", "t0p-s3cret")
            .with("PATH", "/usr/bin:/bin")
            .with(FOLDER, folder.path());
        let supervisor = Supervisor::with_limits(catalogue, environment, servers);
        let supervisor = Arc::new(supervisor);
        let trust = Trust::Untrusted;
        let run = Run::builder(folder.path().to_owned(), trust, Mode::Full);
        let workspace = Workspace::open(folder.path(), trust).unwrap();
        let shared: Arc<dyn LanguageServers> = Arc::clone(&supervisor) as _;
        let files = DiskFiles::new().with_state_folder(log.with_file_name("state"));
        let files = Arc::new(Between::new(files));
        let rename = LspRename::new(
            workspace.clone(),
            Arc::clone(&shared),
            Arc::clone(&files) as _,
        );
        let writer = Arc::new(Typed::new(Writer::new(workspace.clone())));
        let writer = DiagnosticsOnWrite::new(writer, workspace.clone(), Arc::clone(&shared));
        let registry = Registry::builder(run.build().unwrap())
            .tool(writer.limits(writes))
            .typed(Lsp::new(workspace, shared).limits(calls.clone()))
            .typed(rename.limits(calls))
            .build()
            .unwrap();
        Self {
            files,
            folder,
            registry,
            supervisor,
            log,
        }
    }

    /// Gives the next process another script.
    pub(crate) fn replace(&self, mut script: Script) {
        script.log = Some(self.log.clone());
        let file = self.log.with_file_name("script.json");
        std::fs::write(file, serde_json::to_vec(&script).unwrap()).unwrap();
    }

    pub(crate) async fn call(&self, arguments: Value) -> Outcome {
        self.call_tool("lsp", arguments).await
    }

    pub(crate) async fn call_tool(&self, tool: &str, arguments: Value) -> Outcome {
        let start = Instant::now();
        let outcome = self.registry.dispatch(tool, arguments).await;
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

    /// Asks about `one` in the first line.
    pub(crate) async fn ask(&self, action: &str) -> Outcome {
        let place = json!({ "action": action, "file": "a.fake", "line": 1, "symbol": "one" });
        self.call(place).await
    }

    /// Writes files with the tool; those without a text are deleted.
    pub(crate) async fn put(&self, files: &[(&str, Option<&str>)]) -> Outcome {
        let files = files.iter().map(|(path, text)| match text {
            Some(text) => json!({ "path": path, "text": text }),
            None => json!({ "path": path }),
        });
        let files: Vec<Value> = files.collect();
        self.call_tool("write", json!({ "files": files })).await
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Returns the methods of all that the server was sent so far.
    pub(crate) fn methods(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let messages = log.lines().map(|line| serde_json::from_str(line).unwrap());
        let methods =
            messages.filter_map(|message: Value| Some(message["method"].as_str()?.to_owned()));
        methods.collect()
    }

    /// Returns what the server was sent so far with this method.
    pub(crate) fn sent(&self, method: &str) -> Vec<Value> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let messages = log.lines().map(|line| serde_json::from_str(line).unwrap());
        let messages = messages.filter(|message: &Value| message["method"] == method);
        messages
            .map(|mut message| message["params"].take())
            .collect()
    }

    /// Lets everything go and checks that no process is left.
    pub(crate) async fn end(self) {
        drop((self.registry, self.supervisor, self.files));
        let start = Instant::now();
        loop {
            let left = processes_of(self.folder.path());
            if left.is_empty() {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(15), "left: {left:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        std::fs::remove_dir_all(self.log.parent().unwrap()).unwrap();
    }
}

/// The disk, on which another program writes right before a change is carried
/// out.
pub(crate) struct Between {
    disk: DiskFiles,
    /// The file, and what it writes.
    writes: Mutex<Option<(PathBuf, String)>>,
}

impl Between {
    fn new(disk: DiskFiles) -> Self {
        Self {
            disk,
            writes: Mutex::default(),
        }
    }

    /// Makes it write, once.
    pub(crate) fn write(&self, path: PathBuf, text: &str) {
        *self.writes.lock().unwrap() = Some((path, text.to_owned()));
    }
}

#[async_trait]
impl HarnessFiles for Between {
    async fn read(&self, path: &WorkspacePath) -> Result<Vec<u8>, host::Error> {
        self.disk.read(path).await
    }

    async fn metadata(&self, path: &WorkspacePath) -> Result<Option<FileMetadata>, host::Error> {
        self.disk.metadata(path).await
    }

    async fn write(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<(), host::Error> {
        self.disk.write(path, bytes).await
    }

    async fn apply(&self, changes: ChangeSet) -> Result<Applied, host::Error> {
        if let Some((path, text)) = self.writes.lock().unwrap().take() {
            std::fs::write(path, text).unwrap();
        }
        self.disk.apply(changes).await
    }
}

/// Returns the processes, and what they are, that were started for a folder.
pub(crate) fn processes_of(folder: &Path) -> Vec<(u32, String)> {
    test_support::processes_of(FOLDER, folder)
}

fn text(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
