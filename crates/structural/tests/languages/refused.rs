//! Fragments that no context may accept.

use super::assert_refused;

/// One test a language, so that each needs only its own grammar.
macro_rules! refused {
    ($($test:ident: $feature:literal, $language:literal, [$($fragment:literal),* $(,)?];)*) => {$(
        #[cfg(feature = $feature)]
        #[test]
        fn $test() {
            for fragment in [$($fragment),*] {
                assert_refused($language, fragment);
            }
        }
    )*};
}

refused! {
    unfinished_c_is_refused: "lang-c", "c", ["if ($C)", "int $F($$$A) {", "while", "struct {", "$X +", "case $X", "}"];
    unfinished_cpp_is_refused: "lang-cpp", "cpp", ["if ($C)", "class $N {", "template <typename $T>", "$X->", "catch", "}"];
    unfinished_c_sharp_is_refused: "lang-c-sharp", "c-sharp", ["class $N", "if ($C)", "public $T $N {", "$X.", "}"];
    unfinished_dart_is_refused: "lang-dart", "dart", ["class $N", "if ($C)", "$X ==", "void f() {", "}"];
    unfinished_go_is_refused: "lang-go", "go", ["if $C", "func $F(", "for $I :=", "$X.", "}"];
    unfinished_rust_is_refused: "lang-rust", "rust", ["fn $F($$$A)", "struct $S", "if $C", "match $X", "let $X =", "}"];
    unfinished_swift_is_refused: "lang-swift", "swift", ["if let $A = $B", "guard let $A = $B else", "class $N", "}"];
    unfinished_javascript_is_refused: "lang-javascript", "javascript", ["class $N", "function $F($$$A)", "if ($C)", "$X =>", "import $A from", "}"];
    unfinished_typescript_is_refused: "lang-typescript", "typescript", ["class $N", "interface $N", "if ($C)", "$X =>", "const $X: =", "}"];
    unfinished_tsx_is_refused: "lang-tsx", "tsx", ["<Foo a={$A}", "<Foo>$X", "}"];
    unfinished_java_is_refused: "lang-java", "java", ["class $N", "if ($C)", "public void $M() {", "new $T", "}"];
    unfinished_kotlin_is_refused: "lang-kotlin", "kotlin", ["fun $F(", "$X ?:", "val", "}"];
    unfinished_scala_is_refused: "lang-scala", "scala", ["def $F(", "$X match", "}"];
    unfinished_css_is_refused: "lang-css", "css", ["$S {", "}"];
}
