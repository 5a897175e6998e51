//! What a tool returns when it failed: what failed, why, what to do next.

use std::error::Error as StdError;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ToolOutput;

/// Why a call failed, for code that reacts to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The arguments are wrong.
    InvalidInput,
    /// No such tool on this surface.
    UnknownTool,
    /// The thing named does not exist.
    NotFound,
    /// The resource behind the tool cannot be used now.
    Unavailable,
    /// A time limit passed.
    Timeout,
    /// The call was cancelled.
    Cancelled,
    /// Policy said no.
    Denied,
    /// The state does not allow it, or changed meanwhile.
    Conflict,
    /// The peer died.
    Crashed,
    /// The thing ran and said no.
    Failed,
    /// A fault of ours.
    Internal,
}

/// The result of a call that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolError {
    /// The kind.
    pub kind: ErrorKind,
    /// What failed, with the name of the thing.
    pub what: String,
    /// Why it failed.
    pub why: Option<String>,
    /// What to do next.
    pub next: Option<String>,
    /// What was produced before the failure.
    pub partial: Option<Box<ToolOutput>>,
    /// The cause, for logs; the model does not see it.
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ToolError {
    /// Builds an error of `kind`; `what` names what failed.
    pub fn new(kind: ErrorKind, what: impl fmt::Display) -> Self {
        Self {
            kind,
            what: what.to_string(),
            why: None,
            next: None,
            partial: None,
            source: None,
        }
    }

    /// Says why.
    #[must_use]
    pub fn why(mut self, why: impl fmt::Display) -> Self {
        self.why = Some(why.to_string());
        self
    }

    /// Says what to do next.
    #[must_use]
    pub fn next(mut self, next: impl fmt::Display) -> Self {
        self.next = Some(next.to_string());
        self
    }

    /// Attaches what was produced before the failure.
    #[must_use]
    pub fn with_partial(mut self, partial: ToolOutput) -> Self {
        self.partial = Some(Box::new(partial));
        self
    }

    /// Attaches the cause.
    #[must_use]
    pub fn source(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }
}

macro_rules! constructors {
    ($($name:ident => $kind:ident),* $(,)?) => {
        impl ToolError {
            $(
                #[doc = concat!("Builds an error of kind `", stringify!($kind), "`; `what` names what failed.")]
                pub fn $name(what: impl fmt::Display) -> Self {
                    Self::new(ErrorKind::$kind, what)
                }
            )*
        }
    };
}

constructors! {
    invalid_input => InvalidInput,
    unknown_tool => UnknownTool,
    not_found => NotFound,
    unavailable => Unavailable,
    timeout => Timeout,
    cancelled => Cancelled,
    denied => Denied,
    conflict => Conflict,
    crashed => Crashed,
    failed => Failed,
    internal => Internal,
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(why) = &self.why {
            write!(f, ": {why}")?;
        }
        if let Some(next) = &self.next {
            write!(f, "; {next}")?;
        }
        Ok(())
    }
}

impl StdError for ToolError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source
            .as_deref()
            .map(|e| e as &(dyn StdError + 'static))
    }
}
