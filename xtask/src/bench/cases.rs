//! What is searched for or rewritten, and where.

use std::fmt;
use std::path::PathBuf;

/// How often a pattern matches; it decides what is asked of us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// A literal that no file has.
    Absent,
    /// Literals that few files have.
    Selective,
    /// A shape that many files have.
    Middling,
    /// A shape that every file has.
    Generic,
}

/// How many matches are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Every one.
    All,
    /// As many as the tool gives unasked.
    Default,
}

/// One pattern on one corpus.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) group: Group,
    /// The id of the language, for both programs.
    pub(super) language: &'static str,
    pub(super) pattern: &'static str,
    /// What a match becomes; without it, the case is a search.
    pub(super) rewrite: Option<&'static str>,
}

const fn case(group: Group, language: &'static str, pattern: &'static str) -> Case {
    Case {
        group,
        language,
        pattern,
        rewrite: None,
    }
}

const fn rewrite(
    group: Group,
    language: &'static str,
    pattern: &'static str,
    rewrite: &'static str,
) -> Case {
    Case {
        group,
        language,
        pattern,
        rewrite: Some(rewrite),
    }
}

pub(super) const CASES: &[Case] = &[
    case(Group::Absent, "python", "zz_absent($X)"),
    case(Group::Absent, "rust", "zz_absent($X)"),
    case(Group::Absent, "c", "zz_absent($X)"),
    case(Group::Selective, "python", "warnings.warn($$$A)"),
    case(Group::Selective, "python", "os.path.join($$$A)"),
    case(Group::Selective, "rust", "$X.unwrap_or_default()"),
    case(Group::Middling, "python", "def $N(self, $$$A):\n    $$$B"),
    case(Group::Middling, "rust", "match $X { $$$A }"),
    case(Group::Generic, "python", "$F($X)"),
    case(Group::Generic, "python", "$F($$$A, $B, $$$C)"),
    case(Group::Generic, "python", "$X == $X"),
    case(Group::Generic, "rust", "$F($X)"),
    case(Group::Generic, "rust", "$F($$$A, $B, $$$C)"),
    case(Group::Generic, "rust", "$X == $X"),
    case(Group::Generic, "c", "$F($X)"),
    case(Group::Generic, "c", "$F($$$A, $B, $$$C)"),
    case(Group::Generic, "c", "$X == $X"),
    rewrite(
        Group::Selective,
        "python",
        "os.path.join($$$A)",
        "pathlib.Path($$$A)",
    ),
    rewrite(
        Group::Selective,
        "rust",
        "$X.unwrap_or_default()",
        "$X.unwrap_or(Default::default())",
    ),
    rewrite(Group::Selective, "c", "malloc($X)", "checked_malloc($X)"),
    rewrite(Group::Generic, "python", "$F($X)", "w($F($X))"),
    rewrite(Group::Generic, "rust", "$F($X)", "w($F($X))"),
    rewrite(Group::Generic, "c", "$F($X)", "w($F($X))"),
];

impl Case {
    /// Returns the corpus of the case.
    pub(super) fn folder(&self) -> PathBuf {
        crate::paths::corpora().join(self.language)
    }

    /// Returns with which limits the case is measured.
    pub(super) fn limits(&self) -> &'static [Limit] {
        match (self.group, self.rewrite) {
            (Group::Generic, None) => &[Limit::All, Limit::Default],
            (Group::Generic, Some(_)) | (Group::Absent | Group::Selective | Group::Middling, _) => {
                &[Limit::All]
            }
        }
    }

    /// Returns the most CPU time wanted, as a multiple of ast-grep's.
    pub(super) fn target(&self, limit: Limit) -> f64 {
        match (self.group, limit, self.rewrite) {
            (Group::Absent, _, None) => 0.01,
            (Group::Selective, _, None) => 0.2,
            (Group::Middling, _, None) => 1.0,
            (Group::Generic, Limit::All, None) => 1.05,
            (Group::Generic, Limit::Default, None) => 0.1,
            // What is staged is parsed again, which ast-grep does not do.
            (Group::Generic, _, Some(_)) => 2.0,
            (Group::Absent | Group::Selective | Group::Middling, _, Some(_)) => 1.0,
        }
    }

    /// Returns the pattern on one line, and what it becomes.
    pub(super) fn change(&self) -> String {
        let pattern = self.pattern.replace("\n    ", " ");
        match self.rewrite {
            Some(rewrite) => format!("`{pattern}` → `{rewrite}`"),
            None => format!("`{pattern}`"),
        }
    }

    /// Returns whether `word` stands in what the case is called.
    pub(super) fn is_named(&self, word: &str) -> bool {
        self.to_string()
            .to_lowercase()
            .contains(&word.to_lowercase())
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} in {}", self.group, self.change(), self.language)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => "absent",
            Self::Selective => "selective",
            Self::Middling => "middling",
            Self::Generic => "generic",
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Default => "default",
        })
    }
}
