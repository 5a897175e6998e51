use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::process::ChildCommand;
use crate::{Trust, Workspace};

fn workspace() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("ws/src")).unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    let workspace = Workspace::open(&folder.path().join("ws"), Trust::Untrusted).unwrap();
    (folder, workspace)
}

fn entries(workspace: &Workspace, folder: &str) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(workspace.root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn written_bytes_are_read_back_and_nothing_else_is_left() {
    let (_folder, workspace) = workspace();
    let files = DiskFiles::new();
    for bytes in [&b"\xef\xbb\xbfone\r\n"[..], b"", b"\0\xff"] {
        let path = workspace.resolve("src/a.txt").unwrap();
        files.write(&path, bytes).await.unwrap();
        assert_eq!(files.read(&path).await.unwrap(), bytes);
        assert_eq!(files.read_blocking(&path).unwrap(), bytes);
    }
    assert_eq!(entries(&workspace, "src"), ["a.txt"]);
}

#[tokio::test]
async fn folders_of_a_new_file_are_made() {
    let (_folder, workspace) = workspace();
    let path = workspace.resolve("a/b/c.txt").unwrap();
    DiskFiles::new().write(&path, b"x").await.unwrap();
    assert_eq!(fs::read(workspace.root().join("a/b/c.txt")).unwrap(), b"x");
}

#[tokio::test]
async fn mode_survives_a_write() {
    let (_folder, workspace) = workspace();
    let path = workspace.resolve("run.sh").unwrap();
    fs::write(path.absolute(), "old").unwrap();
    fs::set_permissions(path.absolute(), fs::Permissions::from_mode(0o750)).unwrap();
    DiskFiles::new().write(&path, b"new").await.unwrap();
    let mode = fs::metadata(path.absolute()).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o750);
}

#[tokio::test]
async fn writing_through_a_link_keeps_the_link() {
    let (_folder, workspace) = workspace();
    fs::write(workspace.root().join("src/real"), "old").unwrap();
    symlink("src/real", workspace.root().join("link")).unwrap();
    let path = workspace.resolve("link").unwrap();
    DiskFiles::new().write(&path, b"new").await.unwrap();
    assert!(workspace.root().join("link").is_symlink());
    assert_eq!(fs::read(workspace.root().join("src/real")).unwrap(), b"new");
}

#[tokio::test]
async fn a_folder_that_became_a_link_is_not_followed() {
    let (folder, workspace) = workspace();
    let files = DiskFiles::new();
    fs::write(folder.path().join("out/a.rs"), "secret").unwrap();
    fs::write(workspace.root().join("src/a.rs"), "mine").unwrap();
    let path = workspace.resolve("src/a.rs").unwrap();
    fs::rename(workspace.root().join("src"), workspace.root().join("moved")).unwrap();
    symlink(folder.path().join("out"), workspace.root().join("src")).unwrap();

    let expected = "cannot use `src/a.rs` any more: `src` became a symbolic link";
    assert_eq!(files.read(&path).await.unwrap_err().to_string(), expected);
    let error = files.write(&path, b"x").await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    let error = files.metadata(&path).await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(
        fs::read_to_string(folder.path().join("out/a.rs")).unwrap(),
        "secret"
    );
}

#[tokio::test]
async fn a_file_that_became_a_link_is_neither_read_nor_replaced() {
    let (folder, workspace) = workspace();
    let files = DiskFiles::new();
    let path = workspace.resolve("src/a.rs").unwrap();
    symlink(folder.path().join("out/secret"), path.absolute()).unwrap();
    assert!(matches!(
        files.read(&path).await,
        Err(Error::Changed { .. })
    ));
    assert!(matches!(
        files.write(&path, b"x").await,
        Err(Error::Changed { .. })
    ));
    assert!(path.absolute().is_symlink());
    assert!(!folder.path().join("out/secret").exists());
}

#[tokio::test]
async fn folders_and_special_files_are_refused_without_blocking() {
    let (_folder, workspace) = workspace();
    let files = DiskFiles::new();
    let made = ChildCommand::new(Path::new("/bin/sh"), workspace.root())
        .args(["-c", "PATH=/usr/bin:/bin mkfifo pipe"])
        .run(Duration::from_secs(60))
        .await
        .unwrap();
    assert!(made.exit.is_success(), "{}", made.stderr.to_text());
    let _listener = std::os::unix::net::UnixListener::bind(workspace.root().join("sock")).unwrap();
    for (name, found, kind) in [
        ("src", "a directory", FileKind::Directory),
        (".", "a directory", FileKind::Directory),
        ("pipe", "a named pipe", FileKind::Special),
        ("sock", "a socket", FileKind::Special),
    ] {
        let path = workspace.resolve(name).unwrap();
        assert_eq!(
            files.read(&path).await.unwrap_err().to_string(),
            format!("cannot read `{name}`: it is {found}, not a regular file")
        );
        assert_eq!(
            files.write(&path, b"x").await.unwrap_err().to_string(),
            format!("cannot write `{name}`: it is {found}, not a regular file")
        );
        assert_eq!(files.metadata(&path).await.unwrap().unwrap().kind, kind);
    }
}

#[tokio::test]
async fn sizes_over_the_limit_are_refused_by_name() {
    let (_folder, workspace) = workspace();
    let files = DiskFiles::new().with_max_bytes(3);
    let path = workspace.resolve("big").unwrap();
    fs::write(path.absolute(), "1234").unwrap();
    assert_eq!(
        files.read(&path).await.unwrap_err().to_string(),
        "cannot read `big`: it has 4 bytes, the limit is 3"
    );
    assert_eq!(
        files.write(&path, b"12345").await.unwrap_err().to_string(),
        "cannot write `big`: it has 5 bytes, the limit is 3"
    );
    fs::write(path.absolute(), "123").unwrap();
    assert_eq!(files.read(&path).await.unwrap(), b"123");
}

#[tokio::test]
async fn what_is_missing_is_none_to_metadata_and_not_found_to_read() {
    let (_folder, workspace) = workspace();
    let files = DiskFiles::new();
    for name in ["none", "none/below"] {
        let path = workspace.resolve(name).unwrap();
        assert_eq!(files.metadata(&path).await.unwrap(), None);
        let error: tiers::ToolError = files.read(&path).await.unwrap_err().into();
        assert_eq!(error.kind, tiers::ErrorKind::NotFound);
    }
    let path = workspace.resolve("src/a").unwrap();
    files.write(&path, b"abc").await.unwrap();
    let metadata = files.metadata(&path).await.unwrap().unwrap();
    assert_eq!((metadata.kind, metadata.len), (FileKind::File, 3));
    assert!(metadata.modified.is_some());
}

#[tokio::test]
async fn a_failed_write_leaves_the_file_and_no_leftovers() {
    let (_folder, workspace) = workspace();
    let files = DiskFiles::new();
    // A folder may not be replaced by a file; it is noticed before anything is made.
    let path = workspace.resolve("src").unwrap();
    files.write(&path, b"x").await.unwrap_err();
    assert_eq!(entries(&workspace, "."), ["src"]);
    let below_file = workspace.resolve("src/file").unwrap();
    files.write(&below_file, b"x").await.unwrap();
    let error = workspace.resolve("src/file/below").unwrap_err();
    assert!(matches!(error, Error::NotADirectory { .. }));
}

#[tokio::test]
async fn concurrent_readers_see_old_or_new_never_a_mixture() {
    let (_folder, workspace) = workspace();
    let files = DiskFiles::new();
    let path = workspace.resolve("shared").unwrap();
    let contents = [vec![b'a'; 100_000], vec![b'b'; 150_000]];
    files.write(&path, &contents[0]).await.unwrap();
    let reader = {
        let (files, path, contents) = (files.clone(), path.clone(), contents.clone());
        std::thread::spawn(move || {
            for _ in 0..200 {
                let seen = files.read_blocking(&path).unwrap();
                assert!(contents.contains(&seen));
            }
        })
    };
    while !reader.is_finished() {
        for bytes in &contents {
            files.write(&path, bytes).await.unwrap();
        }
    }
    reader.join().unwrap();
}
