//! A language server that follows a script: `fake-lsp SCRIPT`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let script = std::env::args_os().nth(1);
    match script.map(|script| test_support::run(Path::new(&script))) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(_)) => ExitCode::from(101),
        None => ExitCode::from(2),
    }
}
