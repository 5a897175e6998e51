//! Runs one cell: feeds its output, carries out its calls, keeps its limits.

mod capture;
mod end;
mod outcome;

use std::io;
use std::time::Duration;

use host::process::{Signal, Target};
use tiers::CallContext;
use tokio::net::unix::pipe;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

pub(crate) use outcome::{CellReport, End, Reason, Stop};

use capture::Capture;

use crate::bridge::{Bridge, refusal};
use crate::budget::{Budget, Expired};
use crate::error::Error;
use crate::frames::{self, FromKernel, LinkError, Reply, ToKernel};
use crate::ladder::{Ladder, Step};
use crate::link::Incoming;
use crate::memory;
use crate::output::Transcript;
use crate::process::Kernel;
use crate::slot::KernelLimits;

/// How often output that came in small pieces is reported.
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// How often memory is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

struct Running<'a> {
    kernel: &'a mut Kernel,
    context: &'a CallContext,
    cell: u64,
    began: Instant,
    capture: Capture,
    capture_is_open: bool,
    transcript: Transcript,
    bridge: Bridge,
    budget: Budget,
    window: Duration,
    limits: &'a KernelLimits,
    stop: Option<(Reason, Instant)>,
    ladder: Option<Ladder>,
    notes: Vec<String>,
    warned_of_memory: bool,
}

/// Runs `code` and waits for its end, whatever that is.
///
/// # Errors
/// The cell could not be handed over; nothing was run.
pub(crate) async fn run(
    kernel: &mut Kernel,
    code: &str,
    window: Duration,
    limits: &KernelLimits,
    context: &CallContext,
) -> Result<CellReport, Error> {
    let cell = kernel.cells + 1;
    let bytes = code.len();
    let frame =
        frames::encode(&ToKernel::Run { cell, code }).map_err(|_| Error::CellTooLarge { bytes })?;
    let (capture, descriptor) = match kernel.stream.take() {
        Some(stream) => (Capture::Stream(stream), None),
        None => {
            let (reading, writing) = io::pipe().map_err(Error::NoOutput)?;
            let reading = pipe::Receiver::from_owned_fd(reading.into()).map_err(Error::NoOutput)?;
            (Capture::Pipe(reading), Some(writing.into()))
        }
    };
    kernel.cells = cell;
    let began = Instant::now();
    kernel.link.send_raw(frame, descriptor);
    let transcript = Transcript::new(cell, &kernel.token, limits.output_file_bytes);
    let mut running = Running {
        kernel,
        context,
        cell,
        began,
        capture,
        capture_is_open: true,
        transcript,
        bridge: Bridge::new(limits.calls_per_cell, limits.calls_at_once),
        budget: Budget::new(window, limits.ceiling, began),
        window,
        limits,
        stop: None,
        ladder: None,
        notes: Vec::new(),
        warned_of_memory: false,
    };
    let end = running.until_end().await;
    Ok(running.report(end).await)
}

impl Running<'_> {
    async fn until_end(&mut self) -> End {
        let mut buffer = vec![0; 64 * 1024];
        let mut reports = interval(REPORT_EVERY);
        reports.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        looks.reset();
        let exit = self.kernel.exit.clone();
        loop {
            // A cell that floods us must not keep us from stopping it, so what
            // stops comes first, and output last.
            tokio::select! {
                biased;
                () = self.context.token().cancelled(), if self.stop.is_none() => {
                    self.begin_stop(Reason::Cancelled);
                }
                () = at(self.next_step()) => self.take_step(),
                exit = exit.wait_for_exit() => return self.died(exit).await,
                incoming = self.kernel.link.next() => {
                    if let Some(end) = self.take_frame(incoming).await {
                        return end;
                    }
                }
                reply = self.bridge.next() => self.answer(&reply),
                _ = looks.tick() => self.look_at_memory(),
                _ = reports.tick(), if self.transcript.has_unreported() => {
                    self.transcript.report(self.context);
                }
                read = self.capture.read(&mut buffer), if self.capture_is_open => match read {
                    Ok(0) | Err(_) => self.capture_is_open = false,
                    Ok(count) => {
                        self.budget.renew(Instant::now());
                        self.push(&buffer, count);
                    }
                },
            }
        }
    }

    fn push(&mut self, buffer: &[u8], count: usize) {
        let bytes = buffer.get(..count).unwrap_or_default();
        self.transcript.push(bytes, self.context);
    }

    async fn take_frame(&mut self, incoming: Incoming) -> Option<End> {
        let frame = match incoming {
            Incoming::Frame(frame) => frame,
            Incoming::Closed(error) => return Some(self.link_closed(error).await),
        };
        match frame {
            FromKernel::Display(display) => {
                self.budget.renew(Instant::now());
                self.transcript.show(display);
            }
            FromKernel::Call(call) => {
                match self.bridge.start(call, self.cell, self.context) {
                    Some(refused) => self.send_reply(&refused),
                    None => self.budget.suspend(Instant::now()),
                }
                // A call that comes in the middle of a stop is stopped too.
                if self.stop.is_some() {
                    self.bridge.cancel_all();
                }
            }
            FromKernel::CancelCall { call } => self.bridge.cancel(call),
            FromKernel::Note { text } => self.notes.push(text),
            FromKernel::Done(done) if done.cell == self.cell => return Some(End::Done(done)),
            // Neither can be: a kernel that is confused is of no use.
            FromKernel::Done(_) | FromKernel::Ready(_) => {
                let what = "a frame that does not belong here".to_owned();
                return Some(End::LinkLost(Some(LinkError::Malformed(what))));
            }
        }
        None
    }

    fn answer(&mut self, reply: &Reply) {
        self.budget.resume(Instant::now());
        self.send_reply(reply);
    }

    fn send_reply(&self, reply: &Reply) {
        if self.kernel.link.send(&ToKernel::Reply(reply)).is_err() {
            let message = "the result is too large for a cell: ask for less at once".to_owned();
            let short = refusal(reply.call, "failed", message);
            // Short enough.
            let _ = self.kernel.link.send(&ToKernel::Reply(&short));
        }
    }

    fn begin_stop(&mut self, reason: Reason) {
        let now = Instant::now();
        self.stop = Some((reason, now));
        self.ladder = Some(Ladder::new(now));
        self.bridge.cancel_all();
    }

    /// Returns when something has to be done about the cell.
    fn next_step(&self) -> Option<Instant> {
        match &self.ladder {
            Some(ladder) => ladder.next(),
            None => self.budget.deadline().map(|(at, _)| at),
        }
    }

    fn take_step(&mut self) {
        let Some(ladder) = &mut self.ladder else {
            match self.budget.deadline() {
                Some((_, Expired::Idle)) => self.begin_stop(Reason::Idle(self.window)),
                Some((_, Expired::Ceiling)) => {
                    self.begin_stop(Reason::Ceiling(self.limits.ceiling));
                }
                None => {}
            }
            return;
        };
        match ladder.take() {
            Step::Ask => self.ask(false),
            Step::AskAndSignal => self.ask(self.kernel.takes_signals),
            Step::Kill => self.kernel.child.signal(Signal::Kill, Target::Group),
        }
    }

    /// Asks the cell to stop; with a signal besides where it may have turned off
    /// what rings when a frame comes.
    fn ask(&mut self, signals: bool) {
        let frame = ToKernel::Cancel {
            cell: self.cell,
            signals,
        };
        // Too large it cannot be.
        let _ = self.kernel.link.send(&frame);
        if signals {
            self.kernel.child.signal(Signal::Interrupt, Target::Child);
        }
        // What the cell waits for has to end too, but not what earlier cells
        // started.
        let young = Target::Younger(self.began.elapsed());
        self.kernel.child.signal(Signal::Interrupt, young);
    }

    fn look_at_memory(&mut self) {
        let Some(bytes) = self.kernel.child.resident_bytes() else {
            if !std::mem::replace(&mut self.kernel.is_unwatched_told, true) {
                self.notes.push(
                    "the system does not say how much memory the interpreter holds, so there is no limit on it".to_owned(),
                );
            }
            return;
        };
        let limits = self.limits.memory;
        if bytes >= limits.hard && !self.is_killed() {
            self.stop = Some((Reason::Memory(bytes), Instant::now()));
            let mut ladder = Ladder::new(Instant::now());
            while ladder.take() != Step::Kill {}
            self.ladder = Some(ladder);
            self.kernel.child.signal(Signal::Kill, Target::Group);
        } else if bytes >= limits.soft && !self.warned_of_memory {
            self.warned_of_memory = true;
            self.notes.push(format!(
                "the interpreter and its children hold {}; at {} they are ended: free what you do not need",
                memory::shown(bytes),
                memory::shown(limits.hard)
            ));
        }
    }

    fn is_killed(&self) -> bool {
        self.ladder.as_ref().is_some_and(Ladder::is_killed)
    }
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
