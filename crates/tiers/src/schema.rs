//! JSON schemas derived from Rust types, flat and closed.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Returns the schema of `T` as it is derived, without `$ref` and meta keys.
pub(crate) fn derived<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Returns the schema of the arguments `T` in the form every provider accepts:
/// objects are closed, options are optional fields, choices are string enums.
pub(crate) fn of_arguments<T: JsonSchema>() -> Value {
    let mut schema = derived::<T>();
    flatten(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        // The name and doc comment of the Rust type; the tool has its own.
        root.shift_remove("description");
        if root.get("type").and_then(Value::as_str) == Some("object") {
            root.entry("properties")
                .or_insert_with(|| Value::Object(Map::new()));
        }
    }
    schema
}

fn flatten(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    unwrap_nullable(object);
    join_choices(object);
    object.shift_remove("title");
    object.shift_remove("format");
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    if let Some(choice) = object.shift_remove("const") {
        object.insert("enum".to_owned(), Value::Array(vec![choice]));
        object
            .entry("type")
            .or_insert_with(|| Value::from("string"));
    }
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(flatten);
    }
    if let Some(items) = object.get_mut("items") {
        flatten(items);
    }
    let is_map = object
        .get("additionalProperties")
        .is_some_and(|more| *more != Value::Bool(false));
    if object.get("type").and_then(Value::as_str) == Some("object") && !is_map {
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// `Option<T>` derives as "T or null"; a field that may be left out says it already.
fn unwrap_nullable(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = object.get_mut(key) else {
            continue;
        };
        branches.retain(|branch| branch.get("type").and_then(Value::as_str) != Some("null"));
        if branches.len() == 1 {
            let only = branches.pop();
            object.shift_remove(key);
            if let Some(Value::Object(only)) = only {
                for (key, value) in only {
                    // What is said about the field is nearer than what is said about its type.
                    object.entry(key).or_insert(value);
                }
            }
        }
    }
}

/// An enum whose variants have doc comments derives as one branch each; it
/// becomes one string enum, with the comments in the description.
fn join_choices(object: &mut Map<String, Value>) {
    for key in ["oneOf", "anyOf"] {
        let Some(Value::Array(branches)) = object.get(key) else {
            continue;
        };
        let mut values = Vec::new();
        let mut notes = Vec::new();
        for branch in branches {
            let names: Vec<&str> = match (branch.get("const"), branch.get("enum")) {
                (Some(Value::String(name)), _) => vec![name],
                (None, Some(Value::Array(names))) => {
                    names.iter().filter_map(Value::as_str).collect()
                }
                _ => return,
            };
            if let ([name], Some(note)) = (
                names.as_slice(),
                branch.get("description").and_then(Value::as_str),
            ) {
                notes.push(format!(
                    "`{name}`: {}",
                    note.replace('\n', " ").trim_end_matches('.')
                ));
            }
            values.extend(names.into_iter().map(Value::from));
        }
        object.shift_remove(key);
        object.insert("type".to_owned(), Value::from("string"));
        object.insert("enum".to_owned(), Value::Array(values));
        if !notes.is_empty() {
            let notes = notes.join("; ");
            let description = match object.get("description").and_then(Value::as_str) {
                Some(text) => format!("{} ({notes})", text.trim_end_matches('.')),
                None => notes,
            };
            object.insert("description".to_owned(), Value::from(description));
        }
        return;
    }
}
