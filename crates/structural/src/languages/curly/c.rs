//! C, C++ and Objective-C.

use crate::languages::Rung::{
    Arm, Clause, Declaration, Decorator, Expression, Field, Member, Pair, Parameter, Statement,
    Type,
};
use crate::languages::{
    Comments, Dropped, ELSE_BEHIND_BLOCK, Language, OtherFiller, Reserved, context,
};

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

pub(super) const C: Language = Language {
    comments: Some(&Comments::C_LIKE),
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

pub(super) const CPP: Language = Language {
    comments: Some(&Comments::C_LIKE),
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

pub(super) const OBJC: Language = Language {
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
