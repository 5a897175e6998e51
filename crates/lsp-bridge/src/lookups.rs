//! What was found of markers and executables, for as long as nothing of it can
//! have changed.
//!
//! Looking anew costs hundreds of system calls, and every question would. What
//! was found is used again while every folder that was looked into has the same
//! stamp: whatever appears in a folder, disappears or is renamed there changes
//! it. A file whose mode changes does not; for that, `status` and `reload`
//! forget everything first.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::process::Environment;
use host::{Trust, WorkspacePath};

use crate::plan::{Candidate, candidates, looked_into};
use crate::servers::Catalogue;
use crate::stamp::Stamp;

/// Files that something is remembered of.
const MAX_KNOWN: usize = 1_000;

/// The lookups of a supervisor.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    known: Mutex<HashMap<Key, Known>>,
}

/// Trust is in it: it decides what may be found.
type Key = (PathBuf, PathBuf, bool);

#[derive(Debug)]
struct Known {
    /// The table that it was looked up in.
    catalogue: Arc<Catalogue>,
    candidates: Vec<Candidate>,
    seen: Vec<(PathBuf, Option<Stamp>)>,
}

impl Lookups {
    /// Returns the servers that claim `file`, in order of preference.
    pub(crate) fn candidates(
        &self,
        catalogue: &Arc<Catalogue>,
        file: &WorkspacePath,
        environment: &Environment,
    ) -> Vec<Candidate> {
        let workspace = file.workspace();
        let key = (
            file.absolute().to_owned(),
            workspace.root().to_owned(),
            workspace.trust() == Trust::Trusted,
        );
        if let Some(known) = self.lock().get(&key)
            && Arc::ptr_eq(&known.catalogue, catalogue)
            && known.seen.iter().all(is_unchanged)
        {
            return known.candidates.clone();
        }
        // Before the lookup: what changes meanwhile must be noticed.
        let mut seen = stamps(looked_into(catalogue, file, environment));
        let candidates = candidates(catalogue, file, environment);
        let programs = candidates.iter().filter_map(|c| c.program.as_ref().ok());
        seen.extend(stamps(programs.map(|program| program.path.clone())));
        if !candidates.iter().any(Candidate::is_main) {
            // What is missing may come from anywhere.
            return candidates;
        }
        let mut known = self.lock();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        let found = candidates.clone();
        let catalogue = Arc::clone(catalogue);
        known.insert(
            key,
            Known {
                catalogue,
                candidates,
                seen,
            },
        );
        found
    }

    /// Forgets everything.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_unchanged((path, before): &(PathBuf, Option<Stamp>)) -> bool {
    match (Stamp::of_any(path), before) {
        (Some(now), Some(before)) => now.is_unchanged_since(before),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Takes a stamp of each path, or of the nearest folder above that exists: a
/// path that is not there can only come into being there.
fn stamps(paths: impl IntoIterator<Item = PathBuf>) -> Vec<(PathBuf, Option<Stamp>)> {
    let mut done = BTreeSet::new();
    let mut stamps = Vec::new();
    for path in paths {
        let there = path.ancestors().find_map(|path| {
            let stamp = Stamp::of_any(path)?;
            Some((path.to_owned(), Some(stamp)))
        });
        let (path, stamp) = there.unwrap_or_else(|| (Path::new("/").to_owned(), None));
        if done.insert(path.clone()) {
            stamps.push((path, stamp));
        }
    }
    stamps
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use host::Workspace;

    use super::*;

    struct Setting {
        folder: tempfile::TempDir,
        bin: tempfile::TempDir,
        lookups: Lookups,
        catalogue: Arc<Catalogue>,
    }

    impl Setting {
        fn new() -> Self {
            let setting = Self {
                folder: tempfile::tempdir().unwrap(),
                bin: tempfile::tempdir().unwrap(),
                lookups: Lookups::default(),
                catalogue: Arc::new(Catalogue::built_in()),
            };
            setting.write("lib/src/a.py");
            setting.write("pyproject.toml");
            setting
        }

        fn write(&self, name: &str) {
            let path = self.folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }

        fn install(&self, folder: &Path) {
            std::fs::create_dir_all(folder).unwrap();
            let path = folder.join("pyright-langserver");
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }

        fn environment(&self) -> Environment {
            Environment::empty().with("PATH", self.bin.path())
        }

        fn pyright(&self) -> Candidate {
            let workspace = Workspace::open(self.folder.path(), Trust::Trusted).unwrap();
            let file = workspace.resolve("lib/src/a.py").unwrap();
            let environment = self.environment();
            let found = (self.lookups).candidates(&self.catalogue, &file, &environment);
            found.into_iter().find(|c| c.id() == "pyright").unwrap()
        }

        /// Returns root and program of pyright.
        fn look(&self) -> (String, Option<PathBuf>) {
            let pyright = self.pyright();
            let root = pyright.root.as_ref().map(|root| root.folder.to_string());
            let program = pyright.program.as_ref().ok().map(|p| p.path.clone());
            (root.unwrap_or_else(|_| "none".to_owned()), program)
        }

        /// Waits until what was written is not young any more, and looks.
        fn settle(&self) -> (String, Option<PathBuf>) {
            std::thread::sleep(Duration::from_millis(150)); // the age that stamps can be relied on
            self.look()
        }
    }

    #[test]
    fn what_appears_and_disappears_is_noticed_at_once() {
        let setting = Setting::new();
        assert_eq!(setting.settle(), (".".to_owned(), None));

        setting.install(setting.bin.path());
        let program = setting.bin.path().join("pyright-langserver");
        assert_eq!(setting.look().1.as_deref(), Some(&*program));
        setting.settle();
        std::fs::remove_file(&program).unwrap();
        assert_eq!(setting.look().1, None);

        setting.settle();
        let inner = setting.folder.path().join("lib/node_modules/.bin");
        setting.install(&inner);
        let expected = inner.join("pyright-langserver");
        assert_eq!(setting.look().1, Some(expected));

        setting.settle();
        setting.write("lib/pyproject.toml");
        assert_eq!(setting.look().0, "lib");
        setting.settle();
        std::fs::remove_file(setting.folder.path().join("lib/pyproject.toml")).unwrap();
        assert_eq!(setting.look().0, ".");
    }

    #[test]
    fn what_nothing_shows_is_found_once_all_is_forgotten() {
        let setting = Setting::new();
        setting.install(setting.bin.path());
        let program = setting.bin.path().join("pyright-langserver");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(setting.settle().1, None);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        setting.lookups.forget();
        assert_eq!(setting.look().1, Some(program));
    }

    #[test]
    fn the_same_is_not_looked_up_again() {
        let setting = Setting::new();
        setting.install(setting.bin.path());
        setting.settle();
        let plan = || setting.pyright().plan(&setting.environment()).unwrap();
        let before = plan();
        // Edits are no reason, new files in the folder are.
        setting.write("lib/src/a.py");
        assert!(Arc::ptr_eq(&before, &plan()));
        setting.write("lib/src/b.py");
        assert!(!Arc::ptr_eq(&before, &plan()));
    }
}
