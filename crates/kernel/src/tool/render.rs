//! What the model reads of a cell.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tiers::{CallContext, Content, ErrorKind, ToolError, ToolOutput};

use super::details::{
    CellStatus, EvalDetails, ExceptionDetails, ImageDetails, InterpreterDetails, LateDetails,
};
use crate::cell::{CellReport, End, Reason, Stop};
use crate::factory::Language;
use crate::frames::{Raised, Status};
use crate::memory;
use crate::output::{Part, Shown};
use crate::slot::{Ran, Started, WhyStarted};

/// Where images are saved.
pub(super) struct Saving<'a> {
    context: &'a CallContext,
    folder: Option<&'a Path>,
}

/// What the parts of a result are collected in.
struct Page {
    content: Vec<Content>,
    /// The text that is being written.
    text: String,
    output: String,
    images: Vec<ImageDetails>,
}

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
    let value = match &end {
        End::Done(done) => done.value.clone(),
        End::Died(_) | End::Killed | End::LinkLost(_) => None,
    };
    if let Some(value) = &value {
        page.value(value);
    }
    let raised = match &end {
        End::Done(done) => done.error.clone(),
        End::Died(_) | End::Killed | End::LinkLost(_) => None,
    };
    let error = failure(cell, &end, stop, raised.as_ref(), duration);
    let mut notes = notes;
    if let End::Done(done) = &end
        && done.status == Status::Exit
    {
        notes.push("the cell ended with `exit`; interpreter and variables are kept".to_owned());
    }
    let is_silent = value.is_none() && page.is_empty();
    for note in &notes {
        page.line(&format!("[note: {note}]"));
    }
    let details = EvalDetails {
        version: 1,
        language,
        cell,
        status: status(&error, is_alive, stop),
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
        .with_details(serde_json::to_value(details).unwrap_or_default())
        .with_rest("print less, or only the part you need");
    match error {
        None => Ok(output),
        // The output stands beside the error, and the details are there.
        Some(error) => Err(error.with_partial(output)),
    }
}

fn status(error: &Option<ToolError>, is_alive: bool, stop: Option<Stop>) -> CellStatus {
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

/// Says how a cell failed, if it did.
fn failure(
    cell: u64,
    end: &End,
    stop: Option<Stop>,
    raised: Option<&Raised>,
    duration: Duration,
) -> Option<ToolError> {
    match (end, stop) {
        (End::Done(_), Some(stop)) => Some(stopped(cell, stop)),
        (End::Done(done), None) => match (done.status, raised) {
            (Status::Ok | Status::Exit, _) => None,
            (Status::Error | Status::Interrupted, Some(raised)) => Some(exception(cell, raised)),
            (Status::Error | Status::Interrupted, None) => {
                Some(ToolError::failed(format!("cell {cell} failed")))
            }
        },
        (End::Killed, Some(stop)) => Some(killed(cell, stop)),
        (End::Killed, None) => Some(lost(cell, "was killed", duration)),
        (End::Died(exit), _) => {
            let hint = match exit.signal {
                Some(9) => ", perhaps for want of memory",
                _ => "",
            };
            Some(lost(cell, &format!("ended: {exit}{hint}"), duration))
        }
        (End::LinkLost(None), _) => Some(lost(
            cell,
            "ended: the cell closed the descriptor that the interpreter is controlled by",
            duration,
        )),
        (End::LinkLost(Some(error)), _) => {
            Some(lost(cell, &format!("had to be ended: {error}"), duration))
        }
    }
}

fn exception(cell: u64, raised: &Raised) -> ToolError {
    let next = match raised.line {
        Some(1) => "variables are kept".to_owned(),
        Some(line) => format!("what ran before line {line} stays done, and variables are kept"),
        None => "nothing of it was run".to_owned(),
    };
    let text = if raised.traceback.is_empty() {
        format!("{}: {}", raised.kind, raised.message)
    } else {
        raised.traceback.clone()
    };
    ToolError::failed(format!("cell {cell} failed"))
        .why(text.trim())
        .next(next)
}

fn stopped(cell: u64, stop: Stop) -> ToolError {
    let (kind, why, next) = reason(stop);
    let took = if stop.took > Duration::from_secs(1) {
        format!(", which took {:.1} s", stop.took.as_secs_f64())
    } else {
        String::new()
    };
    ToolError::new(kind, format!("cell {cell} was interrupted{took}"))
        .why(why)
        .next(format!("variables are kept; {next}"))
}

fn killed(cell: u64, stop: Stop) -> ToolError {
    let (kind, why, next) = reason(stop);
    let tried = match stop.reason {
        Reason::Memory(_) => String::new(),
        Reason::Cancelled | Reason::Idle(_) | Reason::Ceiling(_) => format!(
            ", and did not react to interrupts for {:.0} s",
            stop.took.as_secs_f64()
        ),
    };
    ToolError::new(kind, format!("cell {cell} was stopped by ending the interpreter"))
        .why(format!("{why}{tried}"))
        .next(format!(
            "all variables are lost and its children ended; the next cell starts a fresh interpreter; {next}"
        ))
}

fn reason(stop: Stop) -> (ErrorKind, String, &'static str) {
    let after = format!("{:.1} s", stop.after.as_secs_f64());
    match stop.reason {
        Reason::Cancelled => (
            ErrorKind::Cancelled,
            format!("the call was cancelled after {after}"),
            "run the rest again if it is still wanted",
        ),
        Reason::Idle(limit) => (
            ErrorKind::Timeout,
            format!(
                "it wrote nothing and called no tool for {} s",
                limit.as_secs_f64()
            ),
            "give a larger `timeout_seconds`, print progress, or do less in a cell",
        ),
        Reason::Ceiling(limit) => (
            ErrorKind::Timeout,
            format!("it ran for {} s, the most a cell may", limit.as_secs_f64()),
            "do less in a cell, or start the work as a process of its own",
        ),
        Reason::Memory(bytes) => (
            ErrorKind::Crashed,
            format!(
                "the interpreter and its children held {}, more than they may",
                memory::shown(bytes)
            ),
            "work on less data at once",
        ),
    }
}

fn lost(cell: u64, how: &str, duration: Duration) -> ToolError {
    ToolError::crashed(format!("the interpreter {how}"))
        .why(format!(
            "in cell {cell}, after {:.1} s; the cell was not run again",
            duration.as_secs_f64()
        ))
        .next("all variables are gone; the next cell starts a fresh interpreter")
}

impl Page {
    fn new() -> Self {
        Self {
            content: Vec::new(),
            text: String::new(),
            output: String::new(),
            images: Vec::new(),
        }
    }

    /// Returns whether the cell wrote and showed nothing.
    fn is_empty(&self) -> bool {
        self.output.is_empty() && self.images.is_empty()
    }

    fn text(&mut self, text: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    fn line(&mut self, line: &str) {
        self.text(line);
        self.text.push('\n');
    }

    fn value(&mut self, value: &str) {
        match (self.output.is_empty(), value.contains('\n')) {
            (true, _) => self.text(value),
            (false, true) => {
                self.line("value:");
                self.text(value);
            }
            (false, false) => self.text(&format!("value: {value}")),
        }
    }

    fn part(&mut self, part: Part, saving: &Saving<'_>, cell: u64) {
        match part {
            Part::Output(text) => {
                self.text(&text);
                self.output.push_str(&text);
            }
            Part::Shown(Shown::Text(text)) => {
                self.line(&text);
                if !self.output.is_empty() && !self.output.ends_with('\n') {
                    self.output.push('\n');
                }
                self.output.push_str(&text);
                self.output.push('\n');
            }
            Part::Shown(Shown::Image {
                media_type,
                data,
                width,
                height,
            }) => {
                let file = saving.save(cell, self.images.len() + 1, &media_type, &data);
                self.line(&caption(&media_type, width, height, &file));
                self.close_text();
                self.images.push(ImageDetails {
                    media_type: media_type.clone(),
                    width,
                    height,
                    file: file.ok().map(|path| path.display().to_string()),
                });
                self.content.push(Content::Image { media_type, data });
            }
        }
    }

    fn close_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            self.content.push(Content::Text(text.to_owned()));
        }
    }

    fn finish(mut self) -> Vec<Content> {
        self.close_text();
        self.content
    }
}

/// Says of an image what one that cannot see it needs.
fn caption(
    media_type: &str,
    width: Option<u32>,
    height: Option<u32>,
    file: &Result<PathBuf, ToolError>,
) -> String {
    let size = match (width, height) {
        (Some(width), Some(height)) => format!(" {width}×{height}"),
        _ => String::new(),
    };
    let mut text = format!("[image{size}, {media_type}");
    let _ = match file {
        Ok(path) => write!(text, ", saved as `{}`]", path.display()),
        Err(error) => write!(text, ", not saved: {error}]"),
    };
    text
}

impl<'a> Saving<'a> {
    pub(super) fn new(context: &'a CallContext, folder: Option<&'a Path>) -> Self {
        Self { context, folder }
    }

    fn save(
        &self,
        cell: u64,
        number: usize,
        media_type: &str,
        data: &[u8],
    ) -> Result<PathBuf, ToolError> {
        let extension = match media_type {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            "image/svg+xml" => "svg",
            _ => "bin",
        };
        let name = format!("cell-{cell}-image-{number}.{extension}");
        let Some(folder) = self.folder else {
            return self.context.run().folder().write(&name, data);
        };
        let path = folder.join(&name);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, data))
            .map(|()| path)
            .map_err(|error| {
                ToolError::unavailable(format!("cannot write `{name}`"))
                    .why(&error)
                    .source(error)
            })
    }
}
