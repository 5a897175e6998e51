//! Functional languages: Elixir, Erlang, F#, Gleam, Haskell, Julia, Nix, OCaml.

use super::HoleForm::{Lower, Quoted, Upper};
use super::Rung::{
    Argument, Arm, Clause, Declaration, Decorator, Expression, Field, Import, Member, Pair,
    Parameter, Pattern, Statement, Type,
};
use super::{Dropped, Language, Reserved, context};

pub(super) const LANGUAGES: &[Language] = &[
    ELIXIR,
    ERLANG,
    FSHARP,
    FSHARP_SIGNATURE,
    GLEAM,
    HASKELL,
    JULIA,
    NIX,
    OCAML,
    OCAML_INTERFACE,
];

const ELIXIR: Language = Language {
    aliases: &["ex", "exs"],
    extensions: &["ex", "exs"],
    basenames: &["mix.lock"],
    shebangs: &["elixir"],
    contexts: &[
        context(Statement, "", "\n", "$A |> Enum.map($F)"),
        context(Pair, "[", "]\n", "key: $V"),
        context(Pair, "%{", "}\n", "$K => $V"),
        context(Arm, "case x do\n", "\nend\n", "{:ok, $X} -> $B"),
        context(Clause, "try do\nx\n", "\nend\n", "rescue\n  $E -> $B"),
        context(Clause, "z() ", "\n", "do\n  $$$B\nend").only(&["do_block"]),
        context(Clause, "z() ", "\n", "|> $F($$$A)").only(&["|>"]),
    ],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &["after", "catch", "do", "else", "end", "fn", "rescue"],
    }],
    fillers: &["@: 0"],
    text_kinds: &["sigil"],
    whole_words: true,
    ..Language::new(
        "elixir",
        compiled!(
            "lang-elixir",
            tree_sitter_elixir::LANGUAGE,
            tree_sitter_elixir::NODE_TYPES
        ),
    )
};

const ERLANG: Language = Language {
    aliases: &["erl"],
    extensions: &["erl", "hrl", "escript"],
    basenames: &["rebar.config"],
    shebangs: &["escript"],
    contexts: &[
        context(Statement, "z() ->\n", ".\n", "$X = $M:$F($$$A)"),
        context(Declaration, "", "\n", "-export([$$$E])."),
        context(Declaration, "", ".\n", "$F($$$A) -> $B"),
        context(Arm, "z() -> case x of\n", "\nend.\n", "{ok, $X} -> $$$B"),
        context(Arm, "z() -> if\n", "\nend.\n", "$C -> $$$B"),
        context(
            Clause,
            "z() -> try x\ncatch\n",
            "\nend.\n",
            "error:$R -> $$$B",
        ),
        context(Field, "-record(r, {", "}).\n", "name = $V :: $T"),
        context(Pair, "z() -> #{", "}.\n", "key => $V"),
        context(Pair, "z() -> #r{", "}.\n", "key = $V"),
        context(Type, "-type t() :: ", ".\n", "list($T)"),
    ],
    dropped: &[Dropped {
        kinds: &["cr_clause", "if_clause"],
        when: &["function_clause"],
    }],
    literal_name_kinds: &["record_field"],
    reserved: &[Reserved {
        kinds: &["atom"],
        words: &[
            "after", "begin", "case", "catch", "end", "if", "of", "receive", "try", "when",
        ],
    }],
    holes: &[Upper, Lower, Quoted],
    fillers: &["%/0"],
    whole_words: true,
    ..Language::new(
        "erlang",
        compiled!(
            "lang-erlang",
            tree_sitter_erlang::LANGUAGE,
            tree_sitter_erlang::NODE_TYPES
        ),
    )
};

const FSHARP: Language = Language {
    aliases: &["f#", "fs"],
    extensions: &["fs", "fsx", "fsscript"],
    shebangs: &["fsharpi"],
    contexts: &[
        context(Declaration, "", "\n", "let $F $X = $B"),
        context(Statement, "async {\n  ", "\n  z\n}\n", "use $X = $Y"),
        context(
            Arm,
            "let z = match x with\n| z -> z\n",
            "\n| z -> z\n",
            "| Some $X -> $Y",
        ),
        context(Member, "type T() =\n  ", "\n", "member this.$M = $B"),
        context(Type, "let z: ", " = y\n", "Map<$K, $V>"),
        context(Field, "type R = { ", " }\n", "$N : $T"),
        context(Field, "type R =\n  | Z\n  ", "\n  | Z\n", "| $C of $T"),
        context(Decorator, "", "\nlet z = z\n", "[<$A>]").only(&["attributes"]),
    ],
    dropped: &[Dropped {
        kinds: &["function_type", "postfix_type"],
        when: &[
            "for_expression",
            "fun_expression",
            "if_expression",
            "prefixed_expression",
        ],
    }],
    literal_name_kinds: &["postfix_type"],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "abstract",
            "default",
            "else",
            "inherit",
            "let",
            "member",
            "module",
            "namespace",
            "open",
            "override",
            "static",
            "then",
            "type",
            "val",
            "with",
        ],
    }],
    fillers: &["% : z", "member z.@ = z"],
    whole_words: true,
    ..Language::new(
        "fsharp",
        compiled!(
            "lang-fsharp",
            tree_sitter_fsharp::LANGUAGE_FSHARP,
            tree_sitter_fsharp::FSHARP_NODE_TYPES
        ),
    )
};

const FSHARP_SIGNATURE: Language = Language {
    aliases: &["fsi"],
    extensions: &["fsi"],
    contexts: &[
        context(Declaration, "module M\n", "\n", "val $N : $T"),
        context(Type, "module M\nval z : ", "\n", "Map<$K, $V>"),
    ],
    whole_words: true,
    ..Language::new(
        "fsharp-signature",
        compiled!(
            "lang-fsharp",
            tree_sitter_fsharp::LANGUAGE_SIGNATURE,
            tree_sitter_fsharp::SIGNATURE_NODE_TYPES
        ),
    )
};

const GLEAM: Language = Language {
    extensions: &["gleam"],
    contexts: &[
        context(Statement, "fn z() {\nz\n", "\n}\n", "let $X = $Y"),
        context(Declaration, "", "\n", "pub fn $F($$$A) -> $T { $$$B }"),
        context(Arm, "fn z() { case x {\n", "\n} }\n", "Ok($X) -> $Y"),
        context(Argument, "fn z() { f(", ") }\n", "label: $V"),
        context(Parameter, "fn z(", ") { 1 }\n", "label $N: $T"),
        context(Type, "fn z() -> ", " { 1 }\n", "List($T)"),
        context(Field, "type T {\n", "\n}\n", "$C(name: $T)"),
        context(Field, "type T { C(", ") }\n", "name: $T"),
        context(Pattern, "fn z() { case x { ", " -> 1 } }\n", "Ok($X)"),
    ],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "case", "const", "fn", "import", "let", "panic", "pub", "todo", "type", "use",
        ],
    }],
    holes: &[Lower, Upper],
    fillers: &["@ -> z"],
    whole_words: true,
    ..Language::new(
        "gleam",
        compiled!(
            "lang-gleam",
            tree_sitter_gleam::LANGUAGE,
            tree_sitter_gleam::NODE_TYPES
        ),
    )
};

const HASKELL: Language = Language {
    aliases: &["hs"],
    extensions: &["hs", "hs-boot", "hsig"],
    shebangs: &["runhaskell", "runghc", "stack"],
    contexts: &[
        context(Declaration, "", "\nz = z\n", "$F $X = $B"),
        context(Statement, "z = [\n do\n", "\n ]\n", "$X <- $A"),
        context(
            Arm,
            "z = let { y = case x of\nz -> z\n",
            "\nz -> z\n} in y\n",
            "Just $X -> $Y",
        ),
        context(Type, "z :: ", "\n", "Maybe $T"),
        context(Field, "data R = R { ", " }\n", "name :: $T"),
        context(Member, "class C a where\n  ", "\n", "$M :: $T"),
        context(Pattern, "z (", ") = 1\n", "Just $X"),
        context(Clause, "z x\n ", "\n", "| $C = $E"),
        context(Clause, "z = x\n ", "\n", "where $A = $B"),
        context(
            Clause,
            "data T = T\n deriving (Z)\n ",
            "\n",
            "deriving ($$$C)",
        ),
        context(Import, "", "\nimport Z\n", "import qualified $M as $N"),
    ],
    dropped: &[Dropped {
        kinds: &["function", "imports", "view_pattern"],
        when: &["alternative", "import"],
    }],
    reserved: &[Reserved {
        kinds: &["variable"],
        words: &[
            "case", "class", "data", "deriving", "do", "else", "if", "import", "in", "infix",
            "infixl", "infixr", "instance", "let", "module", "newtype", "of", "then", "type",
            "where",
        ],
    }],
    holes: &[Lower, Upper],
    fillers: &["% = z", "% :: Z"],
    slot_edges: &["where"],
    text_kinds: &["quasiquote_body"],
    whole_words: true,
    ..Language::new(
        "haskell",
        compiled!(
            "lang-haskell",
            tree_sitter_haskell::LANGUAGE,
            tree_sitter_haskell::NODE_TYPES
        ),
    )
};

const JULIA: Language = Language {
    aliases: &["jl"],
    extensions: &["jl"],
    shebangs: &["julia"],
    contexts: &[
        context(Statement, "", "\n", "$X = $F($$$A)"),
        context(Argument, "f(", ")\n", "key=$V"),
        context(Parameter, "function z(", ")\nend\n", "$N::$T"),
        context(Clause, "if x\nz\n", "\nend\n", "elseif $C\n  $$$B"),
        context(Clause, "try\nz\n", "\nend\n", "catch $E\n  $$$B"),
        context(Field, "struct S\n", "\nend\n", "$N::$T"),
    ],
    literal_name_kinds: &["named_argument"],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "catch", "do", "else", "elseif", "end", "finally", "function", "if", "where",
        ],
    }],
    text_kinds: &["command_literal", "content"],
    names_in_texts: true,
    ..Language::new(
        "julia",
        compiled!(
            "lang-julia",
            tree_sitter_julia::LANGUAGE,
            tree_sitter_julia::NODE_TYPES
        ),
    )
};

const NIX: Language = Language {
    extensions: &["nix"],
    contexts: &[
        context(Expression, "", "\n", "pkgs.$X"),
        context(Pair, "{\nz = z;\n", "\nz = z;\n}\n", "$K = $V;"),
        context(Pair, "{ z = z; ", "; }\n", "$K = $V"),
        context(Parameter, "{ ", ", z }: z\n", "$N ? $V"),
    ],
    fillers: &["@ = z;"],
    slot_edges: &["in", "let"],
    text_kinds: &[
        "path_expression",
        "path_fragment",
        "uri_expression",
        "spath_expression",
    ],
    whole_words: true,
    ..Language::new(
        "nix",
        compiled!(
            "lang-nix",
            tree_sitter_nix::LANGUAGE,
            tree_sitter_nix::NODE_TYPES
        ),
    )
};

const OCAML: Language = Language {
    aliases: &["ml"],
    extensions: &["ml", "eliom"],
    basenames: &[".ocamlinit"],
    shebangs: &["ocaml", "ocamlrun", "ocamlscript"],
    contexts: &[
        context(Expression, "let z = ", "\n", "List.map $F $X"),
        context(Declaration, "", "\n", "let $F $X = $B"),
        context(Arm, "let z = match x with\n", "\n", "| Some $X -> $Y"),
        context(Pattern, "let z = match x with ", " -> ()\n", "Some $X"),
        context(Type, "let z : ", " = x\n", "$T list"),
        context(Field, "type t = { ", " }\n", "mutable $N : $T"),
        context(Field, "type t =\n", "\n", "| $C of $T"),
        context(Pair, "let z = { ", " }\n", "name = $V"),
        context(Argument, "let z = f ", "\n", "~label:$V").only(&["labeled_argument"]),
        context(Parameter, "let z ", " = x\n", "?(name = $V)"),
        context(
            Member,
            "class c = object (z)\n",
            "\nend\n",
            "method $M = $B",
        ),
        context(
            Declaration,
            "module type S = sig\n",
            "\nend\n",
            "val $N : $T",
        ),
        context(Decorator, "type t = a ", "\n", "[@@deriving $D]"),
    ],
    dropped: &[Dropped {
        kinds: &["parameter"],
        when: &["application_expression"],
    }],
    literal_name_kinds: &["field_expression"],
    holes: &[Lower, Upper],
    fillers: &["% : z", "val % : z"],
    slot_edges: &["begin", "do", "done", "end", "object", "sig", "struct"],
    whole_words: true,
    ..Language::new(
        "ocaml",
        compiled!(
            "lang-ocaml",
            tree_sitter_ocaml::LANGUAGE_OCAML,
            tree_sitter_ocaml::OCAML_NODE_TYPES
        ),
    )
};

const OCAML_INTERFACE: Language = Language {
    aliases: &["mli"],
    extensions: &["mli"],
    contexts: &[
        context(Declaration, "", "\n", "val $N : $T"),
        context(Type, "val z : ", "\n", "$T list"),
        context(Field, "type t = { ", " }\n", "mutable $N : $T"),
        context(Field, "type t =\n", "\n", "| $C of $T"),
        context(Decorator, "type t = a ", "\n", "[@@deriving $D]"),
    ],
    holes: &[Lower, Upper],
    fillers: &["% : z", "val % : z"],
    slot_edges: &["end", "sig"],
    whole_words: true,
    ..Language::new(
        "ocaml-interface",
        compiled!(
            "lang-ocaml",
            tree_sitter_ocaml::LANGUAGE_OCAML_INTERFACE,
            tree_sitter_ocaml::INTERFACE_NODE_TYPES
        ),
    )
};
