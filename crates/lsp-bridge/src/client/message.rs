//! Tells requests, notifications and responses apart.

use std::fmt;

use serde_json::Value;

/// Errors after which the same request may well succeed.
const REQUEST_CANCELLED: i64 = -32800;
const CONTENT_MODIFIED: i64 = -32801;
const SERVER_CANCELLED: i64 = -32802;

/// The method is not known.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// A message from a server.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// The server wants an answer under `id`, a number or a string.
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    /// The answer to our request `id`.
    Response {
        id: u64,
        result: Result<Value, ResponseError>,
    },
    /// An error that names none of our requests.
    Failure(ResponseError),
}

/// The error that one side answers a request with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResponseError {
    pub(crate) code: i64,
    pub(crate) message: String,
    /// Whether the server wants the request again.
    retrigger: bool,
}

/// Something that is no message.
#[derive(Debug, thiserror::Error)]
pub(super) enum MessageError {
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("it is neither request, notification nor response")]
    Unknown,
}

impl ResponseError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retrigger: false,
        }
    }

    /// Returns whether the same request may succeed a little later.
    pub(super) fn wants_retry(&self) -> bool {
        self.retrigger || matches!(self.code, CONTENT_MODIFIED | REQUEST_CANCELLED)
    }

    fn parse(error: &Value) -> Self {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or(0);
        let message = error.get("message").and_then(Value::as_str);
        let retrigger = (error.get("data"))
            .and_then(|data| data.get("retriggerRequest"))
            .and_then(Value::as_bool);
        Self {
            code,
            message: message.unwrap_or("an error without a message").to_owned(),
            // Without a word on it, giving up was not for good.
            retrigger: code == SERVER_CANCELLED && retrigger.unwrap_or(true),
        }
    }
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "it answers: {} (error {})",
            self.message.trim(),
            self.code
        )
    }
}

impl Message {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, MessageError> {
        let mut value: Value = serde_json::from_slice(bytes)?;
        let mut take = |name: &str| {
            let members = value.as_object_mut()?;
            members.get_mut(name).map(Value::take)
        };
        let id = take("id").filter(|id| !id.is_null());
        // What has a method is no response, whatever its id.
        if let Some(Value::String(method)) = take("method") {
            let params = take("params").unwrap_or_default();
            return Ok(match id {
                Some(id) => Self::Request { id, method, params },
                None => Self::Notification { method, params },
            });
        }
        let error = take("error").filter(|error| !error.is_null());
        let error = error.map(|error| ResponseError::parse(&error));
        match (id.as_ref().and_then(our_id), error) {
            (Some(id), Some(error)) => Ok(Self::Response {
                id,
                result: Err(error),
            }),
            // Some servers leave an empty result out.
            (Some(id), None) => Ok(Self::Response {
                id,
                result: Ok(take("result").unwrap_or_default()),
            }),
            (None, Some(error)) => Ok(Self::Failure(error)),
            (None, None) => Err(MessageError::Unknown),
        }
    }
}

/// Our ids are numbers, and some servers give them back as text.
fn our_id(id: &Value) -> Option<u64> {
    match id {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(message: &Value) -> Option<Message> {
        Message::parse(message.to_string().as_bytes()).ok()
    }

    #[test]
    fn pitfall_62_what_has_a_method_is_a_request_whatever_its_id() {
        let message = json!({ "id": 1, "method": "window/x", "result": 2 });
        assert_eq!(
            parse(&message),
            Some(Message::Request {
                id: json!(1),
                method: "window/x".to_owned(),
                params: Value::Null,
            })
        );
    }

    #[test]
    fn pitfall_2_ids_are_numbers_texts_or_null() {
        let request = parse(&json!({ "id": "a-1", "method": "m", "params": [] }));
        assert!(matches!(request, Some(Message::Request { id, .. }) if id == "a-1"));
        let response = parse(&json!({ "id": "7", "result": null }));
        assert!(matches!(
            response,
            Some(Message::Response {
                id: 7,
                result: Ok(Value::Null)
            })
        ));
        let failure = parse(&json!({ "id": null, "error": { "code": -1, "message": "m" } }));
        assert!(matches!(failure, Some(Message::Failure(_))));
        assert_eq!(parse(&json!({ "id": 7.5 })), None);
        assert_eq!(parse(&json!([])), None);
    }

    #[test]
    fn pitfall_6_some_errors_are_worth_another_try() {
        let wants = |error: Value| ResponseError::parse(&error).wants_retry();
        assert!(wants(
            json!({ "code": -32801, "message": "content modified" })
        ));
        assert!(wants(json!({ "code": -32800 })));
        assert!(wants(json!({ "code": -32802 })));
        let data = json!({ "retriggerRequest": false });
        assert!(!wants(json!({ "code": -32802, "data": data })));
        assert!(!wants(json!({ "code": -32603, "message": "internal" })));
    }
}
