//! Languages of web pages: CSS, HTML, JavaScript, Svelte, TypeScript and TSX.

use super::HoleForm::{Lower, Quoted, Upper};
use super::Rung::{
    Argument, Arm, Attribute, Clause, Declaration, Decorator, Expression, Field, Import, Member,
    Pair, Parameter, Pattern, Statement, Type,
};
use super::{Comments, Dropped, ELSE_BEHIND_BLOCK, Language, Lexis, Reserved, context};

pub(super) const LANGUAGES: &[Language] = &[CSS, HTML, JAVASCRIPT, SVELTE, TSX, TYPESCRIPT];

const CSS: Language = Language {
    extensions: &["css", "pcss", "postcss"],
    contexts: &[
        context(Declaration, "", "\n", "$S { color: red; }"),
        context(Declaration, "", ";\n", "@import url($U)"),
        context(Statement, "a {\n", "\n}\n", "color: $C;"),
        context(Pair, "a {\n", ";\n}\n", "color: $C"),
        context(Pattern, "", " {}\n", ".$C > a:hover").only(&["selectors"]),
        context(Expression, "a { color: ", "; }\n", "rgba($$$A)").only(&[
            "binary_expression",
            "call_expression",
            "color_value",
            "float_value",
            "integer_value",
            "parenthesized_value",
            "plain_value",
            "string_value",
            "important",
        ]),
        context(Attribute, "@media ", " {}\n", "(max-width: $W)").only(&[
            "feature_query",
            "binary_query",
            "unary_query",
            "selector_query",
            "keyword_query",
            "parenthesized_query",
        ]),
        context(Arm, "@keyframes a {\n", "\n}\n", "from { $$$D }").only(&["keyframe_block"]),
    ],
    dropped: &[Dropped {
        kinds: &["selectors", "plain_value"],
        when: &["declaration"],
    }],
    fillers: &["@: x;", "@ {}", "from { @: x }"],
    ..Language::new(
        "css",
        compiled!(
            "lang-css",
            tree_sitter_css::LANGUAGE,
            tree_sitter_css::NODE_TYPES
        ),
    )
};

const HTML: Language = Language {
    aliases: &["xhtml"],
    extensions: &["html", "htm"],
    contexts: &[
        context(Declaration, "", "\n", "<div class=\"a\">$$$C</div>"),
        context(Expression, "<div>", "</div>\n", "<b>$X</b> $Y"),
        context(Attribute, "<div ", "></div>\n", "class=\"a\"").only(&["attribute"]),
    ],
    holes: &[Lower, Upper],
    ignores_case: true,
    ..Language::new(
        "html",
        compiled!(
            "lang-html",
            tree_sitter_html::LANGUAGE,
            tree_sitter_html::NODE_TYPES
        ),
    )
};

/// A `/` may begin a regular expression, a `<` an element with plain text in it.
const SCRIPT_COMMENTS: &Comments = &Comments {
    line: &["//"],
    other: &["/*", "<!--", "-->"],
    quotes: b"\"'`/<",
    plain_quotes: b"\"'",
    lexis: Lexis::Other,
};

const JAVASCRIPT: Language = Language {
    comments: Some(SCRIPT_COMMENTS),
    holes: &[Upper, Lower, Quoted],
    aliases: &["js", "jsx", "node", "nodejs", "ecmascript"],
    extensions: &["cjs", "es6", "js", "jsx", "mjs"],
    basenames: &["Jakefile"],
    shebangs: &["bun", "node", "nodejs"],
    contexts: &[
        context(
            Statement,
            "async function f() {\n",
            "\n}\n",
            "if ($C) return $X",
        ),
        context(Statement, "async function f() {\n", ";\n}\n", "$X = $Y"),
        context(Statement, "function* f() {\n", "\n}\n", "yield $X"),
        context(Expression, "x = ", ";\n", "{ a: $X }"),
        context(Declaration, "", "\n", "export default $X"),
        context(Member, "class A {\n", "\n}\n", "static $N = $V;"),
        context(Member, "class A {\n", ";\n}\n", "get $N() { return $V }"),
        context(Pair, "({ ", " })\n", "a: $V").only(&[
            "pair",
            "method_definition",
            "spread_element",
        ]),
        context(Argument, "f(", ")\n", "...$A").only(&["spread_element"]),
        context(Parameter, "function f(", ") {}\n", "$N = $V")
            .only(&["assignment_pattern", "rest_pattern"]),
        context(Pattern, "let ", " = x\n", "{ $A, ...$B }")
            .only(&["object_pattern", "array_pattern"]),
        context(Pattern, "let { ", " } = x\n", "$A: $B").only(&[
            "pair_pattern",
            "object_assignment_pattern",
            "rest_pattern",
        ]),
        context(Arm, "switch (x) {\n", "\n}\n", "case $X: return $Y;")
            .only(&["switch_case", "switch_default"]),
        context(Attribute, "<a ", " />\n", "onClick={$F}").only(&["jsx_attribute"]),
        context(Expression, "<a>", "</a>\n", "{$X}").only(&["jsx_expression"]),
        context(Decorator, "", "\nclass A {}\n", "@$D($$$A)").only(&["decorator"]),
        context(Import, "import { ", " } from 'x'\n", "$A as $B").only(&["import_specifier"]),
        context(Clause, "if (x) {} ", "\n", "else { $$$B }").only(&["else_clause"]),
        context(Clause, "try {} ", "\n", "catch ($E) { $$$B }")
            .only(&["catch_clause", "finally_clause"]),
        context(Clause, "class A ", " {}\n", "extends $B").only(&["class_heritage"]),
    ],
    reserved: &[
        Reserved {
            kinds: &["identifier"],
            words: &[
                "break",
                "case",
                "catch",
                "class",
                "const",
                "continue",
                "debugger",
                "default",
                "do",
                "else",
                "export",
                "extends",
                "finally",
                "for",
                "function",
                "if",
                "import",
                "in",
                "instanceof",
                "new",
                "return",
                "switch",
                "throw",
                "try",
                "var",
                "while",
                "with",
            ],
        },
        Reserved {
            kinds: &["property_identifier"],
            words: &["else", "for", "if", "return", "switch", "while"],
        },
    ],
    fillers: &["case @:"],
    other_fillers: &[ELSE_BEHIND_BLOCK],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    ..Language::new(
        "javascript",
        compiled!(
            "lang-javascript",
            tree_sitter_javascript::LANGUAGE,
            tree_sitter_javascript::NODE_TYPES
        ),
    )
};

/// `f(x)` reads as the head of a method, and `f(x) {}` as a method; people who
/// write a call mean the call.
const TS_CALLS: &[Dropped] = &[Dropped {
    kinds: &[
        "method_signature",
        "abstract_method_signature",
        "call_signature",
    ],
    when: &["call_expression"],
}];

/// The contexts that TypeScript and TSX share, and what follows them.
macro_rules! typescript_contexts {
    ($($more:expr),* $(,)?) => {
        &[
            context(Statement, "async function f() {\n", "\n}\n", "const $X: $T = $Y;"),
            context(Statement, "async function f() {\n", ";\n}\n", "$X = $Y"),
            context(Statement, "function* f() {\n", "\n}\n", "yield $X"),
            context(Expression, "x = ", ";\n", "{ a: $X }"),
            context(Declaration, "", "\n", "export interface $N { $$$M }"),
            context(Member, "class A {\n", "\n}\n", "private $N = $V;"),
            context(Member, "class A {\n", ";\n}\n", "@Input() $N: $T"),
            context(Member, "abstract class A {\n", ";\n}\n", "abstract $M($$$A): $T"),
            context(Member, "interface A {\n", "\n}\n", "readonly $N?: $T;"),
            context(Member, "type A = {", "}\n", "[key: string]: $T"),
            context(Field, "enum E { ", " }\n", "$N = 'a'").only(&["enum_assignment"]),
            context(Pair, "({ ", " })\n", "a: $V").only(&["pair", "method_definition", "spread_element"]),
            context(Argument, "f(", ")\n", "...$A").only(&["spread_element"]),
            context(Parameter, "function f(", ") {}\n", "$N: $T").only(&["required_parameter", "optional_parameter"]),
            context(Parameter, "class A { constructor(", ") {} }\n", "private readonly $N: $T").only(&["required_parameter", "optional_parameter"]),
            context(Parameter, "type A<", "> = 1\n", "$T extends $U").only(&["type_parameter"]),
            context(Clause, "interface A ", " {}\n", "extends $T").only(&["extends_type_clause"]),
            context(Type, "type A = ", "\n", "Array<$T> | null"),
            context(Pattern, "let ", " = x\n", "{ $A, ...$B }").only(&["object_pattern", "array_pattern"]),
            context(Pattern, "let { ", " } = x\n", "$A: $B").only(&["pair_pattern", "object_assignment_pattern", "rest_pattern"]),
            context(Arm, "switch (x) {\n", "\n}\n", "case $X: return $Y;").only(&["switch_case", "switch_default"]),
            context(Decorator, "", "\nclass A {}\n", "@$D($$$A)").only(&["decorator"]),
            context(Import, "import { ", " } from 'x'\n", "type $A").only(&["import_specifier"]),
            context(Clause, "if (x) {} ", "\n", "else { $$$B }").only(&["else_clause"]),
            context(Clause, "try {} ", "\n", "catch ($E) { $$$B }").only(&["catch_clause", "finally_clause"]),
            context(Clause, "class A ", " {}\n", "implements $I").only(&["class_heritage", "extends_clause", "implements_clause"]),
            $($more),*
        ]
    };
}

const TYPESCRIPT: Language = Language {
    comments: Some(SCRIPT_COMMENTS),
    holes: &[Upper, Lower, Quoted],
    aliases: &["ts"],
    extensions: &["cts", "mts", "ts"],
    shebangs: &["deno", "ts-node", "tsx"],
    contexts: typescript_contexts![],
    dropped: TS_CALLS,
    reserved: &[
        Reserved {
            kinds: &["identifier", "type_identifier"],
            words: &[
                "break",
                "case",
                "catch",
                "class",
                "const",
                "continue",
                "debugger",
                "default",
                "do",
                "else",
                "enum",
                "export",
                "extends",
                "finally",
                "for",
                "function",
                "if",
                "import",
                "in",
                "instanceof",
                "new",
                "return",
                "switch",
                "throw",
                "try",
                "var",
                "while",
                "with",
            ],
        },
        Reserved {
            kinds: &["property_identifier"],
            words: &["else", "for", "if", "return", "switch", "while"],
        },
    ],
    fillers: &["case @:"],
    other_fillers: &[ELSE_BEHIND_BLOCK],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    ..Language::new(
        "typescript",
        compiled!(
            "lang-typescript",
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            tree_sitter_typescript::TYPESCRIPT_NODE_TYPES
        ),
    )
};

const TSX: Language = Language {
    comments: Some(SCRIPT_COMMENTS),
    holes: &[Upper, Lower, Quoted],
    aliases: &["typescriptreact"],
    extensions: &["tsx"],
    contexts: typescript_contexts![
        context(Attribute, "<a ", " />\n", "onClick={$F}").only(&["jsx_attribute"]),
        context(Expression, "<a>", "</a>\n", "{$X}").only(&["jsx_expression"]),
    ],
    dropped: TS_CALLS,
    reserved: &[
        Reserved {
            kinds: &["identifier", "type_identifier"],
            words: &[
                "break",
                "case",
                "catch",
                "class",
                "const",
                "continue",
                "debugger",
                "default",
                "do",
                "else",
                "enum",
                "export",
                "extends",
                "finally",
                "for",
                "function",
                "if",
                "import",
                "in",
                "instanceof",
                "new",
                "return",
                "switch",
                "throw",
                "try",
                "var",
                "while",
                "with",
            ],
        },
        Reserved {
            kinds: &["property_identifier"],
            words: &["else", "for", "if", "return", "switch", "while"],
        },
    ],
    fillers: &["case @:"],
    other_fillers: &[ELSE_BEHIND_BLOCK],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    ..Language::new(
        "tsx",
        compiled!(
            "lang-tsx",
            tree_sitter_typescript::LANGUAGE_TSX,
            tree_sitter_typescript::TSX_NODE_TYPES
        ),
    )
};

const SVELTE: Language = Language {
    extensions: &["svelte"],
    contexts: &[
        context(Declaration, "", "\n", "<Button on:click={$F}>$$$C</Button>"),
        context(Expression, "<div>", "</div>\n", "{#if $C}<b />{/if}"),
        context(Attribute, "<div ", "></div>\n", "class=\"a\"").only(&["attribute"]),
        context(Clause, "{#if x}", "{/if}\n", "{:else}<b />").only(&[
            "else_block",
            "else_if_block",
            "then_block",
            "catch_block",
        ]),
    ],
    holes: &[Lower, Upper],
    ..Language::new(
        "svelte",
        compiled!(
            "lang-svelte",
            tree_sitter_svelte_ng::LANGUAGE,
            tree_sitter_svelte_ng::NODE_TYPES
        ),
    )
};
