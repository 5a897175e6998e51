//! Every action against a server that behaves well, and that others' code speaks
//! for.

use libtest_mimic::Trial;
use serde_json::json;

use crate::setting::{Setting, test};

const SHAPES: &str = "\
# A thing with an area.
type shape
type square of shape
type circle of shape
";

/// Wide characters before the names: the server counts in UTF-16.
const MAIN: &str = "\
let side: square
\"😀!\" side shape
";

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_server_of_others_answers_every_action", actions),
        test("a_server_of_others_follows_the_disk", changes),
        test("a_server_of_others_is_listed_and_restarted", life),
    ]
}

fn setting() -> Setting {
    Setting::sample(&[("shapes.sample", SHAPES), ("main.sample", MAIN)])
}

/// Asks about a symbol in the second line of the main file.
async fn ask(setting: &Setting, action: &str, symbol: &str) -> String {
    let place = json!({ "action": action, "file": "main.sample", "line": 2, "symbol": symbol });
    setting.call(place).await.text
}

async fn actions() {
    let setting = setting();
    assert_eq!(
        ask(&setting, "definition", "shape").await,
        "definition of `shape`:\nshapes.sample:2:6: type shape"
    );
    assert_eq!(
        ask(&setting, "type_definition", "side").await,
        "type definition of `side`:\nshapes.sample:3:6: type square of shape"
    );
    assert_eq!(
        ask(&setting, "implementation", "shape").await,
        "2 implementations of `shape`:\n\
         shapes.sample:3:6: type square of shape\n\
         shapes.sample:4:6: type circle of shape"
    );
    assert_eq!(
        ask(&setting, "references", "side").await,
        "2 references to `side` in 1 file, its declaration included:\n\
         main.sample:1:5: let side: square\n\
         main.sample:2:6: \"😀!\" side shape"
    );
    let all = ask(&setting, "references", "shape").await;
    assert!(
        all.starts_with("4 references to `shape` in 2 files"),
        "{all}"
    );
    assert_eq!(
        ask(&setting, "hover", "shape").await,
        "```sample\ntype shape\n```\nA thing with an area."
    );
    let symbols = setting
        .call(json!({ "action": "symbols", "file": "shapes.sample" }))
        .await;
    assert_eq!(
        symbols.text,
        "3 symbols in `shapes.sample`:\n2: class shape\n3: class square\n4: class circle"
    );
    let symbols = setting
        .call(json!({ "action": "symbols", "query": "s" }))
        .await;
    assert_eq!(
        symbols.text,
        "3 symbols match `s`:\nmain.sample:1:5: variable side\n\
         shapes.sample:2:6: class shape\nshapes.sample:3:6: class square"
    );
    setting.end().await;
}

async fn changes() {
    let setting = setting();
    let diagnostics = json!({ "action": "diagnostics", "file": "main.sample" });
    let fine = "no errors or warnings in `main.sample` (sample)";
    assert_eq!(setting.call(diagnostics.clone()).await.text, fine);
    for _ in 0..3 {
        setting.write("main.sample", "let side: square\n\"😀!\" edge\n");
        assert_eq!(
            setting.call(diagnostics.clone()).await.text,
            "1 error and 0 warnings in `main.sample` (sample):\n\
             2:6 error [sample undeclared] `edge` is not declared"
        );
        let offered = ask(&setting, "code_actions", "edge").await;
        assert!(offered.contains("declare `edge`"), "{offered}");
        // Another file, that nobody has opened.
        setting.write("edges.sample", "type edge\n");
        assert_eq!(setting.call(diagnostics.clone()).await.text, fine);
        assert_eq!(
            ask(&setting, "definition", "edge").await,
            "definition of `edge`:\nedges.sample:1:6: type edge"
        );
        std::fs::remove_file(setting.folder.path().join("edges.sample")).unwrap();
        setting.write("main.sample", MAIN);
        assert_eq!(setting.call(diagnostics.clone()).await.text, fine);
    }
    setting.end().await;
}

async fn life() {
    let setting = setting();
    ask(&setting, "hover", "shape").await;
    let status = setting
        .call(json!({ "action": "status", "file": "main.sample" }))
        .await;
    for text in [
        "`main.sample` is served by sample, the only one that can be used",
        "works: definition, type_definition, implementation, references, hover",
        "(sample 1)",
    ] {
        assert!(status.text.contains(text), "{}", status.text);
    }
    let before = status.details["servers"][0]["pid"].clone();
    let reloaded = setting.call(json!({ "action": "reload" })).await;
    let server = &reloaded.details["servers"][0];
    assert_eq!(server["state"], "restarted", "{}", reloaded.text);
    assert_ne!(server["pid"], before);
    assert!(ask(&setting, "hover", "shape").await.contains("type shape"));
    setting.end().await;
}
