//! Languages with braces that compile: C, C++, C#, Dart, Go, Rust, Solidity, Swift, Zig.

use super::Rung::{
    Argument, Arm, Clause, Declaration, Decorator, Expression, Field, Import, Member, Pair,
    Parameter, Pattern, Statement, Type,
};
use super::{Dropped, HoleForm, Language, context, wrapped};

pub(super) const LANGUAGES: &[Language] = &[
    #[cfg(feature = "lang-rust")]
    RUST,
    #[cfg(feature = "lang-dart")]
    DART,
];

#[cfg(feature = "lang-rust")]
const RUST: Language = Language {
    aliases: &["rs"],
    extensions: &["rs"],
    shebangs: &["rust-script"],
    contexts: &[
        context(Statement, "fn f() {\n", "\n}", "let $X = $Y;"),
        context(Expression, "fn f() { let x = ", "; }", "$X.unwrap()"),
        context(Member, "impl T {\n", "\n}", "fn $F(&self) { $$$B }"),
        context(Declaration, "", "\n", "struct $S;"),
        context(Argument, "fn f() { g(", "); }", "&mut $X"),
        context(Parameter, "fn f(", ") {}", "$N: &str"),
        context(Type, "type T = ", ";", "Vec<$T>"),
        context(Pattern, "fn f() { match x { ", " => {} } }", "Some($X)"),
        context(Arm, "fn f() { match x {\n", "\n} }", "Some($X) => $Y"),
        context(Field, "struct S {\n", "\n}", "$N: Option<$T>"),
        context(Pair, "fn f() { S { ", " }; }", "name: $V"),
        context(Decorator, "", "\nfn f() {}", "#[derive($$$D)]"),
        context(Import, "use ", ";", "std::collections::$X"),
        context(Clause, "fn f<T>() ", " {}", "where $T: $B"),
        context(Clause, "fn f() { if x {} ", "}", "else { $$$B }"),
    ],
    holes: &[
        HoleForm::Upper,
        HoleForm::Lower,
        wrapped("", ": T"),
        wrapped("", " => {}"),
    ],
    refused_dollar_kinds: &["metavariable"],
    token_runs: &["token_tree"],
    whole_words: true,
    ..Language::new(
        "rust",
        tree_sitter_rust::LANGUAGE,
        tree_sitter_rust::NODE_TYPES,
    )
};

#[cfg(feature = "lang-dart")]
const DART: Language = Language {
    extensions: &["dart"],
    contexts: &[
        context(Statement, "void f() async {\n", "\n}", "if ($C) return;"),
        context(
            Statement,
            "void f() async {\n",
            ";\n}",
            "if ($X != null) $X.dispose()",
        ),
        context(
            Expression,
            "void f() async { var x = ",
            "; }",
            "await $F($$$A)",
        ),
        context(Member, "class A {\n", "\n}", "late final $T $N;"),
        context(Declaration, "", "\n", "class $N {}"),
    ],
    dropped: &[Dropped {
        kinds: &[
            "function_signature",
            "method_signature",
            "external_function_declaration",
        ],
        when: &["call_expression"],
    }],
    whole_words: true,
    ..Language::new(
        "dart",
        tree_sitter_dart::LANGUAGE,
        tree_sitter_dart::NODE_TYPES,
    )
};
