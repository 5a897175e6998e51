//! The end of a cell: what still comes in, and what is left running.

use std::time::Duration;

use host::process::Exit;
use tokio::time::timeout;

use super::Running;
use super::capture::Capture;
use super::outcome::{CellReport, End, Stop};
use crate::frames::{Done, FromKernel, LinkError};
use crate::link::Incoming;

/// How long frames may still come in after the interpreter has ended, and how
/// long its end may take after its link has closed.
const LAST_FRAMES: Duration = Duration::from_millis(300);

/// How long the mark that ends the output may come after `done`.
const END_MARK: Duration = Duration::from_millis(200);

/// How long calls that the cell left behind may take to be told.
const CALLS_GRACE: Duration = Duration::from_secs(2);

/// The exit code of a kernel whose link broke: a cell closed it.
const LINK_BROKEN: i32 = 76;

/// The most that a pipe holds, unless somebody enlarged it.
const MOST_IN_PIPE: usize = 1024 * 1024;

impl Running<'_> {
    /// The link closed first; usually the interpreter ends at this moment.
    pub(super) async fn link_closed(&mut self, error: Option<LinkError>) -> End {
        match timeout(LAST_FRAMES, self.kernel.exit.wait_for_exit()).await {
            Ok(exit) => self.ended(exit),
            Err(_) => End::LinkLost(error),
        }
    }

    /// The interpreter ended; what it had sent before counts.
    pub(super) async fn died(&mut self, exit: Exit) -> End {
        let frames = async {
            loop {
                match self.kernel.link.next().await {
                    Incoming::Closed(_) => return,
                    Incoming::Frame(FromKernel::Display(display)) => self.transcript.show(display),
                    Incoming::Frame(FromKernel::Note { text }) => self.notes.push(text),
                    // It cannot be answered any more; and a cell that was done
                    // has an interpreter that is gone all the same.
                    Incoming::Frame(
                        FromKernel::Call(_)
                        | FromKernel::CancelCall { .. }
                        | FromKernel::Done(_)
                        | FromKernel::Ready(_),
                    ) => {}
                }
            }
        };
        // A child may hold the link open.
        let _ = timeout(LAST_FRAMES, frames).await;
        self.ended(exit)
    }

    fn ended(&self, exit: Exit) -> End {
        if self.is_killed() {
            End::Killed
        } else if exit.code == Some(LINK_BROKEN) {
            End::LinkLost(None)
        } else {
            End::Died(exit)
        }
    }

    /// Reads what was written before the end.
    async fn drain(&mut self, end: &End) {
        let mut buffer = vec![0; 64 * 1024];
        if let (Capture::Stream(_), End::Done(done)) = (&self.capture, end) {
            // Frames and output go different ways: wait for the mark.
            let wanted = done.mark;
            let marked = async {
                while self.transcript.last_mark() < wanted {
                    match self.capture.read(&mut buffer).await {
                        Ok(0) | Err(_) => return,
                        Ok(count) => {
                            let bytes = buffer.get(..count).unwrap_or_default();
                            self.transcript.push(bytes, self.context);
                        }
                    }
                }
            };
            let _ = timeout(END_MARK, marked).await;
            return;
        }
        // A child may write for ever: what fits into a pipe was there at the end.
        let mut left = MOST_IN_PIPE;
        while let Some(count) = self.capture.read_now(&mut buffer) {
            self.push(&buffer, count);
            left = left.saturating_sub(count);
            if left == 0 {
                return;
            }
        }
    }

    /// Ends the calls that threads of the cell still wait for.
    async fn end_calls(&mut self) {
        let left = self.bridge.cancel_all();
        if left == 0 {
            return;
        }
        let told = async {
            while self.bridge.is_busy() {
                let reply = self.bridge.next().await;
                self.send_reply(&reply);
            }
        };
        let _ = timeout(CALLS_GRACE, told).await;
        let plural = if left == 1 { " was" } else { "s were" };
        self.notes.push(format!(
            "{left} tool call{plural} still pending when the cell ended, and cancelled"
        ));
    }

    pub(super) async fn report(mut self, end: End) -> CellReport {
        let duration = self.began.elapsed();
        let stop = self.stop.map(|(reason, at)| Stop {
            reason,
            after: at.saturating_duration_since(self.began),
            took: at.elapsed(),
        });
        if self.stop.is_some() {
            // One that is late would hit the next cell.
            self.kernel.child.wait_for_signals().await;
        }
        self.drain(&end).await;
        self.end_calls().await;
        if let End::Done(done) = &end {
            self.note_what_runs_on(done);
        }
        let Self {
            kernel,
            context,
            cell,
            capture,
            transcript,
            bridge,
            mut notes,
            ..
        } = self;
        let mut late = kernel.late.take();
        let (output, before) = transcript.finish(context);
        if let Some(before) = before {
            late.push((cell.saturating_sub(1), before));
        }
        match capture {
            Capture::Pipe(pipe) => kernel.late.watch(cell, pipe, &kernel.token),
            Capture::Stream(stream) => kernel.stream = Some(stream),
        }
        notes.extend(output.notes.iter().cloned());
        CellReport {
            cell,
            end,
            stop,
            output,
            duration,
            notes,
            late,
            arrived: bridge.into_arrived(),
        }
    }

    fn note_what_runs_on(&mut self, done: &Done) {
        if done.pending_tasks > self.kernel.known_tasks {
            let plural = if done.pending_tasks == 1 { "" } else { "s" };
            self.notes.push(format!(
                "{} background task{plural} pending: tasks advance only while a cell awaits",
                done.pending_tasks
            ));
        }
        self.kernel.known_tasks = done.pending_tasks;
        let children = if done.children {
            self.kernel.child.descendants()
        } else {
            0
        };
        if children > self.kernel.known_children {
            let run = if children == 1 { " runs" } else { "es run" };
            self.notes.push(format!(
                "{children} child process{run} on; `reset` ends them"
            ));
        }
        self.kernel.known_children = children;
    }
}
