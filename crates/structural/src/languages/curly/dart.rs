//! Dart.

use crate::languages::Rung::{
    Argument, Arm, Clause, Declaration, Decorator, Expression, Field, Member, Pair, Parameter,
    Pattern, Statement, Type,
};
use crate::languages::{Comments, Dropped, Language, OtherFiller, Reserved, context};

/// What an import names is a string.
const fn uri_behind(behind: &'static str) -> OtherFiller {
    OtherFiller {
        behind,
        text: "\"@\"",
        is_meant: true,
    }
}

pub(super) const DART: Language = Language {
    comments: Some(&Comments::C_LIKE),
    extensions: &["dart"],
    shebangs: &["dart"],
    contexts: &[
        context(Statement, "void f() async {\n", "\n}\n", "if ($C) return;"),
        context(
            Statement,
            "void f() async {\n",
            ";\n}\n",
            "if ($X != null) $X.dispose()",
        ),
        context(Statement, "f() sync* {\n", "\n}\n", "yield $X;"),
        context(
            Expression,
            "void f() async { var x = (",
            "); }\n",
            "await $F($$$A)",
        ),
        context(Member, "class A {\n", "\n}\n", "late final $T $N;"),
        context(Member, "class A {\n", ";\n}\n", "late final $T $N"),
        context(
            Declaration,
            "",
            "\n",
            "class $N extends StatelessWidget { $$$M }",
        ),
        context(Declaration, "", ";\n", "final $N = $V").only(&[
            "import_or_export",
            "part_directive",
            "top_level_variable_declaration",
            "type_alias",
        ]),
        context(Pair, "var x = {", "};\n", "'name': $V").only(&["map_element"]),
        context(Argument, "var x = g(", ");\n", "child: $C").only(&["named_argument"]),
        context(Expression, "var x = a", ";\n", "..$M($X)").only(&["cascade_section"]),
        context(Expression, "f() { ", " = x; }\n", "$X.$N").only(&["assignable_expression"]),
        context(Parameter, "class A<", "> {}\n", "$T extends $B").only(&["type_parameter"]),
        context(Field, "class A { static const ", "; }\n", "$N = $V")
            .only(&["static_final_declaration"]),
        context(Parameter, "void f(", ") {}\n", "$T $N").only(&["formal_parameter"]),
        context(Parameter, "void f({", "}) {}\n", "required $T $N")
            .only(&["formal_parameter", "required"]),
        context(Parameter, "class A { A({", "}); }\n", "required this.$N")
            .only(&["formal_parameter", "required"]),
        context(Type, "", " x;\n", "Map<String, $T>").only(&["type"]),
        context(
            Pattern,
            "void f() { switch (x) { case ",
            ": break; } }\n",
            "Point(x: $A)",
        )
        .only(&[
            "cast_pattern",
            "list_pattern",
            "map_pattern",
            "null_assert_pattern",
            "null_check_pattern",
            "object_pattern",
            "record_pattern",
            "variable_pattern",
        ]),
        context(
            Arm,
            "void f() { switch (x) {\n",
            "\n} }\n",
            "case $X: return $Y;",
        )
        .only(&["switch_statement_case", "switch_statement_default"]),
        context(Arm, "var x = switch (y) {\n", "\n};\n", "$P => $V")
            .only(&["switch_expression_case"]),
        context(Field, "enum E { ", ", zz }\n", "$N(1)").only(&["enum_entry"]),
        context(Field, "var x = [", "];\n", "if ($C) $X").only(&[
            "if_element",
            "for_element",
            "spread_element",
        ]),
        context(Decorator, "", "\nclass A {}\n", "@immutable").only(&["annotation"]),
        context(Clause, "void f() { if (x) {} ", " }\n", "else { $$$B }").only(&["else"]),
        context(
            Clause,
            "void f() { try {} ",
            " }\n",
            "on $E catch (e) { $$$B }",
        )
        .only(&["on", "catch_clause", "finally_clause"]),
        context(Clause, "class A ", " {}\n", "extends $B").only(&[
            "superclass",
            "interfaces",
            "mixins",
        ]),
        context(Clause, "class A { A() : ", "; }\n", "super($$$A)")
            .only(&["initializer_list_entry"]),
    ],
    dropped: &[Dropped {
        kinds: &[
            "function_signature",
            "method_signature",
            "external_function_declaration",
            "function_declaration",
            "declaration",
            "member_declaration",
            "constructor_signature",
            "formal_parameter",
        ],
        when: &[
            "await_expression",
            "call_expression",
            "do_statement",
            "for_statement",
            "if_statement",
            "new_expression",
            "return_statement",
            "switch_statement",
            "throw_expression",
            "try_statement",
            "while_statement",
            "yield_statement",
        ],
    }],
    reserved: &[
        Reserved {
            kinds: &["identifier", "type_identifier"],
            words: &[
                "assert", "break", "case", "catch", "class", "const", "continue", "default", "do",
                "else", "enum", "extends", "final", "finally", "for", "if", "in", "is", "new",
                "rethrow", "return", "super", "switch", "this", "throw", "try", "var", "while",
                "with",
            ],
        },
        Reserved {
            kinds: &["type_identifier"],
            words: &[
                "abstract",
                "await",
                "covariant",
                "export",
                "extension",
                "external",
                "factory",
                "get",
                "implements",
                "import",
                "late",
                "library",
                "mixin",
                "operator",
                "part",
                "required",
                "set",
                "static",
                "typedef",
                "yield",
            ],
        },
    ],
    fillers: &["int @;", "int @", "case @: break;", "@ => 0"],
    other_fillers: &[
        uri_behind("import"),
        uri_behind("export"),
        uri_behind("part"),
        uri_behind("part of"),
    ],
    slot_edges: &[
        ":", "=>", "->", "case", "default", "else", "import", "export", "part", "part of", "as",
        "deferred", "show", "hide",
    ],
    whole_words: true,
    names_in_texts: true,
    ..Language::new(
        "dart",
        compiled!(
            "lang-dart",
            tree_sitter_dart::LANGUAGE,
            tree_sitter_dart::NODE_TYPES
        ),
    )
};
