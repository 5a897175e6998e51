//! The language tables, checked against the real grammars.
#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]
#![allow(
    dead_code,
    unused_imports,
    reason = "what is used depends on the grammars compiled in"
)]

mod read_as;
mod reading;
mod refused;
mod symbols;

use reading::{Refusal, read};
use structural::languages::{by_name, compiled, table};

#[test]
fn every_context_accepts_its_own_example() {
    let mut refused = Vec::new();
    for language in compiled().iter() {
        for context in language.contexts {
            if let Err(refusal) = read(language, context, context.example) {
                let (rung, example) = (context.rung, context.example);
                refused.push(format!("{} {rung:?} {example:?}: {refusal:?}", language.id));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn every_language_has_contexts_and_files() {
    for language in table() {
        assert!(
            !language.contexts.is_empty(),
            "{} has no contexts",
            language.id
        );
        assert!(
            !(language.extensions.is_empty() && language.basenames.is_empty()),
            "{} has no files",
            language.id
        );
    }
}

#[test]
fn kinds_named_in_the_tables_exist_in_the_grammars() {
    let mut unknown = Vec::new();
    for language in compiled().iter() {
        let grammar: tree_sitter::Language = language.grammar.unwrap().into();
        let known = |kind: &str| {
            grammar.id_for_node_kind(kind, true) != 0 || grammar.id_for_node_kind(kind, false) != 0
        };
        let dropped = language.dropped.iter().flat_map(|d| [d.kinds, d.when]);
        let kinds = language.contexts.iter().map(|c| c.kinds).chain(dropped);
        let others = [
            language.literal_name_kinds,
            language.never_empty,
            language.text_kinds,
            language.refused_dollar_kinds,
            language.token_runs,
        ];
        let reserved = language.reserved.iter().map(|r| r.kinds);
        for kind in kinds.chain(others).chain(reserved).flatten() {
            if !known(kind) {
                unknown.push(format!("{}: {kind}", language.id));
            }
        }
    }
    unknown.sort();
    unknown.dedup();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// Panics unless every context refuses `fragment`.
fn assert_refused(language: &str, fragment: &str) {
    let language = by_name(language).unwrap();
    for context in language.contexts {
        if let Ok(reading) = read(language, context, fragment) {
            panic!(
                "{} {:?} accepts {fragment:?}: {}",
                language.id,
                context.rung,
                reading.sexp()
            );
        }
    }
}

/// The kinds that the contexts of a language read a fragment as, without repeats:
/// of all nodes that span it, or of the siblings, joined by a space.
fn kinds(language: &str, fragment: &str) -> Vec<String> {
    let language = by_name(language).unwrap();
    let mut kinds: Vec<String> = language
        .contexts
        .iter()
        .filter_map(|context| read(language, context, fragment).ok())
        .flat_map(|reading| match reading.kinds() {
            kinds if kinds.len() > 1 => vec![kinds.join(" ")],
            _ => reading.spanning(),
        })
        .collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[cfg(feature = "lang-rust")]
#[test]
fn a_fragment_that_leaves_its_scaffold_is_refused() {
    let rust = by_name("rust").unwrap();
    for context in rust.contexts {
        for fragment in ["x) + (y", "a; } fn g() { b", "} {"] {
            let refusal = read(rust, context, fragment).err();
            assert!(
                matches!(refusal, Some(Refusal::Span(_) | Refusal::Syntax(_))),
                "{:?} {fragment:?}",
                context.rung
            );
        }
    }
}
