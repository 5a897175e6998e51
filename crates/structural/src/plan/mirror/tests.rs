use crate::grammar::{CompiledGrammars, Grammar, GrammarSource as _};
use crate::pattern::Pattern;
use crate::plan::Plan;
use crate::search::FileSearch;

/// What is matched in one language, and what may stand between its tokens.
struct Sample {
    language: &'static str,
    pattern: &'static str,
    operator: &'static str,
    before: &'static str,
    behind: &'static str,
    operands: &'static [&'static [&'static str]],
    gaps: &'static [&'static str],
}

const SAMPLES: &[Sample] = &[
    Sample {
        language: "python",
        pattern: "$X == $X",
        operator: "==",
        before: "# it's\nif 'a#b' == \"#\" or c == 1 and (a.e == 2 and ",
        behind: " or 1 == 2): # it's\n    pass\n",
        operands: &[
            &["a"],
            &["1"],
            &["1.e5"],
            &["\"#\""],
            &["'''it\n # \"'''"],
            &["f", "(", "\"a # b\"", ",", "c", ")"],
            &["a", ".", "b", "[", "0", "]", "(", "x", "=", "'\\'#'", ")"],
            &["f'{a}#{b}'"],
            &["é", ".", "a"],
            &["-", "a"],
            &["'a'", "+", "\"b\"", "[", "1", "]", "**", "2"],
            &["u'#'"],
            &["f(\"a\")", "%", "{", "'#'", ":", "''", "}"],
        ],
        gaps: &[
            "",
            " ",
            "\n",
            " \\\n",
            " # it's == a\n",
            "\t# \"\n # b\n",
            "\u{c}",
        ],
    },
    Sample {
        language: "c",
        pattern: "$X == $X",
        operator: "==",
        before: "/* it's */ char *a = \"//\"; int b = c == 1; int d = a.e == 1 || ",
        behind: " || 2 == 1; // it's\n",
        operands: &[
            &["a"],
            &["'/'"],
            &["\"// /* \""],
            &["a", "->", "b", "(", "1", ",", "\"\\\"//\"", ")"],
            &["*", "p"],
            &["-", "\"a\"", "[", "0", "]", "/", "2"],
            &["i", "++"],
        ],
        gaps: &[
            "",
            " ",
            "\n",
            "/* \" */",
            " // it's\n",
            " // a \\\n b\n",
            "\\\n",
        ],
    },
    Sample {
        language: "rust",
        pattern: "$X == $X",
        operator: "==",
        before: "fn f<'a>() { let a = \"//\"; let b = c == 1; g(c.a == b, ",
        behind: "); } // it's\n",
        operands: &[
            &["a"],
            &["b'/'"],
            &["r#\"// \" /*\"#"],
            &["a", ".", "b", "(", "1", ",", "\"//\"", ")"],
            &["&", "a", "[", "1", "..", "2", "]"],
        ],
        gaps: &["", " ", "\n", "/* \" /* ' */ */", " // it's\n"],
    },
    Sample {
        language: "tsx",
        pattern: "$X === $X",
        operator: "===",
        before: "const a = '//', b = a.e === 1; g(a === '', ",
        behind: "); // it's\n",
        operands: &[
            &["a"],
            &["/[/]\"//'/g"],
            &["`// ${a} '`"],
            &["<b>http://it's</b>"],
            &["a", "?.", "b", "(", "1", ",", "'//'", ")"],
        ],
        gaps: &["", " ", "\n", "/* \" */", " // it's\n", "\u{a0}"],
    },
    Sample {
        language: "c-sharp",
        pattern: "$X == $X",
        operator: "==",
        before: "class A { void F() { var a = \"//\"; G(c.a == b, ",
        behind: "); } } // it's\n",
        operands: &[
            &["a"],
            &["@\"// \"\" /*\""],
            &["a", ".", "B", "(", "1", ")"],
        ],
        gaps: &["", " ", "\n", "/* \" */", " // it's\n", "\n#region a\n"],
    },
];

/// Returns the operand with something between any two of its tokens, another
/// at each call.
fn spread(tokens: &[&str], gaps: &[&str], random: &mut fastrand::Rng) -> String {
    let mut text = String::new();
    for token in tokens {
        // Most often nothing, so that long operands stay likely to match.
        let gap = if random.u8(..3) == 0 {
            random.choice(gaps).copied()
        } else {
            None
        };
        text.push_str(gap.unwrap_or_default());
        text.push_str(token);
    }
    text
}

/// Returns where the matches are, by a search with and without the prefilter.
fn found(grammar: &Grammar, pattern: &Pattern, plan: &Plan, text: &str) -> [Vec<usize>; 2] {
    [plan.admits(text.as_bytes()), plan.admit_all()].map(|admitted| {
        if admitted.is_empty() {
            return Vec::new();
        }
        let mut search = FileSearch::new(grammar, pattern, plan);
        let (found, ended) = search
            .search(text.as_bytes(), &admitted, usize::MAX, None, || false)
            .unwrap();
        assert_eq!(ended, None);
        found.iter().map(|f| f.bytes.start).collect()
    })
}

#[test]
fn no_match_is_lost_whatever_stands_between_tokens() {
    let grammars = CompiledGrammars::new();
    let mut random = fastrand::Rng::with_seed(1);
    for sample in SAMPLES {
        let grammar = grammars.grammar(sample.language).unwrap();
        let pattern = Pattern::compile(sample.pattern, &grammar).unwrap();
        let plan = Plan::new(&pattern, &grammar);
        assert!(plan.mirrors.iter().any(Option::is_some));
        let mut matches = 0;
        for _ in 0..400 {
            let operand = random.choice(sample.operands).unwrap();
            let mut text = sample.before.to_owned();
            text.push_str(&spread(operand, sample.gaps, &mut random));
            text.push_str(random.choice(sample.gaps).unwrap());
            text.push_str(sample.operator);
            text.push_str(&spread(operand, sample.gaps, &mut random));
            text.push_str(sample.behind);
            let [with, without] = found(&grammar, &pattern, &plan, &text);
            assert_eq!(with, without, "{}: {text}", sample.language);
            matches += without.len();
        }
        assert!(matches > 200, "{}: {matches} matches", sample.language);
    }
}

#[test]
fn files_without_a_match_are_not_parsed() {
    let grammars = CompiledGrammars::new();
    for (language, pattern, text) in [
        (
            "python",
            "$X == $X",
            "if a == ab or ba == a or a.b == b.c + d: # a == b\nx.y == y == 'y' # y\nz * 2 + a == a\n",
        ),
        ("python", "$X and $X", "x = a.b and c.a and (b)\n"),
        (
            "rust",
            "$X == $X",
            "fn f() { x == 1 || y == 2 && self.x == 12; }\n",
        ),
        (
            "c",
            "$X = $X;",
            "void f() { a = b; b = c; ab = d; /* c */ a == b; // ====== }\n",
        ),
        (
            "typescript",
            "$X === $X",
            "if (a.b === c.b && c === 'c') {}\n",
        ),
    ] {
        let grammar = grammars.grammar(language).unwrap();
        let pattern = Pattern::compile(pattern, &grammar).unwrap();
        let plan = Plan::new(&pattern, &grammar);
        assert!(!plan.admits_by_literals(text.as_bytes()).is_empty());
        assert!(plan.admits(text.as_bytes()).is_empty(), "{text}");
    }
}

#[test]
fn a_huge_file_is_let_through_rather_than_compared_for_ever() {
    let grammars = CompiledGrammars::new();
    let grammar = grammars.grammar("python").unwrap();
    let pattern = Pattern::compile("$X == $X", &grammar).unwrap();
    let plan = Plan::new(&pattern, &grammar);
    let text = "(a".to_owned() + &" == a + b".repeat(100_000) + ")\n";
    assert!(!plan.admits(text.as_bytes()).is_empty());
}

/// What [`mirrored`] is made of: few names, so that much is the same by chance.
const ATOMS: &[&str] = &[
    "a",
    "a",
    "b",
    "b1",
    "1",
    "1.",
    "'s'",
    "\"'\"",
    "r's'",
    "f'{a}'",
    "f'{a == a}'",
    "'''\n#'''",
    "...",
    "None",
    "é",
    "(a)",
    "[a]",
    "a.b",
    "-a",
];
const BINARY: &[&str] = &[
    "==",
    "==",
    "==",
    "!=",
    "<",
    ">=",
    "+",
    "-",
    "*",
    "**",
    "/",
    "%",
    "@",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    " and ",
    " or ",
    " in ",
    " not in ",
    " is ",
    " is not ",
    ", ",
    " if a else ",
    " ",
    "\n",
    "=",
    ": ",
];
const AROUND: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("f(", ")"),
    ("a[", "]"),
    ("f(*", ")"),
    ("f(**", ")"),
    ("{**", "}"),
    ("-", ""),
    ("not ", ""),
    ("await ", ""),
    ("lambda: ", ""),
    ("lambda b: ", ""),
    ("", ".a"),
    ("", "(a)"),
    ("", " (a)"),
    ("", "[a]"),
    ("", ".f(a, b)"),
    ("", " # it's a\n"),
    ("", " \\\n"),
    ("[a for a in b if ", "]"),
    ("[a for a in ", "]"),
    ("print ", ""),
    ("print >>", ""),
    ("return ", ""),
    ("yield ", ""),
    ("assert ", ""),
    ("if ", ":\n  a"),
    ("for a in ", ": a"),
    ("a if ", " else b"),
    ("a or ", ""),
    ("f'{", "}'"),
    ("'", "'"),
    ("1", ""),
];

/// Puts something around, before or behind a text of Python, `layers` times.
fn surrounded(mut text: String, random: &mut fastrand::Rng, layers: usize) -> String {
    for _ in 0..layers {
        let atom = random.choice(ATOMS).unwrap();
        let operator = random.choice(BINARY).unwrap();
        let (before, behind) = random.choice(AROUND).unwrap();
        text = match random.u8(..4) {
            0 => format!("{atom}{operator}{text}"),
            1 => format!("{text}{operator}{atom}"),
            _ => format!("{before}{text}{behind}"),
        };
    }
    text
}

/// Returns a text with the same on both sides of `token`; often it is not right.
fn mirrored(token: &str, random: &mut fastrand::Rng) -> String {
    let layers = random.usize(..3);
    let operand = surrounded((*random.choice(ATOMS).unwrap()).to_owned(), random, layers);
    let gap = random.choice(&["", "", " ", "\n"]).unwrap();
    let layers = random.usize(..4);
    surrounded(
        format!("{operand}{gap}{token}{gap}{operand}"),
        random,
        layers,
    ) + "\n"
}

#[test]
fn no_match_is_lost_in_python_whatever_stands_around_it() {
    let grammar = CompiledGrammars::new().grammar("python").unwrap();
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(grammar.parser_language()).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    for token in ["==", "<", " and ", "="] {
        let pattern = Pattern::compile(&format!("$X {token} $X"), &grammar).unwrap();
        let plan = Plan::new(&pattern, &grammar);
        let (mut matches, mut refused) = (0, 0);
        for _ in 0..5_000 {
            let text = mirrored(token, &mut random);
            let [with, without] = found(&grammar, &pattern, &plan, &text);
            if with != without {
                // Around a syntax error, what stands together is a guess.
                let tree = parser.parse(&text, None).unwrap();
                assert!(tree.root_node().has_error(), "{text:?}");
            }
            refused += usize::from(without.is_empty() && plan.admits(text.as_bytes()).is_empty());
            matches += without.len();
        }
        assert!(matches > 100 && refused > 100, "{matches}, {refused}");
    }
}
