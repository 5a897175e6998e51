//! mcpls, which gives models the same servers over MCP.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use host::framing::Framing;
use host::process::{ChildCommand, Environment};
use serde_json::{Value, json};

use crate::raw::Peer;
use crate::rows::Row;

/// One process.
pub(crate) struct Mcpls {
    peer: Peer,
}

impl Mcpls {
    /// Starts `program` for a project, with the server of `row` only.
    pub(crate) async fn start(
        program: &Path,
        row: &Row,
        root: &Path,
        configuration: &Path,
        environment: Environment,
    ) -> Result<Self> {
        let (language, extension) = row.language;
        let (command, arguments) = row.command.split_first().context("no command")?;
        let mut text = format!(
            "[workspace]\nroots = [{root:?}]\n\n[[workspace.language_extensions]]\n\
             extensions = [{extension:?}]\nlanguage_id = {language:?}\n\n\
             [[lsp_servers]]\nlanguage_id = {language:?}\ncommand = {command:?}\n\
             args = {arguments:?}\nfile_patterns = [\"**/*.{extension}\"]\n\n[lsp_servers.env]\n"
        );
        for (name, value) in environment.iter() {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            writeln!(text, "{name:?} = {value:?}")?;
        }
        std::fs::write(configuration, text)?;
        let command = ChildCommand::new(program, root)
            .args(["--log-level", "error", "--config"])
            .arg(configuration)
            .environment(environment);
        let mut peer = Peer::start(command, Framing::NewlineJson).await?;
        let client = json!({ "name": "bench", "version": "1" });
        let params =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        peer.request("initialize", params).await?;
        peer.notify("notifications/initialized", json!({})).await?;
        Ok(Self { peer })
    }

    /// Calls a tool about a place, both numbers from 1; returns what it answers.
    pub(crate) async fn call(
        &mut self,
        tool: &str,
        file: &Path,
        (line, character): (u32, u32),
    ) -> Result<Value> {
        let mut arguments = json!({ "file_path": file, "line": line, "character": character });
        if tool == "get_references" {
            arguments["include_declaration"] = true.into();
        }
        let params = json!({ "name": tool, "arguments": arguments });
        let mut answer = self.peer.request("tools/call", params).await?;
        if answer["isError"] == true {
            bail!("{}", answer["content"][0]["text"]);
        }
        Ok(answer["structuredContent"].take())
    }

    /// Returns how many references it knows.
    pub(crate) async fn references(&mut self, file: &Path, at: (u32, u32)) -> Result<usize> {
        let answer = self.call("get_references", file, at).await?;
        let locations = answer.as_object().and_then(|members| {
            let mut lists = members.values().filter_map(Value::as_array);
            lists.next()
        });
        Ok(locations.map_or(0, Vec::len))
    }
}
