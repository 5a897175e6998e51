//! Servers of TypeScript: the wrapper of TypeScript 5, and TypeScript 7 itself.

use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::json;
use tiers::Trust;

use crate::sample::Asked::{At, Query, Symbols};
use crate::sample::{Case, Faults, Sample, needing};

const SHAPES: &str = "\
/** A thing with an area. */
export interface Shape {
    area(): number;
}

export class Square implements Shape {
    constructor(readonly side: number) {}

    area(): number {
        return this.side ** 2;
    }
}

export function total(shapes: Shape[]): number {
    return shapes.reduce((sum, shape) => sum + shape.area(), 0);
}
";

const MAIN: &str = "\
import { Square, total } from \"./shapes\";

const square = new Square(2);
const label = \"😀é\" + total([square]) + square.area();
export { label };
";

/// Marks, line endings and characters that are counted in several ways.
const MARKS: &str = "\u{feff}// 😀\r\nexport function core(): number {\r\n    return 1;\r\n}\r\n\r\nexport const x = \"😀é\", y = core();\r\n";

pub(crate) fn wrapped() -> Sample {
    let cases = vec![
        Case(
            At("definition", "main.ts", 3, "Square"),
            &["\nshapes.ts:6:14: export class Square"],
        ),
        // Pitfall 18: characters before the symbol that are longer in other units.
        Case(
            At("definition", "main.ts", 4, "total"),
            &["\nshapes.ts:14:17: export function total("],
        ),
        Case(
            At("type_definition", "main.ts", 4, "square"),
            &["\nshapes.ts:6:14: export class Square"],
        ),
        Case(
            At("implementation", "shapes.ts", 3, "area"),
            &["\nshapes.ts:9:5: area(): number {"],
        ),
        Case(
            At("references", "shapes.ts", 14, "total"),
            &[
                "=3 references to `total` in 2 files, its declaration included:\n\
               shapes.ts:14:17: export function total(shapes: Shape[]): number {\n\
               main.ts:1:18: import { Square, total } from \"./shapes\";\n\
               main.ts:4:22: const label = \"😀é\" + total([square]) + square.area();",
            ],
        ),
        // Pitfall 60: what they are in is named.
        Case(
            At("references", "shapes.ts", 7, "side"),
            &["\nshapes.ts:10:21: return this.side ** 2;  [in Square.area]"],
        ),
        Case(
            At("references", "marks.ts", 6, "core"),
            &["\nmarks.ts:2:17: export function core(): number {\nmarks.ts:6:28: export const x"],
        ),
        Case(
            At("hover", "shapes.ts", 6, "Shape"),
            &["interface Shape", "A thing with an area."],
        ),
        Case(
            Symbols("shapes.ts"),
            &[
                "\n2: interface Shape\n3:   method area",
                "\n14: function total",
            ],
        ),
        Case(Query("total"), &["\nshapes.ts:14:", " function total"]),
        Case(
            At("code_actions", "shapes.ts", 14, "total"),
            &["`total` in line 14 of `shapes.ts`"],
        ),
    ];
    Sample {
        id: "typescript-language-server",
        programs: &["typescript-language-server"],
        trust: Trust::Untrusted,
        files: vec![
            (
                "tsconfig.json",
                "{ \"compilerOptions\": { \"strict\": true } }".to_owned(),
            ),
            ("shapes.ts", SHAPES.to_owned()),
            ("main.ts", MAIN.to_owned()),
            ("marks.ts", MARKS.to_owned()),
        ],
        cases,
        faults: Faults {
            file: "main.ts",
            from: "new Square(2)",
            to: "new Square(\"x\")",
            wants: &[
                "^1 error and 0 warnings in `main.ts` (typescript-language-server):\n3:27 error [typescript 2345] ",
            ],
        },
        status: &[
            "works: definition, type_definition, implementation, references, hover, symbols (file), symbols (query), code_actions, diagnostics",
        ],
    }
}

pub(crate) fn native() -> Sample {
    Sample {
        id: "typescript-native",
        programs: &["typescript-native"],
        faults: Faults {
            file: "main.ts",
            from: "new Square(2)",
            to: "new Square(\"x\")",
            wants: &[
                "^1 error and 0 warnings in `main.ts` (typescript-native):\n3:27 error [ts 2345] ",
            ],
        },
        ..wrapped()
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        needing(
            &["typescript-language-server"],
            "pitfall_26_what_stays_right_is_known_at_once".to_owned(),
            stays_right,
        ),
        needing(
            &["typescript-language-server"],
            "pitfall_12_a_new_module_of_typescript_is_known_at_once".to_owned(),
            new_module,
        ),
        needing(
            &["typescript-native"],
            "pitfall_10_documents_are_opened_once_and_closed_once".to_owned(),
            documents,
        ),
    ]
}

/// The server publishes nothing where nothing became different.
async fn stays_right() {
    let project = wrapped().open();
    let ask = || project.call(json!({ "action": "diagnostics", "file": "main.ts" }));
    let clean = "no errors or warnings in `main.ts` (typescript-language-server)";
    assert_eq!(ask().await.text, clean);
    let mut took = Vec::new();
    for round in 0..10 {
        project.write("main.ts", &format!("{MAIN}// {round}\n"));
        let start = Instant::now();
        let told = ask().await;
        took.push(start.elapsed());
        assert_eq!(told.text, clean);
        assert_eq!(told.details["verdict"], json!({ "kind": "fresh" }));
    }
    took.sort();
    // A wait for what never comes takes 20 s; a loaded machine some 100 ms.
    assert!(took[5] < Duration::from_secs(1), "{took:?}");
    project.end().await;
}

async fn new_module() {
    let project = wrapped().open();
    let ask = || project.call(json!({ "action": "diagnostics", "file": "user.ts" }));
    project.write(
        "user.ts",
        "import { thing } from \"./later\";\nexport const x = thing;\n",
    );
    let missing = ask().await;
    assert!(
        missing.text.contains("Cannot find module './later'"),
        "{}",
        missing.text
    );
    project.write("later.ts", "export const thing = 1;\n");
    assert_eq!(
        ask().await.text,
        "no errors or warnings in `user.ts` (typescript-language-server)"
    );
    project.end().await;
}

/// This server ends when a document that is not open is changed or closed, or
/// one that is open is opened.
async fn documents() {
    let sample = native();
    let project = sample.open();
    let ask = |file: &str| project.call(json!({ "action": "symbols", "file": file }));
    // More than stay open at once.
    for number in 0..80 {
        let name = format!("many/m{number}.ts");
        project.write(&name, &format!("export const m{number} = {number};\n"));
    }
    let mut first = None;
    for round in 0..2 {
        for number in 0..80 {
            let name = format!("many/m{number}.ts");
            let symbols = ask(&name).await;
            assert!(symbols.error.is_none(), "{name}: {}", symbols.text);
            assert!(
                symbols.text.contains(&format!("m{number}")),
                "{}",
                symbols.text
            );
            if number % 3 == 0 {
                project.write(&name, &format!("export const m{number} = {round};\n"));
            }
            if number % 7 == 0 {
                let before = format!("many/m{}.ts", (number + 40) % 80);
                let path = project.folder.path().join(&before);
                let text = std::fs::read_to_string(&path).unwrap();
                std::fs::remove_file(&path).unwrap();
                let gone = ask(&before).await;
                assert!(gone.error.is_some(), "{}", gone.text);
                project.write(&before, &text);
            }
        }
        let pids = project.pids().await;
        assert_eq!(
            *first.get_or_insert(pids.clone()),
            pids,
            "it ended and came back"
        );
    }
    project.end().await;
}
