use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{CallContext, Tier, Tool, ToolError, ToolOutput, ToolSpec, Typed, TypedTool};

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only parsed")]
struct Input {
    /// What to look for.
    #[schemars(length(min = 1))]
    pattern: String,
    /// Where.
    path: Option<String>,
    /// How.
    action: Option<Action>,
    /// The most results.
    #[schemars(range(min = 1, max = 500))]
    max_results: Option<u32>,
    /// Whether to say more.
    verbose: Option<bool>,
    /// How sure.
    ratio: Option<f64>,
    /// Which lines.
    lines: Option<Vec<u32>>,
    /// Which choices.
    options: Option<Vec<Choice>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Definition,
    References,
    Hover,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only parsed")]
struct Choice {
    /// Its name.
    label: String,
    /// What it means.
    description: Option<String>,
}

struct Search;

impl TypedTool for Search {
    type Input = Input;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<Input>("search", Tier::Read, "Search", "Searches.")
    }

    async fn call(&self, _: Input, _: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("found"))
    }
}

#[track_caller]
fn check(args: Value, found: Expect) {
    let why = match Typed::new(Search).check_arguments(&args) {
        Ok(()) => "accepted".to_owned(),
        Err(error) => {
            assert_eq!(error.kind, crate::ErrorKind::InvalidInput);
            assert_eq!(error.what, "wrong arguments for `search`");
            error.why.unwrap()
        }
    };
    found.assert_eq(&why.replace("; ", "\n"));
}

#[test]
fn right_arguments_are_accepted() {
    check(json!({ "pattern": "x" }), expect!["accepted"]);
    check(
        json!({
            "pattern": "x", "path": "a", "action": "hover", "max_results": 500, "verbose": true,
            "ratio": 1, "lines": [1, 2], "options": [{ "label": "a" }],
        }),
        expect!["accepted"],
    );
}

#[test]
fn the_whole_message_says_what_why_and_what_to_do() {
    let error = Typed::new(Search)
        .check_arguments(&json!({ "patern": "x" }))
        .unwrap_err();
    expect!["wrong arguments for `search`: there is no `patern`: write `pattern`; `search` takes `pattern` (string of at least 1 characters, required), `path` (string), `action` (one of `definition`, `references`, `hover`), `max_results` (integer from 1 to 500), `verbose` (true or false), `ratio` (number), `lines` (list of integers), `options` (list of objects)"]
        .assert_eq(&error.to_string());
}

#[test]
fn a_misspelt_field_names_the_nearest_one() {
    check(
        json!({ "patern": "x" }),
        expect!["there is no `patern`: write `pattern`"],
    );
    check(
        json!({ "pattern": "x", "max-results": 3, "maxResults": 4 }),
        expect![
            "there is no `max-results`: write `max_results`\nthere is no `maxResults`: write `max_results`"
        ],
    );
}

#[test]
fn an_unknown_field_names_all_fields() {
    check(
        json!({ "pattern": "x", "colour": "red" }),
        expect![
            "there is no `colour`: leave it out or use one of `pattern`, `path`, `action`, `max_results`, `verbose`, `ratio`, `lines`, `options`"
        ],
    );
}

#[test]
fn a_missing_field_says_what_to_give() {
    check(
        json!({}),
        expect!["`pattern` is missing: give a string of at least 1 characters"],
    );
}

#[test]
fn an_empty_string_is_refused_where_it_means_nothing() {
    check(
        json!({ "pattern": "" }),
        expect!["`pattern` is empty: give a string of at least 1 characters"],
    );
}

#[test]
fn a_misspelt_choice_names_the_nearest_one() {
    check(
        json!({ "pattern": "x", "action": "refrences" }),
        expect![
            "`action` must be one of `definition`, `references`, `hover`, not `refrences`: write `references`"
        ],
    );
    check(
        json!({ "pattern": "x", "action": "Hover" }),
        expect![
            "`action` must be one of `definition`, `references`, `hover`, not `Hover`: write `hover`"
        ],
    );
    check(
        json!({ "pattern": "x", "action": "explode" }),
        expect!["`action` must be one of `definition`, `references`, `hover`, not `explode`"],
    );
}

#[test]
fn null_is_left_out() {
    check(
        json!({ "pattern": "x", "path": null }),
        expect!["`path` is null: leave it out, or give a string"],
    );
    check(
        json!({ "pattern": null }),
        expect!["`pattern` must be a string of at least 1 characters, not null"],
    );
}

#[test]
fn a_value_in_quotes_is_written_without() {
    check(
        json!({ "pattern": "x", "max_results": "50", "verbose": "true", "ratio": "0.5" }),
        expect![[r#"
            `max_results` must be an integer from 1 to 500, not the string `50`: write 50 without quotes
            `verbose` must be true or false, not the string `true`: write true without quotes
            `ratio` must be a number, not the string `0.5`: write 0.5 without quotes"#]],
    );
}

#[test]
fn a_value_of_another_type_is_named() {
    check(
        json!({ "pattern": 5, "path": ["src"], "max_results": 2.5, "lines": 3, "options": "a" }),
        expect![[r#"
            `pattern` must be a string of at least 1 characters, not the number 5: write "5" with quotes
            `path` must be a string, not a list: write "src" without brackets
            `max_results` must be an integer from 1 to 500, not 2.5
            `lines` must be a list of integers, not the number 3: write [3]
            `options` must be a list of objects, not the string `a`"#]],
    );
}

#[test]
fn a_number_out_of_range_says_the_range() {
    check(
        json!({ "pattern": "x", "max_results": 0, "lines": [-1] }),
        expect![[r#"
            `max_results` must be an integer from 1 to 500, not 0
            `lines[0]` must be an integer of at least 0, not -1"#]],
    );
    check(
        json!({ "pattern": "x", "max_results": 50.0 }),
        expect!["`max_results` must be an integer from 1 to 500, not 50.0: write 50"],
    );
}

#[test]
fn a_number_no_type_holds_is_refused_by_the_parser() {
    check(
        json!({ "pattern": "x", "lines": [5_000_000_000_u64] }),
        expect!["invalid value: integer `5000000000`, expected u32"],
    );
}

#[test]
fn problems_inside_lists_say_where() {
    check(
        json!({ "pattern": "x", "options": [{ "label": "a" }, { "lable": "b" }, "c", { "label": 1, "x": 2 }] }),
        expect![[r#"
            there is no `options[1].lable`: write `label`
            `options[2]` must be an object, not the string `c`
            there is no `options[3].x`: leave it out or use one of `label`, `description`
            `options[3].label` must be a string, not the number 1: write "1" with quotes"#]],
    );
}

#[test]
fn arguments_that_are_no_object_say_so() {
    check(
        json!(null),
        expect!["they are null: give an object, `{}` for none"],
    );
    check(
        json!("x"),
        expect!["they must be a JSON object, not the string `x`"],
    );
    check(
        json!([1]),
        expect!["they must be a JSON object, not a list"],
    );
    check(
        json!("{\"pattern\": \"x\"}"),
        expect!["they are a string that holds a JSON object: give the object itself"],
    );
    check(
        json!({ "pattern": "x", "lines": "[1, 2]" }),
        expect![
            "`lines` must be a list of integers, not the string `[1, 2]`: give the list itself, not a string of it"
        ],
    );
}

#[test]
fn a_flood_of_problems_is_cut() {
    let args: serde_json::Map<String, Value> =
        (0..100).map(|n| (format!("zz{n}"), Value::Null)).collect();
    let error = Typed::new(Search)
        .check_arguments(&Value::Object(args))
        .unwrap_err();
    let why = error.why.unwrap();
    assert!(why.ends_with("; and 89 more"), "{why}");
    assert!(why.len() < 3_000, "{}", why.len());
}

#[test]
fn a_tool_without_arguments_says_so() {
    #[derive(Deserialize, JsonSchema)]
    struct Nothing {}
    let spec = ToolSpec::of::<Nothing>("list", Tier::Read, "List", "Lists.");
    assert!(super::check(&spec, &json!({})).is_ok());
    expect!["wrong arguments for `list`: there is no `x`: leave it out; `list` takes no arguments"]
        .assert_eq(
            &super::check(&spec, &json!({ "x": 1 }))
                .unwrap_err()
                .to_string(),
        );
}
