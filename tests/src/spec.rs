//! What a spec costs the model that reads it.

use serde_json::{Value, json};
use tiers::ToolSpec;

/// The tokenizer that budgets are counted with.
pub const TOKENIZER: &str = "o200k_base";

/// The most tokens of one spec.
#[must_use]
pub fn budget(tool: &str) -> usize {
    match tool {
        "ast_grep" => 350,
        "ast_edit" => 300,
        "resolve" => 150,
        "eval" => 450,
        "lsp" => 450,
        "lsp_rename" => 250,
        _ => 500,
    }
}

/// Returns the tokens of a spec: its name, description and input schema, as
/// compact JSON.
#[must_use]
pub fn tokens(spec: &ToolSpec) -> usize {
    tiktoken_rs::o200k_base_singleton()
        .encode_ordinary(&for_model(spec).to_string())
        .len()
}

/// Returns what a model is given of a spec.
#[must_use]
pub fn for_model(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
    })
}
