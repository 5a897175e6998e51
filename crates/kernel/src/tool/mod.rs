//! The tool `eval`.

mod details;
mod eval;
mod failure;
mod page;
mod render;

pub use details::{
    CellStatus, EvalDetails, ExceptionDetails, ImageDetails, InterpreterDetails, LateDetails,
};
pub use eval::{Eval, EvalInput};
