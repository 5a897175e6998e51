//! Keeps staged edits between the calls of a run: what each would change, and
//! what became of it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::WorkspacePath;

/// Old and new bytes that the staged edits of one run may hold together, by
/// default: 256 MiB.
pub const DEFAULT_MAX_STAGED_BYTES: usize = 256 * 1024 * 1024;

/// The number that the next staged edit of this process gets.
///
/// Numbers are not used twice, so that the id of one run never means another
/// edit in the next run or in a child run.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The name of a staged edit; written `edit_1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EditId(u64);

impl EditId {
    fn fresh() -> Self {
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Reads an id as it was written.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let id = Self(text.strip_prefix("edit_")?.parse().ok()?);
        (id.to_string() == text).then_some(id)
    }

    /// Whether some run of this process has or had an edit of this name.
    fn was_given(self) -> bool {
        (1..NEXT.load(Ordering::Relaxed)).contains(&self.0)
    }
}

impl fmt::Display for EditId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "edit_{}", self.0)
    }
}

/// One file of a staged edit.
#[derive(Debug, Clone)]
pub(crate) struct StagedFile {
    pub(crate) path: WorkspacePath,
    /// What the file held when the edit was staged.
    pub(crate) before: Arc<[u8]>,
    /// What it is to hold.
    pub(crate) after: Arc<[u8]>,
}

/// A change of several files that waits to be accepted or discarded.
#[derive(Debug)]
pub(crate) struct StagedEdit {
    pub(crate) id: EditId,
    pub(crate) files: Vec<StagedFile>,
    pub(crate) replacements: usize,
    /// Changes that were accepted before it was staged.
    accepted_before: u64,
}

impl StagedEdit {
    /// Returns the old and new bytes it holds.
    fn bytes(&self) -> usize {
        bytes(&self.files)
    }
}

fn bytes(files: &[StagedFile]) -> usize {
    files.iter().map(|f| f.before.len() + f.after.len()).sum()
}

/// The staged edits of one run.
///
/// Tools share it through [`Run::state`](tiers::Run::state).
#[derive(Debug, Default)]
pub struct StagedEdits {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<EditId, Entry>,
    held_bytes: usize,
    /// Changes accepted so far.
    accepted: u64,
    /// Per file, the edit that changed it last and how many were accepted then.
    changed: HashMap<PathBuf, (EditId, u64)>,
}

#[derive(Debug)]
enum Entry {
    Staged(Arc<StagedEdit>),
    /// A call is writing it.
    Accepting(Arc<StagedEdit>),
    Accepted,
    Discarded,
}

/// An edit does not fit beside those that are staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// Why an edit can be neither accepted nor discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotStaged {
    /// No run of this process has staged an edit of that name.
    Unknown,
    /// Another run of this process has.
    OfAnotherRun,
    /// Another call is writing it.
    Accepting,
    /// It was accepted.
    Accepted,
    /// It was discarded.
    Discarded,
}

impl StagedEdits {
    /// Returns how many more bytes can be held; an edit may still find less.
    pub(crate) fn room(&self, limit: usize) -> usize {
        limit.saturating_sub(self.lock().held_bytes)
    }

    /// Keeps an edit, if it fits beside the others.
    pub(crate) fn stage(
        &self,
        files: Vec<StagedFile>,
        replacements: usize,
        limit: usize,
    ) -> Result<Arc<StagedEdit>, NoRoom> {
        let mut state = self.lock();
        if state.held_bytes.saturating_add(bytes(&files)) > limit {
            return Err(NoRoom);
        }
        let edit = Arc::new(StagedEdit {
            id: EditId::fresh(),
            files,
            replacements,
            accepted_before: state.accepted,
        });
        state.held_bytes += edit.bytes();
        state
            .entries
            .insert(edit.id, Entry::Staged(Arc::clone(&edit)));
        Ok(edit)
    }

    /// Returns the edits that wait, oldest first.
    pub(crate) fn staged(&self) -> Vec<Arc<StagedEdit>> {
        self.lock().staged().cloned().collect()
    }

    /// Returns an edit that waits or is being written.
    pub(crate) fn find(&self, id: EditId) -> Option<Arc<StagedEdit>> {
        match self.lock().entries.get(&id)? {
            Entry::Staged(edit) | Entry::Accepting(edit) => Some(Arc::clone(edit)),
            Entry::Accepted | Entry::Discarded => None,
        }
    }

    /// Takes an edit to write it: until the value is dropped or told that all
    /// is written, nobody else can.
    pub(crate) fn begin(self: &Arc<Self>, id: EditId) -> Result<Accepting, NotStaged> {
        let mut state = self.lock();
        let edit = state.take(id)?;
        state
            .entries
            .insert(id, Entry::Accepting(Arc::clone(&edit)));
        Ok(Accepting {
            edits: Arc::clone(self),
            edit,
        })
    }

    /// Forgets an edit.
    pub(crate) fn discard(&self, id: EditId) -> Result<Arc<StagedEdit>, NotStaged> {
        let mut state = self.lock();
        let edit = state.take(id)?;
        state.held_bytes -= edit.bytes();
        state.entries.insert(id, Entry::Discarded);
        Ok(edit)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn staged(&self) -> impl Iterator<Item = &Arc<StagedEdit>> {
        self.entries.values().filter_map(|entry| match entry {
            Entry::Staged(edit) => Some(edit),
            Entry::Accepting(_) | Entry::Accepted | Entry::Discarded => None,
        })
    }

    /// Returns an edit that waits.
    fn take(&self, id: EditId) -> Result<Arc<StagedEdit>, NotStaged> {
        match self.entries.get(&id) {
            Some(Entry::Staged(edit)) => Ok(Arc::clone(edit)),
            Some(Entry::Accepting(_)) => Err(NotStaged::Accepting),
            Some(Entry::Accepted) => Err(NotStaged::Accepted),
            Some(Entry::Discarded) => Err(NotStaged::Discarded),
            None if id.was_given() => Err(NotStaged::OfAnotherRun),
            None => Err(NotStaged::Unknown),
        }
    }
}

/// An edit that is being written; dropped, it waits again.
#[derive(Debug)]
pub(crate) struct Accepting {
    edits: Arc<StagedEdits>,
    pub(crate) edit: Arc<StagedEdit>,
}

impl Accepting {
    /// Says that the files were written, and frees what the edit held.
    ///
    /// Returns the edits that wait and have one of these files: they no longer
    /// fit.
    pub(crate) fn written(self) -> Vec<EditId> {
        let mut state = self.edits.lock();
        let id = self.edit.id;
        state.held_bytes -= self.edit.bytes();
        state.entries.insert(id, Entry::Accepted);
        state.accepted += 1;
        let accepted = state.accepted;
        for file in &self.edit.files {
            let path = file.path.absolute().to_owned();
            state.changed.insert(path, (id, accepted));
        }
        let has_one = |edit: &&Arc<StagedEdit>| {
            edit.files
                .iter()
                .filter_map(|file| state.changed.get(file.path.absolute()))
                .any(|(by, _)| *by == id)
        };
        state.staged().filter(has_one).map(|e| e.id).collect()
    }

    /// Returns the edit that was accepted after this one was staged and changed
    /// `path`.
    pub(crate) fn changed_since(&self, path: &WorkspacePath) -> Option<EditId> {
        let state = self.edits.lock();
        let (by, at) = state.changed.get(path.absolute())?;
        (*at > self.edit.accepted_before).then_some(*by)
    }
}

impl Drop for Accepting {
    fn drop(&mut self) {
        let mut state = self.edits.lock();
        let id = self.edit.id;
        if matches!(state.entries.get(&id), Some(Entry::Accepting(_))) {
            let edit = Arc::clone(&self.edit);
            state.entries.insert(id, Entry::Staged(edit));
        }
    }
}

#[cfg(test)]
mod tests {
    use host::{Trust, Workspace};

    use super::*;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path(), Trust::Untrusted).unwrap();
        (folder, workspace)
    }

    fn file(workspace: &Workspace, name: &str, bytes: usize) -> StagedFile {
        StagedFile {
            path: workspace.resolve(name).unwrap(),
            before: vec![b'a'; bytes].into(),
            after: vec![b'b'; bytes].into(),
        }
    }

    #[test]
    fn ids_are_read_only_as_they_are_written() {
        assert_eq!(EditId::parse("edit_12"), Some(EditId(12)));
        for text in ["edit_012", "edit_+1", "edit_", "edit_1 ", "12", "Edit_1"] {
            assert_eq!(EditId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_edit_is_accepted_or_discarded_once_and_each_answer_is_its_own() {
        let (_folder, workspace) = workspace();
        let edits = Arc::new(StagedEdits::default());
        let stage = || {
            let files = vec![file(&workspace, "a", 1)];
            edits.stage(files, 1, 100).unwrap().id
        };
        let (first, second) = (stage(), stage());
        let accepting = edits.begin(first).unwrap();
        assert_eq!(edits.begin(first).unwrap_err(), NotStaged::Accepting);
        assert_eq!(edits.discard(first).unwrap_err(), NotStaged::Accepting);
        assert_eq!(accepting.written(), [second]);
        assert_eq!(edits.begin(first).unwrap_err(), NotStaged::Accepted);
        assert_eq!(edits.discard(first).unwrap_err(), NotStaged::Accepted);
        edits.discard(second).unwrap();
        assert_eq!(edits.begin(second).unwrap_err(), NotStaged::Discarded);
        assert_eq!(edits.discard(second).unwrap_err(), NotStaged::Discarded);
        assert_eq!(
            edits.begin(EditId(u64::MAX)).unwrap_err(),
            NotStaged::Unknown
        );
        let others = Arc::new(StagedEdits::default());
        assert_eq!(others.begin(first).unwrap_err(), NotStaged::OfAnotherRun);
    }

    #[test]
    fn an_edit_that_could_not_be_written_waits_again() {
        let (_folder, workspace) = workspace();
        let edits = Arc::new(StagedEdits::default());
        let edit = edits.stage(vec![file(&workspace, "a", 1)], 1, 100).unwrap();
        drop(edits.begin(edit.id).unwrap());
        assert_eq!(edits.staged().len(), 1);
        edits.begin(edit.id).unwrap().written();
        assert!(edits.staged().is_empty());
        assert!(edits.find(edit.id).is_none());
    }

    #[test]
    fn room_is_taken_by_old_and_new_bytes_and_given_back() {
        let (_folder, workspace) = workspace();
        let edits = Arc::new(StagedEdits::default());
        let stage = |bytes| edits.stage(vec![file(&workspace, "a", bytes)], 1, 100);
        let first = stage(30).unwrap();
        let second = stage(20).unwrap();
        assert_eq!(stage(1).unwrap_err(), NoRoom);
        edits.discard(first.id).unwrap();
        assert_eq!(edits.room(100), 60);
        edits.begin(second.id).unwrap().written();
        assert_eq!(edits.room(100), 100);
        stage(50).unwrap();
    }

    #[test]
    fn an_edit_knows_which_other_was_accepted_since_and_changed_its_file() {
        let (_folder, workspace) = workspace();
        let edits = Arc::new(StagedEdits::default());
        let stage = |name| {
            edits
                .stage(vec![file(&workspace, name, 1)], 1, 100)
                .unwrap()
        };
        let (first, same, other) = (stage("a"), stage("a"), stage("b"));
        let path = workspace.resolve("a").unwrap();
        assert_eq!(edits.begin(first.id).unwrap().written(), [same.id]);
        let since = |edit: &StagedEdit| edits.begin(edit.id).unwrap().changed_since(&path);
        assert_eq!(since(&same), Some(first.id));
        assert_eq!(since(&other), Some(first.id));
        // Staged after it, so made for what it left.
        assert_eq!(since(&stage("a")), None);
    }
}
