//! What `ast_edit` tells a model, and what it stages.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::json;
use tiers::ErrorKind;

use crate::setting::{Setting, id_of, text_of};

#[track_caller]
fn check(files: &[(&str, &str)], pattern: &str, rewrite: &str, text: &Expect) -> Setting {
    let setting = Setting::new();
    for (path, text) in files {
        setting.write(path, text);
    }
    let output = setting.edit(&json!({ "pattern": pattern, "rewrite": rewrite }));
    let found = match &output {
        Ok(output) => {
            let id = id_of(output).unwrap_or_default();
            text_of(output).replace(&format!("\"{id}\""), "\"edit_1\"")
        }
        Err(error) => format!("{:?}: {error}", error.kind),
    };
    text.assert_eq(&found);
    for (path, text) in files {
        assert_eq!(setting.read(path), *text, "{path} was written");
    }
    setting
}

#[test]
fn a_proposal_is_a_line_to_act_on_and_a_diff() {
    check(
        &[
            ("a.py", "x = 1\nf(a,  b)\n"),
            ("b.py", "f(1, 2); f(3, 4)\n"),
        ],
        "f($A, $B)",
        "g($B, $A)",
        &expect![[r#"
            (proposed) 3 replacements in 2 files, nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"

            --- a/a.py
            +++ b/a.py
            @@ -1,2 +1,2 @@
             x = 1
            -f(a,  b)
            +g(b,  a)
            --- a/b.py
            +++ b/b.py
            @@ -1 +1 @@
            -f(1, 2); f(3, 4)
            +g(2, 1); g(4, 3)"#]],
    );
}

#[test]
fn what_was_left_alone_is_said_with_its_reason() {
    check(
        &[
            (
                "a.c",
                "void a(void) { f(f(1)); }\nvoid b(void) { f(1 + ); }\n",
            ),
            ("b.c", "void a(void) { f(/* why */ 2); f(3); }\n"),
        ],
        "f($A)",
        "g($A)",
        &expect![[r#"
            (proposed) 3 replacements in 2 files, nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"

            --- a/a.c
            +++ b/a.c
            @@ -1,2 +1,2 @@
            -void a(void) { f(f(1)); }
            +void a(void) { g(f(1)); }
             void b(void) { f(1 + ); }
            --- a/b.c
            +++ b/b.c
            @@ -1 +1 @@
            -void a(void) { f(/* why */ 2); f(3); }
            +void a(void) { g(/* why */ 2); g(3); }

            left alone: 1 match touches a syntax error: a.c:2
            left alone: 1 match inside another; call ast_edit again after accepting to rewrite it"#]],
    );
}

#[test]
fn code_that_groups_anew_is_pointed_out() {
    check(
        &[("a.c", "int x = f(1, /* why */ 2);\nint y = f(a + b, 3);\n")],
        "f($A, $B)",
        "$A * $B",
        &expect![[r#"
            (proposed) 2 replacements in 1 file, nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"

            --- a/a.c
            +++ b/a.c
            @@ -1,2 +1,2 @@
            -int x = f(1, /* why */ 2);
            +int x = 1 * /* why */ 2;
            -int y = f(a + b, 3);
            +int y = a + b * 3;

            check: 1 replacement where code groups differently than before: a.c:2; parentheses around the metavariable in `rewrite` keep it whole"#]],
    );
}

#[test]
fn a_deleted_item_takes_its_separator_and_the_diff_shows_it() {
    check(
        &[(
            "a.py",
            "x = [\n    1,\n    f(2),\n    3,\n]\ny = [f(1), 2]\n",
        )],
        "f($A)",
        "",
        &expect![[r#"
            (proposed) 2 replacements in 1 file, nothing is written yet: call resolve with edit_id "edit_1" and action "accept" or "discard"

            --- a/a.py
            +++ b/a.py
            @@ -1,6 +1,5 @@
             x = [
                 1,
            -    f(2),
                 3,
             ]
            -y = [f(1), 2]
            +y = [2]"#]],
    );
}

#[test]
fn a_change_of_nothing_is_not_staged() {
    check(
        &[("a.py", "f(1)\n")],
        "f($A)",
        "f($A)",
        &expect![[r#"
        0 changes, nothing is staged
        1 result equals its input"#]],
    );
}

#[test]
fn a_rewrite_that_fits_nowhere_is_an_error_with_the_places() {
    check(
        &[("a.py", "f(1)\n"), ("b.py", "if x:\n    f(1)\n")],
        "f($A)",
        "g(($A)",
        &expect![
            "Failed: cannot stage the rewrite: `a.py`, the result would have a new syntax error at 1:1, near `g((1)`, from the match at line 1; `b.py`, the result would have a new syntax error at 2:5, near `g((1)`, from the match at line 2; change `rewrite`, or match more in `pattern`"
        ],
    );
}

#[test]
fn no_match_gives_the_help_of_a_search() {
    check(
        &[("a.rs", "pub fn f() {}\n")],
        "fn f() {}",
        "fn g() {}",
        &expect![[r#"
            no matches in 1 rust file under the workspace
            the pattern was read as: statement (function_item)
            1 file has `fn`, but not in this shape
            near miss: a.rs:1 would match but for `pub` (visibility_modifier); to find it: `pub fn f() {}`
            nothing is staged"#]],
    );
}

#[test]
fn unknown_metavariables_are_refused() {
    check(
        &[("a.py", "f(1)\n")],
        "f($A)",
        "f($B)",
        &expect![[
            r#"InvalidInput: cannot use the rewrite `f($B)` for python: the pattern does not bind `$B`; it binds `$A`; use `$A`, or write `\$B` if it is text"#
        ]],
    );
}

#[test]
fn skipped_files_are_named() {
    let setting = Setting::new();
    setting.write("a.py", "f(1)\n");
    setting.write("latin.py", b"f('\xe9')\n");
    setting.write("zero.py", b"f(1)\0\n");
    let input = json!({ "pattern": "f($A)", "rewrite": "g($A)", "language": "python" });
    let text = text_of(&setting.edit(&input).unwrap());
    assert!(
        text.contains("skipped 1 file, not UTF-8: `latin.py`"),
        "{text}"
    );
    assert!(text.contains("skipped 1 file, binary: `zero.py`"), "{text}");
    let input = json!({ "pattern": "f($A)", "rewrite": "g($A)", "path": "latin.py" });
    let error = setting.edit(&input).unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
}

#[test]
fn a_long_diff_shows_as_many_files_as_fit_and_counts_the_rest() {
    let setting = Setting::new();
    for number in 0..60 {
        let calls: String = (0..40).fold(String::new(), |mut text, n| {
            let _ = write!(text, "f({n})\nx\nx\nx\nx\nx\nx\nx\nx\n");
            text
        });
        setting.write(&format!("{number:02}.py"), calls);
    }
    let input = json!({ "pattern": "f($A)", "rewrite": "g($A)", "language": "python" });
    let output = setting.edit(&input).unwrap();
    let text = text_of(&output);
    assert!(
        text.starts_with("(proposed) 2400 replacements in 60 files"),
        "{text}"
    );
    // A first hunk of many files, then what there is of the others.
    let heads = text.matches("\n--- a/").count();
    assert!((30..60).contains(&heads), "{heads}\n{text}");
    assert!(
        text.contains("[1 of 40 hunks of this file shown]"),
        "{text}"
    );
    assert!(text.contains("narrow `path`"), "{text}");
    assert!(text.contains("\n59.py: 40 replacements"), "{text}");
    assert!(text.len() < 32 * 1024, "{} bytes", text.len());
    let diff = output.details["diff"].as_str().unwrap();
    assert_eq!(diff.matches("\n+g(").count(), 2400);
    assert_eq!(diff.matches("--- a/").count(), 60);
}

#[test]
fn a_line_without_an_end_is_cut_in_the_text_only() {
    let setting = Setting::new();
    setting.write("a.js", "f(1);".repeat(20_000));
    let output = setting
        .edit(&json!({ "pattern": "f($A)", "rewrite": "g($A)" }))
        .unwrap();
    assert_eq!(output.details["replacements"], 20_000);
    assert!(text_of(&output).len() < 4_000);
    let diff = output.details["diff"].as_str().unwrap();
    assert!(diff.contains(&"g(1);".repeat(20_000)));
}

#[test]
fn names_and_lines_cannot_disguise_a_proposal() {
    let setting = Setting::new();
    setting.write("a\n+++ b.py", "f(1) # \u{202e}evil\u{1b}[2J\n");
    let input = json!({ "pattern": "f($A)", "rewrite": "g($A)", "language": "python" });
    let text = text_of(&setting.edit(&input).unwrap());
    assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
    assert!(text.contains("--- \"a/a\\n+++ b.py\"\n"), "{text}");
}

#[test]
fn the_result_is_the_same_for_any_number_of_threads_and_without_the_prefilter() {
    let setting = Setting::new();
    for number in 0..100 {
        setting.write(&format!("{number}.py"), format!("f({number})\nf(f(1))\n"));
    }
    let input = json!({ "pattern": "f($A)", "rewrite": "g($A)", "language": "python" });
    let of = |editor: structural::AstEdit| {
        let mut details = setting.edit_with(&editor, &input).unwrap().details;
        details["edit_id"].take();
        details
    };
    let one = of(setting.editor().threads(1));
    assert_eq!(one["replacements"], 200);
    assert_eq!(of(setting.editor().threads(7)), one);
    assert_eq!(of(setting.editor().prefilter(false)), one);
}

#[test]
fn what_does_not_fit_beside_the_other_edits_is_not_staged() {
    let setting = Setting::new();
    for number in 0..50 {
        setting.write(
            &format!("{number}.py"),
            format!("f(1)\n# {}\n", "x".repeat(1_000)),
        );
    }
    let editor = || setting.editor().max_staged_bytes(150_000);
    let input = |rewrite| json!({ "pattern": "f($A)", "rewrite": rewrite, "language": "python" });
    let first = setting.edit_with(&editor(), &input("g($A)")).unwrap();
    let id = id_of(&first).unwrap();
    let error = setting.edit_with(&editor(), &input("h($A)")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    let text = error.to_string();
    assert!(
        text.contains(&format!("`{id}`")) && text.contains("discard"),
        "{text}"
    );
    setting.resolve(&id, "discard").unwrap();
    setting.edit_with(&editor(), &input("h($A)")).unwrap();
    // One that can never fit is not to wait for others.
    let other = Setting::new();
    other.write("a.py", format!("f(1)\n# {}\n", "x".repeat(1_000)));
    let editor = other.editor().max_staged_bytes(1_000);
    let error = other.edit_with(&editor, &input("h($A)")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(error.to_string().contains("narrow `path`"), "{error}");
}

#[test]
fn a_link_in_the_tree_is_not_rewritten_through() {
    let setting = Setting::new();
    let secret = setting.outside().join("secret.py");
    std::fs::write(&secret, "f(1)\n").unwrap();
    std::os::unix::fs::symlink(&secret, setting.root().join("link.py")).unwrap();
    setting.write("a.py", "f(1)\n");
    let input = json!({ "pattern": "f($A)", "rewrite": "g($A)", "language": "python" });
    let output = setting.edit(&input).unwrap();
    assert_eq!(output.details["files"].as_array().unwrap().len(), 1);
    let input = json!({ "pattern": "f($A)", "rewrite": "g($A)", "path": "link.py" });
    let error = setting.edit(&input).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Denied);
}
