//! JSON-RPC 2.0 messages: what one line says, and how ours are written.
//!
//! Knows no method; [`super::session`] does.

use serde::Deserialize;
use serde_json::{Value, json};

/// The id of a request; each side numbers its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Id {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => number.as_i64().map(Self::Number),
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Text(text) => json!(text),
        }
    }
}

/// The id of a message, whatever else is in it.
#[derive(Deserialize)]
struct IdOnly {
    id: Value,
}

/// What one line of input says.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// It wants an answer.
    Request {
        id: Id,
        method: String,
        params: Value,
    },
    /// It wants none.
    Notification { method: String, params: Value },
    /// It answers a request of ours.
    Response {
        id: Id,
        outcome: Result<Value, RpcError>,
    },
    /// It is no message; the answer to it, with the id where there is one.
    Malformed {
        id: Option<Id>,
        error: RpcError,
        /// Whether it was meant to answer a request of ours: it names no method.
        is_answer: bool,
    },
}

/// A protocol error: the message could not be handled at all.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
}

/// The protocol errors that this side answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Parse,
    InvalidRequest,
    UnknownMethod,
    InvalidParams,
    NotInitialized,
    AlreadyInitialized,
    UnsupportedVersion,
    MessageTooLong,
    Busy,
    Workspace,
}

impl Fault {
    fn code_and_kind(self) -> (i64, &'static str) {
        match self {
            Self::Parse => (-32700, "parse_error"),
            Self::InvalidRequest => (-32600, "invalid_request"),
            Self::UnknownMethod => (-32601, "unknown_method"),
            Self::InvalidParams => (-32602, "invalid_params"),
            Self::NotInitialized => (-32001, "not_initialized"),
            Self::AlreadyInitialized => (-32002, "already_initialized"),
            Self::UnsupportedVersion => (-32003, "unsupported_version"),
            Self::MessageTooLong => (-32004, "message_too_long"),
            Self::Busy => (-32005, "busy"),
            Self::Workspace => (-32006, "workspace"),
        }
    }

    /// Builds the error; its `data` names the kind.
    pub(crate) fn error(self, message: impl Into<String>) -> RpcError {
        let (code, kind) = self.code_and_kind();
        RpcError {
            code,
            message: message.into(),
            data: json!({ "kind": kind }),
        }
    }
}

impl RpcError {
    /// Adds a field to `data`.
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        if let Value::Object(data) = &mut self.data {
            data.insert(key.to_owned(), value);
        }
        self
    }

    fn to_value(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Value::Object(error), false) = (&mut error, self.data.is_null()) {
            error.insert("data".to_owned(), self.data.clone());
        }
        error
    }

    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            code: value.get("code")?.as_i64()?,
            message: value.get("message")?.as_str()?.to_owned(),
            data: value.get("data").cloned().unwrap_or(Value::Null),
        })
    }
}

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Incoming {
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => {
            let error = Fault::Parse.error(format!("the line is not valid JSON: {error}"));
            // Half of a surrogate pair breaks a text, not the line around it.
            let id = serde_json::from_slice::<IdOnly>(line)
                .ok()
                .and_then(|only| Id::read(&only.id));
            return Incoming::Malformed {
                id,
                error,
                is_answer: false,
            };
        }
    };
    let id = message.get("id").and_then(Id::read);
    let malformed = |why: &str| Incoming::Malformed {
        id: id.clone(),
        error: Fault::InvalidRequest.error(why),
        is_answer: message.get("method").is_none(),
    };
    let Value::Object(fields) = &message else {
        return malformed(if message.is_array() {
            "batches are not supported; send one message per line"
        } else {
            "a message is a JSON object"
        });
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return malformed("`jsonrpc` must be \"2.0\"");
    }
    let params = fields.get("params").cloned().unwrap_or(Value::Null);
    match (fields.get("method"), fields.get("id")) {
        (Some(Value::String(method)), None) => Incoming::Notification {
            method: method.clone(),
            params,
        },
        (Some(Value::String(method)), Some(_)) => match &id {
            Some(id) => Incoming::Request {
                id: id.clone(),
                method: method.clone(),
                params,
            },
            None => malformed("`id` must be a string or an integer"),
        },
        (Some(_), _) => malformed("`method` must be a string"),
        (None, _) => {
            let outcome = match (fields.get("result"), fields.get("error")) {
                (Some(result), None) => Ok(result.clone()),
                (None, Some(error)) => match RpcError::read(error) {
                    Some(error) => Err(error),
                    None => return malformed("`error` needs an integer `code` and a `message`"),
                },
                _ => {
                    return malformed(
                        "a message needs a `method`, or else exactly one of `result` and `error`",
                    );
                }
            };
            match id.clone() {
                Some(id) => Incoming::Response { id, outcome },
                None => malformed("a response needs the `id` of its request"),
            }
        }
    }
}

/// Writes the answer to a request; `None` stands for one whose id could not be read.
pub(crate) fn response(id: Option<&Id>, outcome: Result<Value, RpcError>) -> Value {
    let id = id.map_or(Value::Null, Id::to_value);
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.to_value() }),
    }
}

/// Writes a request of ours.
pub(crate) fn request(id: &Id, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.to_value(), "method": method, "params": params })
}

/// Writes a notification.
pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_malformed(line: &str, id: Option<Id>, code: i64, message: &str) {
        let Incoming::Malformed {
            id: found, error, ..
        } = read(line.as_bytes())
        else {
            panic!("`{line}` was understood");
        };
        assert_eq!((found, error.code), (id, code), "{line}");
        assert!(error.message.contains(message), "{}", error.message);
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let id = Id::Number(7);
        assert_eq!(
            read(br#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}"#),
            Incoming::Request {
                id: id.clone(),
                method: "m".to_owned(),
                params: json!([1])
            }
        );
        assert_eq!(
            read(br#"{"jsonrpc":"2.0","method":"m"}"#),
            Incoming::Notification {
                method: "m".to_owned(),
                params: Value::Null
            }
        );
        assert_eq!(
            read(br#"{"jsonrpc":"2.0","id":7,"result":null}"#),
            Incoming::Response {
                id,
                outcome: Ok(Value::Null)
            }
        );
        assert_eq!(
            read(br#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"no"}}"#),
            Incoming::Response {
                id: Id::Text("a".to_owned()),
                outcome: Err(RpcError {
                    code: 1,
                    message: "no".to_owned(),
                    data: Value::Null
                }),
            }
        );
    }

    #[test]
    fn what_is_no_message_is_answered_with_its_id_where_there_is_one() {
        check_malformed("{", None, -32700, "not valid JSON");
        check_malformed(
            r#"{"jsonrpc":"2.0","id":4,"method":"m","params":{"a":"\ud800"}}"#,
            Some(Id::Number(4)),
            -32700,
            "not valid JSON",
        );
        check_malformed("[]", None, -32600, "batches");
        check_malformed("1", None, -32600, "JSON object");
        check_malformed(
            r#"{"id":1,"method":"m"}"#,
            Some(Id::Number(1)),
            -32600,
            "jsonrpc",
        );
        check_malformed(
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            None,
            -32600,
            "`id`",
        );
        check_malformed(
            r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
            None,
            -32600,
            "`id`",
        );
        check_malformed(
            r#"{"jsonrpc":"2.0","id":1,"method":2}"#,
            Some(Id::Number(1)),
            -32600,
            "`method`",
        );
        check_malformed(
            r#"{"jsonrpc":"2.0","id":1}"#,
            Some(Id::Number(1)),
            -32600,
            "`result`",
        );
        check_malformed(r#"{"jsonrpc":"2.0","result":1}"#, None, -32600, "`id`");
        check_malformed(
            "{\"jsonrpc\":\"2.0\",\"method\":\"\u{0}\"}",
            None,
            -32700,
            "JSON",
        );
    }

    #[test]
    fn the_documentation_lists_every_error() {
        let documentation = include_str!("../../../../docs/protocol.md");
        for fault in [
            Fault::Parse,
            Fault::InvalidRequest,
            Fault::UnknownMethod,
            Fault::InvalidParams,
            Fault::NotInitialized,
            Fault::AlreadyInitialized,
            Fault::UnsupportedVersion,
            Fault::MessageTooLong,
            Fault::Busy,
            Fault::Workspace,
        ] {
            let (code, kind) = fault.code_and_kind();
            let row = format!("| {code} | `{kind}` |");
            assert!(documentation.contains(&row), "no row `{row}`");
        }
    }
}
