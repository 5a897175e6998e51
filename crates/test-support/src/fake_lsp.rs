//! A language server that follows a script.
//!
//! A script says what to do on which message. What it does not mention is
//! answered as a server would that can do nothing: `initialize` with the
//! script's capabilities, `shutdown` with nothing, other requests not at all.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::framing::{FrameError, FrameReader, FrameWriter, Framing};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, Stdout};

/// What a server does.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// What it can do, for the reply to `initialize`.
    pub capabilities: Value,
    /// Steps by method, for each time it is met; the last ones stay.
    pub on: BTreeMap<String, Vec<Vec<Step>>>,
    /// A file that every message is written to, one JSON text a line.
    pub log: Option<PathBuf>,
}

/// One thing to do. In texts `$uri`, `$folder` and `$version` are those of the
/// document of the message, and the text `$id` is the id of the request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Does nothing, for so many milliseconds.
    Wait(u64),
    /// Answers the request.
    Reply(Value),
    /// Answers it with an error: code and message.
    Refuse(i64, String),
    /// Sends any message.
    Send(Value),
    /// Writes a file, named from the folder of the document, as another program
    /// would.
    Write(String, String),
    /// Writes these bytes, so many times, to standard output.
    Raw(String, usize),
    /// Writes a line to standard error.
    Say(String),
    /// Starts a program with its arguments and leaves it alone; its output
    /// goes to standard error.
    Start(Vec<String>),
    /// Ends with this exit code.
    Exit(i32),
    /// Reads no more, and lives on.
    Hang,
}

/// Follows the script in a file until `exit` or the end of the input.
///
/// # Errors
/// The script cannot be read, or the streams fail.
pub fn run(script: &Path) -> io::Result<()> {
    let script: Script = serde_json::from_slice(&std::fs::read(script)?)?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(serve(script))
}

struct Server {
    script: Script,
    met: BTreeMap<String, usize>,
    output: FrameWriter<Stdout>,
}

async fn serve(script: Script) -> io::Result<()> {
    let mut reader = FrameReader::new(tokio::io::stdin(), Framing::ContentLength);
    let mut server = Server {
        script,
        met: BTreeMap::new(),
        output: FrameWriter::new(tokio::io::stdout(), Framing::ContentLength),
    };
    while let Some(frame) = reader.next().await.map_err(failed)? {
        let message: Value = serde_json::from_slice(&frame)?;
        server.note(&message)?;
        if message.get("method").and_then(Value::as_str) == Some("exit") {
            std::process::exit(0);
        }
        server.take(&message).await?;
    }
    Ok(())
}

fn failed(error: FrameError) -> io::Error {
    io::Error::other(error)
}

impl Server {
    fn note(&self, message: &Value) -> io::Result<()> {
        let Some(log) = &self.script.log else {
            return Ok(());
        };
        let file = std::fs::File::options().create(true).append(true).open(log);
        // At once: a test may read it meanwhile.
        file?.write_all(format!("{message}\n").as_bytes())
    }

    async fn take(&mut self, message: &Value) -> io::Result<()> {
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            return Ok(());
        };
        let met = self.met.entry(method.to_owned()).or_default();
        let time = *met;
        *met += 1;
        let steps = self.script.on.get(method);
        let steps = steps
            .and_then(|times| times.get(time).or(times.last()))
            .cloned();
        let steps = steps.unwrap_or_else(|| self.usual(method));
        for step in steps {
            self.step(step, message).await?;
        }
        Ok(())
    }

    fn usual(&self, method: &str) -> Vec<Step> {
        match method {
            "initialize" => {
                let capabilities = &self.script.capabilities;
                vec![Step::Reply(json!({ "capabilities": capabilities }))]
            }
            "shutdown" => vec![Step::Reply(Value::Null)],
            _ => Vec::new(),
        }
    }

    async fn step(&mut self, step: Step, message: &Value) -> io::Result<()> {
        let id = message.get("id").cloned().unwrap_or_default();
        match step {
            Step::Wait(milliseconds) => {
                tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            }
            Step::Reply(result) => {
                let result = filled(result, message);
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
                    .await?;
            }
            Step::Refuse(code, text) => {
                let error = json!({ "code": code, "message": text });
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
                    .await?;
            }
            Step::Send(other) => self.send(&filled(other, message)).await?,
            Step::Raw(bytes, times) => {
                let mut output = tokio::io::stdout();
                for _ in 0..times {
                    output.write_all(bytes.as_bytes()).await?;
                }
                output.flush().await?;
            }
            Step::Say(text) => writeln!(io::stderr(), "{text}")?,
            Step::Write(name, text) => {
                let folder = filled(Value::String("$folder".to_owned()), message);
                let folder = folder.as_str().unwrap_or_default();
                let folder = Path::new(folder.trim_start_matches("file://"));
                std::fs::write(folder.join(name), text)?;
            }
            Step::Start(line) => start(&line)?,
            Step::Exit(code) => std::process::exit(code),
            Step::Hang => std::future::pending().await,
        }
        Ok(())
    }

    async fn send(&mut self, message: &Value) -> io::Result<()> {
        self.output.write_json(message).await.map_err(failed)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a server that leaves something behind is what is to be tested"
)]
fn start(line: &[String]) -> io::Result<()> {
    let mut words = line.iter();
    let program = words.next().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = std::process::Command::new(program);
    command.args(words).stdin(std::process::Stdio::null());
    // Its parent does not wait for it, as careless servers do not.
    command.stdout(io::stderr()).spawn().map(drop)
}

/// Replaces what stands for parts of the message.
fn filled(value: Value, message: &Value) -> Value {
    let document = message.pointer("/params/textDocument");
    match value {
        Value::String(text) if text == "$id" => message.get("id").cloned().unwrap_or_default(),
        Value::String(text) if text == "$version" => {
            let version = document.and_then(|document| document.get("version"));
            version.cloned().unwrap_or_default()
        }
        Value::String(text) => {
            let uri = document.and_then(|document| document.get("uri")?.as_str());
            let uri = uri.unwrap_or_default();
            let folder = uri.rsplit_once('/').map_or(uri, |(folder, _)| folder);
            Value::String(text.replace("$uri", uri).replace("$folder", folder))
        }
        Value::Array(items) => {
            let items = items.into_iter().map(|item| filled(item, message));
            Value::Array(items.collect())
        }
        Value::Object(members) => {
            let members = members.into_iter();
            let members = members.map(|(name, value)| {
                let name = match filled(Value::String(name.clone()), message) {
                    Value::String(filled) => filled,
                    _ => name,
                };
                (name, filled(value, message))
            });
            Value::Object(members.collect())
        }
        other => other,
    }
}
