//! Which files are searched, what is said of the others, and what a search
//! without a match says.

use std::fmt::Write as _;

use serde_json::json;
use tiers::{CallContext, ErrorKind};

use crate::tool::{Folder, message, said};

#[track_caller]
fn skipped(folder: &Folder, path: &str, reason: &str) {
    let said = folder.search("f($X)");
    assert_eq!(said.details["skipped"][0]["path"], path, "{}", said.text);
    assert_eq!(
        said.details["skipped"][0]["reason"], reason,
        "{}",
        said.text
    );
    assert!(said.text.contains(&format!("`{path}`")), "{}", said.text);
    // The others are searched all the same.
    assert_eq!(said.places(), ["z.py:1"]);
    let error = folder
        .try_search(&json!({ "pattern": "f($X)", "path": path }))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(message(&error).contains(path), "{}", message(&error));
}

#[test]
fn a_latin_1_file_is_reported() {
    let folder = Folder::new()
        .file("a.py", b"f('caf\xe9')\n")
        .file("z.py", "f(1)\n");
    skipped(&folder, "a.py", "not_utf8");
}

#[test]
fn a_file_with_a_zero_byte_is_reported() {
    let folder = Folder::new()
        .file("a.py", b"f(1)\0\n")
        .file("z.py", "f(1)\n");
    skipped(&folder, "a.py", "binary");
}

#[test]
fn a_file_over_the_limit_is_reported() {
    let folder = Folder::new()
        .file("a.py", "f(1)    \n".repeat(500_000))
        .file("z.py", "f(1)\n");
    skipped(&folder, "a.py", "too_large");
}

#[test]
fn a_file_that_takes_the_parser_too_long_is_reported() {
    // Python's scanner reads the rest of a run of comments for each of them.
    let comments = "    # c\n".repeat(40_000);
    let folder = Folder::new()
        .file("a.py", format!("def g():\n{comments}    f(1)\n"))
        .file("z.py", "f(1)\n");
    skipped(&folder, "a.py", "too_slow");
}

#[test]
fn a_file_of_400_000_lines_is_searched() {
    let mut text = "x = 123\n".repeat(440_000);
    text.push_str("f(1)\n");
    assert!(
        (3_400_000..4_000_000).contains(&text.len()),
        "{}",
        text.len()
    );
    let folder = Folder::new().file("a.py", text);
    assert_eq!(folder.search("f($X)").places(), ["a.py:440001"]);
}

#[test]
fn a_byte_order_mark_and_carriage_returns_do_not_matter() {
    let folder = Folder::new()
        .file("a.py", "\u{feff}f(1)\r\nif x:\r\n    f(2)\r\n    g()\r\n")
        .file("b.py", "f(1)\nif x:\n    f(2)\n    g()\n");
    assert_eq!(
        folder.search("f($X)").places(),
        ["a.py:1", "a.py:3", "b.py:1", "b.py:3"]
    );
    assert_eq!(
        folder.search("if $C:\n    f(2)\n    g()").places(),
        ["a.py:2", "b.py:2"]
    );
}

fn with_ignored_files() -> Folder {
    Folder::new()
        .file(".gitignore", "/ignored.py\nbuild/\n")
        .file("ignored.py", "f(1)\n")
        .file("build/a.py", "f(1)\n")
        .file(".hidden.py", "f(1)\n")
        .file(".venv/a.py", "f(1)\n")
        .file(".git/a.py", "f(1)\n")
        .file("sub/.gitignore", "*.gen.py\n")
        .file("sub/a.gen.py", "f(1)\n")
        .file("sub/ignored.py", "f(1)\n")
        .file("node_modules/a.py", "f(1)\n")
        .file("a.py", "f(1)\n")
}

#[test]
fn ignored_and_hidden_files_are_left_out() {
    let folder = with_ignored_files();
    assert_eq!(
        folder.search("f($X)").places(),
        ["a.py:1", "node_modules/a.py:1", "sub/ignored.py:1"]
    );
}

#[test]
fn rules_above_the_workspace_count_only_in_its_repository() {
    let outer = Folder::new()
        .file(".gitignore", "*.py\n")
        .file("repo/.gitignore", "gen.py\n")
        .file("repo/ws/gen.py", "f(1)\n")
        .file("repo/ws/a.py", "f(1)\n");
    let search = |folder: &str| {
        let folder = Folder::over(outer.path().join(folder));
        let said = folder.search("f($X)");
        (said.places(), said.text)
    };
    assert_eq!(search("repo/ws").0, ["a.py:1", "gen.py:1"]);
    std::fs::create_dir(outer.path().join("repo/.git")).unwrap();
    assert_eq!(search("repo/ws").0, ["a.py:1"]);
    std::fs::remove_file(outer.path().join("repo/ws/a.py")).unwrap();
    let (places, text) = search("repo/ws");
    assert_eq!(places, [""; 0]);
    assert!(
        text.contains("the rules in `../.gitignore` (1, above the workspace)"),
        "{text}"
    );
}

#[test]
fn a_hidden_file_that_a_rule_keeps_is_searched() {
    let folder = Folder::new()
        .file(".ignore", "!.config/\n!.git/\n")
        .file(".config/a.py", "f(1)\n")
        .file(".other/a.py", "f(1)\n")
        .file(".git/a.py", "f(1)\n");
    assert_eq!(folder.search("f($X)").places(), [".config/a.py:1"]);
}

#[test]
fn a_match_on_a_long_line_is_shown_where_it_is() {
    let line = "a(1);".repeat(40_000);
    let folder = Folder::new().file("a.js", format!("{line}f(needle);{line}f(last)"));
    let said = folder.search("f($X)");
    for shown in ["…", "a(1);f(needle);a(1)", "a(1);f(last)"] {
        assert!(
            said.text.contains(shown),
            "{shown} is not in:\n{}",
            said.text
        );
    }
    assert!(said.text.len() < 1_000, "{}", said.text);
}

#[test]
fn a_file_that_is_not_searched_to_its_end_is_named_first() {
    let list: Vec<String> = (0..3_000).map(|n| format!("a{n}")).collect();
    let folder = Folder::new()
        .file("hard.js", format!("f({});\n", list.join(", ")))
        .file("easy.js", "f(b);\n");
    let pattern = "f($$$A, $X, $$$B, $Y, $$$C, $X, $$$D, $Y, $$$E)";
    let error = folder
        .try_search(&json!({ "pattern": pattern }))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    let partial = said(error.partial.as_ref().unwrap());
    assert!(
        partial
            .text
            .starts_with("incomplete: `hard.js` was not searched to its end"),
        "{}",
        partial.text
    );
    assert_eq!(partial.details["total_is_exact"], false);
}

#[test]
fn a_named_file_is_searched_even_if_it_is_ignored() {
    let folder = with_ignored_files();
    for path in ["ignored.py", ".hidden.py", "sub/a.gen.py", "build/a.py"] {
        let said = folder
            .try_search(&json!({ "pattern": "f($X)", "path": path }))
            .unwrap();
        assert_eq!(said.places(), [format!("{path}:1")]);
    }
}

#[test]
fn a_folder_without_files_of_the_language_says_so() {
    let folder = Folder::new()
        .file("docs/a.md", "# A\n")
        .file("a.py", "f(1)\n");
    let said = folder
        .try_search(&json!({ "pattern": "f($X)", "path": "docs", "language": "python" }))
        .unwrap();
    assert!(
        said.text
            .contains("no file of language python under `docs`"),
        "{}",
        said.text
    );
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let outside = Folder::new().file("a.py", "f(1)\n");
    let folder = Folder::new().file("sub/a.py", "f(1)\n");
    let links = [
        (outside.path().to_owned(), "out"),
        (outside.path().join("a.py"), "out.py"),
        ("sub".into(), "in"),
        (".".into(), "loop"),
    ];
    for (to, name) in links {
        std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    }
    assert_eq!(folder.search("f($X)").places(), ["sub/a.py:1"]);
    for path in ["out", "out.py", "out/a.py"] {
        let error = folder
            .try_search(&json!({ "pattern": "f($X)", "path": path }))
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied, "{path}: {}", message(&error));
    }
}

#[test]
fn a_path_that_leaves_the_workspace_is_refused() {
    let folder = Folder::new().file("sub/a.py", "f(1)\n");
    let absolute = if cfg!(windows) { "C:\\Windows" } else { "/etc" };
    for path in ["..", "../x.py", "sub/../../x.py", absolute] {
        let error = folder
            .try_search(&json!({ "pattern": "f($X)", "path": path }))
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied, "{path}: {}", message(&error));
    }
    let error = folder
        .try_search(&json!({ "pattern": "f($X)", "path": "none.py" }))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
}

#[test]
fn a_limit_of_zero_is_refused_and_a_huge_one_is_not() {
    let folder = Folder::new().file("a.py", "f(1)\nf(2)\n");
    let error = folder
        .try_search(&json!({ "pattern": "f($X)", "max_results": 0 }))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidInput);
    let said = folder
        .try_search(&json!({ "pattern": "f($X)", "max_results": u64::MAX }))
        .unwrap();
    assert_eq!(said.places().len(), 2);
}

#[test]
fn an_unknown_language_names_the_known_ones_nearest_first() {
    let folder = Folder::new().file("a.py", "f(1)\n");
    let error = folder
        .try_search(&json!({ "pattern": "f($X)", "language": "pyton" }))
        .unwrap_err();
    let said = message(&error);
    assert_eq!(error.kind, ErrorKind::InvalidInput);
    assert!(said.contains("`pyton`"), "{said}");
    assert!(said.contains("nearest first: python"), "{said}");
}

#[test]
fn aliases_name_languages() {
    let folder = Folder::new()
        .file("a.cs", "class A { void M() { F(1); } }\n")
        .file("a.go", "package p\nvar x = F(1)\n")
        .file("a.jsx", "F(1);\n");
    for (name, path) in [
        ("c#", "a.cs:1"),
        ("CSharp", "a.cs:1"),
        ("golang", "a.go:2"),
        ("jsx", "a.jsx:1"),
    ] {
        let said = folder
            .try_search(&json!({ "pattern": "F($X)", "language": name }))
            .unwrap();
        assert_eq!(said.places(), [path], "{name}");
    }
}

#[test]
fn a_header_is_searched_as_the_language_it_is_in() {
    let folder = Folder::new()
        .file("c.h", "static int f(void) { return g(1); }\n")
        .file("cpp.h", "namespace n { template <typename T> class A : public B<T> { int m() { return g(1); } }; }\n");
    let said = folder.search("return g($X);");
    assert_eq!(said.places(), ["c.h:1", "cpp.h:1"]);
    assert_eq!(said.details["matches"][0]["language"], "c");
    assert_eq!(said.details["matches"][1]["language"], "cpp");
    let said = folder
        .try_search(&json!({ "pattern": "g($X)", "language": "cpp" }))
        .unwrap();
    assert_eq!(said.places(), ["c.h:1", "cpp.h:1"]);
}

#[test]
fn the_first_line_tells_the_language_of_a_file_without_an_ending() {
    let folder = Folder::new()
        .file("run", "#!/usr/bin/env python3\nf(1)\n")
        .file("other", "f(1)\n");
    assert_eq!(folder.search("f($X)").places(), ["run:2"]);
    let error = folder
        .try_search(&json!({ "pattern": "f($X)", "path": "other" }))
        .unwrap_err();
    assert!(
        message(&error).contains("`language`"),
        "{}",
        message(&error)
    );
    let said = folder
        .try_search(&json!({ "pattern": "f($X)", "path": "other", "language": "python" }))
        .unwrap();
    assert_eq!(said.places(), ["other:1"]);
}

#[test]
fn a_folder_without_a_language_is_searched_in_all_that_accept_the_pattern() {
    let folder = Folder::new()
        .file("a.py", "def f(x):\n    pass\n")
        .file("a.rs", "fn f() {}\n")
        .file("a.js", "f(1)\n");
    let said = folder.search("def $F($X):\n    pass");
    assert_eq!(said.places(), ["a.py:1"]);
    assert!(said.text.contains("rust"), "{}", said.text);
    let all = Folder::new()
        .file("a.py", "f(1)\n")
        .file("a.rs", "fn m() { f(1); }\n")
        .file("a.js", "f(1)\n");
    assert_eq!(all.search("f($X)").places(), ["a.js:1", "a.py:1", "a.rs:1"]);
}

#[test]
fn a_search_that_is_cancelled_stops() {
    let mut folder = Folder::new();
    let mut text = String::new();
    for n in 0..2_000 {
        let _ = writeln!(text, "x{n} = f({n}, g(h({n})), [1, 2, 3])");
    }
    for n in 0..40 {
        folder = folder.file(&format!("{n}.py"), &text);
    }
    let tool = folder.tool().threads(2);
    let input = json!({ "pattern": "$F($A, $A)", "max_results": 1_000_000 });
    let run = folder.run();
    let context = CallContext::detached(&run);
    let token = context.token().clone();
    let started = std::time::Instant::now();
    let whole = folder.call(&tool, &input);
    let whole_took = started.elapsed();
    assert_eq!(whole.unwrap().places().len(), 0);
    let canceller = std::thread::spawn(move || token.cancel());
    let started = std::time::Instant::now();
    let error = folder.call_in(&tool, &input, &context).unwrap_err();
    canceller.join().unwrap();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    let took = started.elapsed();
    assert!(took < whole_took / 2, "{took:?} of {whole_took:?}");
}

#[track_caller]
fn near_miss(path: &str, source: &str, pattern: &str, unmatched: &str) {
    let folder = Folder::new().file(path, source);
    let said = folder.search(pattern);
    assert_eq!(said.details["total"], 0, "{}", said.text);
    let miss = &said.details["near_misses"][0];
    assert_eq!(miss["unmatched"], unmatched, "{}", said.text);
    let proposed = miss["pattern"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", said.text));
    assert!(said.text.contains(proposed), "{}", said.text);
    let found = folder.search(proposed);
    assert_eq!(found.details["total"], 1, "{proposed}: {}", found.text);
    assert_eq!(found.details["matches"][0]["line"], miss["line"]);
}

#[test]
fn a_near_miss_names_what_is_too_much_and_how_to_find_it() {
    near_miss("a.rs", "pub fn f() {}\n", "fn f() {}", "pub");
    near_miss("a.rs", "fn f() -> u8 { 1 }\n", "fn f() { $$$B }", "-> u8");
    near_miss("a.rs", "async fn f() {}\n", "fn f() {}", "async");
    near_miss("a.rs", "fn f<T>(x: T) {}\n", "fn f(x: T) {}", "<T>");
    near_miss(
        "a.py",
        "def f() -> int:\n    pass\n",
        "def f():\n    $$$B",
        "-> int",
    );
    near_miss(
        "a.py",
        "async def f():\n    pass\n",
        "def f():\n    $$$B",
        "async",
    );
    near_miss(
        "a.ts",
        "async function f() {}\n",
        "function f() {}",
        "async",
    );
    near_miss("a.ts", "useState<string>(x);\n", "useState($X)", "<string>");
    near_miss(
        "a.ts",
        "class A { private x = 1; }\n",
        "class A { x = 1; }",
        "private",
    );
    near_miss(
        "a.c",
        "static int f(void) { return 1; }\n",
        "int f(void) { $$$B }",
        "static",
    );
    near_miss(
        "a.java",
        "class A { void f() throws E { g(); } }\n",
        "void f() { $$$B }",
        "throws E",
    );
    near_miss(
        "a.java",
        "class A { public void f() { g(); } }\n",
        "void f() { $$$B }",
        "public",
    );
    near_miss(
        "a.js",
        "if (a) { b(); } else { c(); }\n",
        "if (a) { $$$B }",
        "else { c(); }",
    );
    near_miss(
        "a.dart",
        "void f() async { g(); }\n",
        "void f() { $$$B }",
        "async",
    );
}

#[test]
fn a_decorator_and_an_export_hide_nothing() {
    // They stand around what they are on, so that it is found without them.
    for (path, source, pattern) in [
        ("a.py", "@d\ndef f():\n    pass\n", "def f():\n    pass"),
        ("a.ts", "export function f() {}\n", "function f() {}"),
    ] {
        let found = Folder::new().file(path, source).search(pattern);
        assert_eq!(found.details["total"], 1, "{}", found.text);
    }
}

#[test]
fn a_search_without_a_match_says_what_was_done() {
    let folder = Folder::new()
        .file("a.rs", "fn m() { dispose(); }\n")
        .file("b.rs", "fn n() {}\n")
        .file("c.rs", b"fn caf\xe9() {}\n");
    let said = folder.search("dispose($X)");
    for part in [
        "no matches in 2 rust files",
        "(call_expression)",
        "`dispose`",
        "1 file has",
        "not in this shape",
        "skipped 1 file, not UTF-8: `c.rs`",
    ] {
        assert!(
            said.text.contains(part),
            "{part:?} is not in:\n{}",
            said.text
        );
    }
    let said = folder.search("zz_absent($X)");
    assert!(
        said.text.contains("no file has all of `zz_absent`"),
        "{}",
        said.text
    );
}

#[test]
fn a_metavariable_inside_a_string_is_explained() {
    let folder = Folder::new().file("a.py", "f('abc')\n");
    let said = folder.search("f('$X')");
    assert_eq!(said.details["total"], 0);
    assert!(said.text.contains("taken as plain text"), "{}", said.text);
    assert!(said.text.contains("`$X`"), "{}", said.text);
}

#[test]
fn markup_says_that_its_scripts_are_not_searched() {
    let folder = Folder::new().file("a.html", "<script>f(1)</script>\n");
    let said = folder.search("<b>$X</b>");
    assert!(said.text.contains("not searched"), "{}", said.text);
}
