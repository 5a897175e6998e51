//! What the model is told about a tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Tier, schema};

/// Whether calls of one tool may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Concurrency {
    /// Calls may overlap.
    Parallel,
    /// Calls on the same resource run one after the other.
    Serial,
}

/// The description of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name the model calls it by, `snake_case`.
    pub name: String,
    /// A short title for people.
    pub title: String,
    /// What the model reads.
    pub description: String,
    /// The tier; it decides visibility.
    pub tier: Tier,
    /// Whether calls may overlap.
    pub concurrency: Concurrency,
    /// JSON schema of the arguments: one flat, closed object.
    pub input_schema: Value,
    /// JSON schema of `details`, where the tool has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details_schema: Option<Value>,
}

impl ToolSpec {
    /// Builds a spec whose schema is derived from `Input`; parallel by default.
    ///
    /// The schema is made flat and closed: no field but those of `Input` is
    /// accepted, an `Option` is a field that may be left out, an enum of unit
    /// variants is a choice of strings, and doc comments are what the model
    /// reads.
    #[must_use]
    pub fn of<Input: JsonSchema>(name: &str, tier: Tier, title: &str, description: &str) -> Self {
        Self::from_schema(
            name,
            tier,
            title,
            description,
            schema::of_arguments::<Input>(),
        )
    }

    /// Builds a spec from a schema that came from elsewhere, for example over a
    /// wire; parallel by default. [`shape_violations`](Self::shape_violations)
    /// says whether a registry accepts it.
    #[must_use]
    pub fn from_schema(
        name: &str,
        tier: Tier,
        title: &str,
        description: &str,
        input_schema: Value,
    ) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            tier,
            concurrency: Concurrency::Parallel,
            input_schema,
            details_schema: None,
        }
    }

    /// Marks calls as serial; the tool's `admission` names the group.
    #[must_use]
    pub fn serial(mut self) -> Self {
        self.concurrency = Concurrency::Serial;
        self
    }

    /// Sets the schema of `details`.
    #[must_use]
    pub fn with_details<Details: JsonSchema>(mut self) -> Self {
        self.details_schema = Some(schema::derived::<Details>());
        self
    }

    /// Returns everything that is wrong with the spec, one sentence each; a
    /// test of every tool expects none.
    ///
    /// Besides [`shape_violations`](Self::shape_violations): a description for
    /// the tool and for every property, and a title.
    #[must_use]
    pub fn check(&self) -> Vec<String> {
        let mut violations = self.shape_violations();
        for (what, text) in [("title", &self.title), ("description", &self.description)] {
            if text.trim().is_empty() {
                violations.push(format!("the tool has no {what}"));
            }
        }
        undescribed(&self.input_schema, "", &mut violations);
        violations
    }

    /// Returns what not every model provider would accept: a registry refuses
    /// to be built with such a spec.
    #[must_use]
    pub fn shape_violations(&self) -> Vec<String> {
        let mut violations = Vec::new();
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !self.name.starts_with(|c: char| c.is_ascii_lowercase())
            || !self.name.chars().all(is_word)
            || self.name.len() > 64
        {
            violations.push(format!(
                "the name `{}` is not snake_case of at most 64 characters",
                self.name
            ));
        }
        if self.input_schema.get("type").and_then(Value::as_str) == Some("object") {
            shape(&self.input_schema, "", &mut violations);
        } else {
            violations.push("the arguments are not an object".to_owned());
        }
        violations
    }
}

/// What a schema of each type may say besides `type` and `description`.
fn known_keys(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "object" => &["properties", "required", "additionalProperties"],
        "array" => &["items", "minItems", "maxItems"],
        "string" => &["enum", "minLength", "maxLength", "pattern"],
        "integer" | "number" => &["minimum", "maximum"],
        "boolean" => &[],
        _ => return None,
    })
}

fn shape(schema: &Value, path: &str, violations: &mut Vec<String>) {
    let here = if path.is_empty() {
        "the arguments".to_owned()
    } else {
        format!("`{path}`")
    };
    let Some(object) = schema.as_object() else {
        violations.push(format!("{here}: any value is accepted; say which type"));
        return;
    };
    let kind = object.get("type").and_then(Value::as_str);
    let Some((kind, known)) = kind.and_then(|kind| Some((kind, known_keys(kind)?))) else {
        let given = object
            .get("type")
            .map_or("no single type".to_owned(), |kind| format!("type {kind}"));
        violations.push(format!(
            "{here}: {given}; only string, integer, number, boolean, array and object are accepted everywhere"
        ));
        return;
    };
    for key in object.keys() {
        if !known.contains(&key.as_str())
            && !matches!(key.as_str(), "type" | "description" | "default")
        {
            violations.push(format!(
                "{here}: `{key}` is not accepted everywhere in type {kind}"
            ));
        }
    }
    match kind {
        "object" => shape_of_object(object, path, &here, violations),
        "array" => match object.get("items") {
            Some(items) => shape(items, &format!("{path}[]"), violations),
            None => violations.push(format!("{here}: a list needs `items`")),
        },
        _ => {
            let is_choice_of_strings = object.get("enum").is_none_or(|values| {
                values
                    .as_array()
                    .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_string))
            });
            if !is_choice_of_strings {
                violations.push(format!("{here}: `enum` must be a list of strings"));
            }
        }
    }
}

fn shape_of_object(
    object: &Map<String, Value>,
    path: &str,
    here: &str,
    violations: &mut Vec<String>,
) {
    if object.get("additionalProperties") != Some(&Value::Bool(false)) {
        violations.push(format!("{here}: `additionalProperties` must be false"));
    }
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        violations.push(format!("{here}: an object needs `properties`"));
        return;
    };
    for name in object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if !name
            .as_str()
            .is_some_and(|name| properties.contains_key(name))
        {
            violations.push(format!("{here}: {name} is required but not a property"));
        }
    }
    for (name, schema) in properties {
        shape(schema, &join(path, name), violations);
    }
}

fn undescribed(schema: &Value, path: &str, violations: &mut Vec<String>) {
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let path = join(path, name);
        let text = property
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if text.trim().is_empty() {
            violations.push(format!("`{path}` has no description"));
        }
        undescribed(property, &path, violations);
        if let Some(items) = property.get("items") {
            undescribed(items, &format!("{path}[]"), violations);
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

#[cfg(test)]
mod tests;
