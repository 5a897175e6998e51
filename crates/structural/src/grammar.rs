//! A loaded grammar and what matching needs to know of its node kinds.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};

use serde::Deserialize;

use crate::languages::{self, Language, Languages};

/// Where grammars come from.
///
/// The default, [`CompiledGrammars`], holds the languages compiled in. With the
/// feature `language-pack` there is also `LanguagePack`, which adds those in a
/// folder.
pub trait GrammarSource: Send + Sync {
    /// Returns the languages on offer.
    fn languages(&self) -> Arc<Languages>;

    /// Returns the grammar of a language by its id, loading it on first use.
    ///
    /// # Errors
    /// The language is not on offer, or its grammar cannot be loaded.
    fn grammar(&self, id: &str) -> Result<Arc<Grammar>, GrammarError>;
}

/// Why there is no grammar of a language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// The source does not offer the language.
    #[error("there is no grammar for `{0}`")]
    Absent(String),
    /// The grammar was generated for another version of the parsing library.
    #[error(
        "its grammar is of version {found} of the interface, and this program reads {} to {}",
        tree_sitter::MIN_COMPATIBLE_LANGUAGE_VERSION,
        tree_sitter::LANGUAGE_VERSION
    )]
    Version {
        /// The version it is of.
        found: usize,
    },
    /// Its file cannot be loaded, or must not be.
    #[error("`{}` cannot be loaded: {why}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
}

/// The grammars that cargo features compiled in.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct CompiledGrammars;

impl CompiledGrammars {
    /// Returns the source.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl GrammarSource for CompiledGrammars {
    fn languages(&self) -> Arc<Languages> {
        languages::compiled()
    }

    fn grammar(&self, id: &str) -> Result<Arc<Grammar>, GrammarError> {
        type Loaded = HashMap<&'static str, OnceLock<Result<Arc<Grammar>, GrammarError>>>;
        static LOADED: LazyLock<Loaded> = LazyLock::new(|| {
            let ids = languages::table().iter().map(|row| row.id);
            ids.map(|id| (id, OnceLock::new())).collect()
        });
        let absent = || GrammarError::Absent(id.to_owned());
        let language = languages::compiled().by_id(id).ok_or_else(absent)?;
        let parser = language.grammar.ok_or_else(absent)?;
        LOADED
            .get(language.id)
            .ok_or_else(absent)?
            .get_or_init(|| Grammar::new(language, parser.into()).map(Arc::new))
            .clone()
    }
}

/// A grammar ready for use.
pub struct Grammar {
    language: &'static Language,
    parser_language: tree_sitter::Language,
    kinds: Vec<Kind>,
    lists: OnceLock<HashSet<u16>>,
}

/// What matching needs to know of a node kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kind {
    /// Has a name, as against a token written out in the grammar.
    pub(crate) named: bool,
    /// Ends a statement: `;` or a line end.
    pub(crate) terminator: bool,
    /// Stands between the items of a list: `,`.
    pub(crate) separator: bool,
    /// Ends a list: `)`, `]`, `}`, `>`.
    pub(crate) closer: bool,
    /// Holds text in which `$` and white space are themselves: strings, comments.
    pub(crate) textual: bool,
    /// A string with code in it, whose text may have no node of its own.
    pub(crate) verbatim: bool,
    /// A keyword of a language that does not mind its case.
    pub(crate) keyword: bool,
    /// More than one `$NAME` stands for.
    pub(crate) never_one: bool,
    /// Holds tokens without structure, as a macro's arguments.
    pub(crate) token_run: bool,
}

impl Grammar {
    /// Prepares a grammar for a language.
    ///
    /// # Errors
    /// [`GrammarError::Version`] for a grammar that the parsing library cannot use.
    pub fn new(
        language: &'static Language,
        parser_language: tree_sitter::Language,
    ) -> Result<Self, GrammarError> {
        let found = parser_language.abi_version();
        if !(tree_sitter::MIN_COMPATIBLE_LANGUAGE_VERSION..=tree_sitter::LANGUAGE_VERSION)
            .contains(&found)
        {
            return Err(GrammarError::Version { found });
        }
        let count = u16::try_from(parser_language.node_kind_count()).unwrap_or(u16::MAX);
        let kinds = (0..count)
            .map(|id| {
                let name = parser_language.node_kind_for_id(id).unwrap_or_default();
                kind(language, name, parser_language.node_kind_is_named(id))
            })
            .collect();
        Ok(Self {
            language,
            parser_language,
            kinds,
            lists: OnceLock::new(),
        })
    }

    /// Returns what is known of the language.
    #[must_use]
    pub fn language(&self) -> &'static Language {
        self.language
    }

    /// Returns the parser's language.
    #[must_use]
    pub fn parser_language(&self) -> &tree_sitter::Language {
        &self.parser_language
    }

    /// Returns the name of a kind.
    #[must_use]
    pub fn kind_name(&self, id: u16) -> &str {
        if id == crate::tree::ERROR {
            return "ERROR";
        }
        self.parser_language
            .node_kind_for_id(id)
            .unwrap_or("unknown")
    }

    pub(crate) fn kind(&self, id: u16) -> Kind {
        self.kinds.get(usize::from(id)).copied().unwrap_or_default()
    }

    /// Returns whether nodes of this kind hold a list of items of any length.
    ///
    /// A metavariable that fills such a node alone stands for one item, not
    /// for the node. The grammar's `node-types.json` says which kinds repeat;
    /// of those, only the ones whose name speaks of a list are taken, since
    /// many grammars also let wrappers of one node repeat.
    pub(crate) fn is_list(&self, id: u16) -> bool {
        self.lists.get_or_init(|| self.find_lists()).contains(&id)
    }

    /// Returns whether a name that fills a node of this kind alone is still only
    /// its name: `$N` in `int $N;` is no declarator with a value.
    pub(crate) fn is_named_by(&self, id: u16) -> bool {
        const WORDS: &[&str] = &[
            "declarator",
            "initialized",
            "variable_declaration",
            "use_clause",
            "import_clause",
            "property_element",
        ];
        let name = self.kind_name(id);
        WORDS.iter().any(|w| name.contains(w))
    }

    fn find_lists(&self) -> HashSet<u16> {
        #[derive(Deserialize)]
        struct NodeType {
            #[serde(rename = "type")]
            name: String,
            named: bool,
            #[serde(default)]
            fields: HashMap<String, Slot>,
            #[serde(default)]
            children: Option<Slot>,
        }
        #[derive(Deserialize)]
        struct Slot {
            multiple: bool,
        }
        let known: Option<Vec<NodeType>> = serde_json::from_str(self.language.node_types).ok();
        let by_name: Option<HashMap<String, NodeType>> = known.map(|types| {
            types
                .into_iter()
                .filter(|t| t.named)
                .map(|t| (t.name.clone(), t))
                .collect()
        });
        let root = root_kind(&self.parser_language);
        let mut lists = HashSet::new();
        for id in (0..self.kinds.len()).filter_map(|id| u16::try_from(id).ok()) {
            let name = self.kind_name(id);
            if !self.kind(id).named {
                continue;
            }
            let node_type = by_name.as_ref().map(|types| types.get(name));
            let slots = || {
                node_type
                    .flatten()
                    .into_iter()
                    .flat_map(|t| t.fields.values().chain(t.children.as_ref()))
            };
            let repeats = node_type.is_none() || slots().any(|s| s.multiple);
            if root.as_deref() == Some(name) || (repeats && speaks_of_a_list(name)) {
                lists.insert(id);
            }
        }
        lists
    }
}

fn kind(language: &Language, name: &str, named: bool) -> Kind {
    Kind {
        named,
        terminator: (!named && matches!(name, ";" | "\n" | "\r\n" | "\r" | ";;"))
            || matches!(
                name,
                "automatic_semicolon"
                    | "_automatic_semicolon"
                    | "newline"
                    | "_newline"
                    | "terminator"
            ),
        separator: !named && name == ",",
        closer: !named && matches!(name, ")" | "]" | "}" | ">" | "|" | "end" | "|}" | "}}"),
        textual: named && (is_textual(name) || language.text_kinds.contains(&name)),
        verbatim: named
            && ["interpolated_string", "expandable"]
                .iter()
                .any(|w| name.contains(w)),
        keyword: named && language.ignores_case && name.starts_with("keyword_"),
        never_one: named && language.never_one.contains(&name),
        token_run: named && language.token_runs.contains(&name),
    }
}

/// Kinds whose name says that they hold text.
fn is_textual(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "string",
        "comment",
        "char",
        "regex",
        "heredoc",
        "template_content",
        "quoted",
    ];
    const BUT: &[&str] = &[
        "unquoted",
        "string_type",
        "string_scalar",
        "plain",
        "charset",
        "interpolat",
        // Several strings, with white space between them.
        "concat",
    ];
    WORDS.iter().any(|w| name.contains(w)) && !BUT.iter().any(|w| name.contains(w))
}

fn speaks_of_a_list(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "list",
        "block",
        "body",
        "sequence",
        "compound",
        "tuple",
        "section",
        "suite",
        "element_content",
    ];
    const WHOLE: &[&str] = &["then", "else", "do", "fragment", "select_expression"];
    !name.ends_with("expression_statement")
        && !matches!(name, "class" | "this" | "alias")
        && ((name.ends_with('s') && !name.ends_with("ss"))
            || WORDS.iter().any(|w| name.contains(w))
            || WHOLE.contains(&name))
}

/// Returns the name of the node that a whole file is.
fn root_kind(language: &tree_sitter::Language) -> Option<String> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(language).ok()?;
    Some(parser.parse("", None)?.root_node().kind().to_owned())
}
