use schemars::JsonSchema;
use serde_json::json;

use crate::{Content, Tier, ToolError, ToolOutput, ToolSpec};

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Input {
    /// Which lines.
    lines: Vec<u32>,
    /// The most; default 5.
    #[serde(default = "five")]
    max: u32,
}

fn five() -> u32 {
    5
}

fn spec() -> ToolSpec {
    ToolSpec::of::<Input>("act", Tier::Read, "Act", "Acts.")
}

fn output() -> ToolOutput {
    ToolOutput::new(vec![
        Content::Text("one\n".to_owned()),
        Content::Image {
            media_type: "image/png".to_owned(),
            data: vec![1, 2, 3],
        },
        Content::Text("two".to_owned()),
    ])
    .with_details(json!({ "hidden": true }))
}

fn error() -> ToolError {
    let mut error = ToolError::failed("the cell raised")
        .why("division by zero")
        .next("check the divisor")
        .with_partial(output())
        .source(std::io::Error::other("hidden"));
    error.notices = vec!["the kernel was restarted".to_owned()].into();
    error
}

#[test]
fn a_spec_renders_for_anthropic() {
    assert_eq!(
        spec().to_anthropic(),
        json!({
            "name": "act",
            "description": "Acts.",
            "input_schema": {
                "type": "object",
                "properties": {
                    "lines": {
                        "description": "Which lines.",
                        "type": "array",
                        "items": { "type": "integer", "minimum": 0 },
                    },
                    "max": {
                        "description": "The most; default 5.",
                        "type": "integer",
                        "minimum": 0,
                        "default": 5,
                    },
                },
                "required": ["lines"],
                "additionalProperties": false,
            },
        })
    );
}

#[test]
fn a_spec_renders_for_openai() {
    let rendered = spec().to_openai();
    assert_eq!(
        rendered,
        json!({
            "type": "function",
            "function": {
                "name": "act",
                "description": "Acts.",
                "parameters": spec().input_schema,
            },
        })
    );
}

#[test]
fn a_spec_renders_for_gemini_without_what_it_refuses() {
    assert_eq!(
        spec().to_gemini(),
        json!({
            "name": "act",
            "description": "Acts.",
            "parameters": {
                "type": "object",
                "properties": {
                    "lines": {
                        "description": "Which lines.",
                        "type": "array",
                        "items": { "type": "integer", "minimum": 0 },
                    },
                    "max": { "description": "The most; default 5.", "type": "integer", "minimum": 0 },
                },
                "required": ["lines"],
            },
        })
    );
}

#[test]
fn a_property_may_have_the_name_of_a_key() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Odd {
        /// Odd.
        default: String,
        /// Odder.
        format: String,
    }
    let spec = ToolSpec::of::<Odd>("odd", Tier::Read, "Odd", "Odd.");
    assert_eq!(spec.check(), Vec::<String>::new());
    assert_eq!(
        spec.to_gemini()["parameters"]["properties"],
        json!({
            "default": { "description": "Odd.", "type": "string" },
            "format": { "description": "Odder.", "type": "string" },
        })
    );
}

#[test]
fn a_tool_without_arguments_has_no_parameters_for_gemini() {
    #[derive(JsonSchema)]
    struct Nothing {}
    let spec = ToolSpec::of::<Nothing>("list", Tier::Read, "List", "Lists.");
    assert_eq!(
        spec.to_gemini(),
        json!({ "name": "list", "description": "Lists." })
    );
    assert_eq!(
        spec.to_anthropic()["input_schema"],
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
}

#[test]
fn an_output_renders_for_anthropic() {
    assert_eq!(
        output().to_anthropic("toolu_1"),
        json!({
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [
                { "type": "text", "text": "one\n" },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AQID" } },
                { "type": "text", "text": "two" },
            ],
        })
    );
}

#[test]
fn an_output_renders_for_openai_with_its_images_in_a_user_message() {
    assert_eq!(
        output().to_openai("call_1"),
        [
            json!({
                "role": "tool",
                "tool_call_id": "call_1",
                "content": "one\n[image 1: image/png, in the next user message]\ntwo",
            }),
            json!({
                "role": "user",
                "content": [
                    { "type": "image_url", "image_url": { "url": "data:image/png;base64,AQID" } },
                ],
            }),
        ]
    );
    assert_eq!(
        ToolOutput::text("plain").to_openai("call_1"),
        [json!({ "role": "tool", "tool_call_id": "call_1", "content": "plain" })]
    );
}

#[test]
fn an_output_renders_for_gemini_with_its_images_as_parts() {
    assert_eq!(
        output().to_gemini("act"),
        [
            json!({
                "functionResponse": {
                    "name": "act",
                    "response": { "output": "one\n[image 1: image/png, in a part after this one]\ntwo" },
                },
            }),
            json!({ "inlineData": { "mimeType": "image/png", "data": "AQID" } }),
        ]
    );
}

const MESSAGE: &str = "the cell raised: division by zero; check the divisor";

#[test]
fn an_error_renders_for_anthropic_with_its_partial_output() {
    assert_eq!(
        error().to_anthropic("toolu_1"),
        json!({
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [
                { "type": "text", "text": MESSAGE },
                { "type": "text", "text": "before it failed:" },
                { "type": "text", "text": "one\n" },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AQID" } },
                { "type": "text", "text": "two" },
                { "type": "text", "text": "the kernel was restarted" },
            ],
            "is_error": true,
        })
    );
}

#[test]
fn an_error_renders_for_openai_and_gemini() {
    let text = |place: &str| {
        format!(
            "{MESSAGE}\nbefore it failed:\none\n[image 1: image/png, {place}]\ntwo\nthe kernel was restarted"
        )
    };
    let openai = error().to_openai("call_1");
    assert_eq!(
        openai.first(),
        Some(&json!({
            "role": "tool",
            "tool_call_id": "call_1",
            "content": format!("error: {}", text("in the next user message")),
        }))
    );
    assert_eq!(openai.len(), 2);
    assert_eq!(
        error().to_gemini("act"),
        [
            json!({
                "functionResponse": {
                    "name": "act",
                    "response": { "error": text("in a part after this one") },
                },
            }),
            json!({ "inlineData": { "mimeType": "image/png", "data": "AQID" } }),
        ]
    );
}

#[test]
fn an_error_survives_json_without_its_source() {
    let wire = serde_json::to_value(error()).unwrap();
    assert_eq!(wire["kind"], "failed");
    assert!(!wire.to_string().contains("hidden\"}"), "{wire}");
    assert!(wire.get("source").is_none());
    let back: ToolError = serde_json::from_value(wire).unwrap();
    assert_eq!(back.content(), error().content());
    assert!(back.source.is_none());
}
