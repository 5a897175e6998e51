//! Prints how each context of a language reads a fragment.
//!
//! `cargo run --release -p toolset-structural --example readings -- dart 'dispose($X)'`
//!
//! With `-e` in place of fragments, each context reads its own example.
//! With `-q` only the kinds are shown; fragments are read from the lines of
//! standard input when none is given.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::string_slice,
    reason = "a program for the people who write the tables"
)]

#[path = "../tests/languages/reading.rs"]
mod reading;

use std::io::Read as _;

use structural::languages;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let verbosity = args
        .iter()
        .position(|a| a == "-q" || a == "-v")
        .map(|i| args.remove(i));
    let language = languages::compiled()
        .iter()
        .find(|l| l.id == args[0])
        .unwrap();
    let mut fragments = args.split_off(1);
    if fragments == ["-e"] {
        for context in language.contexts {
            match reading::read(language, context, context.example) {
                Ok(reading) => println!(
                    "{:?} {:?}: {}",
                    context.rung,
                    context.example,
                    reading.sexp()
                ),
                Err(refusal) => println!(
                    "{:?} {:?} REFUSED {refusal:?}",
                    context.rung, context.example
                ),
            }
        }
        return;
    }
    if fragments.is_empty() {
        let mut input = String::new();
        std::io::stdin().read_to_string(&mut input).unwrap();
        fragments.extend(
            input
                .lines()
                .filter(|l| !l.is_empty())
                .map(|l| l.replace("\\n", "\n")),
        );
    }
    for fragment in fragments {
        println!("== {fragment}");
        let mut accepted = 0;
        for context in language.contexts {
            match reading::read(language, context, &fragment) {
                Ok(reading) if verbosity.as_deref() == Some("-q") => {
                    println!("  {:?}: {}", context.rung, reading.kinds().join(" "));
                }
                Ok(reading) => println!("  {:?}: {}", context.rung, reading.sexp()),
                Err(refusal) if verbosity.as_deref() == Some("-v") => {
                    println!("  {:?} refuses: {refusal:?}", context.rung);
                    continue;
                }
                Err(_) => continue,
            }
            accepted += 1;
        }
        if accepted == 0 {
            println!("  REFUSED by all");
        }
    }
}
