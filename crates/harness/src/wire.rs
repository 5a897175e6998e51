//! Results as JSON, the same on the command line and over `serve`.

use serde::Deserialize;
use serde_json::{Value, json};
use tiers::{Content, ErrorKind, ToolError, ToolOutput, ToolSpec};

/// Writes the result of a call: an output, or an object with `error`.
pub(crate) fn result(result: &Result<ToolOutput, ToolError>) -> Value {
    match result {
        Ok(output) => json!(output),
        Err(error) => json!({ "error": self::error(error) }),
    }
}

/// Writes an error: its kind, the whole message and its parts.
pub(crate) fn error(error: &ToolError) -> Value {
    let mut object = json!(error);
    if let Value::Object(fields) = &mut object {
        fields.insert("message".to_owned(), json!(error.to_string()));
    }
    object
}

/// Writes a spec: name and tier first, then what the model reads.
pub(crate) fn spec(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "tier": spec.tier,
        "title": spec.title,
        "description": spec.description,
        "concurrency": match spec.concurrency {
            tiers::Concurrency::Parallel => "parallel",
            tiers::Concurrency::Serial => "serial",
        },
        "input_schema": spec.input_schema,
        "details_schema": spec.details_schema,
    })
}

/// A result as somebody else's tool gives it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForeignResult {
    content: Option<ForeignContent>,
    #[serde(default)]
    details: Value,
    #[serde(default)]
    touched: Vec<String>,
    error: Option<ForeignError>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ForeignContent {
    Text(String),
    Parts(Vec<Content>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForeignError {
    kind: Option<ErrorKind>,
    what: Option<String>,
    message: Option<String>,
    why: Option<String>,
    next: Option<String>,
}

/// Reads the result of the tool `name` that the client runs; a result that
/// cannot be read is an error of that tool.
pub(crate) fn read_result(name: &str, value: Value) -> Result<ToolOutput, ToolError> {
    let unusable = |why: String| {
        ToolError::failed(format!("`{name}` gave a result that cannot be used")).why(why)
    };
    let result: ForeignResult =
        serde_json::from_value(value).map_err(|error| unusable(error.to_string()))?;
    if let Some(error) = result.error {
        let what = error
            .what
            .or(error.message)
            .unwrap_or_else(|| format!("`{name}` failed"));
        let mut tool_error = ToolError::new(error.kind.unwrap_or(ErrorKind::Failed), what);
        tool_error.why = error.why;
        tool_error.next = error.next;
        return Err(tool_error);
    }
    let content = match result.content {
        None => return Err(unusable("it has neither `content` nor `error`".to_owned())),
        Some(ForeignContent::Text(text)) => vec![Content::Text(text)],
        Some(ForeignContent::Parts(parts)) => parts,
    };
    if content.is_empty() {
        return Err(unusable("`content` is empty".to_owned()));
    }
    Ok(ToolOutput::new(content)
        .with_details(result.details)
        .with_touched(result.touched))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_survives_the_way_there_and_back() {
        let mut before = ToolOutput::text("a")
            .with_details(json!({ "n": 1 }))
            .with_touched(vec!["x".to_owned()]);
        before.content.push(Content::Image {
            media_type: "image/png".to_owned(),
            data: vec![0, 255, 7],
        });
        assert_eq!(read_result("t", json!(before)).unwrap(), before);
    }

    #[test]
    fn an_error_keeps_its_kind_and_its_parts() {
        let before = ToolError::conflict("cannot a").why("b").next("c");
        let after = read_result(
            "t",
            json!({ "error": {
            "kind": "conflict", "what": "cannot a", "why": "b", "next": "c" } }),
        )
        .unwrap_err();
        assert_eq!(
            (after.kind, after.to_string()),
            (before.kind, before.to_string())
        );
    }

    #[test]
    fn results_that_cannot_be_used_are_errors_of_that_tool() {
        for value in [
            json!(null),
            json!({}),
            json!({ "content": [] }),
            json!({ "content": [{ "type": "image", "media_type": "image/png", "data": "%" }] }),
            json!({ "content": "a", "detail": 1 }),
        ] {
            let error = read_result("t", value.clone()).unwrap_err();
            assert_eq!(
                error.what, "`t` gave a result that cannot be used",
                "{value}"
            );
            assert_eq!(error.kind, ErrorKind::Failed);
        }
    }
}
