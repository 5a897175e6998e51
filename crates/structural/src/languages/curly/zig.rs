//! Zig.

use crate::languages::Rung::{
    Arm, Clause, Declaration, Expression, Field, Pair, Parameter, Statement, Type,
};
use crate::languages::{Language, Reserved, context};

pub(super) const ZIG: Language = Language {
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
