//! A server that is written to with no more than the protocol wants, and all that
//! it says.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use host::framing::{FrameReader, FrameWriter, Framing};
use host::process::{Child, ChildCommand, ChildStdin, Input, Output, ShutdownPlan};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::FILE;
use crate::languages::Language;
use crate::planted::Planted;
use crate::support::{environment, installed};

/// How long nothing must be heard of a server that publishes.
const SILENCE: Duration = Duration::from_millis(2500);
/// How long it is listened to at the most.
const WINDOW: Duration = Duration::from_secs(10);
/// How long a server may take to know the project.
const WARM: Duration = Duration::from_secs(12);

/// How the server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In the way that is the fastest of those that are right.
    Best,
    /// It publishes.
    Push,
}

/// What was heard of one edit.
pub(crate) struct Edit {
    /// When the last report came that is right.
    pub(crate) latency: Duration,
    pub(crate) version: i64,
    /// The faults that are there.
    pub(crate) names: BTreeSet<String>,
    pub(crate) publishes: Vec<Publish>,
}

#[derive(Debug, Clone)]
pub(crate) struct Publish {
    pub(crate) at: Duration,
    pub(crate) version: Option<i64>,
    pub(crate) names: BTreeSet<String>,
}

enum Heard {
    Reply(u64, Value),
    Published(Value),
    /// A check of the files on the disk ended.
    Checked,
}

type Log = Arc<Mutex<Vec<(Instant, Heard)>>>;

pub(crate) struct Trace {
    language: Language,
    mode: Mode,
    folder: TempDir,
    planted: Planted,
    _child: Child,
    writer: Arc<tokio::sync::Mutex<FrameWriter<ChildStdin>>>,
    log: Log,
    _reader: tokio::task::JoinHandle<()>,
    last: u64,
    version: i64,
}

impl Trace {
    pub(crate) async fn start(language: Language, mode: Mode) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let planted = Planted::new(language);
        for (name, text) in planted.files() {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().context("no folder")?)?;
            std::fs::write(path, text)?;
        }
        let (program, arguments): (&str, &[&str]) = match language.id {
            "pyright" => ("pyright-langserver", &["--stdio"]),
            "basedpyright" => ("basedpyright-langserver", &["--stdio"]),
            "ty" => ("ty", &["server"]),
            "typescript-language-server" => ("typescript-language-server", &["--stdio"]),
            "typescript-native" => ("tsc", &["--lsp", "--stdio"]),
            other => (other, &[]),
        };
        let program = installed(language.id).join(program);
        let mut child = ChildCommand::new(&program, folder.path())
            .args(arguments.iter().copied())
            .environment(environment(language.programs))
            .stdin(Input::Piped)
            .stdout(Output::Piped)
            .mark_descendants()
            .shutdown(ShutdownPlan::kill())
            .start()
            .await?;
        let output = child.take_stdout().context("no output")?;
        let input = child.take_stdin().context("no input")?;
        let writer = FrameWriter::new(input, Framing::ContentLength);
        let writer = Arc::new(tokio::sync::Mutex::new(writer));
        let log: Log = Arc::default();
        let reader = tokio::spawn(read(
            FrameReader::new(output, Framing::ContentLength),
            Arc::clone(&writer),
            Arc::clone(&log),
        ));
        let mut trace = Self {
            language,
            mode,
            folder,
            planted,
            _child: child,
            writer,
            log,
            _reader: reader,
            last: 0,
            version: 1,
        };
        trace.introduce().await?;
        Ok(trace)
    }

    async fn introduce(&mut self) -> Result<()> {
        let root = format!("file://{}", self.folder.path().display());
        let mut document = json!({ "publishDiagnostics": { "versionSupport": true } });
        if self.mode == Mode::Best {
            document["diagnostic"] = json!({ "dynamicRegistration": true });
        }
        let params = json!({
            "processId": std::process::id(), "rootUri": root,
            "workspaceFolders": [{ "uri": root, "name": "root" }],
            "capabilities": {
                "window": { "workDoneProgress": true },
                "workspace": {
                    "configuration": true, "workspaceFolders": true,
                    "didChangeWatchedFiles": { "dynamicRegistration": true },
                },
                "textDocument": document,
                "experimental": { "serverStatusNotification": true },
            },
        });
        self.request("initialize", params).await?;
        self.notify("initialized", json!({})).await?;
        let text = self.planted.text(FILE);
        let language = match self.language.id {
            "clangd" => "cpp",
            "gopls" => "go",
            "rust-analyzer" => "rust",
            id if id.starts_with("typescript") => "typescript",
            _ => "python",
        };
        let document =
            json!({ "uri": self.uri(), "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }))
            .await?;
        tokio::time::sleep(WARM).await;
        Ok(())
    }

    fn uri(&self) -> String {
        let path = self.folder.path().join(self.planted.name(FILE));
        format!("file://{}", path.display())
    }

    /// Edits the file, and listens.
    pub(crate) async fn edit(&mut self, turn: usize) -> Result<Edit> {
        self.planted.step(FILE, turn);
        let text = self.planted.text(FILE);
        let uri = self.uri();
        self.version += 1;
        std::fs::write(self.folder.path().join(self.planted.name(FILE)), &text)?;
        self.log.lock().unwrap().clear();
        let start = Instant::now();
        let changes = json!({ "changes": [{ "uri": uri, "type": 2 }] });
        self.notify("workspace/didChangeWatchedFiles", changes)
            .await?;
        let document = json!({ "uri": uri, "version": self.version });
        let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.notify("textDocument/didChange", params).await?;
        let document = json!({ "textDocument": { "uri": uri } });
        self.notify("textDocument/didSave", document.clone())
            .await?;
        let is_pushing = matches!(self.language.id, "clangd" | "gopls" | "rust-analyzer");
        let mut latency = None;
        match (self.mode, self.language.id) {
            (Mode::Best, "typescript-language-server") => {
                for command in ["syntactic", "semantic", "suggestion"] {
                    let file = self.folder.path().join(self.planted.name(FILE));
                    let command = format!("{command}DiagnosticsSync");
                    let params = json!({
                        "command": "typescript.tsserverRequest",
                        "arguments": [command, { "file": file }],
                    });
                    self.request("workspace/executeCommand", params).await?;
                }
                latency = Some(start.elapsed());
            }
            (Mode::Best, _) if !is_pushing => {
                self.request("textDocument/diagnostic", document).await?;
                latency = Some(start.elapsed());
            }
            (Mode::Best | Mode::Push, _) => {}
        }
        if latency.is_none() {
            self.listen(start).await;
        }
        let log = std::mem::take(&mut *self.log.lock().unwrap());
        let mut publishes = Vec::new();
        let mut checked = None;
        for (at, heard) in log {
            let at = at.duration_since(start);
            match heard {
                Heard::Published(params) if params["uri"] == uri.as_str() => {
                    publishes.push(publish(at, &params));
                }
                Heard::Checked => checked = Some(at),
                Heard::Published(_) | Heard::Reply(..) => {}
            }
        }
        let last = publishes.iter().map(|publish| publish.at).max();
        let latency = match self.language.id {
            // Where nothing is different it publishes nothing.
            "rust-analyzer" => checked.or(last),
            _ => latency.or(last),
        };
        Ok(Edit {
            latency: latency.unwrap_or(WINDOW),
            version: self.version,
            names: self.planted.names(FILE),
            publishes,
        })
    }

    async fn listen(&self, start: Instant) {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let last = self.log.lock().unwrap().last().map(|(at, _)| *at);
            let quiet = last.unwrap_or(start).elapsed();
            if quiet >= SILENCE || start.elapsed() >= WINDOW {
                return;
            }
        }
    }

    async fn notify(&self, method: &str, params: Value) -> Result<()> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        Ok(self.writer.lock().await.write_json(&message).await?)
    }

    async fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last += 1;
        let id = self.last;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.writer.lock().await.write_json(&message).await?;
        let start = Instant::now();
        loop {
            {
                let log = self.log.lock().unwrap();
                let reply = log.iter().rev().find_map(|(_, heard)| match heard {
                    Heard::Reply(known, value) if *known == id => Some(value.clone()),
                    _ => None,
                });
                if let Some(reply) = reply {
                    return Ok(reply);
                }
            }
            if start.elapsed() > WINDOW * 3 {
                bail!("`{method}` was not answered");
            }
            // As often as costs little beside what is measured.
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    }
}

fn publish(at: Duration, params: &Value) -> Publish {
    let faults = params["diagnostics"].as_array();
    let names = faults.into_iter().flatten().filter_map(|fault| {
        let severity = fault["severity"].as_u64().unwrap_or(1);
        let words = fault["message"].as_str().unwrap_or_default();
        let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '_');
        let name = words.find(|w| w.starts_with("missing_") || w.starts_with("helper_"))?;
        (severity < 3).then(|| name.to_owned())
    });
    Publish {
        at,
        version: params["version"].as_i64(),
        names: names.collect(),
    }
}

async fn read(
    mut reader: FrameReader<host::process::ChildOutput>,
    writer: Arc<tokio::sync::Mutex<FrameWriter<ChildStdin>>>,
    log: Log,
) {
    while let Ok(Some(frame)) = reader.next().await {
        let Ok(mut message) = serde_json::from_slice::<Value>(&frame) else {
            continue;
        };
        let note = |heard| log.lock().unwrap().push((Instant::now(), heard));
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        match (method.as_str(), message.get("id").cloned()) {
            ("", Some(id)) => {
                note(Heard::Reply(
                    id.as_u64().unwrap_or_default(),
                    message["result"].take(),
                ));
            }
            ("workspace/configuration", Some(id)) => {
                let items = message["params"]["items"].as_array().map_or(0, Vec::len);
                let reply =
                    json!({ "jsonrpc": "2.0", "id": id, "result": vec![Value::Null; items] });
                let _ = writer.lock().await.write_json(&reply).await;
            }
            (_, Some(id)) => {
                let reply = json!({ "jsonrpc": "2.0", "id": id, "result": null });
                let _ = writer.lock().await.write_json(&reply).await;
            }
            ("textDocument/publishDiagnostics", None) => {
                note(Heard::Published(message["params"].take()));
            }
            ("$/progress", None) => {
                let params = &message["params"];
                let is_check = params["token"]
                    .as_str()
                    .is_some_and(|t| t.contains("flycheck"));
                if is_check && params["value"]["kind"] == "end" {
                    note(Heard::Checked);
                }
            }
            _ => {}
        }
    }
}
