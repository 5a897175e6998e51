use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A workspace `ws` with `src/a.rs`, beside a folder `out` with `secret`.
struct Tree {
    folder: tempfile::TempDir,
    workspace: Workspace,
}

fn tree() -> Tree {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("ws");
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(root.join("src/a.rs"), "a").unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("out/secret"), "s").unwrap();
    let workspace = Workspace::open(&root, Trust::Untrusted).unwrap();
    Tree { folder, workspace }
}

impl Tree {
    fn link(&self, target: &str, at: &str) {
        symlink(target, self.workspace.root().join(at)).unwrap();
    }

    fn link_to_outside(&self, below: &str, at: &str) {
        symlink(
            self.folder.path().join(below),
            self.workspace.root().join(at),
        )
        .unwrap();
    }

    #[track_caller]
    fn check(&self, path: &str, relative: &str) {
        let resolved = self.workspace.resolve(path).unwrap();
        assert_eq!(resolved.relative(), relative);
        assert_eq!(
            resolved.absolute(),
            if relative == "." {
                self.workspace.root().to_owned()
            } else {
                self.workspace
                    .root()
                    .join(relative.trim_start_matches("./"))
            }
        );
        assert_eq!(resolved.is_root(), relative == ".");
        let again = self.workspace.resolve(resolved.relative()).unwrap();
        assert_eq!(again, resolved, "the relative form names the same file");
    }

    #[track_caller]
    fn refuse(&self, path: &str, message: &str) {
        let error = self.workspace.resolve(path).unwrap_err().to_string();
        let error = error.replace(self.workspace.root().to_str().unwrap(), "<ws>");
        assert_eq!(error, message);
    }
}

#[test]
fn paths_inside_are_accepted_however_they_are_spelt() {
    let tree = tree();
    tree.check("src/a.rs", "src/a.rs");
    tree.check("./src//./a.rs", "src/a.rs");
    tree.check("src/../src/a.rs", "src/a.rs");
    tree.check("../ws/src/a.rs", "src/a.rs");
    tree.check(".", ".");
    tree.check("src/..", ".");
    let root = tree.workspace.root().to_str().unwrap().to_owned();
    tree.check(&root, ".");
    tree.check(&format!("{root}/src/a.rs"), "src/a.rs");
    tree.check(&format!("{root}/src/../new"), "new");
}

#[test]
fn files_that_do_not_exist_yet_are_accepted_below_their_real_ancestor() {
    let tree = tree();
    tree.check("src/new.rs", "src/new.rs");
    tree.check("deep/er/new.rs", "deep/er/new.rs");
    tree.link("src", "alias");
    tree.check("alias/deep/new.rs", "src/deep/new.rs");
}

#[test]
fn a_root_given_through_a_link_accepts_both_spellings() {
    let tree = tree();
    let alias = tree.folder.path().join("alias");
    symlink(tree.workspace.root(), &alias).unwrap();
    let workspace = Workspace::open(&alias, Trust::Trusted).unwrap();
    assert_eq!(workspace.root(), tree.workspace.root());
    assert_eq!(workspace.trust(), Trust::Trusted);
    for spelt in [&alias, tree.workspace.root()] {
        let path = workspace.resolve(spelt.join("src/a.rs").to_str().unwrap());
        assert_eq!(path.unwrap().relative(), "src/a.rs");
    }
}

#[test]
fn leaving_through_dots_or_an_absolute_path_is_refused() {
    let tree = tree();
    tree.refuse(
        "../out/secret",
        "cannot use `../out/secret`: it leads outside the workspace `<ws>`",
    );
    tree.refuse(
        "src/../../out",
        "cannot use `src/../../out`: it leads outside the workspace `<ws>`",
    );
    tree.refuse(
        "/etc",
        "cannot use `/etc`: it leads outside the workspace `<ws>`",
    );
    tree.refuse("/", "cannot use `/`: it leads outside the workspace `<ws>`");
}

#[test]
fn a_sibling_whose_name_starts_alike_is_outside() {
    let tree = tree();
    let sibling = format!("{}-other/x", tree.workspace.root().display());
    assert!(matches!(
        tree.workspace.resolve(&sibling),
        Err(Error::Outside { .. })
    ));
}

#[test]
fn nothing_outside_can_be_told_apart_by_its_error() {
    let tree = tree();
    for path in [
        "../out",
        "../out/secret",
        "../missing",
        "../missing/../out",
        "../out/secret/below",
        "../out/secret/..",
    ] {
        assert!(
            matches!(tree.workspace.resolve(path), Err(Error::Outside { .. })),
            "{path}"
        );
    }
}

#[test]
fn links_that_stay_inside_lead_to_the_real_file() {
    let tree = tree();
    tree.link("src/a.rs", "file");
    tree.link("src", "folder");
    tree.link("folder", "chain");
    tree.link("../ws/src", "around");
    let absolute = tree
        .workspace
        .root()
        .join("src")
        .to_str()
        .unwrap()
        .to_owned();
    tree.link(&absolute, "absolute");
    tree.check("file", "src/a.rs");
    for folder in ["folder", "chain", "around", "absolute"] {
        tree.check(&format!("{folder}/a.rs"), "src/a.rs");
        tree.check(&format!("{folder}/.."), ".");
    }
}

#[test]
fn links_that_lead_out_are_refused_and_named() {
    let tree = tree();
    tree.link_to_outside("out", "folder");
    tree.link_to_outside("out/secret", "file");
    tree.link("../out", "relative");
    tree.link("relative", "chain");
    tree.link_to_outside("out/new", "dangling");
    tree.link("src", "harmless");
    for (path, link) in [
        ("folder", "folder"),
        ("folder/secret", "folder"),
        ("folder/new/file", "folder"),
        ("file", "file"),
        ("relative/secret", "relative"),
        ("harmless/../chain/secret", "chain"),
        ("dangling", "dangling"),
    ] {
        tree.refuse(
            path,
            &format!(
                "cannot use `{path}`: it leads outside the workspace `<ws>` \
                 through the symbolic link `{link}`"
            ),
        );
    }
    tree.refuse(
        "harmless/../../out",
        "cannot use `harmless/../../out`: it leads outside the workspace `<ws>`",
    );
}

#[test]
fn dots_after_a_link_are_taken_from_where_the_link_leads() {
    let tree = tree();
    fs::create_dir_all(tree.folder.path().join("out/deep")).unwrap();
    tree.link_to_outside("out/deep", "link");
    // Spelt, this is `src/a.rs`; for the kernel it is `out/src/a.rs`.
    assert!(matches!(
        tree.workspace.resolve("link/../src/a.rs"),
        Err(Error::Outside { .. })
    ));
}

#[test]
fn a_dangling_link_inside_names_the_file_it_would_create() {
    let tree = tree();
    tree.link("src/new.rs", "dangling");
    tree.check("dangling", "src/new.rs");
}

#[test]
fn a_loop_of_links_is_an_error_not_a_hang() {
    let tree = tree();
    tree.link("two", "one");
    tree.link("one", "two");
    tree.link("self/below", "self");
    for path in ["one", "two/x", "self"] {
        assert!(
            matches!(tree.workspace.resolve(path), Err(Error::LinkLoop { .. })),
            "{path}"
        );
    }
}

#[test]
fn unusable_texts_are_refused_with_their_reason() {
    let tree = tree();
    tree.refuse("", "cannot use `` as a path: it is empty");
    tree.refuse(
        "a\0b",
        "cannot use `a\\0b` as a path: it contains a NUL character",
    );
    tree.refuse(
        "~/x",
        "cannot use `~/x` as a path: `~` is not expanded here",
    );
    tree.refuse(
        "src/a.rs/below",
        "cannot use `src/a.rs/below`: `src/a.rs` is not a directory",
    );
    tree.refuse(
        "src/a.rs/..",
        "cannot use `src/a.rs/..`: `src/a.rs` is not a directory",
    );
    tree.refuse(
        "new/../src",
        "cannot use `new/../src`: `..` follows `new`, which does not exist",
    );
    let long = "x".repeat(5000);
    assert!(matches!(
        tree.workspace.resolve(&long),
        Err(Error::Io { .. })
    ));
}

#[test]
fn a_folder_called_tilde_is_named_so_that_it_resolves_again() {
    let tree = tree();
    fs::create_dir(tree.workspace.root().join("~")).unwrap();
    tree.check("./~/x", "./~/x");
    tree.check("~backup", "~backup");
}

// The usual file system of macOS has no such names.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_are_refused() {
    let tree = tree();
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"caf\xe9");
    fs::create_dir(tree.workspace.root().join(name)).unwrap();
    symlink(name, tree.workspace.root().join("link")).unwrap();
    tree.refuse(
        "link",
        "cannot use `caf\u{fffd}`: its name on disk is not valid UTF-8",
    );
    assert!(matches!(
        tree.workspace.resolve_path(Path::new(name)),
        Err(Error::NotUtf8 { .. })
    ));
}

#[test]
fn recheck_notices_a_directory_that_became_a_link() {
    let tree = tree();
    let path = tree.workspace.resolve("src/a.rs").unwrap();
    path.recheck().unwrap();

    let root = tree.workspace.root();
    fs::rename(root.join("src"), root.join("moved")).unwrap();
    path.recheck().unwrap(); // gone is not elsewhere

    tree.link("moved", "src");
    assert!(matches!(path.recheck(), Err(Error::Changed { .. })));

    fs::remove_file(root.join("src")).unwrap();
    tree.link_to_outside("out", "src");
    assert!(matches!(path.recheck(), Err(Error::Outside { .. })));

    fs::remove_file(root.join("src")).unwrap();
    fs::write(root.join("src"), "a file").unwrap();
    assert!(matches!(path.recheck(), Err(Error::Changed { .. })));
}

#[test]
fn recheck_notices_a_root_that_became_a_link() {
    let tree = tree();
    let path = tree.workspace.resolve("src/a.rs").unwrap();
    let root = tree.workspace.root();
    fs::rename(root, tree.folder.path().join("moved")).unwrap();
    assert!(matches!(path.recheck(), Err(Error::Changed { .. })));
    symlink(tree.folder.path().join("moved"), root).unwrap();
    assert!(matches!(path.recheck(), Err(Error::Changed { .. })));
}

#[test]
fn a_missing_root_and_a_file_as_root_are_refused() {
    let tree = tree();
    let missing = Workspace::open(&tree.folder.path().join("none"), Trust::Trusted);
    let text = missing.unwrap_err().to_string();
    assert!(
        text.ends_with("/none`: no such file or directory"),
        "{text}"
    );
    let file = tree.workspace.root().join("src/a.rs");
    let text = Workspace::open(&file, Trust::Trusted)
        .unwrap_err()
        .to_string();
    assert!(text.ends_with("/a.rs`: not a directory"), "{text}");
}

#[test]
fn files_named_by_a_peer_are_located() {
    let tree = tree();
    let root = tree.workspace.root();
    assert_eq!(
        tree.workspace.locate(&root.join("src/a.rs")),
        Location::Inside(tree.workspace.resolve("src/a.rs").unwrap())
    );
    assert_eq!(
        tree.workspace.locate(Path::new("/usr/include/stdio.h")),
        Location::Outside(PathBuf::from("/usr/include/stdio.h"))
    );
}

#[test]
fn tool_errors_have_kind_reason_and_advice() {
    let tree = tree();
    let error: tiers::ToolError = tree.workspace.resolve("../out").unwrap_err().into();
    assert_eq!(error.kind, tiers::ErrorKind::Denied);
    assert_eq!(error.what, "cannot use `../out`");
    assert!(error.why.unwrap().starts_with("it leads outside"));
    assert_eq!(error.next.unwrap(), "give a path inside the workspace");
}
