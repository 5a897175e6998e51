//! Solidity.

use crate::languages::Rung::{
    Clause, Declaration, Expression, Field, Member, Parameter, Statement, Type,
};
use crate::languages::{Dropped, HoleForm, Language, Reserved, context};

pub(super) const SOLIDITY: Language = Language {
    holes: &[HoleForm::Upper, HoleForm::Lower, HoleForm::Quoted],
    aliases: &["sol"],
    extensions: &["sol"],
    contexts: &[
        context(
            Statement,
            "contract A { function f() public {\n",
            "\n} }\n",
            "require($A, $B);",
        ),
        context(
            Statement,
            "contract A { function f() public {\n",
            ";\n} }\n",
            "emit $E($$$A)",
        ),
        context(
            Expression,
            "contract A { function f() public { x = ",
            "; } }\n",
            "$X.transfer($A)",
        ),
        context(
            Member,
            "contract A {\n",
            "\n}\n",
            "function $F($$$A) public view returns ($T) { $$$B }",
        ),
        context(
            Member,
            "contract A {\n",
            ";\n}\n",
            "mapping(address => $T) public $N",
        ),
        context(Declaration, "", "\n", "contract $N is $B { $$$M }"),
        context(Declaration, "", ";\n", "pragma solidity ^0.8.0"),
        context(Field, "contract A { struct S {\n", "\n} }\n", "uint256 $N;")
            .only(&["struct_member"]),
        context(
            Parameter,
            "contract A { function f(",
            ") public {} }\n",
            "uint256 $N",
        )
        .only(&["parameter"]),
        context(
            Parameter,
            "contract A { event E(",
            "); }\n",
            "address indexed $N",
        )
        .only(&["event_parameter"]),
        context(Type, "contract A { ", " x; }\n", "mapping(address => $T)").only(&["type_name"]),
        context(
            Clause,
            "contract A { function f() public { if (x) {} ",
            " } }\n",
            "else { $$$B }",
        )
        .only(&["else"]),
        context(
            Clause,
            "contract A { function f() public { try a.b() {} ",
            " } }\n",
            "catch { $$$B }",
        )
        .only(&["catch_clause"]),
    ],
    dropped: &[Dropped {
        kinds: &["state_variable_declaration", "parameter"],
        when: &["call_expression"],
    }],
    reserved: &[Reserved {
        kinds: &["identifier"],
        words: &[
            "break",
            "catch",
            "continue",
            "contract",
            "do",
            "else",
            "emit",
            "enum",
            "event",
            "for",
            "function",
            "if",
            "import",
            "interface",
            "library",
            "mapping",
            "modifier",
            "new",
            "pragma",
            "return",
            "struct",
            "try",
            "using",
            "while",
        ],
    }],
    fillers: &["int @;", "int @"],
    whole_words: true,
    ..Language::new(
        "solidity",
        compiled!(
            "lang-solidity",
            tree_sitter_solidity::LANGUAGE,
            tree_sitter_solidity::NODE_TYPES
        ),
    )
};
