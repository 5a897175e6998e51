//! Servers of Python: pyright, basedpyright, ty, and ruff beside them.

use std::path::Path;

use libtest_mimic::Trial;
use serde_json::json;
use tiers::Trust;

use crate::sample::Asked::{At, Query, Symbols};
use crate::sample::{Case, Faults, Sample, needing, only};
use crate::support::{Opening, Project, installed};

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

/// Marks, line endings and characters that are counted in several ways.
const MARKS: &str = "\u{feff}# 😀\r\ndef core():\r\n    pass\r\n\r\nx = \"😀é\"; core()\r\n";

fn files() -> Vec<(&'static str, String)> {
    let project = "[project]\nname = \"x\"\nversion = \"0\"\n";
    vec![
        ("pyproject.toml", project.to_owned()),
        ("shapes.py", SHAPES.to_owned()),
        ("main.py", MAIN.to_owned()),
        ("marks.py", MARKS.to_owned()),
    ]
}

/// What every one of them answers.
fn cases() -> Vec<Case> {
    vec![
        Case(
            At("definition", "main.py", 3, "Square"),
            &["=definition of `Square`:\nshapes.py:8:7: class Square:"],
        ),
        // Pitfall 18: characters before the symbol that are longer in other units.
        Case(
            At("definition", "main.py", 4, "total"),
            &["\nshapes.py:18:5: def total("],
        ),
        Case(
            At("type_definition", "main.py", 4, "square#1"),
            &["\nshapes.py:8:7: class Square:"],
        ),
        Case(
            At("references", "shapes.py", 8, "Square"),
            &[
                "=3 references to `Square` in 2 files, its declaration included:\n\
               shapes.py:8:7: class Square:\n\
               main.py:1:20: from shapes import Square, total\n\
               main.py:3:10: square = Square(2.0)",
            ],
        ),
        // Pitfall 60: what they are in is named.
        Case(
            At("references", "shapes.py", 12, "self.side"),
            &[
                "\nshapes.py:12:14: self.side = side  [in Square.__init__]",
                "\nshapes.py:15:21: return self.side**2  [in Square.area]",
            ],
        ),
        Case(
            At("references", "marks.py", 5, "core"),
            &["\nmarks.py:2:5: def core():\nmarks.py:5:11: x = \"😀é\"; core()"],
        ),
        Case(
            At("hover", "main.py", 3, "Square"),
            &["Square", "A square."],
        ),
        Case(
            Symbols("shapes.py"),
            &[
                "\n4: class Shape\n5:   method area\n",
                "\n18: function total",
            ],
        ),
        Case(Query("tota"), &["\nshapes.py:18:", ": function total"]),
        Case(
            At("code_actions", "main.py", 3, "Square"),
            &["`Square` in line 3 of `main.py`"],
        ),
    ]
}

pub(crate) fn pyright() -> Sample {
    let mut cases = cases();
    cases.push(Case(
        At("implementation", "shapes.py", 5, "area"),
        &["`pyright` cannot answer this: it does not offer implementations"],
    ));
    Sample {
        id: "pyright",
        programs: &["pyright"],
        trust: Trust::Untrusted,
        files: files(),
        cases,
        faults: Faults {
            file: "main.py",
            from: "Square(2.0)",
            to: "Square('x')",
            wants: &["^1 error and 0 warnings in `main.py` (pyright):\n3:17 error "],
        },
        status: &["implementation: the server does not offer it"],
    }
}

pub(crate) fn basedpyright() -> Sample {
    let mut cases = cases();
    cases.push(Case(
        At("implementation", "shapes.py", 5, "area"),
        &["\nshapes.py:14:9: def area(self) -> float:"],
    ));
    Sample {
        id: "basedpyright",
        programs: &["basedpyright"],
        cases,
        faults: Faults {
            file: "main.py",
            from: "Square(2.0)",
            to: "Square('x')",
            wants: &["^1 error and 0 warnings in `main.py` (basedpyright):\n3:17 error "],
        },
        status: &["works: definition, type_definition, implementation, references"],
        ..pyright()
    }
}

pub(crate) fn ty() -> Sample {
    let mut cases = cases();
    cases.push(Case(
        At("implementation", "shapes.py", 5, "area"),
        &["shapes.py:"],
    ));
    Sample {
        id: "ty",
        programs: &["ty"],
        cases,
        faults: Faults {
            file: "main.py",
            from: "Square(2.0)",
            to: "Square('x')",
            wants: &["^1 error and 0 warnings in `main.py` (ty):\n3:17 error "],
        },
        status: &[
            "works: definition, type_definition, implementation, references, hover, symbols (file), symbols (query), code_actions, diagnostics",
        ],
        ..pyright()
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        needing(
            &["pyright"],
            "pitfall_12_a_new_module_is_known_at_once".to_owned(),
            new_module,
        ),
        needing(
            &["pyright", "ruff"],
            "pitfall_22_and_28_a_linter_reports_beside_the_main_server".to_owned(),
            linter,
        ),
        needing(
            &["pyright", "basedpyright", "ty"],
            "pitfall_51_modules_of_the_projects_own_environment_are_known".to_owned(),
            own_environment,
        ),
        needing(
            &["pyright", "basedpyright", "ty"],
            "pitfall_63_of_several_servers_the_same_is_chosen_and_it_is_said_why".to_owned(),
            choice,
        ),
    ]
}

async fn new_module() {
    let project = pyright().open();
    let ask = || project.call(json!({ "action": "diagnostics", "file": "user.py" }));
    project.write("user.py", "from made_later import thing\n\nprint(thing)\n");
    let missing = ask().await;
    assert!(
        missing
            .text
            .contains("Import \"made_later\" could not be resolved"),
        "{}",
        missing.text
    );
    project.write("made_later.py", "thing = 1\n");
    assert_eq!(
        ask().await.text,
        "no errors or warnings in `user.py` (pyright)"
    );
    project.end().await;
}

/// Each store replaces only itself: what one server finds does not go when
/// another has something new to say.
async fn linter() {
    let opening = Opening {
        catalogue: only(&["pyright", "ruff"]),
        programs: &["pyright", "ruff"],
        ..Opening::default()
    };
    let files = [("pyproject.toml", ""), ("a.py", "x: int = 1\n")];
    let project = Project::open(&files, opening);
    let ask = || project.call(json!({ "action": "diagnostics", "file": "a.py" }));
    let clean = ask().await;
    assert_eq!(
        clean.text,
        "no errors or warnings in `a.py` (pyright, ruff)"
    );
    project.write("a.py", "import os\nx: int = \"no\"\n");
    let both = ask().await;
    assert!(both.text.contains("[Ruff F401]"), "{}", both.text);
    assert!(both.text.contains("2:10 error [Pyright"), "{}", both.text);
    assert_eq!(both.details["verdict"], json!({ "kind": "fresh" }));
    project.write("a.py", "import os\nx: int = 1\n");
    let one = ask().await;
    assert!(one.text.contains("[Ruff F401]"), "{}", one.text);
    assert!(!one.text.contains("Pyright"), "{}", one.text);
    project.write("a.py", "x: int = \"no\"\n");
    let other = ask().await;
    assert!(!other.text.contains("Ruff"), "{}", other.text);
    assert!(other.text.contains("1:10 error [Pyright"), "{}", other.text);

    let status = json!({ "action": "status", "file": "a.py" });
    let status = project.call(status).await;
    assert!(
        status.text.starts_with(
            "`a.py` is served by pyright, the only one that can be used; diagnostics also come from ruff:"
        ),
        "{}",
        status.text
    );
    project.end().await;
}

async fn choice() {
    let files = [("pyproject.toml", ""), ("a.py", "def core():\n    pass\n")];
    let mut seen = Vec::new();
    for _ in 0..3 {
        let opening = Opening {
            programs: &["ty", "basedpyright", "pyright"],
            ..Opening::default()
        };
        let project = Project::open(&files, opening);
        let status = json!({ "action": "status", "file": "a.py" });
        let status = project.call(status).await;
        let (first, rest) = status.text.split_once('\n').unwrap();
        let ids: Vec<&str> = rest
            .lines()
            .filter_map(|line| line.strip_prefix("- ")?.split([' ', ':']).next())
            .collect();
        seen.push(format!("{first} {}", ids.join(" ")));
        let symbols = json!({ "action": "symbols", "file": "a.py" });
        let symbols = project.call(symbols).await;
        assert_eq!(symbols.details["answered_by"], json!(["pyright"]));
        project.end().await;
    }
    assert!(
        seen[0].starts_with("`a.py` is served by pyright, the first in the table that can be used"),
        "{}",
        seen[0]
    );
    assert!(
        seen[0].contains("pyright basedpyright ty ruff"),
        "{}",
        seen[0]
    );
    assert!(seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}

/// Makes a virtual environment with one module in it.
fn plant_environment(folder: &Path) {
    let python = installed("ty").join("python3").canonicalize().unwrap();
    let home = python.parent().unwrap();
    let version = python.file_name().unwrap();
    let modules = folder.join("lib").join(version).join("site-packages");
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    std::fs::create_dir_all(&modules).unwrap();
    std::os::unix::fs::symlink(&python, folder.join("bin/python3")).unwrap();
    let description = format!("home = {}\n", home.display());
    std::fs::write(folder.join("pyvenv.cfg"), description).unwrap();
    std::fs::write(modules.join("only_there.py"), "thing = 1\n").unwrap();
}

async fn own_environment() {
    for id in ["pyright", "basedpyright", "ty"] {
        let opening = Opening {
            trust: Trust::Trusted,
            catalogue: only(&[id]),
            programs: &["pyright", "basedpyright", "ty"],
            ..Opening::default()
        };
        let files = [
            ("pyproject.toml", ""),
            ("a.py", "from only_there import thing\n\nprint(thing)\n"),
        ];
        let project = Project::open(&files, opening);
        // Of this name no server finds it by itself.
        plant_environment(&project.folder.path().join("venv"));
        let told = project
            .call(json!({ "action": "diagnostics", "file": "a.py" }))
            .await;
        // One warns that the module has no stubs, which it had to find for that.
        let is_known = told.text.starts_with("no errors") || told.text.starts_with("0 errors and ");
        assert!(is_known, "{id}: {}", told.text);
        project.end().await;
    }
}
