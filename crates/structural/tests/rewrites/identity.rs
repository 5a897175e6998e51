//! A template that is its pattern changes no byte.

use super::check_identity;

#[test]
fn nothing_changes_in_any_language() {
    for (language, pattern, source, matches) in [
        (
            "bash",
            "if $C; then $$$B; fi",
            "if a\nthen\n\tb   # why\n\tc\nfi\n",
            1,
        ),
        ("bash", "echo \\$HOME", "echo   $HOME\n", 1),
        (
            "c",
            "if ($C) { $$$B }",
            "void f() { if(a){b();\n\n /* x */ c();} }\n",
            1,
        ),
        ("c", "return $X;", "int f() { return  1 ; }\n", 1),
        (
            "c",
            "f($A, $$$B)",
            "int x = f( 1 ,2, 3 );\nint y = f(1);\n",
            2,
        ),
        (
            "cpp",
            "for (auto& $X : $Y) { $$$B }",
            "void f() { for ( auto & a : b ) { c(); } }\n",
            1,
        ),
        (
            "c-sharp",
            "public $T $N { get; set; }",
            "class A { public  int X {\n get; set; } }\n",
            1,
        ),
        ("css", "color: $C", "a { color : red ; }\n", 1),
        (
            "dart",
            "if ($X != null) $X.dispose();",
            "void f() { if (a!=null)\n  a . dispose( ) ; }\n",
            1,
        ),
        (
            "dart",
            "final $T $N;",
            "class A {\n  final  int a ;\n}\n",
            1,
        ),
        (
            "go",
            "if err != nil { return $$$R }",
            "package p\nfunc f() {\n\tif err != nil {\n\t\treturn 1, err // x\n\t}\n}\n",
            1,
        ),
        (
            "java",
            "try { $$$A } catch ($E $N) { $$$B }",
            "class A { void f() { try {\n a();\n} catch (E e) { } } }\n",
            1,
        ),
        ("javascript", "f($$$A)", "f( 1,\n  2, // two\n);\nf()\n", 2),
        ("javascript", "foo($A);", "foo(1)\nfoo(2);\n", 2),
        (
            "javascript",
            "const { $$$P } = $X",
            "const {a, b,} = c;\n",
            1,
        ),
        ("javascript", "`a ${$X} b`", "x = `a ${ y } b`;\n", 1),
        ("json", "\"a\": $V", "{ \"a\" :  [1,\n 2], \"b\": 1 }\n", 1),
        (
            "kotlin",
            "fun $F($$$A) { $$$B }",
            "fun f( a: Int ) {\n  g()\n}\n",
            1,
        ),
        (
            "lua",
            "function $F($$$A) $$$B end",
            "function f(a,b)\n\tg()\n\n\th()\nend\n",
            1,
        ),
        (
            "php",
            "foreach ($A as $B) { $$$C }",
            "<?php\nforeach ($a  as $b) {\n\tc();\n}\n",
            1,
        ),
        (
            "python",
            "def $M($$$A):\n    $$$B",
            "class A:\n\tdef f(self, *a):\n\t\t'''x\n  y'''\n\n\t\tb()  # z\n\n\tdef g(): return 1\n",
            2,
        ),
        ("python", "f($A, $B,)", "f(1, 2)\nf(1, 2,)\nf(1,2 , )\n", 3),
        (
            "python",
            "f($$$A, $B)",
            "f(1)\nf(1,\n  # c\n  2)\nf(1,)\n",
            3,
        ),
        (
            "ruby",
            "if $C\n  $$$B\nend",
            "if a then b end\nif c\n  d\n\n  e\nend\n",
            2,
        ),
        (
            "rust",
            "match $X { $$$A }",
            "fn f() { match  a { B => c, // d\n  E => f } }\n",
            1,
        ),
        (
            "rust",
            "fn $F($$$A) -> $R { $$$B }",
            "/// x\nfn f( a: u8, ) ->  u8 {\n\n    a\n}\n",
            1,
        ),
        (
            "rust",
            "println!(\"{}\", $X)",
            "fn f() { println!( \"{}\",  a.b ); }\n",
            1,
        ),
        (
            "scala",
            "def $F($$$A) = $B",
            "object A { def f(a: Int) =  a + 1 }\n",
            1,
        ),
        ("sql", "SELECT $A FROM $B", "select  a from b;\n", 1),
        (
            "swift",
            "guard let $X = $Y else { $$$B }",
            "func f() { guard let a = b  else {\n  return } }\n",
            1,
        ),
        ("toml", "a = $X", "a   = [ 1,\n 2 ]\n", 1),
        (
            "tsx",
            "<$T $$$A>$$$C</$T>",
            "x = <a  b={1}\n>\n  c {d}\n</a>;\n",
            1,
        ),
        (
            "typescript",
            "function $F($$$A): $R { $$$B }",
            "export function f( a?: string ,): void {\n  a\n}\n",
            1,
        ),
        ("yaml", "a: $X", "a:   b\nc: d\n", 1),
        ("zig", "const $A = $B;", "const a =  b ;\n", 1),
        ("haskell", "f $X = $Y", "f a =  b\n", 1),
        (
            "elixir",
            "def $F($$$A) do $$$B end",
            "defmodule A do\n  def f( a ) do\n    b\n  end\nend\n",
            1,
        ),
    ] {
        check_identity(language, pattern, source, matches);
        if !matches!(language, "bash" | "toml") {
            check_identity(language, pattern, &source.replace('\n', "\r\n"), matches);
        }
        let marked = format!("\u{feff}{source}");
        if !matches!(
            language,
            "php" | "yaml" | "haskell" | "toml" | "json" | "bash" | "sql"
        ) {
            check_identity(language, pattern, &marked, matches);
        }
    }
}

#[test]
fn a_pattern_with_runs_at_its_ends_changes_nothing() {
    check_identity("python", "$$$A\ng()\n$$$B", "a()\ng( )\nb()\n", 1);
}

#[test]
fn a_dollar_that_is_text_in_the_pattern_is_text_in_the_template() {
    check_identity("javascript", "f(\"$A\", $A)", "f(\"$A\",  1)\n", 1);
    check_identity("javascript", "$($A)", "$( 'x' )\n", 1);
    check_identity("php", "$this->$M()", "<?php $this -> m();\n", 1);
}
