//! Every row of the table that is verified, against the server that it is about,
//! as `cargo xtask setup` installs it.
//!
//! A [`Sample`](sample::Sample) is a small project with what each action has to
//! answer there; the same questions are put to every server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bash;
mod cold;
mod cpp;
mod go;
mod hostile;
mod python;
mod rust;
mod sample;
mod typescript;

#[path = "../servers/support.rs"]
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let samples = [
        python::pyright(),
        python::basedpyright(),
        python::ty(),
        cpp::clangd(),
        typescript::wrapped(),
        typescript::native(),
        rust::rust_analyzer(),
        go::gopls(),
        bash::bash_language_server(),
    ];
    let tests = samples.into_iter().map(sample::test);
    let tests = tests
        .chain(cpp::tests())
        .chain(python::tests())
        .chain(rust::tests())
        .chain(typescript::tests())
        .chain(cold::tests())
        .chain(hostile::tests());
    let tests: Vec<Trial> = tests.collect();
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
