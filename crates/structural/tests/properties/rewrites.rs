//! What holds for a rewrite of any real file.
//!
//! A template that is its pattern leaves every byte as it was; two
//! metavariables swapped, and swapped back, too; and no result has a syntax
//! error that the file has not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

use structural::{Grammar, Pattern, RewriteError, Rewritten, Template, rewrite_text};
use tree_sitter::Parser;

use crate::corpus::{self, SourceFile};
use crate::sample::{self, Kinds};
use crate::self_match;

/// Language, corpus, extension, number of files.
const CORPORA: &[(&str, &str, &str, usize)] = &[
    ("c", "c", "c", 800),
    ("cpp", "react-native", "cpp", 400),
    ("dart", "dart", "dart", 60),
    ("go", "go", "go", 2_000),
    ("java", "react-native", "java", 100),
    ("javascript", "rxjs", "js", 700),
    ("kotlin", "react-native", "kt", 600),
    ("python", "python", "py", 1_100),
    ("rust", "rust", "rs", 2_400),
    ("typescript", "rxjs", "ts", 450),
];

/// Files larger than this take long for what they add.
const MOST_BYTES: u64 = 12_000;

/// Patterns of the table that each file is tried with, in turn.
const SAME: usize = 2;

const ALL_BUT_GO: [&str; 9] = [
    "c",
    "cpp",
    "dart",
    "java",
    "javascript",
    "kotlin",
    "python",
    "rust",
    "typescript",
];

/// Files with a match for each promise, at least, where every corpus is installed.
const LEAST_FILES: usize = 5_000;

/// Patterns that many files match, for the languages named, or for all.
const PATTERNS: &[(&[&str], &str)] = &[
    (&[], "$F($$$A)"),
    (&[], "$F($$$A, $B, $$$C)"),
    (&[], "$A == $B"),
    (&["python"], "def $N($$$A):\n    $$$B"),
    (&["python"], "if $C:\n    $$$B"),
    (&["python"], "class $N($$$A):\n    $$$B"),
    (&["python"], "$A = $B"),
    (&["rust"], "fn $N($$$A) { $$$B }"),
    (&["rust"], "fn $N($$$A) -> $R { $$$B }"),
    (&["rust"], "match $X { $$$A }"),
    (&["rust"], "let $A = $B;"),
    (&["go"], "func $N($$$A) { $$$B }"),
    (&["go"], "if $C { $$$B }"),
    (&["go"], "$A := $B"),
    (
        &[
            "c",
            "cpp",
            "dart",
            "java",
            "javascript",
            "typescript",
            "kotlin",
        ],
        "if ($C) { $$$B }",
    ),
    (
        &["c", "cpp", "dart", "java", "javascript", "typescript"],
        "return $X;",
    ),
    (&["c", "cpp", "dart", "java"], "$T $N = $V;"),
    (&["javascript", "typescript"], "const $N = $V"),
    (&["javascript", "typescript"], "($$$A) => $B"),
    (&["javascript", "typescript"], "function $N($$$A) { $$$B }"),
    (&["javascript", "typescript"], "{ $$$A }"),
    (&["kotlin"], "fun $N($$$A) { $$$B }"),
    (&["kotlin"], "val $N = $V"),
    (&["kotlin"], "fun $N($$$A): $R = $B"),
];

/// A pattern, what it becomes, and what that becomes again.
const SWAPS: &[(&[&str], &str, &str)] = &[
    (&ALL_BUT_GO, "$F($A, $B)", "$F($B, $A)"),
    (&ALL_BUT_GO, "$F($A, $$$R, $B)", "$F($B, $$$R, $A)"),
    // `make([]int, n)` is no call that can be turned around.
    (&["go"], "$O.$F($A, $B)", "$O.$F($B, $A)"),
    (&["go"], "$O.$F($A, $$$R, $B)", "$O.$F($B, $$$R, $A)"),
    (&["go"], "return $A, $B", "return $B, $A"),
    (&["go"], "$A, $B := $V", "$B, $A := $V"),
    (
        &["javascript", "typescript"],
        "import { $A, $$$R, $B } from $M",
        "import { $B, $$$R, $A } from $M",
    ),
    (
        &["rust"],
        "use $P::{$A, $$$R, $B};",
        "use $P::{$B, $$$R, $A};",
    ),
];

/// Bodies that change places. Where one is empty, or a comment ends the other,
/// white space and the place of a comment cannot be told again; the code can.
/// In Kotlin `(a) { null }` may be read as a call, so that fewer are found.
const BODIES: &[(&[&str], &str, &str)] = &[
    (
        &[
            "c",
            "cpp",
            "dart",
            "java",
            "javascript",
            "typescript",
            "kotlin",
        ],
        "if ($C) { $$$A } else { $$$B }",
        "if ($C) { $$$B } else { $$$A }",
    ),
    (
        &["python"],
        "if $C:\n    $$$A\nelse:\n    $$$B",
        "if $C:\n    $$$B\nelse:\n    $$$A",
    ),
    (
        &["rust", "go"],
        "if $C { $$$A } else { $$$B }",
        "if $C { $$$B } else { $$$A }",
    ),
];

/// Changes that add, take out and move code.
const CHANGES: &[(&[&str], &str, &str)] = &[
    (&ALL_BUT_GO, "$F($$$A)", "$F($$$A, added)"),
    (&ALL_BUT_GO, "$F($$$A)", "$F(added, $$$A)"),
    (&ALL_BUT_GO, "$F($A, $$$R)", "$F($$$R)"),
    (&ALL_BUT_GO, "$F($$$R, $A)", "$F($$$R)"),
    (&ALL_BUT_GO, "$F($A, $$$R)", "wrapped($F($A), $$$R)"),
    (&["go"], "$O.$F($$$A)", "$O.$F($$$A, added)"),
    (&["go"], "$O.$F($$$A)", "$O.$F(added, $$$A)"),
    (&["go"], "$O.$F($A, $$$R)", "$O.$F($$$R)"),
    (
        &["python"],
        "def $N($$$A):\n    $$$B",
        "def $N($$$A):\n    try:\n        $$$B\n    finally:\n        done()",
    ),
    (
        &["python"],
        "if $C:\n    $$$B",
        "if $C:\n    log()\n    $$$B",
    ),
    (&["python"], "return $X", "result = $X\nreturn result"),
    (
        &["rust"],
        "fn $N($$$A) -> $R { $$$B }",
        "fn $N($$$A) -> $R { log(); $$$B }",
    ),
    (&["rust"], "match $X { $$$A }", "match ($X) { $$$A }"),
    (&["rust"], "let $A = $B;", ""),
    (&["go"], "if $C { $$$B }", "if $C {\n\tlog()\n\t$$$B\n}"),
    (
        &["c", "cpp", "dart", "java", "javascript", "typescript"],
        "return $X;",
        "{ log(); return $X; }",
    ),
    (
        &["c", "cpp", "dart", "java", "javascript", "typescript"],
        "$F($$$A);",
        "",
    ),
    (
        &["javascript", "typescript"],
        "const $N = $V",
        "let $N = $V",
    ),
    (
        &["kotlin"],
        "fun $N($$$A) { $$$B }",
        "fun $N($$$A) {\n  log()\n  $$$B\n}",
    ),
];

/// What came of the files of one language.
#[derive(Debug, Default)]
struct Tally {
    files: usize,
    /// Files with a match, for each of the three promises.
    matched: [usize; 3],
    unchanged: usize,
    /// Patterns made of the files' own code.
    own: usize,
    swapped: usize,
    changed: usize,
    regrouped: usize,
    /// Files whose bodies came back with other white space, or not all.
    other_layout: usize,
    refused: BTreeMap<String, usize>,
    broken: Vec<String>,
}

fn is_for(languages: &[&str], language: &str) -> bool {
    languages.is_empty() || languages.contains(&language)
}

/// A pattern with a template.
struct Rule {
    pattern: Pattern,
    template: Template,
    name: String,
}

impl Rule {
    fn new(grammar: &Grammar, pattern: &str, template: &str) -> Option<Self> {
        let compiled = Pattern::compile(pattern, grammar).ok()?;
        let template = Template::parse(template, &compiled, grammar).unwrap();
        Some(Self {
            name: format!("{pattern:?} -> {:?}", template.text()),
            pattern: compiled,
            template,
        })
    }

    fn rewrite(&self, grammar: &Grammar, source: &[u8]) -> Result<Rewritten, RewriteError> {
        rewrite_text(grammar, &self.pattern, &self.template, source, &mut || {
            false
        })
    }
}

/// Returns the number of errors and of made-up tokens in a text.
fn faults(parser: &mut Parser, text: &[u8]) -> usize {
    let tree = parser.parse(text, None).unwrap();
    if !tree.root_node().has_error() {
        return 0;
    }
    let nodes = sample::all(&tree);
    (nodes.iter().filter(|n| n.is_error() || n.is_missing())).count()
}

/// Returns all rules, beginning with one after the other.
fn in_turn(rules: &[Rule], turn: usize) -> impl Iterator<Item = &Rule> {
    let first = turn % rules.len().max(1);
    rules.iter().cycle().skip(first).take(rules.len())
}

/// What must come back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exactly {
    Bytes,
    /// The tokens, without white space and comments.
    Code,
}

/// Returns the tokens of a text.
fn code(parser: &mut Parser, text: &[u8]) -> Vec<u8> {
    let tree = parser.parse(text, None).unwrap();
    let nodes = sample::all(&tree);
    let leaves = nodes
        .iter()
        .filter(|n| n.child_count() == 0 && !n.is_extra());
    let texts: Vec<&[u8]> = leaves.map(|n| text[n.byte_range()].trim_ascii()).collect();
    texts.join(&b' ')
}

fn difference(a: &[u8], b: &[u8]) -> String {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let around = |t: &[u8]| {
        let from = same.saturating_sub(80).min(t.len());
        String::from_utf8_lossy(&t[from..(same + 80).min(t.len())]).into_owned()
    };
    format!("{:?}\n    {:?}", around(a), around(b))
}

struct Language<'a> {
    id: &'a str,
    grammar: &'a Grammar,
    kinds: Kinds,
    parser: Parser,
    same: Vec<Rule>,
    swaps: Vec<Rule>,
    bodies: Vec<Rule>,
    changes: Vec<Rule>,
    tally: Tally,
}

impl<'a> Language<'a> {
    fn new(id: &'a str, grammar: &'a Grammar) -> Self {
        let mut parser = Parser::new();
        parser.set_language(grammar.parser_language()).unwrap();
        let rules = |table: &[(&[&str], &str, &str)]| {
            (table.iter().filter(|(languages, ..)| is_for(languages, id)))
                .filter_map(|(_, pattern, template)| Rule::new(grammar, pattern, template))
                .collect()
        };
        Self {
            id,
            grammar,
            kinds: Kinds::of(grammar),
            parser,
            same: (PATTERNS
                .iter()
                .filter(|(languages, _)| is_for(languages, id)))
            .filter_map(|(_, pattern)| Rule::new(grammar, pattern, pattern))
            .collect(),
            swaps: rules(SWAPS),
            bodies: rules(BODIES),
            changes: rules(CHANGES),
            tally: Tally::default(),
        }
    }

    fn break_promise(&mut self, file: &SourceFile, rule: &str, what: &str) {
        let line = format!("{} {}: {rule}\n    {what}", self.id, file.name);
        self.tally.broken.push(line);
    }

    fn try_file(&mut self, file: &SourceFile) {
        self.tally.files += 1;
        // Every try parses the file one to four times: a few each, in turn.
        let turn = self.tally.files;
        let own = self.own_rule(file, turn);
        self.tally.own += usize::from(own.is_some());
        let same = std::mem::take(&mut self.same);
        let found: usize = in_turn(&same, turn)
            .take(SAME)
            .chain(&own)
            .map(|rule| self.stays(file, rule))
            .sum();
        self.same = same;
        self.tally.matched[0] += usize::from(found > 0);
        let swaps = std::mem::take(&mut self.swaps);
        let is_swapped =
            in_turn(&swaps, turn).any(|rule| self.comes_back(file, rule, Exactly::Bytes) > 0);
        self.swaps = swaps;
        self.tally.matched[1] += usize::from(is_swapped);
        let bodies = std::mem::take(&mut self.bodies);
        for rule in &bodies {
            self.comes_back(file, rule, Exactly::Code);
        }
        self.bodies = bodies;
        let changes = std::mem::take(&mut self.changes);
        let is_changed = in_turn(&changes, turn).any(|rule| self.parses(file, rule) > 0);
        self.changes = changes;
        self.tally.matched[2] += usize::from(is_changed);
    }

    /// Makes a pattern of one node of a file, with a metavariable for a child.
    fn own_rule(&mut self, file: &SourceFile, turn: usize) -> Option<Rule> {
        let tree = self.parser.parse(&file.text, None).unwrap();
        let sampled = sample::nodes(&tree, &file.text, &self.kinds, 12);
        let node = *sampled.nodes.get(turn % sampled.nodes.len().max(1))?;
        let mut cursor = node.walk();
        let child = node
            .named_children(&mut cursor)
            .find(|c| !c.is_extra() && c.byte_range() != node.byte_range());
        let with_hole = child.and_then(|c| self_match::replaced(&file.text, node, c));
        let text = with_hole.unwrap_or_else(|| sample::dedented(&file.text, node));
        Rule::new(self.grammar, &text, &text)
    }

    /// A template that is the pattern changes nothing.
    fn stays(&mut self, file: &SourceFile, rule: &Rule) -> usize {
        let source = file.text.as_bytes();
        match rule.rewrite(self.grammar, source) {
            Ok(result) => {
                if let Some(first) = result.replacements.first() {
                    let what = difference(
                        &source[first.before.clone()],
                        &result.bytes[first.after.clone()],
                    );
                    self.break_promise(file, &rule.name, &what);
                } else if result.bytes != source || result.lost_comments > 0 {
                    self.break_promise(file, &rule.name, "other bytes, or comments lost");
                }
                self.tally.unchanged += result.unchanged;
                result.unchanged
            }
            Err(error) => {
                self.break_promise(file, &rule.name, &error.to_string());
                0
            }
        }
    }

    /// Rewrites a text; counts what is refused.
    fn try_rewrite(&mut self, source: &[u8], rule: &Rule) -> Option<Rewritten> {
        let result = match rule.rewrite(self.grammar, source) {
            Ok(result) if result.replacements.is_empty() => return None,
            Ok(result) => result,
            Err(_) => {
                *self.tally.refused.entry(rule.name.clone()).or_default() += 1;
                return None;
            }
        };
        Some(result)
    }

    /// Two metavariables swapped and swapped back change nothing.
    fn comes_back(&mut self, file: &SourceFile, rule: &Rule, exactly: Exactly) -> usize {
        let source = file.text.as_bytes();
        let Some(swapped) = self.try_rewrite(source, rule) else {
            return 0;
        };
        self.check_faults(file, rule, &swapped);
        self.tally.swapped += swapped.replacements.len();
        match rule.rewrite(self.grammar, &swapped.bytes) {
            Ok(back) if back.bytes == source => {}
            Ok(back)
                if exactly == Exactly::Code
                    && (back.replacements.len() != swapped.replacements.len()
                        || code(&mut self.parser, &back.bytes)
                            == code(&mut self.parser, source)) =>
            {
                self.tally.other_layout += 1;
            }
            Ok(back) => {
                let what = difference(source, &back.bytes);
                self.break_promise(file, &rule.name, &what);
            }
            Err(error) => self.break_promise(file, &rule.name, &error.to_string()),
        }
        swapped.replacements.len()
    }

    /// A change has no new syntax errors.
    fn parses(&mut self, file: &SourceFile, rule: &Rule) -> usize {
        let Some(result) = self.try_rewrite(file.text.as_bytes(), rule) else {
            return 0;
        };
        self.check_faults(file, rule, &result);
        self.tally.changed += result.replacements.len();
        self.tally.regrouped += result.regrouped.len();
        result.replacements.len()
    }

    fn check_faults(&mut self, file: &SourceFile, rule: &Rule, result: &Rewritten) {
        let before = faults(&mut self.parser, file.text.as_bytes());
        let after = faults(&mut self.parser, &result.bytes);
        if after > before {
            self.break_promise(file, &rule.name, &format!("{before} errors became {after}"));
        }
    }

    fn report(&self) -> String {
        let t = &self.tally;
        let mut out = format!(
            "{}: {} files; {} matches written as they were, by {} patterns and {} of the files' own; \
             {} swapped and back, not alike in {} files; {} changed, {} of them regrouped; {} rewrites refused\n",
            self.id,
            t.files,
            t.unchanged,
            self.same.len(),
            t.own,
            t.swapped,
            t.other_layout,
            t.changed,
            t.regrouped,
            t.refused.values().sum::<usize>(),
        );
        for (rule, count) in &t.refused {
            let _ = writeln!(out, "  refused in {count} files: {rule}");
        }
        out
    }
}

#[test]
fn rewrites_of_real_files_keep_what_they_must() {
    let tallies: Mutex<Vec<(Tally, String)>> = Mutex::new(Vec::new());
    let next = Mutex::new(CORPORA.iter());
    let work = || loop {
        let Some((id, folder, extension, count)) = next.lock().unwrap().next() else {
            return;
        };
        let Some(corpus) = corpus::many(id, folder, extension, *count, MOST_BYTES) else {
            continue;
        };
        let mut language = Language::new(id, &corpus.grammar);
        for file in &corpus.files {
            language.try_file(file);
        }
        let report = language.report();
        tallies.lock().unwrap().push((language.tally, report));
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let tallies = tallies.into_inner().unwrap();
    let mut broken = Vec::new();
    for (tally, report) in &tallies {
        eprint!("{report}");
        broken.extend(&tally.broken);
    }
    let files: usize = tallies.iter().map(|(t, _)| t.files).sum();
    eprintln!("{files} files in {} languages", tallies.len());
    let shown: Vec<String> = broken.iter().take(60).map(ToString::to_string).collect();
    assert!(
        broken.is_empty(),
        "{} broken\n{}",
        broken.len(),
        shown.join("\n")
    );
    for (tally, report) in &tallies {
        let refused: usize = tally.refused.values().sum();
        assert!(refused * 20 <= tally.files, "{report}");
        assert!(tally.other_layout * 200 <= tally.files, "{report}");
    }
    for promise in 0..3 {
        let matched: usize = tallies.iter().map(|(t, _)| t.matched[promise]).sum();
        eprintln!("{matched} files have a match for promise {promise}");
        let least = if tallies.len() == CORPORA.len() {
            LEAST_FILES
        } else {
            files / 3
        };
        assert!(
            matched >= least,
            "promise {promise}: {matched} of {files} files, {least} are wanted"
        );
    }
}
