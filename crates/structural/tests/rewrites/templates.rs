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
        "print(\"$X =\", $X, \"$Y\")",
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
