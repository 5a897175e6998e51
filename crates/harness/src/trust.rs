//! Which workspaces the user trusts, remembered in the user's configuration.
//!
//! Trust is remembered for exactly the folder it was given for, with symbolic
//! links resolved, and never for a folder inside or around it.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// The version of the file that is read and written here.
const VERSION: u32 = 1;

/// The largest file that is read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The remembered trust of one user.
#[derive(Debug, Clone)]
pub(crate) struct TrustStore {
    file: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    version: u32,
    trusted: BTreeSet<PathBuf>,
}

impl TrustStore {
    /// Returns the store in the folder `configuration` (for example `~/.config/toolset`).
    pub(crate) fn in_folder(configuration: &Path) -> Self {
        Self {
            file: configuration.join("trust.json"),
        }
    }

    /// Returns the trusted folders.
    pub(crate) fn trusted(&self) -> anyhow::Result<BTreeSet<PathBuf>> {
        let text = match read_regular(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(BTreeSet::new());
            }
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("cannot read `{}`", self.file.display()));
            }
        };
        let damaged = || format!("`{}` is damaged; remove it", self.file.display());
        let value = serde_json::from_str(&text).with_context(damaged)?;
        let remembered: Remembered = crate::wire::parse(value)
            .map_err(anyhow::Error::msg)
            .with_context(damaged)?;
        if remembered.version != VERSION {
            bail!(
                "`{}` has version {}, and this program knows version {VERSION}",
                self.file.display(),
                remembered.version
            );
        }
        Ok(remembered.trusted)
    }

    /// Remembers that `root` is trusted; returns whether that is new.
    pub(crate) fn trust(&self, root: &Path) -> anyhow::Result<bool> {
        self.update(|trusted| trusted.insert(root.to_owned()))
    }

    /// Forgets that `root` is trusted; returns whether it was.
    pub(crate) fn untrust(&self, root: &Path) -> anyhow::Result<bool> {
        self.update(|trusted| trusted.remove(root))
    }

    fn update(&self, change: impl FnOnce(&mut BTreeSet<PathBuf>) -> bool) -> anyhow::Result<bool> {
        let folder = self
            .file
            .parent()
            .context("the configuration has no folder")?;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        // Two programs may change the file at once: each reads it under the lock.
        let _lock = self.lock()?;
        let mut trusted = self.trusted()?;
        if !change(&mut trusted) {
            return Ok(false);
        }
        let remembered = Remembered {
            version: VERSION,
            trusted,
        };
        self.replace(&(serde_json::to_string_pretty(&remembered)? + "\n"), folder)?;
        Ok(true)
    }

    fn lock(&self) -> anyhow::Result<File> {
        let path = self.file.with_extension("lock");
        let locked = open_private(&path, Contents::Kept).and_then(|file| {
            file.lock()?;
            Ok(file)
        });
        locked.with_context(|| format!("cannot lock `{}`", path.display()))
    }

    fn replace(&self, text: &str, folder: &Path) -> anyhow::Result<()> {
        let new = self.file.with_extension("new");
        let written = open_private(&new, Contents::Dropped).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&new, &self.file)?;
            File::open(folder)?.sync_all()
        });
        written.with_context(|| format!("cannot write `{}`", self.file.display()))
    }
}

/// What becomes of the contents of a file that is opened for writing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    Kept,
    Dropped,
}

/// Opens a file that only the user may read for writing, or creates it.
fn open_private(path: &Path, contents: Contents) -> io::Result<File> {
    open_regular(
        path,
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(contents == Contents::Dropped)
            .mode(0o600),
    )
}

/// Reads a file of at most [`MAX_BYTES`].
fn read_regular(path: &Path) -> io::Result<String> {
    let file = open_regular(path, OpenOptions::new().read(true))?;
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!(
            "it is larger than {MAX_BYTES} bytes"
        )));
    }
    Ok(text)
}

/// Opens a regular file. A pipe would wait for another end for ever, and opening
/// a device may act.
fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let refuse = |is_file: bool| match is_file {
        true => Ok(()),
        false => Err(io::Error::other("it is no regular file")),
    };
    match std::fs::metadata(path) {
        Ok(metadata) => refuse(metadata.is_file())?,
        // Whether that is an error, the options decide.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // It may have become something else since.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options
        .custom_flags(flags.bits().cast_signed())
        .open(path)?;
    refuse(file.metadata()?.is_file())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn store() -> (tempfile::TempDir, TrustStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = TrustStore::in_folder(&folder.path().join("a/toolset"));
        (folder, store)
    }

    #[test]
    fn trust_is_remembered_and_forgotten() {
        let (_folder, store) = store();
        let (a, b) = (Path::new("/a"), Path::new("/a/b"));
        assert!(store.trusted().unwrap().is_empty());
        assert!(store.trust(a).unwrap());
        assert!(!store.trust(a).unwrap());
        assert!(store.trust(b).unwrap());
        assert!(store.untrust(a).unwrap());
        assert!(!store.untrust(a).unwrap());
        assert_eq!(store.trusted().unwrap(), BTreeSet::from([b.to_owned()]));
    }

    #[test]
    fn only_the_user_may_read_the_file() {
        let (_folder, store) = store();
        store.trust(Path::new("/a")).unwrap();
        let mode = std::fs::metadata(&store.file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_damaged_or_newer_file_is_reported_and_left_alone() {
        let (_folder, store) = store();
        store.trust(Path::new("/a")).unwrap();
        for text in [
            "{",
            "[]",
            "{\"version\": 1, \"trusted\": {}}",
            "{\"version\": 2, \"trusted\": []}",
        ] {
            std::fs::write(&store.file, text).unwrap();
            let said = format!("{:#}", store.trusted().unwrap_err());
            crate::wire::tests::assert_plain(said.rsplit("toolset/").next().unwrap());
            assert!(store.trust(Path::new("/b")).is_err());
            assert_eq!(std::fs::read_to_string(&store.file).unwrap(), text);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes what it needs")]
    fn pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }

    #[test]
    fn what_is_no_regular_file_is_reported_and_not_waited_for() {
        for name in ["trust.json", "trust.lock", "trust.new"] {
            let (_folder, store) = store();
            store.trust(Path::new("/a")).unwrap();
            let path = store.file.with_file_name(name);
            let make: [&dyn Fn(); 3] = [
                &|| pipe(&path),
                &|| std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
                &|| std::fs::create_dir(&path).unwrap(),
            ];
            for make in make {
                let _ = std::fs::remove_file(&path);
                make();
                let said = format!("{:#}", store.trust(Path::new("/b")).unwrap_err());
                assert!(said.contains("it is no regular file"), "{said}");
                assert_eq!(store.trusted().is_err(), name == "trust.json");
            }
        }
    }

    #[test]
    fn a_file_elsewhere_may_be_linked_to() {
        let (folder, store) = store();
        store.trust(Path::new("/a")).unwrap();
        let elsewhere = folder.path().join("elsewhere.json");
        std::fs::rename(&store.file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &store.file).unwrap();
        assert_eq!(store.trusted().unwrap().len(), 1);
    }

    #[test]
    fn writers_at_the_same_time_lose_nothing() {
        let (_folder, store) = store();
        std::thread::scope(|scope| {
            for index in 0..8 {
                let store = &store;
                scope.spawn(move || store.trust(Path::new(&format!("/{index}"))).unwrap());
            }
        });
        assert_eq!(store.trusted().unwrap().len(), 8);
    }
}
