//! Opens files component by component below the root, following no link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Component;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::looks::Looks;
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
            if may_write(&parent, &name, &stat).is_err() {
                return Err(io_error(action, path)(Errno::ACCESS));
            }
            Some(looks_at(&parent, &name, stat).map_err(io_error(action, path))?)
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
pub(super) enum Missing {
    Fail,
    Create,
}

/// A file by its folder, opened without following links, and its name there.
pub(super) struct Place {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
}

/// Why the folder of a file cannot be reached.
pub(super) enum Barrier {
    /// This component, relative to the root, is a symbolic link.
    Link(String),
    /// This component is no directory.
    NotADirectory(String),
    /// The system refused.
    Io(io::Error),
}

impl Barrier {
    /// Returns the cause as the system would name it.
    pub(super) fn into_io(self) -> io::Error {
        match self {
            Self::Link(_) => Errno::LOOP.into(),
            Self::NotADirectory(_) => Errno::NOTDIR.into(),
            Self::Io(error) => error,
        }
    }

    fn into_error(self, action: &'static str, path: &WorkspacePath) -> Error {
        match self {
            Self::Link(component) => became_a_link(path, &component),
            Self::NotADirectory(component) => Error::NotADirectory {
                path: path.to_string(),
                component,
            },
            Self::Io(error) => io_error(action, path)(error),
        }
    }
}

/// Opens the folder of `path`; `None` when `path` is the root itself.
fn open_parent(
    action: &'static str,
    path: &WorkspacePath,
    missing: Missing,
) -> Result<Option<(OwnedFd, OsString)>, Error> {
    match descend(path, missing) {
        Ok(place) => Ok(place.map(|place| (place.folder, place.name))),
        Err(barrier) => Err(barrier.into_error(action, path)),
    }
}

/// Opens the root of the workspace.
pub(super) fn open_root(path: &WorkspacePath) -> io::Result<OwnedFd> {
    let root = path.workspace().root();
    Ok(rustix::fs::open(root, folder_flags(), Mode::empty())?)
}

fn folder_flags() -> OFlags {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    let flags = flags | OFlags::PATH; // a folder that may be searched but not listed
    flags
}

/// Returns the names on the way from the root to `path`.
pub(super) fn names(path: &WorkspacePath) -> impl Iterator<Item = &OsStr> {
    let root = path.workspace().root();
    let below = path
        .absolute()
        .strip_prefix(root)
        .unwrap_or(path.absolute());
    below.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    })
}

/// Opens the folder of `path`; `None` when `path` is the root itself.
pub(super) fn descend(path: &WorkspacePath, missing: Missing) -> Result<Option<Place>, Barrier> {
    let mut folder = open_root(path).map_err(Barrier::Io)?;
    let mut names = names(path);
    let Some(mut name) = names.next() else {
        return Ok(None);
    };
    let mut so_far = String::new();
    for next in names {
        so_far.push_str(&name.to_string_lossy());
        let opened = match open_folder(&folder, name) {
            Err(Errno::NOENT) if missing == Missing::Create => {
                make_folder(&folder, name).and_then(|()| open_folder(&folder, name))
            }
            opened => opened,
        };
        folder = opened.map_err(|error| barrier(error, &folder, name, &so_far))?;
        so_far.push('/');
        name = next;
    }
    Ok(Some(Place {
        folder,
        name: name.to_owned(),
    }))
}

/// The deepest folder on the way to a file that exists.
pub(super) struct Deepest {
    pub(super) folder: OwnedFd,
    /// Its path from the root; empty for the root.
    pub(super) relative: String,
    /// The names of the folders that are missing below it, outermost first.
    pub(super) missing: Vec<OsString>,
}

/// Finds the deepest folder on the way to `path` that exists.
pub(super) fn deepest_folder(path: &WorkspacePath) -> io::Result<Deepest> {
    let mut deepest = Deepest {
        folder: open_root(path)?,
        relative: String::new(),
        missing: Vec::new(),
    };
    let mut names: Vec<&OsStr> = names(path).collect();
    names.pop(); // the file itself
    for name in names {
        if deepest.missing.is_empty() {
            match open_folder(&deepest.folder, name) {
                Ok(folder) => {
                    deepest.folder = folder;
                    if !deepest.relative.is_empty() {
                        deepest.relative.push('/');
                    }
                    deepest.relative.push_str(&name.to_string_lossy());
                    continue;
                }
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        deepest.missing.push(name.to_owned());
    }
    Ok(deepest)
}

/// Opens one folder in another, where it is no link.
pub(super) fn open_folder(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(folder, name, folder_flags(), Mode::empty())
}

/// Says why the component `name` of `folder` could not be opened as a folder.
pub(super) fn barrier(error: Errno, folder: &OwnedFd, name: &OsStr, so_far: &str) -> Barrier {
    match error {
        Errno::LOOP | Errno::NOTDIR => match stat_at(folder, name) {
            Ok(stat) if file_type(&stat) == FileType::Symlink => Barrier::Link(so_far.to_owned()),
            _ => Barrier::NotADirectory(so_far.to_owned()),
        },
        error => Barrier::Io(error.into()),
    }
}

pub(super) fn make_folder(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
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

/// Looks at a regular file, as far as it may be opened.
fn looks_at(folder: &OwnedFd, name: &OsStr, stat: Stat) -> io::Result<Looks> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    match rustix::fs::openat(folder, name, flags | OFlags::NOCTTY, Mode::empty()) {
        Ok(file) => Looks::of(&File::from(file)),
        Err(_) => Ok(Looks::without_access_list(stat)),
    }
}

fn fill(mut file: File, bytes: &[u8], old: Option<&Looks>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(old) = old {
        old.give_to(&file)?;
    }
    file.sync_data()
}

pub(super) fn stat_at(folder: &OwnedFd, name: impl rustix::path::Arg) -> io::Result<Stat> {
    Ok(rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

pub(super) fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub(super) fn size_of(stat: &Stat) -> u64 {
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
        found: name_of(found),
    }
}

/// Returns whether a file may be replaced as far as the file itself says.
///
/// A rename asks the folder for permission, not the file. A file that nobody
/// may write is meant to stay as it is, even where the superuser could.
pub(super) fn may_write(folder: &OwnedFd, name: &OsStr, stat: &Stat) -> Result<(), Locked> {
    let anybody = Mode::WUSR | Mode::WGRP | Mode::WOTH;
    if !Mode::from_raw_mode(stat.st_mode).intersects(anybody) {
        return Err(Locked::ForAll);
    }
    rustix::fs::accessat(folder, name, Access::WRITE_OK, AtFlags::empty())
        .map_err(|error| Locked::ForUs(error.into()))
}

/// Why a file may not be replaced.
pub(super) enum Locked {
    /// Nobody may write it.
    ForAll,
    /// We may not.
    ForUs(io::Error),
}

/// Names what is no regular file, with its article.
pub(super) fn name_of(found: FileType) -> &'static str {
    match found {
        FileType::Directory => "a directory",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::RegularFile | FileType::Symlink | FileType::Unknown => "something else",
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
