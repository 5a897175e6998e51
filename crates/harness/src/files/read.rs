//! The tool `read`: a text file with line numbers, or a folder's entries.

use host::WorkspacePath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiers::{CallContext, Tier, ToolError, ToolOutput, ToolSpec, TypedTool, visible};

use super::access::{Access, DETAILS_VERSION, Entry, Found, details_of};

/// Lines returned when no limit is given.
const DEFAULT_LINES: usize = 2_000;
/// Bytes of text returned at most, line numbers included.
const MAX_BYTES: usize = 48 * 1024;
/// Characters of one line shown at most.
const MAX_LINE: usize = 2_000;

/// What `read` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadInput {
    /// File or folder, relative to the workspace, for example `src/main.rs`.
    path: String,
    /// First line to return, counted from 1. Default 1.
    #[serde(default)]
    offset: Option<usize>,
    /// Number of lines to return. Default 2000.
    #[serde(default)]
    limit: Option<usize>,
}

/// What `read` says to programs.
#[derive(Debug, Serialize, JsonSchema)]
struct ReadDetails {
    /// Counts incompatible changes of these details.
    version: u32,
    /// The path, relative to the workspace.
    path: String,
    /// `file` or `folder`.
    kind: &'static str,
    /// Lines of the file, or entries of the folder.
    total: usize,
    /// The first line returned, from 1; absent where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<usize>,
    /// The last line returned, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_line: Option<usize>,
    /// Whether lines were left out, or long ones cut.
    is_partial: bool,
}

/// Reads files and lists folders.
#[derive(Debug)]
pub(crate) struct Read {
    access: Access,
}

impl Read {
    pub(crate) fn new(access: Access) -> Self {
        Self { access }
    }
}

impl TypedTool for Read {
    type Input = ReadInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<ReadInput>(
            "read",
            Tier::Read,
            "Read a file",
            "Returns the lines of a text file, each with its number and a tab in front, or the \
             entries of a folder. Long files come in parts: go on with `offset`. Binary files are \
             refused.",
        )
        .with_details::<ReadDetails>()
    }

    async fn call(
        &self,
        input: ReadInput,
        _context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let path = self.access.resolve(&input.path)?;
        if input.offset == Some(0) {
            return Err(ToolError::invalid_input(format!("cannot read `{path}`"))
                .why("`offset` is 0, and lines are counted from 1")
                .next("leave `offset` out to start at the beginning"));
        }
        if input.limit == Some(0) {
            return Err(ToolError::invalid_input(format!("cannot read `{path}`"))
                .why("`limit` is 0, so nothing would be returned")
                .next("leave `limit` out, or ask for at least one line"));
        }
        let offset = input.offset.unwrap_or(1);
        let limit = input.limit.unwrap_or(DEFAULT_LINES);
        let page = match self.access.look(&path).await? {
            Found::Text { text, is_lossy } => {
                let mut page = file_page(&path, &text, offset, limit)?;
                if is_lossy {
                    page.text
                        .push_str("[not UTF-8: bytes that are no characters show as \u{fffd}]\n");
                }
                page
            }
            Found::Folder(entries) => folder_page(&path, &entries, offset, limit),
        };
        Ok(ToolOutput::text(page.text).with_details(details_of(&page.details)?))
    }
}

#[derive(Debug)]
struct Page {
    text: String,
    details: ReadDetails,
}

fn file_page(
    path: &WorkspacePath,
    text: &str,
    offset: usize,
    limit: usize,
) -> Result<Page, ToolError> {
    let total = text.lines().count();
    let mut details = ReadDetails {
        version: DETAILS_VERSION,
        path: path.relative().to_owned(),
        kind: "file",
        total,
        first_line: None,
        last_line: None,
        is_partial: false,
    };
    if total == 0 {
        return Ok(Page {
            text: format!("`{path}` is empty"),
            details,
        });
    }
    if offset > total {
        return Err(
            ToolError::invalid_input(format!("cannot read `{path}` from line {offset}"))
                .why(format!("it has {total} lines"))
                .next(format!("give an `offset` from 1 to {total}")),
        );
    }
    let mut shown = String::new();
    let mut last = offset - 1;
    let mut cut_lines = 0;
    for (index, line) in text.lines().enumerate().skip(offset - 1).take(limit) {
        let line = line
            .strip_prefix('\u{feff}')
            .filter(|_| index == 0)
            .unwrap_or(line);
        let visible = match line.char_indices().nth(MAX_LINE) {
            None => format!("{:>6}\t{line}\n", index + 1),
            Some((end, _)) => {
                let head = line.get(..end).unwrap_or(line);
                let more = line.chars().count() - MAX_LINE;
                format!("{:>6}\t{head}… [{more} more characters]\n", index + 1)
            }
        };
        if shown.len() + visible.len() > MAX_BYTES && last >= offset {
            break;
        }
        if visible.len() > line.len() + 32 || line.chars().nth(MAX_LINE).is_some() {
            cut_lines += 1;
        }
        shown.push_str(&visible);
        last = index + 1;
    }
    details.first_line = Some(offset);
    details.last_line = Some(last);
    details.is_partial = offset > 1 || last < total || cut_lines > 0;
    if last < total {
        shown.push_str(&format!(
            "[lines {offset} to {last} of {total}; go on with `offset` {}]\n",
            last + 1
        ));
    }
    Ok(Page {
        text: shown,
        details,
    })
}

fn folder_page(path: &WorkspacePath, entries: &[Entry], offset: usize, limit: usize) -> Page {
    let total = entries.len();
    let shown: Vec<&Entry> = entries.iter().skip(offset - 1).take(limit).collect();
    let last = offset - 1 + shown.len();
    let mut text = format!("folder `{path}`, {total} entries\n");
    for entry in &shown {
        text.push_str(&visible(&entry.name));
        text.push_str(if entry.is_folder { "/\n" } else { "\n" });
    }
    if last < total {
        text.push_str(&format!(
            "[entries {offset} to {last} of {total}; go on with `offset` {}]\n",
            last + 1
        ));
    }
    let details = ReadDetails {
        version: DETAILS_VERSION,
        path: path.relative().to_owned(),
        kind: "folder",
        total,
        first_line: None,
        last_line: None,
        is_partial: shown.len() < total,
    };
    Page { text, details }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> WorkspacePath {
        let folder = tempfile::tempdir().unwrap();
        let workspace = host::Workspace::open(folder.path(), host::Trust::Untrusted).unwrap();
        workspace.resolve("f").unwrap()
    }

    fn page(text: &str, offset: usize, limit: usize) -> Page {
        file_page(&path(), text, offset, limit).unwrap()
    }

    #[test]
    fn lines_are_numbered_and_the_rest_is_named() {
        let page = page("a\nb\nc\nd\n", 2, 2);
        assert_eq!(
            page.text,
            "     2\tb\n     3\tc\n[lines 2 to 3 of 4; go on with `offset` 4]\n"
        );
        assert!(page.details.is_partial);
    }

    #[test]
    fn a_whole_file_has_no_note() {
        let page = page("\u{feff}a\r\nb", 1, 10);
        assert_eq!(page.text, "     1\ta\n     2\tb\n");
        assert!(!page.details.is_partial);
    }

    #[test]
    fn an_offset_past_the_end_says_how_many_lines_there_are() {
        let error = file_page(&path(), "a\n", 5, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read `f` from line 5: it has 1 lines; give an `offset` from 1 to 1"
        );
    }

    #[test]
    fn long_lines_and_long_files_are_cut_and_say_so() {
        let long = page(&"x".repeat(MAX_LINE + 5), 1, 1);
        assert!(
            long.text.ends_with("x… [5 more characters]\n"),
            "{}",
            long.text
        );
        assert!(long.details.is_partial);
        let many = page(&"0123456789\n".repeat(10_000), 1, 10_000);
        assert!(many.text.len() < MAX_BYTES + 100);
        assert!(many.details.last_line.unwrap() < 10_000);
    }
}
