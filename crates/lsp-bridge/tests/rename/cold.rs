//! The very first call to a server that has read nothing yet: all 400 modules,
//! or none.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lsp_bridge::LspLimits;
use test_support::ModuleProject;
use tiers::ErrorKind;

use crate::project::{Project, installed};

const MODULES: usize = 400;

/// A project whose function is renamed by one server.
#[derive(Clone, Copy)]
struct Cold {
    id: &'static str,
    build: fn(&Path) -> ModuleProject,
    /// Where it is renamed: file, line and symbol; not where it is declared.
    at: (&'static str, u32, &'static str),
}

const PYRIGHT: Cold = Cold {
    id: "pyright",
    build: |_| ModuleProject::python(MODULES),
    // At an import.
    at: ("module_0007.py", 1, "core#2"),
};
const TY: Cold = Cold {
    id: "ty",
    ..PYRIGHT
};
const CLANGD: Cold = Cold {
    id: "clangd",
    build: |folder| ModuleProject::cpp(MODULES, folder),
    at: ("module_0007.cc", 4, "core"),
};
const TYPESCRIPT: Cold = Cold {
    id: "typescript-language-server",
    build: |_| ModuleProject::typescript(MODULES),
    at: ("module_0007.ts", 1, "core"),
};
const TYPESCRIPT_7: Cold = Cold {
    id: "typescript-native",
    ..TYPESCRIPT
};
const RUST_ANALYZER: Cold = Cold {
    id: "rust-analyzer",
    build: |_| ModuleProject::rust(MODULES),
    at: ("src/module_0007.rs", 1, "core"),
};
const GOPLS: Cold = Cold {
    id: "gopls",
    build: |_| ModuleProject::go(MODULES),
    at: ("module_0007.go", 5, "core"),
};

fn open(cold: Cold, limits: LspLimits) -> Project {
    let build = |folder: &Path| (cold.build)(folder).write(folder).unwrap();
    Project::new(cold.id, build, limits)
}

fn renamed(mut tree: BTreeMap<String, String>) -> BTreeMap<String, String> {
    for text in tree.values_mut() {
        *text = text
            .replace("core(", "kernel(")
            .replace("import core", "import kernel")
            .replace("{ core }", "{ kernel }")
            .replace("base::core;", "base::kernel;");
    }
    tree
}

/// Renames from a use, and compares the whole tree.
async fn complete(cold: Cold) {
    // Debian's own is not offered everywhere.
    if cold.id == "gopls" && !installed(cold.id).is_dir() {
        return;
    }
    let project = open(cold, LspLimits::default());
    let files = (cold.build)(project.folder.path()).covered;
    let expected = renamed(project.tree());
    let (file, line, symbol) = cold.at;
    let outcome = project.rename(file, line, symbol, "kernel").await;
    assert!(outcome.error.is_none(), "{}", outcome.text);
    assert!(outcome.took < Duration::from_secs(30), "{:?}", outcome.took);
    let first = outcome.text.lines().next().unwrap().to_owned();
    assert!(first.starts_with("renamed `core` to `kernel`: "), "{first}");
    assert!(first.ends_with(&format!(" in {files} files")), "{first}");
    assert!(
        outcome.text.contains("\nno new errors or warnings"),
        "{}",
        outcome.text
    );
    assert_eq!(outcome.details["files"].as_array().unwrap().len(), files);
    assert!(project.tree() == expected, "the tree is another: {first}");
    project.end().await;
}

#[tokio::test]
async fn pitfall_42_the_first_rename_of_pyright_is_in_all_401_files() {
    complete(PYRIGHT).await;
}

#[tokio::test]
async fn pitfall_42_the_first_rename_of_clangd_is_in_all_402_files() {
    complete(CLANGD).await;
}

#[tokio::test]
async fn pitfall_42_the_first_rename_of_ty_is_in_all_401_files() {
    complete(TY).await;
}

#[tokio::test]
async fn pitfall_42_the_first_rename_of_typescript_language_server_is_in_all_401_files() {
    complete(TYPESCRIPT).await;
}

#[tokio::test]
async fn pitfall_42_the_first_rename_of_typescript_7_is_in_all_401_files() {
    complete(TYPESCRIPT_7).await;
}

#[tokio::test]
async fn pitfall_42_the_first_rename_of_rust_analyzer_is_in_all_401_files() {
    complete(RUST_ANALYZER).await;
}

#[tokio::test]
async fn pitfall_42_the_first_rename_of_gopls_is_in_all_401_files() {
    complete(GOPLS).await;
}

/// Gives the server next to no time to read the project: what it knows by then
/// is all, or it is refused.
async fn hurried(cold: Cold) -> bool {
    let mut limits = LspLimits::default();
    limits.ready = Duration::from_millis(200);
    let project = open(cold, limits);
    let before = project.tree();
    let (file, line, symbol) = cold.at;
    let outcome = project.rename(file, line, symbol, "kernel").await;
    let text = &outcome.text;
    let is_refused = outcome.error.is_some();
    if let Some(error) = outcome.error {
        assert!(text.contains("cannot rename `core` everywhere: "), "{text}");
        assert!(
            text.contains("files with the word are not covered"),
            "{text}"
        );
        assert!(text.contains("module_00"), "{text}");
        assert!(text.contains("the index is still building"), "{text}");
        assert_eq!(error.kind, ErrorKind::Timeout);
        assert!(project.tree() == before, "something was written");
    } else {
        assert!(project.tree() == renamed(before), "a part was written");
    }
    project.end().await;
    is_refused
}

#[tokio::test]
async fn pitfall_42_without_time_servers_rename_all_or_nothing() {
    // Some answer only once they have read everything.
    for cold in [PYRIGHT, TYPESCRIPT, RUST_ANALYZER] {
        hurried(cold).await;
    }
}

#[tokio::test]
async fn pitfall_42_clangd_without_time_writes_nothing_and_names_what_is_missing() {
    assert!(hurried(CLANGD).await, "the index was faster");
}
