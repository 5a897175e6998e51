//! Results that are refused, and what is said of them.

use structural::RewriteError;

use super::{rewrite, try_rewrite};

#[test]
fn a_new_syntax_error_is_refused_with_its_place() {
    let error = try_rewrite(
        "c",
        "f($A)",
        "g($A",
        "int a;\nint b = f(1);\nint c = f(2);\n",
    )
    .unwrap_err();
    let RewriteError::NewSyntaxErrors {
        line, match_line, ..
    } = &error
    else {
        panic!("{error:?}")
    };
    assert_eq!((*line, *match_line), (2, 2), "{error}");
}

#[test]
fn errors_that_were_there_before_do_not_matter() {
    let source = "int a = ;\nint b = f(1);\nint c = = 2;\n";
    let result = rewrite("c", "f($A)", "g($A)", source);
    assert_eq!(
        String::from_utf8(result.bytes).unwrap(),
        "int a = ;\nint b = g(1);\nint c = = 2;\n"
    );
    let error = try_rewrite("c", "f($A)", "g($A", source).unwrap_err();
    let RewriteError::NewSyntaxErrors { line, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(line, 2);
}
