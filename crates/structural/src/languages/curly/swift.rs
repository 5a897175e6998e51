//! Swift.

use crate::languages::Rung::{
    Argument, Arm, Clause, Declaration, Decorator, Expression, Field, Member, Pair, Parameter,
    Pattern, Statement, Type,
};
use crate::languages::{Dropped, Language, Reserved, context};

pub(super) const SWIFT: Language = Language {
    extensions: &["swift", "swiftinterface"],
    shebangs: &["swift"],
    contexts: &[
        context(
            Statement,
            "func f() async throws {\n",
            "\n}\n",
            "guard let $A = $B else { return }",
        ),
        context(Expression, "func f() { let x = ", "\n}\n", "try await $X"),
        context(Member, "class A {\n", "\n}\n", "private let $N: $T"),
        context(Member, "protocol P {\n", "\n}\n", "var $N: $T { get }").only(&[
            "protocol_property_declaration",
            "protocol_function_declaration",
            "associatedtype_declaration",
        ]),
        context(Member, "class A { var x: Int {\n", "\n} }\n", "get { $X }").only(&[
            "computed_getter",
            "computed_setter",
            "computed_modify",
            "willset_didset_block",
            "willset_clause",
            "didset_clause",
        ]),
        context(Declaration, "", "\n", "extension $T: $P { $$$M }"),
        context(Field, "enum E {\n", "\n}\n", "case $N(Int)").only(&["enum_entry"]),
        context(Pair, "let x = [", "]\n", "\"a\": $V"),
        context(Argument, "let x = g(", ")\n", "name: $V").only(&["value_argument"]),
        context(Parameter, "func f(", ") {}\n", "_ $N: $T").only(&["parameter"]),
        context(Type, "let x: ", "\n", "[String: $T]"),
        context(
            Pattern,
            "func f() { switch x { case ",
            ": break } }\n",
            ".some(let $X)",
        )
        .only(&["switch_pattern", "pattern"]),
        context(
            Arm,
            "func f() { switch x {\n",
            "\n} }\n",
            "case .$A: return $X",
        )
        .only(&["switch_entry"]),
        context(Decorator, "", "\nclass A {}\n", "@objc").only(&["attribute"]),
        context(Clause, "func f() { if x {} ", "\n}\n", "else { $$$B }").only(&["else"]),
        context(Clause, "func f() { do {} ", "\n}\n", "catch $E { $$$B }").only(&["catch_block"]),
        context(Clause, "func f<T>() ", " {}\n", "where T: $P").only(&["type_constraints"]),
        context(Clause, "func f() { if ", " {} }\n", "let $A = $B")
            .only(&["value_binding_pattern"]),
    ],
    dropped: &[Dropped {
        kinds: &["protocol_function_declaration"],
        when: &["function_declaration"],
    }],
    reserved: &[Reserved {
        kinds: &["simple_identifier", "type_identifier"],
        words: &[
            "associatedtype",
            "break",
            "case",
            "catch",
            "class",
            "continue",
            "default",
            "deinit",
            "do",
            "else",
            "enum",
            "extension",
            "fallthrough",
            "for",
            "func",
            "guard",
            "if",
            "import",
            "in",
            "init",
            "internal",
            "is",
            "let",
            "operator",
            "private",
            "protocol",
            "public",
            "repeat",
            "return",
            "static",
            "struct",
            "subscript",
            "switch",
            "throw",
            "throws",
            "typealias",
            "var",
            "where",
            "while",
        ],
    }],
    fillers: &[
        "var @: Int",
        "var @: Int { get }",
        "@: Int",
        "case @: break",
    ],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    text_kinds: &["line_str_text", "multi_line_str_text", "raw_str_part"],
    whole_words: true,
    ..Language::new(
        "swift",
        compiled!(
            "lang-swift",
            tree_sitter_swift::LANGUAGE,
            tree_sitter_swift::NODE_TYPES
        ),
    )
};
