//! Finds the metavariables in the text of a pattern.

use std::ops::Range;

/// What a metavariable stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HoleKind {
    /// `$NAME` or `$_`: one node.
    One,
    /// `$$$NAME` or `$$$`: a run of siblings.
    Run,
}

/// A place in the pattern where `$` begins something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dollar {
    /// Bytes of the pattern text, from the `$` (or the backslash) to the end of the name.
    pub(crate) span: Range<usize>,
    /// What it is.
    pub(crate) form: DollarForm,
}

/// What a `$` begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DollarForm {
    /// A metavariable; the name is empty for `$_`, `$$$` and `$$$_`.
    Hole(HoleKind, String),
    /// `\$NAME`: plain text that would be a metavariable.
    Escaped,
    /// Not a metavariable: plain text where the language has such a token.
    Plain(PlainReason),
}

/// Why a `$` does not begin a metavariable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlainReason {
    /// `$name`, `$Name` or `$1`.
    BadName,
    /// `$$NAME`.
    TwoDollars,
    /// `x$A` or `$A$B`: glued to other text.
    Glued,
    /// A `$` with no name.
    Bare,
}

/// What a backslash before a metavariable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backslash {
    /// It makes the `$` plain text.
    Escapes,
    /// It is a part of the code like any other.
    IsCode,
}

/// Finds every `$` of the pattern, in order.
pub(crate) fn dollars(text: &str, backslash: Backslash) -> Vec<Dollar> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|b| *b == b'$'))
    {
        let start = at + offset;
        let dollars = bytes[start..].iter().take_while(|b| **b == b'$').count();
        let name_start = start + dollars;
        let name_end = name_start
            + bytes[name_start..]
                .iter()
                .take_while(|b| is_word(**b))
                .count();
        let name = &bytes[name_start..name_end];
        let end = name_end;
        let glued = start.checked_sub(1).is_some_and(|b| is_word(bytes[b]))
            || (dollars <= 3 && !name.is_empty() && bytes.get(end) == Some(&b'$'))
            || found.last().is_some_and(|d: &Dollar| d.span.end == start);
        let escaped = backslash == Backslash::Escapes
            && start.checked_sub(1).is_some_and(|b| bytes[b] == b'\\');
        let form = match (dollars, name) {
            (1, b"_") => DollarForm::Hole(HoleKind::One, String::new()),
            (3, b"" | b"_") => DollarForm::Hole(HoleKind::Run, String::new()),
            (1 | 3, _) if is_name(name) => {
                let kind = if dollars == 1 {
                    HoleKind::One
                } else {
                    HoleKind::Run
                };
                DollarForm::Hole(kind, String::from_utf8_lossy(name).into_owned())
            }
            (2, _) if is_name(name) => DollarForm::Plain(PlainReason::TwoDollars),
            (_, b"") => DollarForm::Plain(PlainReason::Bare),
            _ => DollarForm::Plain(PlainReason::BadName),
        };
        let is_hole = matches!(form, DollarForm::Hole(..));
        let (from, form) = match form {
            _ if escaped && is_hole => (start - 1, DollarForm::Escaped),
            _ if glued && is_hole => (start, DollarForm::Plain(PlainReason::Glued)),
            form => (start, form),
        };
        found.push(Dollar {
            span: from..end,
            form,
        });
        at = end.max(start + 1);
    }
    found
}

/// Upper case, digits and underscore after the first letter.
pub(crate) fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_uppercase)
        && name
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: Expect) {
        let found: Vec<String> = dollars(text, Backslash::Escapes)
            .into_iter()
            .map(|d| format!("{} {:?}", text.get(d.span.clone()).unwrap(), d.form))
            .collect();
        wanted.assert_eq(&found.join("\n"));
    }

    #[test]
    fn metavariables_are_upper_case() {
        check(
            "f($X, $$$ARGS, $_, $$$)",
            expect![[r#"
            $X Hole(One, "X")
            $$$ARGS Hole(Run, "ARGS")
            $_ Hole(One, "")
            $$$ Hole(Run, "")"#]],
        );
    }

    #[test]
    fn other_dollars_are_plain() {
        check(
            "$x $1 $Foo $_GET $$A $$x x$A $A$B $ \\$HOME ${x}",
            expect![[r#"
            $x Plain(BadName)
            $1 Plain(BadName)
            $Foo Plain(BadName)
            $_GET Plain(BadName)
            $$A Plain(TwoDollars)
            $$x Plain(BadName)
            $A Plain(Glued)
            $A Plain(Glued)
            $B Plain(Glued)
            $ Plain(Bare)
            \$HOME Escaped
            $ Plain(Bare)"#]],
        );
    }
}
