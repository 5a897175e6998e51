//! The compiled form of one reading of a pattern: a short list of steps.

use crate::languages::Rung;

/// What a step consumes or checks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Go into a node of this kind; `optional` is set when its only content is
    /// a run, so that its absence is an empty run.
    Enter {
        kind: u16,
        field: u16,
        optional: Option<Optional>,
    },
    /// Leave the node: all its children have been consumed. `gap` is the text
    /// of the node that no child covers.
    Leave { gap: Box<[u8]> },
    /// Consume a leaf.
    Token(Token),
    /// Consume one node, or in token runs a balanced run up to a separator.
    Hole {
        variable: Option<u8>,
        field: u16,
        in_token_run: bool,
    },
    /// Consume any number of siblings.
    Run {
        variable: Option<u8>,
        after: RunAfter,
    },
    /// The pattern matches.
    Done,
}

/// How an optional node is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Optional {
    /// The step behind the node.
    pub(crate) behind: u16,
    /// What the run binds.
    pub(crate) variable: Option<u8>,
}

/// What follows a run in the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RunAfter {
    /// A separator: an empty run goes together with it.
    Separator,
    /// Anything else.
    Other,
}

/// A leaf of the pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Token {
    pub(crate) kind: u16,
    pub(crate) field: u16,
    pub(crate) text: Box<[u8]>,
    pub(crate) class: Class,
    /// A comment.
    pub(crate) is_extra: bool,
    /// Compared by bytes, as against by kind.
    pub(crate) is_named: bool,
    /// White space at its end is a part of it.
    pub(crate) keeps_blanks: bool,
    /// A separator with a run behind it: an empty run goes together with it.
    pub(crate) before_run: bool,
}

/// What a token does in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// `,`
    Separator,
    /// `;` or a line end.
    Terminator,
    /// `)` and the like.
    Closer,
    /// Anything else.
    Plain,
}

/// One reading of a pattern.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The steps, in order; ends with [`Op::Done`].
    pub(crate) ops: Vec<Op>,
    /// Per step, the byte of the pattern it came from.
    pub(crate) places: Vec<u32>,
    /// What it was read as.
    pub(crate) rung: Rung,
    /// Kind of the root, or of the first node of a sequence; `None` for a metavariable.
    pub(crate) first: Option<u16>,
    /// Several siblings, as against one node.
    pub(crate) is_sequence: bool,
    /// For a sequence within something that is no list: the kind of that parent.
    pub(crate) parent: Option<u16>,
    /// Texts that every match holds, longest first.
    pub(crate) literals: Vec<Literal>,
    /// Per step, whether what comes after it depends on what was bound before.
    pub(crate) depends: Vec<bool>,
}

/// A text that every match of a program holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Literal {
    pub(crate) text: Box<[u8]>,
    /// Stands alone as a word.
    pub(crate) is_word: bool,
}
