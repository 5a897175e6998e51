//! What each method takes: its parameters, read strictly.
//!
//! A field that is not known is refused: a rule or a limit that this version
//! does not understand must never be dropped in silence.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tiers::{Mode, ToolError, ToolOutput, ToolSpec, Trust};

use super::message::{Fault, RpcError};
use super::ports::{ClientToolSpec, Rules};
use crate::wire;

/// The version of the protocol that is spoken here.
pub(crate) const PROTOCOL_VERSION: u64 = 1;

/// Parameters of `initialize`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Initialize {
    pub(crate) protocol_version: u64,
    #[serde(default)]
    pub(crate) client: Option<Client>,
    pub(crate) workspace: PathBuf,
    pub(crate) trust: Trust,
    pub(crate) mode: Mode,
    #[serde(default = "yes")]
    pub(crate) file_tools: bool,
    #[serde(default)]
    pub(crate) tools: Vec<ClientToolSpec>,
    #[serde(default)]
    pub(crate) approver: bool,
    #[serde(default)]
    pub(crate) events: bool,
    #[serde(default)]
    pub(crate) guardrails: Rules,
}

/// Who the client is; for logs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
}

/// Parameters of `tools/list`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    #[serde(default)]
    pub(crate) dialect: Dialect,
}

/// Whose function-calling format to write.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Dialect {
    #[default]
    Plain,
    Anthropic,
    Openai,
    Gemini,
}

/// Parameters of `tools/call`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallTool {
    pub(crate) name: String,
    #[serde(default = "no_arguments")]
    pub(crate) arguments: Value,
    pub(crate) call: Option<String>,
    pub(crate) parent: Option<String>,
    pub(crate) timeout_ms: Option<NonZeroU64>,
    #[serde(default)]
    pub(crate) dialect: Dialect,
}

impl CallTool {
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(|ms| Duration::from_millis(ms.get()))
    }
}

/// Parameters of `tools/cancel`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cancel {
    pub(crate) call: String,
}

/// Parameters of a method that has none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

fn yes() -> bool {
    true
}

fn no_arguments() -> Value {
    json!({})
}

/// Reads the parameters of `method`; left out, they are an empty object.
pub(crate) fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, RpcError> {
    let params = if params.is_null() { json!({}) } else { params };
    wire::parse(params)
        .map_err(|why| Fault::InvalidParams.error(format!("parameters of `{method}`: {why}")))
}

impl Dialect {
    /// Writes one spec.
    pub(crate) fn spec(self, spec: &ToolSpec) -> Value {
        match self {
            Self::Plain => wire::spec(spec),
            Self::Anthropic => spec.to_anthropic(),
            Self::Openai => spec.to_openai(),
            Self::Gemini => spec.to_gemini(),
        }
    }

    /// Writes what goes back to the model; `None` in the plain dialect.
    pub(crate) fn rendered(
        self,
        result: &Result<ToolOutput, ToolError>,
        call: &str,
        tool: &str,
    ) -> Option<Value> {
        Some(match (self, result) {
            (Self::Plain, _) => return None,
            (Self::Anthropic, Ok(output)) => output.to_anthropic(call),
            (Self::Anthropic, Err(error)) => error.to_anthropic(call),
            (Self::Openai, Ok(output)) => json!(output.to_openai(call)),
            (Self::Openai, Err(error)) => json!(error.to_openai(call)),
            (Self::Gemini, Ok(output)) => json!(output.to_gemini(tool)),
            (Self::Gemini, Err(error)) => json!(error.to_gemini(tool)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::tests::{assert_plain, each_damage};

    #[test]
    fn unknown_and_missing_fields_are_refused_by_name() {
        let base =
            json!({ "protocol_version": 1, "workspace": ".", "trust": "trusted", "mode": "plan" });
        assert!(read::<Initialize>("initialize", base.clone()).is_ok());
        let mut extra = base.clone();
        extra["guardrail"] = json!([]);
        let error = read::<Initialize>("initialize", extra).unwrap_err();
        assert!(error.message.contains("`guardrail`"), "{}", error.message);
        let mut without = base;
        without.as_object_mut().unwrap().remove("trust");
        let error = read::<Initialize>("initialize", without).unwrap_err();
        assert!(error.message.contains("`trust`"), "{}", error.message);
    }

    #[test]
    fn what_is_wrong_with_parameters_is_said_in_the_words_of_json() {
        fn check<T: DeserializeOwned>(sample: &Value) {
            assert!(read::<T>("m", sample.clone()).is_ok(), "{sample}");
            let mut damaged = 0;
            each_damage(sample, &mut |value| {
                if let Err(error) = read::<T>("m", value) {
                    assert_plain(&error.message);
                    damaged += 1;
                }
            });
            assert!(damaged > 5, "{sample}");
        }
        check::<Initialize>(&json!({
            "protocol_version": 1,
            "client": { "name": "a", "version": "1" },
            "workspace": ".",
            "trust": "trusted",
            "mode": "plan",
            "file_tools": true,
            "tools": [{
                "name": "a", "title": "A", "description": "b", "tier": "read",
                "input_schema": {}, "details_schema": {}, "concurrency": "serial",
            }],
            "approver": true,
            "events": true,
            "guardrails": [{
                "tools": ["a"], "tiers": ["read"], "decision": "deny", "message": "c",
            }],
        }));
        check::<List>(&json!({ "dialect": "openai" }));
        check::<CallTool>(&json!({
            "name": "a", "arguments": {}, "call": "b", "parent": "c",
            "timeout_ms": 1, "dialect": "gemini",
        }));
        check::<Cancel>(&json!({ "call": "a" }));
        check::<Nothing>(&json!({}));
    }

    #[test]
    fn no_time_at_all_is_refused_by_name() {
        let call =
            |ms: Value| read::<CallTool>("tools/call", json!({"name": "a", "timeout_ms": ms}));
        assert!(call(json!(1)).is_ok());
        assert_eq!(
            call(json!(0)).unwrap_err().message,
            "parameters of `tools/call`: `timeout_ms`: invalid value: integer `0`, \
             expected a whole number from 1"
        );
        // The longest there is overflows no clock.
        let longest = call(json!(u64::MAX)).unwrap().timeout().unwrap();
        assert_eq!(longest, Duration::from_millis(u64::MAX));
    }
}
