//! White space and comments between tokens change nothing, and a pattern finds
//! nothing inside strings and comments.

use std::ops::Range;

use structural::{FileMatch, Grammar, Pattern, search_text};
use tree_sitter::{Node, Tree};

use crate::corpus::{self, SourceFile};
use crate::sample::{self, Kinds};

/// Files of each language.
const FILES: usize = 12;
/// Patterns tried of each file.
const PATTERNS: usize = 12;
/// Groups of insertions tried in each file.
const GROUPS: usize = 12;
/// Places in each group.
const PLACES: usize = 8;

/// Whether a node is a token: a leaf, or a string with all that is in it.
fn is_token(node: &Node<'_>) -> bool {
    const TEXTS: &[&str] = &["string", "char", "regex", "template", "heredoc", "rune"];
    let kind = node.kind();
    node.child_count() == 0
        || (!kind.contains("concat") && TEXTS.iter().any(|text| kind.contains(text)))
}

/// A step of a walk over a tree, without comments.
enum Step<'t> {
    Into(Node<'t>),
    Token(Node<'t>),
    Out,
}

fn steps(tree: &Tree) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if !node.is_extra() {
            if is_token(&node) {
                steps.push(Step::Token(node));
            } else {
                steps.push(Step::Into(node));
                if cursor.goto_first_child() {
                    continue;
                }
            }
        }
        loop {
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return steps;
            }
            steps.push(Step::Out);
        }
    }
}

/// The tokens, which a changed copy has in the same order.
fn leaves(tree: &Tree) -> Vec<Range<usize>> {
    steps(tree)
        .into_iter()
        .filter_map(|step| match step {
            Step::Token(node) => Some(node.byte_range()),
            Step::Into(_) | Step::Out => None,
        })
        .filter(|range| !range.is_empty())
        .collect()
}

/// The shape of a tree, without comments.
fn shape(tree: &Tree, text: &str) -> Vec<(u16, String)> {
    steps(tree)
        .into_iter()
        .map(|step| match step {
            // Line ends are tokens in some grammars.
            Step::Token(node) => (node.kind_id(), text[node.byte_range()].trim().to_owned()),
            Step::Into(node) => (node.kind_id(), String::new()),
            Step::Out => (u16::MAX, String::new()),
        })
        .collect()
}

/// Returns the file with white space and comments between tokens, wherever it
/// still has the same tree; `None` where that is nowhere.
fn changed(grammar: &Grammar, file: &SourceFile, insertions: &[&str]) -> Option<(String, usize)> {
    let tree = sample::parse(grammar, &file.text);
    let wanted = shape(&tree, &file.text);
    let places: Vec<usize> = leaves(&tree).iter().map(|l| l.end).collect();
    let step = (places.len() / (GROUPS * PLACES)).max(1);
    let chosen: Vec<usize> = places.iter().copied().step_by(step).collect();
    let mut inserted: Vec<(usize, &str)> = Vec::new();
    let mut text = None;
    let mut accepted = 0;
    for (number, group) in chosen.chunks(PLACES).enumerate() {
        // A group that changes the tree is halved once, to lose less of it.
        for part in [
            group,
            group.get(..PLACES / 2).unwrap_or(&[]),
            group.get(PLACES / 2..).unwrap_or(&[]),
        ] {
            let mut tried = inserted.clone();
            tried.extend(
                part.iter()
                    .enumerate()
                    .map(|(i, at)| (*at, insertions[(number + i) % insertions.len()])),
            );
            tried.sort_unstable();
            let copy = insert(&file.text, &tried);
            if shape(&sample::parse(grammar, &copy), &copy) == wanted {
                accepted += part.len();
                inserted = tried;
                text = Some(copy);
                if part.len() == group.len() {
                    break;
                }
            }
        }
    }
    text.map(|t| (t, accepted))
}

fn insert(text: &str, insertions: &[(usize, &str)]) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut at = 0;
    for (place, inserted) in insertions {
        out.push_str(&text[at..*place]);
        out.push_str(inserted);
        at = *place;
    }
    out.push_str(&text[at..]);
    out
}

/// A range as numbers of tokens, which are the same in both copies.
fn in_tokens(leaves: &[Range<usize>], range: &Range<usize>) -> (usize, usize) {
    (
        leaves.partition_point(|l| l.start < range.start),
        leaves.partition_point(|l| l.end <= range.end),
    )
}

type Found = ((usize, usize), Vec<Option<(usize, usize)>>);

fn all_in_tokens(leaves: &[Range<usize>], found: &[FileMatch]) -> Vec<Found> {
    let mut all: Vec<Found> = found
        .iter()
        .map(|f| {
            let captures = f.captures.iter();
            // A run of nothing is between two tokens, whatever else is there.
            let captures = captures.map(|c| {
                c.as_ref()
                    .filter(|c| !c.is_empty())
                    .map(|c| in_tokens(leaves, c))
            });
            (in_tokens(leaves, &f.bytes), captures.collect())
        })
        .collect();
    all.sort();
    all
}

/// Patterns with and without metavariables, taken from the file itself.
fn patterns(grammar: &Grammar, file: &SourceFile) -> Vec<Pattern> {
    let tree = sample::parse(grammar, &file.text);
    let kinds = Kinds::of(grammar);
    let sampled = sample::nodes(&tree, &file.text, &kinds, PATTERNS);
    let mut patterns = Vec::new();
    for node in sampled.nodes.iter().filter(|n| n.byte_range().len() < 400) {
        let text = sample::dedented(&file.text, *node);
        patterns.extend(Pattern::compile(&text, grammar));
        let mut cursor = node.walk();
        let holes = ["$HOLE", "$$$RUN"];
        for (child, hole) in node.named_children(&mut cursor).zip(holes) {
            let text = format!(
                "{}{hole}{}",
                &file.text[node.start_byte()..child.start_byte()],
                &file.text[child.end_byte()..node.end_byte()]
            );
            patterns.extend(Pattern::compile(&text, grammar));
        }
    }
    patterns
}

#[track_caller]
fn check(language: &str, extension: &str, insertions: &[&str]) {
    let Some(corpus) = corpus::sample(language, extension, FILES) else {
        return;
    };
    let grammar = &corpus.grammar;
    let (mut searched, mut matches, mut places) = (0, 0, 0);
    let mut wrong = Vec::new();
    for file in &corpus.files {
        let Some((copy, accepted)) = changed(grammar, file, insertions) else {
            continue;
        };
        places += accepted;
        let before = leaves(&sample::parse(grammar, &file.text));
        let after = leaves(&sample::parse(grammar, &copy));
        for pattern in patterns(grammar, file) {
            let found = search_text(grammar, &pattern, &file.text).unwrap();
            let again = search_text(grammar, &pattern, &copy).unwrap();
            searched += 1;
            matches += found.len();
            let wanted = all_in_tokens(&before, &found);
            let got = all_in_tokens(&after, &again);
            if got != wanted {
                let lost = wanted.iter().find(|w| !got.contains(w));
                let new = got.iter().find(|g| !wanted.contains(g));
                let shown = |leaves: &[Range<usize>], text: &str, f: &Found| {
                    let (from, to) = f.0;
                    let range = leaves.get(from).map_or(0, |l| l.start)
                        ..to.checked_sub(1)
                            .and_then(|t| leaves.get(t))
                            .map_or(0, |l| l.end);
                    let text: String = text
                        .get(range)
                        .unwrap_or_default()
                        .chars()
                        .take(200)
                        .collect();
                    format!("{text:?} {:?}", f)
                };
                wrong.push(format!(
                    "{} {:?}\n  lost {:?}\n  new {:?}",
                    file.name,
                    pattern.text(),
                    lost.map(|l| shown(&before, &file.text, l)),
                    new.map(|n| shown(&after, &copy, n)),
                ));
            }
        }
    }
    eprintln!(
        "{language}: {places} insertions, {searched} patterns, {matches} matches, {} differ",
        wrong.len()
    );
    assert!(
        searched > 50 && places > 200,
        "{language}: {searched} patterns, {places} insertions"
    );
    assert!(
        wrong.is_empty(),
        "{language}: {} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

const C_LIKE: &[&str] = &[" ", "/* f(x); */", "\n", "  // g(y)\n", "\t", "/**/ "];

#[test]
fn insertions_change_nothing_in_rust() {
    check("rust", "rs", C_LIKE);
}

#[test]
fn insertions_change_nothing_in_python() {
    check("python", "py", &[" ", "  # f(x)\n", "\t", " \\\n "]);
}

#[test]
fn insertions_change_nothing_in_c() {
    check("c", "c", C_LIKE);
}

#[test]
fn insertions_change_nothing_in_go() {
    check("go", "go", &[" ", "/* f(x) */", "\t"]);
}

#[test]
fn insertions_change_nothing_in_javascript() {
    check("javascript", "js", C_LIKE);
}

#[test]
fn insertions_change_nothing_in_typescript() {
    check("typescript", "ts", C_LIKE);
}

#[test]
fn insertions_change_nothing_in_dart() {
    check("dart", "dart", C_LIKE);
}

/// Searches for what is in a file inside strings and comments.
#[track_caller]
fn check_wrapped(language: &str, extension: &str, wrappers: &[(&str, &str)]) {
    let Some(corpus) = corpus::sample(language, extension, FILES) else {
        return;
    };
    let grammar = &corpus.grammar;
    let kinds = Kinds::of(grammar);
    let mut searched = 0;
    let mut wrong = Vec::new();
    for file in &corpus.files {
        let tree = sample::parse(grammar, &file.text);
        let nodes = sample::nodes(&tree, &file.text, &kinds, PATTERNS * 3).nodes;
        for node in nodes.iter().filter(|n| n.child_count() > 0) {
            let text = &file.text[node.byte_range()];
            // What ends a string or a comment would put the rest of it outside.
            if text.contains(['\n', '"', '\'', '\\', '`', '$', '{', '#']) || text.contains("*/") {
                continue;
            }
            let Ok(pattern) = Pattern::compile(text, grammar) else {
                continue;
            };
            for (before, after) in wrappers {
                let wrapped = format!("{before}{text}{after}");
                if sample::parse(grammar, &wrapped).root_node().has_error() {
                    continue;
                }
                // What it finds in the wrapper itself says nothing of the text.
                let empty = format!("{before}{after}");
                let at = search_text(grammar, &pattern, &wrapped).unwrap();
                searched += 1;
                if at.len() > search_text(grammar, &pattern, &empty).unwrap().len() {
                    wrong.push(format!("{text:?} in {wrapped:?}"));
                }
            }
        }
    }
    eprintln!("{language}: {searched} texts in strings and comments");
    assert!(searched > 50, "{language}: {searched}");
    assert!(wrong.is_empty(), "{language}:\n{}", wrong.join("\n"));
}

#[test]
fn rust_strings_and_comments_hold_no_code() {
    check_wrapped(
        "rust",
        "rs",
        &[
            ("const Q: &str = \"", "\";\n"),
            ("const Q: &str = r#\"", "\"#;\n"),
            ("// ", "\nfn q() {}\n"),
            ("/// ", "\nfn q() {}\n"),
            ("/* ", " */\nfn q() {}\n"),
        ],
    );
}

#[test]
fn python_strings_and_comments_hold_no_code() {
    check_wrapped(
        "python",
        "py",
        &[
            ("qq = \"", "\"\n"),
            ("qq = '''", "'''\n"),
            ("# ", "\nqq = 1\n"),
            ("def qq():\n    \"\"\"", "\"\"\"\n    pass\n"),
        ],
    );
}

#[test]
fn c_strings_and_comments_hold_no_code() {
    check_wrapped(
        "c",
        "c",
        &[
            ("char *qq = \"", "\";\n"),
            ("// ", "\nint qq;\n"),
            ("/* ", " */\nint qq;\n"),
        ],
    );
}

#[test]
fn go_strings_and_comments_hold_no_code() {
    check_wrapped(
        "go",
        "go",
        &[
            ("package qq\nvar qqq = \"", "\"\n"),
            ("package qq\nvar qqq = `", "`\n"),
            ("package qq\n// ", "\nvar qqq = 1\n"),
            ("package qq\n/* ", " */\nvar qqq = 1\n"),
        ],
    );
}

#[test]
fn javascript_strings_and_comments_hold_no_code() {
    check_wrapped(
        "javascript",
        "js",
        &[
            ("qq = \"", "\";\n"),
            ("qq = '", "';\n"),
            ("qq = `", "`;\n"),
            ("// ", "\nqq = 1;\n"),
            ("/* ", " */\nqq = 1;\n"),
        ],
    );
}

#[test]
fn dart_strings_and_comments_hold_no_code() {
    check_wrapped(
        "dart",
        "dart",
        &[
            ("var qq = \"", "\";\n"),
            ("var qq = r'", "';\n"),
            ("// ", "\nvar qq = 1;\n"),
            ("/// ", "\nvar qq = 1;\n"),
            ("/* ", " */\nvar qq = 1;\n"),
        ],
    );
}
