//! Checks arguments against a flat schema, and says exactly what to write.
//!
//! Strict: nothing is converted. All problems are reported, not only the first.

use serde_json::{Map, Value};

use crate::{ToolError, ToolSpec, nearest};

/// A call may be wrong in more places than are worth naming.
const MOST_PROBLEMS: usize = 12;

/// Checks `args` against the input schema of `spec`.
pub(crate) fn check(spec: &ToolSpec, args: &Value) -> Result<(), ToolError> {
    let mut problems = Vec::new();
    match args {
        Value::Object(object) => check_object(&spec.input_schema, object, "", &mut problems),
        Value::String(text) if serde_json::from_str::<Map<String, Value>>(text).is_ok() => {
            problems.push(
                "they are a string that holds a JSON object: give the object itself".to_owned(),
            );
        }
        Value::Null => problems.push("they are null: give an object, `{}` for none".to_owned()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            problems.push(format!("they must be a JSON object, not {}", given(args)));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    if problems.len() > MOST_PROBLEMS {
        let more = problems.len() - MOST_PROBLEMS;
        problems.truncate(MOST_PROBLEMS);
        problems.push(format!("and {more} more"));
    }
    Err(wrong(spec).why(problems.join("; ")))
}

/// Reports what only the type's own parser could find.
pub(crate) fn refused(spec: &ToolSpec, error: serde_json::Error) -> ToolError {
    wrong(spec).why(&error).source(error)
}

fn wrong(spec: &ToolSpec) -> ToolError {
    ToolError::invalid_input(format!("wrong arguments for `{}`", spec.name)).next(usage(spec))
}

/// Says which arguments a tool takes.
fn usage(spec: &ToolSpec) -> String {
    let fields: Vec<String> = properties(&spec.input_schema)
        .map(|(name, schema)| {
            let required = if is_required(&spec.input_schema, name) {
                ", required"
            } else {
                ""
            };
            format!("`{name}` ({}{required})", bare_kind(schema))
        })
        .collect();
    if fields.is_empty() {
        format!("`{}` takes no arguments", spec.name)
    } else {
        format!("`{}` takes {}", spec.name, fields.join(", "))
    }
}

fn check_object(
    schema: &Value,
    object: &Map<String, Value>,
    path: &str,
    problems: &mut Vec<String>,
) {
    let known = |name: &str| properties(schema).any(|(known, _)| known == name);
    let mut meant: Vec<&str> = Vec::new();
    for name in object.keys().filter(|name| !known(name)) {
        let shown = at(path, &short(name));
        let free = properties(schema)
            .map(|(name, _)| name)
            .filter(|name| !object.contains_key(*name));
        match nearest(name, free).first() {
            Some(near) => {
                meant.push(near);
                problems.push(format!("there is no `{shown}`: write `{near}`"));
            }
            None => {
                let all: Vec<String> = properties(schema)
                    .map(|(name, _)| format!("`{name}`"))
                    .collect();
                problems.push(if all.is_empty() {
                    format!("there is no `{shown}`: leave it out")
                } else {
                    format!(
                        "there is no `{shown}`: leave it out or use one of {}",
                        all.join(", ")
                    )
                });
            }
        }
    }
    for (name, property) in properties(schema) {
        let field = at(path, name);
        match object.get(name) {
            Some(Value::Null) if !is_required(schema, name) => {
                problems.push(format!(
                    "`{field}` is null: leave it out, or give {}",
                    kind(property)
                ));
            }
            Some(value) => check_value(property, value, &field, problems),
            None if is_required(schema, name) && !meant.contains(&name) => {
                problems.push(format!("`{field}` is missing: give {}", kind(property)));
            }
            None => {}
        }
    }
}

fn check_value(schema: &Value, value: &Value, path: &str, problems: &mut Vec<String>) {
    let expected = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut say = |text: String| problems.push(text);
    match (expected, value) {
        ("string", Value::String(text)) => check_string(schema, text, path, &mut say),
        ("boolean", Value::Bool(_)) => {}
        ("integer" | "number", Value::Number(number)) => {
            let is_whole = number.is_i64() || number.is_u64();
            let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
            let size = number.as_f64().unwrap_or(f64::INFINITY);
            if expected == "integer" && !is_whole {
                let fix = if size.fract() == 0.0 && size.abs() < 1e15 {
                    format!(": write {size:.0}")
                } else {
                    String::new()
                };
                say(format!(
                    "`{path}` must be {}, not {number}{fix}",
                    kind(schema)
                ));
            } else if bound("minimum").is_some_and(|least| size < least)
                || bound("maximum").is_some_and(|most| size > most)
            {
                say(format!("`{path}` must be {}, not {number}", kind(schema)));
            }
        }
        ("array", Value::Array(items)) => {
            let count = |key: &str| schema.get(key).and_then(Value::as_u64);
            let length = items.len() as u64;
            if count("minItems").is_some_and(|least| length < least)
                || count("maxItems").is_some_and(|most| length > most)
            {
                say(format!("`{path}` must be {}, not {length}", kind(schema)));
            }
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    check_value(schema, item, &format!("{path}[{index}]"), problems);
                }
            }
        }
        ("object", Value::Object(object)) => check_object(schema, object, path, problems),
        _ => {
            let fix = fix(schema, value)
                .map(|fix| format!(": {fix}"))
                .unwrap_or_default();
            say(format!(
                "`{path}` must be {}, not {}{fix}",
                kind(schema),
                given(value)
            ));
        }
    }
}

fn check_string(schema: &Value, text: &str, path: &str, say: &mut impl FnMut(String)) {
    if let Some(choices) = choices(schema) {
        if !choices.contains(&text) {
            let near = nearest(text, choices.iter().copied());
            let guess = near
                .first()
                .map(|near| format!(": write `{near}`"))
                .unwrap_or_default();
            say(format!(
                "`{path}` must be {}, not `{}`{guess}",
                kind(schema),
                short(text)
            ));
        }
        return;
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let length = text.chars().count() as u64;
    if bound("minLength").is_some_and(|least| length < least) {
        say(if length == 0 {
            format!("`{path}` is empty: give {}", kind(schema))
        } else {
            format!("`{path}` must be {}, not {length}", kind(schema))
        });
    } else if bound("maxLength").is_some_and(|most| length > most) {
        say(format!("`{path}` must be {}, not {length}", kind(schema)));
    }
}

/// Says how to write what was probably meant.
fn fix(schema: &Value, value: &Value) -> Option<String> {
    let expected = schema.get("type").and_then(Value::as_str)?;
    match (expected, value) {
        ("integer", Value::String(text)) => {
            let number: i64 = text.trim().parse().ok()?;
            Some(format!("write {number} without quotes"))
        }
        ("number", Value::String(text)) => {
            let number: f64 = text.trim().parse().ok()?;
            number
                .is_finite()
                .then(|| format!("write {number} without quotes"))
        }
        ("boolean", Value::String(text)) => match text.trim().to_lowercase().as_str() {
            "true" => Some("write true without quotes".to_owned()),
            "false" => Some("write false without quotes".to_owned()),
            _ => None,
        },
        ("string", Value::Number(_) | Value::Bool(_)) => {
            Some(format!("write \"{value}\" with quotes"))
        }
        ("string", Value::Array(items)) => match items.as_slice() {
            [Value::String(only)] => Some(format!("write \"{}\" without brackets", short(only))),
            _ => None,
        },
        ("array", Value::String(text)) if serde_json::from_str::<Vec<Value>>(text).is_ok() => {
            Some("give the list itself, not a string of it".to_owned())
        }
        ("object", Value::String(text))
            if serde_json::from_str::<Map<String, Value>>(text).is_ok() =>
        {
            Some("give the object itself, not a string of it".to_owned())
        }
        ("array", Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            let mut problems = Vec::new();
            check_value(schema.get("items")?, value, "", &mut problems);
            let text = value.to_string();
            (problems.is_empty() && text.len() <= 60).then(|| format!("write [{text}]"))
        }
        _ => None,
    }
}

/// Names what was given.
fn given(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(is_set) => is_set.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string `{}`", short(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Names what is accepted, with its bounds.
fn kind(schema: &Value) -> String {
    let bound = |key: &str| schema.get(key).filter(|bound| bound.is_number());
    let range = |least: &str, most: &str, unit: &str| match (bound(least), bound(most)) {
        (None, None) => String::new(),
        (Some(least), None) => format!(" of at least {}{unit}", plain(least)),
        (None, Some(most)) => format!(" of at most {}{unit}", plain(most)),
        (Some(least), Some(most)) => format!(" from {} to {}{unit}", plain(least), plain(most)),
    };
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => match choices(schema) {
            Some(choices) => {
                let all: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
                match all.as_slice() {
                    [only] => only.clone(),
                    _ => format!("one of {}", all.join(", ")),
                }
            }
            None => format!("a string{}", range("minLength", "maxLength", " characters")),
        },
        Some("integer") => format!("an integer{}", range("minimum", "maximum", "")),
        Some("number") => format!("a number{}", range("minimum", "maximum", "")),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => {
            let items = match schema
                .get("items")
                .and_then(|items| items.get("type")?.as_str())
            {
                Some("string") => " of strings",
                Some("integer") => " of integers",
                Some("number") => " of numbers",
                Some("object") => " of objects",
                _ => "",
            };
            format!("a list{items}{}", range("minItems", "maxItems", " items"))
        }
        _ => "an object".to_owned(),
    }
}

/// Bounds derive as `0.0` for some types.
fn plain(number: &Value) -> String {
    number
        .as_f64()
        .filter(|size| size.fract() == 0.0 && size.abs() < 1e15)
        .map_or_else(|| number.to_string(), |size| format!("{size:.0}"))
}

fn bare_kind(schema: &Value) -> String {
    let kind = kind(schema);
    let kind = kind
        .strip_prefix("a ")
        .or_else(|| kind.strip_prefix("an "))
        .unwrap_or(&kind);
    kind.to_owned()
}

fn choices(schema: &Value) -> Option<Vec<&str>> {
    Some(
        schema
            .get("enum")?
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .collect(),
    )
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.as_str(), schema))
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|required| required.iter().any(|required| required == name))
}

fn at(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// Cuts what came from outside to what a message can show.
fn short(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(40)
        .collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
