//! Takes a change back, or brings it to its end, from what is on disk.
//!
//! Works from the slots alone, in the process that made the change as well as
//! in one that finds it after a crash.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::super::beneath::{self, Missing};
use super::parallel;
use super::slot::{Refusal, Slot, Standing};
use super::steps::{Step, Steps};
use crate::change_set::Leftover;
use crate::error::io_reason;
use crate::{Workspace, WorkspacePath};

/// What became of the files of a change.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The files that were written.
    pub(super) written: Vec<WorkspacePath>,
    /// Files that are neither as before nor as after the change, and were left.
    pub(super) left: Vec<Leftover>,
    /// Files that the system did not permit to be written; to be tried again.
    pub(super) failed: Vec<Leftover>,
}

/// In which direction files are brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Back,
    Forward,
}

/// Brings every file to its old content, the last one first, or to its new one.
pub(super) fn bring(slots: &[Slot], direction: Direction, steps: &Steps) -> Report {
    let mut report = Report::default();
    for slot in slots.iter().rev() {
        let brought = slot.standing().and_then(|standing| match standing {
            Standing::Old if direction == Direction::Forward => slot.install(steps).map(|()| true),
            Standing::New if direction == Direction::Back => slot.restore(steps).map(|()| true),
            Standing::Old | Standing::New => Ok(false),
            Standing::Other(why) => Err(Refusal::Other(why)),
        });
        match brought {
            Ok(true) => report.written.push(slot.path.clone()),
            Ok(false) => {}
            Err(Refusal::Other(why)) => report.left.push(leftover(slot, why)),
            Err(Refusal::Io(error)) => report.failed.push(leftover(slot, io_reason(&error))),
        }
    }
    if let Err((path, error)) = sync_folders(slots, steps) {
        report.failed.push(Leftover::new(path, io_reason(&error)));
    }
    report.written.reverse();
    report.left.reverse();
    report.failed.reverse();
    report
}

/// Removes everything that the change put beside its files.
///
/// Returns what could not be removed; `Err` counts as one that may be later.
pub(super) fn clean(slots: &[Slot], steps: &Steps) -> (Vec<Leftover>, Vec<Leftover>) {
    let (mut left, mut failed) = (Vec::new(), Vec::new());
    for slot in slots {
        match slot.clean(steps) {
            Ok(()) => {}
            Err(Refusal::Other(why)) => left.push(leftover(slot, why)),
            Err(Refusal::Io(error)) => failed.push(leftover(slot, io_reason(&error))),
        }
    }
    if let Err((path, error)) = sync_folders(slots, steps) {
        failed.push(Leftover::new(path, io_reason(&error)));
    }
    (left, failed)
}

/// Removes the folders that a change made, as far as they are empty.
pub(super) fn remove_folders(
    workspace: &Workspace,
    folders: &[String],
    steps: &Steps,
) -> io::Result<()> {
    for path in folders.iter().rev() {
        let Some(path) = workspace.inside(path) else {
            continue;
        };
        // A folder above it is gone or became something else: so is this one.
        let Ok(Some(place)) = beneath::descend(&path, Missing::Fail) else {
            continue;
        };
        steps.before(Step::RemoveFolder)?;
        match rustix::fs::unlinkat(&place.folder, &place.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Brings the entries of the folders of all files to the disk.
pub(super) fn sync_folders(
    slots: &[Slot],
    steps: &Steps,
) -> Result<(), (WorkspacePath, io::Error)> {
    let mut seen: HashSet<Option<&Path>> = HashSet::new();
    let firsts: Vec<&Slot> = slots
        .iter()
        .filter(|slot| seen.insert(slot.path.absolute().parent()))
        .collect();
    let synced = parallel::map(&firsts, |slot| {
        sync_folder(&slot.path, steps).map_err(|error| (slot.path.clone(), error))
    });
    synced.into_iter().collect()
}

/// Brings the entries of the folder of `path` to the disk.
fn sync_folder(path: &WorkspacePath, steps: &Steps) -> io::Result<()> {
    let Ok(Some(place)) = beneath::descend(path, Missing::Fail) else {
        return Ok(()); // it was never made
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat(&place.folder, ".", flags, Mode::empty()) {
        Ok(folder) => match steps.sync(&folder) {
            // Not every file system knows this for folders.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        },
        // A folder that may be written but not listed.
        Err(Errno::ACCESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn leftover(slot: &Slot, reason: String) -> Leftover {
    Leftover::new(slot.path.clone(), reason)
}
