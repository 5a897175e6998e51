//! Strings, template text and text between tags: every byte of them counts.

use super::check;

#[test]
fn a_string_that_ends_without_a_node_is_written_to_its_end() {
    for (template, wanted) in [
        ("s\"v=${$X}!\"", "s\"v=${a}!\""),
        ("s\"v\"", "s\"v\""),
        ("$X + s\"v\"", "a + s\"v\""),
        ("f\"$X%d\"", "f\"a%d\""),
    ] {
        check(
            "scala",
            "foo($X)",
            template,
            "object A { val x = foo(a) }\n",
            &format!("object A {{ val x = {wanted} }}\n"),
        );
    }
    check(
        "scala",
        "s\"${x} a\"",
        "s\"${x} z\"",
        "object A { val x = s\"${x} a\" + s\"${x}a\" }\n",
        "object A { val x = s\"${x} z\" + s\"${x}a\" }\n",
    );
    check(
        "scala",
        "s\"${$X} ${$Y}\"",
        "s\"${$Y} ${$X}\"",
        "object A { val x = s\"${a} ${b}\" + s\"${a}${b}\" }\n",
        "object A { val x = s\"${b} ${a}\" + s\"${a}${b}\" }\n",
    );
    check(
        "julia",
        "foo($X)",
        "\"v=$($X)\"",
        "x = foo(a)\n",
        "x = \"v=$(a)\"\n",
    );
    check(
        "powershell",
        "foo $X",
        "bar \"v=$($X)\"",
        "foo $a\n",
        "bar \"v=$($a)\"\n",
    );
}

#[test]
fn white_space_in_front_of_code_in_a_text_is_kept() {
    for start in ["$", "$@"] {
        check(
            "c-sharp",
            &format!("{start}\"user {{$X}} failed\""),
            &format!("{start}\"account {{$X}} failed\""),
            &format!("class A {{ string f() {{ return {start}\"user {{id}} failed\"; }} }}\n"),
            &format!("class A {{ string f() {{ return {start}\"account {{id}} failed\"; }} }}\n"),
        );
    }
    let pattern = "<p>Hello {$X}, you have {$N} messages</p>";
    let source = "if (a) {\n    x = <p>Hello {name}, you have {n} messages</p>;\n}\n";
    check(
        "tsx",
        pattern,
        "<p>Hi {$X}, there are {$N} messages</p>",
        source,
        "if (a) {\n    x = <p>Hi {name}, there are {n} messages</p>;\n}\n",
    );
    check(
        "tsx",
        pattern,
        "<p>\n  Hi {$X}, there are\n  {$N} messages\n</p>",
        source,
        "if (a) {\n    x = <p>\n      Hi {name}, there are\n      {n} messages\n    </p>;\n}\n",
    );
}

#[test]
fn the_last_line_of_a_string_stays_where_it_is() {
    check(
        "python",
        "foo($X)",
        "bar(\"\"\"\n  $X\n\"\"\")",
        "if z:\n    x = foo(a)\n",
        "if z:\n    x = bar(\"\"\"\n  a\n\"\"\")\n",
    );
    check(
        "rust",
        "foo($X)",
        "bar(\"\n $X\n\")",
        "fn f() {\n    foo(a);\n}\n",
        "fn f() {\n    bar(\"\n a\n\");\n}\n",
    );
    check(
        "javascript",
        "foo($X)",
        "bar(`\n  ${$X}\n  b\n`)",
        "if (z) {\n    x = foo(a)\n}\n",
        "if (z) {\n    x = bar(`\n  ${a}\n  b\n`)\n}\n",
    );
    check(
        "javascript",
        "`\n${$X}\n`",
        "`\n${$X}\nz\n`",
        "if (z) {\n    x = `\n${a}\n`\n}\n",
        "if (z) {\n    x = `\n${a}\nz\n`\n}\n",
    );
}
