//! What a server has told us so far, and how it is answered.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::capabilities::Registrations;
use crate::client::{METHOD_NOT_FOUND, Peer, ResponseError};
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
    pub(crate) items: Vec<Value>,
    /// The how manieth publish of this server it was.
    pub(crate) number: u64,
    /// When it was heard.
    pub(crate) at: Instant,
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
    publishes: u64,
}

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

    /// Returns how often it published.
    pub(crate) fn publishes(&self) -> u64 {
        self.lock().publishes
    }

    /// Forgets what it published of a document that was closed.
    pub(crate) fn forget(&self, path: &Path) {
        self.lock().published.remove(path);
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

    fn publish(&mut self, mut params: Value) {
        let Some(path) = (params.get("uri").and_then(Value::as_str)).and_then(uri::to_path) else {
            return;
        };
        let items = match params.get_mut("diagnostics").map(Value::take) {
            Some(Value::Array(items)) => items,
            _ => return,
        };
        self.publishes += 1;
        if self.published.len() >= MAX_PUBLISHED && !self.published.contains_key(&path) {
            return;
        }
        let published = Published {
            version: params.get("version").and_then(Value::as_i64),
            items,
            number: self.publishes,
            at: Instant::now(),
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
