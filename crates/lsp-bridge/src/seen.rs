//! What a server has told us so far, and how it is answered.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::cadence::Cadence;
use crate::capabilities::Registrations;
use crate::client::{METHOD_NOT_FOUND, Peer, ResponseError};
use crate::diagnostics::flycheck;
use crate::uri;

/// Work that a server reports to be doing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Work {
    /// What names it in all its reports.
    pub(crate) token: String,
    pub(crate) title: String,
    pub(crate) percent: Option<u64>,
}

/// The diagnostics that a server published of one document.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// The version of the document they are about, where the server says.
    pub(crate) version: Option<i64>,
    pub(crate) items: Arc<[Value]>,
    /// Counts what was heard of this server; not all of it is publishes.
    pub(crate) number: u64,
    /// When it was heard.
    pub(crate) at: Instant,
    /// Of which check of the files on the disk it tells; 0 where there is none.
    check: u64,
    /// The server was still reading what the document includes.
    is_early: bool,
}

/// What a server said, for everybody who waits for something of it.
pub(crate) struct Seen {
    root: PathBuf,
    settings: Value,
    /// What a line of the log has to hold.
    line: Option<String>,
    pub(crate) registrations: Registrations,
    said: Mutex<Said>,
    /// Counts what was heard.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Said {
    working: Vec<Work>,
    /// Titles and tokens of work that has ended.
    ended: Vec<String>,
    last_work: Option<Instant>,
    /// Tokens of work, as often as it began.
    begun: HashMap<String, u64>,
    /// What the server says is wrong with it.
    trouble: Option<String>,
    has_logged: bool,
    is_quiescent: Option<bool>,
    published: HashMap<PathBuf, Published>,
    /// Counts publishes and what is said of the work on a document.
    heard: u64,
    last_publish: Option<Instant>,
    /// How often it publishes about one text.
    cadence: Cadence,
    /// The versions that it named in publishes, two of them at the most.
    versions: Vec<i64>,
    /// What the server says of its work on documents, where it says so.
    at_work: HashMap<PathBuf, AtWork>,
}

/// A server's work on one document.
#[derive(Debug, Clone, Copy)]
struct AtWork {
    is_busy: bool,
    /// It reads what the document includes.
    is_parsing: bool,
    /// When it last began to, as marks count.
    parsed: u64,
    /// When this was last heard of.
    at: Instant,
}

/// How far a server is with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It has done with it, or does not say.
    Done,
    /// It has, unless more comes until then.
    DoneAt(Instant),
    /// It has not.
    Busy,
}

/// How long a server may take to think again about a document, after it has read
/// what that includes.
const SECOND_THOUGHTS: Duration = Duration::from_millis(150);

/// Works that are kept, by token or title.
const MAX_KEPT: usize = 200;
/// Documents whose published diagnostics are kept; a server that publishes for
/// a whole project stays far below.
const MAX_PUBLISHED: usize = 20_000;

impl Seen {
    /// Starts to listen; `settings` is what the server gets when it asks for
    /// its configuration.
    pub(crate) fn new(root: PathBuf, settings: Value) -> Self {
        Self {
            root,
            settings,
            line: None,
            registrations: Registrations::default(),
            said: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// Listens for a line of the log that holds `text`.
    pub(crate) fn listening_for(mut self, text: &str) -> Self {
        self.line = Some(text.to_owned());
        self
    }

    /// Returns something that tells when more was heard.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Returns the work that goes on.
    pub(crate) fn working(&self) -> Vec<Work> {
        self.lock().working.clone()
    }

    /// Returns whether work with this token, or a title that begins so, has
    /// ended.
    pub(crate) fn has_ended(&self, name: &str) -> bool {
        let said = self.lock();
        said.ended.iter().any(|ended| ended.starts_with(name))
    }

    /// Returns how often work began whose token begins so.
    pub(crate) fn begun(&self, token: &str) -> u64 {
        let said = self.lock();
        let begun = said.begun.iter();
        let begun = begun.filter(|(own, _)| own.starts_with(token));
        begun.map(|(_, count)| count).sum()
    }

    /// Returns what the server says is wrong with it.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.lock().trouble.clone()
    }

    /// Returns when work was last heard of.
    pub(crate) fn last_work(&self) -> Option<Instant> {
        self.lock().last_work
    }

    /// Returns whether a line of its log held what was listened for.
    pub(crate) fn has_logged(&self) -> bool {
        self.lock().has_logged
    }

    /// Returns whether the server says that it rests, where it says so at all.
    pub(crate) fn is_quiescent(&self) -> Option<bool> {
        self.lock().is_quiescent
    }

    /// Returns what it published of a document.
    pub(crate) fn published(&self, path: &Path) -> Option<Published> {
        self.lock().published.get(path).cloned()
    }

    /// Returns everything that it published since a mark, the last of each
    /// document.
    pub(crate) fn published_since(&self, number: u64) -> Vec<(PathBuf, Published)> {
        let said = self.lock();
        let since = said.published.iter().filter(|(_, p)| p.number > number);
        since.map(|(path, p)| (path.clone(), p.clone())).collect()
    }

    /// Returns whether it has done with a document as it was sent when `mark` was
    /// taken, where the server says so.
    pub(crate) fn progress_of(&self, path: &Path, mark: u64) -> Progress {
        let said = self.lock();
        let Some(work) = said.at_work.get(path) else {
            return match said.at_work.is_empty() {
                true => Progress::Done,
                false => Progress::Busy,
            };
        };
        if work.is_busy || work.parsed <= mark {
            return Progress::Busy;
        }
        match said.published.get(path) {
            // It was published with what the document included before.
            Some(published) if published.is_early => {
                Progress::DoneAt(work.at.max(published.at) + SECOND_THOUGHTS)
            }
            Some(_) | None => Progress::Done,
        }
    }

    /// Notes that a text of a document was sent.
    pub(crate) fn sent(&self, path: &Path) {
        self.lock().cadence.sent(path);
    }

    /// Returns how long nothing more must come after the last publish about a
    /// document.
    pub(crate) fn quiet(&self, path: &Path) -> Duration {
        let said = self.lock();
        match said.at_work.is_empty() {
            true => said.cadence.quiet(path),
            // It says itself when it has done.
            false => Duration::ZERO,
        }
    }

    /// Returns whether the versions that it names in publishes are those of the
    /// texts, and not always the same.
    pub(crate) fn echoes_versions(&self) -> bool {
        self.lock().versions.len() > 1
    }

    /// Returns whether it says that it works on any document; nothing where it
    /// never says so.
    pub(crate) fn is_any_busy(&self) -> Option<bool> {
        let said = self.lock();
        let is_busy = said.at_work.values().any(|work| work.is_busy);
        (!said.at_work.is_empty()).then_some(is_busy)
    }

    /// Returns when it last published of any document.
    pub(crate) fn last_publish(&self) -> Option<Instant> {
        self.lock().last_publish
    }

    /// Returns a mark of the present: what is published from now on has a higher
    /// number.
    pub(crate) fn publishes(&self) -> u64 {
        self.lock().heard
    }

    /// Forgets what it published of a document that was closed.
    pub(crate) fn forget(&self, path: &Path) {
        let mut said = self.lock();
        said.published.remove(path);
        said.at_work.remove(path);
    }

    fn note(&self, change: impl FnOnce(&mut Said)) {
        change(&mut self.lock());
        self.changes.send_modify(|count| *count += 1);
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exactly as many values as items, `null` where nothing is set.
    fn configuration(&self, params: &Value) -> Value {
        let items = params.get("items").and_then(Value::as_array);
        let values = items.into_iter().flatten().map(|item| {
            let section = item.get("section").and_then(Value::as_str);
            section_of(&self.settings, section.unwrap_or_default())
        });
        Value::Array(values.collect())
    }
}

impl Peer for Seen {
    fn answer(&self, method: &str, params: &Value) -> Result<Value, ResponseError> {
        match method {
            "workspace/configuration" => Ok(self.configuration(params)),
            "workspace/workspaceFolders" => Ok(workspace_folders(&self.root)),
            "client/registerCapability" => {
                self.registrations.add(params);
                self.note(|_| {});
                Ok(Value::Null)
            }
            "client/unregisterCapability" => {
                self.registrations.remove(params);
                self.note(|_| {});
                Ok(Value::Null)
            }
            "workspace/diagnostic/refresh" => {
                self.note(|_| {});
                Ok(Value::Null)
            }
            "window/workDoneProgress/create" | "window/showMessageRequest" => Ok(Value::Null),
            "window/showDocument" => Ok(json!({ "success": false })),
            "workspace/applyEdit" => Ok(json!({
                "applied": false,
                "failureReason": "nothing is changed without a request of the user",
            })),
            refresh if refresh.ends_with("/refresh") => Ok(Value::Null),
            unknown => Err(ResponseError::new(
                METHOD_NOT_FOUND,
                format!("this client has no `{unknown}`"),
            )),
        }
    }

    fn hear(&self, method: &str, params: Value) {
        match method {
            "$/progress" => self.note(|said| said.progress(&params)),
            "window/logMessage" | "window/showMessage" => {
                let text = params.get("message").and_then(Value::as_str);
                if let (Some(text), Some(wanted)) = (text, &self.line)
                    && text.contains(wanted)
                {
                    self.note(|said| said.has_logged = true);
                }
            }
            "experimental/serverStatus" => {
                let quiescent = params.get("quiescent").and_then(Value::as_bool);
                let is_well = params.get("health").is_none_or(|health| health == "ok");
                let message = params.get("message").and_then(Value::as_str);
                let trouble = message.filter(|_| !is_well).map(str::to_owned);
                self.note(|said| {
                    said.is_quiescent = quiescent.or(said.is_quiescent);
                    said.trouble = trouble;
                });
            }
            "textDocument/clangd.fileStatus" => self.note(|said| said.file_status(&params)),
            "textDocument/publishDiagnostics" => self.note(|said| said.publish(params)),
            other => tracing::trace!(method = other, "a notification is of no use here"),
        }
    }
}

impl Said {
    fn progress(&mut self, params: &Value) {
        let token = match params.get("token") {
            Some(Value::String(token)) => token.clone(),
            Some(token) => token.to_string(),
            None => return,
        };
        let Some(value) = params.get("value") else {
            return;
        };
        self.last_work = Some(Instant::now());
        let percent = value.get("percentage").and_then(Value::as_u64);
        match value.get("kind").and_then(Value::as_str) {
            Some("begin") => {
                let title = value.get("title").and_then(Value::as_str);
                if self.begun.len() < MAX_KEPT || self.begun.contains_key(&token) {
                    *self.begun.entry(token.clone()).or_default() += 1;
                }
                self.working.retain(|work| work.token != token);
                self.working.push(Work {
                    token,
                    title: title.unwrap_or_default().to_owned(),
                    percent,
                });
            }
            Some("report") => {
                let known = self.working.iter_mut().find(|work| work.token == token);
                if let Some(work) = known {
                    work.percent = percent.or(work.percent);
                }
            }
            Some("end") => {
                let ended = self.working.iter().position(|work| work.token == token);
                if let Some(at) = ended {
                    let work = self.working.remove(at);
                    keep(&mut self.ended, work.title);
                }
                keep(&mut self.ended, token);
            }
            _ => {}
        }
    }

    /// Returns how many checks of the files on the disk have begun.
    fn checks(&self) -> u64 {
        let begun = self.begun.iter();
        let begun = begun.filter(|(token, _)| token.starts_with(flycheck::TOKEN));
        begun.map(|(_, count)| count).sum()
    }

    /// Source: clangd's extensions of the protocol, "File status".
    fn file_status(&mut self, params: &Value) {
        let text = |name| params.get(name).and_then(Value::as_str);
        let (Some(path), Some(state)) = (text("uri").and_then(uri::to_path), text("state")) else {
            return;
        };
        self.heard += 1;
        let is_full = self.at_work.len() >= MAX_PUBLISHED && !self.at_work.contains_key(&path);
        if is_full {
            return;
        }
        // It does this for each text, and skips what has not changed.
        let is_parsing = state.starts_with("parsing includes");
        let earlier = self.at_work.get(&path).map_or(0, |work| work.parsed);
        let work = AtWork {
            is_busy: !state.starts_with("idle"),
            is_parsing,
            parsed: if is_parsing { self.heard } else { earlier },
            at: Instant::now(),
        };
        self.at_work.insert(path, work);
    }

    fn publish(&mut self, mut params: Value) {
        let Some(path) = (params.get("uri").and_then(Value::as_str)).and_then(uri::to_path) else {
            return;
        };
        let items = match params.get_mut("diagnostics").map(Value::take) {
            Some(Value::Array(items)) => items,
            _ => return,
        };
        self.heard += 1;
        if self.published.len() >= MAX_PUBLISHED && !self.published.contains_key(&path) {
            return;
        }
        let published = Published {
            version: params.get("version").and_then(Value::as_i64),
            items: items.into(),
            number: self.heard,
            at: Instant::now(),
            check: self.checks(),
            is_early: (self.at_work.get(&path)).is_some_and(|work| work.is_parsing),
        };
        // While a check goes on a server publishes what was found so far, and
        // not always in order: the last one may lack what an earlier one had.
        let earlier = self.published.get(&path);
        let earlier = earlier.filter(|earlier| {
            published.check > 0
                && earlier.check == published.check
                && earlier.version == published.version
                && earlier.items.len() > published.items.len()
        });
        let items = earlier.map(|earlier| Arc::clone(&earlier.items));
        self.cadence.published(&path, published.at);
        self.last_publish = Some(published.at);
        if let Some(version) = published.version
            && self.versions.len() < 2
            && !self.versions.contains(&version)
        {
            self.versions.push(version);
        }
        let published = Published {
            items: items.unwrap_or(published.items),
            ..published
        };
        self.published.insert(path, published);
    }
}

fn keep(list: &mut Vec<String>, text: String) {
    if list.len() >= MAX_KEPT {
        list.remove(0);
    }
    list.push(text);
}

/// Returns the settings at a dotted section; all of them where it is empty.
fn section_of(settings: &Value, section: &str) -> Value {
    if section.is_empty() {
        return settings.clone();
    }
    // Settings may be written flat too: `"a.b": 1`.
    if let Some(value) = settings.get(section) {
        return value.clone();
    }
    let mut value = settings;
    for name in section.split('.') {
        match value.get(name) {
            Some(inner) => value = inner,
            None => return Value::Null,
        }
    }
    value.clone()
}

/// Returns the `WorkspaceFolder[]` of a server: its root.
pub(crate) fn workspace_folders(root: &Path) -> Value {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    json!([{ "uri": uri::from_path(root), "name": name }])
}

/// Merges `over` into `settings`: objects member by member, all else replaced.
pub(crate) fn merge(settings: &mut Value, over: &Value) {
    match (settings, over) {
        (Value::Object(settings), Value::Object(over)) => {
            for (name, value) in over {
                let below = settings.entry(name.as_str()).or_insert(Value::Null);
                merge(below, value);
            }
        }
        (settings, over) => *settings = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Seen {
        let settings = json!({ "python": { "pythonPath": "/p", "analysis": { "x": 1 } } });
        Seen::new(PathBuf::from("/root dir"), settings)
    }

    #[test]
    fn pitfall_1_every_usual_request_has_its_answer() {
        let seen = seen();
        let items = json!({ "items": [
            { "section": "python" }, { "section": "python.analysis" }, { "section": "pyright" }, {},
        ] });
        let answer = seen.answer("workspace/configuration", &items).unwrap();
        let python = json!({ "pythonPath": "/p", "analysis": { "x": 1 } });
        assert_eq!(
            answer,
            json!([python, { "x": 1 }, null, { "python": python }])
        );
        for method in [
            "client/registerCapability",
            "client/unregisterCapability",
            "window/workDoneProgress/create",
            "window/showMessageRequest",
            "workspace/diagnostic/refresh",
            "workspace/semanticTokens/refresh",
        ] {
            assert_eq!(
                seen.answer(method, &json!({})).unwrap(),
                Value::Null,
                "{method}"
            );
        }
        let folders = json!([{ "uri": "file:///root%20dir", "name": "root dir" }]);
        let answer = seen.answer("workspace/workspaceFolders", &Value::Null);
        assert_eq!(answer.unwrap(), folders);
        let answer = seen.answer("workspace/applyEdit", &json!({})).unwrap();
        assert_eq!(answer["applied"], false);
        let answer = seen.answer("window/showDocument", &json!({})).unwrap();
        assert_eq!(answer, json!({ "success": false }));
        assert_eq!(seen.answer("x/y", &json!({})).unwrap_err().code, -32601);
    }

    #[test]
    fn work_is_known_while_it_goes_on_and_after() {
        let seen = seen();
        let say = |value: Value| seen.hear("$/progress", json!({ "token": 7, "value": value }));
        say(json!({ "kind": "begin", "title": "indexing", "percentage": 0 }));
        say(json!({ "kind": "report", "percentage": 40 }));
        let work = Work {
            token: "7".to_owned(),
            title: "indexing".to_owned(),
            percent: Some(40),
        };
        assert_eq!(seen.working(), [work]);
        say(json!({ "kind": "end" }));
        assert!(seen.working().is_empty());
        assert!(seen.has_ended("indexing") && seen.has_ended("7"));
    }

    #[test]
    fn pitfall_14_publishes_are_kept_by_path() {
        let seen = seen();
        let params = json!({ "uri": "file:///a%3Ab", "version": 3, "diagnostics": [{}] });
        seen.hear("textDocument/publishDiagnostics", params);
        let published = seen.published(Path::new("/a:b")).unwrap();
        assert_eq!((published.version, published.items.len()), (Some(3), 1));
        seen.forget(Path::new("/a:b"));
        assert!(seen.published(Path::new("/a:b")).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_says_on_what_it_works_is_waited_for() {
        let seen = seen();
        let path = Path::new("/a");
        let say = |state: &str, mark| {
            let params = json!({ "uri": "file:///a", "state": state });
            seen.hear("textDocument/clangd.fileStatus", params);
            seen.progress_of(path, mark)
        };
        let publish = || {
            let params = json!({ "uri": "file:///a", "version": 1, "diagnostics": [] });
            seen.hear("textDocument/publishDiagnostics", params);
        };
        // One that never says so is never waited for.
        assert_eq!(seen.progress_of(path, 0), Progress::Done);
        assert_eq!(seen.is_any_busy(), None);
        assert_eq!(say("parsing includes, running Update", 0), Progress::Busy);
        assert_eq!(say("parsing main file", 0), Progress::Busy);
        publish();
        assert_eq!(say("idle", 0), Progress::Done);
        assert_eq!(seen.is_any_busy(), Some(false));

        // The text that it reads is not the one that was sent.
        let mark = seen.publishes();
        assert_eq!(say("parsing main file", mark), Progress::Busy);
        assert_eq!(say("idle", mark), Progress::Busy);
        // It reads an older text of what is included.
        say("parsing includes, parsing main file", mark);
        publish();
        let later = Instant::now() + SECOND_THOUGHTS;
        assert_eq!(say("idle", mark), Progress::DoneAt(later));
        publish();
        assert_eq!(say("idle", mark), Progress::Done);
    }

    #[test]
    fn of_one_check_the_publish_that_has_most_counts() {
        let seen = seen();
        let publish = |count: usize| {
            let items = vec![json!({}); count];
            let params = json!({ "uri": "file:///a", "version": 3, "diagnostics": items });
            seen.hear("textDocument/publishDiagnostics", params);
            seen.published(Path::new("/a")).unwrap().items.len()
        };
        assert_eq!([publish(2), publish(1)], [2, 1]);
        let begin = json!({ "token": "rust-analyzer/flycheck/0", "value": { "kind": "begin" } });
        seen.hear("$/progress", begin.clone());
        assert_eq!(
            [publish(0), publish(2), publish(3), publish(2)],
            [0, 2, 3, 3]
        );
        seen.hear("$/progress", begin);
        assert_eq!([publish(0), publish(1)], [0, 1]);
    }

    #[test]
    fn settings_are_merged_member_by_member() {
        let mut settings = json!({ "a": { "b": 1, "c": 2 }, "d": 3 });
        merge(&mut settings, &json!({ "a": { "c": 4 }, "d": { "e": 5 } }));
        assert_eq!(
            settings,
            json!({ "a": { "b": 1, "c": 4 }, "d": { "e": 5 } })
        );
    }
}
