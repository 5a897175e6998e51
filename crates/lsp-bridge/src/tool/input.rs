//! What a call asks for.

use host::text::Line;
use host::{Workspace, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tiers::ToolError;

use crate::error::Error;

/// What to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LspAction {
    /// Errors and warnings of a file.
    Diagnostics,
    /// Where a symbol is declared.
    Definition,
    /// Where its type is declared.
    TypeDefinition,
    /// Its concrete implementations.
    Implementation,
    /// Every use of it.
    References,
    /// Signature and documentation.
    Hover,
    /// Symbols of a file, or of the workspace by name.
    Symbols,
    /// Quick fixes that are offered.
    CodeActions,
    /// Which servers can be used, and why not.
    Status,
    /// Restarts servers.
    Reload,
}

/// Arguments of `lsp`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LspInput {
    /// What to ask.
    pub action: LspAction,
    /// File, relative to the workspace. Optional for `status`, `reload`, and `symbols` with `query`.
    #[serde(default)]
    pub file: Option<String>,
    /// Line of the symbol, from 1.
    #[serde(default)]
    pub line: Option<u32>,
    /// The symbol as it is on that line, for example `parse`; `parse#2` is the second one there.
    #[serde(default)]
    pub symbol: Option<String>,
    /// For `symbols`: part of a name to search the workspace for, instead of `file`.
    #[serde(default)]
    pub query: Option<String>,
}

/// A symbol in a file.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) file: WorkspacePath,
    pub(super) line: Line,
    pub(super) symbol: String,
}

/// Where to go from a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    Definition,
    TypeDefinition,
    Implementation,
}

/// A call that makes sense.
#[derive(Debug)]
pub(super) enum Request {
    Navigate {
        to: Goal,
        place: Place,
    },
    References(Place),
    Hover(Place),
    Actions(Place),
    FileSymbols(WorkspacePath),
    FindSymbols {
        query: String,
        file: Option<WorkspacePath>,
    },
    Diagnostics(WorkspacePath),
    Status(Option<WorkspacePath>),
    Reload(Option<WorkspacePath>),
}

impl LspAction {
    /// Returns its name in a call.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Diagnostics => "diagnostics",
            Self::Definition => "definition",
            Self::TypeDefinition => "type_definition",
            Self::Implementation => "implementation",
            Self::References => "references",
            Self::Hover => "hover",
            Self::Symbols => "symbols",
            Self::CodeActions => "code_actions",
            Self::Status => "status",
            Self::Reload => "reload",
        }
    }
}

impl Request {
    pub(super) fn parse(input: LspInput, workspace: &Workspace) -> Result<Self, ToolError> {
        let action = input.action;
        Ok(match action {
            LspAction::Definition => Self::navigate(Goal::Definition, &input, workspace)?,
            LspAction::TypeDefinition => Self::navigate(Goal::TypeDefinition, &input, workspace)?,
            LspAction::Implementation => Self::navigate(Goal::Implementation, &input, workspace)?,
            LspAction::References => Self::References(place(&input, workspace)?),
            LspAction::Hover => Self::Hover(place(&input, workspace)?),
            LspAction::CodeActions => Self::Actions(place(&input, workspace)?),
            LspAction::Diagnostics => Self::Diagnostics(required_file(&input, workspace)?),
            LspAction::Status => Self::Status(optional_file(&input, workspace)?),
            LspAction::Reload => Self::Reload(optional_file(&input, workspace)?),
            LspAction::Symbols => match input.query.as_deref().map(str::trim) {
                None => Self::FileSymbols(required_file(&input, workspace)?),
                Some("") => {
                    return Err(wrong(action, "`query` is empty", "give a part of a name").into());
                }
                Some(query) => Self::FindSymbols {
                    query: query.to_owned(),
                    file: optional_file(&input, workspace)?,
                },
            },
        })
    }

    fn navigate(to: Goal, input: &LspInput, workspace: &Workspace) -> Result<Self, ToolError> {
        let place = place(input, workspace)?;
        Ok(Self::Navigate { to, place })
    }
}

fn place(input: &LspInput, workspace: &Workspace) -> Result<Place, ToolError> {
    let file = required_file(input, workspace)?;
    let Some(line) = input.line.and_then(Line::from_one) else {
        let next = "give `line`, counting from 1";
        return Err(wrong(input.action, "it needs the line of the symbol", next).into());
    };
    // A guess at the first column would be about something else.
    let symbol = input.symbol.as_deref().map(str::trim);
    let Some(symbol) = symbol.filter(|symbol| !symbol.is_empty()) else {
        let next = "give `symbol`: the name as it is written on that line";
        return Err(wrong(input.action, "it needs a symbol on the line", next).into());
    };
    Ok(Place {
        file,
        line,
        symbol: symbol.to_owned(),
    })
}

fn required_file(input: &LspInput, workspace: &Workspace) -> Result<WorkspacePath, ToolError> {
    optional_file(input, workspace)?.ok_or_else(|| {
        let next = match input.action {
            LspAction::Symbols => "give `file`, or `query` to search the workspace",
            _ => "give `file`",
        };
        wrong(input.action, "it needs a file", next).into()
    })
}

fn optional_file(
    input: &LspInput,
    workspace: &Workspace,
) -> Result<Option<WorkspacePath>, ToolError> {
    let Some(file) = &input.file else {
        return Ok(None);
    };
    Ok(Some(workspace.resolve(file)?))
}

fn wrong(action: LspAction, why: &str, next: &str) -> Error {
    Error::Place {
        what: format!("cannot answer `{}`", action.as_str()),
        why: why.to_owned(),
        next: next.to_owned(),
    }
}
