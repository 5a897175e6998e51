//! Exact replacement of one text by another in one file.
//!
//! Knows nothing of paths or disks: [`super::edit`] reads and writes.

use std::ops::Range;

use super::document::{Document, LineEnd, Normalised, with_unix_ends};

/// How many line numbers an error lists.
const LISTED_LINES: usize = 12;
/// How long a quoted line may be, in characters.
const QUOTED_LINE: usize = 160;

/// Which of several matches are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The text must occur exactly once.
    Only,
    /// Every occurrence, from the left, without overlap.
    Every,
}

/// The new text of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// The whole new text.
    pub(crate) text: String,
    /// The lines, from 1, that each replacement starts on in the new text.
    pub(crate) lines: Vec<usize>,
}

/// Why nothing was replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The old text is empty.
    NothingToFind,
    /// The old text equals the new one.
    NothingToChange,
    /// The old text occurs more than once.
    Ambiguous {
        /// The lines, from 1, of the occurrences.
        lines: Vec<usize>,
    },
    /// The old text does not occur.
    Absent {
        /// Where something like it stands.
        nearest: Option<Nearest>,
    },
}

/// The place that looks most like the text that was not found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// The line, from 1.
    pub(crate) line: usize,
    /// What the text says there.
    pub(crate) expected: String,
    /// What the file says there.
    pub(crate) found: String,
    /// Whether the whole text would match if white space were ignored.
    pub(crate) differs_in_white_space_only: bool,
}

impl Refusal {
    /// Says why, for the model.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::NothingToFind => "`old_string` is empty".to_owned(),
            Self::NothingToChange => "`old_string` and `new_string` are the same".to_owned(),
            Self::Ambiguous { lines } => {
                format!(
                    "`old_string` occurs {} times, at lines {}",
                    lines.len(),
                    list_lines(lines)
                )
            }
            Self::Absent { nearest: None } => {
                "`old_string` does not occur in it, and no line looks like its first".to_owned()
            }
            Self::Absent {
                nearest: Some(nearest),
            } => {
                let reason = if nearest.differs_in_white_space_only {
                    "it differs from the file in white space only"
                } else {
                    "the nearest line differs"
                };
                format!(
                    "`old_string` does not occur in it: {reason}; line {} is `{}`, `old_string` \
                     has `{}`",
                    nearest.line,
                    quote(&nearest.found),
                    quote(&nearest.expected)
                )
            }
        }
    }

    /// Says what to do next, for the model.
    pub(crate) fn next(&self) -> &'static str {
        match self {
            Self::NothingToFind => {
                "give the text to replace, or create or overwrite the file with `write`"
            }
            Self::NothingToChange => "change `new_string`, or leave the call out",
            Self::Ambiguous { .. } => {
                "add neighbouring lines to `old_string` until it is unique, or set `replace_all`"
            }
            Self::Absent { .. } => {
                "read the file again and copy `old_string` from it exactly, without line numbers"
            }
        }
    }
}

/// Replaces `old` by `new` in the text of a file.
///
/// Line ends are matched as `\n`; what is inserted gets the line end of the
/// text it replaces.
pub(crate) fn replace(
    original: &str,
    old: &str,
    new: &str,
    scope: Scope,
) -> Result<Replaced, Refusal> {
    let (old, new) = (with_unix_ends(old), with_unix_ends(new));
    if old.is_empty() {
        return Err(Refusal::NothingToFind);
    }
    if old == new {
        return Err(Refusal::NothingToChange);
    }
    let normalised = Normalised::of(original);
    let ranges = match scope {
        Scope::Only => overlapping_matches(&normalised.text, &old),
        Scope::Every => normalised
            .text
            .match_indices(&old)
            .map(|(start, found)| start..start + found.len())
            .collect(),
    };
    if ranges.is_empty() {
        return Err(Refusal::Absent {
            nearest: nearest(&normalised.text, &old),
        });
    }
    if scope == Scope::Only && ranges.len() > 1 {
        let lines = ranges
            .iter()
            .map(|range| normalised.line_of(range.start))
            .collect();
        return Err(Refusal::Ambiguous { lines });
    }
    Ok(splice(original, &normalised, &ranges, &new))
}

/// Returns where `needle` occurs, overlapping occurrences included.
fn overlapping_matches(text: &str, needle: &str) -> Vec<Range<usize>> {
    let step = needle.chars().next().map_or(1, char::len_utf8);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(offset) = text.get(from..).and_then(|rest| rest.find(needle)) {
        let start = from + offset;
        found.push(start..start + needle.len());
        from = start + step;
    }
    found
}

fn splice(original: &str, normalised: &Normalised, ranges: &[Range<usize>], new: &str) -> Replaced {
    let dominant = Document::parse(original).dominant_end();
    let mut text = String::with_capacity(original.len() + new.len());
    let mut lines = Vec::with_capacity(ranges.len());
    let mut done = 0;
    let mut line = 1;
    for range in ranges {
        let at = normalised.to_original(range);
        let before = original.get(done..at.start).unwrap_or_default();
        let replaced = original.get(at.clone()).unwrap_or_default();
        let end = match replaced.find('\n') {
            None => dominant,
            Some(0) => LineEnd::Lf,
            Some(offset) if replaced.as_bytes().get(offset - 1) == Some(&b'\r') => LineEnd::CrLf,
            Some(_) => LineEnd::Lf,
        };
        let inserted = match end {
            LineEnd::CrLf => new.replace('\n', "\r\n"),
            LineEnd::Lf | LineEnd::Missing => new.to_owned(),
        };
        line += count_newlines(before);
        lines.push(line);
        line += count_newlines(&inserted);
        text.push_str(before);
        text.push_str(&inserted);
        done = at.end;
    }
    text.push_str(original.get(done..).unwrap_or_default());
    Replaced { text, lines }
}

fn count_newlines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

/// Finds the place that looks most like `old`.
fn nearest(text: &str, old: &str) -> Option<Nearest> {
    let wanted: Vec<&str> = old.lines().collect();
    let lines: Vec<&str> = text.lines().collect();
    if let Some(found) = ignoring_white_space(&lines, &wanted) {
        return Some(found);
    }
    let (offset, first) = wanted
        .iter()
        .enumerate()
        .find(|(_, line)| !line.trim().is_empty())?;
    // The line that equals the first wanted one may stand in several places:
    // take the one after which most lines agree, and name the first that does not.
    let agreeing = |start: usize| {
        lines
            .iter()
            .skip(start)
            .zip(wanted.iter().skip(offset))
            .take_while(|(a, b)| a == b)
            .count()
    };
    let best = (0..lines.len())
        .map(|start| (agreeing(start), start))
        .filter(|(count, _)| *count > 0)
        .max_by_key(|&(count, start)| (count, std::cmp::Reverse(start)));
    if let Some((count, start)) = best {
        return Some(Nearest {
            line: start + count + 1,
            expected: wanted.get(offset + count).copied().unwrap_or("").to_owned(),
            found: lines
                .get(start + count)
                .copied()
                .unwrap_or("(the end of the file)")
                .to_owned(),
            differs_in_white_space_only: false,
        })
        .filter(|nearest| nearest.expected != nearest.found);
    }
    let (likeness, line) = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| (likeness(line, first), index))
        .max_by(|(a, i), (b, j)| a.total_cmp(b).then(j.cmp(i)))?;
    (likeness >= 0.6).then(|| Nearest {
        line: line + 1,
        expected: (*first).to_owned(),
        found: lines.get(line).copied().unwrap_or_default().to_owned(),
        differs_in_white_space_only: false,
    })
}

fn ignoring_white_space(lines: &[&str], wanted: &[&str]) -> Option<Nearest> {
    let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let squeezed: Vec<String> = wanted.iter().map(|line| squeeze(line)).collect();
    if squeezed.iter().all(String::is_empty) {
        return None;
    }
    let all: Vec<String> = lines.iter().map(|line| squeeze(line)).collect();
    let start = all
        .windows(squeezed.len())
        .position(|window| window == squeezed.as_slice())?;
    let (index, (found, expected)) = lines
        .iter()
        .skip(start)
        .zip(wanted)
        .enumerate()
        .find(|(_, (found, expected))| found != expected)?;
    Some(Nearest {
        line: start + index + 1,
        expected: (*expected).to_owned(),
        found: (*found).to_owned(),
        differs_in_white_space_only: true,
    })
}

/// Returns how alike two lines are, from 0 to 1, white space at the ends aside.
pub(crate) fn likeness(a: &str, b: &str) -> f64 {
    // Long lines are compared by their beginning: the measure is quadratic.
    let cut = |line: &str| line.trim().chars().take(200).collect::<String>();
    strsim::normalized_levenshtein(&cut(a), &cut(b))
}

/// Lists line numbers, cut when there are many.
pub(crate) fn list_lines(lines: &[usize]) -> String {
    let mut listed: Vec<String> = lines
        .iter()
        .take(LISTED_LINES)
        .map(ToString::to_string)
        .collect();
    if lines.len() > LISTED_LINES {
        listed.push(format!("and {} more", lines.len() - LISTED_LINES));
    }
    listed.join(", ")
}

/// Quotes a line: tabs made visible, cut when long.
pub(crate) fn quote(line: &str) -> String {
    let visible = line.replace('\t', "\\t").replace('\r', "\\r");
    if visible.chars().count() <= QUOTED_LINE {
        return visible;
    }
    visible
        .chars()
        .take(QUOTED_LINE)
        .chain(std::iter::once('…'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(original: &str, old: &str, new: &str) -> Result<String, Refusal> {
        replace(original, old, new, Scope::Only).map(|replaced| replaced.text)
    }

    #[test]
    fn line_ends_are_matched_as_one_and_written_as_the_file_has_them() {
        assert_eq!(
            only("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n").unwrap(),
            "x\r\ny\r\nz\r\nc\r\n"
        );
        assert_eq!(only("a\nb\n", "a\r\nb", "x\r\ny").unwrap(), "x\ny\n");
    }

    #[test]
    fn mixed_line_ends_and_the_byte_order_mark_are_left_alone() {
        let original = "\u{feff}a\r\nb\nc\r\nd";
        assert_eq!(
            only(original, "b\n", "x\ny\n").unwrap(),
            "\u{feff}a\r\nx\ny\nc\r\nd"
        );
        assert_eq!(
            only(original, "d", "d\ne").unwrap(),
            "\u{feff}a\r\nb\nc\r\nd\r\ne"
        );
        assert_eq!(only(original, "a", "z").unwrap(), "\u{feff}z\r\nb\nc\r\nd");
    }

    #[test]
    fn several_matches_are_refused_with_their_lines() {
        assert_eq!(
            only("x\ny\nx\n", "x", "z"),
            Err(Refusal::Ambiguous { lines: vec![1, 3] })
        );
    }

    #[test]
    fn overlapping_matches_are_ambiguous_too() {
        assert_eq!(
            only("aaa", "aa", "b"),
            Err(Refusal::Ambiguous { lines: vec![1, 1] })
        );
    }

    #[test]
    fn replace_all_replaces_every_match_and_names_the_new_lines() {
        assert_eq!(
            replace("a\nb\na\n", "a", "1\n2", Scope::Every),
            Ok(Replaced {
                text: "1\n2\nb\n1\n2\n".to_owned(),
                lines: vec![1, 4]
            })
        );
    }

    #[test]
    fn a_difference_in_white_space_is_named_as_such() {
        assert_eq!(
            only(
                "fn a() {\n\tlet x = 1;\n}\n",
                "fn a() {\n    let x = 1;\n}",
                "y"
            ),
            Err(Refusal::Absent {
                nearest: Some(Nearest {
                    line: 2,
                    expected: "    let x = 1;".to_owned(),
                    found: "\tlet x = 1;".to_owned(),
                    differs_in_white_space_only: true,
                })
            })
        );
    }

    #[test]
    fn the_first_line_that_disagrees_is_named() {
        assert_eq!(
            only("a\nb\nc\na\nx\n", "a\nb\nd", "y"),
            Err(Refusal::Absent {
                nearest: Some(Nearest {
                    line: 3,
                    expected: "d".to_owned(),
                    found: "c".to_owned(),
                    differs_in_white_space_only: false,
                })
            })
        );
    }

    #[test]
    fn a_misremembered_line_leads_to_the_nearest_one() {
        let Err(refusal) = only("let total = 0;\nlet count = 1;\n", "let counts = 1;", "y") else {
            panic!("replaced something that is not there");
        };
        assert_eq!(
            refusal.why(),
            "`old_string` does not occur in it: the nearest line differs; line 2 is \
             `let count = 1;`, `old_string` has `let counts = 1;`"
        );
    }

    #[test]
    fn nothing_alike_says_so() {
        assert_eq!(
            only("abc\n", "zzzzzzzz", "y"),
            Err(Refusal::Absent { nearest: None })
        );
    }

    #[test]
    fn empty_and_unchanged_texts_are_refused() {
        assert_eq!(only("a", "", "b"), Err(Refusal::NothingToFind));
        assert_eq!(only("a", "a\r\n", "a\n"), Err(Refusal::NothingToChange));
    }
}
