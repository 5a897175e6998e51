//! Carries out a change set on disk: all of it or nothing, through a crash too.
//!
//! 1. Under the workspace's lock, what an earlier crash left is ended.
//! 2. Every file is read and compared with the bytes the set was made for.
//! 3. The journal names every file with its old and new bytes, by length and
//!    SHA-256, and every folder that is to be made.
//! 4. The new bytes are written beside the files and brought to the disk.
//! 5. One by one, each file is compared once more and swapped with its new
//!    bytes; what comes out of the swap is compared again, and put back where
//!    it is not what was expected.
//! 6. The journal is marked as finished: until here a failure or a crash leads
//!    back, from here on forward.
//! 7. The old bytes and the journal are removed.
//!
//! One file is old or new by its swap alone: then only its contents are waited
//! for, and the journal is there to clean up after a crash.
//!
//! **What another program can still lose.** A program that saves by replacing
//! the file is always noticed. One that keeps the file open and writes into it
//! is noticed until step 6; what it writes between then and its own closing of
//! the file goes to the old file, which is removed. On file systems that cannot
//! swap two names, a save between the comparison and the rename of step 5, which
//! is a few microseconds, is overwritten.

mod digest;
mod journal;
mod names;
mod parallel;
mod recover;
mod slot;
mod steps;
mod undo;
mod verify;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::Duration;

pub(super) use self::steps::Steps;

use self::digest::Digest;
use self::journal::{Desk, Journal};
use self::names::open_file;
use self::slot::{Refusal, Slot};
use self::steps::Step;
use self::undo::Direction;
use super::beneath::{self, Missing};
use super::looks::{Looks, Lost};
use crate::change_set::{
    Applied, ChangeSet, CutOff, Difference, FileChange, Leftover, Mismatch, Outcome, Recovered,
};
use crate::error::io_reason;
use crate::{Error, Workspace, WorkspacePath};

/// What a commit runs with.
pub(super) struct Committer<'a> {
    pub(super) workspace: &'a Workspace,
    /// The folder below which each workspace has one for its journal.
    pub(super) state: &'a Path,
    /// How long another change is waited for.
    pub(super) wait: Duration,
    pub(super) steps: &'a Steps,
    /// Whether nobody waits for the outcome any more.
    pub(super) is_abandoned: &'a dyn Fn() -> bool,
}

/// One file that is to be written.
struct Work<'a> {
    change: &'a FileChange,
    slot: Slot,
    /// The file whose looks the new one gets.
    like: Option<Looks>,
    /// Names of the file besides this one.
    other_names: usize,
}

/// Why a change that began did not end.
enum Failure {
    Io {
        action: &'static str,
        path: WorkspacePath,
        source: io::Error,
    },
    /// Another program changed this file meanwhile.
    Disturbed(Mismatch),
}

impl Committer<'_> {
    /// Ends what a crash cut off; `None` where nothing was.
    pub(super) fn recover(&self) -> Result<Option<Recovered>, Error> {
        let desk = Desk::new(self.state, self.workspace);
        if !desk.is_in_use() {
            return Ok(None);
        }
        let _lock = desk.lock(self.workspace, self.wait, self.is_abandoned)?;
        recover::recover(&desk, self.workspace, self.steps)
    }

    /// Lists the changes that were cut off in this workspace, in those inside it
    /// and in those that it is inside of.
    pub(super) fn cut_off(&self) -> Vec<CutOff> {
        let here = self.workspace.root();
        let mut found: Vec<CutOff> = Desk::all(self.state)
            .filter_map(|desk| desk.cut_off(self.state))
            .filter(|(root, _)| root.starts_with(here) || here.starts_with(root))
            .filter(|(root, _)| root.is_dir())
            .map(|(root, title)| CutOff { root, title })
            .collect();
        found.sort_by(|one, other| one.root.cmp(&other.root));
        found
    }

    /// Carries out `changes`.
    pub(super) fn apply(&self, changes: &ChangeSet) -> Result<Outcome, Error> {
        let desk = Desk::new(self.state, self.workspace);
        let _lock = desk.lock(self.workspace, self.wait, self.is_abandoned)?;
        let recovered = recover::recover(&desk, self.workspace, self.steps)?;

        let id = uuid::Uuid::new_v4().simple().to_string();
        let mut works = Vec::new();
        let mut mismatches = Vec::new();
        for change in changes.changes() {
            match verify::verify(change, Step::Verify, self.steps) {
                Ok(seen) if !change.is_unchanged() => {
                    works.push(Work::new(change, seen, &id, works.len()));
                }
                Ok(_) => {}
                Err(mismatch) => mismatches.push(mismatch),
            }
        }
        if !mismatches.is_empty() {
            return Ok(Outcome::Rejected(mismatches));
        }
        let mut applied = Applied::new(works.iter().map(Work::path).cloned().collect());
        applied.notes.extend(recovered.map(|r| r.to_string()));
        if works.is_empty() {
            return Ok(Outcome::Applied(applied));
        }
        if (self.is_abandoned)() {
            return Err(Error::Abandoned);
        }
        let steps = match works.len() {
            1 => &self.steps.unordered(),
            _ => self.steps,
        };
        let journal = Journal {
            title: changes.title().to_owned(),
            slots: works.iter().map(|work| work.slot.clone()).collect(),
            folders: missing_folders(&works)?,
            is_complete: true,
        };
        if let Err(error) = desk.begin(self.workspace, &id, &journal, steps) {
            // Nothing but the journal can be there.
            let _ = desk.end(steps);
            return Err(desk.failed(error));
        }
        match self.carry_out(&desk, &works, &journal, steps) {
            Ok(notes) => {
                applied.notes.extend(notes);
                Ok(Outcome::Applied(applied))
            }
            Err(failure) => self.take_back(&desk, &journal, failure),
        }
    }

    /// Does everything after the journal; returns what the user should know.
    fn carry_out(
        &self,
        desk: &Desk,
        works: &[Work<'_>],
        journal: &Journal,
        steps: &Steps,
    ) -> Result<Vec<String>, Failure> {
        let mut notes = Vec::new();
        for folder in &journal.folders {
            self.make_folder(folder, works)?;
        }
        let staged = parallel::map(works, |work| match work.change.after() {
            Some(bytes) => work.slot.stage(bytes, work.like.as_ref(), steps),
            None => Ok(Lost::default()),
        });
        for (work, staged) in works.iter().zip(staged) {
            let lost = staged.map_err(|refusal| work.failure("write", refusal))?;
            notes.extend(work.notes(&lost));
        }
        let not_synced = |(path, source)| Failure::Io {
            action: "write",
            path,
            source,
        };
        undo::sync_folders(&journal.slots, steps).map_err(not_synced)?;
        for work in works {
            verify::verify(work.change, Step::Recheck, steps).map_err(Failure::Disturbed)?;
            let action = match work.change.after() {
                Some(_) => "replace",
                None => "remove",
            };
            work.slot
                .install(steps)
                .map_err(|refusal| work.failure(action, refusal))?;
        }
        undo::sync_folders(&journal.slots, steps).map_err(not_synced)?;
        for work in works {
            match work.slot.took_old() {
                Ok(true) => {}
                Ok(false) => return Err(work.disturbed()),
                Err(refusal) => return Err(work.failure("read", refusal)),
            }
        }
        desk.finish(steps).map_err(|source| Failure::Io {
            action: "finish the change of",
            path: self.workspace.root_path(),
            source,
        })?;

        // From here on the files are new, whatever happens.
        let (mut left, failed) = undo::clean(&journal.slots, steps);
        let ended = if failed.is_empty() {
            desk.end(steps)
        } else {
            Ok(()) // the journal still has a purpose
        };
        left.extend(failed);
        notes.extend(left.iter().map(|left| {
            format!(
                "what the change left beside `{}` could not be removed: {}",
                left.path, left.reason
            )
        }));
        if let Err(error) = ended {
            notes.push(format!(
                "the journal of the change could not be removed: {}",
                io_reason(&error)
            ));
        }
        Ok(notes)
    }

    fn make_folder(&self, relative: &str, works: &[Work<'_>]) -> Result<(), Failure> {
        let failed = |source| Failure::Io {
            action: "make the folder of",
            path: works
                .iter()
                .map(Work::path)
                .find(|path| path.relative().starts_with(relative))
                .cloned()
                .unwrap_or_else(|| self.workspace.root_path()),
            source,
        };
        let Some(path) = self.workspace.inside(relative) else {
            return Ok(()); // a name that is not UTF-8 was refused before
        };
        self.steps.before(Step::MakeFolder).map_err(failed)?;
        match beneath::descend(&path, Missing::Fail) {
            Ok(Some(place)) => beneath::make_folder(&place.folder, &place.name)
                .map_err(|error| failed(error.into())),
            Ok(None) => Ok(()),
            Err(barrier) => Err(failed(barrier.into_io())),
        }
    }

    /// Brings everything back, and says how that went.
    fn take_back(
        &self,
        desk: &Desk,
        journal: &Journal,
        failure: Failure,
    ) -> Result<Outcome, Error> {
        let mut report = undo::bring(&journal.slots, Direction::Back, self.steps);
        // What others wrote in the meantime is theirs: no file of this change.
        let mut disturbed: Vec<Mismatch> = std::mem::take(&mut report.left)
            .into_iter()
            .map(|left| Mismatch::new(left.path, Difference::Disturbed))
            .collect();
        if report.failed.is_empty() {
            let (left, failed) = undo::clean(&journal.slots, self.steps);
            let ended = undo::remove_folders(self.workspace, &journal.folders, self.steps)
                .and_then(|()| {
                    if failed.is_empty() {
                        desk.end(self.steps)
                    } else {
                        Ok(())
                    }
                });
            report.left.extend(left);
            if let Err(error) = ended {
                tracing::warn!(%error, "what a change left behind is removed at the next start");
            }
        }
        let (action, path, source) = match failure {
            Failure::Disturbed(mismatch) if report.left.is_empty() && report.failed.is_empty() => {
                disturbed.retain(|other| other.path != mismatch.path);
                disturbed.insert(0, mismatch);
                return Ok(Outcome::Rejected(disturbed));
            }
            Failure::Disturbed(mismatch) => {
                let source = io::Error::other(mismatch.to_string());
                ("replace", mismatch.path.to_string(), source)
            }
            Failure::Io {
                action,
                path,
                source,
            } => (action, path.to_string(), source),
        };
        let meanwhile = disturbed
            .into_iter()
            .map(|mismatch| Leftover::new(mismatch.path, "somebody changed it meanwhile"));
        report.left.extend(meanwhile);
        Err(Error::NotApplied {
            action,
            path,
            source,
            restored: report.written,
            left: report.left,
            failed: report.failed,
        })
    }
}

impl<'a> Work<'a> {
    fn new(change: &'a FileChange, seen: verify::Seen, id: &str, index: usize) -> Self {
        let digest = |bytes: Option<&std::sync::Arc<[u8]>>| bytes.map(|bytes| Digest::of(bytes));
        let digests = (digest(change.before()), digest(change.after()));
        let names = seen.looks.as_ref().map_or(1, |looks| {
            usize::try_from(looks.stat.st_nlink).unwrap_or(usize::MAX)
        });
        let like = match (seen.looks, change.permissions_of()) {
            (Some(looks), _) => Some(looks),
            (None, Some(other)) => looks_of(other),
            (None, None) => None,
        };
        Self {
            change,
            slot: Slot::new(change.path().clone(), digests, id, index),
            like,
            other_names: names.saturating_sub(1),
        }
    }

    fn path(&self) -> &WorkspacePath {
        self.change.path()
    }

    fn failure(&self, action: &'static str, refusal: Refusal) -> Failure {
        match refusal {
            Refusal::Other(_) => self.disturbed(),
            // It was there a moment ago.
            Refusal::Io(error) if error.kind() == io::ErrorKind::NotFound => self.disturbed(),
            Refusal::Io(source) => Failure::Io {
                action,
                path: self.path().clone(),
                source,
            },
        }
    }

    fn disturbed(&self) -> Failure {
        Failure::Disturbed(Mismatch::new(self.path().clone(), Difference::Disturbed))
    }

    /// Says what a new file could not keep of the old one.
    fn notes(&self, lost: &Lost) -> Vec<String> {
        let path = self.path();
        let mut notes = Vec::new();
        if self.change.after().is_some() && self.other_names > 0 {
            let (names, keep) = match self.other_names {
                1 => ("1 more name (a hard link)".to_owned(), "it keeps"),
                count => (format!("{count} more names (hard links)"), "they keep"),
            };
            notes.push(format!("`{path}` had {names}; {keep} the old text"));
        }
        if lost.owner {
            notes.push(format!("the owner of `{path}` could not be kept"));
        }
        if lost.privilege {
            notes.push(format!(
                "`{path}` does not run as its owner any more (setuid, setgid)"
            ));
        }
        notes
    }
}

/// Looks at a regular file that may be read.
fn looks_of(path: &WorkspacePath) -> Option<Looks> {
    let place = beneath::descend(path, Missing::Fail).ok()??;
    let (file, _) = open_file(&place.folder, &place.name).ok()??;
    Looks::of(&file).ok()
}

/// Lists the folders that new files need, outermost first.
fn missing_folders(works: &[Work<'_>]) -> Result<Vec<String>, Error> {
    let mut folders = Vec::new();
    let mut seen = HashSet::new();
    for work in works {
        if work.change.before().is_some() {
            continue;
        }
        let path = work.path();
        let deepest = beneath::deepest_folder(path).map_err(|source| Error::Io {
            action: "look for the folder of",
            path: path.to_string(),
            source,
        })?;
        let mut folder = deepest.relative;
        for name in deepest.missing {
            if !folder.is_empty() {
                folder.push('/');
            }
            folder.push_str(&name.to_string_lossy());
            if seen.insert(folder.clone()) {
                folders.push(folder.clone());
            }
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests;
