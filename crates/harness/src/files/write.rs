//! The tool `write`: a whole file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiers::{CallContext, Tier, ToolError, ToolOutput, ToolSpec, TypedTool};

use super::access::{Access, Change, DETAILS_VERSION, details_of};

/// What `write` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteInput {
    /// File to create or overwrite, relative to the workspace. Missing folders are created.
    path: String,
    /// The whole new text, written as it is.
    content: String,
}

/// What `write` says to programs.
#[derive(Debug, Serialize, JsonSchema)]
struct WriteDetails {
    /// Counts incompatible changes of these details.
    version: u32,
    /// The path, relative to the workspace.
    path: String,
    /// Whether the file is new.
    is_new: bool,
    /// Bytes written.
    bytes: usize,
    /// Lines written.
    lines: usize,
}

/// Creates and overwrites files.
#[derive(Debug)]
pub(crate) struct Write {
    access: Access,
}

impl Write {
    pub(crate) fn new(access: Access) -> Self {
        Self { access }
    }
}

impl TypedTool for Write {
    type Input = WriteInput;

    fn spec(&self) -> ToolSpec {
        ToolSpec::of::<WriteInput>(
            "write",
            Tier::Write,
            "Write a file",
            "Creates a file, or overwrites it, with exactly the given text. To change part of a \
             file use `edit`.",
        )
        .with_details::<WriteDetails>()
    }

    fn paths(&self, input: &WriteInput) -> Vec<String> {
        self.access.named([input.path.as_str()])
    }

    async fn call(
        &self,
        input: WriteInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let path = self.access.resolve(&input.path)?;
        let turn = self.access.turn(context).await?;
        let before = self.access.bytes(&path).await?;
        let shown = path.to_string();
        let details = WriteDetails {
            version: DETAILS_VERSION,
            path: path.relative().to_owned(),
            is_new: before.is_none(),
            bytes: input.content.len(),
            lines: input.content.lines().count(),
        };
        let new = input.content.into_bytes();
        if before.as_deref() == Some(new.as_slice()) {
            return Ok(
                ToolOutput::text(format!("`{shown}` already has exactly this text"))
                    .with_details(details_of(&details)?),
            );
        }
        let verb = if details.is_new {
            "created"
        } else {
            "overwrote"
        };
        let mut text = format!(
            "{verb} `{shown}`: {} lines, {} bytes",
            details.lines, details.bytes
        );
        let change = Change {
            path,
            before,
            after: Some(new),
            like: None,
        };
        let applied = self.access.apply(context, turn, vec![change]).await?;
        if !applied.notes.is_empty() {
            text.push('\n');
            text.push_str(&applied.notes);
        }
        Ok(ToolOutput::text(text)
            .with_details(details_of(&details)?)
            .with_touched(applied.touched))
    }
}
