//! What a model sees, and what it does not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tiers::{
    Absence, BuildError, Ceiling, ErrorKind, Mode, Registry, RegistryBuilder, Run, Tier, ToolSpec,
};

use crate::support::{Fake, Place, text};

fn candidates(run: &Arc<Run>) -> RegistryBuilder {
    Registry::builder(Arc::clone(run))
        .tool(Fake::named("ast_grep", Tier::Read))
        .tool(Fake::named("ast_edit", Tier::Write))
        .tool(Fake::named("eval", Tier::Exec))
        .not_attached("lsp", "language-server supervisor")
        .mode_off("vibe_list")
}

fn names(registry: &Registry) -> Vec<&str> {
    registry
        .specs()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect()
}

#[test]
fn the_mode_decides_which_tools_are_visible() {
    let place = Place::new();
    for (mode, visible) in [
        (Mode::Plan, vec!["ast_grep"]),
        (Mode::ReadOnlySubagent, vec!["ast_grep"]),
        (Mode::Full, vec!["ast_grep", "ast_edit", "eval"]),
    ] {
        let registry = candidates(&place.run(mode)).build().unwrap();
        assert_eq!(names(&registry), visible, "{mode:?}");
    }
}

#[test]
fn a_child_run_sees_no_more_than_its_parent() {
    let place = Place::new();
    let plan = place.run(Mode::Plan);
    let child = place.builder(Mode::Full).parent(&plan).build().unwrap();
    assert_eq!(child.ceiling(), Ceiling(Tier::Read));
    let grandchild = place.builder(Mode::Full).parent(&child).build().unwrap();
    assert_eq!(
        names(&candidates(&grandchild).build().unwrap()),
        ["ast_grep"]
    );
    let full = place.run(Mode::Full);
    let lowered = place
        .builder(Mode::ReadOnlySubagent)
        .parent(&full)
        .build()
        .unwrap();
    assert_eq!(lowered.ceiling(), Ceiling(Tier::Read));
}

#[test]
fn the_harness_is_told_why_a_tool_is_absent() {
    let place = Place::new();
    let registry = candidates(&place.run(Mode::Plan)).build().unwrap();
    let ceiling = Ceiling(Tier::Read);
    let found: Vec<(&str, &Absence)> = registry
        .withheld()
        .iter()
        .map(|absent| (absent.name.as_str(), &absent.why))
        .collect();
    assert_eq!(
        found,
        [
            (
                "ast_edit",
                &Absence::OverCeiling {
                    tier: Tier::Write,
                    ceiling
                }
            ),
            (
                "eval",
                &Absence::OverCeiling {
                    tier: Tier::Exec,
                    ceiling
                }
            ),
            (
                "lsp",
                &Absence::NotAttached("language-server supervisor".to_owned())
            ),
            ("vibe_list", &Absence::ModeOff),
        ]
    );
    let said: Vec<String> = registry
        .withheld()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        said,
        [
            "`ast_edit`: its tier is write, the ceiling of this run is read",
            "`eval`: its tier is exec, the ceiling of this run is read",
            "`lsp`: no language-server supervisor is attached",
            "`vibe_list`: its mode is off",
        ]
    );
}

#[tokio::test]
async fn a_withheld_name_answers_like_a_misspelt_one() {
    let place = Place::new();
    let registry = candidates(&place.run(Mode::Plan)).build().unwrap();
    // Each pair is equally far from `ast_grep`, the only visible name.
    for (withheld, nonsense) in [
        ("ast_edit", "ast_enit"),
        ("eval", "evol"),
        ("lsp", "lpp"),
        ("vibe_list", "vibe_lust"),
    ] {
        for args in [
            json!({}),
            json!({ "input": "x" }),
            json!({ "wrong": 1 }),
            json!(null),
        ] {
            let real = registry.dispatch(withheld, args.clone()).await.unwrap_err();
            let fake = registry.dispatch(nonsense, args).await.unwrap_err();
            assert_eq!(real.kind, ErrorKind::UnknownTool);
            assert!(real.what.contains(withheld));
            let same = |error: &tiers::ToolError, name: &str| {
                serde_json::to_string(error).unwrap().replace(name, "NAME")
            };
            assert_eq!(same(&real, withheld), same(&fake, nonsense));
        }
    }
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest_visible_one() {
    let place = Place::new();
    let registry = candidates(&place.run(Mode::Plan)).build().unwrap();
    let answer = |name: &'static str| {
        let registry = registry.clone();
        async move {
            registry
                .dispatch(name, json!({}))
                .await
                .unwrap_err()
                .to_string()
        }
    };
    assert_eq!(
        answer("astgrep").await,
        "no tool `astgrep`; did you mean `ast_grep`?"
    );
    assert_eq!(
        answer("frobnicate").await,
        "no tool `frobnicate`; the tools are `ast_grep`"
    );
    assert!(!answer("ast_edti").await.contains("ast_edit"));
    let empty = Registry::builder(place.run(Mode::Plan)).build().unwrap();
    assert_eq!(
        empty
            .dispatch("x", json!({}))
            .await
            .unwrap_err()
            .to_string(),
        "no tool `x`; there are no tools in this run"
    );
}

#[tokio::test]
async fn a_name_that_is_no_name_is_shown_cut() {
    let place = Place::new();
    let registry = candidates(&place.run(Mode::Plan)).build().unwrap();
    let name = format!("`\n{}", "x".repeat(100_000));
    let error = registry.dispatch(&name, json!({})).await.unwrap_err();
    assert!(error.to_string().len() < 200);
    assert!(!error.to_string().contains('\n'));
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let place = Place::new();
    let twice = candidates(&place.run(Mode::Plan))
        .tool(Fake::named("eval", Tier::Read))
        .build();
    assert_eq!(
        twice.unwrap_err(),
        BuildError::DuplicateName("eval".to_owned())
    );
    let both = candidates(&place.run(Mode::Plan))
        .not_attached("ast_grep", "grammar source")
        .build();
    assert_eq!(
        both.unwrap_err(),
        BuildError::DuplicateName("ast_grep".to_owned())
    );
}

#[test]
fn a_schema_not_every_provider_accepts_is_refused() {
    let place = Place::new();
    struct Open(ToolSpec);
    #[async_trait::async_trait]
    impl tiers::Tool for Open {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        async fn call(
            &self,
            _: serde_json::Value,
            _: &tiers::CallContext,
        ) -> Result<tiers::ToolOutput, tiers::ToolError> {
            Ok(tiers::ToolOutput::text("x"))
        }
    }
    let spec = ToolSpec::from_schema(
        "open",
        Tier::Exec,
        "Open",
        "Open.",
        json!({ "type": "object" }),
    );
    // Refused even where the ceiling hides it.
    let error = Registry::builder(place.run(Mode::Plan))
        .tool(Open(spec))
        .build()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the spec of `open` is not acceptable: the arguments: `additionalProperties` must be \
         false; the arguments: an object needs `properties`"
    );
}

#[tokio::test]
async fn rebuilding_the_registry_loses_nothing_of_the_run() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let before = candidates(&run).build().unwrap();
    run.notices().push("the kernel died");
    let file = run.folder().write("a.log", b"kept").unwrap();
    drop(before);
    let after = Registry::builder(Arc::clone(&run))
        .tool(Fake::named("lsp", Tier::Read))
        .build()
        .unwrap();
    assert_eq!(
        text(&after.dispatch("lsp", json!({})).await.unwrap()),
        "lsp|the kernel died"
    );
    assert_eq!(std::fs::read(file).unwrap(), b"kept");
}

#[test]
fn a_registry_of_thirty_tools_is_built_in_under_a_millisecond() {
    let place = Place::new();
    let run = place.run(Mode::Full);
    let tools: Vec<Arc<dyn tiers::Tool>> = (0..30)
        .map(|n| Arc::new(Fake::named(&format!("tool_{n}"), Tier::Read)) as Arc<dyn tiers::Tool>)
        .collect();
    let build = || {
        let started = Instant::now();
        let builder = tools
            .iter()
            .fold(Registry::builder(Arc::clone(&run)), |builder, tool| {
                builder.shared(Arc::clone(tool))
            });
        let registry = builder.build().unwrap();
        assert_eq!(registry.specs().len(), 30);
        started.elapsed()
    };
    // The best of many: other work on the machine does not count.
    let best = (0..50).map(|_| build()).min().unwrap();
    assert!(best < Duration::from_millis(1), "{best:?}");
}
