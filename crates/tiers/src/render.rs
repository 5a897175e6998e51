//! Specs and results in the function-calling dialects of the model providers.
//!
//! Sources: Anthropic "Messages API, tool use"; OpenAI "Chat Completions API,
//! function calling"; Google "Gemini API, function calling".

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use crate::{Content, ToolError, ToolOutput, ToolSpec};

/// What a Gemini function declaration accepts in a schema.
const GEMINI_KEYS: &[&str] = &[
    "type",
    "description",
    "enum",
    "items",
    "properties",
    "required",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
];

impl ToolSpec {
    /// Renders as a tool of Anthropic's Messages API.
    #[must_use]
    pub fn to_anthropic(&self) -> Value {
        json!({
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        })
    }

    /// Renders as a function tool of OpenAI's Chat Completions API.
    #[must_use]
    pub fn to_openai(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.input_schema,
            },
        })
    }

    /// Renders as a function declaration of the Gemini API.
    ///
    /// Keys that it refuses (`additionalProperties`, `default`) are left out;
    /// dispatch checks them all the same. A tool without arguments has no
    /// `parameters`, since an object without properties is refused.
    #[must_use]
    pub fn to_gemini(&self) -> Value {
        let mut declaration = json!({ "name": self.name, "description": self.description });
        let has_arguments = self
            .input_schema
            .get("properties")
            .and_then(Value::as_object)
            .is_some_and(|properties| !properties.is_empty());
        if has_arguments && let Some(declaration) = declaration.as_object_mut() {
            declaration.insert("parameters".to_owned(), gemini_schema(&self.input_schema));
        }
        declaration
    }
}

fn gemini_schema(schema: &Value) -> Value {
    let Some(object) = schema.as_object() else {
        return schema.clone();
    };
    let mut kept = Map::new();
    for (key, value) in object {
        if !GEMINI_KEYS.contains(&key.as_str()) {
            continue;
        }
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => Value::Object(
                properties
                    .iter()
                    .map(|(name, schema)| (name.clone(), gemini_schema(schema)))
                    .collect(),
            ),
            ("items", schema) => gemini_schema(schema),
            _ => value.clone(),
        };
        kept.insert(key.clone(), value);
    }
    Value::Object(kept)
}

impl ToolOutput {
    /// Renders as a `tool_result` block of Anthropic's Messages API, the answer
    /// to the `tool_use` block `id`.
    #[must_use]
    pub fn to_anthropic(&self, id: &str) -> Value {
        json!({
            "type": "tool_result",
            "tool_use_id": id,
            "content": anthropic_content(&self.content),
        })
    }

    /// Renders as messages of OpenAI's Chat Completions API, the answer to the
    /// tool call `id`.
    ///
    /// A tool message holds text only. Images are named in it and follow in one
    /// user message, which belongs after the last tool message of the turn.
    #[must_use]
    pub fn to_openai(&self, id: &str) -> Vec<Value> {
        openai_messages(id, "", &self.content)
    }

    /// Renders as parts of a Gemini user content, the answer to a call of
    /// `tool`: one `functionResponse`, then an `inlineData` for each image.
    #[must_use]
    pub fn to_gemini(&self, tool: &str) -> Vec<Value> {
        gemini_parts(tool, "output", &self.content)
    }
}

impl ToolError {
    /// Renders as a `tool_result` block with `is_error`; see
    /// [`ToolOutput::to_anthropic`].
    #[must_use]
    pub fn to_anthropic(&self, id: &str) -> Value {
        json!({
            "type": "tool_result",
            "tool_use_id": id,
            "content": anthropic_content(&self.content()),
            "is_error": true,
        })
    }

    /// Renders as messages; see [`ToolOutput::to_openai`]. There is no mark for
    /// errors, so the text begins with `error: `.
    #[must_use]
    pub fn to_openai(&self, id: &str) -> Vec<Value> {
        openai_messages(id, "error: ", &self.content())
    }

    /// Renders as parts, with the text under `error`; see
    /// [`ToolOutput::to_gemini`].
    #[must_use]
    pub fn to_gemini(&self, tool: &str) -> Vec<Value> {
        gemini_parts(tool, "error", &self.content())
    }
}

fn anthropic_content(content: &[Content]) -> Vec<Value> {
    content
        .iter()
        .map(|part| match part {
            Content::Text(text) => json!({ "type": "text", "text": text }),
            Content::Image { media_type, data } => json!({
                "type": "image",
                "source": {
                    "type": "base64",
                    "media_type": media_type,
                    "data": BASE64_STANDARD.encode(data),
                },
            }),
        })
        .collect()
}

fn openai_messages(id: &str, prefix: &str, content: &[Content]) -> Vec<Value> {
    let mut messages = vec![json!({
        "role": "tool",
        "tool_call_id": id,
        "content": format!("{prefix}{}", text_of(content, "in the next user message")),
    })];
    let images: Vec<Value> = images(content)
        .map(|(media_type, data)| {
            let data = BASE64_STANDARD.encode(data);
            json!({ "type": "image_url", "image_url": { "url": format!("data:{media_type};base64,{data}") } })
        })
        .collect();
    if !images.is_empty() {
        messages.push(json!({ "role": "user", "content": images }));
    }
    messages
}

fn gemini_parts(tool: &str, key: &str, content: &[Content]) -> Vec<Value> {
    let mut parts = vec![json!({
        "functionResponse": {
            "name": tool,
            "response": { key: text_of(content, "in a part after this one") },
        },
    })];
    parts.extend(images(content).map(|(media_type, data)| {
        json!({ "inlineData": { "mimeType": media_type, "data": BASE64_STANDARD.encode(data) } })
    }));
    parts
}

/// Joins the texts; an image is named where it stands.
fn text_of(content: &[Content], place: &str) -> String {
    let mut number = 0;
    let texts: Vec<String> = content
        .iter()
        .map(|part| match part {
            Content::Text(text) => text.trim_end_matches('\n').to_owned(),
            Content::Image { media_type, .. } => {
                number += 1;
                format!("[image {number}: {media_type}, {place}]")
            }
        })
        .collect();
    texts.join("\n")
}

fn images(content: &[Content]) -> impl Iterator<Item = (&str, &[u8])> {
    content.iter().filter_map(|part| match part {
        Content::Text(_) => None,
        Content::Image { media_type, data } => Some((media_type.as_str(), data.as_slice())),
    })
}

#[cfg(test)]
mod tests;
