//! Languages with braces that compile: C, C++, C#, Dart, Go, Objective-C, Rust,
//! Solidity, Swift, Zig.

use super::Rung::{
    Argument, Arm, Clause, Declaration, Decorator, Expression, Field, Import, Member, Pair,
    Parameter, Pattern, Statement, Type,
};
use super::{Dropped, ELSE_BEHIND_BLOCK, Language, OtherFiller, Reserved, context};

pub(super) const LANGUAGES: &[Language] =
    &[C, C_SHARP, CPP, DART, GO, OBJC, RUST, SOLIDITY, SWIFT, ZIG];

/// The operand of `sizeof` is an expression or a type.
const TYPE_IN_SIZEOF: OtherFiller = OtherFiller {
    behind: "sizeof(",
    text: "struct @",
    is_meant: false,
};

/// What a constructor initialises: not the width of a field.
const INITIALISER: OtherFiller = OtherFiller {
    behind: ":",
    text: "@()",
    is_meant: false,
};

/// Declarators that are more than a name.
const C_DECLARATORS: &[&str] = &[
    "pointer_declarator",
    "reference_declarator",
    "array_declarator",
    "function_declarator",
];

const C: Language = Language {
    never_one: C_DECLARATORS,
    aliases: &["h"],
    extensions: &["c", "h"],
    shebangs: &["tcc"],
    contexts: &[
        context(
            Statement,
            "void f(void) {\n",
            "\n}\n",
            "free($X); $X = NULL;",
        ),
        context(Statement, "void f(void) {\n", ";\n}\n", "return $X"),
        context(Expression, "void f(void) { x = ", "; }\n", "$X->$Y"),
        context(Declaration, "", "\n", "int $F($$$A) { $$$B }"),
        context(Declaration, "", ";\n", "static const $T $N"),
        context(Field, "struct s {\n", "\n};\n", "unsigned $N : 3;").only(&["field_declaration"]),
        context(Field, "struct s {\n", ";\n};\n", "char *$N").only(&["field_declaration"]),
        context(Field, "enum e { ", " };\n", "$N = 1 << 2").only(&["enumerator"]),
        context(Pair, "struct s x = { ", " };\n", ".$F = $V").only(&["initializer_pair"]),
        context(Expression, "struct s x = ", ";\n", "{ $X, $Y }").only(&["initializer_list"]),
        context(Parameter, "void f(", ") {}\n", "const char *$N")
            .only(&["parameter_declaration", "variadic_parameter"]),
        context(Type, "int x = sizeof(", ");\n", "struct $S *").only(&["type_descriptor"]),
        context(
            Arm,
            "void f(void) { switch (x) {\n",
            "\n} }\n",
            "case $X: return $Y;",
        )
        .only(&["case_statement"]),
        context(Clause, "void f(void) { if (x) {} ", " }\n", "else { $$$B }")
            .only(&["else_clause"]),
        context(Expression, "#if ", "\n#endif\n", "defined($X)").only(&["preproc_defined"]),
        context(Clause, "#if 1\n", "\n#endif\n", "#else\nint x;").only(&[
            "preproc_else",
            "preproc_elif",
            "preproc_elifdef",
        ]),
    ],
    dropped: C_CALLS,
    reserved: &[Reserved {
        kinds: &["field_identifier", "identifier", "type_identifier"],
        words: &[
            "break", "case", "continue", "default", "do", "else", "for", "goto", "if", "return",
            "switch", "typedef", "while",
        ],
    }],
    fillers: &["int @;", "case @:"],
    other_fillers: &[TYPE_IN_SIZEOF, ELSE_BEHIND_BLOCK],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    ..Language::new(
        "c",
        compiled!("lang-c", tree_sitter_c::LANGUAGE, tree_sitter_c::NODE_TYPES),
    )
};

/// `f(x)` declares `x` of type `f`, or a function, in C's eyes, and `return x`
/// a variable of type `return` where the grammar expects no statement; people
/// mean the call and the statement.
const C_CALLS: &[Dropped] = &[Dropped {
    kinds: &[
        "declaration",
        "field_declaration",
        "function_definition",
        "macro_type_specifier",
        "parameter_declaration",
        "type_descriptor",
    ],
    when: &["call_expression"],
}];

/// As in C.
const CPP_CALLS: &[Dropped] = &[Dropped {
    kinds: &[
        "declaration",
        "field_declaration",
        "function_definition",
        "parameter_declaration",
        "type_descriptor",
    ],
    when: &["call_expression"],
}];

const CPP: Language = Language {
    never_one: C_DECLARATORS,
    aliases: &["c++", "cplusplus", "cxx"],
    extensions: &[
        "cc", "cpp", "cppm", "cu", "cuh", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ino",
        "ipp", "ixx", "tpp",
    ],
    contexts: &[
        context(Statement, "void f() {\n", "\n}\n", "$X.push_back($Y);"),
        context(Statement, "void f() {\n", ";\n}\n", "auto $X = $Y"),
        context(Expression, "void f() { x = ", "; }\n", "$X->$M($$$A)"),
        context(
            Member,
            "class A {\n",
            "\n};\n",
            "virtual void $F() override { $$$B }",
        ),
        context(Member, "class A {\n", ";\n};\n", "std::string_view $N"),
        context(Declaration, "", "\n", "template <typename $T> class $N {};"),
        context(Declaration, "", ";\n", "using $A = $T"),
        context(Field, "enum e { ", " };\n", "$N = 1 << 2").only(&["enumerator"]),
        context(Pair, "S x = { ", " };\n", ".$F = $V").only(&["initializer_pair"]),
        context(Expression, "S x = ", ";\n", "{ $X, $Y }").only(&["initializer_list"]),
        context(Parameter, "void f(", ") {}\n", "const std::string& $N").only(&[
            "parameter_declaration",
            "optional_parameter_declaration",
            "variadic_parameter_declaration",
        ]),
        context(Parameter, "template <", "> class A {};\n", "typename $T").only(&[
            "type_parameter_declaration",
            "variadic_type_parameter_declaration",
            "optional_type_parameter_declaration",
            "template_template_parameter_declaration",
        ]),
        context(Type, "A<", "> x;\n", "const $T*").only(&["type_descriptor"]),
        context(
            Arm,
            "void f() { switch (x) {\n",
            "\n} }\n",
            "case $X: return $Y;",
        )
        .only(&["case_statement"]),
        context(Clause, "void f() { if (x) {} ", " }\n", "else { $$$B }").only(&["else_clause"]),
        context(
            Clause,
            "void f() { try {} ",
            " }\n",
            "catch (const $E& $N) { $$$B }",
        )
        .only(&["catch_clause"]),
        context(Clause, "A::A() ", " {}\n", ": $M($V)").only(&["field_initializer_list"]),
        context(Clause, "class A ", " {};\n", ": public $B").only(&["base_class_clause"]),
        context(Decorator, "", " void f();\n", "[[nodiscard]]").only(&["attribute_declaration"]),
        context(Clause, "#if 1\n", "\n#endif\n", "#else\nint x;").only(&[
            "preproc_else",
            "preproc_elif",
            "preproc_elifdef",
        ]),
    ],
    dropped: CPP_CALLS,
    reserved: &[Reserved {
        kinds: &[
            "field_identifier",
            "identifier",
            "namespace_identifier",
            "type_identifier",
        ],
        words: &[
            "break",
            "case",
            "catch",
            "class",
            "co_await",
            "co_return",
            "co_yield",
            "continue",
            "default",
            "delete",
            "do",
            "else",
            "for",
            "goto",
            "if",
            "new",
            "operator",
            "return",
            "switch",
            "throw",
            "try",
            "typedef",
            "using",
            "while",
        ],
    }],
    fillers: &["@()", "int @;", "case @:"],
    other_fillers: &[TYPE_IN_SIZEOF, ELSE_BEHIND_BLOCK, INITIALISER],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    ..Language::new(
        "cpp",
        compiled!(
            "lang-cpp",
            tree_sitter_cpp::LANGUAGE,
            tree_sitter_cpp::NODE_TYPES
        ),
    )
};

const C_SHARP: Language = Language {
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

const DART: Language = Language {
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
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    ..Language::new(
        "dart",
        compiled!(
            "lang-dart",
            tree_sitter_dart::LANGUAGE,
            tree_sitter_dart::NODE_TYPES
        ),
    )
};

const GO: Language = Language {
    aliases: &["golang"],
    extensions: &["go"],
    shebangs: &["gorun"],
    contexts: &[
        context(
            Statement,
            "package p\nfunc f() {\n",
            "\n}\n",
            "$A, err := $F($$$X)",
        ),
        context(Expression, "package p\nvar x = ", "\n", "fmt.Println($X)"),
        context(
            Declaration,
            "package p\n",
            "\n",
            "func ($R $T) $N($$$A) error { $$$B }",
        ),
        context(Declaration, "", "\n", "package $P").only(&["package_clause"]),
        context(
            Member,
            "package p\ntype I interface {\n",
            "\n}\n",
            "$M(ctx context.Context) error",
        )
        .only(&["method_elem", "type_elem"]),
        context(
            Field,
            "package p\ntype S struct {\n",
            "\n}\n",
            "$N string `json:\"a\"`",
        )
        .only(&["field_declaration"]),
        context(Field, "package p\nconst (\n", "\n)\n", "$N = iota").only(&["const_spec"]),
        context(Field, "package p\nvar (\n", "\n)\n", "$N $T = $V").only(&["var_spec"]),
        context(Field, "package p\ntype (\n", "\n)\n", "$N struct { $$$F }")
            .only(&["type_spec", "type_alias"]),
        context(Pair, "package p\nvar x = T{", "}\n", "Name: $V").only(&["keyed_element"]),
        context(Argument, "package p\nvar x = f(", ")\n", "$X...").only(&["variadic_argument"]),
        context(
            Parameter,
            "package p\nfunc f(",
            ") {}\n",
            "ctx context.Context",
        )
        .only(&["parameter_declaration", "variadic_parameter_declaration"]),
        context(Parameter, "package p\nfunc f[", "](x int) {}\n", "$T any")
            .only(&["type_parameter_declaration"]),
        context(Type, "package p\ntype T []", "\n", "map[string]$T").only(&[
            "array_type",
            "channel_type",
            "function_type",
            "generic_type",
            "interface_type",
            "map_type",
            "parenthesized_type",
            "pointer_type",
            "qualified_type",
            "slice_type",
            "struct_type",
            "type_identifier",
        ]),
        context(
            Arm,
            "package p\nfunc f() { switch x {\n",
            "\n} }\n",
            "case $X: return $Y",
        )
        .only(&["expression_case", "default_case"]),
        context(
            Arm,
            "package p\nfunc f() { switch x := y.(type) {\n",
            "\n} }\n",
            "case *$T: $$$B",
        )
        .only(&["type_case"]),
        context(
            Arm,
            "package p\nfunc f() { select {\n",
            "\n} }\n",
            "case $X := <-$C: $$$B",
        )
        .only(&["communication_case"]),
        context(Import, "package p\nimport (\n", "\n)\n", "$N \"fmt\"").only(&["import_spec"]),
        context(
            Clause,
            "package p\nfunc f() { if x {} ",
            "\n}\n",
            "else { $$$B }",
        )
        .only(&["else"]),
        context(
            Clause,
            "package p\nfunc f() { for ",
            " {} }\n",
            "$K, $V := range $X",
        )
        .only(&["range_clause", "for_clause"]),
    ],
    dropped: &[Dropped {
        kinds: &[
            "type_conversion_expression",
            "field_declaration",
            "method_elem",
            "parameter_declaration",
            "type_parameter_declaration",
            "const_spec",
            "type_spec",
            "var_spec",
            "generic_type",
        ],
        when: &["call_expression"],
    }],
    reserved: &[Reserved {
        kinds: &["field_identifier", "identifier", "type_identifier"],
        words: &[
            "break",
            "case",
            "chan",
            "const",
            "continue",
            "default",
            "defer",
            "else",
            "fallthrough",
            "for",
            "func",
            "go",
            "goto",
            "if",
            "import",
            "interface",
            "map",
            "package",
            "range",
            "return",
            "select",
            "struct",
            "switch",
            "type",
            "var",
        ],
    }],
    fillers: &["@ int", "case @:", "@ int;", "@ \"x\"", "@ \"x\";"],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    text_kinds: &["rune_literal"],
    whole_words: true,
    ..Language::new(
        "go",
        compiled!(
            "lang-go",
            tree_sitter_go::LANGUAGE,
            tree_sitter_go::NODE_TYPES
        ),
    )
};

const OBJC: Language = Language {
    never_one: C_DECLARATORS,
    aliases: &["objective-c", "objectivec", "obj-c"],
    extensions: &["m", "mm"],
    contexts: &[
        context(Statement, "void f(void) {\n", "\n}\n", "[$X release];"),
        context(Statement, "void f(void) {\n", ";\n}\n", "return $X"),
        context(
            Expression,
            "void f(void) { x = ",
            "; }\n",
            "[$X setObject:$O forKey:$K]",
        ),
        context(
            Member,
            "@interface A\n",
            "\n@end\n",
            "- (void)$M:(NSString *)$A;",
        ),
        context(
            Member,
            "@interface A\n",
            ";\n@end\n",
            "@property (nonatomic) NSString *$N",
        ),
        context(
            Member,
            "@implementation A\n",
            "\n@end\n",
            "- (void)$M { $$$B }",
        ),
        context(Declaration, "", "\n", "#import \"a.h\""),
        context(Declaration, "", ";\n", "static $T $N"),
        context(Field, "struct s {\n", "\n};\n", "unsigned $N : 3;").only(&["field_declaration"]),
        context(Field, "enum e { ", " };\n", "$N = 1 << 2").only(&["enumerator"]),
        context(Pair, "struct s x = { ", " };\n", ".$F = $V").only(&["initializer_pair"]),
        context(Pair, "id x = @{ ", " };\n", "@\"a\": $V").only(&["dictionary_pair"]),
        context(Parameter, "void f(", ") {}\n", "const char *$N")
            .only(&["parameter_declaration", "variadic_parameter"]),
        context(Type, "int x = sizeof(", ");\n", "struct $S *").only(&["type_descriptor"]),
        context(
            Arm,
            "void f(void) { switch (x) {\n",
            "\n} }\n",
            "case $X: return $Y;",
        )
        .only(&["case_statement"]),
        context(Clause, "void f(void) { if (x) {} ", " }\n", "else { $$$B }")
            .only(&["else_clause"]),
        context(
            Clause,
            "void f(void) { @try {} ",
            " }\n",
            "@catch ($E *e) { $$$B }",
        )
        .only(&["catch_clause", "finally_clause"]),
    ],
    dropped: C_CALLS,
    reserved: &[Reserved {
        kinds: &["field_identifier", "identifier", "type_identifier"],
        words: &[
            "break", "case", "continue", "default", "do", "else", "for", "goto", "if", "return",
            "switch", "typedef", "while",
        ],
    }],
    fillers: &["int @;", "case @:"],
    other_fillers: &[TYPE_IN_SIZEOF, ELSE_BEHIND_BLOCK],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    ..Language::new(
        "objc",
        compiled!(
            "lang-objc",
            tree_sitter_objc::LANGUAGE,
            tree_sitter_objc::NODE_TYPES
        ),
    )
};

const RUST: Language = Language {
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

const SOLIDITY: Language = Language {
    holes: &[
        super::HoleForm::Upper,
        super::HoleForm::Lower,
        super::HoleForm::Quoted,
    ],
    aliases: &["sol"],
    extensions: &["sol"],
    contexts: &[
        context(
            Statement,
            "contract A { function f() public {\n",
            "\n} }\n",
            "require($A, $B);",
        ),
        context(
            Statement,
            "contract A { function f() public {\n",
            ";\n} }\n",
            "emit $E($$$A)",
        ),
        context(
            Expression,
            "contract A { function f() public { x = ",
            "; } }\n",
            "$X.transfer($A)",
        ),
        context(
            Member,
            "contract A {\n",
            "\n}\n",
            "function $F($$$A) public view returns ($T) { $$$B }",
        ),
        context(
            Member,
            "contract A {\n",
            ";\n}\n",
            "mapping(address => $T) public $N",
        ),
        context(Declaration, "", "\n", "contract $N is $B { $$$M }"),
        context(Declaration, "", ";\n", "pragma solidity ^0.8.0"),
        context(Field, "contract A { struct S {\n", "\n} }\n", "uint256 $N;")
            .only(&["struct_member"]),
        context(
            Parameter,
            "contract A { function f(",
            ") public {} }\n",
            "uint256 $N",
        )
        .only(&["parameter"]),
        context(
            Parameter,
            "contract A { event E(",
            "); }\n",
            "address indexed $N",
        )
        .only(&["event_parameter"]),
        context(Type, "contract A { ", " x; }\n", "mapping(address => $T)").only(&["type_name"]),
        context(
            Clause,
            "contract A { function f() public { if (x) {} ",
            " } }\n",
            "else { $$$B }",
        )
        .only(&["else"]),
        context(
            Clause,
            "contract A { function f() public { try a.b() {} ",
            " } }\n",
            "catch { $$$B }",
        )
        .only(&["catch_clause"]),
    ],
    dropped: &[Dropped {
        kinds: &["state_variable_declaration", "parameter"],
        when: &["call_expression"],
    }],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "break",
            "catch",
            "continue",
            "contract",
            "do",
            "else",
            "emit",
            "enum",
            "event",
            "for",
            "function",
            "if",
            "import",
            "interface",
            "library",
            "mapping",
            "modifier",
            "new",
            "pragma",
            "return",
            "struct",
            "try",
            "using",
            "while",
        ],
    }],
    fillers: &["int @;", "int @"],
    whole_words: true,
    ..Language::new(
        "solidity",
        compiled!(
            "lang-solidity",
            tree_sitter_solidity::LANGUAGE,
            tree_sitter_solidity::NODE_TYPES
        ),
    )
};

const SWIFT: Language = Language {
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

const ZIG: Language = Language {
    extensions: &["zig", "zon"],
    contexts: &[
        context(Statement, "fn f() void {\n", "\n}\n", "const $X = try $Y;"),
        context(Statement, "fn f() void {\n", ";\n}\n", "defer $X"),
        context(Expression, "fn f() void { x = ", "; }\n", "@import($X)"),
        context(Declaration, "", "\n", "pub fn $F($$$A) !void { $$$B }"),
        context(Field, "const S = struct {\n", "\n};\n", "$N: u32 = 0,").only(&["container_field"]),
        context(Field, "const S = struct { ", ", };\n", "$N: []const u8")
            .only(&["container_field"]),
        context(Pair, "const x = .{ ", " };\n", ".$F = $V").only(&["assignment_expression"]),
        context(Parameter, "fn f(", ") void {}\n", "comptime $T: type").only(&["parameter"]),
        context(Type, "var x: ", " = y;\n", "?*const $T"),
        context(Arm, "fn f() void { switch (x) {\n", "\n} }\n", ".$A => $B").only(&["switch_case"]),
        context(Clause, "fn f() void { if (x) {} ", " }\n", "else { $$$B }").only(&["else_clause"]),
    ],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "break",
            "catch",
            "const",
            "continue",
            "defer",
            "else",
            "enum",
            "errdefer",
            "export",
            "extern",
            "fn",
            "for",
            "if",
            "orelse",
            "pub",
            "return",
            "struct",
            "switch",
            "test",
            "try",
            "union",
            "unreachable",
            "usingnamespace",
            "var",
            "while",
        ],
    }],
    fillers: &["@: T", "@ => {}"],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    ..Language::new(
        "zig",
        compiled!(
            "lang-zig",
            tree_sitter_zig::LANGUAGE,
            tree_sitter_zig::NODE_TYPES
        ),
    )
};
