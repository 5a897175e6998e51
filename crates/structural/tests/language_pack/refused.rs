//! What is not loaded, and what is said then.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::json;
use structural::{GrammarError, GrammarSource as _, LanguagePack, PackError};
use tiers::{ErrorKind, ToolError};

use crate::grammars::{Place, compile, file_name, text};

fn why(place: &Place, id: &str) -> String {
    match place.open().unwrap().grammar(id) {
        Ok(_) => panic!("{id} was loaded"),
        Err(error) => error.to_string(),
    }
}

fn message(error: &ToolError) -> String {
    error.to_string()
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_that_is_no_library_fails_the_search_of_its_language() {
    let place = Place::new()
        .bytes("zig", b"not a library")
        .file("a.zig", "const a = 1;\n")
        .file("a.rs", "const A: u8 = 1;\n");
    let error = place
        .search(json!({ "pattern": "const a = 1;", "language": "zig" }))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let said = message(&error);
    assert!(said.starts_with("cannot search zig files: "), "{said}");
    assert!(said.contains(&file_name("zig")), "{said}");
    assert!(said.contains("tell the user"), "{said}");
    // Over files of several languages, the others are searched, and it says so.
    let output = place
        .search(json!({ "pattern": "const $A: $T = 1;" }))
        .unwrap();
    assert_eq!(output.details["total"], json!(1));
    let said = text(&output);
    assert!(said.contains("zig files were not searched: "), "{said}");
}

#[test]
fn a_file_that_was_mended_is_loaded_then() {
    let Some(good) = crate::grammars::shared_library("zig") else {
        return;
    };
    let place = Place::new().bytes("zig", b"");
    let pack = place.open().unwrap();
    assert!(pack.grammar("zig").is_err());
    // As an installer does it: the new file takes the name of the old one.
    let new = place.grammars.path().join("new");
    fs::copy(good, &new).unwrap();
    fs::rename(&new, place.shared_library("zig")).unwrap();
    assert!(pack.grammar("zig").is_ok());
}

#[test]
fn a_library_without_the_grammar_is_refused() {
    let place = Place::new();
    let source = place.grammars.path().join("other.c");
    fs::write(&source, "int other(void) { return 1; }\n").unwrap();
    compile(
        &[source],
        place.grammars.path(),
        &place.shared_library("zig"),
    );
    let said = why(&place, "zig");
    assert!(said.contains("tree_sitter_zig"), "{said}");
}

#[test]
fn a_grammar_of_another_version_of_the_interface_is_refused() {
    let place = Place::new();
    let source = place.grammars.path().join("old.c");
    // A language begins with its version; nothing else of it is looked at.
    let code = "static const unsigned language[256] = { 9 };\n\
        const void *tree_sitter_zig(void) { return language; }\n";
    fs::write(&source, code).unwrap();
    compile(
        &[source],
        place.grammars.path(),
        &place.shared_library("zig"),
    );
    let said = why(&place, "zig");
    assert!(said.contains("version 9"), "{said}");
    assert!(said.contains("13"), "{said}");
    assert!(said.contains("15"), "{said}");
}

#[test]
fn a_language_that_is_not_in_the_folder_is_unknown() {
    let place = Place::new().file("a.zig", "const a = 1;\n");
    assert_eq!(
        place.open().unwrap().grammar("zig").err(),
        Some(GrammarError::Absent("zig".to_owned()))
    );
    let error = place
        .search(json!({ "pattern": "a", "language": "zig" }))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidInput);
    let said = message(&error);
    assert!(said.contains("unknown language `zig`"), "{said}");
    assert!(said.contains("rust"), "{said}");
}

#[test]
fn a_library_that_is_gone_is_reported() {
    let place = Place::new().bytes("zig", b"");
    let pack = place.open().unwrap();
    fs::remove_file(place.shared_library("zig")).unwrap();
    let Err(GrammarError::Unusable { file, .. }) = pack.grammar("zig") else {
        panic!("it was loaded, or not reported");
    };
    assert!(file.ends_with(file_name("zig")));
}

#[test]
fn what_others_may_write_to_is_not_loaded() {
    for mode in [0o777, 0o775, 0o757] {
        let place = Place::new();
        chmod(place.grammars.path(), mode);
        let Err(error @ PackError::NotPrivate { .. }) = place.open() else {
            panic!("a folder of mode {mode:o} was opened");
        };
        let said = error.to_string();
        assert!(said.contains(&format!("mode {mode:o}")), "{said}");
        assert!(said.contains("chmod go-w"), "{said}");
    }
    for mode in [0o666, 0o664] {
        let place = Place::new().bytes("zig", b"");
        chmod(&place.shared_library("zig"), mode);
        let said = why(&place, "zig");
        assert!(said.contains("other users may write"), "{said}");
    }
}

#[test]
fn a_folder_below_one_that_others_may_write_to_is_not_opened() {
    let place = Place::new();
    let open = place.grammars.path().join("open");
    let inner = open.join("inner");
    fs::create_dir_all(&inner).unwrap();
    let opened = || LanguagePack::open(&inner, &place.workspace);
    assert!(opened().is_ok());
    chmod(&open, 0o777);
    assert!(matches!(opened(), Err(PackError::NotPrivate { .. })));
    // Where only the owner may rename what is in it, nobody can swap the folder.
    chmod(&open, 0o1777);
    assert!(opened().is_ok());
}

#[test]
fn nothing_is_loaded_out_of_the_workspace() {
    let place = Place::new();
    let inside = place.workspace.root().join("grammars");
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join(file_name("zig")), "").unwrap();
    let link = place.grammars.path().join("link");
    symlink(&inside, &link).unwrap();
    for folder in [place.workspace.root(), &inside, &link] {
        let opened = LanguagePack::open(folder, &place.workspace);
        let Err(error @ PackError::InWorkspace { .. }) = opened else {
            panic!("{} was opened", folder.display());
        };
        assert!(error.to_string().contains("keep it outside"), "{error}");
    }
    // Nor through a link in the folder.
    symlink(inside.join(file_name("zig")), place.shared_library("zig")).unwrap();
    let said = why(&place, "zig");
    assert!(said.contains("leads into the workspace"), "{said}");
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let place = Place::new();
    let file = place.grammars.path().join("file");
    fs::write(&file, "").unwrap();
    for folder in [place.grammars.path().join("missing"), file] {
        let Err(error @ PackError::Unreadable { .. }) =
            LanguagePack::open(&folder, &place.workspace)
        else {
            panic!("{} was opened", folder.display());
        };
        assert!(error.to_string().contains("cannot read"), "{error}");
    }
    // And so is a folder where a library should be.
    fs::create_dir(place.shared_library("zig")).unwrap();
    let said = why(&place, "zig");
    assert!(said.contains("no regular file"), "{said}");
}
