//! How a cell ended, and all there is to say about it.

use std::time::Duration;

use host::process::Exit;

use crate::bridge::Arrived;
use crate::frames::{Done, LinkError};
use crate::output::Finished;

/// Why a cell was stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Cancelled,
    /// It was idle for this long.
    Idle(Duration),
    /// It ran for this long.
    Ceiling(Duration),
    /// It held this many bytes.
    Memory(u64),
}

/// A stop from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop {
    pub(crate) reason: Reason,
    /// After what time of the cell.
    pub(crate) after: Duration,
    /// How long it took.
    pub(crate) took: Duration,
}

/// How a cell ended.
#[derive(Debug)]
pub(crate) enum End {
    /// It came to an end, and the interpreter lives.
    Done(Box<Done>),
    /// The interpreter ended.
    Died(Exit),
    /// We killed it.
    Killed,
    /// It lives perhaps, but cannot be spoken with.
    LinkLost(Option<LinkError>),
}

/// All there is to say about a cell.
#[derive(Debug)]
pub(crate) struct CellReport {
    pub(crate) cell: u64,
    pub(crate) end: End,
    pub(crate) stop: Option<Stop>,
    pub(crate) output: Finished,
    pub(crate) duration: Duration,
    pub(crate) notes: Vec<String>,
    /// Output of earlier cells that came since they ended.
    pub(crate) late: Vec<(u64, String)>,
    /// Calls of tools that had ended, in the order of their ends.
    pub(crate) arrived: Vec<Arrived>,
}
