use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::{Tier, ToolSpec};

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
/// Never shown.
struct Input {
    /// What to do.
    action: Action,
    /// Where.
    path: Option<String>,
    /// In which manner.
    manner: Option<Manner>,
    /// How many; default 50.
    #[serde(default = "fifty")]
    max: u32,
    /// Which lines.
    lines: Option<Vec<usize>>,
    /// Choices.
    options: Vec<Choice>,
    /// How sure.
    ratio: Option<f32>,
}

fn fifty() -> u32 {
    50
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is used")]
enum Action {
    Go,
    Stop,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is used")]
enum Manner {
    /// Without haste.
    Slow,
    /// At once.
    Fast,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Choice {
    /// Its name.
    label: String,
}

fn spec() -> ToolSpec {
    ToolSpec::of::<Input>("act", Tier::Read, "Act", "Acts.")
}

#[test]
fn a_derived_schema_is_flat_and_closed() {
    let found = serde_json::to_string_pretty(&spec().input_schema).unwrap();
    expect![[r#"
        {
          "type": "object",
          "properties": {
            "action": {
              "type": "string",
              "enum": [
                "go",
                "stop"
              ],
              "description": "What to do."
            },
            "path": {
              "type": "string",
              "description": "Where."
            },
            "manner": {
              "description": "In which manner (`slow`: Without haste; `fast`: At once)",
              "type": "string",
              "enum": [
                "slow",
                "fast"
              ]
            },
            "max": {
              "type": "integer",
              "minimum": 0,
              "description": "How many; default 50.",
              "default": 50
            },
            "lines": {
              "type": "array",
              "items": {
                "type": "integer",
                "minimum": 0
              },
              "description": "Which lines."
            },
            "options": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "label": {
                    "description": "Its name.",
                    "type": "string"
                  }
                },
                "required": [
                  "label"
                ],
                "additionalProperties": false
              },
              "description": "Choices."
            },
            "ratio": {
              "type": "number",
              "description": "How sure."
            }
          },
          "required": [
            "action",
            "options"
          ],
          "additionalProperties": false
        }"#]]
    .assert_eq(&found);
    assert_eq!(spec().check(), Vec::<String>::new());
}

#[track_caller]
fn check(schema: Value, found: Expect) {
    let spec = ToolSpec::from_schema("act", Tier::Read, "Act", "Acts.", schema);
    found.assert_eq(&spec.check().join("\n"));
}

#[test]
fn what_a_provider_would_refuse_is_a_violation() {
    check(
        json!({ "oneOf": [] }),
        expect!["the arguments are not an object"],
    );
    check(
        json!({ "type": "object" }),
        expect![[r#"
        the arguments: `additionalProperties` must be false
        the arguments: an object needs `properties`"#]],
    );
    check(
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["gone"],
            "$defs": {},
            "properties": {
                "a": { "$ref": "#/$defs/a", "description": "A." },
                "b": { "type": ["string", "null"], "description": "B." },
                "c": { "type": "integer", "format": "uint32", "description": "C." },
                "d": { "type": "array", "description": "D." },
                "e": { "type": "object", "additionalProperties": { "type": "string" }, "description": "E." },
                "f": true,
                "g": { "type": "string" },
                "h": { "type": "string", "enum": ["a", 1], "description": "H." },
                "i": { "type": "array", "description": "I.", "items": {
                    "type": "object", "additionalProperties": false, "properties": { "j": { "type": "string" } },
                } },
            },
        }),
        expect![[r##"
            the arguments: `$defs` is not accepted everywhere in type object
            the arguments: "gone" is required but not a property
            `a`: no single type; only string, integer, number, boolean, array and object are accepted everywhere
            `b`: type ["string","null"]; only string, integer, number, boolean, array and object are accepted everywhere
            `c`: `format` is not accepted everywhere in type integer
            `d`: a list needs `items`
            `e`: `additionalProperties` must be false
            `e`: an object needs `properties`
            `f`: any value is accepted; say which type
            `h`: `enum` must be a list of strings
            `f` has no description
            `g` has no description
            `i[].j` has no description"##]],
    );
}

#[test]
fn a_derived_type_with_alternatives_is_a_violation() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    enum Either {
        Number(u32),
        Text { text: String },
    }
    let spec = ToolSpec::of::<Either>("act", Tier::Read, "Act", "Acts.");
    assert_eq!(spec.shape_violations(), ["the arguments are not an object"]);
}

#[test]
fn names_texts_and_recursion_are_checked() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Tree {
        /// Below.
        children: Vec<Tree>,
    }
    let spec = ToolSpec::of::<Tree>("Bad-Name", Tier::Read, "", " ");
    let violations = spec.check();
    assert!(
        violations
            .iter()
            .any(|text| text.contains("`Bad-Name` is not snake_case")),
        "{violations:?}"
    );
    assert!(
        violations.contains(&"the tool has no title".to_owned()),
        "{violations:?}"
    );
    assert!(
        violations.contains(&"the tool has no description".to_owned()),
        "{violations:?}"
    );
    assert!(
        violations.iter().any(|text| text.contains("`children[]`")),
        "{violations:?}"
    );
}

#[test]
fn a_spec_survives_json() {
    let spec = spec().serial().with_details::<Choice>();
    let wire = serde_json::to_value(&spec).unwrap();
    assert_eq!(wire["tier"], "read");
    assert_eq!(wire["concurrency"], "serial");
    assert_eq!(serde_json::from_value::<ToolSpec>(wire).unwrap(), spec);
}
