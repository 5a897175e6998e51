//! Whether a server knows the whole project yet.
//!
//! A server that is asked too early answers with what it has, and nothing in
//! the answer says so. Each row of the table says how its server shows that it
//! is done.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::row::Ready;
use crate::seen::Seen;

/// How long after the first document work may take to begin.
const GRACE: Duration = Duration::from_secs(3);
/// How long no work must have been reported, where a server shows nothing else.
const QUIET: Duration = Duration::from_millis(300);

/// What is known of a server's knowledge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It knows the project, and has shown it.
    Proven,
    /// It shows nothing, and nothing goes on.
    Assumed,
    /// It never knows more than the open documents; why.
    Never(String),
    /// It is still finding out.
    Loading {
        what: String,
        percent: Option<u64>,
        /// When this may be over without another word of the server.
        look_again: Option<Instant>,
    },
}

impl Readiness {
    /// Returns whether waiting is of no use any more.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(self, Self::Loading { .. })
    }

    /// Says what goes on, for people.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Proven | Self::Assumed => "ready".to_owned(),
            Self::Never(why) => why.clone(),
            Self::Loading { what, percent, .. } => match percent {
                Some(percent) => format!("{what} ({percent} %)"),
                None => what.clone(),
            },
        }
    }
}

/// Looks at what a server has said; `opened` is when it got its first document.
pub(crate) fn look(
    rule: &Ready,
    root: &Path,
    seen: &Seen,
    started: Instant,
    opened: Option<Instant>,
) -> Readiness {
    match rule {
        Ready::Always => Readiness::Proven,
        Ready::Log(_) if seen.has_logged() => Readiness::Proven,
        Ready::Log(_) => loading("reading the project", None, None),
        Ready::Status => match seen.is_quiescent() {
            Some(true) => Readiness::Proven,
            Some(false) | None => at_work(seen).unwrap_or_else(|| loading("loading", None, None)),
        },
        Ready::Progress { token, index } => progress(token, index, root, seen, opened),
        Ready::Quiet => quiet(seen, started),
    }
}

fn progress(
    token: &str,
    index: &[String],
    root: &Path,
    seen: &Seen,
    opened: Option<Instant>,
) -> Readiness {
    if !index.is_empty() && !index.iter().any(|file| root.join(file).is_file()) {
        let missing = index.join("` or `");
        return Readiness::Never(format!(
            "without `{missing}` at its root it knows only the files that are open"
        ));
    }
    let going_on = seen.working();
    let going_on = going_on
        .iter()
        .find(|w| w.token.starts_with(token) || w.title.starts_with(token));
    if let Some(work) = going_on {
        return loading(&work.title, work.percent, None);
    }
    if seen.has_ended(token) {
        return Readiness::Proven;
    }
    match opened {
        // The work begins with the first document.
        None => loading("waiting for a first file", None, None),
        Some(opened) if opened.elapsed() < GRACE => {
            loading("about to index", None, Some(opened + GRACE))
        }
        // There was nothing to do, or it says so no more.
        Some(_) => Readiness::Assumed,
    }
}

fn quiet(seen: &Seen, started: Instant) -> Readiness {
    if let Some(working) = at_work(seen) {
        return working;
    }
    let last = seen.last_work().unwrap_or(started);
    if last.elapsed() < QUIET {
        return loading("starting", None, Some(last + QUIET));
    }
    Readiness::Assumed
}

fn at_work(seen: &Seen) -> Option<Readiness> {
    let working = seen.working();
    let work = working.first()?;
    Some(loading(&work.title, work.percent, None))
}

fn loading(what: &str, percent: Option<u64>, look_again: Option<Instant>) -> Readiness {
    let what = if what.is_empty() { "loading" } else { what };
    Readiness::Loading {
        what: what.to_owned(),
        percent,
        look_again,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::client::Peer;

    fn seen() -> Seen {
        Seen::new("/root".into(), Value::Null)
    }

    fn work(seen: &Seen, value: Value) {
        seen.hear("$/progress", json!({ "token": "t", "value": value }));
    }

    #[tokio::test(start_paused = true)]
    async fn pitfall_37_work_under_a_token_is_waited_for_with_a_grace_for_its_begin() {
        let folder = tempfile::tempdir().unwrap();
        let rule = Ready::Progress {
            token: "t".to_owned(),
            index: vec!["db.json".to_owned()],
        };
        let seen = seen();
        let start = Instant::now();
        let look = |opened| look(&rule, folder.path(), &seen, start, opened);
        assert!(matches!(look(None), Readiness::Never(why) if why.contains("`db.json`")));
        std::fs::write(folder.path().join("db.json"), "").unwrap();
        assert!(!look(None).is_settled());
        assert!(!look(Some(start)).is_settled());
        work(
            &seen,
            json!({ "kind": "begin", "title": "indexing", "percentage": 5 }),
        );
        tokio::time::advance(GRACE * 2).await;
        assert_eq!(look(Some(start)).describe(), "indexing (5 %)");
        work(&seen, json!({ "kind": "end" }));
        assert_eq!(look(Some(start)), Readiness::Proven);
    }

    #[tokio::test(start_paused = true)]
    async fn pitfall_37_without_a_sign_readiness_is_assumed_and_never_proven() {
        let seen = seen();
        let start = Instant::now();
        let look = || look(&Ready::Quiet, Path::new("/"), &seen, start, Some(start));
        assert!(!look().is_settled());
        tokio::time::advance(QUIET).await;
        assert_eq!(look(), Readiness::Assumed);
        work(&seen, json!({ "kind": "begin", "title": "x" }));
        tokio::time::advance(QUIET * 9).await;
        assert!(!look().is_settled());
        work(&seen, json!({ "kind": "end" }));
        assert!(!look().is_settled());
        tokio::time::advance(QUIET).await;
        assert_eq!(look(), Readiness::Assumed);
    }

    #[tokio::test]
    async fn pitfall_37_a_line_of_the_log_or_a_status_proves_it() {
        let seen = seen().listening_for("source file");
        let now = Instant::now();
        let log = Ready::Log("source file".to_owned());
        let look = |rule: &Ready| look(rule, Path::new("/"), &seen, now, None);
        assert!(!look(&log).is_settled() && !look(&Ready::Status).is_settled());
        seen.hear(
            "window/logMessage",
            json!({ "message": "Found 2 source files" }),
        );
        seen.hear("experimental/serverStatus", json!({ "quiescent": false }));
        assert!(!look(&Ready::Status).is_settled());
        seen.hear("experimental/serverStatus", json!({ "quiescent": true }));
        assert_eq!(
            (look(&log), look(&Ready::Status)),
            (Readiness::Proven, Readiness::Proven)
        );
    }
}
