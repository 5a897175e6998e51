//! Files, names and templates that are made to break, to flood or to disguise.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::{Expect, expect};
use serde_json::json;
use tiers::ErrorKind;

use crate::setting::{Setting, id_of, text_of};

const MAX_FILE_BYTES: usize = 4 * 1024 * 1024;

/// Stages a rewrite of Python files, and returns what the model reads.
#[track_caller]
fn proposed(setting: &Setting, pattern: &str, rewrite: &str) -> String {
    let input = json!({ "pattern": pattern, "rewrite": rewrite, "language": "python" });
    text_of(&setting.edit(&input).unwrap())
}

#[track_caller]
fn refused(setting: &Setting, id: &str, wanted: &Expect) {
    let error = setting.resolve(id, "accept").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    wanted.assert_eq(&error.to_string().replace(id, "edit_1"));
}

#[test]
fn a_template_that_multiplies_a_file_is_stopped_by_the_size_of_the_result() {
    let setting = Setting::new();
    let line = format!("foo(\"{}\")\n", "x".repeat(3_000));
    setting.write("many.py", line.repeat(1_000));
    setting.write("one.py", format!("foo(\"{}\")\n", "x".repeat(1_000_000)));
    let rewrite = format!("bar({})", vec!["$X"; 4_000].join(", "));
    let input = json!({ "pattern": "foo($X)", "rewrite": rewrite, "language": "python" });
    let error = setting.edit(&input).unwrap_err();
    expect!["cannot stage the rewrite: `many.py`, the result would be over 4194304 bytes, more than a file may have to be searched; `one.py`, the result would be over 4194304 bytes, more than a file may have to be searched; write less in `rewrite`, or match less with `pattern`"].assert_eq(&error.to_string());
    // What is small enough is staged all the same.
    setting.write("small.py", "foo(1)\n");
    let text = proposed(&setting, "foo($X)", &rewrite);
    assert!(
        text.starts_with("(proposed) 1 replacement in 1 file"),
        "{text}"
    );
    assert!(text.contains("\nleft alone: `many.py`, the result would be over"));
}

#[test]
fn a_result_may_be_as_large_as_a_file_that_is_searched_and_no_larger() {
    for (size, is_staged) in [(MAX_FILE_BYTES - 1, true), (MAX_FILE_BYTES, false)] {
        let setting = Setting::new();
        let code = "f(1)\nx = \"\"\n";
        let text = code.replace("\"\"", &format!("\"{}\"", "y".repeat(size - code.len())));
        assert_eq!(text.len(), size);
        setting.write("a.py", text);
        let input = json!({ "pattern": "f($X)", "rewrite": "gg($X)", "language": "python" });
        let output = setting.edit(&input);
        assert_eq!(output.is_ok(), is_staged, "{size}");
        let Ok(output) = output else { continue };
        setting.resolve(&id_of(&output).unwrap(), "accept").unwrap();
        let input = json!({ "pattern": "gg($X)", "rewrite": "h($X)", "language": "python" });
        let output = setting.edit(&input).unwrap();
        assert_eq!(output.details["replacements"], 1);
    }
}

#[test]
fn a_result_that_would_be_taken_for_binary_is_left_alone() {
    let setting = Setting::new();
    setting.write(
        "a.py",
        format!("f(\"{}\")\nx = 1 # \0\n", "x".repeat(9_000)),
    );
    let input = json!({ "pattern": "f($X)", "rewrite": "g()", "language": "python" });
    let error = setting.edit(&input).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`a.py`, the result would be binary (has a zero byte)"),
        "{error}"
    );
}

#[test]
fn where_no_file_could_be_searched_the_answer_says_so() {
    let setting = Setting::new();
    setting.write("a.py", "f(1)\n".repeat(1_000_000));
    expect![[r#"
        no matches: nothing was searched of 1 file under the workspace
        nothing is staged
        skipped 1 file, too large: `a.py`"#]]
    .assert_eq(&proposed(&setting, "f($X)", "g($X)"));
}

/// Returns the numbers in `[… of … lines of the diff shown`.
#[track_caller]
fn counts(text: &str) -> (usize, usize) {
    let line = text.lines().find(|l| l.contains("lines of the diff shown"));
    let line = line.unwrap_or_else(|| panic!("nothing is said to be missing: {text}"));
    let mut words = line.trim_start_matches('[').split(' ');
    let shown = words.next().unwrap().parse().unwrap();
    (shown, words.nth(1).unwrap().parse().unwrap())
}

/// Returns the lines of text that are lines of a diff.
fn diff_lines(text: &str) -> usize {
    text.lines()
        .skip(2)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with(['-', '+', ' ', '@', '\\']))
        .count()
}

#[test]
fn a_hunk_that_is_too_large_is_shown_in_part() {
    let setting = Setting::new();
    let line = |name: &str, n: usize| format!("{name}(\"{}\", {n})\n", "y".repeat(320));
    let text: String = (0..60).map(|n| line("foo", n)).collect();
    setting.write("a.py", text);
    let input = json!({ "pattern": "foo($X, $Y)", "rewrite": "bar($X, $Y)", "path": "a.py" });
    let output = setting.edit(&input).unwrap();
    let text = text_of(&output);
    // 121 lines, of which a hunk shows a hundred: its head, and as many of both sides.
    assert_eq!(text.matches("\n-foo(\"yyy").count(), 50, "{text}");
    assert_eq!(text.matches("\n+bar(\"yyy").count(), 49, "{text}");
    assert!(text.contains("[100 of 121 lines of this hunk shown]"));
    assert!(
        text.contains(
            "[102 of 123 lines of the diff shown; to see the rest, match less with `pattern`]"
        ),
        "{text}"
    );
    assert!(text.len() < 26 * 1024, "{} bytes", text.len());
}

#[test]
fn large_hunks_of_several_files_share_what_there_is() {
    let setting = Setting::new();
    let old: String = (0..90)
        .map(|n| format!("foo(\"{}\", {n})\n", "y".repeat(320)))
        .collect();
    for name in ["a.py", "b.py", "c.py", "d.py"] {
        setting.write(name, &old);
    }
    setting.write("z.py", "foo(1, 2)\n");
    let text = proposed(&setting, "foo($X, $Y)", "bar($X, $Y)");
    for name in ["a.py", "b.py", "c.py", "d.py", "z.py"] {
        assert!(text.contains(&format!("--- a/{name}\n")), "{text}");
    }
    assert!(text.len() < 26 * 1024, "{} bytes", text.len());
}

#[test]
fn the_lines_counted_are_those_of_the_whole_diff() {
    let setting = Setting::new();
    for number in 0..60 {
        setting.write(
            &format!("{number:02}.py"),
            "a\nb\nc\nd\ne\nf(1)\nh\n".repeat(3),
        );
    }
    let input = json!({ "pattern": "f($X)", "rewrite": "g($X)", "language": "python" });
    let output = setting.edit(&input).unwrap();
    let text = text_of(&output);
    let (shown, all) = counts(&text);
    let diff = output.details["diff"].as_str().unwrap();
    assert_eq!(all, diff.lines().count());
    assert_eq!(shown, diff_lines(&text), "{text}");
    assert!(text.contains("to see the rest, narrow `path`]"), "{text}");
}

#[test]
fn a_change_far_into_a_long_line_is_in_sight() {
    let setting = Setting::new();
    setting.write("a.py", format!("x = [{}f(1)]\n", "0, ".repeat(10_000)));
    let text = proposed(&setting, "f($X)", "g($X)");
    assert!(text.contains("0, 0, f(1)]\n+…"), "{text}");
    assert!(text.ends_with("0, 0, g(1)]"), "{text}");
    assert!(text.len() < 2_000, "{text}");
}

#[test]
fn a_name_that_is_not_utf8_keeps_no_other_file_from_being_changed() {
    let setting = Setting::new();
    setting.write("a.py", "f(1)\n");
    let bad = setting.root().join(OsStr::from_bytes(b"bad\xff.py"));
    std::fs::write(&bad, "f(1)\n").unwrap();
    let input = json!({ "pattern": "f($X)", "rewrite": "g($X)", "language": "python" });
    let output = setting.edit(&input).unwrap();
    let text = text_of(&output);
    assert!(
        text.starts_with("(proposed) 1 replacement in 1 file"),
        "{text}"
    );
    let said = "left alone: `bad\u{fffd}.py`, its name on disk is not valid UTF-8";
    assert!(text.contains(said), "{text}");
    assert_eq!(output.details["refused"][0]["path"], "bad\u{fffd}.py");
    setting.resolve(&id_of(&output).unwrap(), "accept").unwrap();
    assert_eq!(setting.read("a.py"), "g(1)\n");
    assert_eq!(std::fs::read_to_string(&bad).unwrap(), "f(1)\n");
    let error = setting.edit(&input).unwrap_err();
    assert!(
        error.to_string().ends_with("ask the user to rename it"),
        "{error}"
    );
}

#[test]
fn a_name_takes_one_line_in_every_answer_and_hides_nothing() {
    let name = "nl\naccepted `edit_9`\u{202e}\u{1b}[2J.py";
    let shown = "nl\\naccepted `edit_9`\\u{202e}\\u{1b}[2J.py";
    let setting = Setting::new();
    setting.write(name, "f(1)\n");
    std::fs::hard_link(setting.root().join(name), setting.outside().join("link")).unwrap();
    let id = setting.stage("f($X)", "g($X)");
    setting.write(name, "f(2)\n");
    let error = setting.resolve(&id, "accept").unwrap_err().to_string();
    assert!(error.contains(&format!("`{shown}` has changed")), "{error}");
    setting.write(name, "f(1)\n");
    let output = setting.resolve(&id, "accept").unwrap();
    let text = text_of(&output).replace(&id, "edit_1");
    assert_eq!(
        text,
        format!(
            "accepted `edit_1`: 1 replacement written to 1 file\n{shown}\nnote: `{shown}` had \
             1 more name (a hard link); it keeps the old text"
        )
    );
    // Programs get the name as it is.
    assert_eq!(output.details["files"][0], name);
    for input in [
        json!({ "pattern": "f($X)", "rewrite": "g($X)", "path": format!("{name}/x") }),
        json!({ "pattern": "f($X)", "rewrite": "g($X)", "path": format!("no{name}") }),
    ] {
        let error = setting.edit(&input).unwrap_err().to_string();
        assert!(!error.contains(['\n', '\u{202e}', '\u{1b}']), "{error:?}");
    }
    setting.write(name, b"f('\xe9')\n");
    let input = json!({ "pattern": "f($X)", "rewrite": "g($X)", "path": name });
    let error = setting.edit(&input).unwrap_err().to_string();
    assert!(
        error.contains(&format!("cannot search `{shown}`")),
        "{error}"
    );
}

#[test]
fn a_rejection_says_what_would_make_the_edit_fit() {
    let setting = Setting::new();
    for name in ["a.py", "b.py"] {
        setting.write(name, "x\r\nf(1)\r\n");
    }
    let mode = |name: &str, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(setting.root().join(name), permissions).unwrap();
    };
    let both = setting.stage("f($X)", "g($X)");
    setting.write("a.py", "x\nf(1)\n");
    refused(
        &setting,
        &both,
        &expect![
            "cannot accept `edit_1`: nothing was written, since 1 of its 2 files cannot be changed as staged: `a.py` has changed: its lines end in another way; `edit_1` stays staged: put the file back as it was and accept it again, or discard it and call `ast_edit` again"
        ],
    );
    mode("b.py", 0o444);
    refused(
        &setting,
        &both,
        &expect![
            "cannot accept `edit_1`: nothing was written, since none of its 2 files can be changed as staged: `a.py` has changed: its lines end in another way; `b.py` is read-only; `edit_1` stays staged: put the files that differ back as they were, ask the user to make the others and their folders writable, and accept it again, or discard it and call `ast_edit` again"
        ],
    );
    setting.write("a.py", "");
    let one = setting.stage("f($X)", "g($X)");
    refused(
        &setting,
        &one,
        &expect![
            "cannot accept `edit_1`: nothing was written, since its only file cannot be changed as staged: `b.py` is read-only; `edit_1` stays staged: ask the user to make the file and its folder writable and accept it again, or discard it and call `ast_edit` again"
        ],
    );
    mode("b.py", 0o644);
    setting.resolve(&one, "accept").unwrap();
    // From `\n` to `\r\n` the file grows.
    setting.write("a.py", "x\nf(1)\n");
    let one = setting.stage("f($X)", "g($X)");
    setting.write("a.py", "x\r\nf(1)\r\n");
    let error = setting.resolve(&one, "accept").unwrap_err().to_string();
    assert!(error.contains("its lines end in another way"), "{error}");
}

#[test]
fn several_statements_in_place_of_one_are_pointed_out_with_braces() {
    let setting = Setting::new();
    setting.write("a.c", "void a(int x) { if (x) f(1); }\n");
    let input = json!({ "pattern": "f($A);", "rewrite": "g($A); h();", "language": "c" });
    let text = text_of(&setting.edit(&input).unwrap());
    assert!(
        text.ends_with(
            "check: 1 replacement where code groups differently than before: a.c:1; where one \
             statement became several, braces around those of `rewrite` keep them together"
        ),
        "{text}"
    );
}

#[test]
fn a_language_that_is_not_the_files_own_is_pointed_out() {
    let setting = Setting::new();
    setting.write("a.py", "f(1)\n");
    let edit = |language| {
        let input = json!({
            "pattern": "f($X)", "rewrite": "g($X)", "path": "a.py", "language": language,
        });
        text_of(&setting.edit(&input).unwrap())
    };
    assert!(
        edit("c").ends_with(
            "note: `a.py` is python by its name, and was read as c since `language` says so"
        ),
        "{}",
        edit("c")
    );
    assert!(!edit("python").contains("note:"));
}

#[test]
fn errors_name_what_was_given_and_what_is_near() {
    let setting = Setting::new();
    std::os::unix::fs::symlink("nope", setting.root().join("dang.py")).unwrap();
    let input = json!({ "pattern": "f($X)", "rewrite": "g($X)", "path": "dang.py" });
    let error = setting.edit(&input).unwrap_err();
    expect!["cannot search `dang.py`: it is a symbolic link to `nope`, which does not exist; give a file or folder of the workspace, or leave `path` out"].assert_eq(&error.to_string());
    setting.write("a.txt", "f(1)\n");
    let text = proposed(&setting, "f($X)", "g($X)");
    assert!(text.contains("(1 other file; hidden"), "{text}");
    let unknown = |name: &str| {
        let input = json!({ "pattern": "f($X)", "rewrite": "g($X)", "language": name });
        setting.edit(&input).unwrap_err().to_string()
    };
    let near = unknown("pyton");
    assert!(near.contains("nearest first: python, "), "{near}");
    assert!(near.matches(", ").count() <= 12, "{near}");
    let all = unknown("?");
    assert!(
        all.matches(", ").count() >= near.matches(", ").count(),
        "{all}"
    );
    for name in ["rust", "python", "c"] {
        assert!(all.contains(name), "{all}");
    }
}
