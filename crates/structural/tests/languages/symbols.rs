//! The grammars are C code with global symbols, and a linker takes the first of
//! two that share a name without a word: two Kotlin crates gave one parser, and a
//! Vue crate replaced the scanner of HTML. So each grammar must still be the one
//! it is when linked alone.

use structural::languages::compiled;
use tree_sitter::Parser;

/// A grammar as it is when no other is linked beside it.
struct Alone {
    id: &'static str,
    parse_states: usize,
    /// Text that exercises the external scanner where there is one.
    sample: &'static str,
    root: &'static str,
}

const fn alone(
    id: &'static str,
    parse_states: usize,
    sample: &'static str,
    root: &'static str,
) -> Alone {
    Alone {
        id,
        parse_states,
        sample,
        root,
    }
}

/// Recorded from binaries with one grammar each.
const GRAMMARS: &[Alone] = &[
    alone("bash", 7571, "cat <<A\nx\nA\n", "program"),
    alone("c", 2015, "int x;\n", "translation_unit"),
    alone(
        "c-sharp",
        8053,
        "class A { string s = $\"{x}\"; }\n",
        "compilation_unit",
    ),
    alone("cmake", 832, "set(A [[x]])\n", "source_file"),
    alone("cpp", 8637, "auto x = R\"(a)\";\n", "translation_unit"),
    alone("css", 442, "a b:hover { color: red; }\n", "stylesheet"),
    alone("dart", 4522, "var x = 'a$b'; /* /* */ */\n", "source_file"),
    alone("dockerfile", 616, "FROM a\nRUN b\n", "source_file"),
    alone("dtd", 334, "<!ELEMENT a EMPTY>\n", "extSubset"),
    alone("elixir", 7001, "x = ~s(a)\n", "source"),
    alone("erlang", 1570, "f() -> 1.\n", "source_file"),
    alone("fsharp", 21942, "let x =\n    1\n", "file"),
    alone("fsharp-signature", 15693, "module A\nval b : int\n", "file"),
    alone("gleam", 1967, "fn f() { 1 }\n", "source_file"),
    alone("go", 1442, "package p\n", "source_file"),
    alone("graphql", 376, "type A { b: Int }\n", "source_file"),
    alone("groovy", 2928, "def x = \"a${b}\"\n", "program"),
    alone("haskell", 12862, "f = do\n  x\n  y\n", "haskell"),
    alone("hcl", 678, "a = \"${b}\"\n", "config_file"),
    alone("html", 94, "<ul><li>a<li>b</ul>\n", "document"),
    alone("java", 1385, "class A {}\n", "program"),
    alone("javascript", 1870, "let a = `b${c}`\nd()\n", "program"),
    alone("json", 32, "{\"a\": 1}\n", "document"),
    alone("julia", 19618, "x = \"a$b\"\n", "source_file"),
    alone(
        "kotlin",
        11432,
        "val a = \"b${c}\"\nval d = 1\n",
        "source_file",
    ),
    alone("lua", 282, "x = [[a]]\n", "chunk"),
    alone("make", 1286, "a: b\n\tc\n", "makefile"),
    alone("markdown", 966, "# a\n\n- b\n", "document"),
    alone("nix", 541, "\"a${b}\"\n", "source_code"),
    alone("objc", 6799, "@interface A\n@end\n", "translation_unit"),
    alone("ocaml", 13556, "let x = {|a|}\n", "compilation_unit"),
    alone(
        "ocaml-interface",
        12097,
        "val x : int (* {|a|} *)\n",
        "compilation_unit",
    ),
    alone("php", 3469, "<?php $x = <<<A\nb\nA;\n", "program"),
    alone("powershell", 2192, "$x = 1\n", "program"),
    alone("proto", 400, "syntax = \"proto3\";\n", "source_file"),
    alone("python", 2786, "def f():\n    x\n", "module"),
    alone("r", 2112, "x <- r\"(a)\"\n", "program"),
    alone("regex", 137, "a+\n", "pattern"),
    alone("ruby", 5989, "x = <<A\nb\nA\n", "program"),
    alone("rust", 3825, "const A: &str = r#\"b\"#;\n", "source_file"),
    alone(
        "scala",
        18622,
        "object A:\n  val x = 1\n",
        "compilation_unit",
    ),
    alone("solidity", 977, "contract A {}\n", "source_file"),
    alone("sql", 17329, "SELECT a FROM b;\n", "program"),
    alone("svelte", 345, "{#if a}<b />{/if}\n", "document"),
    alone(
        "swift",
        11522,
        "let a = #\"b\"#\nlet c = 1\n",
        "source_file",
    ),
    alone("toml", 152, "a = \"\"\"b\"\"\"\n", "document"),
    alone("tsx", 5986, "let a = <b>{c}</b>\nd()\n", "program"),
    alone("typescript", 5870, "let a: b = `c${d}`\ne()\n", "program"),
    alone("xml", 495, "<a>b</a>\n", "document"),
    alone("yaml", 1579, "a:\n  - b\n", "stream"),
    alone("zig", 1852, "const a = 1;\n", "source_file"),
];

#[test]
fn no_grammar_is_changed_by_those_linked_beside_it() {
    let mut wrong = Vec::new();
    for language in compiled().iter() {
        let id = language.id;
        let Some(expected) = GRAMMARS.iter().find(|g| g.id == id) else {
            wrong.push(format!(
                "{id}: link it alone and record its number of parse states here"
            ));
            continue;
        };
        let grammar: tree_sitter::Language = language.grammar.unwrap().into();
        if grammar.parse_state_count() != expected.parse_states {
            let (now, alone) = (grammar.parse_state_count(), expected.parse_states);
            wrong.push(format!(
                "{id}: {now} parse states, {alone} when linked alone"
            ));
        }
        let mut parser = Parser::new();
        parser.set_language(&grammar).unwrap();
        let tree = parser.parse(expected.sample, None).unwrap();
        let root = tree.root_node();
        if root.has_error() || root.kind() != expected.root {
            wrong.push(format!("{id}: {:?} parses as {root}", expected.sample));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
