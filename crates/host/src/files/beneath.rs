//! Opens files component by component below the root, following no link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Component;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::{Access, AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::{FileKind, FileMetadata};
use crate::{Error, WorkspacePath};

/// How often a temporary name is changed when it is taken.
const NAME_ATTEMPTS: usize = 16;

pub(super) fn read(path: &WorkspacePath, limit: u64) -> Result<Vec<u8>, Error> {
    let action = "read";
    let Some((parent, name)) = open_parent(action, path, Missing::Fail)? else {
        return Err(not_a_file(action, path, FileType::Directory));
    };
    // Looked at before it is opened: opening a device may already act.
    let stat = stat_at(&parent, &name).map_err(io_error(action, path))?;
    expect_regular(action, path, &stat)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(&parent, &name, flags | OFlags::NOCTTY, Mode::empty())
        .map_err(io_error(action, path))?;
    let stat = rustix::fs::fstat(&file).map_err(io_error(action, path))?;
    expect_regular(action, path, &stat)?;

    let too_large = |bytes| Error::TooLarge {
        action,
        path: path.to_string(),
        bytes,
        limit,
    };
    let size = size_of(&stat);
    if size > limit {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // The file may grow while it is read.
    File::from(file)
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(io_error(action, path))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

pub(super) fn metadata(path: &WorkspacePath) -> Result<Option<FileMetadata>, Error> {
    let action = "look at";
    let stat = match open_parent(action, path, Missing::Fail) {
        Ok(Some((parent, name))) => stat_at(&parent, &name),
        Ok(None) => rustix::fs::stat(path.absolute()).map_err(Into::into),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let stat = match stat {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(action, path)(error)),
    };
    let kind = match file_type(&stat) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => return Err(became_a_link(path, path.relative())),
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => FileKind::Special,
    };
    Ok(Some(FileMetadata::new(
        kind,
        size_of(&stat),
        modified(&stat),
    )))
}

pub(super) fn write(path: &WorkspacePath, bytes: &[u8]) -> Result<(), Error> {
    let action = "write";
    let Some((parent, name)) = open_parent(action, path, Missing::Create)? else {
        return Err(not_a_file(action, path, FileType::Directory));
    };
    let old = match stat_at(&parent, &name) {
        Ok(stat) => {
            expect_regular(action, path, &stat)?;
            // A rename asks the folder for permission, not the file.
            rustix::fs::accessat(&parent, &name, Access::WRITE_OK, AtFlags::empty())
                .map_err(io_error(action, path))?;
            Some(stat)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(io_error(action, path)(error)),
    };
    let (temporary, file) = create_beside(&parent).map_err(io_error(action, path))?;
    let replaced = fill(file, bytes, old.as_ref())
        .and_then(|()| Ok(rustix::fs::renameat(&parent, &temporary, &parent, &name)?));
    if let Err(error) = replaced {
        // The first error is the one to report; a leftover is harmless.
        let _ = rustix::fs::unlinkat(&parent, &temporary, AtFlags::empty());
        return Err(io_error(action, path)(error));
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fail,
    Create,
}

/// Opens the folder of `path`; `None` when `path` is the root itself.
fn open_parent(
    action: &'static str,
    path: &WorkspacePath,
    missing: Missing,
) -> Result<Option<(OwnedFd, OsString)>, Error> {
    let root = path.workspace().root();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    let flags = flags | OFlags::PATH; // a folder that may be searched but not listed
    let mut folder =
        rustix::fs::open(root, flags, Mode::empty()).map_err(io_error(action, path))?;

    let below = path
        .absolute()
        .strip_prefix(root)
        .unwrap_or(path.absolute());
    let mut names = below.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    let Some(mut name) = names.next() else {
        return Ok(None);
    };
    let mut so_far = String::new();
    for next in names {
        so_far.push_str(&name.to_string_lossy());
        let opened = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if missing == Missing::Create => make_folder(&folder, name)
                .and_then(|()| rustix::fs::openat(&folder, name, flags, Mode::empty())),
            opened => opened,
        };
        folder = match opened {
            Ok(opened) => opened,
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(match stat_at(&folder, name) {
                    Ok(stat) if file_type(&stat) == FileType::Symlink => {
                        became_a_link(path, &so_far)
                    }
                    _ => Error::NotADirectory {
                        path: path.to_string(),
                        component: so_far,
                    },
                });
            }
            Err(error) => return Err(io_error(action, path)(error)),
        };
        so_far.push('/');
        name = next;
    }
    Ok(Some((folder, name.to_owned())))
}

fn make_folder(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
        Err(Errno::EXIST) => Ok(()), // someone else was faster
        made => made,
    }
}

fn create_beside(folder: &OwnedFd) -> io::Result<(String, File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut last = Errno::EXIST;
    for _ in 0..NAME_ATTEMPTS {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".toolset-{}-{count}.tmp", std::process::id());
        match rustix::fs::openat(folder, &name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => return Ok((name, File::from(file))),
            Err(Errno::EXIST) => last = Errno::EXIST,
            Err(error) => return Err(error.into()),
        }
    }
    Err(last.into())
}

fn fill(mut file: File, bytes: &[u8], old: Option<&Stat>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(old) = old {
        let new = rustix::fs::fstat(&file)?;
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
            // Only root may give files away; for others the owner changes, as
            // with every editor that saves by renaming.
            let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
            let _ = rustix::fs::fchown(&file, Some(owner), Some(group));
        }
        rustix::fs::fchmod(&file, Mode::from_raw_mode(old.st_mode))?;
    }
    file.sync_data()
}

fn stat_at(folder: &OwnedFd, name: impl rustix::path::Arg) -> io::Result<Stat> {
    Ok(rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn modified(stat: &Stat) -> Option<SystemTime> {
    let seconds = u64::try_from(stat.st_mtime).ok()?;
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

fn expect_regular(action: &'static str, path: &WorkspacePath, stat: &Stat) -> Result<(), Error> {
    match file_type(stat) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(became_a_link(path, path.relative())),
        other => Err(not_a_file(action, path, other)),
    }
}

fn not_a_file(action: &'static str, path: &WorkspacePath, found: FileType) -> Error {
    Error::NotAFile {
        action,
        path: path.to_string(),
        found: match found {
            FileType::Directory => "a directory",
            FileType::Fifo => "a named pipe",
            FileType::Socket => "a socket",
            FileType::CharacterDevice | FileType::BlockDevice => "a device",
            FileType::RegularFile | FileType::Symlink | FileType::Unknown => "something else",
        },
    }
}

fn became_a_link(path: &WorkspacePath, component: &str) -> Error {
    Error::Changed {
        path: path.to_string(),
        change: format!("`{component}` became a symbolic link"),
    }
}

fn io_error<E: Into<io::Error>>(action: &'static str, path: &WorkspacePath) -> impl Fn(E) -> Error {
    let path = path.to_string();
    move |source| Error::Io {
        action,
        path: path.clone(),
        source: source.into(),
    }
}
