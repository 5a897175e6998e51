//! One file of a change on disk: the file itself and, beside it, the names for
//! its new bytes before the change and its old bytes after it.
//!
//! Whatever replaces a file leaves what was there under one of these names, and
//! looks at it: where it is not what was expected, it is put back. So bytes that
//! somebody else wrote in the meantime are never lost.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, RenameFlags};
use rustix::io::Errno;

use super::super::beneath::{self, Barrier, Missing, Place};
use super::super::looks::{Looks, Lost};
use super::digest::Digest;
use super::names::{create, holds, is_unsupported, open_file, rename_to_free};
use super::steps::{Step, Steps};
use crate::WorkspacePath;

/// Why a file is left alone that was written to during the change.
const CHANGED_MEANWHILE: &str = "somebody changed it meanwhile";

/// One file of a change, as the journal names it.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) path: WorkspacePath,
    pub(super) old: Option<Digest>,
    pub(super) new: Option<Digest>,
    /// The name of the file that is filled with the new bytes.
    staged: String,
    /// The name that the old file gets where the two cannot be swapped.
    kept: String,
    /// The name of a copy of the old file that is not complete yet.
    partial: String,
}

/// Which of its two contents a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Old,
    New,
    /// Neither: what is there instead.
    Other(String),
}

/// Why a step on one file did not happen.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Something else is there; it was left, or put back, as it is.
    Other(String),
    /// The system refused.
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errno> for Refusal {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

impl Slot {
    /// Names file `index` of the change `id`.
    pub(super) fn new(
        path: WorkspacePath,
        (old, new): (Option<Digest>, Option<Digest>),
        id: &str,
        index: usize,
    ) -> Self {
        Self {
            path,
            old,
            new,
            staged: format!(".toolset-{id}-{index}.tmp"),
            kept: format!(".toolset-{id}-{index}.old"),
            partial: format!(".toolset-{id}-{index}.part"),
        }
    }

    /// Opens the folder that the file is in.
    pub(super) fn open(&self) -> Result<Place, Refusal> {
        match beneath::descend(&self.path, Missing::Fail) {
            Ok(Some(place)) => Ok(place),
            Ok(None) => Err(Refusal::Other("it is the root".to_owned())),
            Err(Barrier::Link(component)) => Err(Refusal::Other(format!(
                "`{component}` is a symbolic link now"
            ))),
            Err(Barrier::NotADirectory(component)) => {
                Err(Refusal::Other(format!("`{component}` is not a directory")))
            }
            Err(Barrier::Io(error)) => Err(Refusal::Io(error)),
        }
    }

    /// Writes the new bytes to a file beside the old one, which looks like `like`.
    pub(super) fn stage(
        &self,
        bytes: &[u8],
        like: Option<&Looks>,
        steps: &Steps,
    ) -> Result<Lost, Refusal> {
        let place = self.open()?;
        steps.before(Step::Stage)?;
        let mut file = create(&place.folder, &self.staged, like.is_some())?;
        // In two halves, so that tests can stop between them.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        file.write_all(first)?;
        steps.before(Step::Stage)?;
        file.write_all(second)?;
        let lost = match like {
            Some(like) => like.give_to(&file)?,
            None => Lost::default(),
        };
        steps.sync_contents(&file)?;
        Ok(lost)
    }

    /// Puts the new content in the place of the old.
    pub(super) fn install(&self, steps: &Steps) -> Result<(), Refusal> {
        let place = self.open()?;
        match (&self.old, &self.new) {
            (Some(old), Some(_)) => self.replace(&place, (&self.staged, &self.kept), old, steps),
            (None, Some(_)) => appear(&place, &self.staged, steps),
            (Some(old), None) => vanish(&place, &self.kept, old, steps),
            (None, None) => Ok(()),
        }
    }

    /// Puts the old content back; the file holds the new one.
    ///
    /// Where the change took away something else than the old content, that is
    /// put back, and the refusal says so.
    pub(super) fn restore(&self, steps: &Steps) -> Result<(), Refusal> {
        let place = self.open()?;
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                if holds(&place.folder, self.kept.as_ref(), old)? {
                    return self.replace(&place, (&self.kept, &self.staged), new, steps);
                }
                let is_old = holds(&place.folder, self.staged.as_ref(), old)?;
                if !is_old && open_file(&place.folder, self.staged.as_ref())?.is_none() {
                    return Err(Refusal::Other("its old bytes are gone".to_owned()));
                }
                self.replace(&place, (&self.staged, &self.kept), new, steps)?;
                if is_old {
                    Ok(())
                } else {
                    Err(Refusal::Other(CHANGED_MEANWHILE.to_owned()))
                }
            }
            (None, Some(new)) => {
                if self.is_of_others(&place)? {
                    return Err(Refusal::Other("somebody made it meanwhile".to_owned()));
                }
                vanish(&place, &self.kept, new, steps)
            }
            (Some(_), None) => {
                if open_file(&place.folder, self.kept.as_ref())?.is_none() {
                    return Err(Refusal::Other("somebody removed it since".to_owned()));
                }
                appear(&place, &self.kept, steps)
            }
            (None, None) => Ok(()),
        }
    }

    /// Returns whether a file with our new bytes is not the one that was staged:
    /// that one still waits beside it.
    fn is_of_others(&self, place: &Place) -> io::Result<bool> {
        let Some((_, staged)) = open_file(&place.folder, self.staged.as_ref())? else {
            return Ok(false);
        };
        let there = beneath::stat_at(&place.folder, &place.name)?;
        Ok((staged.st_dev, staged.st_ino) != (there.st_dev, there.st_ino))
    }

    /// Says which content the file holds.
    pub(super) fn standing(&self) -> Result<Standing, Refusal> {
        let place = match self.open() {
            Ok(place) => place,
            // Its folder was never made, or is gone.
            Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(self.absent());
            }
            Err(Refusal::Other(why)) => return Ok(Standing::Other(why)),
            Err(error) => return Err(error),
        };
        let stat = match beneath::stat_at(&place.folder, &place.name) {
            Ok(stat) => stat,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self.absent()),
            Err(error) => return Err(error.into()),
        };
        match beneath::file_type(&stat) {
            FileType::RegularFile => {}
            FileType::Symlink => return Ok(Standing::Other("it is a symbolic link now".into())),
            other => {
                return Ok(Standing::Other(format!(
                    "it is {} now",
                    beneath::name_of(other)
                )));
            }
        }
        for (digest, standing) in [(&self.new, Standing::New), (&self.old, Standing::Old)] {
            let Some(digest) = digest else { continue };
            match holds(&place.folder, &place.name, digest) {
                Ok(true) => return Ok(standing),
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    let reason = crate::error::io_reason(&error);
                    return Ok(Standing::Other(format!("it cannot be read: {reason}")));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Standing::Other("somebody changed it since".to_owned()))
    }

    fn absent(&self) -> Standing {
        match (&self.old, &self.new) {
            (_, None) => Standing::New,
            (None, Some(_)) => Standing::Old,
            (Some(_), Some(_)) => Standing::Other("somebody removed it since".to_owned()),
        }
    }

    /// Returns whether what the change took away is still beside the file.
    pub(super) fn has_old(&self) -> Result<bool, Refusal> {
        let name = match (&self.old, &self.new) {
            (None, _) => return Ok(true),
            (Some(_), Some(_)) => &self.staged,
            (Some(_), None) => &self.kept,
        };
        Ok(self.has(name, None)? || self.has(&self.kept, self.old.as_ref())?)
    }

    /// Returns whether the new content is ready beside the file.
    pub(super) fn has_new(&self) -> Result<bool, Refusal> {
        match &self.new {
            None => Ok(true),
            Some(new) => self.has(&self.staged, Some(new)),
        }
    }

    /// Returns whether the old content, and nothing else, is beside the file.
    pub(super) fn took_old(&self) -> Result<bool, Refusal> {
        match &self.old {
            None => Ok(true),
            Some(old) => Ok(self.has(&self.staged, Some(old))? || self.has(&self.kept, Some(old))?),
        }
    }

    /// Returns whether there is a file `name`, with these bytes where it matters.
    fn has(&self, name: &str, digest: Option<&Digest>) -> Result<bool, Refusal> {
        let place = match self.open() {
            Ok(place) => place,
            Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(false);
            }
            Err(Refusal::Other(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        Ok(match digest {
            Some(digest) => holds(&place.folder, name.as_ref(), digest)?,
            None => open_file(&place.folder, name.as_ref())?.is_some(),
        })
    }

    /// Removes what is beside the file.
    pub(super) fn clean(&self, steps: &Steps) -> Result<(), Refusal> {
        let place = match self.open() {
            Ok(place) => place,
            Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let folder = &place.folder;
        if !self.is_ours(folder, &self.kept)? {
            return Err(Refusal::Other(format!(
                "what somebody else wrote to it is in `{}`",
                self.kept
            )));
        }
        for name in [&self.staged, &self.kept, &self.partial] {
            match beneath::stat_at(folder, name) {
                Ok(_) => steps.before(Step::Clean)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            }
            match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns whether `name` is missing, or holds the old or the new bytes.
    fn is_ours(&self, folder: &OwnedFd, name: &str) -> io::Result<bool> {
        if open_file(folder, name.as_ref())?.is_none() {
            return Ok(true);
        }
        for digest in [&self.old, &self.new].into_iter().flatten() {
            if holds(folder, name.as_ref(), digest)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts the file `source` in the place of the file, which is to hold
    /// `expected`. What was there is left under `source` or, where the file
    /// system cannot swap, under `spare`.
    fn replace(
        &self,
        place: &Place,
        (source, spare): (&str, &str),
        expected: &Digest,
        steps: &Steps,
    ) -> Result<(), Refusal> {
        let Place { folder, name } = place;
        let exchange = || {
            steps.before(Step::Exchange)?;
            rustix::fs::renameat_with(folder, source, folder, name, RenameFlags::EXCHANGE)?;
            Ok::<(), io::Error>(())
        };
        match exchange() {
            Ok(()) => match holds(folder, source.as_ref(), expected) {
                Ok(true) => Ok(()),
                Ok(false) => {
                    exchange()?;
                    Err(Refusal::Other(CHANGED_MEANWHILE.to_owned()))
                }
                Err(error) => {
                    exchange()?;
                    Err(error.into())
                }
            },
            Err(error) if is_unsupported(&error) => {
                let link = || {
                    steps.before(Step::Link)?;
                    rustix::fs::linkat(folder, name, folder, spare, AtFlags::empty())?;
                    Ok::<(), io::Error>(())
                };
                if link().is_err() {
                    self.copy(folder, name, spare, steps)?;
                }
                if !holds(folder, spare.as_ref(), expected)? {
                    steps.before(Step::Clean)?;
                    rustix::fs::unlinkat(folder, spare, AtFlags::empty())?;
                    return Err(Refusal::Other(CHANGED_MEANWHILE.to_owned()));
                }
                steps.before(Step::Rename)?;
                Ok(rustix::fs::renameat(folder, source, folder, name)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Copies a file within a folder, with its looks.
    fn copy(&self, folder: &OwnedFd, from: &OsStr, to: &str, steps: &Steps) -> Result<(), Refusal> {
        steps.before(Step::Copy)?;
        let Some((mut old, _)) = open_file(folder, from)? else {
            return Err(Refusal::Other("it is no regular file any more".to_owned()));
        };
        // An earlier try may have left one.
        let _ = rustix::fs::unlinkat(folder, &self.partial, AtFlags::empty());
        let mut file = create(folder, &self.partial, true)?;
        io::copy(&mut old, &mut file)?;
        Looks::of(&old)?.give_to(&file)?;
        steps.sync_contents(&file)?;
        steps.before(Step::Rename)?;
        Ok(rustix::fs::renameat(folder, &self.partial, folder, to)?)
    }
}

/// Gives the file `source` the name of `place`, which nothing has.
fn appear(place: &Place, source: &str, steps: &Steps) -> Result<(), Refusal> {
    steps.before(Step::Rename)?;
    match rename_to_free(&place.folder, source.as_ref(), &place.name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Refusal::Other("somebody made it meanwhile".to_owned()))
        }
        renamed => Ok(renamed?),
    }
}

/// Takes the file of `place`, which is to hold `expected`, away to `spare`.
fn vanish(place: &Place, spare: &str, expected: &Digest, steps: &Steps) -> Result<(), Refusal> {
    let Place { folder, name } = place;
    steps.before(Step::Rename)?;
    rename_to_free(folder, name, spare.as_ref())?;
    if holds(folder, spare.as_ref(), expected)? {
        return Ok(());
    }
    steps.before(Step::Rename)?;
    rename_to_free(folder, spare.as_ref(), name)?;
    Err(Refusal::Other(CHANGED_MEANWHILE.to_owned()))
}
