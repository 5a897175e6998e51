//! What a server wants changed, in whatever shape it says so.
//!
//! Source: Language Server Protocol 3.17, "WorkspaceEdit".

use std::ops::Range as Bytes;

use gen_lsp_types::Range;
use host::text::LineIndex;
use serde_json::Value;

use crate::encoding::PositionEncoding;

/// One step of an edit; steps are taken in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Parts of a text are replaced.
    Texts {
        uri: String,
        /// The version of the document that this is about, where the server
        /// says and the document may be open.
        version: Option<i64>,
        edits: Vec<TextEdit>,
    },
    Create {
        uri: String,
        exists: IfExists,
    },
    Move {
        from: String,
        to: String,
        exists: IfExists,
    },
    Delete {
        uri: String,
        ignore_missing: bool,
    },
}

/// What becomes of a file that is to be made and is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfExists {
    Fail,
    Overwrite,
    Keep,
}

/// A part of a text, and what comes in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextEdit {
    pub(crate) range: Range,
    pub(crate) text: String,
}

/// The same in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) bytes: Bytes<usize>,
    pub(crate) text: String,
}

/// Reads the steps of an edit; nothing where it is `null`.
///
/// # Errors
/// A part cannot be read, or is something that we did not ask for: then none of
/// it can be used. The text says why.
pub(crate) fn read(edit: &Value) -> Result<Vec<Step>, String> {
    // Where both are there, this is the one that says more.
    if let Some(changes) = edit.get("documentChanges").and_then(Value::as_array) {
        return changes.iter().map(step).collect();
    }
    let Some(changes) = edit.get("changes").and_then(Value::as_object) else {
        return Ok(Vec::new());
    };
    let steps = changes.iter().map(|(uri, edits)| {
        Ok(Step::Texts {
            uri: uri.clone(),
            version: None,
            edits: texts(edits)?,
        })
    });
    steps.collect()
}

fn step(change: &Value) -> Result<Step, String> {
    let text = |name: &str| {
        let found = change.get(name).and_then(Value::as_str);
        found.map(str::to_owned).ok_or_else(|| unreadable(change))
    };
    let option = |name: &str| {
        let options = change.get("options");
        options.and_then(|options| options.get(name)?.as_bool()) == Some(true)
    };
    let exists = match (option("overwrite"), option("ignoreIfExists")) {
        (true, _) => IfExists::Overwrite,
        (false, true) => IfExists::Keep,
        (false, false) => IfExists::Fail,
    };
    Ok(match change.get("kind").and_then(Value::as_str) {
        Some("create") => Step::Create {
            uri: text("uri")?,
            exists,
        },
        Some("rename") => Step::Move {
            from: text("oldUri")?,
            to: text("newUri")?,
            exists,
        },
        Some("delete") => Step::Delete {
            uri: text("uri")?,
            ignore_missing: option("ignoreIfNotExists"),
        },
        Some(_) => return Err(unreadable(change)),
        None => {
            let document = change.get("textDocument");
            let uri = document.and_then(|document| document.get("uri")?.as_str());
            let version = document.and_then(|document| document.get("version")?.as_i64());
            Step::Texts {
                uri: uri.ok_or_else(|| unreadable(change))?.to_owned(),
                // Servers say 0 of a file that was never open.
                version: version.filter(|version| *version != 0),
                edits: texts(change.get("edits").unwrap_or(&Value::Null))?,
            }
        }
    })
}

fn texts(edits: &Value) -> Result<Vec<TextEdit>, String> {
    let edits = edits.as_array().ok_or_else(|| unreadable(edits))?;
    edits.iter().map(text).collect()
}

fn text(edit: &Value) -> Result<TextEdit, String> {
    if edit.get("snippet").is_some() || edit.get("insertTextFormat").is_some() {
        return Err("a part of it is a template to be filled in by a person".to_owned());
    }
    let range = edit.get("range").cloned().unwrap_or_default();
    let range = serde_json::from_value(range).map_err(|_| unreadable(edit))?;
    let new = edit.get("newText").and_then(Value::as_str);
    Ok(TextEdit {
        range,
        text: new.ok_or_else(|| unreadable(edit))?.to_owned(),
    })
}

fn unreadable(part: &Value) -> String {
    let text: String = part.to_string().chars().take(200).collect();
    format!("a part of it cannot be read: {text}")
}

/// Returns the edits of one text from its start to its end, each once.
///
/// # Errors
/// Two overlap: the lines, from 1, where they begin.
pub(crate) fn in_order(
    index: &LineIndex<String>,
    encoding: PositionEncoding,
    edits: &[TextEdit],
) -> Result<Vec<Replacement>, (u64, u64)> {
    let mut replacements: Vec<Replacement> = Vec::with_capacity(edits.len());
    for edit in edits {
        let replacement = Replacement {
            bytes: encoding.range(index, edit.range),
            text: edit.text.clone(),
        };
        replacements.push(replacement);
    }
    // What is put in at a place comes before what replaces the text there; what
    // is put in at the same place stays in the order of the server.
    replacements.sort_by_key(|one| (one.bytes.start, one.bytes.end));
    replacements.dedup();
    let overlapping = replacements.windows(2).find_map(|pair| match pair {
        [one, other] if other.bytes.start < one.bytes.end => Some((one, other)),
        _ => None,
    });
    match overlapping {
        None => Ok(replacements),
        Some((one, other)) => {
            let line = |at| index.line_at(at).map_or(0, host::text::Line::one_based);
            Err((line(one.bytes.start), line(other.bytes.start)))
        }
    }
}

/// Carries out replacements that are in order.
pub(crate) fn replace(text: &str, replacements: &[Replacement]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for one in replacements {
        out.push_str(text.get(done..one.bytes.start).unwrap_or_default());
        out.push_str(&one.text);
        done = one.bytes.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edit(line: u32, start: u32, end: u32, text: &str) -> Value {
        let range = json!({
            "start": { "line": line, "character": start },
            "end": { "line": line, "character": end },
        });
        json!({ "range": range, "newText": text })
    }

    fn apply(text: &str, edits: &Value) -> Result<String, (u64, u64)> {
        let edits = texts(edits).unwrap();
        let index = LineIndex::new(text.to_owned());
        let ordered = in_order(&index, PositionEncoding::Utf16, &edits)?;
        Ok(replace(text, &ordered))
    }

    #[test]
    fn pitfall_50_two_hits_on_a_line_are_both_replaced_in_whatever_order() {
        let edits = json!([edit(0, 0, 1, "long"), edit(0, 4, 5, "long")]);
        assert_eq!(apply("a + a\r\n", &edits).unwrap(), "long + long\r\n");
        let edits = json!([edit(0, 4, 5, "long"), edit(0, 0, 1, "long")]);
        assert_eq!(apply("a + a\r\n", &edits).unwrap(), "long + long\r\n");
    }

    #[test]
    fn pitfall_40_equal_edits_are_one_and_overlapping_ones_are_refused() {
        let twice = json!([edit(0, 4, 5, "b"), edit(0, 4, 5, "b")]);
        assert_eq!(apply("😀é a", &twice).unwrap(), "😀é b");
        let overlap = json!([edit(1, 0, 3, "x"), edit(1, 2, 4, "y")]);
        assert_eq!(apply("\nabcd", &overlap), Err((2, 2)));
        let touching = json!([edit(0, 2, 4, "y"), edit(0, 0, 2, "x"), edit(0, 2, 2, "-")]);
        assert_eq!(apply("abcd", &touching).unwrap(), "x-y");
    }

    #[test]
    fn pitfall_40_every_shape_is_read_and_the_one_that_says_more_wins() {
        let texts = |version: Value| json!({ "textDocument": { "uri": "file:///a", "version": version }, "edits": [edit(0, 0, 1, "b")] });
        let options = json!({ "overwrite": true, "ignoreIfExists": true });
        let steps = read(&json!({
            "changes": { "file:///other": [edit(0, 0, 1, "x")] },
            "documentChanges": [
                texts(json!(3)), texts(json!(null)), texts(json!(0)),
                { "kind": "create", "uri": "file:///b", "options": options },
                { "kind": "rename", "oldUri": "file:///a", "newUri": "file:///c" },
                { "kind": "delete", "uri": "file:///d", "options": { "ignoreIfNotExists": true } },
            ],
        }))
        .unwrap();
        let versions: Vec<Option<i64>> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Texts { version, .. } => Some(*version),
                Step::Create { .. } | Step::Move { .. } | Step::Delete { .. } => None,
            })
            .collect();
        assert_eq!(versions, [Some(3), None, None]);
        assert_eq!(
            steps[3..],
            [
                Step::Create {
                    uri: "file:///b".to_owned(),
                    exists: IfExists::Overwrite
                },
                Step::Move {
                    from: "file:///a".to_owned(),
                    to: "file:///c".to_owned(),
                    exists: IfExists::Fail
                },
                Step::Delete {
                    uri: "file:///d".to_owned(),
                    ignore_missing: true
                },
            ]
        );
        assert_eq!(read(&Value::Null), Ok(Vec::new()));
    }

    #[test]
    fn pitfall_40_what_cannot_be_carried_out_spoils_the_whole_edit() {
        let snippet = json!({ "changes": { "file:///a": [
            { "range": {}, "snippet": { "kind": "snippet", "value": "$1" } },
        ] } });
        assert!(read(&snippet).unwrap_err().contains("template"));
        for odd in [
            json!({ "changes": { "file:///a": [{ "newText": "x" }] } }),
            json!({ "documentChanges": [{ "kind": "teleport", "uri": "file:///a" }] }),
            json!({ "documentChanges": [{ "edits": [] }] }),
        ] {
            assert!(read(&odd).unwrap_err().contains("cannot be read"), "{odd}");
        }
    }
}
