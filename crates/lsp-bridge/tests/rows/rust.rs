//! rust-analyzer.

use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::json;
use tiers::Trust;

use crate::sample::Asked::{At, Query, Symbols};
use crate::sample::{Case, Faults, Sample, needing};
use crate::support::Project;

const SHAPES: &str = "\
/// A thing with an area.
pub trait Shape {
    fn area(&self) -> f64;
}

pub struct Square {
    pub side: f64,
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.side * self.side
    }
}

pub fn total(shapes: &[Square]) -> f64 {
    let mut sum = 0.0;
    for shape in shapes {
        sum += shape.area();
    }
    sum
}
";

const LIB: &str = "\
pub mod marks;
pub mod shapes;

use shapes::{Shape, Square, total};

pub fn run() -> f64 {
    let square = Square { side: 2.0 };
    let label = \"😀é\"; let sum = total(&[Square { side: 1.0 }]) + square.area();
    sum + label.len() as f64
}
";

/// Line endings and characters that are counted in several ways.
const MARKS: &str = "// 😀\r\npub fn core() -> u8 {\r\n    1\r\n}\r\n\r\npub fn x() -> (&'static str, u8) { (\"😀é\", core()) }\r\n";

pub(crate) fn rust_analyzer() -> Sample {
    let manifest = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let cases = vec![
        Case(
            At("definition", "src/lib.rs", 7, "Square"),
            &["^definition of `Square`:\nsrc/shapes.rs:6:12: pub struct Square {"],
        ),
        // Pitfall 18: characters before the symbol that are longer in other units.
        Case(
            At("definition", "src/lib.rs", 8, "total"),
            &["\nsrc/shapes.rs:16:8: pub fn total("],
        ),
        Case(
            At("type_definition", "src/lib.rs", 8, "square"),
            &["\nsrc/shapes.rs:6:12: pub struct Square {"],
        ),
        Case(
            At("implementation", "src/shapes.rs", 2, "Shape"),
            &["\nsrc/shapes.rs:10:16: impl Shape for Square {"],
        ),
        Case(
            At("references", "src/shapes.rs", 16, "total"),
            &[
                "=3 references to `total` in 2 files, its declaration included:\n\
               src/shapes.rs:16:8: pub fn total(shapes: &[Square]) -> f64 {\n\
               src/lib.rs:4:29: use shapes::{Shape, Square, total};\n\
               src/lib.rs:8:33: let label = \"😀é\"; let sum = total(&[Square { side: 1.0 }]) + square.area();  [in run]",
            ],
        ),
        Case(
            At("references", "src/marks.rs", 6, "core"),
            &["\nsrc/marks.rs:2:8: pub fn core() -> u8 {\nsrc/marks.rs:6:43: pub fn x()"],
        ),
        Case(
            At("hover", "src/lib.rs", 4, "Shape"),
            &["pub trait Shape", "A thing with an area."],
        ),
        Case(
            Symbols("src/shapes.rs"),
            &[
                "\n2: interface Shape\n3:   method area",
                "\n16: function total",
            ],
        ),
        Case(Query("total"), &["\nsrc/shapes.rs:16:8: function total"]),
        Case(
            At("code_actions", "src/shapes.rs", 6, "Square"),
            &["`Square` in line 6 of `src/shapes.rs`", "\n- "],
        ),
    ];
    Sample {
        id: "rust-analyzer",
        programs: &["rust-analyzer"],
        trust: Trust::Trusted,
        files: vec![
            ("Cargo.toml", manifest.to_owned()),
            ("src/lib.rs", LIB.to_owned()),
            ("src/shapes.rs", SHAPES.to_owned()),
            ("src/marks.rs", MARKS.to_owned()),
        ],
        cases,
        faults: Faults {
            file: "src/lib.rs",
            from: "total(&[Square { side: 1.0 }])",
            to: "total(&[square]) + total(&[square])",
            // Pitfall 27: what the server finds itself does not have this one.
            wants: &["8:", " error [rustc E0382] use of moved value: `square`"],
        },
        status: &[
            "works: definition, type_definition, implementation, references, hover, symbols (file), symbols (query), code_actions, diagnostics",
        ],
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        needing(
            &["rust-analyzer"],
            "pitfall_27_a_check_that_has_not_ended_is_said".to_owned(),
            pending,
        ),
        needing(
            &["rust-analyzer"],
            "pitfall_27_an_untrusted_workspace_is_not_checked_and_that_is_said".to_owned(),
            untrusted,
        ),
        needing(
            &["rust-analyzer"],
            "pitfall_50_one_server_serves_all_crates_of_a_workspace".to_owned(),
            workspace,
        ),
    ]
}

/// A build script keeps the check from ending in time.
async fn pending() {
    let sample = rust_analyzer();
    let mut opening = sample.opening();
    opening.calls.ready = Duration::from_secs(20);
    let files = sample.files.iter();
    let files: Vec<(&str, &str)> = files.map(|(name, text)| (*name, text.as_str())).collect();
    let project = Project::open(&files, opening);
    let ask = || project.call(json!({ "action": "diagnostics", "file": "src/lib.rs" }));
    let hover = project.ask("hover", "src/lib.rs", 4, "Shape").await;
    assert!(hover.error.is_none(), "{}", hover.text);
    project.write(
        "build.rs",
        "fn main() { std::thread::sleep(std::time::Duration::from_secs(60)); }\n",
    );
    let broken = LIB.replace("sum + label", "missing + label");
    project.write("src/lib.rs", &broken);
    let told = ask().await;
    assert!(
        told.text
            .starts_with("partial: rust-analyzer: `cargo check` has not ended in time"),
        "{}",
        told.text
    );
    project.end().await;
}

async fn untrusted() {
    let mut sample = rust_analyzer();
    sample.trust = Trust::Untrusted;
    let project = sample.open();
    let told = project
        .call(json!({ "action": "diagnostics", "file": "src/lib.rs" }))
        .await;
    assert!(
        told.text.starts_with(
            "partial: rust-analyzer: `cargo check` runs build scripts and macros of the project"
        ),
        "{}",
        told.text
    );
    project.end().await;
}

async fn workspace() {
    let package = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
    };
    let mut opening = rust_analyzer().opening();
    opening.trust = Trust::Trusted;
    let (one, two) = (package("one"), package("two"));
    let uses = format!("{two}[dependencies]\none = {{ path = \"../one\" }}\n");
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"3\"\n",
        ),
        ("one/Cargo.toml", &one),
        ("one/src/lib.rs", "pub fn core() {}\n"),
        ("two/Cargo.toml", &uses),
        ("two/src/lib.rs", "pub fn run() {\n    one::core();\n}\n"),
    ];
    let project = Project::open(&files, opening);
    let found = project.ask("definition", "two/src/lib.rs", 2, "core").await;
    assert_eq!(
        found.text,
        "definition of `core`:\none/src/lib.rs:1:8: pub fn core() {}"
    );
    let references = project.ask("references", "one/src/lib.rs", 1, "core").await;
    assert!(
        references
            .text
            .starts_with("2 references to `core` in 2 files"),
        "{}",
        references.text
    );
    assert_eq!(project.pids().await.len(), 1);
    project.end().await;
}
