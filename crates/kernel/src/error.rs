//! Why there is no kernel to run a cell.

use std::path::PathBuf;
use std::time::Duration;

use host::executable::NoProgram;
use host::process::{Exit, StartError};
use tiers::ToolError;

use crate::factory::Language;
use crate::frames::LinkError;

/// No kernel could be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no interpreter.
    #[error("cannot start a {language} interpreter: {}", missing)]
    NoInterpreter {
        /// The language.
        language: Language,
        /// Where it was looked for.
        missing: Box<NoProgram>,
    },
    /// The run has no interpreters for the language.
    #[error("cannot start a {language} interpreter")]
    NotAttached {
        /// The language.
        language: Language,
    },
    /// The system does not start it.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It ended before it was ready.
    #[error("`{}` ended before it was ready ({exit}){}", program.display(), said(stderr))]
    Ended {
        /// The interpreter.
        program: PathBuf,
        /// How it ended.
        exit: Exit,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It was not ready in time.
    #[error("`{}` was not ready after {} s{}", program.display(), limit.as_secs(), said(stderr))]
    NotReady {
        /// The interpreter.
        program: PathBuf,
        /// The time it had.
        limit: Duration,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It does not speak our protocol.
    #[error("`{}` does not answer as it should: {why}", program.display())]
    Protocol {
        /// The interpreter.
        program: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The cell has more text than can be handed over at once.
    #[error("cannot run a cell of {bytes} bytes")]
    CellTooLarge {
        /// The size of its text.
        bytes: usize,
    },
    /// There is no pipe for the output of the cell.
    #[error("cannot run the cell: no pipe for its output: {0}")]
    NoOutput(#[source] std::io::Error),
    /// The call was cancelled while it started.
    #[error("the start of the interpreter was cancelled")]
    Cancelled,
    /// A descriptor or thread is missing.
    #[error("cannot start an interpreter: {0}")]
    Io(#[from] std::io::Error),
}

impl From<LinkError> for Error {
    fn from(error: LinkError) -> Self {
        Self::Io(std::io::Error::other(error))
    }
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; its standard error ends with:\n{text}"),
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        match error {
            Error::Start(error) => error.into(),
            Error::NoInterpreter { .. } => Self::unavailable(&error)
                .next("install Python 3.9 or later, or have the user name an interpreter")
                .source(error),
            Error::NotAttached { .. } => Self::unavailable(&error)
                .why("this run has none")
                .next("use another tool, or have the user attach one")
                .source(error),
            Error::Ended { .. } => Self::unavailable(&error)
                .next("check that this interpreter works; Python 3.9 or later is needed")
                .source(error),
            Error::NotReady { .. } => Self::timeout(&error)
                .next("call again; if it stays so, have the user name another interpreter")
                .source(error),
            Error::CellTooLarge { .. } => Self::invalid_input(&error)
                .why("its text and the frame around it have to fit into 64 MiB")
                .next("put large data into a file, and read it in the cell")
                .source(error),
            Error::Protocol { .. } | Error::NoOutput(_) | Error::Io(_) => {
                Self::unavailable(&error).next("call again").source(error)
            }
            Error::Cancelled => Self::cancelled("the cell was cancelled")
                .why("while the interpreter started; nothing was run"),
        }
    }
}
