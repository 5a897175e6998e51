//! How a cell failed, as the model reads it.

use std::time::Duration;

use tiers::{ErrorKind, ToolError};

use crate::cell::{End, Reason, Stop};
use crate::frames::{Raised, Status};
use crate::memory;

/// Says how a cell failed, if it did.
pub(super) fn failure(
    cell: u64,
    end: &End,
    stop: Option<Stop>,
    duration: Duration,
) -> Option<ToolError> {
    match (end, stop) {
        (End::Done(_), Some(stop)) => Some(stopped(cell, stop)),
        (End::Done(done), None) => match (done.status, &done.error) {
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
        _ if !raised.ran => "nothing of it was run".to_owned(),
        Some(line @ 2..) => {
            format!("what ran before line {line} stays done, and variables are kept")
        }
        Some(_) => "variables are kept".to_owned(),
        None => "what it did stays done, and variables are kept".to_owned(),
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
