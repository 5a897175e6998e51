//! Drives `toolset serve` from another language: each test is a scenario of
//! `serve/scenarios.py`, a Python client that uses only the standard library.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]
#![allow(
    clippy::disallowed_methods,
    reason = "the test is what runs the programs"
)]

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// Runs one scenario; what it printed is shown where it fails.
#[track_caller]
fn run(scenario: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve");
    let state = tempfile::tempdir().unwrap();
    let output = Command::new("python3")
        .args([
            "-B",
            "-m",
            "unittest",
            &format!("scenarios.Serve.test_{scenario}"),
        ])
        .current_dir(folder)
        .env("TOOLSET", env!("CARGO_BIN_EXE_toolset"))
        .env("XDG_STATE_HOME", state.path())
        .output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound && std::env::var_os("CI").is_none() => {
            eprintln!("skipped `{scenario}`: it needs `python3` 3.9 or later");
            return;
        }
        output => output.unwrap(),
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

macro_rules! scenarios {
    ($($(#[$attribute:meta])? $name:ident),* $(,)?) => {
        $(
            $(#[$attribute])?
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*

        /// All of them, whatever the features.
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

scenarios! {
    plan_mode_has_no_write_tool_and_answers_as_if_there_were_none,
    specs_come_in_the_dialects_of_the_providers,
    results_come_in_the_dialects_of_the_providers_too,
    the_file_tools_can_be_left_out,
    #[cfg(feature = "structural")]
    structural_search_finds_code_by_its_shape,
    #[cfg(feature = "structural")]
    a_staged_edit_lives_until_it_is_resolved,
    a_file_is_written_edited_and_read,
    nothing_outside_the_workspace_is_read,
    an_unknown_tool_is_a_result_and_not_a_protocol_error,
    answers_come_when_they_are_ready_and_not_in_order,
    a_tool_of_the_client_is_called_with_checked_arguments,
    a_tool_of_the_client_can_fail,
    a_tool_of_the_client_touches_paths_of_the_workspace_only,
    calls_of_a_serial_tool_do_not_overlap,
    an_approved_call_runs,
    a_tool_of_the_client_says_which_files_it_writes,
    a_refused_call_does_not_run,
    without_an_approver_a_prompt_means_no,
    an_answer_that_is_neither_yes_nor_no_means_no,
    the_first_rule_that_fits_decides,
    nested_calls_pass_the_gate_too,
    nested_calls_run_when_approved,
    nested_calls_stay_under_the_ceiling,
    a_call_that_has_ended_has_no_nested_calls,
    a_running_call_is_cancelled,
    a_notification_cancels_too,
    a_call_that_takes_too_long_is_stopped,
    a_call_without_any_time_is_refused,
    two_running_calls_have_different_ids,
    there_is_a_bound_on_open_calls,
    events_of_a_call_come_in_order_and_before_its_answer,
    a_client_that_wants_no_events_gets_none,
    lines_that_are_no_messages_are_answered_and_survived,
    a_line_that_is_too_long_is_answered_and_survived,
    the_order_of_methods_is_kept,
    initialize_says_what_is_wrong_with_it,
    shutdown_is_answered_and_ends_the_program,
    the_end_of_input_cancels_what_runs_and_ends_the_program,
    a_signal_ends_the_run_and_the_program,
}

#[test]
fn every_scenario_is_run() {
    let text = include_str!("serve/scenarios.py");
    let written: Vec<&str> = text
        .lines()
        .filter_map(|line| {
            line.trim()
                .strip_prefix("def test_")?
                .strip_suffix("(self):")
        })
        .collect();
    assert_eq!(written, NAMES);
}
