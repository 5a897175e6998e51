//! What we declare to a server, and what it can do.
//!
//! A server's capabilities are read from the JSON value and not into types: one
//! odd field must not make a server useless.
//!
//! Source: Language Server Protocol 3.17, "Initialize Request".

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::encoding::PositionEncoding;

/// Returns what we declare.
///
/// Pulled diagnostics are declared because some servers give none at all
/// otherwise.
pub(crate) fn of_client() -> Value {
    let link = json!({ "dynamicRegistration": true, "linkSupport": true });
    let dynamic = json!({ "dynamicRegistration": true });
    let every_kind: Vec<u32> = (1..=26).collect();
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "window": { "workDoneProgress": true },
        "workspace": {
            "applyEdit": true,
            "workspaceEdit": {
                "documentChanges": true,
                "resourceOperations": ["create", "rename", "delete"],
                // All of it or nothing.
                "failureHandling": "transactional",
            },
            "configuration": true,
            "workspaceFolders": true,
            "didChangeConfiguration": dynamic,
            "didChangeWatchedFiles": { "dynamicRegistration": true, "relativePatternSupport": true },
            "diagnostics": { "refreshSupport": true },
            "symbol": {
                "dynamicRegistration": true,
                "symbolKind": { "valueSet": every_kind },
            },
        },
        "textDocument": {
            "synchronization": { "dynamicRegistration": true, "didSave": true },
            "publishDiagnostics": {
                "relatedInformation": true,
                "versionSupport": true,
                "codeDescriptionSupport": true,
                "tagSupport": { "valueSet": [1, 2] },
            },
            "diagnostic": { "dynamicRegistration": true, "relatedDocumentSupport": true },
            "definition": link,
            "typeDefinition": link,
            "implementation": link,
            // An extension of clangd: each reference names what it is in.
            "references": { "dynamicRegistration": true, "container": true },
            "hover": { "dynamicRegistration": true, "contentFormat": ["markdown", "plaintext"] },
            "rename": { "dynamicRegistration": true, "prepareSupport": true },
            "documentSymbol": {
                "dynamicRegistration": true,
                "hierarchicalDocumentSymbolSupport": true,
                "symbolKind": { "valueSet": every_kind },
            },
            "codeAction": {
                "dynamicRegistration": true,
                "isPreferredSupport": true,
                "disabledSupport": true,
                "dataSupport": true,
                "resolveSupport": { "properties": ["edit"] },
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [
                    "", "quickfix", "refactor", "refactor.extract", "refactor.inline",
                    "refactor.rewrite", "source", "source.organizeImports", "source.fixAll",
                ] } },
            },
        },
        "experimental": { "serverStatusNotification": true },
    })
}

/// How a server wants to hear of changes to documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sync {
    pub(crate) opens: bool,
    pub(crate) changes: bool,
    pub(crate) saves: Save,
}

/// Whether a server wants to hear of saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Save {
    No,
    WithoutText,
    WithText,
}

/// What a server said when it was initialized.
#[derive(Debug, Clone, Default)]
pub(crate) struct Capabilities {
    value: Value,
}

impl Capabilities {
    pub(crate) fn new(value: Value) -> Self {
        Self { value }
    }

    /// Returns the unit of columns.
    ///
    /// # Errors
    /// It chose one that was not offered: its name.
    pub(crate) fn encoding(&self) -> Result<PositionEncoding, String> {
        match self.value.get("positionEncoding").and_then(Value::as_str) {
            None => Ok(PositionEncoding::default()),
            Some(name) => PositionEncoding::parse(name).ok_or_else(|| name.to_owned()),
        }
    }

    /// Returns how it wants to hear of changes.
    pub(crate) fn sync(&self) -> Sync {
        let sync = self.value.get("textDocumentSync");
        match sync {
            Some(Value::Object(options)) => Sync {
                opens: options.get("openClose").and_then(Value::as_bool) != Some(false),
                changes: options.get("change").and_then(Value::as_u64) != Some(0),
                saves: save(options.get("save")),
            },
            // A number; those servers hear of saves too.
            Some(kind) => Sync {
                opens: kind.as_u64() != Some(0),
                changes: kind.as_u64() != Some(0),
                saves: Save::WithoutText,
            },
            None => Sync {
                opens: true,
                changes: true,
                saves: Save::No,
            },
        }
    }

    /// Returns whether a provider such as `hoverProvider` is there.
    pub(crate) fn provides(&self, provider: &str) -> bool {
        match self.value.get(provider) {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(_) => true,
        }
    }

    /// Returns the options of a provider.
    pub(crate) fn options(&self, provider: &str) -> Option<&Value> {
        self.value
            .get(provider)
            .filter(|options| options.is_object())
    }
}

fn save(save: Option<&Value>) -> Save {
    match save {
        Some(Value::Bool(true)) => Save::WithoutText,
        Some(Value::Object(options)) => match options.get("includeText").and_then(Value::as_bool) {
            Some(true) => Save::WithText,
            _ => Save::WithoutText,
        },
        _ => Save::No,
    }
}

/// What a server registered since.
#[derive(Debug, Default)]
pub(crate) struct Registrations {
    by_id: Mutex<HashMap<String, (String, Value)>>,
}

impl Registrations {
    /// Takes the parameters of `client/registerCapability`.
    pub(crate) fn add(&self, params: &Value) {
        let list = params.get("registrations").and_then(Value::as_array);
        for registration in list.into_iter().flatten() {
            let text = |name| registration.get(name).and_then(Value::as_str);
            if let (Some(id), Some(method)) = (text("id"), text("method")) {
                let options = registration.get("registerOptions").cloned();
                let entry = (method.to_owned(), options.unwrap_or_default());
                self.lock().insert(id.to_owned(), entry);
            }
        }
    }

    /// Takes the parameters of `client/unregisterCapability`.
    pub(crate) fn remove(&self, params: &Value) {
        // The protocol itself misspells the name.
        let list = ["unregisterations", "unregistrations"]
            .into_iter()
            .find_map(|name| params.get(name)?.as_array());
        for registration in list.into_iter().flatten() {
            if let Some(id) = registration.get("id").and_then(Value::as_str) {
                self.lock().remove(id);
            }
        }
    }

    /// Returns the options of every registration of `method`.
    pub(crate) fn of(&self, method: &str) -> Vec<Value> {
        let registered = self.lock();
        let fitting = registered.values().filter(|(name, _)| name == method);
        fitting.map(|(_, options)| options.clone()).collect()
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, (String, Value)>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(value: Value) -> Sync {
        Capabilities::new(json!({ "textDocumentSync": value })).sync()
    }

    #[test]
    fn pitfall_9_saves_are_sent_only_where_they_are_wanted() {
        assert_eq!(sync(json!({ "openClose": true })).saves, Save::No);
        assert_eq!(sync(json!({ "save": true })).saves, Save::WithoutText);
        assert_eq!(sync(json!({ "save": {} })).saves, Save::WithoutText);
        let with_text = json!({ "save": { "includeText": true } });
        assert_eq!(sync(with_text).saves, Save::WithText);
        assert!(!sync(json!(0)).changes);
        assert!(sync(json!(1)).changes);
    }

    #[test]
    fn pitfall_7_features_are_read_from_capabilities() {
        let capabilities = Capabilities::new(json!({
            "hoverProvider": true, "renameProvider": { "prepareProvider": true },
            "referencesProvider": false, "definitionProvider": null,
        }));
        let has = |name| capabilities.provides(name);
        assert!(has("hoverProvider") && has("renameProvider"));
        assert!(!has("referencesProvider") && !has("definitionProvider") && !has("x"));
    }

    #[test]
    fn pitfall_18_an_encoding_that_was_not_offered_is_refused() {
        let of = |value| Capabilities::new(json!({ "positionEncoding": value })).encoding();
        assert_eq!(of(json!("utf-8")), Ok(PositionEncoding::Utf8));
        assert_eq!(of(json!(null)), Ok(PositionEncoding::Utf16));
        assert_eq!(of(json!("utf-32")), Err("utf-32".to_owned()));
    }

    #[test]
    fn pitfall_24_capabilities_come_and_go() {
        let registrations = Registrations::default();
        let method = "textDocument/diagnostic";
        let options = json!({ "identifier": "x" });
        registrations.add(&json!({ "registrations": [
            { "id": "1", "method": method, "registerOptions": options }, { "id": 5 },
        ] }));
        assert_eq!(registrations.of(method), [options]);
        registrations.remove(&json!({ "unregisterations": [{ "id": "1" }] }));
        assert!(registrations.of(method).is_empty());
    }
}
