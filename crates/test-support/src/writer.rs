//! A tool that writes files, as a harness has one.

use std::path::Path;

use host::Workspace;
use schemars::JsonSchema;
use serde::Deserialize;
use tiers::{CallContext, Tier, ToolError, ToolOutput, ToolSpec, TypedTool};

/// What [`Writer`] is called with.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriterInput {
    /// Files to write.
    pub files: Vec<WriterFile>,
}

/// A file and its text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriterFile {
    /// Its path.
    pub path: String,
    /// Its text; none deletes it.
    #[serde(default)]
    pub text: Option<String>,
}

/// Writes and deletes files, each in one step. A file with the name `fail` it
/// refuses to write.
#[derive(Debug)]
pub struct Writer {
    workspace: Workspace,
}

impl Writer {
    /// Builds the tool for one workspace.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl TypedTool for Writer {
    type Input = WriterInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<WriterInput>("write", Tier::Write, "Write", "Writes files.")
    }

    fn paths(&self, input: &WriterInput) -> Vec<String> {
        input.files.iter().map(|file| file.path.clone()).collect()
    }

    async fn call(
        &self,
        input: WriterInput,
        _context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let mut touched = Vec::new();
        for file in input.files {
            if file.path == "fail" {
                return Err(ToolError::conflict("cannot write `fail`"));
            }
            let path = self.workspace.resolve(&file.path)?;
            let written = match file.text {
                Some(text) => replace(path.absolute(), &text),
                None => std::fs::remove_file(path.absolute()),
            };
            written.map_err(|error| ToolError::conflict("cannot write").why(error.to_string()))?;
            touched.push(path.relative().to_owned());
        }
        let count = touched.len();
        Ok(ToolOutput::text(format!("wrote {count} files")).with_touched(touched))
    }
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&beside, text)?;
    std::fs::rename(beside, path)
}
