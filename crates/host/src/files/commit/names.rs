//! Files by their names in an open folder, no link ever followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::super::beneath;
use super::digest::Digest;

/// Renames within a folder, and never over another file.
pub(super) fn rename_to_free(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
    match rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        Ok(()) => return Ok(()),
        Err(error) if is_unsupported(&error.into()) => {}
        Err(error) => return Err(error.into()),
    }
    // A second name is refused where one exists; then the first one goes.
    match rustix::fs::linkat(folder, from, folder, to, AtFlags::empty()) {
        Ok(()) => Ok(rustix::fs::unlinkat(folder, from, AtFlags::empty())?),
        Err(Errno::EXIST) => Err(Errno::EXIST.into()),
        Err(_) => match beneath::stat_at(folder, to) {
            Ok(_) => Err(Errno::EXIST.into()),
            Err(_) => Ok(rustix::fs::renameat(folder, from, folder, to)?),
        },
    }
}

/// Makes a file that is not there yet.
pub(super) fn create(folder: &OwnedFd, name: &str, is_private: bool) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // What gets the looks of another file is nobody's to read until it has them.
    let mode = Mode::from_raw_mode(if is_private { 0o600 } else { 0o666 });
    Ok(File::from(rustix::fs::openat(folder, name, flags, mode)?))
}

/// Opens a regular file for reading; `None` where there is none.
pub(super) fn open_file(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<(File, Stat)>> {
    // Looked at before it is opened: opening a device may already act.
    match beneath::stat_at(folder, name) {
        Ok(stat) if beneath::file_type(&stat) == FileType::RegularFile => {}
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match rustix::fs::openat(folder, name, flags | OFlags::NOCTTY, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let stat = rustix::fs::fstat(&file)?;
    let is_regular = beneath::file_type(&stat) == FileType::RegularFile;
    Ok(is_regular.then(|| (File::from(file), stat)))
}

/// Returns whether `name` is a regular file with these bytes.
pub(super) fn holds(folder: &OwnedFd, name: &OsStr, digest: &Digest) -> io::Result<bool> {
    match open_file(folder, name)? {
        Some((mut file, stat)) => digest.is_of(&mut file, beneath::size_of(&stat)),
        None => Ok(false),
    }
}

/// Returns whether the file system, or the system, does not know an operation.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    let unsupported = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP];
    Errno::from_io_error(error).is_some_and(|error| unsupported.contains(&error))
}
