//! Go.

use crate::languages::Rung::{
    Argument, Arm, Clause, Declaration, Expression, Field, Import, Member, Pair, Parameter,
    Statement, Type,
};
use crate::languages::{Comments, Dropped, Language, Reserved, context};

pub(super) const GO: Language = Language {
    comments: Some(&Comments::C_LIKE),
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
