//! The `*** Begin Patch` form.

use super::{FileChange, Hunk, HunkLine, ParseError, is_envelope_header, line_numbers};

const HEADERS: &str = "each file starts with `*** Add File: path`, `*** Update File: path` or `*** Delete File: path`";

/// Reads the lines after `*** Begin Patch`, which stands at index `begin`.
pub(super) fn parse(lines: &[&str], begin: usize) -> Result<Vec<FileChange>, ParseError> {
    let mut reader = Reader {
        lines,
        at: begin + 1,
    };
    let mut changes = Vec::new();
    loop {
        let Some(line) = reader.peek() else {
            return Err(ParseError::new(
                reader.at,
                "it ends without `*** End Patch`",
                "send the whole patch; nothing was changed",
            ));
        };
        if line.trim_end() == "*** End Patch" {
            return Ok(changes);
        }
        if line.trim().is_empty() {
            reader.at += 1;
            continue;
        }
        changes.push(reader.file()?);
    }
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn file(&mut self) -> Result<FileChange, ParseError> {
        let index = self.at;
        let line = self.peek().unwrap_or_default();
        self.at += 1;
        let named = |prefix: &str| {
            line.strip_prefix(prefix).map(|path| match path.trim() {
                "" => Err(ParseError::new(
                    index,
                    format!("`{prefix}` names no path"),
                    HEADERS,
                )),
                path => Ok(path.to_owned()),
            })
        };
        if let Some(path) = named("*** Add File:") {
            return Ok(FileChange::Add {
                path: path?,
                text: self.added_text()?,
            });
        }
        if let Some(path) = named("*** Delete File:") {
            return Ok(FileChange::Delete {
                path: path?,
                hunks: Vec::new(),
            });
        }
        if let Some(path) = named("*** Update File:") {
            return self.update(path?, index);
        }
        Err(ParseError::new(
            index,
            format!("`{line}` is not a file header"),
            HEADERS,
        ))
    }

    fn added_text(&mut self) -> Result<String, ParseError> {
        let mut text = String::new();
        while let Some(line) = self.peek() {
            if line.starts_with("***") {
                break;
            }
            let Some(added) = line.strip_prefix('+') else {
                if line.trim().is_empty() {
                    self.at += 1;
                    continue;
                }
                return Err(ParseError::new(
                    self.at,
                    format!("`{line}` of an added file does not start with `+`"),
                    "start every line of an added file with `+`",
                ));
            };
            text.push_str(added);
            text.push('\n');
            self.at += 1;
        }
        Ok(text)
    }

    fn update(&mut self, path: String, index: usize) -> Result<FileChange, ParseError> {
        let mut move_to = None;
        if let Some(target) = self
            .peek()
            .and_then(|line| line.strip_prefix("*** Move to:"))
        {
            if target.trim().is_empty() {
                return Err(ParseError::new(
                    self.at,
                    "`*** Move to:` names no path",
                    "write `*** Move to: new/path`",
                ));
            }
            move_to = Some(target.trim().to_owned());
            self.at += 1;
        }
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut hunk = Hunk::default();
        let mut starts_at = self.at;
        while let Some(line) = self.peek() {
            if is_envelope_header(line) || line.trim_end() == "*** End Patch" {
                break;
            }
            if line.trim_end() == "*** End of File" {
                hunk.at_end = true;
            } else if line.starts_with("@@") {
                // `@@` lines on top of each other narrow one another down.
                if !hunk.lines.is_empty() {
                    close(&mut hunks, std::mem::take(&mut hunk), starts_at)?;
                }
                starts_at = self.at;
                match line_numbers(line) {
                    Some((number, _, _)) => hunk.line = Some(number),
                    None => {
                        let anchor = line.trim_start_matches('@').trim_end_matches('@').trim();
                        if !anchor.is_empty() {
                            hunk.anchors.push(anchor.to_owned());
                        }
                    }
                }
            } else {
                hunk.lines.push(self.hunk_line(line)?);
            }
            self.at += 1;
        }
        // Blank lines before the next header separate files; they are no context.
        let mut last = self.at;
        while last > starts_at && self.lines.get(last - 1).is_some_and(|line| line.is_empty()) {
            hunk.lines.pop();
            last -= 1;
        }
        if !hunk.lines.is_empty() || !hunk.anchors.is_empty() {
            close(&mut hunks, hunk, starts_at)?;
        }
        if hunks.is_empty() && move_to.is_none() {
            return Err(ParseError::new(
                index,
                format!("the update of `{path}` changes nothing"),
                "add lines that start with `-` and `+`, or a `*** Move to:` line",
            ));
        }
        Ok(FileChange::Update {
            path,
            move_to,
            hunks,
        })
    }

    fn hunk_line(&self, line: &str) -> Result<HunkLine, ParseError> {
        if line.is_empty() {
            return Ok(HunkLine::Context(String::new()));
        }
        let mut rest = line.chars();
        let mark = rest.next();
        let text = rest.as_str().to_owned();
        match mark {
            Some(' ') => Ok(HunkLine::Context(text)),
            Some('-') => Ok(HunkLine::Remove(text)),
            Some('+') => Ok(HunkLine::Add(text)),
            _ => Err(ParseError::new(
                self.at,
                format!("`{line}` does not start with a space, `-` or `+`"),
                "start kept lines with a space, removed ones with `-`, added ones with `+`",
            )),
        }
    }
}

fn close(hunks: &mut Vec<Hunk>, hunk: Hunk, index: usize) -> Result<(), ParseError> {
    if !hunk.changes() {
        return Err(ParseError::new(
            index,
            "this hunk has no line that starts with `-` or `+`",
            "say what changes in it, or leave it out",
        ));
    }
    hunks.push(hunk);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{FinalNewline, parse};
    use super::*;

    fn hunk(anchors: &[&str], lines: Vec<HunkLine>) -> Hunk {
        Hunk {
            anchors: anchors.iter().map(|&anchor| anchor.to_owned()).collect(),
            line: None,
            lines,
            at_end: false,
            newline: FinalNewline::default(),
        }
    }

    #[test]
    fn every_kind_of_change_is_read() {
        let patch = parse(
            "*** Begin Patch\n*** Add File: a.txt\n+one\n+\n+two\n*** Update File: b.txt\n*** Move \
             to: c.txt\n@@ class A\n@@ def b\n kept\n-old\n+new\n\n*** Delete File: d.txt\n*** End \
             Patch\n",
        )
        .unwrap();
        assert_eq!(
            patch.changes,
            vec![
                FileChange::Add {
                    path: "a.txt".to_owned(),
                    text: "one\n\ntwo\n".to_owned()
                },
                FileChange::Update {
                    path: "b.txt".to_owned(),
                    move_to: Some("c.txt".to_owned()),
                    hunks: vec![hunk(
                        &["class A", "def b"],
                        vec![
                            HunkLine::Context("kept".to_owned()),
                            HunkLine::Remove("old".to_owned()),
                            HunkLine::Add("new".to_owned()),
                        ]
                    )],
                },
                FileChange::Delete {
                    path: "d.txt".to_owned(),
                    hunks: vec![]
                },
            ]
        );
    }

    #[test]
    fn a_patch_that_breaks_off_is_refused() {
        let error = parse("*** Begin Patch\n*** Update File: b\n-old\n").unwrap_err();
        assert_eq!(
            (error.line, error.why.as_str()),
            (4, "it ends without `*** End Patch`")
        );
    }

    #[test]
    fn a_line_without_a_mark_is_named() {
        let error =
            parse("*** Begin Patch\n*** Update File: b\n-old\nnew\n*** End Patch").unwrap_err();
        assert_eq!(
            (error.line, error.why.as_str()),
            (4, "`new` does not start with a space, `-` or `+`")
        );
    }

    #[test]
    fn an_update_without_change_is_refused() {
        let error =
            parse("*** Begin Patch\n*** Update File: b\n@@\n same\n*** End Patch").unwrap_err();
        assert_eq!(
            error.why,
            "this hunk has no line that starts with `-` or `+`"
        );
    }
}
