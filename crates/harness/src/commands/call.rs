//! `toolset call`.

use std::time::Duration;

use tiers::ToolOutput;

use super::run::{Format, Session, exit_code};
use super::{Failure, remark};
use crate::arguments;
use crate::cli::CallArgs;
use crate::environment::Environment;

/// Makes one call in a run of its own.
pub(super) async fn run(args: &CallArgs, environment: &Environment) -> Result<u8, Failure> {
    let session = Session::for_one_call(&args.run, environment)?;
    let arguments = arguments::parse(
        &args.arguments,
        &session.schema(&args.tool),
        &environment.current,
        &mut std::io::stdin().lock(),
    )
    .map_err(Failure::Usage)?;
    let timeout = args.timeout.map(Duration::from_secs);
    let result = session.call(&args.tool, arguments, timeout).await;
    let format = if args.json {
        Format::Pretty
    } else {
        Format::Text
    };
    let shown = session.show(&result, format);
    if let Ok(output) = &result
        && ends_with_run(output)
    {
        remark(
            "note: what is staged ends with its run, and the run was this one call; \
             make the calls that belong together in `toolset repl`",
        );
    }
    session.end().await;
    shown?;
    Ok(exit_code(&result))
}

/// Returns whether what the tool did is gone when the run ends: a tool says so
/// with `"lasts": "run"` in its details.
fn ends_with_run(output: &ToolOutput) -> bool {
    output
        .details
        .get("lasts")
        .and_then(serde_json::Value::as_str)
        == Some("run")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_effect_that_ends_with_the_run_is_remarked_on() {
        let output = |details| ToolOutput::text("a").with_details(details);
        assert!(ends_with_run(&output(
            json!({ "edit_id": "edit_1", "lasts": "run" })
        )));
        assert!(!ends_with_run(&output(json!({ "matches": [] }))));
        assert!(!ends_with_run(&ToolOutput::text("a")));
    }
}
