//! What is written is right to the byte.

use std::collections::BTreeMap;
use std::path::Path;

use lsp_bridge::LspLimits;
use serde_json::json;

use crate::project::Project;

fn open(id: &str, files: &[(&str, &str)]) -> Project {
    let write = |folder: &Path| {
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    };
    Project::new(id, write, LspLimits::default())
}

fn tree(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    let files = files.iter();
    let files = files.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    files.collect()
}

#[tokio::test]
async fn pitfall_15_pyright_keeps_marks_line_endings_and_wide_characters() {
    let project = open(
        "pyright",
        &[
            ("pyproject.toml", ""),
            (
                "area.py",
                "\u{feff}# area\r\ndef area(x: int) -> int:\r\n    return x\r\n",
            ),
            (
                "user.py",
                "from area import area\n\nlabel = \"😀é\"; total = area(area(1))\rlast = area(2)",
            ),
            (
                "alias.py",
                "from area import area as other\n\nprint(other(1), \"area\")\n",
            ),
        ],
    );
    // At an import.
    let outcome = project.rename("user.py", 1, "area#2", "size").await;
    assert!(outcome.error.is_none(), "{}", outcome.text);
    assert_eq!(
        project.tree(),
        tree(&[
            ("pyproject.toml", ""),
            (
                "area.py",
                "\u{feff}# area\r\ndef size(x: int) -> int:\r\n    return x\r\n"
            ),
            (
                "user.py",
                "from area import size\n\nlabel = \"😀é\"; total = size(size(1))\rlast = size(2)",
            ),
            (
                "alias.py",
                "from area import size as other\n\nprint(other(1), \"area\")\n"
            ),
        ])
    );
    assert!(
        outcome.text.starts_with(
            "renamed `area` to `size`: 6 places in 3 files\nalias.py: 1\narea.py: 1\nuser.py: 4\n\
             no new errors or warnings (pyright)\n\
             the word `area` is still written in 4 places (comments, texts, other things of that \
             name): alias.py:1, alias.py:3, area.py:1, user.py:1"
        ),
        "{}",
        outcome.text
    );
    // Back again, while the server runs.
    let outcome = project.rename("area.py", 2, "size", "area").await;
    assert_eq!(outcome.details["places"], 6, "{}", outcome.text);
    // A name that is taken: written, and the new errors are told.
    let outcome = project.rename("user.py", 3, "label", "total").await;
    assert!(outcome.error.is_none(), "{}", outcome.text);
    project.end().await;
}

#[tokio::test]
async fn pitfall_15_clangd_keeps_marks_line_endings_and_wide_characters() {
    let header = "#pragma once\r\n/// area\r\nint area(int x);\r\n";
    let user =
        "\u{feff}#include \"area.h\"\nconst char *label = \"😀é\"; int total = area(area(1));\n";
    let own = "#include \"area.h\"\nint area(int x) { return x; } // area";
    let database = |folder: &Path| {
        let entries = ["area.cc", "user.cc"].map(|name| {
            json!({ "directory": folder, "file": name, "command": format!("clang++ -c {name}") })
        });
        json!(entries).to_string()
    };
    let write = |folder: &Path| {
        for (name, text) in [("area.h", header), ("user.cc", user), ("area.cc", own)] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        std::fs::write(folder.join("compile_commands.json"), database(folder)).unwrap();
    };
    let project = Project::new("clangd", write, LspLimits::default());
    let outcome = project.rename("user.cc", 2, "area#2", "size").await;
    assert!(outcome.error.is_none(), "{}", outcome.text);
    let commands = database(project.folder.path());
    assert_eq!(
        project.tree(),
        tree(&[
            ("area.h", "#pragma once\r\n/// area\r\nint size(int x);\r\n"),
            (
                "user.cc",
                "\u{feff}#include \"area.h\"\nconst char *label = \"😀é\"; int total = size(size(1));\n",
            ),
            (
                "area.cc",
                "#include \"area.h\"\nint size(int x) { return x; } // area"
            ),
            ("compile_commands.json", &commands),
        ])
    );
    // A name that is taken is refused by the server, and nothing is written.
    let before = project.tree();
    let outcome = project.rename("user.cc", 2, "label", "total").await;
    assert!(outcome.error.is_some(), "{}", outcome.text);
    assert_eq!(project.tree(), before);
    project.end().await;
}

/// Renames `area`, which is used at a wide character and twice on a line, and
/// compares the tree.
async fn renamed(id: &str, files: &[(&str, &str)], at: (&str, u32, &str)) {
    let project = open(id, files);
    let expected = files
        .iter()
        .map(|(name, text)| (*name, text.replace("area", "size")));
    let expected: Vec<(&str, String)> = expected.collect();
    let expected: Vec<(&str, &str)> = expected
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let outcome = project.rename(at.0, at.1, at.2, "size").await;
    assert!(outcome.error.is_none(), "{}", outcome.text);
    assert_eq!(project.tree(), tree(&expected), "{}", outcome.text);
    project.end().await;
}

const TYPESCRIPT: &[(&str, &str)] = &[
    ("tsconfig.json", "{}"),
    (
        "lib.ts",
        "\u{feff}export function area(x: number): number {\r\n    return x;\r\n}\r\n",
    ),
    (
        "user.ts",
        "import { area } from \"./lib\";\n\nconst label = \"😀é\"; export const total = area(area(1)) + label.length;\r\nexport const last = area(2);",
    ),
];

#[tokio::test]
async fn pitfall_15_typescript_language_server_renames_at_an_import_to_the_byte() {
    renamed(
        "typescript-language-server",
        TYPESCRIPT,
        ("user.ts", 1, "area"),
    )
    .await;
}

#[tokio::test]
async fn pitfall_15_typescript_7_renames_at_an_import_to_the_byte() {
    renamed("typescript-native", TYPESCRIPT, ("user.ts", 1, "area")).await;
}

#[tokio::test]
async fn pitfall_15_ty_renames_at_an_import_to_the_byte() {
    let files = [
        ("pyproject.toml", ""),
        (
            "lib.py",
            "\u{feff}def area(x: int) -> int:\r\n    return x\r\n",
        ),
        (
            "user.py",
            "from lib import area\n\nlabel = \"😀é\"; total = area(area(1))\nlast = area(2)",
        ),
    ];
    renamed("ty", &files, ("user.py", 1, "area")).await;
}

#[tokio::test]
async fn pitfall_15_rust_analyzer_renames_at_an_import_to_the_byte() {
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"bytes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        ),
        ("src/lib.rs", "pub mod shapes;\npub mod user;\n"),
        (
            "src/shapes.rs",
            "\u{feff}pub fn area(x: u32) -> u32 {\r\n    x\r\n}\r\n",
        ),
        (
            "src/user.rs",
            "use crate::shapes::area;\n\npub fn total() -> usize {\n    let label = \"😀é\"; let sum = area(area(1));\n    label.len() + sum as usize\n}",
        ),
    ];
    renamed("rust-analyzer", &files, ("src/user.rs", 1, "area")).await;
}
