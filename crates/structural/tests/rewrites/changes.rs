//! The changes that people ask for.

use super::{check, rewrite, try_rewrite};

#[test]
fn a_call_is_turned_around() {
    check(
        "dart",
        "dispose($X)",
        "$X.dispose()",
        "void f() { dispose(ctrl); dispose(a.b); other(c); }\n",
        "void f() { ctrl.dispose(); a.b.dispose(); other(c); }\n",
    );
}

#[test]
fn what_the_pattern_does_not_match_is_not_rewritten() {
    for (language, pattern, template, source) in [
        (
            "python",
            "return",
            "return None",
            "def g():\n    return 1\n",
        ),
        (
            "python",
            "if $C:\n    $$$A\nelse:\n    $$$B",
            "if not $C:\n    $$$B\nelse:\n    $$$A",
            "if x:\n    a\nelif y:\n    b\nelse:\n    c\n",
        ),
        (
            "rust",
            "if let Some($X) = $Y { $$$B }",
            "let Some($X) = $Y else { return }; $$$B",
            "fn f() { if let Some(a) = b { c() } else { d() } }\n",
        ),
        (
            "javascript",
            "function $F($$$A) { $$$B }",
            "const $F = ($$$A) => { $$$B }",
            "async function f() { await g(); }\n",
        ),
    ] {
        check(language, pattern, template, source, source);
    }
}

#[test]
fn a_captured_dollar_is_not_substituted_again() {
    check(
        "javascript",
        "f($A, $B)",
        "g($B, $A)",
        "f($B, $A); f('$A', x);\n",
        "g($A, $B); g(x, '$A');\n",
    );
}

#[test]
fn one_metavariable_is_written_as_often_as_it_is_used() {
    check(
        "rust",
        "assert_eq!($A, $B)",
        "assert!($A == $B, \"{} {}\", $A, $B)",
        "fn f() { assert_eq!(x.y, z()); }\n",
        "fn f() { assert!(x.y == z(), \"{} {}\", x.y, z()); }\n",
    );
}

#[test]
fn the_outermost_match_wins_and_the_others_are_counted() {
    let result = rewrite("python", "foo($X)", "bar($X)", "foo(foo(foo(1)))\nfoo(2)\n");
    assert_eq!(
        String::from_utf8(result.bytes).unwrap(),
        "bar(foo(foo(1)))\nbar(2)\n"
    );
    assert_eq!((result.replacements.len(), result.nested), (2, 2));
}

#[test]
fn of_matches_that_overlap_the_first_is_rewritten() {
    let result = rewrite("c", "a(); a();", "b();", "void f() { a(); a(); a(); }\n");
    assert_eq!(
        String::from_utf8(result.bytes).unwrap(),
        "void f() { b(); a(); }\n"
    );
    assert_eq!(result.nested, 1);
}

#[test]
fn a_match_at_a_syntax_error_is_left_alone_and_the_rest_is_done() {
    let source = "foo(1);\nfunction ( { foo(3) }\nfoo(4);\n";
    let result = rewrite("javascript", "foo($A)", "bar($A)", source);
    let text = String::from_utf8(result.bytes).unwrap();
    assert!(text.starts_with("bar(1);\n"), "{text}");
    let broken = rewrite("javascript", "{ $$$A }", "{ }", "f(); { a(; }\n");
    assert_eq!(broken.left_alone.len(), 1, "{broken:?}");
    assert_eq!(broken.replacements, []);
}

#[test]
fn a_statement_keeps_its_terminator_and_gets_no_second_one() {
    for (pattern, template, source, wanted) in [
        ("foo($A)", "bar($A)", "foo(1);", "bar(1);"),
        ("foo($A)", "bar($A);", "foo(1);", "bar(1);"),
        ("foo($A);", "bar($A);", "foo(1);", "bar(1);"),
        ("foo($A);", "bar($A)", "foo(1);", "bar(1);"),
        ("foo($A);", "bar($A);", "foo(1)\nfoo(2)", "bar(1)\nbar(2)"),
        (
            "foo($A)",
            "bar($A);",
            "foo(1)\nx = foo(2)\n",
            "bar(1);\nx = bar(2)\n",
        ),
        ("foo($A)", "bar($A);", "g(foo(1), 2)", "g(bar(1), 2)"),
        (
            "foo($A);",
            "if ($A) { bar(); }",
            "foo(1);",
            "if (1) { bar(); }",
        ),
        (
            "if ($C) $S",
            "if ($C) { $S }",
            "if (a) b();",
            "if (a) { b(); }",
        ),
        (
            "if ($C) $S",
            "while ($C) $S;",
            "if (a) b();",
            "while (a) b();",
        ),
    ] {
        check("javascript", pattern, template, source, wanted);
    }
    check(
        "rust",
        "return $X;",
        "$X",
        "fn f() { if a { return 1; } return 2; }\n",
        "fn f() { if a { 1 } 2 }\n",
    );
    check(
        "rust",
        "foo($X);",
        "bar($X)",
        "fn f() { foo(1); foo(2); baz() }\n",
        "fn f() { bar(1); bar(2); baz() }\n",
    );
}

#[test]
fn the_end_of_a_statement_that_the_pattern_does_not_write_is_not_covered() {
    let source = "void f() { return x; }\n";
    let result = rewrite("c", "return $X", "return g($X)", source);
    let replacement = &result.replacements[0];
    assert_eq!(&source[replacement.before.clone()], "return x");
    assert_eq!(
        String::from_utf8(result.bytes).unwrap(),
        "void f() { return g(x); }\n"
    );
}

#[test]
fn code_that_is_torn_apart_is_said() {
    for (pattern, template, source, torn) in [
        ("f($A)", "$A * 2", "f(x + y)\nf(z)\n", vec![0]),
        ("f($A)", "$A + 2", "f(x + y)\nf(z)\n", vec![]),
        ("f($A)", "$A + 2", "3 * f(x)\n", vec![0]),
        ("f($A)", "($A) * 2", "f(x + y)\n", vec![]),
        ("f($A)", "not $A", "f(x == y)\nf(x or y)\n", vec![1]),
        ("f($A)", "$A.g()", "f(x + y)\nf(x.y)\n", vec![0]),
        (
            "sub($A, $B)",
            "$A - $B",
            "sub(a, b - c)\nsub(a - b, c)\n",
            vec![0],
        ),
    ] {
        let result = rewrite("python", pattern, template, source);
        assert_eq!(
            result.regrouped, torn,
            "{pattern} -> {template}: {result:?}"
        );
    }
    let result = rewrite("c", "g($C, $S)", "if ($C) $S", "void f() { x(); }\n");
    assert_eq!(result.regrouped, Vec::<usize>::new());
}

#[test]
fn words_do_not_grow_together() {
    check("javascript", "($X)", "$X", "return(a)\n", "return a\n");
    check(
        "python",
        "($X)",
        "$X",
        "x = 1 if(a)else(b)\n",
        "x = 1 if a else b\n",
    );
}

#[test]
fn a_search_that_is_stopped_rewrites_nothing() {
    use structural::{Pattern, RewriteError, SearchError, Template, rewrite_text};
    let grammar = super::grammar("python");
    let pattern = Pattern::compile("f($X)", &grammar).unwrap();
    let template = Template::parse("g($X)", &pattern, &grammar).unwrap();
    let source = "f(1)\n".repeat(50_000);
    let stopped = rewrite_text(
        &grammar,
        &pattern,
        &template,
        source.as_bytes(),
        &mut || true,
    );
    assert_eq!(stopped, Err(RewriteError::Search(SearchError::Stopped)));
}

#[test]
fn comments_between_what_stays_are_kept_and_others_are_counted() {
    check(
        "python",
        "f($A, $B)",
        "f($B, $A)",
        "f(a,  # first\n  b)\n",
        "f(b,  # first\n  a)\n",
    );
    let result = rewrite("c", "f($A, $B)", "g($B)", "int x = f(a /* one */, b);\n");
    assert_eq!(String::from_utf8(result.bytes).unwrap(), "int x = g(b);\n");
    assert_eq!(result.lost_comments, 1);
}

#[test]
fn a_result_that_does_not_parse_is_refused_with_its_place() {
    let error = try_rewrite("python", "f($A)", "g($A", "x = 1\ny = f(2)\n").unwrap_err();
    let said = error.to_string();
    assert!(said.contains("at line 2"), "{said}");
}

#[test]
fn names_that_stand_for_metavariables_in_our_parser_are_harmless() {
    check(
        "javascript",
        "f($A)",
        "Zzmv0x($A, Zzmv0v)",
        "f(Zzmv0v);\n",
        "Zzmv0x(Zzmv0v, Zzmv0v);\n",
    );
}

#[test]
fn metavariables_may_stand_side_by_side() {
    check(
        "rust",
        "f($A, $B)",
        "$A$B()",
        "fn m() { f(a, b); }\n",
        "fn m() { ab(); }\n",
    );
}

#[test]
fn deep_and_long_code_is_rewritten() {
    let source = format!("{}1{}\n", "f(".repeat(20_000), ")".repeat(20_000));
    let result = rewrite("python", "f($A)", "g($A)", &source);
    assert_eq!((result.replacements.len(), result.nested), (1, 19_999));
    let sum = vec!["a"; 30_000].join(" + ");
    let result = rewrite(
        "python",
        "x = $A + $B",
        "x = $B + $A",
        &format!("x = {sum}\n"),
    );
    assert_eq!(result.unchanged, 1);
    let chain = format!("x = f(a{}, b)\n", ".c()".repeat(20_000));
    let result = rewrite("python", "f($A, $B)", "f($B, $A)", &chain);
    assert_eq!(result.replacements.len(), 1);
    assert!(result.bytes.starts_with(b"x = f(b, a.c()"));
}

#[test]
fn a_type_with_a_variable_behind_it_is_not_rewritten_as_one_alone() {
    check(
        "c",
        "struct $N { $$$F };",
        "union $N { $$$F };",
        "struct a { int z; };\nstruct b { int z; } v;\ntypedef struct c { int z; } c;\n",
        "union a { int z; };\nstruct b { int z; } v;\ntypedef struct c { int z; } c;\n",
    );
}
