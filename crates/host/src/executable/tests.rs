use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::Workspace;

/// A workspace `ws` and a folder `bin`, side by side.
struct Tree {
    _folder: tempfile::TempDir,
    workspace: Workspace,
}

fn tree(trust: Trust) -> Tree {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("ws/app/src")).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    let workspace = Workspace::open(&folder.path().join("ws"), trust).unwrap();
    Tree {
        _folder: folder,
        workspace,
    }
}

impl Tree {
    fn at(&self, path: &str) -> PathBuf {
        self.workspace.root().parent().unwrap().join(path)
    }

    fn file(&self, path: &str, mode: u32) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn find(&self, requirement: &Requirement) -> Finding {
        self.find_in(requirement, &[self.at("bin")])
    }

    fn find_in(&self, requirement: &Requirement, path: &[PathBuf]) -> Finding {
        let from = self.workspace.resolve("app/src/main.py").unwrap();
        let path = SearchPath::from_folders(path.iter().cloned());
        let project = ProjectPrograms::for_trust(self.workspace.trust());
        find(requirement, &from, &path, project)
    }

    /// Returns the path found, or the reason, without the folder's own name.
    fn program(&self, finding: &Finding) -> String {
        let text = match &finding.program {
            Ok(program) => program.path.display().to_string(),
            Err(missing) => missing.to_string(),
        };
        text.replace(self.at("").to_str().unwrap(), "")
    }
}

#[test]
fn both_halves_are_needed_and_each_absence_is_told() {
    let tree = tree(Trust::Trusted);
    let requirement = Requirement::program("server")
        .marker("pyproject.toml")
        .marker("*.cfg");
    let error = tree.find(&requirement).into_found().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot use `server` here: there is no `pyproject.toml` or `*.cfg` in `app/src`, `app` \
         or `.`; there is no executable `server` in the folder of `PATH`"
    );
    let error = ToolError::from(error);
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert_eq!(error.what, "cannot use `server` here");

    tree.file("bin/server", 0o755);
    let error = tree.find(&requirement).into_found().unwrap_err();
    assert!(error.root.is_some() && error.program.is_none());

    tree.file("ws/app/setup.cfg", 0o644);
    let found = tree.find(&requirement).into_found().unwrap();
    assert_eq!(found.root.folder.relative(), "app");
    assert_eq!(found.root.marker, "setup.cfg");
    assert_eq!(found.program.path, tree.at("bin/server"));
    assert_eq!(found.program.origin, Origin::SearchPath);
}

#[test]
fn the_nearest_marker_wins_and_must_be_of_its_kind() {
    let tree = tree(Trust::Trusted);
    let root = |requirement: &Requirement| {
        let root = tree.find(requirement).root.unwrap();
        (root.folder.relative().to_owned(), root.marker)
    };
    tree.file("ws/Cargo.toml", 0o644);
    fs::create_dir(tree.at("ws/app/Cargo.toml")).unwrap();
    fs::create_dir(tree.at("ws/app/.git")).unwrap();
    let cargo = Requirement::program("x").marker("Cargo.toml");
    assert_eq!(root(&cargo), (".".to_owned(), "Cargo.toml".to_owned()));
    let git = Requirement::program("x").marker(".git/");
    assert_eq!(root(&git), ("app".to_owned(), ".git".to_owned()));
    let none = Requirement::program("x");
    assert_eq!(root(&none), (".".to_owned(), String::new()));
}

#[test]
fn markers_above_the_workspace_do_not_count() {
    let tree = tree(Trust::Trusted);
    fs::write(tree.at("Cargo.toml"), "").unwrap();
    let requirement = Requirement::program("x").marker("Cargo.toml");
    assert!(tree.find(&requirement).root.is_err());
}

#[test]
fn a_trusted_project_supplies_its_own_programs_first() {
    let tree = tree(Trust::Trusted);
    let python = Requirement::program("python3")
        .or_program("python")
        .project_folder(".venv/bin")
        .project_folder("venv/bin");
    tree.file("bin/python3", 0o755);
    assert_eq!(tree.program(&tree.find(&python)), "bin/python3");
    tree.file("ws/venv/bin/python", 0o755);
    assert_eq!(tree.program(&tree.find(&python)), "ws/venv/bin/python");
    tree.file("ws/app/.venv/bin/python", 0o755);
    let finding = tree.find(&python);
    assert_eq!(tree.program(&finding), "ws/app/.venv/bin/python");
    assert_eq!(finding.program.unwrap().origin, Origin::Project);
}

#[test]
fn an_untrusted_project_supplies_nothing_by_any_way() {
    let tree = tree(Trust::Untrusted);
    let tool = Requirement::program("tool").project_folder("node_modules/.bin");
    tree.file("ws/node_modules/.bin/tool", 0o755);
    tree.file("ws/bin/tool", 0o755);
    symlink(tree.at("ws/bin"), tree.at("linked")).unwrap();
    symlink(tree.at("ws/bin/tool"), tree.at("bin/tool")).unwrap();
    // Through the workspace and out again: it decides what is started.
    fs::create_dir(tree.at("round")).unwrap();
    fs::create_dir(tree.at("safe")).unwrap();
    tree.file("safe/tool", 0o755);
    symlink(tree.at("safe/tool"), tree.at("ws/relay")).unwrap();
    symlink(tree.at("ws/relay"), tree.at("round/tool")).unwrap();
    let inside = ["ws/bin", "linked", "bin", "round"].map(|name| tree.at(name));
    let finding = tree.find_in(&tool, &inside);
    assert_eq!(
        tree.program(&finding),
        "there is no executable `tool` in the 4 folders of `PATH`; \
         `node_modules/.bin/tool` was left out because the workspace that supplies it is not trusted; \
         `bin/tool` was left out because the workspace that supplies it is not trusted; \
         `linked/tool` was left out because the workspace that supplies it is not trusted; \
         `bin/tool` was left out because the workspace that supplies it is not trusted; \
         `round/tool` was left out because the workspace that supplies it is not trusted"
    );
    let error = ToolError::from(finding.into_found().unwrap_err());
    assert!(error.next.unwrap().contains("trust the workspace"));

    let found = tree.find_in(&tool, &[tree.at("bin"), tree.at("safe")]);
    assert_eq!(tree.program(&found), "safe/tool");
    assert_eq!(found.program.unwrap().rejected.len(), 2);

    let named = Requirement::program(tree.at("ws/bin/tool").to_str().unwrap());
    assert!(tree.find(&named).program.is_err());
}

#[test]
fn what_cannot_be_started_is_passed_over_with_its_reason() {
    let tree = tree(Trust::Trusted);
    let folders = ["a", "b", "c", "d"].map(|name| tree.at(name));
    tree.file("a/tool", 0o644);
    fs::create_dir_all(tree.at("b/tool")).unwrap();
    fs::create_dir(tree.at("c")).unwrap();
    symlink(tree.at("nothing"), tree.at("c/tool")).unwrap();
    let tool = Requirement::program("tool");
    let finding = tree.find_in(&tool, &folders);
    assert_eq!(
        tree.program(&finding),
        "there is no executable `tool` in the 4 folders of `PATH`; `a/tool` is not executable; \
         `b/tool` is not a file; `c/tool` is a link to nothing"
    );
    tree.file("d/tool", 0o755);
    assert_eq!(tree.program(&tree.find_in(&tool, &folders)), "d/tool");
}

#[test]
fn names_with_a_slash_must_be_absolute() {
    let tree = tree(Trust::Trusted);
    tree.file("bin/tool", 0o755);
    let absolute = tree.at("bin/tool");
    let named = Requirement::program(absolute.to_str().unwrap());
    assert_eq!(tree.find(&named).program.unwrap().origin, Origin::Named);
    for (name, text) in [
        (
            "./tool",
            "no executable `./tool` was found; `./tool` is neither a name nor an absolute path",
        ),
        (
            "/no/such/tool",
            "no executable `/no/such/tool` was found; `/no/such/tool` does not exist",
        ),
    ] {
        let finding = tree.find(&Requirement::program(name));
        assert_eq!(finding.program.unwrap_err().to_string(), text);
    }
}

#[test]
fn relative_and_empty_entries_of_the_path_are_left_out() {
    let path = SearchPath::parse("/usr/bin::bin:./x:/bin:".as_ref());
    assert_eq!(
        path.folders(),
        [PathBuf::from("/usr/bin"), PathBuf::from("/bin")]
    );
}

#[test]
fn a_file_that_does_not_exist_yet_belongs_to_its_nearest_folder() {
    let tree = tree(Trust::Trusted);
    tree.file("ws/app/go.mod", 0o644);
    let from = tree.workspace.resolve("app/new/deep/main.go").unwrap();
    let finding = find(
        &Requirement::program("x").marker("go.mod"),
        &from,
        &SearchPath::from_folders([]),
        ProjectPrograms::Use,
    );
    assert_eq!(finding.root.unwrap().folder.relative(), "app");
}
