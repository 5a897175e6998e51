//! C#.

use crate::languages::Rung::{
    Argument, Arm, Clause, Declaration, Decorator, Expression, Field, Member, Pair, Parameter,
    Pattern, Statement, Type,
};
use crate::languages::{Comments, Dropped, Language, Reserved, context};

pub(super) const C_SHARP: Language = Language {
    comments: Some(&Comments {
        other: &["/*", "#"],
        ..Comments::C_LIKE
    }),
    aliases: &["c#", "cs", "csharp"],
    extensions: &["cs", "csx"],
    shebangs: &["dotnet-script"],
    contexts: &[
        context(
            Statement,
            "class A { async Task F() {\n",
            "\n} }\n",
            "using var $X = $Y;",
        ),
        context(
            Statement,
            "class A { async Task F() {\n",
            ";\n} }\n",
            "await $X",
        ),
        context(
            Expression,
            "class A { void F() { x = ",
            "; } }\n",
            "Console.WriteLine($X)",
        ),
        context(Member, "class A {\n", "\n}\n", "public $T $N { get; set; }"),
        context(Member, "class A {\n", ";\n}\n", "private readonly $T $N")
            .only(&["event_field_declaration", "field_declaration"]),
        context(Member, "class A { int X {\n", "\n} }\n", "get => $X;")
            .only(&["accessor_declaration"]),
        context(Declaration, "", "\n", "public class $N : $B { $$$M }"),
        context(Declaration, "", ";\n", "record $N($$$P)").only(&[
            "delegate_declaration",
            "file_scoped_namespace_declaration",
            "record_declaration",
            "using_directive",
        ]),
        context(Field, "enum E { ", " }\n", "$N = 1").only(&["enum_member_declaration"]),
        context(
            Pair,
            "class A { void F() { x = new B { ",
            " }; } }\n",
            "Name = $V",
        )
        .only(&["assignment_expression"]),
        context(Argument, "class A { void F() { g(", "); } }\n", "name: $V").only(&["argument"]),
        context(
            Parameter,
            "class A { void F(",
            ") {} }\n",
            "CancellationToken $N = default",
        )
        .only(&["parameter", "params"]),
        context(
            Type,
            "class A { void F() { x = typeof(",
            "); } }\n",
            "List<$T>",
        ),
        context(Type, "class A { B<", "> x; }\n", "$T?"),
        context(
            Pattern,
            "class A { void F() { x = y is ",
            "; } }\n",
            "{ Length: > 0 }",
        )
        .only(&[
            "and_pattern",
            "declaration_pattern",
            "list_pattern",
            "negated_pattern",
            "or_pattern",
            "parenthesized_pattern",
            "recursive_pattern",
            "relational_pattern",
            "tuple_pattern",
            "type_pattern",
            "var_pattern",
        ]),
        context(
            Arm,
            "class A { void F() { switch (x) {\n",
            "\n} } }\n",
            "case $X: return $Y;",
        )
        .only(&["switch_section"]),
        context(
            Arm,
            "class A { void F() { x = y switch {\n",
            "\n}; } }\n",
            "$P => $V",
        )
        .only(&["switch_expression_arm"]),
        context(Decorator, "", "\nclass A {}\n", "[Serializable]").only(&["attribute_list"]),
        context(
            Clause,
            "class A { void F() { if (x) {} ",
            " } }\n",
            "else { $$$B }",
        )
        .only(&["else"]),
        context(
            Clause,
            "class A { void F() { try {} ",
            " } }\n",
            "catch ($E $N) { $$$B }",
        )
        .only(&["catch_clause", "finally_clause"]),
        context(Clause, "class A { A() ", " {} }\n", ": base($$$A)")
            .only(&["constructor_initializer"]),
        context(Clause, "class A<T> ", " {}\n", "where T : $B")
            .only(&["type_parameter_constraints_clause"]),
        context(Clause, "class A ", " {}\n", ": $B").only(&["base_list"]),
        context(
            Clause,
            "class A { void F() { x = from a in b ",
            " select a; } }\n",
            "where $C",
        )
        .only(&[
            "where_clause",
            "order_by_clause",
            "let_clause",
            "join_clause",
            "from_clause",
        ]),
    ],
    dropped: &[Dropped {
        kinds: &[
            "constructor_declaration",
            "field_declaration",
            "local_function_statement",
            "method_declaration",
            "parameter",
        ],
        when: &["invocation_expression"],
    }],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "abstract",
            "break",
            "case",
            "catch",
            "class",
            "const",
            "continue",
            "default",
            "do",
            "else",
            "enum",
            "event",
            "finally",
            "fixed",
            "for",
            "foreach",
            "goto",
            "if",
            "in",
            "interface",
            "internal",
            "is",
            "lock",
            "namespace",
            "new",
            "operator",
            "override",
            "private",
            "protected",
            "public",
            "readonly",
            "return",
            "sealed",
            "static",
            "struct",
            "switch",
            "throw",
            "try",
            "using",
            "virtual",
            "volatile",
            "while",
        ],
    }],
    fillers: &["@();", "int @;", "int @", "case @: break;", "@ => 0"],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    ..Language::new(
        "c-sharp",
        compiled!(
            "lang-c-sharp",
            tree_sitter_c_sharp::LANGUAGE,
            tree_sitter_c_sharp::NODE_TYPES
        ),
    )
};
