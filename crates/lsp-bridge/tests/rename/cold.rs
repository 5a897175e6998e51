//! The very first call to a server that has read nothing yet: all 400 modules,
//! or none.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lsp_bridge::LspLimits;
use test_support::ModuleProject;
use tiers::ErrorKind;

use crate::project::Project;

const MODULES: usize = 400;

fn open(build: impl Fn(&Path) -> ModuleProject, limits: LspLimits) -> Project {
    Project::new(|folder| build(folder).write(folder).unwrap(), limits)
}

fn python(_: &Path) -> ModuleProject {
    ModuleProject::python(MODULES)
}

fn cpp(folder: &Path) -> ModuleProject {
    ModuleProject::cpp(MODULES, folder)
}

fn renamed(mut tree: BTreeMap<String, String>) -> BTreeMap<String, String> {
    for text in tree.values_mut() {
        *text = text
            .replace("core(", "kernel(")
            .replace("import core", "import kernel");
    }
    tree
}

/// Renames from a use, and compares the whole tree.
async fn complete(project: Project, file: &str, line: u32, symbol: &str, files: usize) {
    let expected = renamed(project.tree());
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
    let project = open(python, LspLimits::default());
    // At an import: the function is declared elsewhere.
    complete(project, "module_0007.py", 1, "core#2", MODULES + 1).await;
}

#[tokio::test]
async fn pitfall_42_the_first_rename_of_clangd_is_in_all_402_files() {
    let project = open(cpp, LspLimits::default());
    complete(project, "module_0007.cc", 4, "core", MODULES + 2).await;
}

/// Gives the server next to no time to read the project: what it knows by then
/// is all, or it is refused.
async fn hurried(build: fn(&Path) -> ModuleProject, file: &str, line: u32) -> bool {
    let mut limits = LspLimits::default();
    limits.ready = Duration::from_millis(200);
    let project = open(build, limits);
    let before = project.tree();
    let outcome = project.rename(file, line, "core", "kernel").await;
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
async fn pitfall_42_pyright_without_time_renames_all_or_nothing() {
    // Its answer to the question before takes until it has read everything.
    hurried(python, "core.py", 1).await;
}

#[tokio::test]
async fn pitfall_42_clangd_without_time_writes_nothing_and_names_what_is_missing() {
    assert!(hurried(cpp, "core.cc", 2).await, "the index was faster");
}
