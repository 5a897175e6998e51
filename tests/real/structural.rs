//! `ast_grep` on real trees, judged by others: Python's own parser, and the
//! ast-grep command line where both read a pattern alike.

#![allow(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::print_stderr, reason = "a test that skips says so")]

use std::collections::BTreeSet;
use std::path::Path;

use conformance::case::text_of;
use conformance::corpora;
use conformance::surface::{Resource, Surface};
use serde_json::{Value, json};
use tiers::Mode;

/// A file and a line in it, from 1.
type Place = (String, u64);

fn search(corpus: &Path, input: &Value) -> Value {
    let surface = Surface::open(corpus, Mode::Plan, &[Resource::Grammars], None).unwrap();
    let mut input = input.clone();
    input["max_results"] = json!(1_000_000);
    match surface.call("ast_grep", input, false) {
        Ok(output) => {
            assert!(!text_of(&output).is_empty());
            output.details
        }
        Err(error) => panic!("{error}"),
    }
}

/// Returns the first lines of all matches.
fn places(details: &Value) -> BTreeSet<Place> {
    let matches = details["matches"].as_array().unwrap();
    assert_eq!(details["total"], matches.len(), "every match was asked for");
    matches
        .iter()
        .map(|found| {
            let line = found["line"].as_u64().unwrap();
            (found["path"].as_str().unwrap().to_owned(), line)
        })
        .collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the second opinion is a program, not a tool"
)]
fn output_of(program: &str, arguments: &[&str], folder: &Path) -> String {
    let program = conformance::folder()
        .join("../.toolset/python/bin")
        .join(program);
    let output = std::process::Command::new(&program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| {
            panic!("`{}`: {error}; run `cargo xtask setup`", program.display())
        });
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn check_same(found: &BTreeSet<Place>, wanted: &BTreeSet<Place>, at_least: usize) {
    let extra: Vec<_> = found.difference(wanted).take(5).collect();
    let missing: Vec<_> = wanted.difference(found).take(5).collect();
    assert!(
        extra.is_empty() && missing.is_empty(),
        "found {}, wanted {}; too many, such as {extra:?}; too few, such as {missing:?}",
        found.len(),
        wanted.len()
    );
    assert!(
        found.len() >= at_least,
        "only {} matches: is this the whole corpus?",
        found.len()
    );
}

/// Compares the lines on which matches begin with those of the ast-grep
/// command line.
#[track_caller]
fn check_with_ast_grep(language: &str, path: &str, pattern: &str, at_least: usize) {
    let Some(corpus) = corpora::find(language) else {
        eprintln!("skipped: the {language} corpus is not installed");
        return;
    };
    let details = search(
        &corpus,
        &json!({ "pattern": pattern, "language": language, "path": path }),
    );
    let arguments = [
        "run",
        "--json=stream",
        "--lang",
        language,
        "--pattern",
        pattern,
        path,
    ];
    let wanted = output_of("ast-grep", &arguments, &corpus)
        .lines()
        .map(|line| {
            let found: Value = serde_json::from_str(line).unwrap();
            let path = found["file"]
                .as_str()
                .unwrap()
                .trim_start_matches("./")
                .to_owned();
            (path, found["range"]["start"]["line"].as_u64().unwrap() + 1)
        })
        .collect();
    check_same(&places(&details), &wanted, at_least);
}

/// Prints where Python's own parser sees a call of one of its arguments.
const PYTHON_CALLS: &str = "
import ast, pathlib, sys, warnings
warnings.simplefilter('ignore')
for path in sorted(pathlib.Path('.').rglob('*.py')):
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        continue
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if ast.unparse(node.func) in sys.argv[1:]:
                print(ast.unparse(node.func), path.as_posix(), node.lineno)
";

#[test]
fn python_calls_are_those_that_python_itself_parses() {
    let corpus = corpora::find("python").expect("run `cargo xtask setup`");
    let functions = [("warnings.warn", 10), ("os.path.join", 20)];
    let calls = output_of(
        "python",
        &["-c", PYTHON_CALLS, functions[0].0, functions[1].0],
        &corpus,
    );
    for (function, at_least) in functions {
        let pattern = format!("{function}($$$A)");
        let details = search(
            &corpus,
            &json!({ "pattern": pattern, "language": "python" }),
        );
        let wanted = calls
            .lines()
            .filter_map(|line| line.strip_prefix(function)?.trim_start().rsplit_once(' '))
            .map(|(path, line)| (path.to_owned(), line.parse().unwrap()))
            .collect();
        check_same(&places(&details), &wanted, at_least);
    }
}

#[test]
fn rust_method_calls_are_those_of_ast_grep() {
    check_with_ast_grep("rust", ".", "$X.unwrap_or_default()", 100);
    check_with_ast_grep("rust", ".", "$X.clone().into_iter()", 1);
}

#[test]
fn go_calls_are_those_of_ast_grep() {
    check_with_ast_grep("go", "go/src/net", "$X.Lock()", 50);
}

#[test]
fn c_calls_are_those_of_ast_grep() {
    check_with_ast_grep("c", "openssl/crypto", "memset($A, 0, $N)", 50);
}

#[test]
fn typescript_declarations_are_those_of_ast_grep() {
    check_with_ast_grep("typescript", "package/lib", "declare var $N: $T;", 100);
}

#[test]
fn dart_guards_are_found_in_a_real_library() {
    let Some(corpus) = corpora::find("dart") else {
        eprintln!("skipped: the dart corpus is not installed");
        return;
    };
    let pattern = "if ($X == null) { $$$B }";
    let details = search(&corpus, &json!({ "pattern": pattern, "language": "dart" }));
    let found = places(&details);
    // The library indents by the book, so that lines tell what the parser must find.
    let mut wanted = BTreeSet::new();
    for path in corpora::files(&corpus, "dart") {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path
            .strip_prefix(&corpus)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let margin = line.strip_suffix(code).unwrap();
            let end = lines[number + 1..].iter().find(|line| {
                line.strip_prefix(margin)
                    .is_some_and(|code| code.starts_with('}'))
            });
            if code.starts_with("if (")
                && code.ends_with(" == null) {")
                && !code.contains("&&")
                && end.is_some_and(|end| !end.contains("else"))
            {
                wanted.insert((name.clone(), number as u64 + 1));
            }
        }
    }
    check_same(&found, &wanted, 5);
}
