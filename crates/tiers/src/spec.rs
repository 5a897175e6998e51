//! What the model is told about a tool.

use schemars::JsonSchema;
use serde_json::Value;

use crate::Tier;

/// Whether calls of one tool may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Calls may overlap.
    Parallel,
    /// Calls on the same resource run one after the other.
    Serial,
}

/// The description of one tool.
#[derive(Debug, Clone, PartialEq)]
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
    pub details_schema: Option<Value>,
}

impl ToolSpec {
    /// Builds a spec whose schema is derived from `Input`; parallel by default.
    pub fn of<Input: JsonSchema>(name: &str, tier: Tier, title: &str, description: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            tier,
            concurrency: Concurrency::Parallel,
            input_schema: crate::schema::of::<Input>(),
            details_schema: None,
        }
    }

    /// Marks calls as serial.
    #[must_use]
    pub fn serial(mut self) -> Self {
        self.concurrency = Concurrency::Serial;
        self
    }

    /// Sets the schema of `details`.
    #[must_use]
    pub fn with_details<Details: JsonSchema>(mut self) -> Self {
        self.details_schema = Some(crate::schema::of::<Details>());
        self
    }
}
