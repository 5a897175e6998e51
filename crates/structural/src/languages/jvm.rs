//! Languages of the Java virtual machine: Groovy, Java, Kotlin, Scala.

use super::Rung::{
    Argument, Arm, Clause, Declaration, Decorator, Expression, Field, Member, Pair, Parameter,
    Pattern, Statement, Type,
};
use super::{Dropped, Language, Reserved, context};

pub(super) const LANGUAGES: &[Language] = &[GROOVY, JAVA, KOTLIN, SCALA];

const GROOVY: Language = Language {
    aliases: &["gradle"],
    extensions: &["groovy", "gradle", "gvy", "gy", "gsh"],
    basenames: &["Jenkinsfile"],
    shebangs: &["groovy"],
    contexts: &[
        context(Statement, "", "\n", "def $X = $Y"),
        context(Statement, "void f() {\n", "\n}\n", "if ($C) { $$$B }"),
        context(Expression, "x = ", "\n", "$X.collect { $$$B }"),
        context(Member, "class A {\n", ";\n}\n", "private $T $N = $V"),
        context(Pair, "x = [", "]\n", "a: $V").only(&["map_item"]),
        context(Argument, "f(", ")\n", "name: $V").only(&["map_item"]),
        context(Parameter, "void f(", ") {}\n", "$T $N")
            .only(&["formal_parameter", "spread_parameter"]),
        context(Arm, "switch (x) {\n", "\n}\n", "case $X: return $Y")
            .only(&["switch_block_statement_group", "switch_rule"]),
        context(Decorator, "", "\nclass A {}\n", "@CompileStatic").only(&["modifiers"]),
        context(Clause, "if (x) {} ", "\n", "else { $$$B }").only(&["else"]),
        context(Clause, "try {} ", "\n", "catch ($E e) { $$$B }")
            .only(&["catch_clause", "finally_clause"]),
    ],
    reserved: &[Reserved {
        kinds: &["identifier", "type_identifier"],
        words: &[
            "abstract",
            "assert",
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
            "extends",
            "final",
            "finally",
            "for",
            "goto",
            "if",
            "implements",
            "import",
            "instanceof",
            "interface",
            "new",
            "package",
            "private",
            "protected",
            "public",
            "return",
            "static",
            "strictfp",
            "switch",
            "synchronized",
            "throw",
            "throws",
            "transient",
            "try",
            "volatile",
            "while",
        ],
    }],
    fillers: &["int @;", "int @", "case @:"],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    names_in_texts: true,
    ..Language::new(
        "groovy",
        compiled!(
            "lang-groovy",
            tree_sitter_groovy::LANGUAGE,
            tree_sitter_groovy::NODE_TYPES
        ),
    )
};

const JAVA: Language = Language {
    extensions: &["java", "jav", "jsh"],
    shebangs: &["java", "jbang"],
    contexts: &[
        context(
            Statement,
            "class A { void f() {\n",
            "\n} }\n",
            "$T $N = $V;",
        ),
        context(Statement, "class A { void f() {\n", ";\n} }\n", "return $X"),
        context(
            Expression,
            "class A { Object x = (",
            "); }\n",
            "$O.equals($X)",
        ),
        context(
            Member,
            "class A {\n",
            "\n}\n",
            "@Test public void $M() { $$$B }",
        ),
        context(Member, "class A {\n", ";\n}\n", "private final $T $N"),
        context(
            Member,
            "interface A {\n",
            "\n}\n",
            "default $T $M($$$A) { $$$B }",
        ),
        context(
            Member,
            "@interface A {\n",
            "\n}\n",
            "String $N() default \"\";",
        )
        .only(&["annotation_type_element_declaration"]),
        context(Declaration, "", "\n", "public class $N extends $B { $$$M }"),
        context(Field, "enum E { ", " }\n", "$N(1)").only(&["enum_constant"]),
        context(Pair, "@A(", ") class B {}\n", "name = $V").only(&["element_value_pair"]),
        context(Parameter, "class A { void f(", ") {} }\n", "final $T $N").only(&[
            "formal_parameter",
            "spread_parameter",
            "receiver_parameter",
        ]),
        context(Parameter, "class A<", "> {}\n", "$T extends Comparable<$T>")
            .only(&["type_parameter"]),
        context(Type, "class A { ", " x; }\n", "Map<String, $T>"),
        context(
            Pattern,
            "class A { void f() { switch (x) { case ",
            " -> {} } } }\n",
            "Point($T $N)",
        )
        .only(&["record_pattern", "type_pattern"]),
        context(
            Arm,
            "class A { void f() { switch (x) {\n",
            "\n} } }\n",
            "case $X: return $Y;",
        )
        .only(&["switch_block_statement_group"]),
        context(
            Arm,
            "class A { Object x = switch (y) {\n",
            "\n}; }\n",
            "case $X -> $Y;",
        )
        .only(&["switch_rule"]),
        context(Decorator, "", "\nclass A {}\n", "@Autowired").only(&["modifiers"]),
        context(
            Clause,
            "class A { void f() { if (x) {} ",
            " } }\n",
            "else { $$$B }",
        )
        .only(&["else"]),
        context(
            Clause,
            "class A { void f() { try {} ",
            " } }\n",
            "catch ($E $N) { $$$B }",
        )
        .only(&["catch_clause", "finally_clause"]),
        context(Clause, "class A ", " {}\n", "implements $I").only(&[
            "super_interfaces",
            "superclass",
            "permits",
        ]),
        context(Clause, "class A { void f() ", " {} }\n", "throws $E").only(&["throws"]),
        context(Expression, "class A { int[] x = ", "; }\n", "{ $X, $Y }")
            .only(&["array_initializer"]),
        context(Type, "class A { B<", "> x; }\n", "? extends $T").only(&["wildcard"]),
    ],
    dropped: &[Dropped {
        kinds: &[
            "enum_constant",
            "method_declaration",
            "constructor_declaration",
            "compact_constructor_declaration",
        ],
        when: &["method_invocation"],
    }],
    reserved: &[Reserved {
        kinds: &["identifier", "type_identifier"],
        words: &[
            "abstract",
            "assert",
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
            "extends",
            "final",
            "finally",
            "for",
            "goto",
            "if",
            "implements",
            "import",
            "instanceof",
            "interface",
            "native",
            "new",
            "package",
            "private",
            "protected",
            "public",
            "return",
            "static",
            "strictfp",
            "switch",
            "synchronized",
            "throw",
            "throws",
            "transient",
            "try",
            "volatile",
            "while",
        ],
    }],
    fillers: &["int @;", "int @", "case @:", "case @ -> {}"],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    ..Language::new(
        "java",
        compiled!(
            "lang-java",
            tree_sitter_java::LANGUAGE,
            tree_sitter_java::NODE_TYPES
        ),
    )
};

const KOTLIN: Language = Language {
    aliases: &["kt", "kts"],
    extensions: &["kt", "kts"],
    shebangs: &["kotlin", "kscript"],
    contexts: &[
        context(Statement, "fun f() {\n", "\n}\n", "val $X = $Y"),
        context(Expression, "val x = ", "\n", "$X?.let { $$$B }"),
        context(
            Member,
            "class A {\n",
            "\n}\n",
            "override fun $F($$$A): $T = $B",
        ),
        context(Member, "class A { var x: Int\n", "\n}\n", "get() = $X")
            .only(&["getter", "setter"]),
        context(Declaration, "", "\n", "data class $N($$$P)"),
        context(Field, "enum class E { ", " }\n", "$N(1)").only(&["enum_entry"]),
        context(Argument, "val x = g(", ")\n", "name = $V").only(&["value_argument"]),
        context(Parameter, "fun f(", ") {}\n", "$N: $T").only(&["parameter"]),
        context(Parameter, "class A(", ")\n", "private val $N: $T").only(&["class_parameter"]),
        context(Parameter, "val x = g { ", " -> 0 }\n", "($A, $B)").only(&["lambda_parameters"]),
        context(Parameter, "fun <", "> f() {}\n", "reified $T : Any").only(&["type_parameter"]),
        context(Type, "val x: ", "\n", "List<$T>?"),
        context(Arm, "fun f() { when (x) {\n", "\n} }\n", "is $T -> $X").only(&["when_entry"]),
        context(Decorator, "", "\nclass A\n", "@Deprecated($M)").only(&["modifiers"]),
        context(Clause, "fun f() { if (x) {} ", "\n}\n", "else { $$$B }").only(&["else"]),
        context(
            Clause,
            "fun f() { try {} ",
            "\n}\n",
            "catch (e: $E) { $$$B }",
        )
        .only(&["catch_block", "finally_block"]),
        context(Clause, "class A : ", "\n", "$B()").only(&["delegation_specifier"]),
    ],
    dropped: &[Dropped {
        kinds: &[
            "enum_entry",
            "constructor_invocation",
            "delegation_specifier",
        ],
        when: &["call_expression"],
    }],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "as",
            "break",
            "class",
            "continue",
            "do",
            "else",
            "for",
            "fun",
            "if",
            "in",
            "interface",
            "is",
            "object",
            "package",
            "return",
            "throw",
            "try",
            "typealias",
            "val",
            "var",
            "when",
            "while",
        ],
    }],
    fillers: &["var @: Int", "var @: Int;", "@: Int", "@ -> 0"],
    whole_words: true,
    names_in_texts: true,
    ..Language::new(
        "kotlin",
        compiled!(
            "lang-kotlin",
            tree_sitter_kotlin_ng::LANGUAGE,
            tree_sitter_kotlin_ng::NODE_TYPES
        ),
    )
};

const SCALA: Language = Language {
    extensions: &["scala", "sbt", "sc"],
    shebangs: &["scala", "scala-cli", "amm"],
    contexts: &[
        context(
            Statement,
            "object A { def f() = {\n",
            "\n} }\n",
            "val $X = $Y",
        ),
        context(Expression, "object A { val x = ", "\n}\n", "$X.map($F)"),
        context(Member, "class A {\n", "\n}\n", "def $F($$$A): $T = $B"),
        context(Declaration, "", "\n", "case class $N($$$P)"),
        context(Field, "enum E {\n", "\n}\n", "case $N(x: Int)").only(&["enum_case_definitions"]),
        context(Argument, "object A { val x = g(", ") }\n", "name = $V"),
        context(Parameter, "class A { def f(", ") = 0 }\n", "$N: $T").only(&["parameter"]),
        context(Parameter, "class A(", ")\n", "val $N: $T").only(&["class_parameter"]),
        context(Parameter, "class A[", "]\n", "$T <: $U"),
        context(Type, "object A { val x: ", " = y }\n", "Option[$T]"),
        context(
            Pattern,
            "object A { x match { case ",
            " => 0 } }\n",
            "Some($X)",
        )
        .only(&[
            "alternative_pattern",
            "capture_pattern",
            "case_class_pattern",
            "infix_pattern",
            "tuple_pattern",
            "typed_pattern",
        ]),
        context(
            Arm,
            "object A { x match {\n",
            "\n} }\n",
            "case Some($X) => $Y",
        )
        .only(&["case_clause"]),
        context(Clause, "object A { for { ", " } yield 0 }\n", "$X <- $Y").only(&["enumerator"]),
        context(Decorator, "", "\nclass A\n", "@tailrec").only(&["annotation"]),
        context(Clause, "object A { if (x) {} ", "\n}\n", "else { $$$B }").only(&["else"]),
        context(Clause, "object A { try {} ", "\n}\n", "catch { $$$B }")
            .only(&["catch_clause", "finally_clause"]),
        context(Clause, "class A ", "\n", "extends $B").only(&["extends_clause", "derives_clause"]),
    ],
    reserved: &[Reserved {
        kinds: &["identifier", "type_identifier"],
        words: &[
            "abstract",
            "case",
            "catch",
            "class",
            "def",
            "do",
            "else",
            "extends",
            "final",
            "finally",
            "for",
            "if",
            "implicit",
            "import",
            "lazy",
            "match",
            "new",
            "object",
            "override",
            "package",
            "private",
            "protected",
            "return",
            "sealed",
            "throw",
            "trait",
            "try",
            "val",
            "var",
            "while",
            "with",
            "yield",
        ],
    }],
    fillers: &["@: Int", "case @ => 0", "@ <- 0"],
    slot_edges: &[":", "=>", "->", "case", "default", "else"],
    whole_words: true,
    names_in_texts: true,
    ..Language::new(
        "scala",
        compiled!(
            "lang-scala",
            tree_sitter_scala::LANGUAGE,
            tree_sitter_scala::NODE_TYPES
        ),
    )
};
