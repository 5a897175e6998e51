//! Matches over several lines, with trailing commas and comments, that become
//! something that stands on one.

use super::{check, rewrite};

#[test]
fn a_line_break_of_brackets_that_are_gone_goes_with_them() {
    let source =
        "class T:\n    def f(self):\n        self.eq(\n            a,\n            b,\n        )\n";
    let wanted = |line: &str| format!("class T:\n    def f(self):\n        {line}\n");
    for (template, line) in [
        ("assert $A == $B", "assert a == b"),
        ("$A.x = $B", "a.x = b"),
        ("return $A, $B", "return a, b"),
        ("raise $A from $B", "raise a from b"),
        ("x = $A if $B else None", "x = a if b else None"),
        ("x[$A] = $B", "x[\n            a] = b"),
        ("lambda: $A + $B", "lambda: a + b"),
        ("[$A, $B]", "[\n            a,\n            b,\n        ]"),
        (
            "eq($A, $B)",
            "eq(\n            a,\n            b,\n        )",
        ),
    ] {
        check("python", "self.eq($A, $B)", template, source, &wanted(line));
    }
    check(
        "python",
        "[$A, $B]",
        "$A, $B",
        "x = [\n    1,\n    2,\n]\n",
        "x = 1, 2\n",
    );
    check(
        "ruby",
        "assert_equal $A, $B",
        "_($B).must_equal $A",
        "assert_equal a,\n  b\n",
        "_(b).must_equal a\n",
    );
}

#[test]
fn code_that_needs_its_brackets_to_span_lines_is_put_on_one() {
    check(
        "python",
        "self.eq($A, $B)",
        "assert $A == $B",
        "self.eq(\n    a +\n    f(\n        1,\n    ),\n    b\n    .c(),\n)\n",
        "assert a + f(\n        1,\n    ) == b.c()\n",
    );
    check(
        "python",
        "self.eq($A, $B)",
        "assert ($A == $B)",
        "self.eq(a +\n        1, b)\n",
        "assert (a +\n        1 == b)\n",
    );
    check(
        "kotlin",
        "f($A)",
        "x = $A",
        "fun g() {\n    f(\n        a\n            + b\n    )\n}\n",
        "fun g() {\n    x = a + b\n}\n",
    );
}

#[test]
fn within_brackets_a_line_break_stays() {
    check(
        "python",
        "f($A, $B)",
        "$A + $B",
        "x = (\n    f(a,\n      b)\n)\n",
        "x = (\n    a +\n      b\n)\n",
    );
    check(
        "rust",
        "add($A, $B)",
        "$A + $B",
        "fn f() {\n    add(\n        a,\n        b,\n    );\n}\n",
        "fn f() {\n    a +\n        b;\n}\n",
    );
}

#[test]
fn a_trailing_comma_makes_no_tuple() {
    check("python", "foo($A)", "($A)", "y = foo(a,)\n", "y = (a)\n");
    check(
        "python",
        "self.eq($A, $B)",
        "assert ($A == $B)",
        "self.eq(\n    a,\n    b,\n)\n",
        "assert (\n    a ==\n    b\n)\n",
    );
    check("python", "foo($A)", "x[$A]", "y = foo(a,)\n", "y = x[a]\n");
    check(
        "python",
        "foo($A, $B)",
        "$A[$B]",
        "y = foo(a, b,)\n",
        "y = a[b]\n",
    );
    check(
        "python",
        "foo($A)",
        "bar($A)",
        "y = foo(a,)\n",
        "y = bar(a,)\n",
    );
    check("python", "foo($A)", "[$A]", "y = foo(a,)\n", "y = [a,]\n");
    check(
        "python",
        "($A, $B)",
        "($B, $A)",
        "y = (a, b,)\n",
        "y = (b, a,)\n",
    );
    check(
        "rust",
        "foo($A)",
        "($A)",
        "fn f() { let x = foo(a,); }\n",
        "fn f() { let x = (a); }\n",
    );
    check(
        "javascript",
        "foo($A)",
        "($A) * 2",
        "y = foo(\n  a,\n);\n",
        "y = (\n  a\n) * 2;\n",
    );
}

#[test]
fn a_line_does_not_end_in_front_of_what_is_new() {
    check(
        "kotlin",
        "$X.first()",
        "$X[0]",
        "val x = a\n    .b()\n    .first()\n",
        "val x = a\n    .b()[0]\n",
    );
    check(
        "typescript",
        "$X.get()",
        "$X!",
        "const x = a\n  .b()\n  .get();\n",
        "const x = a\n  .b()!;\n",
    );
    check(
        "rust",
        "$X.unwrap()",
        "$X?",
        "fn f() {\n    let x = a()\n        .b()\n        .unwrap();\n}\n",
        "fn f() {\n    let x = a()\n        .b()?;\n}\n",
    );
    check(
        "javascript",
        "$X.foo()",
        "$X?.foo()",
        "const x = a\n  .b()\n  .foo();\n",
        "const x = a\n  .b()\n  ?.foo();\n",
    );
}

#[test]
fn brackets_with_nothing_in_them_have_no_line_break() {
    for (language, source, wanted) in [
        ("javascript", "dispose(\n  x,\n);\n", "x.dispose();\n"),
        (
            "dart",
            "void f() {\n  dispose(\n    x,\n  );\n}\n",
            "void f() {\n  x.dispose();\n}\n",
        ),
        ("python", "dispose(\n    x,\n)\n", "x.dispose()\n"),
        (
            "rust",
            "fn f() {\n    dispose(\n        x,\n    );\n}\n",
            "fn f() {\n    x.dispose();\n}\n",
        ),
    ] {
        check(language, "dispose($X)", "$X.dispose()", source, wanted);
    }
}

#[test]
fn comments_beside_a_run_go_with_it() {
    let result = rewrite(
        "javascript",
        "function $N() { $$$B }",
        "function $N() {\n  z();\n  $$$B\n}",
        "function f() {\n  // first\n  a();\n  // last\n}\n",
    );
    assert_eq!(
        String::from_utf8_lossy(&result.bytes),
        "function f() {\n  z();\n  // first\n  a();\n  // last\n}\n"
    );
    assert_eq!(result.lost_comments, 0);
    check(
        "rust",
        "fn $N() { $$$B }",
        "fn $N() {\n    $$$B\n    z();\n}",
        "fn f() {\n    // first\n    a(); // same\n    // last\n}\n",
        "fn f() {\n    // first\n    a(); // same\n    // last\n    z();\n}\n",
    );
}

#[test]
fn a_comment_behind_the_last_statement_of_a_run_stays_with_it() {
    check(
        "python",
        "def $N():\n    $$$B",
        "def $N():\n    $$$B\n    z()",
        "def f():\n    a()  # note\n\nx()\n",
        "def f():\n    a()  # note\n    z()\n\nx()\n",
    );
}

#[test]
fn a_comment_behind_the_comma_of_what_is_deleted_keeps_its_distance() {
    check(
        "javascript",
        "b: $V",
        "",
        "x = {\n  a: 1, // one\n  b: 2 // two\n}\n",
        "x = {\n  a: 1 // one\n  // two\n}\n",
    );
}

#[test]
fn the_last_member_of_a_run_keeps_its_terminator() {
    check(
        "typescript",
        "interface $N { $$$B }",
        "interface $N {\n  $$$B\n  z: 1;\n}",
        "interface B {\n  x: 1;\n  y: 1;\n}\n",
        "interface B {\n  x: 1;\n  y: 1;\n  z: 1;\n}\n",
    );
}

#[test]
fn comments_of_what_is_deleted_are_counted() {
    let result = rewrite("python", "foo($A)", "", "foo(1, # c\n)\nx()\n");
    assert_eq!(String::from_utf8_lossy(&result.bytes), "x()\n");
    assert_eq!(result.lost_comments, 1);
}
