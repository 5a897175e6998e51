//! Makes folders of grammars and searches with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use host::Workspace;
use serde_json::{Value, json};
use structural::{AstGrep, LanguagePack, PackError};
use tempfile::TempDir;
use tiers::{CallContext, Content, Mode, Run, ToolError, ToolOutput, Trust, TypedTool as _};

/// Where the sources of grammars are, or nothing where they are not installed.
///
/// # Panics
/// With `CI=true`: a run that skips them would prove nothing.
#[expect(clippy::disallowed_methods, reason = "whether this is CI decides")]
#[expect(clippy::print_stderr, reason = "a test that skips says so")]
fn sources() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.toolset/grammars");
    if folder.is_dir() {
        return Some(folder);
    }
    let why = "the grammars are not installed: run `cargo xtask setup`";
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
    eprintln!("skipped: {why}");
    None
}

/// Compiles C files into a shared library.
#[expect(clippy::disallowed_methods, reason = "a test calls the C compiler")]
pub(crate) fn compile(files: &[PathBuf], include: &Path, library: &Path) {
    let status = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-O0", "-w", "-I"])
        .arg(include)
        .args(files)
        .arg("-o")
        .arg(library)
        .status()
        .unwrap();
    assert!(status.success());
}

/// Returns the shared library of a grammar, compiled once, or nothing where its
/// sources are not installed.
pub(crate) fn shared_library(language: &str) -> Option<PathBuf> {
    static COMPILED: OnceLock<TempDir> = OnceLock::new();
    static ZIG: OnceLock<()> = OnceLock::new();
    static GDSCRIPT: OnceLock<()> = OnceLock::new();
    let source = sources()?.join(language);
    let folder = COMPILED.get_or_init(|| tempfile::tempdir().unwrap());
    let library = folder.path().join(file_name(language));
    let once = if language == "zig" { &ZIG } else { &GDSCRIPT };
    once.get_or_init(|| {
        let files = ["parser.c", "scanner.c"].map(|name| source.join(name));
        let files: Vec<PathBuf> = files.into_iter().filter(|file| file.is_file()).collect();
        compile(&files, &source, &library);
    });
    Some(library)
}

pub(crate) fn file_name(language: &str) -> String {
    let extension = if cfg!(target_os = "macos") {
        "dylib"
    } else {
        "so"
    };
    format!("libtree_sitter_{language}.{extension}")
}

/// A workspace, and a folder of grammars beside it.
pub(crate) struct Place {
    pub(crate) grammars: TempDir,
    pub(crate) workspace: Workspace,
    _workspace: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            grammars: tempfile::tempdir().unwrap(),
            workspace: Workspace::open(folder.path(), Trust::Untrusted).unwrap(),
            _workspace: folder,
        }
    }

    /// Writes a file of the workspace.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.workspace.root().join(name), text).unwrap();
        self
    }

    /// Puts bytes where the grammar of `language` belongs.
    pub(crate) fn bytes(self, language: &str, bytes: &[u8]) -> Self {
        fs::write(self.shared_library(language), bytes).unwrap();
        self
    }

    /// Puts the grammar of `language` into the folder; nothing where there are
    /// no sources.
    pub(crate) fn grammar(self, language: &str) -> Option<Self> {
        fs::copy(shared_library(language)?, self.shared_library(language)).unwrap();
        Some(self)
    }

    /// Where the grammar of `language` belongs.
    pub(crate) fn shared_library(&self, language: &str) -> PathBuf {
        self.grammars.path().join(file_name(language))
    }

    pub(crate) fn open(&self) -> Result<LanguagePack, PackError> {
        LanguagePack::open(self.grammars.path(), &self.workspace)
    }

    /// Calls `ast_grep`.
    pub(crate) fn search(&self, input: Value) -> Result<ToolOutput, ToolError> {
        let tool = AstGrep::new(self.workspace.clone(), Arc::new(self.open().unwrap()));
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let input = serde_json::from_value(input).unwrap();
        runtime.block_on(async {
            let root = self.workspace.root().to_owned();
            let run = Run::builder(root, Trust::Untrusted, Mode::Plan)
                .build()
                .unwrap();
            tool.call(input, &CallContext::detached(&run)).await
        })
    }

    /// Returns the lines of the matches of a pattern.
    pub(crate) fn lines(&self, pattern: &str, language: &str) -> Vec<u64> {
        let input = json!({ "pattern": pattern, "language": language });
        let output = self.search(input).unwrap();
        output.details["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["line"].as_u64().unwrap())
            .collect()
    }
}

pub(crate) fn text(output: &ToolOutput) -> String {
    output
        .content
        .iter()
        .map(|part| match part {
            Content::Text(text) => text.clone(),
            Content::Image { .. } => String::new(),
        })
        .collect()
}
