//! Gets an edit that covers the whole project out of a server.
//!
//! A server that is still reading gives an edit of what it has read, and nothing
//! in it says so. So it is waited for, and then the files of the language are
//! searched for the old name: an edit that leaves out files that hold it counts
//! only once the server has shown that it knows the project, and only where its
//! references do not name them either.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gen_lsp_types::Position;
use host::Workspace;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::draft::Names;
use crate::edit::{self, Step};
use crate::error::Error;
use crate::readiness::Readiness;
use crate::server::{InUse, Look};
use crate::tool::ask::{Ask, Target};
use crate::tool::locations;
use crate::tool::words::Words;
use crate::uri;

/// The first pause before the server is asked again, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// Files with a byte-order mark that are opened.
const MAX_MARKED: usize = 30;

const METHOD: &str = "textDocument/rename";

/// Where the server is asked.
struct Aimed {
    path: PathBuf,
    position: Position,
}

/// Asks until the edit can be relied on.
///
/// # Errors
/// The time is up before it can: the files that it leaves out.
pub(super) async fn edit(
    target: &Target,
    names: &Names,
    ask: &Ask<'_>,
) -> Result<Vec<Step>, Error> {
    let server = &target.chosen.server;
    let until = ask.ready_deadline();
    ask.wait_until_ready(server).await;
    let mut words = Words::start(&names.old, server, ask).await;
    open_marked(&words.found().await.files, server, ask).await?;
    let aimed = aim(target, names, ask).await?;
    prepare(server, &aimed, names, ask).await?;
    let mut pause = PAUSE.0;
    // What leaves files out is asked for twice.
    let mut is_certain = false;
    loop {
        let answer = once(server, &aimed, names, &mut words, ask).await?;
        let is_covered = answer.is_covered();
        let is_final = match &answer.readiness {
            Readiness::Proven => {
                is_covered || (is_certain && !answer.is_refuted(server, &aimed, ask).await?)
            }
            Readiness::Never(_) => true,
            Readiness::Assumed | Readiness::Loading { .. } => is_covered,
        };
        if is_final || Instant::now() + pause >= until {
            return answer.conclude(server, names, is_final, ask.workspace);
        }
        is_certain = answer.readiness == Readiness::Proven;
        ask.context.progress(format!(
            "{}: {} files so far, {} with the name are not covered",
            server.id(),
            answer.edited.len(),
            answer.uncovered.len(),
        ));
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(PAUSE.1);
        ask.wait_until_ready(server).await;
    }
}

/// Opens files that begin with a byte-order mark: servers that read them from the
/// disk count it, or leave such a file out, and of an open document all have the
/// text without it.
async fn open_marked(files: &[PathBuf], server: &InUse, ask: &Ask<'_>) -> Result<(), Error> {
    let marked = files.iter().filter(|path| begins_with_mark(path));
    for path in marked.take(MAX_MARKED) {
        if let Ok(file) = ask.workspace.resolve_path(path) {
            server.open(&file, Look::WhenCheap).await?;
        }
    }
    Ok(())
}

fn begins_with_mark(path: &Path) -> bool {
    let mut begin = [0; 3];
    let file = std::fs::File::open(path);
    file.and_then(|mut file| file.read_exact(&mut begin))
        .is_ok()
        && begin == *b"\xef\xbb\xbf"
}

/// Points at the declaration where the server knows one of that name: at an
/// import, some servers rename what the file calls it and nothing else.
async fn aim(target: &Target, names: &Names, ask: &Ask<'_>) -> Result<Aimed, Error> {
    let server = &target.chosen.server;
    let here = Aimed {
        path: target.path.clone(),
        position: target.position,
    };
    let method = "textDocument/definition";
    if !server.offers(method, "definitionProvider") {
        return Ok(here);
    }
    let is_empty = |(spots, _): &(Vec<_>, usize)| spots.is_empty();
    let found = ask
        .request(server, method, &target.params, locations::read, is_empty)
        .await;
    let spots = match found {
        Ok(((spots, _), _)) => spots,
        Err(Error::Refused { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    for spot in &spots {
        let Some(path) = &spot.path else { continue };
        let Some(text) = server.text(path).await else {
            continue;
        };
        let range = server.encoding().range(&text, spot.range);
        let declared = text.text().get(range.start..).unwrap_or_default();
        if !declared.starts_with(&names.old) {
            continue;
        }
        let Ok(file) = ask.workspace.resolve_path(path) else {
            return Err(Error::Forbidden {
                file: path.to_string_lossy().into_owned(),
                why: "it is outside the workspace, and the name is declared there",
            });
        };
        if server.language(file.absolute()).is_some() {
            server.open(&file, Look::WhenCheap).await?;
            return Ok(Aimed {
                path: file.absolute().to_owned(),
                position: spot.range.start,
            });
        }
    }
    Ok(here)
}

/// Asks whether the place can be renamed, where the server wants to be asked.
async fn prepare(server: &InUse, aimed: &Aimed, names: &Names, ask: &Ask<'_>) -> Result<(), Error> {
    let registered = server.registrations().of(METHOD);
    let fixed = server.capabilities().options("renameProvider");
    let prepares = |options: &Value| options.get("prepareProvider") == Some(&Value::Bool(true));
    if !fixed.into_iter().chain(&registered).any(prepares) {
        return Ok(());
    }
    let method = "textDocument/prepareRename";
    let is_settled = server.readiness().is_settled();
    let answer = match server.request(method, &aimed.params(), ask.deadline).await {
        // It may know the name a little later; the edit is looked at in any case.
        Ok(Value::Null) | Err(Error::Refused { .. }) if !is_settled => return Ok(()),
        answer => answer?,
    };
    if answer.is_null() {
        return Err(Error::NothingRenamed {
            server: server.id().to_owned(),
            old: names.old.clone(),
            why: "it says that nothing there can be renamed".to_owned(),
        });
    }
    Ok(())
}

/// What a server answered, and what the files say to that.
struct Answered {
    steps: Vec<Step>,
    readiness: Readiness,
    edited: BTreeSet<PathBuf>,
    /// Files that hold the name and are not edited.
    uncovered: Vec<PathBuf>,
    /// Whether every file was searched.
    is_searched: bool,
    /// Why it refused, which it may not a little later.
    refused: Option<Error>,
}

async fn once(
    server: &InUse,
    aimed: &Aimed,
    names: &Names,
    words: &mut Words,
    ask: &Ask<'_>,
) -> Result<Answered, Error> {
    // Before the question: what it knew by then is in the answer.
    let readiness = server.readiness();
    let mut params = aimed.params();
    if let Some(params) = params.as_object_mut() {
        params.insert("newName".to_owned(), json!(names.new));
    }
    let (steps, refused) = match server.request(METHOD, &params, ask.deadline).await {
        Ok(reply) => {
            let steps = edit::read(&reply).map_err(|why| Error::BadEdit {
                server: server.id().to_owned(),
                old: names.old.clone(),
                why,
            })?;
            (steps, None)
        }
        Err(error @ Error::Refused { .. }) if !readiness.is_settled() => (Vec::new(), Some(error)),
        Err(error) => return Err(error),
    };
    let edited: BTreeSet<PathBuf> = steps
        .iter()
        .filter_map(|step| edited(step, ask.workspace))
        .collect();
    let words = words.found().await;
    let uncovered = words.files.iter().filter(|path| !edited.contains(*path));
    Ok(Answered {
        uncovered: uncovered.cloned().collect(),
        is_searched: words.is_complete,
        steps,
        readiness,
        edited,
        refused,
    })
}

/// Returns the file in which a step changes something.
fn edited(step: &Step, workspace: &Workspace) -> Option<PathBuf> {
    let uri = match step {
        Step::Texts { uri, edits, .. } if !edits.is_empty() => uri,
        Step::Move { from, .. } => from,
        Step::Delete { uri, .. } => uri,
        Step::Texts { .. } | Step::Create { .. } => return None,
    };
    let path = uri::to_path(uri)?;
    let inside = workspace.resolve_path(&path);
    Some(inside.map_or(path, |inside| inside.absolute().to_owned()))
}

impl Answered {
    fn is_covered(&self) -> bool {
        self.uncovered.is_empty() && self.is_searched && !self.steps.is_empty()
    }

    /// Returns whether the server itself knows references in files that its
    /// edit leaves out.
    async fn is_refuted(
        &self,
        server: &InUse,
        aimed: &Aimed,
        ask: &Ask<'_>,
    ) -> Result<bool, Error> {
        let method = "textDocument/references";
        if self.steps.is_empty() || !server.offers(method, "referencesProvider") {
            return Ok(false);
        }
        let mut params = aimed.params();
        if let Some(params) = params.as_object_mut() {
            params.insert("context".to_owned(), json!({ "includeDeclaration": true }));
        }
        let reply = match server.request(method, &params, ask.deadline).await {
            Ok(reply) => reply,
            Err(Error::Refused { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let (spots, _) = locations::read(reply);
        let mut named = spots.iter().filter_map(|spot| spot.path.as_deref());
        Ok(named.any(|path: &Path| self.uncovered.iter().any(|left| left == path)))
    }

    /// Returns the edit, or why it must not be used.
    fn conclude(
        self,
        server: &InUse,
        names: &Names,
        is_final: bool,
        workspace: &Workspace,
    ) -> Result<Vec<Step>, Error> {
        let is_covered = self.is_covered();
        // What it refused while it was reading it may not refuse a little later.
        if let Some(refused) = self.refused
            && self.uncovered.is_empty()
        {
            return Err(refused);
        }
        let id = server.id().to_owned();
        let why = match &self.readiness {
            Readiness::Proven if is_final => None,
            Readiness::Assumed | Readiness::Loading { .. } if is_final => None,
            Readiness::Never(_) if is_covered => None,
            Readiness::Never(why) => Some(why.clone()),
            Readiness::Proven => Some("its own references name such files".to_owned()),
            Readiness::Assumed => {
                Some("it does not show whether it knows the whole project".to_owned())
            }
            loading @ Readiness::Loading { .. } => Some(format!(
                "the index is still building: {}",
                loading.describe()
            )),
        };
        let Some(why) = why else {
            if self.edited.is_empty() {
                return Err(Error::NothingRenamed {
                    server: id,
                    old: names.old.clone(),
                    why: "its edit is empty".to_owned(),
                });
            }
            return Ok(self.steps);
        };
        let files = self.uncovered.iter();
        let files = files.map(|path| locations::name_of(workspace, path).0);
        Err(Error::Uncovered {
            server: id,
            old: names.old.clone(),
            files: files.collect(),
            why: if self.is_searched {
                why
            } else {
                format!("{why}, and not every file could be searched")
            },
            is_loading: !self.readiness.is_settled(),
        })
    }
}

impl Aimed {
    fn params(&self) -> Value {
        json!({
            "textDocument": { "uri": uri::from_path(&self.path) },
            "position": self.position,
        })
    }
}
