//! Runs the cases of `tests/cases/kernel/`, each as a test named with its id.
//!
//! A case is a series of cells in one interpreter. One that needs packages runs
//! in the environment that `cargo xtask setup` installs, the others in the same
//! where it is there, else in the machine's own Python. `TOOLSET_TEST_PYTHON`
//! names another one, for the cases that need no packages. With the feature
//! `embedded-python` this program is the interpreter, with the same packages.
#![cfg(unix)]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod case;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    #[cfg(feature = "embedded-python")]
    kernel::run_if_python();
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cases = case::read_all(&root.join("tests/cases/kernel")).expect("the cases are readable");
    let prepared = root.join(".toolset/notebook/bin/python");
    let prepared = prepared.is_file().then_some(prepared);
    let named = std::env::vars_os()
        .find(|(name, _)| name == "TOOLSET_TEST_PYTHON")
        .map(|(_, python)| PathBuf::from(python));
    let is_checked = std::env::vars_os().any(|(name, value)| name == "CI" && value == "true");
    let trials = cases
        .into_iter()
        .map(|case| {
            let python = match &named {
                Some(python) => Some(python.clone()).filter(|_| case.needs.is_empty()),
                None => prepared.clone().or_else(|| own_python(&case)),
            };
            let name = case.name.clone();
            let is_skipped = python.is_none() && !is_checked;
            Trial::test(name, move || {
                let python = python.ok_or("run `cargo xtask setup`: it needs packages")?;
                case.run(&python).map_err(Failed::from)
            })
            .with_ignored_flag(is_skipped)
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The machine's own Python, for cases that need nothing else.
fn own_python(case: &case::Case) -> Option<PathBuf> {
    let own = [
        "/usr/bin/python3",
        "/usr/local/bin/python3",
        "/opt/homebrew/bin/python3",
    ];
    let own = own
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file());
    own.filter(|_| case.needs.is_empty())
}
