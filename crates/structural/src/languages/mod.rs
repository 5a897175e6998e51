//! The table of languages: how files are recognised, and in which contexts a
//! fragment of code may be read.
//!
//! A row is data. What is done with it is decided by the pattern compiler.

/// A grammar and its `node-types.json`, where the feature compiles them in.
macro_rules! compiled {
    ($feature:literal, $grammar:expr, $node_types:expr) => {{
        #[cfg(feature = $feature)]
        let compiled = Some(($grammar, $node_types));
        #[cfg(not(feature = $feature))]
        let compiled = None;
        compiled
    }};
}

mod curly;
mod data;
mod functional;
#[cfg(feature = "language-pack")]
pub(crate) mod general;
mod jvm;
mod lookup;
mod scripting;
mod web;

use std::sync::{Arc, LazyLock};

use tree_sitter_language::LanguageFn;

pub use lookup::{Further, Languages};

/// One language: its grammar and what the pattern compiler knows of it.
#[derive(Clone, Copy)]
pub struct Language {
    /// The id the model uses, for example `rust`.
    pub id: &'static str,
    /// Other names accepted for it, lower case, for example `c#`.
    pub aliases: &'static [&'static str],
    /// File name endings without the dot, lower case.
    pub extensions: &'static [&'static str],
    /// Whole file names, for example `Dockerfile`.
    pub basenames: &'static [&'static str],
    /// Interpreter names in a `#!` line, without version numbers.
    pub shebangs: &'static [&'static str],
    /// The grammar, where it is compiled in.
    pub grammar: Option<LanguageFn>,
    /// The grammar's `node-types.json`; empty where there is none at hand.
    pub node_types: &'static str,
    /// The ladder: contexts in which a fragment is parsed, in order.
    pub contexts: &'static [Context],
    /// Readings nobody means.
    pub dropped: &'static [Dropped],
    /// Kinds that are meant only where the fragment spells out what they begin
    /// with: `verify=False` is a keyword argument as well as an assignment,
    /// `$A = $B` is an assignment only. A reading with a root (or a root's only
    /// named child) of one of these kinds, that is a metavariable or begins with
    /// one, is dropped when there is another reading.
    pub literal_name_kinds: &'static [&'static str],
    /// Kinds that the grammar lets be empty where the language does not, such
    /// as the block of a Python `def`: a fragment with an empty one is
    /// incomplete, and its context does not accept it.
    pub never_empty: &'static [&'static str],
    /// Kinds that one `$NAME` does not stand for, since a person sees more than
    /// one thing: `E as e` in Python is not `$E`.
    pub never_one: &'static [&'static str],
    /// Keywords that the grammar takes for names where no keyword fits. A
    /// context that reads the first leaf of a fragment so does not accept it.
    pub reserved: &'static [Reserved],
    /// Forms in which a metavariable may be written for the parser, first first.
    pub holes: &'static [HoleForm],
    /// Further texts that may stand for a metavariable where the plain forms do
    /// not parse: `@` is the name, `%` the name in lower case (`case @:`, `int %;`).
    /// One without a name stands for what is no name, such as a number.
    /// Only for one that stands alone in its slot: between brackets, `,`, `;`,
    /// line ends and [`Self::slot_edges`].
    pub fillers: &'static [&'static str],
    /// Texts that may stand for a metavariable though the plain forms parse, as
    /// it may then be something else: the type in `sizeof($X)`.
    pub other_fillers: &'static [OtherFiller],
    /// Words and signs beside which a metavariable stands alone in its slot,
    /// beyond brackets, `,`, `;` and line ends: `then` and `end` in Lua. A space
    /// says that blanks suffice.
    pub slot_edges: &'static [&'static str],
    /// Leaf kinds in which `$` is always plain text, beyond the kinds whose
    /// name says so (`string`, `comment`, `text`, `template`, `heredoc`, ...).
    pub text_kinds: &'static [&'static str],
    /// Whether `$NAME` in a string of the language means a variable of its own.
    pub names_in_texts: bool,
    /// Kinds in which the grammar lets a `$name` through that no real file has
    /// there, so that it is refused as a misspelt metavariable.
    pub refused_dollar_kinds: &'static [&'static str],
    /// Containers of unparsed tokens (Rust macros): one metavariable stands for
    /// a balanced run up to the next `,`.
    pub token_runs: &'static [&'static str],
    /// Whether the case of keywords is free, so that they cannot be searched as text.
    pub ignores_case: bool,
    /// Whether identifiers and keywords are always delimited by characters
    /// outside `[A-Za-z0-9_]`, so that the search for literals may insist on it.
    pub whole_words: bool,
    /// How comments are written, where it is known well enough to step over
    /// them without parsing.
    pub comments: Option<&'static Comments>,
}

/// How what may stand between any two tokens is written, beside blanks and line ends.
///
/// Everything that the grammar lets stand anywhere begins with one of `line` or
/// `other`. Given only for languages in which no expression begins or ends with `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comments {
    /// What begins a comment that ends with its line: `//`.
    pub line: &'static [&'static str],
    /// What begins one of another kind: `/*`.
    pub other: &'static [&'static str],
    /// Bytes behind which `line` and `other` may be plain text: quotes, the `/`
    /// of a regular expression, the `<` of JSX.
    pub quotes: &'static [u8],
    /// Those of `quotes` that begin a text which ends at the next such byte,
    /// unless there is a `\\`, a `$` or a `{` in it or a prefix before it.
    pub plain_quotes: &'static [u8],
    /// Whether strings and comments can be told from code without a parser.
    pub lexis: Lexis,
}

/// Whose strings and comments a language has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lexis {
    /// Python's.
    Python,
    /// Some that only a parser tells from code with certainty.
    Other,
}

impl Comments {
    /// `//` and `/* */`, with strings in `"`, and other things in `'` and backticks.
    pub(crate) const C_LIKE: Self = Self {
        line: &["//"],
        other: &["/*"],
        quotes: b"\"'`",
        plain_quotes: b"\"",
        lexis: Lexis::Other,
    };
}

/// Languages in which a line end is white space like any other.
const LINES_ARE_FREE: &[&str] = &[
    "c",
    "c-sharp",
    "cpp",
    "css",
    "dart",
    "erlang",
    "graphql",
    "html",
    "java",
    "json",
    "lua",
    "nix",
    "objc",
    "ocaml",
    "ocaml-interface",
    "php",
    "proto",
    "rust",
    "scss",
    "solidity",
    "sql",
    "xml",
    "zig",
];

impl Language {
    /// Says whether a name of this kind is one that the language reserves.
    #[must_use]
    pub fn reserves(&self, kind: &str, text: &str) -> bool {
        let is_word = |w: &&str| *w == text || self.ignores_case && w.eq_ignore_ascii_case(text);
        self.reserved
            .iter()
            .any(|r| r.kinds.contains(&kind) && r.words.iter().any(is_word))
    }

    /// Whether a line end may end a statement, so that a line cannot be broken
    /// just anywhere. Of a language that is not known it is taken that it may.
    pub(crate) fn line_ends_count(&self) -> bool {
        !LINES_ARE_FREE.contains(&self.id)
    }

    /// Whether a line end ends an expression outside of brackets, wherever it
    /// could go on.
    pub(crate) fn lines_end_expressions(&self) -> bool {
        self.line_ends_count()
            && !matches!(
                self.id,
                "go" | "javascript" | "swift" | "tsx" | "typescript"
            )
    }

    /// Whether lines count within braces, as those hold statements, and a line
    /// may be broken behind a comma wherever it is.
    pub(crate) fn lines_end_in_braces(&self) -> bool {
        !matches!(self.id, "python" | "gdscript")
    }

    /// A row with nothing set but what every language has.
    pub(crate) const fn new(
        id: &'static str,
        compiled: Option<(LanguageFn, &'static str)>,
    ) -> Self {
        let (grammar, node_types) = match compiled {
            Some((grammar, node_types)) => (Some(grammar), node_types),
            None => (None, ""),
        };
        Self {
            id,
            aliases: &[],
            extensions: &[],
            basenames: &[],
            shebangs: &[],
            grammar,
            node_types,
            contexts: &[],
            dropped: &[],
            literal_name_kinds: &[],
            never_empty: &[],
            never_one: &[],
            reserved: &[],
            holes: &[HoleForm::Upper, HoleForm::Lower],
            fillers: &[],
            other_fillers: &[],
            slot_edges: &[],
            text_kinds: &[],
            names_in_texts: false,
            refused_dollar_kinds: &[],
            token_runs: &[],
            ignores_case: false,
            whole_words: false,
            comments: None,
        }
    }
}

/// How a metavariable is written for the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoleForm {
    /// An identifier that starts with a capital: `Zzmv0`.
    Upper,
    /// An identifier in lower case: `zzmv0`.
    Lower,
    /// A string: `"Zzmv0"`; the whole string node is the hole.
    Quoted,
    /// A variable with a sigil: `$zzmv0`; the whole variable node is the hole.
    Dollar,
}

/// One context of the ladder: the fragment is parsed as `prefix + fragment + suffix`.
///
/// A terminator that the suffix supplies (`;`, a line end) is not part of the
/// pattern. Where it makes a node of its own (an empty statement), or fills a
/// field, the fragment lacked that and is refused: `if (x)`. The scaffold itself must parse without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// What the fragment is read as.
    pub rung: Rung,
    /// Text before the fragment.
    pub prefix: &'static str,
    /// Text after the fragment.
    pub suffix: &'static str,
    /// A fragment this context accepts, shown to people and used in tests.
    pub example: &'static str,
    /// Kinds that the fragment must have, or empty where any will do: see
    /// [`Context::takes`].
    pub kinds: &'static [&'static str],
}

impl Context {
    /// Limits the context to fragments of these kinds, for scaffolds that also
    /// let through what another context is for.
    pub(crate) const fn only(mut self, kinds: &'static [&'static str]) -> Self {
        self.kinds = kinds;
        self
    }

    /// Says whether the context is meant for a fragment of one of these kinds.
    ///
    /// For a fragment that is one node, `kinds` are those of all nodes that span
    /// it, and of their only named children downwards; for siblings, the kind of
    /// the first of them, named or not (`else` in front of its block).
    pub fn takes<'a>(&self, mut kinds: impl Iterator<Item = &'a str>) -> bool {
        self.kinds.is_empty() || kinds.any(|kind| self.kinds.contains(&kind))
    }
}

/// Builds a [`Context`].
pub(crate) const fn context(
    rung: Rung,
    prefix: &'static str,
    suffix: &'static str,
    example: &'static str,
) -> Context {
    Context {
        rung,
        prefix,
        suffix,
        example,
        kinds: &[],
    }
}

/// What a fragment is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rung {
    /// A statement, or several.
    Statement,
    /// An expression.
    Expression,
    /// A member of a class, trait, interface or the like.
    Member,
    /// A top-level declaration.
    Declaration,
    /// A key and its value: object pair, dict pair, struct initialiser.
    Pair,
    /// An argument of a call.
    Argument,
    /// A parameter.
    Parameter,
    /// A type.
    Type,
    /// A pattern of a match or of a destructuring.
    Pattern,
    /// An arm or case of a match or switch.
    Arm,
    /// A field or variant of a struct, record, initialiser or enum.
    Field,
    /// An attribute of a tag.
    Attribute,
    /// A decorator, annotation or attribute of a declaration.
    Decorator,
    /// An import.
    Import,
    /// A clause of a statement: `except`, `else`, `where`.
    Clause,
}

/// What a metavariable may also be, where it is alone in its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherFiller {
    /// The text that it stands behind, on the same line.
    pub behind: &'static str,
    /// The text that stands for it, as in [`Language::fillers`].
    pub text: &'static str,
    /// Whether it is meant so only, wherever that parses.
    pub is_meant: bool,
}

/// `$ELSE` behind a block on its line: not another statement, but a clause of
/// the one before.
pub(crate) const ELSE_BEHIND_BLOCK: OtherFiller = OtherFiller {
    behind: "}",
    text: "else {}",
    is_meant: true,
};

/// A reading nobody means: a root of one of `kinds`, where the same text also
/// reads as one of `when`.
#[derive(Debug, Clone, Copy)]
pub struct Dropped {
    /// Node kinds of the reading to drop (of its root or its root's only named child).
    pub kinds: &'static [&'static str],
    /// Node kinds of the other reading (of its root or its root's only named child).
    pub when: &'static [&'static str],
}

/// Keywords that a grammar takes for names: `rescue $E` is no call in Ruby.
#[derive(Debug, Clone, Copy)]
pub struct Reserved {
    /// Kinds of the leaf that would be the name.
    pub kinds: &'static [&'static str],
    /// The keywords, in lower case where the case of keywords is free.
    pub words: &'static [&'static str],
}

/// Returns the rows of all languages, compiled in or not, sorted by id.
#[must_use]
pub fn table() -> &'static [Language] {
    static TABLE: LazyLock<Vec<Language>> = LazyLock::new(|| {
        let mut table: Vec<Language> = [
            curly::LANGUAGES,
            web::LANGUAGES,
            jvm::LANGUAGES,
            scripting::LANGUAGES,
            functional::LANGUAGES,
            data::LANGUAGES,
        ]
        .concat();
        table.sort_by_key(|l| l.id);
        table
    });
    &TABLE
}

/// Returns the languages whose grammar is compiled in.
#[must_use]
pub fn compiled() -> Arc<Languages> {
    static COMPILED: LazyLock<Arc<Languages>> = LazyLock::new(|| {
        let rows = table().iter().filter(|l| l.grammar.is_some());
        Arc::new(Languages::new(rows.collect()))
    });
    Arc::clone(&COMPILED)
}

/// Returns the compiled-in language with this id, alias or file name extension.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Language> {
    compiled().by_name(name)
}
