//! What a tool returns when it failed: what failed, why, what to do next.

use std::error::Error as StdError;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cap::{Caps, cap_text};
use crate::visible::visible_lines;
use crate::{Content, Limits, ToolOutput};

/// One part of a message: long enough for every argument of a call to be wrong.
const MESSAGE: Caps = Caps {
    lines: 200,
    bytes: 8 * 1024,
};

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
///
/// It serialises without its source, which is for logs only.
#[derive(Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolError {
    /// The kind.
    pub kind: ErrorKind,
    /// What failed, with the name of the thing.
    pub what: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What was produced before the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Box<ToolOutput>>,
    /// Things to tell the model with this result; dispatch adds them.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub notices: Box<[String]>,
    /// The cause, for logs; the model does not see it.
    #[serde(skip)]
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
            notices: Box::default(),
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

    /// Returns what the model sees: the message, what was produced before the
    /// failure, and the notices.
    #[must_use]
    pub fn content(&self) -> Vec<Content> {
        let mut content = vec![Content::Text(self.to_string())];
        if let Some(partial) = &self.partial {
            content.push(Content::Text("before it failed:".to_owned()));
            content.extend(partial.content.iter().cloned());
        }
        content.extend(self.notices.iter().cloned().map(Content::Text));
        content
    }

    /// Keeps message and partial output within bounds, and makes the names in the
    /// message show all that is in them.
    pub(crate) fn cap(&mut self, caps: Caps, limits: &Limits) {
        for part in [Some(&mut self.what), self.why.as_mut(), self.next.as_mut()]
            .into_iter()
            .flatten()
        {
            *part = cap_text(&visible_lines(part), MESSAGE, "the message was cut").text;
        }
        if let Some(partial) = &mut self.partial {
            partial.cap(caps, limits);
        }
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

impl ErrorKind {
    /// Returns the name of the kind as it is serialised.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid_input",
            Self::UnknownTool => "unknown_tool",
            Self::NotFound => "not_found",
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Denied => "denied",
            Self::Conflict => "conflict",
            Self::Crashed => "crashed",
            Self::Failed => "failed",
            Self::Internal => "internal",
        }
    }
}

impl StdError for ToolError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source
            .as_deref()
            .map(|e| e as &(dyn StdError + 'static))
    }
}
