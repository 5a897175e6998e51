//! What is searched for, and where.

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
}

const fn case(group: Group, language: &'static str, pattern: &'static str) -> Case {
    Case {
        group,
        language,
        pattern,
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
];

impl Case {
    /// Returns the corpus of the case.
    pub(super) fn folder(&self) -> PathBuf {
        crate::paths::corpora().join(self.language)
    }

    /// Returns with which limits the case is measured.
    pub(super) fn limits(&self) -> &'static [Limit] {
        match self.group {
            Group::Generic => &[Limit::All, Limit::Default],
            Group::Absent | Group::Selective | Group::Middling => &[Limit::All],
        }
    }

    /// Returns the most CPU time wanted, as a multiple of ast-grep's.
    pub(super) fn target(&self, limit: Limit) -> f64 {
        match (self.group, limit) {
            (Group::Absent, _) => 0.01,
            (Group::Selective, _) => 0.2,
            (Group::Middling, _) => 1.0,
            (Group::Generic, Limit::All) => 1.05,
            (Group::Generic, Limit::Default) => 0.1,
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
        let pattern = self.pattern.replace("\n    ", " ");
        write!(f, "{} `{pattern}` in {}", self.group, self.language)
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
