//! What matches of a pattern become.
#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]
#![cfg(feature = "all-grammars")]

mod changes;
mod deletions;
mod identity;
mod layout;
mod refused;
mod separators;
mod templates;
mod texts;
mod wrapped;

use std::sync::Arc;

use structural::{
    CompiledGrammars, Grammar, GrammarSource as _, Pattern, RewriteError, Rewritten, Template,
    TemplateError, rewrite_text,
};

fn grammar(language: &str) -> Arc<Grammar> {
    CompiledGrammars::new().grammar(language).unwrap()
}

/// Reads a template for a pattern.
fn template(language: &str, pattern: &str, rewrite: &str) -> Result<Template, TemplateError> {
    let grammar = grammar(language);
    let pattern = Pattern::compile(pattern, &grammar).unwrap();
    Template::parse(rewrite, &pattern, &grammar)
}

#[track_caller]
fn try_rewrite(
    language: &str,
    pattern: &str,
    rewrite: &str,
    source: &str,
) -> Result<Rewritten, RewriteError> {
    let grammar = grammar(language);
    let pattern = Pattern::compile(pattern, &grammar).unwrap();
    let template = Template::parse(rewrite, &pattern, &grammar).unwrap();
    let result = rewrite_text(
        &grammar,
        &pattern,
        &template,
        source.as_bytes(),
        &mut || false,
    )?;
    // What was replaced, and nothing else, differs.
    let (mut before, mut after) = (0, 0);
    for replacement in &result.replacements {
        let kept = &source.as_bytes()[before..replacement.before.start];
        let same = &result.bytes[after..];
        assert!(
            same.starts_with(kept) || replacement.after.start - after < kept.len(),
            "{:?}",
            result
        );
        before = replacement.before.end;
        after = replacement.after.end;
    }
    assert_eq!(
        source.as_bytes()[before..].len(),
        result.bytes[after..].len(),
        "{result:?}"
    );
    Ok(result)
}

#[track_caller]
fn rewrite(language: &str, pattern: &str, rewrite: &str, source: &str) -> Rewritten {
    try_rewrite(language, pattern, rewrite, source).unwrap()
}

/// Checks what a source becomes.
#[track_caller]
fn check(language: &str, pattern: &str, template: &str, source: &str, wanted: &str) {
    let result = rewrite(language, pattern, template, source);
    let text = String::from_utf8(result.bytes).unwrap();
    assert!(
        text == wanted,
        "{pattern:?} -> {template:?}\n--- wanted\n{wanted}\n--- got\n{text}\n---"
    );
}

/// Checks that a source stays byte for byte when the pattern is the template.
#[track_caller]
fn check_identity(language: &str, pattern: &str, source: &str, matches: usize) {
    let result = rewrite(language, pattern, pattern, source);
    let text = String::from_utf8(result.bytes).unwrap();
    assert!(
        text == source,
        "{pattern:?}\n--- wanted\n{source}\n--- got\n{text}\n---"
    );
    assert_eq!(result.unchanged, matches, "{pattern:?}");
    assert_eq!(result.replacements, []);
    assert_eq!(result.lost_comments, 0);
}
