//! Compares files with what a change was made for, and asks whether they may
//! be changed at all.

use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::fs::{Access, AtFlags, FileType};

use super::super::beneath::{self, Barrier, Locked, Missing, Place};
use super::super::looks::Looks;
use super::names::open_file;
use super::steps::{Step, Steps};
use crate::WorkspacePath;
use crate::change_set::{Difference, FileChange, Mismatch};
use crate::error::io_reason;

/// What is known of a file that is as the change expects it.
pub(super) struct Seen {
    /// Who may do what with it; `None` where there is no file yet.
    pub(super) looks: Option<Looks>,
}

/// Checks one file, before anything is done or once more.
///
/// # Errors
/// It differs, or may not be changed.
pub(super) fn verify(change: &FileChange, step: Step, steps: &Steps) -> Result<Seen, Mismatch> {
    let path = change.path();
    let differs = |what| Mismatch::new(path.clone(), what);
    let unreadable = |error: &io::Error| {
        differs(Difference::Unreadable {
            reason: io_reason(error),
        })
    };
    steps.before(step).map_err(|e| unreadable(&e))?;
    let place = match beneath::descend(path, Missing::Fail) {
        Ok(Some(place)) => place,
        Ok(None) => {
            return Err(differs(Difference::NotAFile {
                found: "a directory".to_owned(),
            }));
        }
        Err(Barrier::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            return match change.before() {
                Some(_) => Err(differs(Difference::Missing)),
                None => may_make(path).map(|()| Seen { looks: None }),
            };
        }
        Err(Barrier::Io(error)) => return Err(unreadable(&error)),
        Err(Barrier::Link(component)) => return Err(differs(Difference::Link { component })),
        Err(Barrier::NotADirectory(component)) => {
            return Err(differs(Difference::NotADirectory { component }));
        }
    };
    let stat = match beneath::stat_at(&place.folder, &place.name) {
        Ok(stat) => Some(stat),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(&error)),
    };
    let is_written = !change.is_unchanged();
    let seen = match (change.before(), stat) {
        (None, None) => Seen { looks: None },
        (Some(_), None) => return Err(differs(Difference::Missing)),
        (before, Some(stat)) => match (beneath::file_type(&stat), before) {
            (FileType::Symlink, _) => {
                return Err(differs(Difference::Link {
                    component: path.relative().to_owned(),
                }));
            }
            (_, None) => return Err(differs(Difference::Exists)),
            (FileType::RegularFile, Some(before)) => {
                let looks = compare(change, &place, before)?;
                if is_written {
                    beneath::may_write(&place.folder, &place.name, &looks.stat).map_err(
                        |locked| {
                            differs(match locked {
                                Locked::ForAll => Difference::ReadOnly,
                                Locked::ForUs(error) => Difference::NotPermitted {
                                    reason: io_reason(&error),
                                },
                            })
                        },
                    )?;
                }
                Seen { looks: Some(looks) }
            }
            (other, Some(_)) => {
                return Err(differs(Difference::NotAFile {
                    found: beneath::name_of(other).to_owned(),
                }));
            }
        },
    };
    if is_written {
        let folder = match path.relative().rsplit_once('/') {
            Some((folder, _)) => folder,
            None => ".",
        };
        may_change_entries(&place.folder).map_err(|reason| {
            differs(Difference::FolderReadOnly {
                folder: folder.to_owned(),
                reason,
            })
        })?;
    }
    Ok(seen)
}

/// Reads a file and compares every byte.
fn compare(change: &FileChange, place: &Place, before: &[u8]) -> Result<Looks, Mismatch> {
    let path = change.path();
    let read = || -> io::Result<Option<(Vec<u8>, Looks)>> {
        let Some((file, _)) = open_file(&place.folder, &place.name)? else {
            return Ok(None);
        };
        let looks = Looks::of(&file)?;
        // One byte more than expected tells that there are more; twice as many
        // may be the same with other line ends.
        let mut bytes = Vec::with_capacity(before.len() + 1);
        let most = before.len() as u64 * 2 + 1;
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some((bytes, looks)))
    };
    match read() {
        Ok(Some((bytes, looks))) => match Mismatch::between(path, before, &bytes) {
            Some(mismatch) => Err(mismatch),
            None => Ok(looks),
        },
        Ok(None) => Err(Mismatch::new(path.clone(), Difference::Missing)),
        Err(error) => {
            let reason = io_reason(&error);
            Err(Mismatch::new(
                path.clone(),
                Difference::Unreadable { reason },
            ))
        }
    }
}

/// Returns whether the deepest folder of `path` that exists may get a new one.
fn may_make(path: &WorkspacePath) -> Result<(), Mismatch> {
    let differs = |folder: &str, reason: String| {
        Mismatch::new(
            path.clone(),
            Difference::FolderReadOnly {
                folder: folder.to_owned(),
                reason,
            },
        )
    };
    let deepest = beneath::deepest_folder(path).map_err(|error| differs(".", io_reason(&error)))?;
    let name = if deepest.relative.is_empty() {
        "."
    } else {
        &deepest.relative
    };
    may_change_entries(&deepest.folder).map_err(|reason| differs(name, reason))
}

fn may_change_entries(folder: &OwnedFd) -> Result<(), String> {
    let access = Access::WRITE_OK | Access::EXEC_OK;
    rustix::fs::accessat(folder, ".", access, AtFlags::empty())
        .map_err(|error| io_reason(&error.into()))
}
