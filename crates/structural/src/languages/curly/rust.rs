//! Rust.

use crate::languages::Rung::{
    Argument, Arm, Clause, Declaration, Decorator, Expression, Field, Import, Member, Pair,
    Parameter, Pattern, Statement, Type,
};
use crate::languages::{Comments, Dropped, ELSE_BEHIND_BLOCK, Language, Reserved, context};

pub(super) const RUST: Language = Language {
    comments: Some(&Comments::C_LIKE),
    aliases: &["rs"],
    extensions: &["rs"],
    shebangs: &["rust-script", "cargo"],
    contexts: &[
        context(Statement, "async fn f() {\n", "\n}\n", "let $X = $Y;"),
        context(Statement, "async fn f() {\n", ";\n}\n", "let $X = $Y").only(&[
            "const_item",
            "expression_statement",
            "extern_crate_declaration",
            "let_declaration",
            "macro_invocation",
            "static_item",
            "type_item",
            "use_declaration",
        ]),
        context(Expression, "fn f() { let x = (", "); }\n", "$X.unwrap()"),
        context(Member, "impl T {\n", "\n}\n", "fn $F(&self) { $$$B }"),
        context(Declaration, "", "\n", "struct $S;"),
        context(Argument, "fn f() { g(", "); }\n", "&mut $X"),
        context(Parameter, "fn f(", ") {}\n", "$N: &str").only(&["parameter", "self_parameter"]),
        context(Parameter, "fn f<", ">() {}\n", "$T: Clone + 'static").only(&[
            "type_parameter",
            "const_parameter",
            "lifetime_parameter",
        ]),
        context(Parameter, "fn f() { g(|", "| 0); }\n", "$A: $T").only(&["parameter"]),
        context(Type, "type T = ", ";\n", "Vec<$T>"),
        context(Pattern, "fn f() { match x { ", " => {} } }\n", "Some($X)").only(&[
            "captured_pattern",
            "match_pattern",
            "mut_pattern",
            "or_pattern",
            "range_pattern",
            "ref_pattern",
            "reference_pattern",
            "slice_pattern",
            "struct_pattern",
            "tuple_pattern",
            "tuple_struct_pattern",
        ]),
        context(Arm, "fn f() { match x {\n", "\n} }\n", "Some($X) => $Y").only(&["match_arm"]),
        context(Field, "struct S {\n", "\n}\n", "$N: Option<$T>").only(&["field_declaration"]),
        context(Field, "enum E {\n", "\n}\n", "$N { x: $T }").only(&["enum_variant"]),
        context(Pair, "fn f() { S { ", " }; }\n", "name: $V")
            .only(&["field_initializer", "base_field_initializer"]),
        context(
            Pattern,
            "fn f() { let S { ",
            " } = x; }\n",
            "name: Some($P)",
        )
        .only(&["field_pattern", "remaining_field_pattern"]),
        context(Decorator, "", "\nfn f() {}\n", "#[derive($$$D)]").only(&["attribute_item"]),
        context(Import, "use ", ";\n", "std::collections::{$$$X}").only(&[
            "scoped_use_list",
            "use_as_clause",
            "use_list",
            "use_wildcard",
        ]),
        context(Clause, "fn f<T>() ", " {}\n", "where T: $B").only(&["where_clause"]),
        context(Clause, "fn f<T>() where ", " {}\n", "T: $B").only(&["where_predicate"]),
        context(Clause, "fn f() { if x {} ", "}\n", "else { $$$B }").only(&["else_clause"]),
        context(Clause, "fn f() { if ", " {} }\n", "let Some($X) = $Y")
            .only(&["let_condition", "let_chain"]),
    ],
    dropped: &[Dropped {
        kinds: &["enum_variant", "function_type"],
        when: &["call_expression"],
    }],
    reserved: &[Reserved {
        kinds: &["field_identifier", "identifier", "type_identifier"],
        words: &[
            "as", "break", "const", "continue", "else", "enum", "extern", "fn", "for", "if",
            "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
            "static", "struct", "trait", "type", "unsafe", "use", "where", "while",
        ],
    }],
    fillers: &["@: T", "@ => {}", "@!();"],
    other_fillers: &[ELSE_BEHIND_BLOCK],
    slot_edges: &["where", ":", "=>", "->", "case", "default", "else"],
    refused_dollar_kinds: &["metavariable"],
    token_runs: &["token_tree", "token_tree_pattern"],
    whole_words: true,
    ..Language::new(
        "rust",
        compiled!(
            "lang-rust",
            tree_sitter_rust::LANGUAGE,
            tree_sitter_rust::NODE_TYPES
        ),
    )
};
