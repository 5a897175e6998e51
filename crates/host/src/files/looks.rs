//! Who may do what with a file: what a new file takes over from the one that it
//! is to replace.

use std::fs::File;
use std::io;

use rustix::fs::{Gid, Mode, Stat, Uid};

/// Owner, group, mode and access list of a file.
#[derive(Clone)]
pub(super) struct Looks {
    pub(super) stat: Stat,
    /// The access list as the system writes it; `None` where the mode says all.
    access_list: Option<Vec<u8>>,
}

/// What a new file could not keep of the one it is to replace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    /// The owner or the group.
    pub(super) owner: bool,
    /// The bit that makes a program run as its owner or its group.
    pub(super) privilege: bool,
}

impl Looks {
    /// Looks at an open file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self {
            stat: rustix::fs::fstat(file)?,
            access_list: access_list::read(file)?,
        })
    }

    /// Knows no more than `stat`: for a file that cannot be opened.
    pub(super) fn without_access_list(stat: Stat) -> Self {
        Self {
            stat,
            access_list: None,
        }
    }

    /// Gives them to a new file, owner and group where the system permits.
    ///
    /// A program that runs as its owner (or its group) does so only as long as
    /// that owner is kept: new bytes never run as somebody who did not own the
    /// old ones.
    pub(super) fn give_to(&self, file: &File) -> io::Result<Lost> {
        let old = &self.stat;
        let is_kept = |new: &Stat| (new.st_uid == old.st_uid, new.st_gid == old.st_gid);
        let mut kept = is_kept(&rustix::fs::fstat(file)?);
        if kept != (true, true) {
            // Only root may give files away; for others the owner changes, as
            // with every editor that saves by renaming. The group may work alone.
            let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
            if rustix::fs::fchown(file, Some(owner), Some(group)).is_err() {
                let _ = rustix::fs::fchown(file, None, Some(group));
            }
            kept = is_kept(&rustix::fs::fstat(file)?);
        }
        // A folder may have given the new file a list that the old one had not.
        access_list::write(file, self.access_list.as_deref())?;
        let old_mode = Mode::from_raw_mode(old.st_mode);
        let mut mode = old_mode;
        if !kept.0 {
            mode.remove(Mode::SUID);
        }
        if !kept.1 {
            mode.remove(Mode::SGID);
        }
        // After the owner, whose change clears these bits, and after the list,
        // whose mask is in the mode.
        rustix::fs::fchmod(file, mode)?;
        Ok(Lost {
            owner: kept != (true, true),
            privilege: mode != old_mode,
        })
    }
}

/// Access lists: with one, the group bits of the mode are only the upper bound of
/// what the list grants, so that the mode alone would grant too much.
///
/// Source: acl(5), "Correspondence between ACL entries and file permission bits".
#[cfg(target_os = "linux")]
pub(super) mod access_list {
    use std::fs::File;
    use std::io;

    use rustix::fs::XattrFlags;
    use rustix::io::Errno;

    /// The attribute that the system keeps the list in.
    pub(in crate::files) const NAME: &str = "system.posix_acl_access";
    /// No list is larger than what an attribute may hold.
    const MAX_BYTES: usize = 64 * 1024;

    pub(super) fn read(file: &File) -> io::Result<Option<Vec<u8>>> {
        for size in [256, MAX_BYTES] {
            let mut list = vec![0; size];
            match rustix::fs::fgetxattr(file, NAME, list.as_mut_slice()) {
                Ok(len) => {
                    list.truncate(len);
                    return Ok(Some(list));
                }
                Err(Errno::RANGE) => {}
                Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Err(Errno::RANGE.into())
    }

    pub(super) fn write(file: &File, list: Option<&[u8]>) -> io::Result<()> {
        match list {
            Some(list) => Ok(rustix::fs::fsetxattr(
                file,
                NAME,
                list,
                XattrFlags::empty(),
            )?),
            None => match rustix::fs::fremovexattr(file, NAME) {
                Ok(()) | Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => Ok(()),
                Err(error) => Err(error.into()),
            },
        }
    }
}

/// Elsewhere the lists come on top of the mode, and are not copied.
#[cfg(not(target_os = "linux"))]
mod access_list {
    use std::fs::File;
    use std::io;

    #[expect(clippy::unnecessary_wraps, reason = "as where there are such lists")]
    pub(super) fn read(_file: &File) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    #[expect(clippy::unnecessary_wraps, reason = "as where there are such lists")]
    pub(super) fn write(_file: &File, _list: Option<&[u8]>) -> io::Result<()> {
        Ok(())
    }
}
