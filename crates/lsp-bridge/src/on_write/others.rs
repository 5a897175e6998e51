//! Files that a write breaks without changing them.
//!
//! A server that is asked is asked of the files that the run knows and of those
//! that name a written one; one that publishes has published of them itself.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::Workspace;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::check::read;
use super::state::{FileReport, Watch};
use crate::diagnostics::{Report, Verdict, own, whole};
use crate::documents::Document;
use crate::row::Diagnostics;
use crate::server::{InUse, Written};
use crate::tree::files_with_word;

/// Files that are looked at.
const MAX_FILES: usize = 20;
/// How long the search for files that name a written one may take.
const SEARCH: Duration = Duration::from_millis(60);

/// How long a server that says on which documents it works may take to begin.
const BEGIN: Duration = Duration::from_millis(20);

/// How long nothing must be published, so that it is all.
const SILENCE: Duration = Duration::from_millis(50);

/// Names of files that stand for their folder.
const FOR_FOLDER: &[&str] = &["__init__", "index", "mod", "lib", "main"];

/// Takes what a server says of other files before a write.
pub(super) async fn before(
    server: &InUse,
    workspace: &Workspace,
    files: &[Written],
    watch: &Watch,
    until: Instant,
) {
    if is_published(server) {
        published_before(server, workspace, watch).await;
    }
    if !is_asked(server) {
        return;
    }
    for path in users(server, files, watch).await {
        let Ok(file) = workspace.resolve_path(&path) else {
            continue;
        };
        if !watch.wants_baseline(&server.label(), &file) {
            continue;
        }
        if Instant::now() >= until {
            return;
        }
        let Ok(document) = server.open_alone(&file).await else {
            continue;
        };
        match own(server, &file, document, until).await {
            Ok(report) => watch.learn(&server.label(), read(&file, &report, server, false)),
            Err(_) => return,
        }
    }
}

/// Returns what a server says of other files after a write.
pub(super) async fn after(
    server: &InUse,
    workspace: &Workspace,
    files: &[Written],
    watch: &Watch,
    heard: u64,
    until: Instant,
) -> Vec<FileReport> {
    let mut published = HashMap::new();
    if is_published(server) {
        if !is_asked(server) {
            wait_for_rest(server, until).await;
        }
        let since = watch.heard(&server.label(), heard, server.seen().publishes());
        published.extend(server.seen().published_since(since));
    }
    for written in files {
        published.remove(written.file.absolute());
    }
    let mut reports = Vec::new();
    if is_asked(server) {
        let mut paths: Vec<PathBuf> = published.keys().cloned().collect();
        paths.sort();
        let known: HashSet<PathBuf> = watch.known_files(&server.label()).into_iter().collect();
        let open = server.open_files().await.into_iter();
        paths.extend(open.filter(|path| known.contains(path)));
        paths.extend(users(server, files, watch).await);
        paths.retain(|path| files.iter().all(|one| one.file.absolute() != path));
        reports = asked(server, workspace, &paths, until).await;
        for report in &reports {
            published.remove(report.file.absolute());
        }
    }
    for (path, published) in published {
        let Some(mut report) = of_publish(server, workspace, &path, &published.items).await else {
            continue;
        };
        if is_asked(server) {
            // What the server would say itself is missing.
            report.verdict = Verdict::Partial("it was not asked".to_owned());
        }
        reports.push(report);
    }
    reports
}

/// Waits until a server that publishes has done with all documents.
pub(super) async fn wait_for_rest(server: &InUse, until: Instant) {
    let seen = server.seen();
    let mut changes = seen.changes();
    let Some(mut is_busy) = seen.is_any_busy() else {
        wait_for_silence(server, until).await;
        return;
    };
    if !is_busy {
        // It may be about to say so.
        let until = until.min(Instant::now() + BEGIN);
        tokio::time::sleep_until(until).await;
        is_busy = seen.is_any_busy() == Some(true);
    }
    while is_busy
        && tokio::time::timeout_at(until, changes.changed())
            .await
            .is_ok()
    {
        is_busy = seen.is_any_busy() == Some(true);
    }
}

/// Waits until a server has published all that one text brought: of several files
/// it publishes one after the other, in any order.
async fn wait_for_silence(server: &InUse, until: Instant) {
    let begun = Instant::now();
    loop {
        let last = server.seen().last_publish();
        let silent = last.map_or(begun, |last| last.max(begun)) + SILENCE;
        if Instant::now() >= silent.min(until) {
            return;
        }
        tokio::time::sleep_until(silent.min(until)).await;
    }
}

/// Asks for the faults of files, as many as there is time for.
async fn asked(
    server: &InUse,
    workspace: &Workspace,
    paths: &[PathBuf],
    until: Instant,
) -> Vec<FileReport> {
    let mut reports = Vec::new();
    let mut looked: HashSet<&Path> = HashSet::new();
    for path in paths {
        if looked.len() >= MAX_FILES || Instant::now() >= until {
            break;
        }
        if !looked.insert(path) {
            continue;
        }
        let Ok(file) = workspace.resolve_path(path) else {
            continue;
        };
        let Ok(document) = server.open_alone(&file).await else {
            continue;
        };
        let report = async {
            let own = own(server, &file, document, until).await?;
            whole(server, &file, own, until).await
        };
        match report.await {
            Ok(report) if !matches!(report.verdict, Verdict::Unknown(_)) => {
                reports.push(read(&file, &report, server, false));
            }
            // There was no time for it; the next write looks again.
            Ok(_) | Err(_) => break,
        }
    }
    reports
}

/// Returns whether the server can be asked of any file.
pub(super) fn is_asked(server: &InUse) -> bool {
    server.diagnostics() == Diagnostics::Tsserver
        || server.offers("textDocument/diagnostic", "diagnosticProvider")
}

/// Returns whether it publishes of files that nobody asked about.
fn is_published(server: &InUse) -> bool {
    server.diagnostics() == Diagnostics::Flycheck || !is_asked(server)
}

async fn published_before(server: &InUse, workspace: &Workspace, watch: &Watch) {
    if !watch.is_first(&server.label(), server.seen().publishes()) {
        return;
    }
    for (path, published) in server.seen().published_since(0) {
        if let Some(report) = of_publish(server, workspace, &path, &published.items).await {
            watch.learn(&server.label(), report);
        }
    }
    if is_surveyed(server) {
        watch.set_surveyed(&server.label());
    }
}

/// Returns whether the server has published of the whole project.
pub(super) fn is_surveyed(server: &InUse) -> bool {
    let has_checked = match server.diagnostics() {
        Diagnostics::Flycheck => {
            let checked = server.checked().try_lock();
            checked.is_ok_and(|checked| checked.is_some())
        }
        Diagnostics::Offered | Diagnostics::Tsserver => !is_asked(server),
    };
    has_checked && server.readiness().is_settled()
}

async fn of_publish(
    server: &InUse,
    workspace: &Workspace,
    path: &Path,
    items: &Arc<[serde_json::Value]>,
) -> Option<FileReport> {
    let file = workspace.resolve_path(path).ok()?;
    let report = Report {
        items: items.to_vec(),
        verdict: Verdict::Fresh,
        document: Document::of_text(server.text(path).await?),
    };
    Some(read(&file, &report, server, false))
}

/// Returns files that name one that was written, found once for each.
async fn users(server: &InUse, files: &[Written], watch: &Watch) -> Vec<PathBuf> {
    if server.diagnostics() == Diagnostics::Flycheck {
        return Vec::new();
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for written in files {
        let path = written.file.absolute();
        if let Some(known) = watch.users(&server.label(), path) {
            found.extend(known);
            continue;
        }
        let Some(name) = module_name(path) else {
            continue;
        };
        let (sources, _) = server.sources().await;
        let own = path.to_owned();
        let search = tokio::task::spawn_blocking(move || {
            let deadline = std::time::Instant::now() + SEARCH;
            let mut found =
                files_with_word(&sources, &name, deadline, &CancellationToken::new()).files;
            found.retain(|path| *path != own);
            // Those beside it first.
            found.sort_by_key(|path| path.parent() != own.parent());
            found.truncate(MAX_FILES);
            found
        });
        let users = search.await.unwrap_or_default();
        watch.set_users(&server.label(), path, users.clone());
        found.extend(users);
    }
    found
}

/// Returns the word by which other files name a file.
fn module_name(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let name = match FOR_FOLDER.contains(&stem) {
        true => path.parent()?.file_name()?.to_str()?,
        false => stem,
    };
    // `a.module.ts` is named by its whole stem; as a word that is its beginning.
    let word = name
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    (!word.is_empty()).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_their_stem_or_their_folder() {
        let name = |path: &str| module_name(Path::new(path));
        assert_eq!(name("/a/core.py").as_deref(), Some("core"));
        assert_eq!(name("/a/pkg/__init__.py").as_deref(), Some("pkg"));
        assert_eq!(name("/a/user.service.ts").as_deref(), Some("user"));
        assert_eq!(name("/.ts"), None);
    }
}
