//! How the text of a template is read.

use structural::{MAX_TEMPLATE_BYTES, TemplateError};

use super::{check, template};

#[test]
fn a_metavariable_that_the_pattern_does_not_bind_is_refused() {
    let error = template("rust", "f($VALUE, $$$REST)", "g($VALEU)").unwrap_err();
    assert_eq!(error, TemplateError::clone(&error),);
    let said = error.to_string();
    assert_eq!(
        said,
        "the pattern does not bind `$VALEU`; it binds `$VALUE`, `$$$REST`"
    );
    assert_eq!(
        error.next(),
        "use `$VALUE`, or write `\\$VALEU` if it is text"
    );
    let error = template("rust", "f(1)", "g($$$A)").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the pattern does not bind `$$$A`; it binds nothing"
    );
    assert_eq!(
        error.next(),
        "put it in the pattern, or write `\\$$$A` if it is text"
    );
}

#[test]
fn one_and_many_are_not_mixed() {
    for (pattern, text, written, bound) in [
        ("f($A)", "g($$$A)", "$$$A", "$A"),
        ("f($$$A)", "g($A)", "$A", "$$$A"),
        ("f($A)", "g($$A)", "$$A", "$A"),
    ] {
        assert_eq!(
            template("rust", pattern, text).unwrap_err(),
            TemplateError::OtherForm {
                written: written.to_owned(),
                bound: bound.to_owned()
            }
        );
    }
}

#[test]
fn what_binds_nothing_cannot_be_written() {
    for text in ["g($_)", "g($$$)", "g($$$_)"] {
        assert!(matches!(
            template("rust", "f($_, $$$)", text),
            Err(TemplateError::Unnamed(_))
        ));
    }
}

#[test]
fn a_template_may_not_be_endless() {
    let text = "a ".repeat(MAX_TEMPLATE_BYTES);
    assert_eq!(
        template("rust", "f($A)", &text).unwrap_err(),
        TemplateError::TooLarge
    );
}

#[test]
fn dollars_of_the_language_are_text() {
    check(
        "javascript",
        "f($A)",
        "$($A, $el, $1)",
        "f(x)\n",
        "$(x, $el, $1)\n",
    );
    check(
        "php",
        "f($A)",
        "$this->f($A, $b)",
        "<?php f(1);\n",
        "<?php $this->f(1, $b);\n",
    );
    check(
        "bash",
        "f $A",
        "f $A $1 $$ \\$HOME \"$HOME\" '$USER'",
        "f x\n",
        "f x $1 $$ $HOME \"$HOME\" '$USER'\n",
    );
    let read = template("bash", "f $A", "f $A \"$HOME\" \\$USER").unwrap();
    assert_eq!(read.plain_dollars(), ["$HOME", "\\$USER"]);
}

#[test]
fn a_name_ends_before_an_underscore_and_a_small_letter() {
    check(
        "rust",
        "f($NAME)",
        "g($NAME_x)",
        "fn m() { f(a); }\n",
        "fn m() { g(a_x); }\n",
    );
    check(
        "rust",
        "fn $F() { $$$B }",
        "fn $F_async() { $$$B }",
        "fn m() { a() }\n",
        "fn m_async() { a() }\n",
    );
    check(
        "rust",
        "f($A)",
        "get_$A()",
        "fn m() { f(a); }\n",
        "fn m() { get_a(); }\n",
    );
    check(
        "javascript",
        "f($A)",
        "g($Aber, $A)",
        "f(1)\n",
        "g($Aber, 1)\n",
    );
}

#[test]
fn bound_names_are_written_in_strings_too() {
    check(
        "python",
        "trace($X)",
        "print(\"$X =\", $X, \"\\$Y\")",
        "trace(a.b)\n",
        "print(\"a.b =\", a.b, \"$Y\")\n",
    );
}

#[test]
fn code_in_a_comment_stays_on_one_line() {
    check(
        "javascript",
        "f($X)",
        "// was $X\ng($X)",
        "f({\n  a: 1,\n\n  b: 2,\n})\n",
        "// was { a: 1, b: 2, }\ng({\n  a: 1,\n\n  b: 2,\n})\n",
    );
}

#[test]
fn the_margin_around_a_template_is_left_out() {
    check(
        "python",
        "f($A)",
        "\n    if $A:\n        g()\n\n",
        "f(1)\n",
        "if 1:\n    g()\n",
    );
}

#[test]
fn an_unbound_name_in_a_string_is_refused() {
    let refuses = |language: &str, rewrite: &str, wanted: &str| {
        let error = template(language, "foo($NAME)", rewrite).unwrap_err();
        let TemplateError::Unbound { name, .. } = &error else {
            panic!("{rewrite}: {error}");
        };
        assert_eq!(name, wanted, "{rewrite}");
        assert_eq!(
            error.next(),
            format!("use `$NAME`, or write `\\{wanted}` if it is text")
        );
    };
    refuses("javascript", "`Hi ${$NAM}`", "$NAM");
    refuses("javascript", "`Hi $NAM`", "$NAM");
    refuses("javascript", "\"Hi $NAM\"", "$NAM");
    refuses("javascript", "\"$NAME$OTHER\"", "$OTHER");
    refuses("javascript", "bar($NAME) // for $OTHER", "$OTHER");
    refuses("tsx", "<p>costs $USD</p>", "$USD");
    refuses("python", "f\"{$Y}\"", "$Y");
    // Where `$NAM` in a string is a variable of the language.
    refuses("kotlin", "\"Hi $NAM\"", "$NAM");
    refuses("kotlin", "\"Hi ${$OTHER}\"", "$OTHER");
    refuses("php", "\"Hi $NAM\"", "$NAM");
    refuses("php", "\"Hi $NMAE\"", "$NMAE");
    for (language, rewrite) in [
        ("kotlin", "\"Hi $USER ${$NAME}\""),
        ("php", "bar(\"$HOME {$NAME} $x\")"),
        ("scala", "s\"$USER\""),
        ("javascript", "bar(\"US$B $$$ $_ $x $1\")"),
    ] {
        assert!(
            template(language, "foo($NAME)", rewrite).is_ok(),
            "{rewrite}"
        );
    }
    assert!(matches!(
        template("bash", "foo $NAME", "bar \"$NAM\""),
        Err(TemplateError::Unbound { .. })
    ));
    // What the pattern has as text is text.
    check(
        "javascript",
        "foo(\"$NAM\", $X)",
        "goo(\"$NAM\", $X)",
        "foo(\"$NAM\",  1)\n",
        "goo(\"$NAM\",  1)\n",
    );
}

#[test]
fn a_backslash_is_the_same_in_pattern_and_template() {
    check(
        "bash",
        "echo \"\\$HOME\"",
        "echo \"\\$HOME\" x",
        "echo \"$HOME\"\necho \"\\$HOME\"\n",
        "echo \"$HOME\" x\necho \"\\$HOME\"\n",
    );
    check(
        "bash",
        "echo \"\\\\$HOME\"",
        "echo \"\\\\$HOME\" x",
        "echo \"$HOME\"\necho \"\\$HOME\"\n",
        "echo \"$HOME\"\necho \"\\$HOME\" x\n",
    );
    check(
        "bash",
        "echo '\\$HOME' \\$HOME $X",
        "echo '\\$HOME' \\$HOME y $X",
        "echo '$HOME'  $HOME   b\n",
        "echo '$HOME'  $HOME   y b\n",
    );
    check(
        "javascript",
        "foo(\"a \\$NAM\")",
        "foo(\"b \\$NAM\")",
        "foo(\"a $NAM\"); foo(\"a \\$NAM\")\n",
        "foo(\"b $NAM\"); foo(\"a \\$NAM\")\n",
    );
}

#[test]
fn what_is_written_unlike_a_metavariable_is_named() {
    for (language, rewrite, wanted) in [
        ("python", "bar($x)", "$x"),
        ("python", "bar($Xs)", "$Xs"),
        ("python", "bar(${X})", "${X}"),
        ("python", "bar(\"$y\", $1)", "$1"),
        ("rust", "bar(${X})", "${X}"),
        ("rust", "bar($x)", "$x"),
        ("go", "bar($x)", "$x"),
    ] {
        let error = template(language, "foo($X, $OTHER)", rewrite).unwrap_err();
        let TemplateError::Misspelt { text, .. } = &error else {
            panic!("{rewrite}: {error}");
        };
        assert_eq!(text, wanted);
        assert_eq!(error.next(), "write `$X`", "{rewrite}");
    }
    // Where the language has such names they are its own.
    check(
        "rust",
        "foo!($X)",
        "bar!($X, $y)",
        "foo!(1);\n",
        "bar!(1, $y);\n",
    );
}
