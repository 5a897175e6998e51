//! Why a child did not start or did not finish.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tiers::{ErrorKind, ToolError};

use crate::error::io_reason;

/// A child that did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The program is named without its folder.
    #[error("cannot start `{}`: it is no absolute path", program.display())]
    NotAbsolute {
        /// The program as given.
        program: PathBuf,
    },
    /// The directory to start in cannot be used.
    #[error("cannot start `{}`: there is no directory `{}`", program.display(), directory.display())]
    NoDirectory {
        /// The program.
        program: PathBuf,
        /// The directory.
        directory: PathBuf,
    },
    /// There is no such program.
    #[error("cannot start `{}`: there is no such file", program.display())]
    NoProgram {
        /// The program.
        program: PathBuf,
    },
    /// The program is a script whose interpreter does not exist.
    #[error("cannot start `{}`: its interpreter `{interpreter}` does not exist", program.display())]
    NoInterpreter {
        /// The program.
        program: PathBuf,
        /// What stands after its `#!`.
        interpreter: String,
    },
    /// The file is not marked as executable, or is a directory.
    #[error("cannot start `{}`: it is not executable", program.display())]
    NotExecutable {
        /// The program.
        program: PathBuf,
    },
    /// The system refuses for another reason.
    #[error("cannot start `{}`: {}", program.display(), io_reason(source))]
    Io {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// A child that was to run to its end and did not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It was still running when its time was up, and is being stopped.
    #[error("cannot wait any longer for `{}`: {} s are over{}", program.display(), limit.as_secs_f32(), said(stderr))]
    Timeout {
        /// The program.
        program: PathBuf,
        /// The time it had.
        limit: Duration,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; its standard error ends with:\n{text}"),
    }
}

impl From<StartError> for ToolError {
    fn from(error: StartError) -> Self {
        let (kind, next) = match &error {
            StartError::NotAbsolute { .. } => (
                ErrorKind::Internal,
                "resolve the program before starting it",
            ),
            StartError::NoDirectory { .. } => (ErrorKind::NotFound, "give an existing directory"),
            StartError::NoProgram { .. } => (ErrorKind::Unavailable, "install it"),
            StartError::NoInterpreter { .. } => (
                ErrorKind::Unavailable,
                "install the interpreter, or install the program again",
            ),
            StartError::NotExecutable { .. } => {
                (ErrorKind::Unavailable, "make it executable with `chmod +x`")
            }
            StartError::Io { .. } => (
                ErrorKind::Unavailable,
                "run it by hand to see what it needs",
            ),
        };
        crate::error::tool_error(kind, next, error)
    }
}

impl From<RunError> for ToolError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Start(error) => error.into(),
            RunError::Timeout { .. } => {
                let next = "allow more time, or give it less to do";
                crate::error::tool_error(ErrorKind::Timeout, next, error)
            }
        }
    }
}
