//! Ends what a crash cut off: the files are entirely old or entirely new.
//!
//! A change whose journal is not marked as finished is undone; where what it
//! took away is gone but all new bytes are there, it is brought to its end. Only
//! files that hold the recorded old or new bytes are written.

use std::io;

use super::journal::{Desk, Journal, Stage};
use super::slot::{Refusal, Slot, Standing};
use super::steps::Steps;
use super::undo::{self, Direction, Report};
use crate::change_set::{Ending, Leftover, Recovered};
use crate::error::io_reason;
use crate::{Error, Workspace};

/// Ends a change that was cut off; `None` where there is none. The caller holds
/// the lock.
pub(super) fn recover(
    desk: &Desk,
    workspace: &Workspace,
    steps: &Steps,
) -> Result<Option<Recovered>, Error> {
    if !desk.is_in_use() {
        return Ok(None);
    }
    let ended = |journal: &Journal, ending, report: Report, left: Vec<Leftover>| {
        let mut recovered = Recovered::new(journal.title.clone(), ending);
        recovered.written = report.written;
        recovered.left = report.left;
        recovered.left.extend(left);
        recovered.is_damaged = !journal.is_complete;
        desk.end(steps).map_err(|error| desk.failed(error))?;
        tracing::warn!(
            root = %workspace.root().display(),
            written = recovered.written.len(),
            left = recovered.left.len(),
            "a change that was cut off has been ended"
        );
        Ok(Some(recovered))
    };
    let unended = |journal: &Journal, failed: Vec<Leftover>| Error::Unrecovered {
        title: journal.title.clone(),
        journal: desk.journal(),
        failed,
    };
    let Some((stage, journal)) = desk.read(workspace)? else {
        desk.end(steps).map_err(|error| desk.failed(error))?;
        return Ok(None);
    };
    let Some(journal) = journal else {
        // Not even its first line: which files it was about is not known.
        let aside = desk
            .set_aside(stage, steps)
            .map_err(|error| desk.failed(error))?;
        let mut recovered = Recovered::new(String::new(), Ending::Unknown { journal: aside });
        recovered.is_damaged = true;
        return Ok(Some(recovered));
    };
    if stage == Stage::Finished {
        let (left, failed) = undo::clean(&journal.slots, steps);
        if !failed.is_empty() {
            return Err(unended(&journal, failed));
        }
        return ended(&journal, Ending::New, Report::default(), left);
    }

    let direction = match direction(&journal.slots) {
        Ok(direction) => direction,
        Err((slot, error)) => {
            let failed = Leftover::new(slot.path.clone(), io_reason(&error));
            return Err(unended(&journal, vec![failed]));
        }
    };
    let mut report = undo::bring(&journal.slots, direction, steps);
    if !report.failed.is_empty() {
        return Err(unended(&journal, std::mem::take(&mut report.failed)));
    }
    let ending = match direction {
        Direction::Back => Ending::Old,
        Direction::Forward => {
            // From here on there is no way back.
            desk.finish(steps).map_err(|error| desk.failed(error))?;
            Ending::New
        }
    };
    let (left, failed) = undo::clean(&journal.slots, steps);
    if !failed.is_empty() {
        return Err(unended(&journal, failed));
    }
    if direction == Direction::Back {
        undo::remove_folders(workspace, &journal.folders, steps)
            .map_err(|error| desk.failed(error))?;
    }
    ended(&journal, ending, report, left)
}

/// Decides where the files are brought: back, unless only forward is possible.
fn direction(slots: &[Slot]) -> Result<Direction, (&Slot, io::Error)> {
    let (mut can_go_back, mut can_go_forward) = (true, true);
    for slot in slots {
        let looked = slot.standing().and_then(|standing| {
            Ok(match standing {
                // It is gone, perhaps without us: it decides nothing.
                Standing::New if slot.new.is_none() => (true, true),
                Standing::New => (slot.has_old()?, true),
                Standing::Old => (true, slot.has_new()?),
                // Left alone either way.
                Standing::Other(_) => (true, true),
            })
        });
        match looked {
            Ok((back, forward)) => {
                can_go_back &= back;
                can_go_forward &= forward;
            }
            Err(Refusal::Other(_)) => {}
            Err(Refusal::Io(error)) => return Err((slot, error)),
        }
    }
    Ok(if can_go_forward && !can_go_back {
        Direction::Forward
    } else {
        Direction::Back
    })
}
