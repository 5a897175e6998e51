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
use std::time::Duration;

use clap::Parser;

/// Parsing allocates a node at a time, in C as well: the feature `override` of
/// the crate gives its calls of `malloc` the same allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(feature = "embedded-python")]
    toolset::kernel::run_if_python();
    let cli = cli::Cli::parse();
    let environment = match environment::Environment::read() {
        Ok(environment) => environment,
        Err(error) => {
            commands::remark(&format!("error: {error:#}"));
            return ExitCode::from(commands::FAILED);
        }
    };
    run_to_end(commands::run(cli, &environment))
}

/// How long the children that are left may take to end in their own way.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Runs the work of the program, and sees all children off.
fn run_to_end(work: impl Future<Output = ExitCode>) -> ExitCode {
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
    let code = runtime.block_on(work);
    // A read of standard input that nobody waits for must not hold up the end.
    runtime.shutdown_background();
    // Whoever shuts children down ends with the program.
    let left = host::process::finish(LAST_WORDS);
    if left > 0 {
        commands::remark(&format!("note: {left} child processes did not end"));
    }
    code
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use host::process::{ChildCommand, Environment, Output, ShutdownPlan};
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// What [`the_end_of_the_program_waits_for_the_farewell_of_its_children`]
    /// runs as a program of its own; nothing without its folder.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "its parent says where to work")]
    fn a_program_that_ends_with_a_child() {
        let Ok(folder) = std::env::var("TOOLSET_TEST_ENDS_IN") else {
            return;
        };
        let code = run_to_end(async {
            // It takes leave when it is told to, and that takes a while.
            let script = "trap 'sleep 0.3; echo bye > farewell; exit 0' TERM; echo ready; \
                while :; do sleep 0.05; done";
            let mut child = ChildCommand::new(Path::new("/bin/sh"), Path::new(&folder))
                .args(["-c", script])
                .environment(Environment::usual(std::env::vars_os()))
                .stdout(Output::Piped)
                .shutdown(ShutdownPlan::kill().then_terminate(Duration::from_secs(4)))
                .start()
                .await
                .unwrap();
            let mut ready = [0; 6];
            let mut stdout = child.take_stdout().unwrap();
            stdout.read_exact(&mut ready).await.unwrap();
            assert_eq!(&ready, b"ready\n");
            // Still held when the program ends.
            std::mem::forget(child);
            ExitCode::SUCCESS
        });
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::SUCCESS));
        // Without a destructor, as where `main` returns to a runtime that exits.
        std::process::exit(0);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    fn the_end_of_the_program_waits_for_the_farewell_of_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["tests::a_program_that_ends_with_a_child", "--exact"])
            .env("TOOLSET_TEST_ENDS_IN", folder.path())
            .status()
            .unwrap();
        assert!(status.success());
        let farewell = std::fs::read_to_string(folder.path().join("farewell"));
        assert_eq!(farewell.unwrap(), "bye\n");
    }
}
