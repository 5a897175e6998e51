//! How a search is done does not change what it finds.

use serde_json::{Value, json};
use tiers::CallContext;

use crate::corpus;
use crate::tool::Folder;

/// Files of each language.
const FILES: usize = 15;

const PATTERNS: &[&str] = &[
    "$F($X)",
    "$F($$$A, $B, $$$C)",
    "$X == $X",
    "$X = $X",
    "$X === $X",
    "$X and $X",
    "$X && $X",
    "$X or $X",
    "$X || $X",
    "$X != $X",
    "$X + $X",
    "$X: $X",
    "$X.$M($$$A)",
    "return $X",
    "if ($C) { $$$B }",
    "if $C { $$$B }",
    "$X.unwrap()",
    "match $X { $$$A }",
    "raise $E($$$A)",
    "def $N(self, $$$A):\n    $$$B",
    "if err != nil { return $$$R }",
    "sizeof($T)",
    "$X->$Y",
    "interface $N { $$$M }",
    "zz_absent($X)",
    "await $X",
];

fn corpora() -> Option<Folder> {
    let mut folder = Folder::new();
    for (language, extension) in [
        ("rust", "rs"),
        ("python", "py"),
        ("c", "c"),
        ("go", "go"),
        ("javascript", "js"),
        ("typescript", "ts"),
    ] {
        for (number, file) in corpus::sample(language, extension, FILES)?
            .files
            .iter()
            .enumerate()
        {
            folder = folder.file(&format!("{language}/{number}.{extension}"), &file.text);
        }
    }
    Some(folder)
}

fn input(pattern: &str, max_results: u64) -> Value {
    json!({ "pattern": pattern, "max_results": max_results })
}

#[test]
fn the_prefilter_and_the_number_of_threads_change_nothing() {
    let Some(folder) = corpora() else { return };
    let mut found = 0;
    for pattern in PATTERNS {
        let input = input(pattern, 1_000_000);
        let wanted = folder.call(&folder.tool().threads(1), &input).unwrap();
        found += wanted.places().len();
        let plain = folder
            .call(&folder.tool().threads(1).prefilter(false), &input)
            .unwrap();
        assert_eq!(
            plain.details["matches"], wanted.details["matches"],
            "{pattern}"
        );
        for threads in [2, 4] {
            let said = folder
                .call(&folder.tool().threads(threads), &input)
                .unwrap();
            assert_eq!(said.text, wanted.text, "{pattern}, {threads} threads");
            assert_eq!(said.details, wanted.details, "{pattern}, {threads} threads");
        }
    }
    eprintln!("{} patterns, {found} matches", PATTERNS.len());
    assert!(found > 5_000, "{found} matches");
}

#[test]
fn a_limit_gives_the_first_of_all_matches() {
    let Some(folder) = corpora() else { return };
    for pattern in PATTERNS {
        let all = folder.try_search(&input(pattern, 1_000_000)).unwrap();
        let all = all.details["matches"].as_array().unwrap();
        for limit in [1, 50] {
            for threads in [1, 4] {
                let tool = folder.tool().threads(threads);
                let said = folder.call(&tool, &input(pattern, limit)).unwrap();
                let wanted = all.get(..all.len().min(limit as usize)).unwrap();
                let shown = said.details["matches"].as_array().unwrap();
                assert_eq!(shown, wanted, "{pattern}, {limit}, {threads} threads");
                let total = said.details["total"].as_u64().unwrap() as usize;
                let is_exact = said.details["total_is_exact"] == true;
                assert!(total <= all.len(), "{pattern}, {limit}");
                assert!(!is_exact || total == all.len(), "{pattern}, {limit}");
                assert!(total > limit as usize || is_exact, "{pattern}, {limit}");
                assert_eq!(
                    said.text,
                    folder.call(&tool, &input(pattern, limit)).unwrap().text
                );
            }
        }
    }
}

#[test]
fn trees_kept_from_the_last_search_change_nothing() {
    let Some(folder) = corpora() else { return };
    let context = CallContext::detached(&folder.run());
    for pattern in PATTERNS {
        let input = input(pattern, 1_000_000);
        let plain = folder.call(&folder.tool().cache_bytes(0), &input).unwrap();
        for threads in [1, 2] {
            let tool = folder.tool().threads(threads);
            let said = folder.call_in(&tool, &input, &context).unwrap();
            assert_eq!(said.text, plain.text, "{pattern}, {threads} threads");
            assert_eq!(said.details, plain.details, "{pattern}, {threads} threads");
        }
        // So little that most trees are not kept.
        let tool = folder.tool().cache_bytes(100_000);
        let said = folder.call_in(&tool, &input, &context).unwrap();
        assert_eq!(said.details, plain.details, "{pattern}, little memory");
    }
}

#[test]
fn a_changed_file_is_never_searched_as_it_was() {
    let mut folder = Folder::new().file("a.py", "f(1)\n").file("b.py", "f(2)\n");
    let context = CallContext::detached(&folder.run());
    let tool = folder.tool();
    let pattern = input("f($X)", 50);
    let places = |folder: &Folder| folder.call_in(&tool, &pattern, &context).unwrap().places();
    assert_eq!(places(&folder), ["a.py:1", "b.py:1"]);
    // As long as before, and with the time of before.
    let path = folder.path().join("a.py");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    folder = folder.file("a.py", "g(1)\n");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(places(&folder), ["b.py:1"]);
    folder = folder.file("a.py", "\nf(1)\n");
    assert_eq!(places(&folder), ["a.py:2", "b.py:1"]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(places(&folder), ["b.py:1"]);
    folder = folder.file("a.rs", "fn m() { f(1); }\n");
    assert_eq!(places(&folder), ["a.rs:1", "b.py:1"]);
}
