//! The least that gets an answer out of a server: the yardstick.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use host::framing::{FrameReader, FrameWriter, Framing};
use host::process::{Child, ChildCommand, ChildOutput, ChildStdin, Input, Output, ShutdownPlan};
use serde_json::{Value, json};

/// One process, asked over its pipes; no more than one request at a time.
pub(crate) struct Peer {
    _child: Child,
    reader: FrameReader<ChildOutput>,
    writer: FrameWriter<ChildStdin>,
    last: u64,
}

impl Peer {
    pub(crate) async fn start(command: ChildCommand, framing: Framing) -> Result<Self> {
        let command = command.stdin(Input::Piped).stdout(Output::Piped);
        let mut child = command
            .mark_descendants()
            .shutdown(ShutdownPlan::kill())
            .start()
            .await?;
        let reader = child.take_stdout().context("no output")?;
        let writer = child.take_stdin().context("no input")?;
        Ok(Self {
            _child: child,
            reader: FrameReader::new(reader, framing),
            writer: FrameWriter::new(writer, framing),
            last: 0,
        })
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        Ok(self.writer.write_json(&message).await?)
    }

    /// Asks and waits; what the other side asks meanwhile is answered with what
    /// keeps it going.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.last += 1;
        let id = self.last;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.writer.write_json(&message).await?;
        while let Some(frame) = self.reader.next().await? {
            let mut message: Value = serde_json::from_slice(&frame)?;
            if let Some(asked) = message.get("method").and_then(Value::as_str) {
                if let Some(theirs) = message.get("id") {
                    let result = match asked {
                        "workspace/configuration" => {
                            let items = message["params"]["items"].as_array();
                            json!(vec![Value::Null; items.map_or(0, Vec::len)])
                        }
                        _ => Value::Null,
                    };
                    let reply = json!({ "jsonrpc": "2.0", "id": theirs, "result": result });
                    self.writer.write_json(&reply).await?;
                }
            } else if message["id"] == id {
                if let Some(error) = message.get("error") {
                    bail!("`{method}` was refused: {error}");
                }
                return Ok(message["result"].take());
            }
        }
        bail!("it ended")
    }
}

/// A language server that knows one document.
pub(crate) struct Raw {
    peer: Peer,
    root: String,
}

impl Raw {
    pub(crate) async fn start(command: ChildCommand, root: &Path) -> Result<Self> {
        let mut peer = Peer::start(command, Framing::ContentLength).await?;
        let root = format!("file://{}", root.display());
        let params = json!({
            "processId": null, "rootUri": root,
            "workspaceFolders": [{ "uri": root, "name": "root" }],
            "capabilities": {
                "general": { "positionEncodings": ["utf-8", "utf-16"] },
                "workspace": { "configuration": true, "workspaceFolders": true },
                "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } },
            },
        });
        peer.request("initialize", params).await?;
        peer.notify("initialized", json!({})).await?;
        Ok(Self { peer, root })
    }

    pub(crate) async fn open(&mut self, file: &str, language: &str, text: &str) -> Result<()> {
        let document = json!({
            "uri": format!("{}/{file}", self.root), "languageId": language, "version": 1, "text": text,
        });
        let params = json!({ "textDocument": document });
        self.peer.notify("textDocument/didOpen", params).await
    }

    /// Asks about a place: line and column from 0.
    pub(crate) async fn ask(&mut self, method: &str, file: &str, at: (u32, u32)) -> Result<Value> {
        let params = json!({
            "textDocument": { "uri": format!("{}/{file}", self.root) },
            "position": { "line": at.0, "character": at.1 },
            "context": { "includeDeclaration": true },
        });
        self.peer.request(method, params).await
    }
}
