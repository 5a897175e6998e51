//! Persistent interpreters: cells that keep their variables, and call the
//! harness's own tools.
//!
//! A *kernel* is an interpreter in a process of its own that runs our bootstrap.
//! It starts in a fraction of the time of a notebook kernel, has no thread of
//! ours, and speaks over a descriptor that cells and their children cannot
//! reach by accident. [`Kernels`] keeps the kernels of one conversation,
//! [`Eval`] is the tool, and a [`KernelFactory`] says which interpreter runs
//! and where.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod bootstrap;
mod bridge;
mod budget;
mod cell;
mod clean;
#[cfg(feature = "embedded-python")]
mod embedded;
mod error;
mod factory;
mod frames;
mod ladder;
mod late;
mod link;
mod memory;
mod output;
mod process;
mod slot;
mod tool;

#[cfg(feature = "embedded-python")]
pub use embedded::{EmbeddedPython, EmbeddedUse, run_if_python};
pub use error::Error;
pub use factory::{KernelFactory, Language, Place, ProjectInterpreters, Streams};
pub use memory::MemoryLimits;
pub use slot::{KernelLimits, Kernels};
pub use tool::{
    CellStatus, Eval, EvalDetails, EvalInput, ExceptionDetails, ImageDetails, InterpreterDetails,
    LateDetails,
};
