//! A workspace with both tools.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use host::{DiskFiles, HarnessFiles, Workspace};
use serde_json::{Value, json};
use structural::{AstEdit, CompiledGrammars, Resolve};
use tempfile::TempDir;
use tiers::{CallContext, Content, Mode, Run, ToolError, ToolOutput, Trust, TypedTool as _};
use tokio::runtime::Runtime;

/// A workspace and one run in it.
pub(crate) struct Setting {
    folder: TempDir,
    runtime: Runtime,
    pub(crate) workspace: Workspace,
    pub(crate) run: Arc<Run>,
    pub(crate) files: Arc<dyn HarnessFiles>,
}

impl Setting {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("workspace");
        fs::create_dir(&root).unwrap();
        let files = DiskFiles::new().with_state_folder(folder.path().join("state"));
        Self::with_files(folder, Arc::new(files))
    }

    /// Opens the folder `workspace` in `folder`, with a file layer.
    pub(crate) fn with_files(folder: TempDir, files: Arc<dyn HarnessFiles>) -> Self {
        let root = folder.path().join("workspace");
        let workspace = Workspace::open(&root, Trust::Untrusted).unwrap();
        let run = Run::builder(workspace.root().to_owned(), Trust::Untrusted, Mode::Full);
        Self {
            runtime: Runtime::new().unwrap(),
            run: run.build().unwrap(),
            workspace,
            files,
            folder,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// Returns a folder beside the workspace.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn editor(&self) -> AstEdit {
        AstEdit::new(self.workspace.clone(), Arc::new(CompiledGrammars::new()))
    }

    pub(crate) fn edit(&self, input: &Value) -> Result<ToolOutput, ToolError> {
        self.edit_with(&self.editor(), input)
    }

    pub(crate) fn edit_with(
        &self,
        editor: &AstEdit,
        input: &Value,
    ) -> Result<ToolOutput, ToolError> {
        let input = serde_json::from_value(input.clone()).unwrap();
        let context = CallContext::detached(&self.run);
        self.runtime.block_on(editor.call(input, &context))
    }

    /// Stages a rewrite of Python files.
    #[track_caller]
    pub(crate) fn stage(&self, pattern: &str, rewrite: &str) -> String {
        let input = json!({ "pattern": pattern, "rewrite": rewrite, "language": "python" });
        let output = self.edit(&input).unwrap();
        id_of(&output).unwrap_or_else(|| panic!("{}", text_of(&output)))
    }

    pub(crate) fn resolve(&self, id: &str, action: &str) -> Result<ToolOutput, ToolError> {
        self.resolve_in(&CallContext::detached(&self.run), id, action)
    }

    pub(crate) fn resolve_in(
        &self,
        context: &CallContext,
        id: &str,
        action: &str,
    ) -> Result<ToolOutput, ToolError> {
        let tool = Resolve::new(context.run(), Arc::clone(&self.files));
        let input = json!({ "edit_id": id, "action": action });
        let input = serde_json::from_value(input).unwrap();
        self.runtime.block_on(tool.call(input, context))
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

pub(crate) fn id_of(output: &ToolOutput) -> Option<String> {
    let id = output.details.get("edit_id")?;
    id.as_str().map(str::to_owned)
}

pub(crate) fn text_of(output: &ToolOutput) -> String {
    let texts = output.content.iter().map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Image { .. } => panic!("the tool says more than text"),
    });
    texts.collect()
}
