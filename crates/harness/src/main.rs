//! The reference harness: the command line `toolset`.
//!
//! It uses the facade as any harness would: file tools of its own, a command
//! line for people, and a JSON-RPC server for harnesses in other languages.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, reason = "a panic is how a test fails")
)]

mod arguments;
mod assemble;
mod cli;
mod commands;
mod environment;
mod files;
mod progress;
mod serve;
mod trust;
mod wire;

use std::process::ExitCode;

use clap::Parser;

/// Parsing allocates a node at a time, in C as well: the feature `override` of
/// the crate gives its calls of `malloc` the same allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let environment = match environment::Environment::read() {
        Ok(environment) => environment,
        Err(error) => {
            commands::remark(&format!("error: {error:#}"));
            return ExitCode::from(commands::FAILED);
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            commands::remark(&format!("error: cannot start the async runtime: {error}"));
            return ExitCode::from(commands::FAILED);
        }
    };
    let code = runtime.block_on(commands::run(cli, &environment));
    // A read of standard input that nobody waits for must not hold up the end.
    runtime.shutdown_background();
    code
}
