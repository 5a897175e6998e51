//! Deep and long files and patterns neither overflow the stack nor hang.
//!
//! Every search runs on a thread with a stack that is far smaller than usual,
//! and has to end within a limit that only a hang reaches.

use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;
use structural::{
    CompiledGrammars, GrammarSource as _, Pattern, PatternError, SearchError, search_text,
};
use tiers::ErrorKind;

use crate::tool::{Folder, message, said};

const STACK_BYTES: usize = 256 * 1024;

/// Much longer than any of it takes.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs on a small stack, and panics where it does not end.
#[track_caller]
fn on_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || send.send(work()))
        .unwrap();
    match receive.recv_timeout(LIMIT) {
        Ok(result) => {
            thread.join().unwrap().unwrap();
            result
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            thread.join().unwrap().unwrap();
            unreachable!("the thread sends before it ends");
        }
    }
}

#[track_caller]
fn count(
    language: &'static str,
    pattern: &'static str,
    source: String,
) -> Result<usize, SearchError> {
    on_small_stack(move || {
        let grammar = CompiledGrammars::new().grammar(language).unwrap();
        let pattern = Pattern::compile(pattern, &grammar).unwrap();
        search_text(&grammar, &pattern, &source).map(|found| found.len())
    })
}

/// A file of each language with one expression in it.
fn file_with(language: &str, expression: &str) -> String {
    match language {
        "python" | "ruby" | "javascript" | "typescript" => format!("x = {expression}\n"),
        "rust" => format!("fn m() {{ let x = {expression}; }}\n"),
        "c" | "cpp" => format!("void m(void) {{ x = {expression}; }}\n"),
        "go" => format!("package p\nvar x = {expression}\n"),
        "java" | "c-sharp" => format!("class A {{ void m() {{ x = {expression}; }} }}\n"),
        "dart" => format!("void m() {{ x = {expression}; }}\n"),
        other => panic!("no file for {other}"),
    }
}

const LANGUAGES: &[&str] = &["javascript", "python", "rust", "c", "go", "java", "dart"];

#[test]
fn hundred_thousand_brackets_are_searched() {
    let nested = format!("{}f(1){}", "(".repeat(100_000), ")".repeat(100_000));
    for language in LANGUAGES {
        let found = count(language, "f($X)", file_with(language, &nested));
        assert_eq!(found, Ok(1), "{language}");
    }
}

#[test]
fn every_one_of_twenty_thousand_nested_calls_is_found() {
    let nested = format!("{}1{}", "f(".repeat(20_000), ")".repeat(20_000));
    for language in LANGUAGES {
        let found = count(language, "f($X)", file_with(language, &nested));
        assert_eq!(found, Ok(20_000), "{language}");
    }
}

#[test]
fn every_sum_in_a_sum_of_thirty_thousand_terms_is_found() {
    let sum = vec!["a"; 30_000].join(" + ");
    for language in LANGUAGES {
        let found = count(language, "$A + $B", file_with(language, &sum));
        assert_eq!(found, Ok(29_999), "{language}");
        let found = count(language, "$A + $A", file_with(language, &sum));
        assert!(matches!(found, Ok(1)), "{language}: {found:?}");
    }
}

#[test]
fn a_repeated_metavariable_compares_a_sum_of_five_thousand_terms() {
    let sum = vec!["a"; 5_000].join(" + ");
    let source = format!("({sum}) + ({sum} )");
    for language in LANGUAGES {
        // Brackets around the first one, which the pattern has around the second.
        let found = count(language, "($A) + ($A)", file_with(language, &source));
        assert_eq!(found, Ok(1), "{language}");
        let other = format!("({sum}) + ({sum} + b)");
        let found = count(language, "($A) + ($A)", file_with(language, &other));
        assert_eq!(found, Ok(0), "{language}");
    }
    let source = format!("{sum} + ({sum})");
    let found = count("javascript", "$A + ($A)", file_with("javascript", &source));
    assert_eq!(found, Ok(1));
}

#[test]
fn every_link_of_a_chain_of_twenty_thousand_is_found() {
    let chain = format!("a{}", ".b()".repeat(20_000));
    for language in LANGUAGES {
        let found = count(language, "$X.b()", file_with(language, &chain));
        assert_eq!(found, Ok(20_000), "{language}");
    }
}

#[test]
fn several_runs_over_two_thousand_distinct_arguments_end() {
    let arguments: Vec<String> = (0..2_000).map(|n| format!("a{n}")).collect();
    let call = format!("f({})", arguments.join(", "));
    let again = format!("f({}, a7)", arguments.join(", "));
    for language in LANGUAGES {
        let pattern = "f($$$A, $B, $$$C, $B, $$$D)";
        let found = count(language, pattern, file_with(language, &call));
        assert!(
            matches!(found, Ok(0) | Err(SearchError::OverBudget(_))),
            "{language}: {found:?}"
        );
        let found = count(language, pattern, file_with(language, &again));
        assert!(
            matches!(found, Ok(1) | Err(SearchError::OverBudget(_))),
            "{language}: {found:?}"
        );
    }
}

#[test]
fn many_runs_that_cannot_match_end() {
    let arguments = vec!["a"; 3_000].join(", ");
    let source = file_with("javascript", &format!("f({arguments})"));
    let found = count(
        "javascript",
        "f($$$A, $X, $$$B, $Y, $$$C, $X, $$$D, $Y, $$$E, b)",
        source,
    );
    assert!(
        matches!(found, Ok(0) | Err(SearchError::OverBudget(_))),
        "{found:?}"
    );
}

#[test]
fn runs_that_compare_long_texts_end() {
    let calls = "a(1);\n".repeat(20_000);
    let source = format!("{calls}x();\n{calls}");
    let found = count("javascript", "$X; $$$A; x(); $$$A; z()", source.clone());
    assert!(
        matches!(found, Ok(0) | Err(SearchError::OverBudget(_))),
        "{found:?}"
    );
    let found = count("javascript", "x(); $$$A; z()", source);
    assert_eq!(found, Ok(0));
}

#[test]
fn an_error_in_a_long_row_of_matches_costs_no_more_than_the_row() {
    // Each match looks whether it touches one of the errors.
    let source = format!("{}(", "a(1);\n".repeat(150_000));
    assert_eq!(count("javascript", "a($X);", source), Ok(150_000));
}

/// Text that is no code in any language.
fn noise(bytes: usize) -> String {
    const SIGNS: &[u8] = b"abc(){}[]<>;,.:=+-*/\"' \n$X@#!&|^%~?0123";
    let mut seed = 7_u64;
    let next = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(SIGNS[(seed >> 33) as usize % SIGNS.len()])
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

#[test]
fn a_long_pattern_that_is_no_code_is_refused_in_time() {
    for language in ["dart", "haskell", "python"] {
        let asked = on_small_stack(move || {
            let grammar = CompiledGrammars::new().grammar(language).unwrap();
            // Asked once for each hundred operations of the parser.
            let asked = std::cell::Cell::new(0);
            let is_stopped = || {
                asked.set(asked.get() + 1);
                false
            };
            Pattern::compile_until(&noise(16_000), &grammar, &is_stopped).unwrap_err();
            asked.get()
        });
        assert!((1..=30_000).contains(&asked), "{language}: {asked}");
    }
}

#[test]
fn a_pattern_is_read_only_until_nobody_waits() {
    let grammar = CompiledGrammars::new().grammar("dart").unwrap();
    let asked = std::cell::Cell::new(0);
    let is_stopped = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let result = Pattern::compile_until(&noise(16_000), &grammar, &is_stopped);
    assert_eq!(result.unwrap_err(), PatternError::Stopped);
    assert_eq!(asked.get(), 4);
}

#[test]
fn open_brackets_without_end_are_searched() {
    for language in LANGUAGES {
        let broken = format!("f(1); {}", "(".repeat(20_000));
        count(language, "f($X)", file_with(language, &broken)).unwrap();
        let broken = format!("f(1); {}", "{[".repeat(5_000));
        count(language, "f($X)", file_with(language, &broken)).unwrap();
    }
}

#[test]
fn deep_and_long_patterns_end() {
    let patterns = [
        format!("{}x{}", "(".repeat(2_000), ")".repeat(2_000)),
        "(".repeat(16_000),
        vec!["a"; 4_000].join(" + "),
        format!("f({})", vec!["$_"; 4_000].join(", ")),
        format!("x = {{ {} }}", "$_; ".repeat(500)),
        format!("if ($_) {} $_", "{ $_ ".repeat(200)),
    ];
    for language in ["javascript", "rust"] {
        for pattern in patterns.clone() {
            on_small_stack(move || {
                let grammar = CompiledGrammars::new().grammar(language).unwrap();
                // Whether it is accepted does not matter here.
                let _ = Pattern::compile(&pattern, &grammar);
            });
        }
    }
}

#[test]
fn the_answer_for_deeply_nested_matches_is_short() {
    let nested = format!("{}1{}", "f(".repeat(20_000), ")".repeat(20_000));
    let folder = Folder::new().file("a.js", file_with("javascript", &nested));
    let said = folder.search("f($X)");
    assert_eq!(said.details["shown"], 50);
    assert!(said.text.len() < 40_000, "{} bytes", said.text.len());
    let details = said.details.to_string();
    assert!(details.len() < 300_000, "{} bytes", details.len());
    let said = folder
        .try_search(&json!({ "pattern": "f($X)", "max_results": 30_000 }))
        .unwrap();
    assert_eq!(said.details["total"], 20_000);
}

#[test]
fn what_was_found_before_the_budget_ran_out_is_kept() {
    let arguments = vec!["a"; 3_000].join(", ");
    let folder = Folder::new().file("a.js", format!("f(p, q, p, q, b);\nf({arguments});\n"));
    let pattern = "f($$$A, $X, $$$B, $Y, $$$C, $X, $$$D, $Y, $$$E, b)";
    let error = folder
        .try_search(&json!({ "pattern": pattern }))
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    let partial = said(error.partial.as_ref().unwrap());
    assert_eq!(partial.places(), ["a.js:1"]);
    assert!(message(&error).contains("`a.js`"), "{}", message(&error));
}
