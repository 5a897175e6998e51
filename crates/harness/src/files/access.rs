//! How the file tools reach the disk: confined, whole files at a time, and
//! several files changed together or not at all.

use std::sync::Arc;

use host::{
    ChangeSet, Difference, FileChange, FileKind, HarnessFiles, Mismatch, Outcome, Workspace,
    WorkspacePath,
};
use serde::Serialize;
use serde_json::Value;
use tiers::{CallContext, ToolError, visible};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Bytes looked at to tell text from binary data.
const SNIFFED_BYTES: usize = 8 * 1024;

/// The version of the details of the file tools.
pub(crate) const DETAILS_VERSION: u32 = 1;

/// The files of one run.
#[derive(Clone)]
pub(crate) struct Access {
    workspace: Workspace,
    files: Arc<dyn HarnessFiles>,
    /// One change at a time: each reads, decides and writes while it holds this.
    turn: Arc<Mutex<()>>,
}

/// The right to change files, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _guard: OwnedMutexGuard<()>,
}

/// What is at a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A text file.
    Text {
        /// Its text.
        text: String,
        /// Whether bytes that are not UTF-8 were replaced.
        is_lossy: bool,
    },
    /// A folder.
    Folder(Vec<Entry>),
}

/// One entry of a folder.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) is_folder: bool,
}

/// The change of one file.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) path: WorkspacePath,
    /// What the file holds now; `None` where there is none.
    pub(crate) before: Option<Vec<u8>>,
    /// What it is to hold; `None` removes it.
    pub(crate) after: Option<Vec<u8>>,
    /// The file whose permissions a new one gets: where it was moved from.
    pub(crate) like: Option<WorkspacePath>,
}

impl Access {
    /// Gives access to the files of `workspace`.
    pub(crate) fn new(workspace: Workspace, files: Arc<dyn HarnessFiles>) -> Self {
        Self {
            workspace,
            files,
            turn: Arc::default(),
        }
    }

    /// Resolves a path that the model gave.
    pub(crate) fn resolve(&self, path: &str) -> Result<WorkspacePath, ToolError> {
        Ok(self.workspace.resolve(path)?)
    }

    /// Returns the workspace paths among `paths`; the call itself reports the others.
    pub(crate) fn named<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        paths
            .into_iter()
            .filter_map(|path| self.workspace.resolve(path).ok())
            .map(|path| path.relative().to_owned())
            .collect()
    }

    /// Waits until no other call changes files.
    pub(crate) async fn turn(&self, context: &CallContext) -> Result<Turn, ToolError> {
        tokio::select! {
            biased;
            () = context.token().cancelled() => {
                Err(ToolError::cancelled(format!("`{}` was cancelled", context.tool()))
                    .why("before it changed anything"))
            }
            guard = Arc::clone(&self.turn).lock_owned() => Ok(Turn { _guard: guard }),
        }
    }

    /// Returns what is at `path`, to be shown.
    pub(crate) async fn look(&self, path: &WorkspacePath) -> Result<Found, ToolError> {
        let is_folder = self
            .files
            .metadata(path)
            .await?
            .is_some_and(|metadata| metadata.kind == FileKind::Directory);
        if is_folder {
            return self.entries(path).await.map(Found::Folder);
        }
        let bytes = self.files.read(path).await?;
        refuse_binary("read", path, &bytes)?;
        Ok(match String::from_utf8(bytes) {
            Ok(text) => Found::Text {
                text,
                is_lossy: false,
            },
            Err(error) => Found::Text {
                text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                is_lossy: true,
            },
        })
    }

    async fn entries(&self, path: &WorkspacePath) -> Result<Vec<Entry>, ToolError> {
        path.recheck()?;
        let absolute = path.absolute().to_owned();
        let listed = tokio::task::spawn_blocking(move || -> std::io::Result<Vec<Entry>> {
            let mut entries = Vec::new();
            for entry in std::fs::read_dir(absolute)? {
                let entry = entry?;
                entries.push(Entry {
                    name: entry.file_name().to_string_lossy().into_owned(),
                    is_folder: entry.file_type()?.is_dir(),
                });
            }
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(entries)
        });
        let failed = |error: &dyn std::fmt::Display| {
            ToolError::failed(format!("cannot list `{path}`")).why(error)
        };
        match listed.await {
            Ok(Ok(entries)) => Ok(entries),
            Ok(Err(error)) => Err(failed(&error).source(error)),
            Err(error) => Err(failed(&error).source(error)),
        }
    }

    /// Returns the bytes of a file, or `None` where nothing is.
    pub(crate) async fn bytes(&self, path: &WorkspacePath) -> Result<Option<Vec<u8>>, ToolError> {
        match self.files.metadata(path).await? {
            None => Ok(None),
            Some(metadata) if metadata.kind == FileKind::Directory => Err(
                ToolError::invalid_input(format!("cannot use `{path}` as a file"))
                    .why("it is a folder")
                    .next("name a file"),
            ),
            Some(_) => Ok(Some(self.files.read(path).await?)),
        }
    }

    /// Returns the text of a file that must exist.
    pub(crate) async fn existing_text(
        &self,
        action: &str,
        path: &WorkspacePath,
    ) -> Result<String, ToolError> {
        let Some(bytes) = self.bytes(path).await? else {
            return Err(ToolError::not_found(format!("cannot {action} `{path}`"))
                .why("there is no such file")
                .next(
                    "check the path with `read` on its folder, or create the file with `write`",
                ));
        };
        to_text(action, path, bytes)
    }

    /// Carries out `changes`, all of them or none.
    ///
    /// Not cut in half by a cancellation. Where a later change fails, the
    /// earlier ones are taken back, and the error says so.
    pub(crate) async fn apply(
        &self,
        context: &CallContext,
        turn: Turn,
        changes: Vec<Change>,
    ) -> Result<Applied, ToolError> {
        let mut set = ChangeSet::new(context.tool());
        for change in changes {
            set.push(change.into_file_change()?)?;
        }
        let files = Arc::clone(&self.files);
        let outcome = context
            .run_to_completion(async move {
                let _turn = turn;
                files.apply(set).await
            })
            .await??;
        match outcome {
            Outcome::Applied(applied) => Ok(Applied {
                notes: applied
                    .notes
                    .iter()
                    .map(|note| format!("note: {}\n", visible(note)))
                    .collect(),
                touched: applied
                    .touched
                    .iter()
                    .map(|path| path.relative().to_owned())
                    .collect(),
            }),
            Outcome::Rejected(mismatches) => Err(rejected(&mismatches)),
        }
    }
}

/// What a change did.
#[derive(Debug)]
pub(crate) struct Applied {
    /// What the model should know besides: lines, or nothing.
    pub(crate) notes: String,
    /// The paths changed.
    pub(crate) touched: Vec<String>,
}

impl Change {
    fn into_file_change(self) -> Result<FileChange, ToolError> {
        let Self {
            path,
            before,
            after,
            like,
        } = self;
        Ok(match (before, after) {
            (Some(before), Some(after)) => FileChange::edit(path, before, after),
            (None, Some(after)) => match like {
                Some(like) => FileChange::create(path, after).like(like),
                None => FileChange::create(path, after),
            },
            (Some(before), None) => FileChange::delete(path, before),
            (None, None) => {
                return Err(ToolError::internal(format!(
                    "nothing is to change in `{path}`"
                )));
            }
        })
    }
}

/// Says why nothing was written.
fn rejected(mismatches: &[Mismatch]) -> ToolError {
    let is_forbidden = |mismatch: &Mismatch| {
        matches!(
            mismatch.what,
            Difference::ReadOnly
                | Difference::NotPermitted { .. }
                | Difference::FolderReadOnly { .. }
        )
    };
    let what = match mismatches {
        [only] => format!("cannot write `{}`", only.path),
        several => format!("cannot write {} files", several.len()),
    };
    let why: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
    let why = format!("{}; nothing was written", why.join("; "));
    if mismatches.iter().any(is_forbidden) {
        ToolError::denied(what)
            .why(why)
            .next("leave this file as it is, or ask the user for access to it")
    } else {
        ToolError::conflict(what)
            .why(why)
            .next("read the file again and repeat the call")
    }
}

/// Turns the bytes of a file into text that can be changed and written back.
pub(crate) fn to_text(
    action: &str,
    path: &WorkspacePath,
    bytes: Vec<u8>,
) -> Result<String, ToolError> {
    refuse_binary(action, path, &bytes)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ToolError::invalid_input(format!("cannot {action} `{path}`"))
            .why(format!(
                "it is not UTF-8: byte {at} is not part of a character"
            ))
            .next("convert the file to UTF-8 first, or replace it as a whole with `write`")
    })
}

fn refuse_binary(action: &str, path: &WorkspacePath, bytes: &[u8]) -> Result<(), ToolError> {
    let Some(at) = bytes.iter().take(SNIFFED_BYTES).position(|&byte| byte == 0) else {
        return Ok(());
    };
    Err(
        ToolError::invalid_input(format!("cannot {action} `{path}`"))
            .why(format!(
                "it is binary: {} bytes, with a NUL at byte {at}",
                bytes.len()
            ))
            .next("use a program that understands its format"),
    )
}

/// Turns details into JSON.
pub(crate) fn details_of(details: &impl Serialize) -> Result<Value, ToolError> {
    serde_json::to_value(details)
        .map_err(|error| ToolError::internal("cannot describe what was done").source(error))
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access")
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
