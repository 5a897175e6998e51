//! The tool against servers that follow a script, for what real ones cannot be
//! made to do.
//!
//! The program of the tests is the server too: started with `--fake-lsp`, it
//! follows the script that it is given, with `--sample-lsp` it is a server that
//! behaves well, and with `--harness` a harness that a test kills.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hygiene;
mod killed;
mod on_write;
mod rename;
mod sample;
mod setting;
mod wedged;

use std::path::Path;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == "--fake-lsp" {
        let script = arguments.next().unwrap();
        test_support::run(Path::new(&script)).unwrap();
        return;
    }
    if first == "--sample-lsp" {
        test_support::run_sample().unwrap();
        // The thread that reads the input does not end with it.
        std::process::exit(0);
    }
    if first == killed::HARNESS {
        killed::harness();
        return;
    }
    let tests: Vec<Trial> = hygiene::tests()
        .into_iter()
        .chain(wedged::tests())
        .chain(killed::tests())
        .chain(sample::tests())
        .chain(rename::tests())
        .chain(on_write::tests())
        .collect();
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
