//! Runs one cell: feeds its output, carries out its calls, keeps its limits.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use host::process::{ChildOutput, Exit, Signal, Target};
use tiers::CallContext;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use crate::bridge::{Bridge, refusal};
use crate::budget::{Budget, Expired};
use crate::frames::{Done, FromKernel, LinkError, Reply, ToKernel};
use crate::ladder::{Ladder, Step};
use crate::link::Incoming;
use crate::memory;
use crate::output::{Finished, Transcript};
use crate::process::Kernel;
use crate::slot::KernelLimits;

/// How often output that came in small pieces is reported.
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// How often memory is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long frames may still come in after the interpreter has ended, and how
/// long its end may take after its link has closed.
const LAST_FRAMES: Duration = Duration::from_millis(300);

/// How long the mark that ends the output may come after `done`.
const END_MARK: Duration = Duration::from_millis(200);

/// How long calls that the cell left behind may take to be told.
const CALLS_GRACE: Duration = Duration::from_secs(2);

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
}

/// Where the output comes from.
enum Capture {
    Pipe(pipe::Receiver),
    Stream(ChildOutput),
}

impl Capture {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read(buffer).await,
            Self::Stream(stream) => stream.read(buffer).await,
        }
    }

    /// Reads what is there, without asking the runtime, which may not know yet.
    fn read_now(&self, buffer: &mut [u8]) -> Option<usize> {
        let descriptor = match self {
            Self::Pipe(pipe) => pipe.as_fd(),
            Self::Stream(stream) => stream.as_fd(),
        };
        loop {
            match rustix::io::read(descriptor, &mut *buffer) {
                Ok(0) => return None,
                Ok(count) => return Some(count),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }
}

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
) -> Result<CellReport, LinkError> {
    kernel.cells += 1;
    let cell = kernel.cells;
    let (capture, descriptor) = match kernel.stream.take() {
        Some(stream) => (Capture::Stream(stream), None),
        None => {
            let (reading, writing) = io::pipe()?;
            let reading = pipe::Receiver::from_owned_fd(reading.into())?;
            (Capture::Pipe(reading), Some(writing.into()))
        }
    };
    let began = Instant::now();
    let frame = ToKernel::Run { cell, code };
    kernel.link.send_with(&frame, descriptor)?;
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
            Step::Ask => {
                // Too large it cannot be.
                let _ = self.kernel.link.send(&ToKernel::Cancel { cell: self.cell });
                // What the cell waits for has to end too, but not what earlier
                // cells started.
                let young = Target::Younger(self.began.elapsed());
                self.kernel.child.signal(Signal::Interrupt, young);
            }
            Step::Kill => self.kernel.child.signal(Signal::Kill, Target::Group),
        }
    }

    fn look_at_memory(&mut self) {
        let bytes = self.kernel.child.resident_bytes();
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

    /// The link closed first; usually the interpreter ends at this moment.
    async fn link_closed(&mut self, error: Option<LinkError>) -> End {
        match timeout(LAST_FRAMES, self.kernel.exit.wait_for_exit()).await {
            Ok(exit) => self.ended(exit),
            Err(_) => End::LinkLost(error),
        }
    }

    /// The interpreter ended; what it had sent before counts.
    async fn died(&mut self, exit: Exit) -> End {
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

    async fn report(mut self, end: End) -> CellReport {
        let duration = self.began.elapsed();
        let stop = self.stop.map(|(reason, at)| Stop {
            reason,
            after: at.saturating_duration_since(self.began),
            took: at.elapsed(),
        });
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

/// The exit code of a kernel whose link broke: a cell closed it.
const LINK_BROKEN: i32 = 76;

/// The most that a pipe holds, unless somebody enlarged it.
const MOST_IN_PIPE: usize = 1024 * 1024;

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}
