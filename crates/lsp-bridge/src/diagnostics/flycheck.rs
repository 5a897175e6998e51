//! The part of a server's diagnostics that a check of the files on the disk finds.
//!
//! What such a server is asked for at any time is only what it finds itself. The
//! check runs when it is told to, says when it begins and ends, and publishes
//! what it found in between; where nothing became different it publishes nothing.
//!
//! Source: rust-analyzer's extensions of the protocol, "Controlling Flycheck".

use std::time::Duration;

use host::WorkspacePath;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::pass_barrier;
use crate::error::Error;
use crate::server::InUse;
use crate::uri;

/// The work that a check is reported as.
pub(crate) const TOKEN: &str = "rust-analyzer/flycheck/";
/// How long a check may take to begin.
const BEGIN: Duration = Duration::from_secs(5);

/// Has the files checked, unless that was done since they last changed, and adds
/// what was found to `items`. Returns what is missing.
pub(super) async fn add(
    server: &InUse,
    file: &WorkspacePath,
    deadline: Instant,
    items: &mut Vec<Value>,
) -> Result<Option<String>, Error> {
    if let Some(why) = server.lacks() {
        return Ok(Some(why.to_owned()));
    }
    // One at a time: a second one would end the first.
    let Ok(mut checked) = tokio::time::timeout_at(deadline, server.checked().lock()).await else {
        return Ok(Some("another check has not ended".to_owned()));
    };
    let edits = server.edits().await;
    if *checked != Some(edits) {
        *checked = None;
        if let Some(missing) = check(server, file, deadline).await? {
            return Ok(Some(missing));
        }
        *checked = Some(edits);
    }
    drop(checked);
    add_last(server, file, items);
    Ok(server.seen().trouble())
}

/// Adds what the last check found in a file.
pub(super) fn add_last(server: &InUse, file: &WorkspacePath, items: &mut Vec<Value>) {
    if let Some(published) = server.seen().published(file.absolute()) {
        merge(items, published.items.to_vec());
    }
}

/// Runs a check; returns why it is not known what it finds.
async fn check(
    server: &InUse,
    file: &WorkspacePath,
    deadline: Instant,
) -> Result<Option<String>, Error> {
    let seen = server.seen();
    let mut changes = seen.changes();
    let before = seen.begun(TOKEN);
    let document = json!({ "uri": uri::from_path(file.absolute()) });
    server.notify(
        "rust-analyzer/runFlycheck",
        &json!({ "textDocument": document }),
    )?;
    let begin = deadline.min(Instant::now() + BEGIN);
    loop {
        changes.mark_unchanged();
        let has_begun = seen.begun(TOKEN) > before;
        let goes_on = seen.working().iter().any(|w| w.token.starts_with(TOKEN));
        if has_begun && !goes_on {
            // What it found was sent before the reply.
            pass_barrier(server, file, deadline).await?;
            let begins_again = seen.working().iter().any(|w| w.token.starts_with(TOKEN));
            if !begins_again {
                return Ok(None);
            }
        }
        let until = if has_begun { deadline } else { begin };
        if Instant::now() >= until {
            let what = if has_begun { "ended" } else { "begun" };
            return Ok(Some(format!("`cargo check` has not {what} in time")));
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = server.wait_until_closed() => {
                // Asking says how it ended.
                server.request("textDocument/diagnostic", &Value::Null, deadline).await?;
            }
            () = tokio::time::sleep_until(until) => {}
        }
    }
}

/// Adds what the check found. Where both found a fault on a line the check's
/// words stay; hints that repeat an error's code are parts of that error.
fn merge(items: &mut Vec<Value>, found: Vec<Value>) {
    let line = |item: &Value| item.pointer("/range/start/line").cloned();
    let code = |item: &Value| item.get("code").cloned();
    let is_hint = |item: &Value| item.get("severity").and_then(Value::as_u64) == Some(4);
    let told: Vec<Value> = found.iter().filter(|i| !is_hint(i)).cloned().collect();
    items.retain(|own| {
        let is_same =
            |t: &Value| code(own).is_some() && line(t) == line(own) && code(t) == code(own);
        !told.iter().any(is_same)
    });
    let more = found.into_iter().filter(|item| {
        let repeats = is_hint(item) && told.iter().any(|told| code(told) == code(item));
        !repeats
    });
    items.extend(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: u32, severity: u32, code: &str, source: &str) -> Value {
        let at = json!({ "line": line, "character": 0 });
        json!({
            "range": { "start": at, "end": at }, "severity": severity, "code": code,
            "source": source,
        })
    }

    #[test]
    fn pitfall_27_both_halves_are_merged_and_notes_are_folded_into_their_error() {
        let native = fault(1, 1, "E0308", "rust-analyzer");
        let own = fault(9, 2, "inactive-code", "rust-analyzer");
        let mut items = vec![native, own.clone()];
        let error = fault(1, 1, "E0308", "rustc");
        let note = fault(4, 4, "E0308", "rustc");
        let hint = fault(5, 4, "unused", "rustc");
        merge(&mut items, vec![error.clone(), note, hint.clone()]);
        assert_eq!(items, [own, error, hint]);
    }
}
