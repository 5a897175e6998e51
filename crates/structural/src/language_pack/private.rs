//! Who else could change what is about to be loaded.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Anybody but the owner may write.
const GROUP_OR_OTHERS: u32 = 0o022;
/// Anybody at all may write.
const OTHERS: u32 = 0o002;
/// What is in the folder may be renamed by its owner only.
const STICKY: u32 = 0o1000;

/// Refuses a file that is not one, that leads into the workspace at `root`, or
/// that another user could change or replace.
pub(super) fn check_file(file: &Path, root: &Path) -> Result<(), String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "what a link leads to is what is loaded, wherever that is"
    )]
    let file = std::fs::canonicalize(file).map_err(|error| error.to_string())?;
    if file.starts_with(root) {
        return Err(format!(
            "it leads into the workspace, to `{}`; keep grammars outside",
            file.display()
        ));
    }
    if !metadata(&file)?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    check(&file)
}

/// Refuses a path, with its links resolved, that another user could change or
/// replace.
pub(super) fn check(path: &Path) -> Result<(), String> {
    let own = metadata(path)?;
    let user = rustix::process::geteuid().as_raw();
    if own.uid() != user && own.uid() != 0 {
        return Err(format!(
            "`{}` belongs to another user (number {}); take a copy of your own",
            path.display(),
            own.uid()
        ));
    }
    refuse_mode(path, &own, GROUP_OR_OTHERS)?;
    for folder in path.ancestors().skip(1) {
        let metadata = metadata(folder)?;
        if metadata.permissions().mode() & STICKY == 0 {
            refuse_mode(folder, &metadata, OTHERS)?;
        }
    }
    Ok(())
}

fn refuse_mode(path: &Path, metadata: &Metadata, writers: u32) -> Result<(), String> {
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & writers == 0 {
        return Ok(());
    }
    Err(format!(
        "other users may write to `{}` (mode {mode:o}); `chmod go-w` it",
        path.display()
    ))
}

fn metadata(path: &Path) -> Result<Metadata, String> {
    std::fs::metadata(path).map_err(|error| format!("cannot look at `{}`: {error}", path.display()))
}
