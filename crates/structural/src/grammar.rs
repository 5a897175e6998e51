//! A loaded grammar and what matching needs to know of its node kinds.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, OnceLock};

use serde::Deserialize;

use crate::languages::{self, Language};

/// Where grammars come from.
///
/// The default, [`CompiledGrammars`], holds the languages compiled in.
pub trait GrammarSource: Send + Sync {
    /// Returns the languages on offer, sorted by id.
    fn languages(&self) -> Vec<&'static Language>;

    /// Returns the grammar of a language by its id, loading it on first use.
    fn grammar(&self, id: &str) -> Option<Arc<Grammar>>;
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
    fn languages(&self) -> Vec<&'static Language> {
        languages::all().iter().collect()
    }

    fn grammar(&self, id: &str) -> Option<Arc<Grammar>> {
        static LOADED: LazyLock<Vec<OnceLock<Arc<Grammar>>>> =
            LazyLock::new(|| languages::all().iter().map(|_| OnceLock::new()).collect());
        let at = languages::all().iter().position(|l| l.id == id)?;
        let grammar = LOADED
            .get(at)?
            .get_or_init(|| Arc::new(Grammar::load(&languages::all()[at])));
        Some(Arc::clone(grammar))
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
    /// A keyword of a language that does not mind its case.
    pub(crate) keyword: bool,
    /// More than one `$NAME` stands for.
    pub(crate) never_one: bool,
    /// Holds tokens without structure, as a macro's arguments.
    pub(crate) token_run: bool,
}

impl Grammar {
    fn load(language: &'static Language) -> Self {
        let parser_language = tree_sitter::Language::new(language.grammar);
        let count = u16::try_from(parser_language.node_kind_count()).unwrap_or(u16::MAX);
        let kinds = (0..count)
            .map(|id| {
                let name = parser_language.node_kind_for_id(id).unwrap_or_default();
                kind(language, name, parser_language.node_kind_is_named(id))
            })
            .collect();
        Self {
            language,
            parser_language,
            kinds,
            lists: OnceLock::new(),
        }
    }

    /// Returns the row of the language table.
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
