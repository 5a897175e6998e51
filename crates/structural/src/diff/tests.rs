#![allow(clippy::string_slice, reason = "a test fails by panicking")]

use expect_test::{Expect, expect};

use super::*;

/// Replaces bytes of a text, in order; returns the new text and where they went.
fn replace(before: &str, with: &[(Range<usize>, &str)]) -> (String, Vec<Replaced>) {
    let mut after = String::new();
    let mut replaced = Vec::new();
    let mut at = 0;
    for (old, text) in with {
        after.push_str(&before[at..old.start]);
        let start = after.len();
        after.push_str(text);
        replaced.push((old.clone(), start..after.len()));
        at = old.end;
    }
    after.push_str(&before[at..]);
    (after, replaced)
}

type Replaced = (Range<usize>, Range<usize>);

#[track_caller]
fn check(before: &str, with: &[(&str, &str)], diff: &Expect) {
    let mut at = 0;
    let with: Vec<_> = with
        .iter()
        .map(|(old, new)| {
            let start = at + before[at..].find(old).unwrap();
            at = start + old.len();
            (start..at, *new)
        })
        .collect();
    let (after, replaced) = replace(before, &with);
    let found = unified("a.rs", before, &after, replaced.into_iter());
    diff.assert_eq(&found.text);
    assert_eq!(apply(before, &found.text), after);
}

/// Applies a diff as strictly as it can be done.
fn apply(before: &str, diff: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut lines: Vec<String> = diff.split_inclusive('\n').map(str::to_owned).collect();
    // The marker takes the line end from the line before it.
    while let Some(at) = lines.iter().position(|line| line.starts_with('\\')) {
        lines.remove(at);
        lines[at - 1].pop();
    }
    let mut out = String::new();
    let mut at = 0;
    let mut expected = (0, 0);
    let (mut old_left, mut new_left) = (0, 0);
    for line in lines.iter().skip(if diff.is_empty() { 0 } else { 2 }) {
        if let Some(span) = line.strip_prefix("@@ -") {
            assert_eq!((old_left, new_left), (0, 0), "a hunk is too short:\n{diff}");
            let (old_span, new_span) = span.split_once(" +").unwrap();
            let (old_at, old_count) = numbers(old_span);
            let (new_at, new_count) = numbers(new_span.strip_suffix(" @@\n").unwrap());
            let first = |at: usize, count: usize| if count == 0 { at } else { at - 1 };
            while at < first(old_at, old_count) {
                out.push_str(old[at]);
                at += 1;
            }
            let new_lines = out.split_inclusive('\n').count();
            assert_eq!(first(new_at, new_count), new_lines, "\n{diff}");
            assert!(old_at >= expected.0 && new_at >= expected.1);
            expected = (old_at + old_count, new_at + new_count);
            (old_left, new_left) = (old_count, new_count);
            continue;
        }
        let text = &line[1..];
        match line.as_bytes()[0] {
            b' ' => {
                assert_eq!(old[at], text, "\n{diff}");
                out.push_str(text);
                at += 1;
                old_left -= 1;
                new_left -= 1;
            }
            b'-' => {
                assert_eq!(old[at], text, "\n{diff}");
                at += 1;
                old_left -= 1;
            }
            b'+' => {
                out.push_str(text);
                new_left -= 1;
            }
            other => panic!("a line starts with {other}:\n{diff}"),
        }
    }
    assert_eq!((old_left, new_left), (0, 0), "\n{diff}");
    out.extend(old[at..].iter().copied());
    out
}

fn numbers(span: &str) -> (usize, usize) {
    let (at, count) = span.split_once(',').unwrap_or((span, "1"));
    (at.parse().unwrap(), count.parse().unwrap())
}

#[test]
fn a_hunk_has_three_lines_on_each_side() {
    check(
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        &[("5", "five")],
        &expect![[r"
            --- a/a.rs
            +++ b/a.rs
            @@ -2,7 +2,7 @@
             2
             3
             4
            -5
            +five
             6
             7
             8
        "]],
    );
}

#[test]
fn changes_that_share_context_share_a_hunk_and_others_do_not() {
    let text: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    check(
        &text,
        &[("line 2\n", "two\n"), ("line 9\n", ""), ("line 20", "a\nb")],
        &expect![[r"
            --- a/a.rs
            +++ b/a.rs
            @@ -1,12 +1,11 @@
             line 1
            -line 2
            +two
             line 3
             line 4
             line 5
             line 6
             line 7
             line 8
            -line 9
             line 10
             line 11
             line 12
            @@ -17,7 +16,8 @@
             line 17
             line 18
             line 19
            -line 20
            +a
            +b
             line 21
             line 22
             line 23
        "]],
    );
}

#[test]
fn only_the_lines_that_differ_in_a_long_replacement_are_shown() {
    let body: String = (1..=20).map(|n| format!("  line {n}\n")).collect();
    check(
        &format!("fn a() {{\n{body}}}\n"),
        &[(
            &format!("fn a() {{\n{body}}}"),
            &format!("fn b() {{\n{body}}} // b"),
        )],
        &expect![[r"
            --- a/a.rs
            +++ b/a.rs
            @@ -1,4 +1,4 @@
            -fn a() {
            +fn b() {
               line 1
               line 2
               line 3
            @@ -19,4 +19,4 @@
               line 18
               line 19
               line 20
            -}
            +} // b
        "]],
    );
}

#[test]
fn an_end_without_a_line_end_is_said() {
    check(
        "a\nb",
        &[("b", "c")],
        &expect![[r"
            --- a/a.rs
            +++ b/a.rs
            @@ -1,2 +1,2 @@
             a
            -b
            \ No newline at end of file
            +c
            \ No newline at end of file
        "]],
    );
    check(
        "a\nb",
        &[("a\nb", "")],
        &expect![[r"
            --- a/a.rs
            +++ b/a.rs
            @@ -1,2 +0,0 @@
            -a
            -b
            \ No newline at end of file
        "]],
    );
}

#[test]
fn a_replacement_that_gives_the_same_text_is_no_change() {
    check("a\nb\n", &[("a", "a")], &expect![""]);
}

#[test]
fn names_that_need_it_are_quoted() {
    assert_eq!(name("a/", "src/a.rs"), "a/src/a.rs");
    assert_eq!(name("a/", "a b.rs"), "a/a b.rs\t");
    assert_eq!(name("b/", "a\"\n\u{e9}"), r#""b/a\"\n\303\251""#);
    assert_eq!(name("b/", "é.rs"), "b/é.rs");
}

#[test]
fn every_diff_gives_back_the_new_text() {
    let mut random = fastrand::Rng::with_seed(7);
    let pieces = ["a", "b\n", "\n", "c c", "\r\n", "é", ""];
    for _ in 0..20_000 {
        let piece = |random: &mut fastrand::Rng| pieces[random.usize(..pieces.len())];
        let before: String = (0..random.usize(..40))
            .map(|_| piece(&mut random))
            .collect();
        let bounds: Vec<usize> = (0..=before.len())
            .filter(|at| before.is_char_boundary(*at))
            .collect();
        let mut with = Vec::new();
        let mut at = 0;
        while at < bounds.len() && with.len() < 8 {
            let start = at + random.usize(..6);
            let end = start + random.usize(..4);
            let (Some(from), Some(to)) = (bounds.get(start), bounds.get(end)) else {
                break;
            };
            let new: String = (0..random.usize(..4)).map(|_| piece(&mut random)).collect();
            with.push((*from..*to, new));
            // The next one may begin where this one ends.
            at = end.max(start + 1);
        }
        let with: Vec<_> = with
            .iter()
            .map(|(old, new)| (old.clone(), &**new))
            .collect();
        let (after, replaced) = replace(&before, &with);
        let diff = unified("a.rs", &before, &after, replaced.into_iter());
        assert_eq!(
            apply(&before, &diff.text),
            after,
            "{before:?} {with:?}\n{}",
            diff.text
        );
        assert_eq!(diff.text.is_empty(), before == after);
        let hunks = diff.text.matches("\n@@ -").count();
        assert_eq!(diff.hunks.len(), hunks);
    }
}
