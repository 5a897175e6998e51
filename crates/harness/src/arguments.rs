//! Arguments of a tool as a person types them: one JSON object, or `key=value` words.
//!
//! Words are turned into the types that the tool's schema asks for. What does
//! not fit is passed on as text: the registry's own message names the field and
//! what it accepts, and there should be one such message only.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

/// Reads the arguments of one call.
///
/// `schema` is the tool's input schema; files of `key=@file` are looked up in
/// `folder`, and `-` reads `stdin`.
pub(crate) fn parse(
    words: &[String],
    schema: &Value,
    folder: &Path,
    stdin: &mut dyn Read,
) -> anyhow::Result<Value> {
    if let [word] = words {
        if word == "-" {
            return parse_object(&read_all(stdin)?).context("standard input");
        }
        if word.trim_start().starts_with('{') {
            return parse_object(word);
        }
    }
    let mut object = Map::new();
    for word in words {
        let (key, value) = parse_word(word, schema, folder, stdin)?;
        let is_array = property(schema, &key).is_some_and(|property| accepts(property, "array"));
        match (object.get_mut(&key), value) {
            (None, Value::Array(items)) if is_array => {
                object.insert(key, Value::Array(items));
            }
            (None, value) if is_array => {
                object.insert(key, Value::Array(vec![value]));
            }
            (None, value) => {
                object.insert(key, value);
            }
            (Some(Value::Array(items)), value) if is_array => items.push(value),
            (Some(_), _) => bail!("`{key}` is given twice, but takes one value"),
        }
    }
    Ok(Value::Object(object))
}

/// Reads a JSON object.
pub(crate) fn parse_object(text: &str) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_str(text).context("the arguments are not valid JSON")?;
    if !value.is_object() {
        bail!("the arguments are not a JSON object");
    }
    Ok(value)
}

fn parse_word(
    word: &str,
    schema: &Value,
    folder: &Path,
    stdin: &mut dyn Read,
) -> anyhow::Result<(String, Value)> {
    let Some((key, text)) = word.split_once('=') else {
        bail!("`{word}` is neither a JSON object nor `key=value`");
    };
    if let Some(key) = key.strip_suffix(':') {
        let value = serde_json::from_str(text)
            .with_context(|| format!("the value of `{key}:=` is not valid JSON"))?;
        return Ok((key.to_owned(), value));
    }
    if key.is_empty() {
        bail!("`{word}` has no name before `=`");
    }
    let text = if text == "-" {
        read_all(stdin)?
    } else if let Some(literal) = text.strip_prefix("@@") {
        format!("@{literal}")
    } else if let Some(file) = text.strip_prefix('@') {
        std::fs::read_to_string(folder.join(file)).with_context(|| {
            format!("cannot read the file of `{key}=@{file}` (text that starts with `@` is written `@@`)")
        })?
    } else {
        text.to_owned()
    };
    let value = match property(schema, key) {
        Some(property) => coerce(text, property),
        None => Value::String(text),
    };
    Ok((key.to_owned(), value))
}

fn read_all(stdin: &mut dyn Read) -> anyhow::Result<String> {
    let mut text = String::new();
    stdin
        .read_to_string(&mut text)
        .context("cannot read standard input")?;
    Ok(text)
}

fn property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(key)
}

/// Returns whether a schema accepts values of the JSON type `name`.
fn accepts(schema: &Value, name: &str) -> bool {
    let is_named = match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    };
    let alternatives = ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(|key| schema.get(key)?.as_array());
    is_named || alternatives.flatten().any(|schema| accepts(schema, name))
}

fn coerce(text: String, schema: &Value) -> Value {
    if accepts(schema, "string") {
        return Value::String(text);
    }
    if accepts(schema, "array") {
        let item = schema.get("items").unwrap_or(&Value::Null);
        return match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => Value::Array(items),
            _ => coerce(text, item),
        };
    }
    let parsed = match text.as_str() {
        "true" | "false" if accepts(schema, "boolean") => serde_json::from_str(&text).ok(),
        _ if accepts(schema, "integer") => text.parse::<i64>().ok().map(Value::from),
        _ if accepts(schema, "number") => text.parse::<f64>().ok().map(Value::from),
        _ if accepts(schema, "object") => serde_json::from_str(&text).ok(),
        _ => None,
    };
    parsed.unwrap_or(Value::String(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(words: &[&str], stdin: &str) -> anyhow::Result<Value> {
        let schema = json!({"properties": {
            "pattern": {"type": "string"},
            "path": {"type": ["string", "null"]},
            "max": {"type": ["integer", "null"]},
            "all": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "lines": {"type": "array", "items": {"type": "integer"}},
        }});
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        parse(
            &words,
            &schema,
            Path::new("/nowhere"),
            &mut stdin.as_bytes(),
        )
    }

    #[test]
    fn words_become_the_types_of_the_schema() {
        assert_eq!(
            read(
                &[
                    "pattern=12",
                    "path=true",
                    "max=5",
                    "all=true",
                    "lines=1",
                    "lines=2"
                ],
                ""
            )
            .unwrap(),
            json!({"pattern": "12", "path": "true", "max": 5, "all": true, "lines": [1, 2]})
        );
        assert_eq!(
            read(&["lines=[3,4]"], "").unwrap(),
            json!({"lines": [3, 4]})
        );
        assert_eq!(read(&["lines=3"], "").unwrap(), json!({"lines": [3]}));
    }

    #[test]
    fn what_does_not_fit_is_passed_on_as_text() {
        assert_eq!(
            read(&["max=many", "unknown=1"], "").unwrap(),
            json!({"max": "many", "unknown": "1"})
        );
    }

    #[test]
    fn only_the_first_equals_sign_divides() {
        assert_eq!(
            read(&["pattern=$X == $X"], "").unwrap(),
            json!({"pattern": "$X == $X"})
        );
    }

    #[test]
    fn values_come_from_standard_input_and_as_json_too() {
        assert_eq!(
            read(&["pattern=-", "max:=7"], "a\nb").unwrap(),
            json!({"pattern": "a\nb", "max": 7})
        );
        assert_eq!(read(&["-"], "{\"max\": 1}").unwrap(), json!({"max": 1}));
        assert_eq!(
            read(&["pattern=@@a"], "").unwrap(),
            json!({"pattern": "@a"})
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (words, expected) in [
            (
                &["max"][..],
                "`max` is neither a JSON object nor `key=value`",
            ),
            (
                &["pattern=a", "pattern=b"],
                "`pattern` is given twice, but takes one value",
            ),
            (&["{\"a\""], "the arguments are not valid JSON"),
            (&["=a"], "`=a` has no name before `=`"),
        ] {
            assert_eq!(read(words, "").unwrap_err().to_string(), expected);
        }
        let error = read(&["pattern=@gone"], "").unwrap_err();
        assert!(error.to_string().contains("`pattern=@gone`"), "{error}");
    }
}
