//! What the model reads of a cell.

use tiers::{ToolError, ToolOutput};

use super::details::{CellStatus, EvalDetails, ExceptionDetails, InterpreterDetails, LateDetails};
use super::failure::failure;
use super::page::{Page, Saving};
use crate::bridge::Arrived;
use crate::cell::{CellReport, End, Stop};
use crate::factory::Language;
use crate::frames::Status;
use crate::slot::{Ran, Started, WhyStarted};

/// Calls of tools that are named one by one when a cell was stopped.
const MOST_NAMED: usize = 20;

/// Makes the result of a call.
pub(super) fn result(
    language: Language,
    ran: Ran,
    saving: &Saving<'_>,
) -> Result<ToolOutput, ToolError> {
    let Ran {
        report,
        started,
        version,
        executable,
        place,
        is_alive,
    } = ran;
    let CellReport {
        cell,
        end,
        stop,
        output,
        duration,
        notes,
        late,
        arrived,
    } = report;
    let mut page = Page::new();
    if let Some(started) = &started {
        page.line(&heading(started, &version, &executable, &place));
    }
    for (cell, text) in &late {
        page.line(&format!("[output of cell {cell} since it ended]"));
        page.text(text);
        page.line("[end of that output]");
    }
    for part in output.parts {
        page.part(part, saving, cell);
    }
    let error = failure(cell, &end, stop, duration);
    let (value, raised, status) = match end {
        End::Done(done) => (done.value, done.error, Some(done.status)),
        End::Died(_) | End::Killed | End::LinkLost(_) => (None, None, None),
    };
    if let Some(value) = &value {
        page.value(value);
    }
    let mut notes = notes;
    if status == Some(Status::Exit) {
        notes.push("the cell ended with `exit`; interpreter and variables are kept".to_owned());
    }
    if stop.is_some() || status.is_none() {
        notes.extend(note_of_arrived(&arrived, saving, cell));
    }
    let is_silent = value.is_none() && page.is_empty();
    for note in &notes {
        page.line(&format!("[note: {note}]"));
    }
    let details = EvalDetails {
        version: 1,
        language,
        cell,
        status: how_it_ended(&error, is_alive, stop),
        value,
        output: std::mem::take(&mut page.output),
        output_bytes: output.bytes,
        output_file: output.file.map(|path| path.display().to_string()),
        images: std::mem::take(&mut page.images),
        error: raised.map(|raised| ExceptionDetails {
            kind: raised.kind,
            message: raised.message,
            traceback: raised.traceback,
            line: raised.line,
        }),
        late: late
            .into_iter()
            .map(|(cell, output)| LateDetails { cell, output })
            .collect(),
        notes,
        duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        interpreter: InterpreterDetails {
            executable,
            version,
            place,
            is_fresh: started.is_some(),
        },
    };
    if error.is_none() && is_silent {
        page.line("no output");
    }
    let output = ToolOutput::new(page.finish())
        .with_rest("print less, or only the part you need")
        .with_details_of(&details)?;
    match error {
        None => Ok(output),
        // The output stands beside the error, and the details are there.
        Some(error) => Err(error.with_partial(output)),
    }
}

fn how_it_ended(error: &Option<ToolError>, is_alive: bool, stop: Option<Stop>) -> CellStatus {
    match error {
        None => CellStatus::Ok,
        Some(_) if !is_alive => CellStatus::Died,
        Some(_) if stop.is_some() => CellStatus::Interrupted,
        Some(_) => CellStatus::Error,
    }
}

/// Says which interpreter runs, when that is news.
fn heading(started: &Started, version: &str, executable: &str, place: &str) -> String {
    let which = format!("python {version} (`{executable}`), {place}");
    let why = match started.why {
        WhyStarted::First => String::new(),
        WhyStarted::Reset => {
            "fresh interpreter, with directory and environment as at first: ".to_owned()
        }
        WhyStarted::Lost => "fresh interpreter, variables of earlier cells are gone: ".to_owned(),
        WhyStarted::Unused(limit) => format!(
            "the interpreter was closed after {} s without a cell, variables of earlier cells are gone; fresh interpreter: ",
            limit.as_secs_f64()
        ),
        WhyStarted::Ended(exit) => format!(
            "the interpreter had ended since the last cell ({exit}), variables of earlier cells are gone; fresh interpreter: "
        ),
    };
    match &started.moved_from {
        Some(before) => format!("[{why}{which}; before, it ran {before}]"),
        None => format!("[{why}{which}]"),
    }
}

/// Says which calls of tools had ended when the cell was stopped, and where what
/// they gave is: the cell did not come to use it.
fn note_of_arrived(arrived: &[Arrived], saving: &Saving<'_>, cell: u64) -> Option<String> {
    if arrived.is_empty() {
        return None;
    }
    let mut named: Vec<String> = (arrived.iter().take(MOST_NAMED))
        .map(Arrived::to_string)
        .collect();
    if arrived.len() > MOST_NAMED {
        named.push(format!("and {} more", arrived.len() - MOST_NAMED));
    }
    let text: String = arrived.iter().map(Arrived::to_text).collect();
    let saved = match saving.write(&format!("cell-{cell}-calls.txt"), text.as_bytes()) {
        Ok(path) => format!("what they gave is in `{}`", path.display()),
        Err(error) => format!("what they gave is not saved: {error}"),
    };
    let named = named.join(", ");
    Some(format!("tool calls that had ended: {named}; {saved}"))
}
