//! pyright.

use serde_json::json;

use crate::support::Project;

const SHAPES: &str = "\
from typing import Protocol


class Shape(Protocol):
    def area(self) -> float: ...


class Square:
    \"\"\"A square.\"\"\"

    def __init__(self, side: float) -> None:
        self.side = side

    def area(self) -> float:
        return self.side**2


def total(shapes: list[Shape]) -> float:
    return sum(shape.area() for shape in shapes)
";

const MAIN: &str = "\
from shapes import Square, total

square = Square(2.0)
label = \"😀é\" + str(total([square])) + str(square.area())
print(label)
";

fn project() -> Project {
    Project::new(&[
        (
            "pyproject.toml",
            "[project]\nname = \"x\"\nversion = \"0\"\n",
        ),
        ("shapes.py", SHAPES),
        ("main.py", MAIN),
    ])
}

#[tokio::test]
async fn navigation_names_file_line_and_source() {
    let project = project();
    let found = project.ask("definition", "main.py", 3, "Square").await;
    assert_eq!(
        found.text,
        "definition of `Square`:\nshapes.py:8:7: class Square:"
    );
    // Pitfall 18: characters before the symbol that are longer in other units.
    let found = project.ask("definition", "main.py", 4, "total").await;
    assert!(
        found.text.contains("\nshapes.py:18:5: def total("),
        "{}",
        found.text
    );
    let found = project
        .ask("type_definition", "main.py", 4, "square#1")
        .await;
    assert!(
        found.text.contains("\nshapes.py:8:7: class Square:"),
        "{}",
        found.text
    );
    let hover = project.ask("hover", "main.py", 3, "Square").await;
    assert!(hover.text.contains("class Square"), "{}", hover.text);
    let references = project.ask("references", "shapes.py", 8, "Square").await;
    assert_eq!(
        references.text,
        "3 references to `Square` in 2 files, its declaration included:\n\
         shapes.py:8:7: class Square:\n\
         main.py:1:20: from shapes import Square, total\n\
         main.py:3:10: square = Square(2.0)"
    );
    assert_eq!(references.details["incomplete"], json!(null));
    project.end().await;
}

#[tokio::test]
async fn pitfall_60_references_name_what_they_are_in() {
    let project = project();
    let references = project
        .ask("references", "shapes.py", 12, "self.side")
        .await;
    let lines: Vec<&str> = references.text.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "shapes.py:12:14: self.side = side  [in Square.__init__]",
            "shapes.py:15:21: return self.side**2  [in Square.area]",
        ]
    );
    project.end().await;
}

#[tokio::test]
async fn symbols_are_nested_in_a_file_and_searched_in_the_workspace() {
    let project = project();
    let file = json!({ "action": "symbols", "file": "shapes.py" });
    let symbols = project.call(file).await;
    assert!(
        symbols
            .text
            .starts_with("9 symbols in `shapes.py`:\n4: class Shape\n5:   method area\n"),
        "{}",
        symbols.text
    );
    let query = json!({ "action": "symbols", "query": "tota" });
    let symbols = project.call(query).await;
    assert_eq!(
        symbols.text,
        "1 symbol match `tota`:\nshapes.py:18:5: function total"
    );
    project.end().await;
}

#[tokio::test]
async fn diagnostics_are_fresh_after_every_change_on_the_disk() {
    let project = project();
    let ask = || project.call(json!({ "action": "diagnostics", "file": "main.py" }));
    assert_eq!(
        ask().await.text,
        "no errors or warnings in `main.py` (pyright)"
    );
    for round in 0..5 {
        // Pitfall 13: nobody says that the file changed.
        project.write("main.py", &MAIN.replace("Square(2.0)", "Square('x')"));
        let broken = ask().await;
        assert!(
            broken
                .text
                .starts_with("1 error and 0 warnings in `main.py` (pyright):\n3:17 error "),
            "{round}: {}",
            broken.text
        );
        assert_eq!(broken.details["verdict"], json!({ "kind": "fresh" }));
        // Nor that one it depends on did.
        project.write("main.py", MAIN);
        project.write("shapes.py", &SHAPES.replace("def total(", "def totals("));
        let renamed = ask().await;
        assert!(
            renamed.text.contains("\"total\" is unknown import symbol"),
            "{round}: {}",
            renamed.text
        );
        project.write("shapes.py", SHAPES);
        assert_eq!(
            ask().await.text,
            "no errors or warnings in `main.py` (pyright)",
            "{round}"
        );
    }
    project.end().await;
}

#[tokio::test]
async fn pitfall_12_a_new_module_is_known_at_once() {
    let project = project();
    let ask = || project.call(json!({ "action": "diagnostics", "file": "user.py" }));
    project.write("user.py", "from made_later import thing\n\nprint(thing)\n");
    assert!(
        ask()
            .await
            .text
            .contains("Import \"made_later\" could not be resolved")
    );
    project.write("made_later.py", "thing = 1\n");
    assert_eq!(
        ask().await.text,
        "no errors or warnings in `user.py` (pyright)"
    );
    project.end().await;
}

#[tokio::test]
async fn code_actions_are_listed_and_nothing_is_done() {
    let project = project();
    let listed = project.ask("code_actions", "main.py", 3, "Square").await;
    assert!(listed.error.is_none(), "{}", listed.text);
    assert!(
        listed.text.contains("`Square` in line 3 of `main.py`"),
        "{}",
        listed.text
    );
    project.end().await;
}

#[tokio::test]
async fn pitfalls_15_and_18_line_endings_marks_and_wide_characters_are_counted_right() {
    let text = "\u{feff}# 😀\r\ndef core():\r\n    pass\r\n\r\nx = \"😀é\"; core()\r\n";
    let project = Project::new(&[("pyproject.toml", ""), ("a.py", text)]);
    let references = project.ask("references", "a.py", 5, "core").await;
    assert!(
        references
            .text
            .ends_with("\na.py:2:5: def core():\na.py:5:11: x = \"😀é\"; core()"),
        "{}",
        references.text
    );
    project.end().await;
}
