//! Runs every case under `cases/`, each as a test of its own name.

use std::process::ExitCode;
use std::sync::Arc;

use conformance::{case, expected::ExpectedFailures};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::from_args();
    let cases = case::read_all(&conformance::folder().join("cases"))?;
    let expected = Arc::new(ExpectedFailures::read(
        &conformance::folder().join("expected-failures.toml"),
    )?);
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let unknown = expected.unknown(&names).join(", ");
    let mut trials = vec![Trial::test(
        "every_expected_failure_names_a_case",
        move || {
            if unknown.is_empty() {
                Ok(())
            } else {
                Err(Failed::from(format!(
                    "expected-failures.toml names no case: {unknown}"
                )))
            }
        },
    )];
    for case in cases {
        let expected = Arc::clone(&expected);
        trials.push(Trial::test(case.name.clone(), move || {
            expected
                .judge(&case.name, case.run())
                .map_err(|error| Failed::from(format!("{error:#}")))
        }));
    }
    Ok(libtest_mimic::run(&arguments, trials).exit_code())
}
