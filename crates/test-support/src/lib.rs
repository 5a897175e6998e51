//! Peers that do what a test wants of them.
//!
//! Not published: for the tests of this workspace only.

mod fake_lsp;
mod modules;
mod processes;
mod sample_lsp;
mod writer;

pub use fake_lsp::{Script, Step, run};
pub use modules::ModuleProject;
pub use processes::processes_of;
pub use sample_lsp::run_sample;
pub use writer::{Writer, WriterFile, WriterInput};
