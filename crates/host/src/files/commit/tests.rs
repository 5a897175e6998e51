mod apply;
mod crash;
mod faults;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;
use crate::{DiskFiles, FileChange, Trust};

/// A workspace, and a state folder of its own.
struct Site {
    folder: tempfile::TempDir,
    workspace: Workspace,
    files: DiskFiles,
}

impl Site {
    fn new() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap())
    }

    /// Where many sites are made: in memory, where there is such a folder, and
    /// without waiting for the disk. A process that is killed loses no page.
    fn fleeting() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let mut site = Self::in_folder(folder.unwrap());
        site.files.steps.is_volatile = true;
        site
    }

    fn in_folder(folder: tempfile::TempDir) -> Self {
        fs::create_dir(folder.path().join("ws")).unwrap();
        let workspace = Workspace::open(&folder.path().join("ws"), Trust::Trusted).unwrap();
        let files = DiskFiles::new().with_state_folder(folder.path().join("state"));
        Self {
            folder,
            workspace,
            files,
        }
    }

    fn path(&self, name: &str) -> WorkspacePath {
        self.workspace.inside(name).unwrap()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.workspace.root().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        let at = self.at(name);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    /// Builds a set of edits, creations and deletions.
    fn set(&self, changes: &[(&str, Option<&str>, Option<&str>)]) -> ChangeSet {
        let mut set = ChangeSet::new("test");
        for &(name, before, after) in changes {
            let path = self.path(name);
            let bytes = |text: &str| text.as_bytes().to_vec();
            set.push(match (before, after) {
                (Some(before), Some(after)) => FileChange::edit(path, bytes(before), bytes(after)),
                (None, Some(after)) => FileChange::create(path, bytes(after)),
                (Some(before), None) => FileChange::delete(path, bytes(before)),
                (None, None) => panic!("no change"),
            })
            .unwrap();
        }
        set
    }

    fn apply(&self, set: &ChangeSet) -> Result<Outcome, Error> {
        self.files.apply_blocking(set, &|| false)
    }

    #[track_caller]
    fn applied(&self, set: &ChangeSet) -> Applied {
        match self.apply(set).unwrap() {
            Outcome::Applied(applied) => applied,
            Outcome::Rejected(mismatches) => panic!("{mismatches:?}"),
        }
    }

    #[track_caller]
    fn rejected(&self, set: &ChangeSet) -> Vec<String> {
        match self.apply(set).unwrap() {
            Outcome::Applied(applied) => panic!("{applied:?}"),
            Outcome::Rejected(mismatches) => mismatches.iter().map(ToString::to_string).collect(),
        }
    }

    fn tree(&self) -> BTreeMap<String, String> {
        tree(self.workspace.root())
    }

    /// Lists the files of the journal's folder but the lock.
    fn journals(&self) -> Vec<String> {
        let state = self.folder.path().join("state");
        if !state.exists() {
            return Vec::new();
        }
        let names = tree(&state).into_keys();
        names
            .filter(|name| !name.ends_with("/lock") && name.contains('/'))
            .collect()
    }
}

/// Returns every file and folder below `root`, with its mode and its text.
fn tree(root: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let metadata = path.symlink_metadata().unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            let text = if metadata.is_dir() {
                walk(root, &path, found);
                "folder".to_owned()
            } else if metadata.is_file() {
                format!(
                    "{mode:o} {}",
                    String::from_utf8_lossy(&fs::read(&path).unwrap())
                )
            } else {
                "other".to_owned()
            };
            found.insert(name, text);
        }
    }
    let mut found = BTreeMap::new();
    walk(root, root, &mut found);
    found
}

fn entries<const N: usize>(entries: [(&str, &str); N]) -> BTreeMap<String, String> {
    entries
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect()
}

/// Runs `watch` before each step of what `files` does.
fn watched(
    files: &DiskFiles,
    watch: impl Fn(Step) -> io::Result<()> + Send + Sync + 'static,
) -> DiskFiles {
    let mut files = files.clone();
    files.steps.watch = Some(Arc::new(watch));
    files
}
