//! Golden specs: what a model is told at each ceiling, and the schema of each
//! tool's `details`.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use conformance::spec;
use conformance::surface::{Resource, Surface};
use expect_test::expect_file;
use serde_json::{Value, json};
use tiers::{Mode, ToolSpec};

fn specs(mode: Mode) -> Vec<ToolSpec> {
    let workspace = tempfile::tempdir().unwrap();
    Surface::open(workspace.path(), mode, Resource::ALL, None)
        .unwrap()
        .specs()
}

fn check(mode: Mode, golden: &str) {
    let specs: Vec<Value> = specs(mode)
        .iter()
        .map(|spec| {
            let mut for_model = spec::for_model(spec);
            for_model["tier"] = json!(spec.tier);
            for_model
        })
        .collect();
    let text = serde_json::to_string_pretty(&specs).unwrap() + "\n";
    expect_file![conformance::folder().join("specs").join(golden)].assert_eq(&text);
}

#[test]
fn plan_mode_shows_the_recorded_specs() {
    check(Mode::Plan, "plan.json");
}

#[test]
fn a_read_only_sub_agent_sees_the_recorded_specs() {
    check(Mode::ReadOnlySubagent, "read-only-subagent.json");
}

#[test]
fn full_mode_shows_the_recorded_specs() {
    check(Mode::Full, "full.json");
}

#[test]
fn details_have_the_recorded_schemas() {
    for spec in specs(Mode::Full) {
        let schema = spec.details_schema.clone().unwrap_or_default();
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let name = format!("details/{}.json", spec.name);
        expect_file![conformance::folder().join("specs").join(name)].assert_eq(&text);
    }
}

#[test]
fn every_spec_stays_within_its_token_budget() {
    for spec in specs(Mode::Full) {
        let tokens = spec::tokens(&spec);
        let budget = spec::budget(&spec.name);
        assert!(
            tokens <= budget,
            "`{}`: {tokens} tokens, budget {budget}",
            spec.name
        );
    }
}

#[test]
fn every_schema_is_flat_closed_and_described() {
    for spec in specs(Mode::Full) {
        let name = &spec.name;
        let schema = &spec.input_schema;
        assert_eq!(schema["type"], "object", "`{name}`");
        assert_eq!(
            schema["additionalProperties"], false,
            "`{name}` takes unknown fields"
        );
        let text = schema.to_string();
        assert!(!text.contains("\"$ref\""), "`{name}` has a $ref");
        for key in ["oneOf", "anyOf", "allOf"] {
            assert!(schema.get(key).is_none(), "`{name}` has `{key}` at the top");
        }
        for (field, property) in schema["properties"].as_object().unwrap() {
            assert!(
                property["description"].is_string(),
                "`{name}.{field}` is not described"
            );
        }
    }
}
