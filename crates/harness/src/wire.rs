//! Results as JSON, the same on the command line and over `serve`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
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

/// Reads what a program sent; the error says what is wrong in the words of JSON,
/// and where.
pub(crate) fn parse<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    parse_at("", value)
}

/// Reads a value that stands at `place` in something larger.
fn parse_at<T: DeserializeOwned>(place: &str, value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = match error.path().to_string() {
            whole if whole == "." => String::new(),
            item if item.starts_with('[') || place.is_empty() => item,
            field => format!(".{field}"),
        };
        let said = in_words_of_json(&error.inner().to_string());
        match format!("{place}{path}").as_str() {
            "" => said,
            place => format!("`{place}`: {said}"),
        }
    })
}

/// Says what a parser expected without the names of its types.
fn in_words_of_json(said: &str) -> String {
    let said = match said.strip_prefix("unknown variant ") {
        Some(rest) => format!("unknown value {rest}"),
        None => said.to_owned(),
    };
    // What was given is quoted, so the last one is the parser's own.
    let Some((given, expected)) = said.rsplit_once(", expected ") else {
        return said;
    };
    let given = match given.split_once(": ") {
        Some((what, "map")) => format!("{what}: an object"),
        Some((what, "sequence")) => format!("{what}: a list"),
        _ => given.to_owned(),
    };
    let expected = match expected {
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "path string" | "string or map" | "map with a single key" => "a string",
        other if other.starts_with("unit variant") || other.ends_with(" identifier") => "a string",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other if other.starts_with("a nonzero ") => "a whole number from 1",
        "a map" => "an object",
        "unit" => "null",
        other if other.starts_with("struct ") || other.contains("enum ") => "an object",
        other => other,
    };
    format!("{given}, expected {expected}")
}

/// A result as somebody else's tool gives it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForeignResult {
    /// A text, or a list of parts.
    content: Option<Value>,
    #[serde(default)]
    details: Value,
    #[serde(default)]
    touched: Vec<String>,
    error: Option<ForeignError>,
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
    let result: ForeignResult = parse(value).map_err(unusable)?;
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
        Some(Value::String(text)) => vec![Content::Text(text)],
        Some(parts) => parse_at::<Vec<Content>>("content", parts).map_err(unusable)?,
    };
    if content.is_empty() {
        return Err(unusable("`content` is empty".to_owned()));
    }
    Ok(ToolOutput::new(content)
        .with_details(result.details)
        .with_touched(result.touched))
}

#[cfg(test)]
pub(crate) mod tests {
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
            json!({ "content": 1 }),
            json!({ "content": "a", "touched": "b" }),
        ] {
            let error = read_result("t", value.clone()).unwrap_err();
            assert_eq!(
                error.what, "`t` gave a result that cannot be used",
                "{value}"
            );
            assert_eq!(error.kind, ErrorKind::Failed);
        }
    }

    /// Calls `check` with `sample` and each value in it replaced by each of some others.
    pub(crate) fn each_damage(sample: &Value, check: &mut dyn FnMut(Value)) {
        let others = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(u64::MAX),
            json!("x"),
            json!([]),
            json!([[]]),
            json!({}),
            json!({ "x": 1 }),
        ];
        for other in others {
            check(other);
        }
        match sample {
            Value::Object(fields) => {
                for (name, value) in fields {
                    each_damage(value, &mut |damaged| {
                        let mut whole = fields.clone();
                        whole.insert(name.clone(), damaged);
                        check(Value::Object(whole));
                    });
                    let mut without = fields.clone();
                    without.remove(name);
                    check(Value::Object(without));
                }
            }
            Value::Array(items) => {
                for (at, value) in items.iter().enumerate() {
                    each_damage(value, &mut |damaged| {
                        let mut whole = items.clone();
                        whole[at] = damaged;
                        check(Value::Array(whole));
                    });
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Panics where a text names what only a reader of our sources knows.
    #[track_caller]
    pub(crate) fn assert_plain(said: &str) {
        let words = said.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words {
            let is_known = [
                "struct",
                "enum",
                "variant",
                "map",
                "sequence",
                "untagged",
                "tuple",
                "unit",
                "identifier",
                "u64",
                "usize",
                "i64",
                "u32",
                "u8",
                "nonzero",
            ]
            .contains(&word);
            let has_hump = word.chars().any(char::is_lowercase)
                && word.chars().skip(1).any(char::is_uppercase);
            assert!(!is_known && !has_hump, "`{word}` in: {said}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_result_is_said_in_the_words_of_json() {
        let sample = json!({
            "content": [
                { "type": "text", "text": "a" },
                { "type": "image", "media_type": "image/png", "data": "AA==" },
            ],
            "details": { "n": 1 },
            "touched": ["a"],
            "error": { "kind": "failed", "what": "a", "message": "b", "why": "c", "next": "d" },
        });
        let mut damaged = 0;
        each_damage(&sample, &mut |value| {
            if let Err(error) = read_result("t", value) {
                assert_plain(&error.to_string());
                damaged += 1;
            }
        });
        assert!(damaged > 100, "{damaged}");
        let why = |value: Value| read_result("t", value).unwrap_err().why.unwrap();
        assert_eq!(
            why(json!({ "content": [{ "type": "text", "text": 1 }] })),
            "`content[0]`: invalid type: integer `1`, expected a string"
        );
        assert_eq!(
            why(json!({ "error": { "kind": { "failed": 1 } } })),
            "`error.kind.failed`: invalid type: integer `1`, expected null"
        );
        assert_eq!(
            why(json!({ "content": "a", "touched": { "a": 1 } })),
            "`touched`: invalid type: an object, expected a list"
        );
    }
}
