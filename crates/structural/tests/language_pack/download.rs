//! Grammars fetched from a mirror, which is a folder here.

use std::fs;
use std::path::Path;

use structural::LanguagePack;

use crate::grammars::{Place, file_name, shared_library};

/// Writes the archive of a release and the list that describes it. The archive
/// is a zstd frame of uncompressed blocks.
const RELEASE: &str = r#"
import hashlib, io, json, pathlib, platform, struct, sys, tarfile
folder, library, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
tar = io.BytesIO()
with tarfile.open(fileobj=tar, mode="w") as archive:
    archive.add(library, arcname="libs/" + library.name)
tar, block = tar.getvalue(), 1 << 16
bundle = struct.pack("<I", 0xFD2FB528) + bytes([0xA0]) + struct.pack("<I", len(tar))
for at in range(0, len(tar), block):
    part = tar[at:at + block]
    last = at + block >= len(tar)
    bundle += struct.pack("<I", len(part) << 3 | last)[:3] + part
(folder / "bundle.tar.zst").write_bytes(bundle)
system = {"Darwin": "macos"}.get(platform.system(), "linux")
machine = {"arm64": "arm64" if system == "macos" else "aarch64"}.get(platform.machine(), platform.machine())
bundle_of = {"url": "file://%s/bundle.tar.zst" % folder,
    "sha256": hashlib.sha256(bundle).hexdigest(), "size": len(bundle)}
(folder / "parsers.json").write_text(json.dumps({"version": version,
    "platforms": {system + "-" + machine: bundle_of},
    "languages": {"zig": {"group": "all", "size": library.stat().st_size}},
    "groups": {"all": ["zig"]}}))
"#;

/// The version of the package that is linked in, from the lock file.
fn version() -> String {
    let lock = include_str!("../../../../Cargo.lock");
    let (_, package) = lock
        .split_once("name = \"tree-sitter-language-pack\"\nversion = \"")
        .unwrap();
    package.split('"').next().unwrap().to_owned()
}

#[expect(clippy::disallowed_methods, reason = "a test makes what it needs")]
fn make_release(mirror: &Path, library: &Path) {
    let status = std::process::Command::new("python3")
        .args(["-c", RELEASE])
        .args([mirror, library])
        .arg(version())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Runs [`fetches`] in a process of its own, since the mirror is named by the
/// environment; returns what it prints.
#[expect(clippy::disallowed_methods, reason = "a test starts itself")]
fn fetch(place: &Place, mirror: &Path, language: &str) -> String {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["download::fetches", "--exact", "--nocapture"])
        .env(
            "TREE_SITTER_LANGUAGE_PACK_MANIFEST_URL",
            format!("file://{}/parsers.json", mirror.display()),
        )
        .env("FETCH_INTO", place.grammars.path())
        .env("FETCH_FOR", place.workspace.root())
        .env("FETCH", language)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The process that [`fetch`] starts; a test that does nothing on its own.
#[test]
#[expect(clippy::disallowed_methods, reason = "its parent says what to do")]
#[expect(clippy::print_stdout, reason = "its parent reads what it says")]
fn fetches() {
    let (Ok(folder), Ok(root), Ok(language)) = (
        std::env::var("FETCH_INTO"),
        std::env::var("FETCH_FOR"),
        std::env::var("FETCH"),
    ) else {
        return;
    };
    let workspace = host::Workspace::open(Path::new(&root), host::Trust::Untrusted).unwrap();
    match LanguagePack::download(Path::new(&folder), &workspace, &[&language]) {
        Ok(pack) => {
            use structural::GrammarSource as _;
            let folder = pack.folder().display();
            match pack.grammar(&language) {
                Ok(grammar) => println!("loaded {} from {folder}", grammar.language().id),
                Err(error) => println!("not loaded: {error}"),
            }
        }
        Err(error) => println!("refused: {error}"),
    }
}

#[test]
fn a_grammar_is_fetched_once_and_then_loaded() {
    let Some(zig) = shared_library("zig") else {
        return;
    };
    let (place, mirror) = (Place::new(), tempfile::tempdir().unwrap());
    make_release(mirror.path(), &zig);
    let libs = place
        .grammars
        .path()
        .canonicalize()
        .unwrap()
        .join(format!("v{}/libs", version()));
    let loaded = format!("loaded zig from {}", libs.display());
    let said = fetch(&place, mirror.path(), "zig");
    assert!(said.contains(&loaded), "{said}");
    assert!(libs.join(file_name("zig")).is_file());
    // Again, with nothing to fetch from.
    fs::remove_file(mirror.path().join("parsers.json")).unwrap();
    fs::remove_file(mirror.path().join("bundle.tar.zst")).unwrap();
    let said = fetch(&place, mirror.path(), "zig");
    assert!(said.contains(&loaded), "{said}");
}

#[test]
fn an_archive_that_is_not_the_one_listed_is_refused() {
    let Some(zig) = shared_library("zig") else {
        return;
    };
    let (place, mirror) = (Place::new(), tempfile::tempdir().unwrap());
    make_release(mirror.path(), &zig);
    let bundle = mirror.path().join("bundle.tar.zst");
    let mut bytes = fs::read(&bundle).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&bundle, bytes).unwrap();
    let said = fetch(&place, mirror.path(), "zig");
    assert!(said.contains("refused: cannot fetch grammars"), "{said}");
    assert!(said.contains("Checksum mismatch"), "{said}");
}

#[test]
fn a_name_that_no_release_lists_is_refused() {
    let Some(zig) = shared_library("zig") else {
        return;
    };
    let (place, mirror) = (Place::new(), tempfile::tempdir().unwrap());
    make_release(mirror.path(), &zig);
    let said = fetch(&place, mirror.path(), "no_such");
    assert!(said.contains("'no_such'"), "{said}");
    // And so is a mirror that is not there.
    let said = fetch(&Place::new(), Path::new("/no/such/mirror"), "zig");
    assert!(said.contains("refused: cannot fetch grammars"), "{said}");
}
