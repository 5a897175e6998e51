//! clangd.

use serde_json::json;

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

fn project() -> Project {
    let project = Project::new(&[("shapes.h", SHAPES), ("main.cc", MAIN)]);
    project.write("compile_commands.json", &database(&project, &["main.cc"]));
    project
}

/// Folders are absolute, as build systems write them.
pub(crate) fn database(project: &Project, names: &[&str]) -> String {
    let folder = project.folder.path();
    let entries = names.iter().map(|name| {
        json!({ "directory": folder, "file": name, "command": format!("clang++ -c {name}") })
    });
    serde_json::Value::Array(entries.collect()).to_string()
}

#[tokio::test]
async fn navigation_names_file_line_and_source() {
    let project = project();
    let found = project.ask("definition", "main.cc", 6, "Square").await;
    assert_eq!(
        found.text,
        "definition of `Square`:\nshapes.h:9:8: struct Square : Shape {"
    );
    // Pitfall 18: characters before the symbol that are longer in other units.
    let found = project.ask("definition", "main.cc", 7, "total").await;
    assert!(
        found.text.contains("\nmain.cc:3:8: double total("),
        "{}",
        found.text
    );
    let found = project.ask("type_definition", "main.cc", 7, "square").await;
    assert!(
        found.text.contains("\nshapes.h:9:8: struct Square"),
        "{}",
        found.text
    );
    let found = project.ask("implementation", "shapes.h", 6, "area").await;
    assert!(
        found
            .text
            .contains("\nshapes.h:11:12: double area() const override"),
        "{}",
        found.text
    );
    let hover = project.ask("hover", "main.cc", 3, "Shape").await;
    assert!(
        hover.text.contains("A thing with an area."),
        "{}",
        hover.text
    );
    project.end().await;
}

#[tokio::test]
async fn pitfall_60_references_name_what_they_are_in() {
    let project = project();
    let references = project.ask("references", "main.cc", 3, "total").await;
    assert_eq!(
        references.text,
        "2 references to `total` in 1 file, its declaration included:\n\
         main.cc:3:8: double total(const Shape &shape) { return shape.area(); }\n\
         main.cc:7:44: const char *label = \"😀é\"; double sum = total(square) + square.area();  [in main]"
    );
    project.end().await;
}

#[tokio::test]
async fn symbols_are_nested_in_a_file_and_searched_in_the_workspace() {
    let project = project();
    let symbols = project
        .call(json!({ "action": "symbols", "query": "Squ" }))
        .await;
    assert!(
        symbols.text.contains("shapes.h:9:8: struct Square")
            || symbols.text.contains("shapes.h:9:8: class Square"),
        "{}",
        symbols.text
    );
    assert_eq!(symbols.details["incomplete"], json!(null));
    let symbols = project
        .call(json!({ "action": "symbols", "file": "shapes.h" }))
        .await;
    assert!(
        symbols.text.contains("\n6:   method area"),
        "{}",
        symbols.text
    );
    project.end().await;
}

#[tokio::test]
async fn diagnostics_are_fresh_after_every_change_on_the_disk() {
    let project = project();
    let ask = || project.call(json!({ "action": "diagnostics", "file": "main.cc" }));
    assert_eq!(
        ask().await.text,
        "no errors or warnings in `main.cc` (clangd)"
    );
    for round in 0..5 {
        project.write("main.cc", &MAIN.replace("Square square", "Circle square"));
        let broken = ask().await;
        assert!(
            broken.text.contains("6:5 error"),
            "{round}: {}",
            broken.text
        );
        assert_eq!(broken.details["verdict"], json!({ "kind": "fresh" }));
        project.write("main.cc", MAIN);
        assert_eq!(
            ask().await.text,
            "no errors or warnings in `main.cc` (clangd)",
            "{round}"
        );
    }
    project.end().await;
}

#[tokio::test]
async fn pitfall_43_fixes_are_offered_for_the_faults_of_the_line() {
    let project = project();
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

#[tokio::test]
async fn without_a_database_references_say_what_is_not_covered() {
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
