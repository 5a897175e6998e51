//! Calls the tool in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::Workspace;
use serde_json::{Value, json};
use structural::{AstGrep, CompiledGrammars};
use tempfile::TempDir;
use tiers::{CallContext, Content, Mode, Run, ToolError, ToolOutput, Trust, TypedTool as _};

/// A folder with files, and the tool over it.
pub(crate) struct Folder {
    root: PathBuf,
    /// Removed with this value.
    temporary: Option<TempDir>,
    runtime: tokio::runtime::Runtime,
}

/// What a call said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) details: Value,
}

impl Said {
    /// Returns `path:line` of each match shown.
    pub(crate) fn places(&self) -> Vec<String> {
        self.details["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| format!("{}:{}", m["path"].as_str().unwrap(), m["line"]))
            .collect()
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let mut folder = Self::over(temporary.path().to_owned());
        folder.temporary = Some(temporary);
        folder
    }

    /// Stands for a folder that is there already.
    pub(crate) fn over(root: PathBuf) -> Self {
        Self {
            root,
            temporary: None,
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .build()
                .unwrap(),
        }
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    pub(crate) fn run(&self) -> Arc<Run> {
        Run::builder(self.path().to_owned(), Trust::Untrusted, Mode::Plan)
            .build()
            .unwrap()
    }

    pub(crate) fn tool(&self) -> AstGrep {
        let workspace = Workspace::open(self.path(), Trust::Untrusted).unwrap();
        AstGrep::new(workspace, Arc::new(CompiledGrammars::new()))
    }

    pub(crate) fn call(&self, tool: &AstGrep, input: &Value) -> Result<Said, ToolError> {
        self.call_in(tool, input, &CallContext::detached(&self.run()))
    }

    pub(crate) fn call_in(
        &self,
        tool: &AstGrep,
        input: &Value,
        context: &CallContext,
    ) -> Result<Said, ToolError> {
        let input = serde_json::from_value(input.clone()).unwrap();
        let output = self.runtime.block_on(tool.call(input, context))?;
        Ok(said(&output))
    }

    /// Searches, and panics where that is an error.
    #[track_caller]
    pub(crate) fn search(&self, pattern: &str) -> Said {
        self.try_search(&json!({ "pattern": pattern })).unwrap()
    }

    pub(crate) fn try_search(&self, input: &Value) -> Result<Said, ToolError> {
        self.call(&self.tool(), input)
    }
}

pub(crate) fn said(output: &ToolOutput) -> Said {
    Said {
        text: text(&output.content),
        details: output.details.clone(),
    }
}

pub(crate) fn text(content: &[Content]) -> String {
    content
        .iter()
        .map(|c| match c {
            Content::Text(text) => text.clone(),
            Content::Image { .. } => panic!("the tool says more than text"),
        })
        .collect()
}

/// Returns the whole message of an error.
pub(crate) fn message(error: &ToolError) -> String {
    text(&error.content())
}
