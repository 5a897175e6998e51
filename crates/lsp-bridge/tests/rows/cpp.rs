//! clangd.

use libtest_mimic::Trial;
use serde_json::json;
use tiers::Trust;

use crate::sample::Asked::{At, Query, Symbols};
use crate::sample::{Case, Faults, Sample, needing};
use crate::support::Project;

const SHAPES: &str = "\
#pragma once

/// A thing with an area.
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Square : Shape {
    explicit Square(double side) : side(side) {}
    double area() const override { return side * side; }
    double side;
};
";

const MAIN: &str = "\
#include \"shapes.h\"

double total(const Shape &shape) { return shape.area(); }

int main() {
    Square square(2.0);
    const char *label = \"😀é\"; double sum = total(square) + square.area();
    return sum > 3 && label ? 0 : 1;
}
";

/// Line endings and characters that are counted in several ways.
const MARKS: &str =
    "// 😀\r\nint core() { return 1; }\r\n\r\nconst char *x = \"😀é\"; int y = core();\r\n";

/// Folders are absolute, as build systems write them.
pub(crate) fn database(names: &[&str]) -> String {
    let entries = names.iter().map(|name| {
        json!({ "directory": "$folder", "file": name, "command": format!("clang++ -c {name}") })
    });
    serde_json::Value::Array(entries.collect()).to_string()
}

pub(crate) fn clangd() -> Sample {
    let cases = vec![
        Case(
            At("definition", "main.cc", 6, "Square"),
            &["=definition of `Square`:\nshapes.h:9:8: struct Square : Shape {"],
        ),
        // Pitfall 18: characters before the symbol that are longer in other units.
        Case(
            At("definition", "main.cc", 7, "total"),
            &["\nmain.cc:3:8: double total("],
        ),
        Case(
            At("type_definition", "main.cc", 7, "square"),
            &["\nshapes.h:9:8: struct Square"],
        ),
        Case(
            At("implementation", "shapes.h", 6, "area"),
            &["\nshapes.h:11:12: double area() const override"],
        ),
        Case(
            At("hover", "main.cc", 3, "Shape"),
            &["A thing with an area."],
        ),
        // Pitfall 60: what they are in is named.
        Case(
            At("references", "main.cc", 3, "total"),
            &[
                "=2 references to `total` in 1 file, its declaration included:\n\
               main.cc:3:8: double total(const Shape &shape) { return shape.area(); }\n\
               main.cc:7:44: const char *label = \"😀é\"; double sum = total(square) + square.area();  [in main]",
            ],
        ),
        Case(
            At("references", "marks.cc", 4, "core"),
            &["\nmarks.cc:2:5: int core() { return 1; }\nmarks.cc:4:31: const char"],
        ),
        Case(Query("Squ"), &["shapes.h:9:8: ", " Square"]),
        Case(Symbols("shapes.h"), &["\n6:   method area"]),
    ];
    Sample {
        id: "clangd",
        programs: &["clangd"],
        trust: Trust::Untrusted,
        files: vec![
            ("shapes.h", SHAPES.to_owned()),
            ("main.cc", MAIN.to_owned()),
            ("marks.cc", MARKS.to_owned()),
            ("compile_commands.json", database(&["main.cc", "marks.cc"])),
        ],
        cases,
        faults: Faults {
            file: "main.cc",
            from: "Square square",
            to: "Circle square",
            wants: &["6:5 error"],
        },
        status: &["diagnostics: only when the server publishes them"],
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        needing(
            &["clangd"],
            "pitfall_43_fixes_are_offered_for_the_faults_of_the_line".to_owned(),
            fixes,
        ),
        needing(
            &["clangd"],
            "without_a_database_references_say_what_is_not_covered".to_owned(),
            no_database,
        ),
    ]
}

async fn fixes() {
    let project = clangd().open();
    project.write("main.cc", &MAIN.replace("Square square", "Squar square"));
    let listed = project.ask("code_actions", "main.cc", 6, "Squar").await;
    assert!(
        listed.text.contains("change 'Squar' to 'Square'"),
        "{}",
        listed.text
    );
    let on_disk = std::fs::read_to_string(project.folder.path().join("main.cc")).unwrap();
    assert!(on_disk.contains("Squar square"), "nothing is done");
    project.end().await;
}

async fn no_database() {
    let project = Project::new(&[
        ("compile_flags.txt", "-std=c++17\n"),
        ("core.h", "#pragma once\nint core(int value);\n"),
        (
            "core.cc",
            "#include \"core.h\"\nint core(int value) { return value; }\n",
        ),
        (
            "user.cc",
            "#include \"core.h\"\nint use() { return core(1); }\n",
        ),
    ]);
    let references = project.ask("references", "core.cc", 2, "core").await;
    assert!(
        references
            .text
            .starts_with("incomplete: clangd: without `compile_commands.json`"),
        "{}",
        references.text
    );
    assert!(references.text.contains("user.cc"), "{}", references.text);
    project.end().await;
}
