//! Finds a symbol on a line.
//!
//! A model knows names and not columns, and a column that is guessed is about
//! something else. So the name is looked for: as a whole identifier first, then
//! as a part of the line.

use std::ops::Range;

use host::text::{Line, LineIndex};

use crate::error::Error;

/// Lines around that are searched where the line does not have it.
const NEAR: u32 = 3;
/// Identifiers that are listed.
const MAX_LISTED: usize = 20;

/// The place that was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Aim {
    /// The bytes of the identifier.
    pub(super) bytes: Range<usize>,
    /// The identifier.
    pub(super) name: String,
    /// What a reader should know of the choice.
    pub(super) note: Option<String>,
}

/// Finds `symbol` on `line`; `name#2` means the second one.
///
/// Of a dotted name the last part is meant.
pub(super) fn find(
    index: &LineIndex<String>,
    file: &str,
    line: Line,
    symbol: &str,
) -> Result<Aim, Error> {
    let Ok(range) = index.line_range(line) else {
        return Err(Error::Place {
            what: format!("there is no line {} in `{file}`", line.one_based()),
            why: format!("it has {}", count(index.line_count())),
            next: "read the file again and take the line from there".to_owned(),
        });
    };
    let text = index.line_text(line).unwrap_or_default();
    let (name, wanted) = numbered(symbol);
    let (name, found) = match hits(text, name) {
        // The number may belong to the name after all.
        found if found.is_empty() && wanted.is_some() => (symbol, hits(text, symbol)),
        found => (name, found),
    };
    if found.is_empty() {
        return Err(nowhere(index, file, line, name));
    }
    let number = wanted.filter(|_| name != symbol).unwrap_or(1);
    let Some(hit) = found.get(number - 1) else {
        return Err(Error::Place {
            what: format!(
                "there is no `{symbol}` in line {} of `{file}`",
                line.one_based()
            ),
            why: format!(
                "`{name}` is there {} times: {}",
                found.len(),
                columns(text, &found)
            ),
            next: format!("give `{name}#n` with n up to {}", found.len()),
        });
    };
    let note = (found.len() > 1 && wanted.is_none()).then(|| {
        let places = columns(text, &found);
        format!(
            "`{name}` is in line {} {} times ({places}); this is about the first, `{name}#2` is the next",
            line.one_based(),
            found.len(),
        )
    });
    let aimed = last_identifier(text, hit);
    Ok(Aim {
        name: text.get(aimed.clone()).unwrap_or_default().to_owned(),
        bytes: range.start + aimed.start..range.start + aimed.end,
        note,
    })
}

/// Takes `name#2` apart.
fn numbered(symbol: &str) -> (&str, Option<usize>) {
    match symbol.rsplit_once('#') {
        Some((name, number)) if !name.is_empty() => match number.parse() {
            Ok(number) if number > 0 => (name, Some(number)),
            _ => (symbol, None),
        },
        _ => (symbol, None),
    }
}

/// Returns where `name` is as a whole word, else where it is at all.
fn hits(text: &str, name: &str) -> Vec<Range<usize>> {
    let all: Vec<Range<usize>> = text
        .match_indices(name)
        .map(|(at, found)| at..at + found.len())
        .collect();
    let is_whole = |hit: &&Range<usize>| {
        let before = text.get(..hit.start).and_then(|t| t.chars().next_back());
        let after = text.get(hit.end..).and_then(|t| t.chars().next());
        let first = name.chars().next();
        let last = name.chars().next_back();
        let goes_on = |one: Option<char>, other: Option<char>| {
            one.is_some_and(is_part) && other.is_some_and(is_part)
        };
        !goes_on(before, first) && !goes_on(last, after)
    };
    let whole: Vec<Range<usize>> = all.iter().filter(is_whole).cloned().collect();
    if whole.is_empty() { all } else { whole }
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// Returns the last identifier in `hit`; all of it where there is none.
fn last_identifier(text: &str, hit: &Range<usize>) -> Range<usize> {
    let inside = text.get(hit.clone()).unwrap_or_default();
    match identifiers(inside).last() {
        Some(last) => hit.start + last.start..hit.start + last.end,
        None => hit.clone(),
    }
}

/// Returns the identifiers of a text: words that do not begin with a digit.
fn identifiers(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        match found.last_mut() {
            Some(last) if last.end == at && is_part(character) => last.end = end,
            _ if is_part(character) => found.push(at..end),
            _ => {}
        }
    }
    found.retain(|range| {
        let first = text.get(range.clone()).and_then(|t| t.chars().next());
        first.is_some_and(|first| !first.is_numeric())
    });
    found
}

/// Names the columns of hits, in characters from 1.
fn columns(text: &str, hits: &[Range<usize>]) -> String {
    let columns = hits.iter().map(|hit| {
        let before = text.get(..hit.start).unwrap_or_default();
        (before.chars().count() + 1).to_string()
    });
    let columns: Vec<String> = columns.collect();
    format!("columns {}", columns.join(", "))
}

fn nowhere(index: &LineIndex<String>, file: &str, line: Line, name: &str) -> Error {
    let text = index.line_text(line).unwrap_or_default();
    let mut names: Vec<&str> = Vec::new();
    for range in identifiers(text) {
        let name = text.get(range).unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let why = if names.is_empty() {
        "there is no name on that line".to_owned()
    } else {
        let more = names.len() > MAX_LISTED;
        names.truncate(MAX_LISTED);
        let more = if more { " and more" } else { "" };
        format!("that line has `{}`{more}", names.join("`, `"))
    };
    let first = line.zero_based().saturating_sub(NEAR);
    let near = first..=line.zero_based().saturating_add(NEAR);
    let near = near.map(Line::from_zero).filter(|near| {
        let text = index.line_text(*near).unwrap_or_default();
        *near != line && !hits(text, name).is_empty()
    });
    let near: Vec<String> = near.map(|near| near.one_based().to_string()).collect();
    let next = match near.as_slice() {
        [] => "read the file and give a line that has the name".to_owned(),
        [only] => format!("line {only} has it: give that one if it is meant"),
        lines => format!(
            "lines {} have it: give one of them if it is meant",
            lines.join(", ")
        ),
    };
    Error::Place {
        what: format!(
            "there is no `{name}` in line {} of `{file}`",
            line.one_based()
        ),
        why,
        next,
    }
}

fn count(lines: u32) -> String {
    if lines == 1 {
        "1 line".to_owned()
    } else {
        format!("{lines} lines")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(text: &str, line: u32, symbol: &str) -> Result<Aim, String> {
        let index = LineIndex::new(text.to_owned());
        let line = Line::from_one(line).unwrap();
        find(&index, "a.py", line, symbol)
            .map_err(|error| tiers::ToolError::from(error).to_string())
    }

    fn start(text: &str, symbol: &str) -> usize {
        look(text, 1, symbol).unwrap().bytes.start
    }

    #[test]
    fn pitfall_19_a_whole_identifier_comes_before_a_part() {
        assert_eq!(start("recore(core)", "core"), 7);
        assert_eq!(start("recored()", "core"), 2);
        assert_eq!(start("x = \"😀é\" + core", "core"), 15);
        assert_eq!(start("a + b", "+"), 2);
    }

    #[test]
    fn pitfall_19_of_a_dotted_name_the_last_part_is_meant() {
        let aim = look("total = s.area()", 1, "s.area").unwrap();
        assert_eq!((aim.bytes, &*aim.name), (10..14, "area"));
        assert_eq!(start("std::move(x)", "std::move"), 5);
        assert_eq!(start("p->next", "p->next"), 3);
    }

    #[test]
    fn pitfall_19_several_hits_are_said_and_can_be_chosen() {
        let text = "core(core(1), core)";
        let first = look(text, 1, "core").unwrap();
        assert_eq!(first.bytes, 0..4);
        let note = first.note.unwrap();
        assert!(note.contains("3 times (columns 1, 6, 15)"), "{note}");
        let second = look(text, 1, "core#2").unwrap();
        assert_eq!((second.bytes, second.note), (5..9, None));
        let error = look(text, 1, "core#4").unwrap_err();
        assert!(error.contains("`core` is there 3 times"), "{error}");
        assert_eq!(start("a#1", "a#1"), 0);
    }

    #[test]
    fn pitfall_19_without_a_hit_the_names_nearby_are_listed() {
        let text = "import os\n\ndef core(value: int):\n    return 1\n";
        let error = look(text, 1, "core").unwrap_err();
        assert!(error.contains("that line has `import`, `os`"), "{error}");
        assert!(error.contains("line 3 has it"), "{error}");
        let error = look(text, 2, "nothing").unwrap_err();
        assert!(error.contains("there is no name on that line"), "{error}");
    }

    #[test]
    fn pitfall_20_a_line_that_does_not_exist_is_an_error_of_ours() {
        let error = look("a\nb", 9, "a").unwrap_err();
        assert!(
            error.contains("no line 9 in `a.py`") && error.contains("2 lines"),
            "{error}"
        );
    }
}
