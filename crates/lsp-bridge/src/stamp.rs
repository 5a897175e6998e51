//! Tells whether a file may have changed since it was read.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How old a file must be before its times can be relied on: file systems count
/// in steps of up to some milliseconds, and two writes may fall into one.
const YOUNG: Duration = Duration::from_millis(100);

/// What the system says of a file, and when that was asked.
///
/// The change time is part of it, which no program can set: `cp -p` and fast
/// writes keep size and modification time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stamp {
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    inode: u64,
    device: u64,
    /// The file was so young that the next write may leave the same stamp.
    is_young: bool,
}

impl Stamp {
    /// Looks at a file; `None` where there is none.
    ///
    /// Must be taken *before* the file is read.
    pub(crate) fn take(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        metadata
            .is_file()
            .then(|| Self::of(&metadata, SystemTime::now()))
    }

    /// Looks at whatever is there, a folder too; a folder's stamp changes with
    /// the names in it.
    pub(crate) fn of_any(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self::of(&metadata, SystemTime::now()))
    }

    /// Reads it out of what was asked at `now`.
    pub(crate) fn of(metadata: &std::fs::Metadata, now: SystemTime) -> Self {
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Self {
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed,
            inode: metadata.ino(),
            device: metadata.dev(),
            is_young: is_young(changed, now),
        }
    }

    /// Returns the size in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns whether the file surely has not changed since `moment`.
    pub(crate) fn is_older_than(&self, moment: SystemTime) -> bool {
        let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = since.saturating_sub(YOUNG);
        i64::try_from(since.as_secs())
            .is_ok_and(|seconds| self.changed < (seconds, i64::from(since.subsec_nanos())))
    }

    /// Returns whether the file is surely what it was at `earlier`.
    pub(crate) fn is_unchanged_since(&self, earlier: &Self) -> bool {
        !earlier.is_young && self.looks_like(earlier)
    }

    /// Returns whether nothing that can be seen from outside is different.
    pub(crate) fn looks_like(&self, other: &Self) -> bool {
        (self.length, self.modified, self.changed) == (other.length, other.modified, other.changed)
            && (self.inode, self.device) == (other.inode, other.device)
    }
}

fn is_young((seconds, nanoseconds): (i64, i64), now: SystemTime) -> bool {
    let Ok(now) = now.duration_since(UNIX_EPOCH) else {
        return true;
    };
    let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u32::try_from(nanoseconds))
    else {
        return true;
    };
    let changed = Duration::new(seconds, nanoseconds.min(999_999_999));
    // A file from the future is young too.
    now.checked_sub(changed).is_none_or(|age| age < YOUNG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfall_59_same_size_and_time_are_not_enough() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.py");
        std::fs::write(&path, "a = 1").unwrap();
        let young = Stamp::take(&path).unwrap();
        assert!(young.looks_like(&Stamp::take(&path).unwrap()));
        assert!(!Stamp::take(&path).unwrap().is_unchanged_since(&young));

        let later = SystemTime::now() + Duration::from_secs(1);
        let settled = Stamp::of(&std::fs::metadata(&path).unwrap(), later);
        assert!(Stamp::take(&path).unwrap().is_unchanged_since(&settled));

        // As `cp -p` of another text of the same length would do.
        let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(Duration::from_millis(20)); // the clock of the file system must move
        std::fs::write(&path, "a = 2").unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        assert!(!Stamp::take(&path).unwrap().is_unchanged_since(&settled));
    }
}
