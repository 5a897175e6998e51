//! Matches that become nothing.

use structural::RewriteError;

use super::{check, rewrite, try_rewrite};

#[test]
fn a_statement_alone_on_its_line_takes_the_line() {
    for (language, pattern, source, wanted) in [
        (
            "python",
            "print($$$A)",
            "def f():\n    x = 1\n    print(x)\n    return x\n",
            "def f():\n    x = 1\n    return x\n",
        ),
        (
            "javascript",
            "console.log($$$A)",
            "a();\n\tconsole.log(1, 2);\nb();\n",
            "a();\nb();\n",
        ),
        (
            "javascript",
            "console.log($$$A);",
            "a();\r\nconsole.log(\r\n  1,\r\n);\r\nb();\r\n",
            "a();\r\nb();\r\n",
        ),
        (
            "c",
            "log($$$A);",
            "void f() { log(1); g(); log(2); }\n",
            "void f() { g(); }\n",
        ),
        (
            "c",
            "log($$$A);",
            "void f() { log(1); }\n",
            "void f() { }\n",
        ),
        (
            "c",
            "log($$$A);",
            "void f() {\n    g(); log(1);\n    log(2); // why\n}\n",
            "void f() {\n    g();\n    // why\n}\n",
        ),
        (
            "go",
            "fmt.Println($$$A)",
            "package p\n\nfunc f() {\n\tfmt.Println(1)\n\tg()\n}\n",
            "package p\n\nfunc f() {\n\tg()\n}\n",
        ),
        (
            "rust",
            "dbg!($$$A);",
            "fn f() {\n    dbg!(a);\n    b()\n}",
            "fn f() {\n    b()\n}",
        ),
        (
            "rust",
            "use $A::$B;",
            "use a::b;\nuse c::d;\nfn f() {}\n",
            "fn f() {}\n",
        ),
        ("javascript", "debugger;", "debugger;", ""),
    ] {
        check(language, pattern, "", source, wanted);
    }
}

#[test]
fn an_element_of_a_list_takes_one_separator() {
    for (pattern, source, wanted) in [
        ("old($X)", "f(old(1), a, b)", "f(a, b)"),
        ("old($X)", "f(a, old(1), b)", "f(a, b)"),
        ("old($X)", "f(a, b, old(1))", "f(a, b)"),
        ("old($X)", "f(old(1))", "f()"),
        ("old($X)", "f(old(1),)", "f()"),
        ("old($X)", "f(a, old(1),)", "f(a,)"),
        ("old($X)", "f(old(1), old(2), a)", "f(a)"),
        ("old($X)", "f(a, old(1), old(2))", "f(a)"),
        ("old($X)", "f(a, old(1), b, old(2))", "f(a, b)"),
        ("old($X)", "f(old(1), old(2))", "f()"),
        (
            "old($X)",
            "[old(1), a, old(2), old(3), b, old(4), old(5)]",
            "[a, b]",
        ),
        ("old($X)", "f(a,\n  old(1),\n  b)", "f(a,\n  b)"),
        ("old($X)", "f(\n  a,\n  old(1),\n)", "f(\n  a,\n)"),
        ("old($X)", "f(\n  a,\n  old(1)\n)", "f(\n  a\n)"),
        ("old($X)", "f(\n  a,\n  old(1),\n  old(2)\n)", "f(\n  a\n)"),
        ("old: $X", "x = { old: 1, a: 2 }", "x = { a: 2 }"),
        ("old: $X", "x = { a: 2, old: 1 }", "x = { a: 2 }"),
        (
            "old: $X",
            "x = {\n  a: 2,\n  old: {\n    b: 1,\n  },\n}",
            "x = {\n  a: 2,\n}",
        ),
    ] {
        check("javascript", pattern, "", source, wanted);
    }
    check(
        "python",
        "old($X)",
        "",
        "x = [\n    a,\n    old(1),  # gone\n    b,\n]\n",
        "x = [\n    a,\n    # gone\n    b,\n]\n",
    );
}

#[test]
fn what_a_template_leaves_empty_is_deleted_too() {
    check(
        "javascript",
        "wrap($$$A)",
        "$$$A",
        "f(wrap(), 1, wrap(2))\n",
        "f(1, 2)\n",
    );
}

#[test]
fn a_block_that_must_hold_something_is_not_emptied() {
    let source = "x = 1\ndef f():\n    print(1)\n    print(2)\n";
    let error = try_rewrite("python", "print($X)", "", source).unwrap_err();
    assert!(
        matches!(
            error,
            RewriteError::EmptiesBlock { match_line: 3, .. }
                | RewriteError::EmptiesBlock { match_line: 4, .. }
        ),
        "{error:?}"
    );
    for source in [
        "class A:\n    print(1)\n",
        "if a:\n    print(1)  # why\nelse:\n    b()\n",
        "def f():\n    # why\n    print(1)\n\nx = 1\n",
        "try:\n    a()\nexcept E:\n    print(1)\n",
        "for x in y: print(x)\n",
    ] {
        let error = try_rewrite("python", "print($X)", "", source).unwrap_err();
        assert!(
            matches!(
                error,
                RewriteError::EmptiesBlock { .. } | RewriteError::NewSyntaxErrors { .. }
            ),
            "{source:?} {error:?}"
        );
    }
    let result = rewrite(
        "python",
        "print($X)",
        "",
        "def f():\n    print(1)\n    g()\n",
    );
    assert_eq!(result.replacements.len(), 1);
}

#[test]
fn a_deletion_that_breaks_the_code_is_refused() {
    for (language, pattern, source) in [
        ("python", "f($X)", "x = f(1)\n"),
        ("javascript", "f($X)", "const a = f(1);\n"),
    ] {
        let error = try_rewrite(language, pattern, "", source).unwrap_err();
        assert!(
            matches!(error, RewriteError::NewSyntaxErrors { match_line: 1, .. }),
            "{error:?}"
        );
    }
}
