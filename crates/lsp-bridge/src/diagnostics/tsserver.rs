//! The diagnostics of a TypeScript server that a language server wraps.
//!
//! The wrapper publishes without a version, and not at all where nothing became
//! different: waiting for it never ends. Its server answers when it is asked,
//! after all edits that it was sent before.
//!
//! Source: TypeScript's `protocol.d.ts`, "semanticDiagnosticsSync".

use std::path::{Path, PathBuf};
use std::time::Duration;

use host::WorkspacePath;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Verdict, verdict};
use crate::error::Error;
use crate::server::{InUse, Server};
use crate::tree::Change;

/// Folders with so few names in their path, the root's included, are not
/// watched: it takes them for those of the system and of users.
const NOT_WATCHED: usize = 4;
/// How long reading the projects anew may take before a question is put all the
/// same.
const RELOAD: Duration = Duration::from_secs(10);

const COMMANDS: &[&str] = &[
    "syntacticDiagnosticsSync",
    "semanticDiagnosticsSync",
    "suggestionDiagnosticsSync",
];

/// Asks for all kinds of faults; a kind that cannot be had is said.
pub(super) async fn ask(
    server: &InUse,
    file: &WorkspacePath,
    deadline: Instant,
) -> Result<(Vec<Value>, Verdict), Error> {
    let mut items = Vec::new();
    let mut missing = Vec::new();
    let mut answered = 0;
    for command in COMMANDS {
        let file = file.absolute().to_string_lossy();
        let params = json!({
            "command": "typescript.tsserverRequest",
            "arguments": [command, { "file": file }],
        });
        let reply = server.request("workspace/executeCommand", &params, deadline);
        match reply.await {
            Ok(reply) => match reply.get("body").and_then(Value::as_array) {
                Some(found) => {
                    items.extend(found.iter().filter_map(translated));
                    answered += 1;
                }
                None => missing.push(format!("`{command}` gave no list")),
            },
            Err(error @ (Error::NoAnswer { .. } | Error::Refused { .. })) => {
                missing.push(error.describe());
            }
            Err(error) => return Err(error),
        }
    }
    Ok((items, verdict(answered, &missing)))
}

/// Returns whether files appeared or disappeared where the server does not watch
/// for those that an import names.
pub(crate) fn misses_some(changes: &[(PathBuf, Change)]) -> bool {
    changes.iter().any(|(path, change)| {
        let names = path.parent().map(Path::components);
        let is_shallow = names.is_some_and(|names| names.count() <= NOT_WATCHED);
        is_shallow && *change != Change::Changed
    })
}

/// Has the server read its projects anew.
pub(crate) async fn reload(server: &Server) -> Result<(), Error> {
    let params = json!({
        "command": "typescript.tsserverRequest",
        "arguments": ["reloadProjects", null],
    });
    let deadline = Instant::now() + RELOAD;
    let reply = server.request("workspace/executeCommand", &params, deadline);
    match reply.await {
        // The question that follows waits for it.
        Ok(_) | Err(Error::NoAnswer { .. } | Error::Refused { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes a fault as the protocol does: lines and columns from 0, and numbers
/// for severities.
fn translated(fault: &Value) -> Option<Value> {
    let place = |name: &str| {
        let at = fault.get(name)?;
        let number = |name| at.get(name)?.as_u64()?.checked_sub(1);
        Some(json!({ "line": number("line")?, "character": number("offset")? }))
    };
    let severity = match fault.get("category").and_then(Value::as_str) {
        Some("warning") => 2,
        Some("message") => 3,
        Some("suggestion") => 4,
        _ => 1,
    };
    Some(json!({
        "range": { "start": place("start")?, "end": place("end")? },
        "severity": severity,
        "code": fault.get("code"),
        "source": "typescript",
        "message": fault.get("text")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_files_are_missed_in_folders_near_the_root() {
        for (path, change, is_missed) in [
            ("/srv/main/a.ts", Change::Created, true),
            ("/home/me/main/a.ts", Change::Deleted, true),
            ("/home/me/main/a.ts", Change::Changed, false),
            ("/home/me/main/src/a.ts", Change::Created, false),
        ] {
            let changes = [(PathBuf::from(path), change)];
            assert_eq!(misses_some(&changes), is_missed, "{path}");
        }
    }

    #[test]
    fn pitfall_26_faults_of_the_wrapped_server_become_diagnostics() {
        let fault = json!({
            "start": { "line": 2, "offset": 5 }, "end": { "line": 2, "offset": 11 },
            "text": "never read", "code": 6133, "category": "suggestion",
        });
        let range = json!({
            "start": { "line": 1, "character": 4 }, "end": { "line": 1, "character": 10 },
        });
        let expected = json!({
            "range": range, "severity": 4, "code": 6133, "source": "typescript",
            "message": "never read",
        });
        assert_eq!(translated(&fault), Some(expected));
        assert_eq!(translated(&json!({ "text": "nowhere" })), None);
    }
}
