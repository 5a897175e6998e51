//! Line breaks, margins, line endings.

use super::check;

#[test]
fn lines_of_the_template_get_the_margin_of_the_match() {
    check(
        "go",
        "$E.Close()",
        "if err := $E.Close(); err != nil {\n\treturn err\n}",
        "package p\n\nfunc f() error {\n\tif a {\n\t\tx.Close()\n\t}\n\treturn nil\n}\n",
        "package p\n\nfunc f() error {\n\tif a {\n\t\tif err := x.Close(); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\treturn nil\n}\n",
    );
    check(
        "python",
        "run($X)",
        "with lock:\n\trun($X)",
        "def f():\n\tif a:\n\t\trun(1)\n",
        "def f():\n\tif a:\n\t\twith lock:\n\t\t\trun(1)\n",
    );
}

#[test]
fn lines_of_a_capture_move_with_its_first() {
    check(
        "python",
        "if True:\n    $$$B",
        "$$$B",
        "def f():\n    if True:\n        a()\n        if b:\n            c()\n\n        d()\n    e()\n",
        "def f():\n    a()\n    if b:\n        c()\n\n    d()\n    e()\n",
    );
    check(
        "javascript",
        "if (DEBUG) { $$$B }",
        "$$$B",
        "function f() {\n\tif (DEBUG) {\n\t\ta({\n\t\t\tx: 1,\n\t\t});\n\t\tb();\n\t}\n}\n",
        "function f() {\n\ta({\n\t\tx: 1,\n\t});\n\tb();\n}\n",
    );
    check(
        "rust",
        "$X.unwrap()",
        "match $X {\n    Some(x) => x,\n    None => return,\n}",
        "fn f() {\n    let a = g(|x| {\n        x\n    }).unwrap();\n}\n",
        "fn f() {\n    let a = match g(|x| {\n        x\n    }) {\n        Some(x) => x,\n        None => return,\n    };\n}\n",
    );
}

#[test]
fn text_over_several_lines_is_never_moved() {
    check(
        "python",
        "log($X)",
        "if a:\n    log($X)",
        "def f():\n    log(\"\"\"one\n  two\n      three\"\"\")\n",
        "def f():\n    if a:\n        log(\"\"\"one\n  two\n      three\"\"\")\n",
    );
    check(
        "javascript",
        "if (x) { $$$B }",
        "$$$B",
        "{\n    if (x) {\n        a(`one\n        two`);\n        /* three\n        four */\n        b();\n    }\n}\n",
        "{\n    a(`one\n        two`);\n    /* three\n        four */\n    b();\n}\n",
    );
    check(
        "bash",
        "if true; then $$$B; fi",
        "$$$B",
        "f() {\n    if true; then\n        cat <<EOF\n        one\nEOF\n        echo 2\n    fi\n}\n",
        "f() {\n    cat <<EOF\n        one\nEOF\n    echo 2\n}\n",
    );
    check(
        "ruby",
        "if true\n  $$$B\nend",
        "$$$B",
        "def f\n  if true\n    x = <<~A\n      one\n    A\n    y\n  end\nend\n",
        "def f\n  x = <<~A\n      one\n    A\n  y\nend\n",
    );
    check(
        "rust",
        "if true { $$$B }",
        "$$$B",
        "fn f() {\n    if true {\n        g(r#\"one\n        two\"#);\n        h();\n    }\n}\n",
        "fn f() {\n    g(r#\"one\n        two\"#);\n    h();\n}\n",
    );
}

#[test]
fn text_in_a_template_gets_no_margin() {
    check(
        "python",
        "usage()",
        "usage(\"\"\"\none\n  two\n\"\"\")",
        "def f():\n    usage()\n",
        "def f():\n    usage(\"\"\"\none\n  two\n\"\"\")\n",
    );
    check(
        "javascript",
        "usage()",
        "// one\nusage(`\n  two\n`)",
        "{\n  usage();\n}\n",
        "{\n  // one\n  usage(`\n  two\n`);\n}\n",
    );
}

#[test]
fn a_run_on_its_own_lines_keeps_them() {
    check(
        "python",
        "def $M($$$A):\n    $$$B",
        "@traced\ndef $M($$$A):\n    $$$B",
        "class A:\n  def f(self,\n        x):\n    # why\n    a()\n\n    b()\n\n  y = 1\n",
        "class A:\n  @traced\n  def f(self,\n        x):\n    # why\n    a()\n\n    b()\n\n  y = 1\n",
    );
    check(
        "python",
        "def $M($$$A):\n    $$$B",
        "def $M($$$A):\n    log()\n    $$$B",
        "class A:\n  def f(self):\n    a()\n    b()\n",
        "class A:\n  def f(self):\n    log()\n    a()\n    b()\n",
    );
    check(
        "python",
        "def $M($$$A):\n    $$$B",
        "def $M($$$A):\n    try:\n        $$$B\n    except E:\n        pass",
        "class A:\n  def f(self):\n    a()\n    if b:\n      c()\n",
        "class A:\n  def f(self):\n    try:\n      a()\n      if b:\n        c()\n    except E:\n      pass\n",
    );
    check(
        "python",
        "def $M($$$A):\n    $$$B",
        "def $M($$$A):\n    log()\n    $$$B",
        "def f(): return 1\n",
        "def f():\n    log()\n    return 1\n",
    );
    check(
        "go",
        "func $F($$$A) { $$$B }",
        "func $F($$$A) { defer done(); $$$B }",
        "package p\n\nfunc f(a int) {\n\tg()\n\th()\n}\n",
        "package p\n\nfunc f(a int) {\n\tdefer done();\n\tg()\n\th()\n}\n",
    );
}

#[test]
fn blank_lines_stay_blank() {
    check(
        "python",
        "f($A)",
        "if a:\n    f($A)\n\n    g()",
        "if b:\n    f([\n        1,\n\n        2,\n    ])\n",
        "if b:\n    if a:\n        f([\n            1,\n\n            2,\n        ])\n\n        g()\n",
    );
}

#[test]
fn line_endings_of_the_file_are_used_and_its_mark_is_kept() {
    check(
        "javascript",
        "f($A)",
        "f(\n  $A,\n  1\n)",
        "\u{feff}f(1);\r\n{\r\n\tf(2);\r\n}\r\n",
        "\u{feff}f(\r\n  1,\r\n  1\r\n);\r\n{\r\n\tf(\r\n\t  2,\r\n\t  1\r\n\t);\r\n}\r\n",
    );
    check(
        "javascript",
        "f($A)",
        "f(\r\n  $A\r\n)",
        "f(1);\n",
        "f(\n  1\n);\n",
    );
    check("python", "f($A)", "", "\u{feff}f(1)\nx\n", "\u{feff}x\n");
}

#[test]
fn bodies_swapped_and_swapped_back_are_as_they_were() {
    let (there, back) = (
        "if ($C) { $$$A } else { $$$B }",
        "if ($C) { $$$B } else { $$$A }",
    );
    for (source, wanted) in [
        (
            "{\n\tif (a) {\n\t\tb();\n\t\tc();\n\t} else {\n\t}\n}\n",
            "{\n\tif (a) {\n\t} else {\n\t\tb();\n\t\tc();\n\t}\n}\n",
        ),
        (
            "{\r\n\tif (a) {\r\n\t} else {\r\n\t\tb();\r\n\t}\r\n}\r\n",
            "{\r\n\tif (a) {\r\n\t\tb();\r\n\t} else {\r\n\t}\r\n}\r\n",
        ),
        (
            "if (a) {\n  // one\n  // two\n} else {\n  b(); // three\n}\n",
            "if (a) {\n  // one\n  // two\n  b();\n} else { // three\n}\n",
        ),
        ("if (a) { } else { b(); }\n", "if (a) { b(); } else { }\n"),
        (
            "if (a) {\n  // one\n  b();\n} else {\n}\n",
            "if (a) {\n  // one\n} else {\n  b();\n}\n",
        ),
    ] {
        check("javascript", there, back, source, wanted);
        if !source.contains("three") {
            check("javascript", there, back, wanted, source);
        }
    }
    check(
        "kotlin",
        there,
        back,
        "fun f() {\n  val v = d.g()\n  if (v >= 0f) {\n    null\n  } else {\n    L(v)\n  }\n}\n",
        "fun f() {\n  val v = d.g()\n  if (v >= 0f) {\n    L(v)\n  } else {\n    null\n  }\n}\n",
    );
}

#[test]
fn a_body_that_stays_keeps_its_layout_whatever_the_pattern_looks_like() {
    check(
        "c",
        "if ($C) { $$$B }",
        "while ($C) { $$$B }",
        "void f()\n{\n    if (a\n        && b)\n    {\n        // why\n        c();\n    }\n}\n",
        "void f()\n{\n    while (a\n        && b)\n    {\n        // why\n        c();\n    }\n}\n",
    );
    check(
        "go",
        "if err != nil { return $$$R }",
        "if err != nil { return wrap($$$R) }",
        "package p\nfunc f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
        "package p\nfunc f() error {\n\tif err != nil {\n\t\treturn wrap(err)\n\t}\n\treturn nil\n}\n",
    );
}
