//! The tool `edit`: one exact replacement in one file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiers::{CallContext, Tier, ToolError, ToolOutput, ToolSpec, TypedTool};

use super::access::{Access, Change, DETAILS_VERSION, details_of};
use super::replace::{Refusal, Scope, list_lines, replace};

/// Lines of the file shown around the first replacement.
const SHOWN_AROUND: usize = 3;
/// Lines of the replacement shown at most.
const SHOWN_LINES: usize = 24;

/// What `edit` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditInput {
    /// File to change, relative to the workspace.
    path: String,
    /// Text to replace, exactly as in the file, white space included; without line numbers. It must
    /// occur exactly once unless `replace_all` is set.
    old_string: String,
    /// Text to put in its place.
    new_string: String,
    /// Replace every occurrence. Default false.
    #[serde(default)]
    replace_all: Option<bool>,
}

/// What `edit` says to programs.
#[derive(Debug, Serialize, JsonSchema)]
struct EditDetails {
    /// Counts incompatible changes of these details.
    version: u32,
    /// The path, relative to the workspace.
    path: String,
    /// How many places were replaced.
    replacements: usize,
    /// The line, from 1, that each replacement starts on in the new text.
    lines: Vec<usize>,
}

/// Replaces text in files.
#[derive(Debug)]
pub(crate) struct Edit {
    access: Access,
}

impl Edit {
    pub(crate) fn new(access: Access) -> Self {
        Self { access }
    }
}

impl TypedTool for Edit {
    type Input = EditInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<EditInput>(
            "edit",
            Tier::Write,
            "Edit a file",
            "Replaces a piece of text in a file. `old_string` must match exactly and be unique; \
             add neighbouring lines to make it so, or set `replace_all`. Line ends and a byte \
             order mark stay as they are.",
        )
        .with_details::<EditDetails>()
    }

    fn paths(&self, input: &EditInput) -> Vec<String> {
        self.access.named([input.path.as_str()])
    }

    async fn call(&self, input: EditInput, context: &CallContext) -> Result<ToolOutput, ToolError> {
        let path = self.access.resolve(&input.path)?;
        let name = path.to_string();
        let turn = self.access.turn(context).await?;
        let text = self.access.existing_text("edit", &path).await?;
        let scope = match input.replace_all {
            Some(true) => Scope::Every,
            Some(false) | None => Scope::Only,
        };
        let replaced = replace(&text, &input.old_string, &input.new_string, scope)
            .map_err(|refusal| refused(&name, &refusal))?;
        let details = EditDetails {
            version: DETAILS_VERSION,
            path: path.relative().to_owned(),
            replacements: replaced.lines.len(),
            lines: replaced.lines.clone(),
        };
        let shown = snippet(&replaced.text, &replaced.lines, &input.new_string);
        let text_after = replaced.text.into_bytes();
        let change = Change {
            path,
            before: Some(text.into_bytes()),
            after: Some(text_after),
            like: None,
        };
        let applied = self.access.apply(context, turn, vec![change]).await?;
        let count = details.replacements;
        let text = format!(
            "edited `{name}`: {count} {} at {} {}\n{}{shown}",
            if count == 1 {
                "replacement"
            } else {
                "replacements"
            },
            if count == 1 { "line" } else { "lines" },
            list_lines(&details.lines),
            applied.notes
        );
        Ok(ToolOutput::text(text)
            .with_details(details_of(&details)?)
            .with_touched(applied.touched))
    }
}

fn refused(path: &str, refusal: &Refusal) -> ToolError {
    let what = format!("cannot edit `{path}`");
    let error = match refusal {
        Refusal::NothingToFind | Refusal::NothingToChange => ToolError::invalid_input(what),
        Refusal::Ambiguous { .. } => ToolError::conflict(what),
        Refusal::Absent { .. } => ToolError::not_found(what),
    };
    error.why(refusal.why()).next(refusal.next())
}

/// Shows the lines around the first replacement, numbered as `read` does.
fn snippet(text: &str, lines: &[usize], new: &str) -> String {
    let first = lines.first().copied().unwrap_or(1);
    let start = first.saturating_sub(SHOWN_AROUND).max(1);
    let height = new.lines().count().clamp(1, SHOWN_LINES);
    let end = first + height + SHOWN_AROUND;
    let mut shown = String::new();
    for (index, line) in text.lines().enumerate().skip(start - 1).take(end - start) {
        let line = line
            .strip_prefix('\u{feff}')
            .filter(|_| index == 0)
            .unwrap_or(line);
        let cut: String = line.chars().take(200).collect();
        shown.push_str(&format!("{:>6}\t{cut}\n", index + 1));
    }
    shown
}
