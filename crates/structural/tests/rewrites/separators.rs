//! Commas around runs of nothing.

use super::check;

#[test]
fn a_run_of_nothing_takes_one_separator_with_it() {
    for (pattern, template, source, wanted) in [
        ("foo($$$A)", "bar(x, $$$A)", "foo()", "bar(x)"),
        ("foo($$$A)", "bar(x, $$$A)", "foo(1)", "bar(x, 1)"),
        ("foo($$$A)", "bar($$$A, x)", "foo()", "bar(x)"),
        ("foo($$$A)", "bar($$$A, x)", "foo(1, 2)", "bar(1, 2, x)"),
        ("foo($$$A)", "bar(x, $$$A, y)", "foo()", "bar(x, y)"),
        ("foo($$$A, $B)", "foo(x, $$$A, $B)", "foo(1)", "foo(x, 1)"),
        ("foo($$$A, $B)", "foo($B, $$$A)", "foo(1)", "foo(1)"),
        ("foo($$$A, $B)", "foo($B, $$$A)", "foo(1, 2)", "foo(2, 1)"),
        ("foo($$$A, $B)", "foo($B, x)", "foo(1)", "foo(1, x)"),
        ("foo($$$A, $B)", "foo($B)", "foo(1, 2)", "foo(2)"),
        ("foo($$$A, $B)", "foo($$$A)", "foo(1)", "foo()"),
        ("foo($A, $$$B)", "foo($$$B)", "foo(1)", "foo()"),
        ("foo($A, $$$B)", "foo($$$B)", "foo(1, 2)", "foo(2)"),
        ("foo($A, $$$B)", "foo($A, x, $$$B)", "foo(1)", "foo(1, x)"),
        ("foo($$$A)", "[$$$A, $$$A]", "foo()", "[]"),
        ("foo($$$A)", "{ $$$A; }", "foo()", "{ ; }"),
    ] {
        check("javascript", pattern, template, source, wanted);
    }
}

#[test]
fn a_comma_at_the_end_of_a_list_is_not_doubled() {
    for (pattern, template, source, wanted) in [
        ("foo($$$A)", "bar(x, $$$A)", "foo(1,)", "bar(x, 1,)"),
        ("foo($$$A)", "bar($$$A, x)", "foo(1,)", "bar(1, x,)"),
        ("foo($$$A, $B)", "foo($$$A)", "foo(1, 2,)", "foo(1,)"),
        ("foo($$$A, $B)", "foo($$$A)", "foo(2,)", "foo()"),
        (
            "defineConfig({ $$$P })",
            "defineConfig({ $$$P, output: 1 })",
            "defineConfig({\n  a: 1,\n  b: [2],\n})\n",
            "defineConfig({\n  a: 1,\n  b: [2], output: 1,\n})\n",
        ),
        (
            "defineConfig({ $$$P })",
            "defineConfig({ $$$P, output: 1 })",
            "defineConfig({})\n",
            "defineConfig({ output: 1 })\n",
        ),
        (
            "foo($A, $B)",
            "foo($A)",
            "foo(\n  a,\n  b,\n)\n",
            "foo(\n  a,\n)\n",
        ),
        (
            "foo($A, $B)",
            "foo($B)",
            "foo(\n  a,\n  b,\n)\n",
            "foo(\n  b,\n)\n",
        ),
    ] {
        check("javascript", pattern, template, source, wanted);
    }
}
