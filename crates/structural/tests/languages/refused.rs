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
    unfinished_bash_is_refused: "lang-bash", "bash", ["if $C; then", "x) + (y", "}"];
    unfinished_cmake_is_refused: "lang-cmake", "cmake", ["set(", "if($C)"];
    unfinished_dockerfile_is_refused: "lang-dockerfile", "dockerfile", ["FROM", "FOO bar"];
    unfinished_elixir_is_refused: "lang-elixir", "elixir", ["defmodule $M do", "fn $X ->"];
    unfinished_erlang_is_refused: "lang-erlang", "erlang", ["case $X of", "end"];
    unfinished_fsharp_is_refused: "lang-fsharp", "fsharp", ["let $X ="];
    unfinished_gleam_is_refused: "lang-gleam", "gleam", ["case $X {", "let $X ="];
    unfinished_graphql_is_refused: "lang-graphql", "graphql", ["type $T {", "}"];
    unfinished_haskell_is_refused: "lang-haskell", "haskell", ["import", "if $C then"];
    unfinished_hcl_is_refused: "lang-hcl", "hcl", ["resource $T {", "a ="];
    unfinished_json_is_refused: "lang-json", "json", ["{\"a\":", "\"a\":"];
    unfinished_julia_is_refused: "lang-julia", "julia", ["if $C", "function $F($$$A)"];
    unfinished_lua_is_refused: "lang-lua", "lua", ["if $C then", "print(", "end"];
    unfinished_make_is_refused: "lang-make", "make", ["ifdef X"];
    unfinished_nix_is_refused: "lang-nix", "nix", ["{ a = $V", "let $A = $B"];
    unfinished_ocaml_is_refused: "lang-ocaml", "ocaml", ["let $X =", "match $X with"];
    unfinished_php_is_refused: "lang-php", "php", ["class $A", "function $F($$$A)", "if ($C)", "$X->", "} class B {", "}"];
    unfinished_powershell_is_refused: "lang-powershell", "powershell", ["if ($C)", "}"];
    unfinished_proto_is_refused: "lang-proto", "proto", ["message $M", "string $N"];
    unfinished_python_is_refused: "lang-python", "python", ["class $A", "def f($$$A)", "def $F($$$A):", "if $C:", "except $E:", "x) + (y"];
    unfinished_r_is_refused: "lang-r", "r", ["if ($C)", "f("];
    unfinished_ruby_is_refused: "lang-ruby", "ruby", ["class $A", "def $F($$$A)", "@$X", "rescue $E)"];
    unfinished_sql_is_refused: "lang-sql", "sql", ["SELECT", "x) (y"];
    unfinished_toml_is_refused: "lang-toml", "toml", ["[a", "a ="];
    unfinished_xml_is_refused: "lang-xml", "xml", ["<a>", "<a"];
    unfinished_yaml_is_refused: "lang-yaml", "yaml", ["{ a: "];
}
