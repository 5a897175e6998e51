//! What is known of a language that has no row in the table: nothing, so the
//! fragment is read in the contexts that languages usually have.
//!
//! A context that is none in the language at hand does not parse, and then
//! accepts no fragment.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::HoleForm::{Dollar, Lower, Quoted, Upper};
use super::Rung::{Argument, Declaration, Expression, Member, Statement};
use super::{Context, Language, context};

/// Contexts that fit many languages, the plainest first.
const CONTEXTS: &[Context] = &[
    context(Declaration, "", "\n", ""),
    context(Declaration, "", ";\n", ""),
    context(Expression, "x = ", "\n", ""),
    context(Expression, "x = ", ";\n", ""),
    context(Statement, "void f() {\n", "\n}\n", ""),
    context(Statement, "void f() {\n", ";\n}\n", ""),
    context(Statement, "fn f() {\n", "\n}\n", ""),
    context(Statement, "fn f() {\n", ";\n}\n", ""),
    context(Statement, "func f() {\n", "\n}\n", ""),
    context(Statement, "fun f() {\n", "\n}\n", ""),
    context(Statement, "function f() {\n", "\n}\n", ""),
    context(Statement, "function f() {\n", ";\n}\n", ""),
    context(Statement, "function f()\n", "\nend\n", ""),
    context(Statement, "def f()\n", "\nend\n", ""),
    context(Statement, "def f():\n  ", "\n", ""),
    context(Statement, "func f():\n\t", "\n", ""),
    context(Statement, "begin\n", "\nend\n", ""),
    context(Statement, "begin\n", ";\nend;\n", ""),
    context(Member, "class Z {\n", "\n}\n", ""),
    context(Member, "struct Z {\n", "\n}\n", ""),
    context(Member, "module z {\n", "\n}\n", ""),
    context(Argument, "f(", ")\n", ""),
    context(Argument, "f(", ");\n", ""),
    context(Argument, "(f ", ")\n", ""),
];

/// Returns the row of a language that the table does not have.
///
/// `name` becomes the id, with `-` for `_`. Rows live as long as the program,
/// one for each name.
pub(crate) fn row(name: &str) -> &'static Language {
    static ROWS: LazyLock<Mutex<HashMap<String, &'static Language>>> =
        LazyLock::new(Mutex::default);
    let id = name.replace('_', "-");
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    rows.entry(id.clone()).or_insert_with(|| {
        Box::leak(Box::new(Language {
            contexts: CONTEXTS,
            holes: &[Upper, Lower, Quoted, Dollar],
            names_in_texts: true,
            ..Language::new(id.leak(), None)
        }))
    })
}

/// Returns `row` as it is, or with the general contexts added where the grammar
/// at hand is not the one that the row was written for.
pub(crate) fn fitted(row: &'static Language, grammar: &tree_sitter::Language) -> &'static Language {
    static FITTED: LazyLock<Mutex<HashMap<&'static str, &'static Language>>> =
        LazyLock::new(Mutex::default);
    if has_all_kinds(row, grammar) {
        return row;
    }
    let mut fitted = FITTED.lock().unwrap_or_else(PoisonError::into_inner);
    fitted.entry(row.id).or_insert_with(|| {
        Box::leak(Box::new(Language {
            contexts: [row.contexts, CONTEXTS].concat().leak(),
            ..*row
        }))
    })
}

/// Whether the grammar has every node kind that the contexts of a row name.
fn has_all_kinds(row: &Language, grammar: &tree_sitter::Language) -> bool {
    row.contexts
        .iter()
        .flat_map(|context| context.kinds)
        .all(|kind| {
            grammar.id_for_node_kind(kind, true) != 0 || grammar.id_for_node_kind(kind, false) != 0
        })
}
