//! One child in the reaper's care, and where it is in its plan.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::sync::watch;

use crate::process::child::{Signal, Target};
use crate::process::exit::Exit;
use crate::process::plan::{ShutdownPlan, Step};
#[cfg(target_os = "linux")]
use crate::process::tagged::Tag;

/// How soon a write to a full pipe is tried again.
const RETRY: Duration = Duration::from_millis(5);

/// Where our end of standard input is.
enum Stdin {
    /// There never was one.
    None,
    /// Closed; the child may be about to notice.
    Closed,
    WithOwner,
    Here(OwnedFd),
}

enum Phase {
    /// The owner has it.
    Held,
    /// A step was taken and has time until `deadline`.
    Stopping { next_step: usize, deadline: Instant },
    /// Killed; only its end is awaited.
    Killed,
}

pub(super) struct Entry {
    process: std::process::Child,
    pid: Option<Pid>,
    plan: ShutdownPlan,
    phase: Phase,
    stdin: Stdin,
    /// What the plan still has to write.
    unsent: Vec<u8>,
    /// Standard input is to be closed as soon as its owner gives it back.
    closes_stdin: bool,
    exit: watch::Sender<Option<Exit>>,
    #[cfg(target_os = "linux")]
    tag: Option<Tag>,
}

impl Entry {
    pub(super) fn new(
        process: std::process::Child,
        pid: Option<Pid>,
        plan: ShutdownPlan,
        has_stdin: bool,
        exit: watch::Sender<Option<Exit>>,
    ) -> Self {
        Self {
            process,
            pid,
            plan,
            phase: Phase::Held,
            stdin: if has_stdin {
                Stdin::WithOwner
            } else {
                Stdin::None
            },
            unsent: Vec::new(),
            closes_stdin: false,
            exit,
            #[cfg(target_os = "linux")]
            tag: None,
        }
    }

    /// Sets the mark by which descendants are found at the end.
    #[cfg(target_os = "linux")]
    pub(super) fn with_tag(mut self, tag: Option<Tag>) -> Self {
        self.tag = tag;
        self
    }

    /// Starts the plan, or a shorter one in its place.
    pub(super) fn release(&mut self, plan: Option<ShutdownPlan>) {
        match (&self.phase, plan) {
            (Phase::Killed, _) | (Phase::Stopping { .. }, None) => return,
            (Phase::Held | Phase::Stopping { .. }, Some(plan)) => self.plan = plan,
            (Phase::Held, None) => {}
        }
        self.phase = Phase::Stopping {
            next_step: 0,
            deadline: Instant::now(),
        };
    }

    /// Takes standard input back; `None` when the owner closed it.
    pub(super) fn take_stdin(&mut self, pipe: Option<OwnedFd>) {
        // The owner is done with it: only a plan that sends has use for it.
        let is_kept = self.plan.sends() && !self.closes_stdin;
        self.stdin = match pipe {
            Some(pipe) if is_kept => Stdin::Here(pipe),
            _ => Stdin::Closed,
        };
    }

    /// Returns when [`Entry::advance`] has something to do.
    pub(super) fn wake(&self) -> Option<Instant> {
        match self.phase {
            Phase::Held | Phase::Killed => None,
            Phase::Stopping { deadline, .. } if self.unsent.is_empty() => Some(deadline),
            Phase::Stopping { deadline, .. } => Some(deadline.min(Instant::now() + RETRY)),
        }
    }

    /// Takes the steps that are due.
    pub(super) fn advance(&mut self, now: Instant) {
        loop {
            let Phase::Stopping {
                next_step,
                deadline,
            } = self.phase
            else {
                return;
            };
            self.send_unsent();
            if now < deadline {
                return;
            }
            let Some((step, limit)) = self.plan.steps().get(next_step).cloned() else {
                self.signal(Signal::Kill, Target::Group);
                self.phase = Phase::Killed;
                return;
            };
            let is_taken = self.take_step(step);
            self.phase = Phase::Stopping {
                next_step: next_step + 1,
                deadline: if is_taken { now + limit } else { now },
            };
        }
    }

    pub(super) fn signal(&self, signal: Signal, target: Target) {
        let Some(pid) = self.pid else { return };
        let signal = match signal {
            Signal::Interrupt => rustix::process::Signal::INT,
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        // It may have ended a moment ago.
        let _ = match target {
            Target::Child => rustix::process::kill_process(pid, signal),
            Target::Group => rustix::process::kill_process_group(pid, signal),
            #[cfg(target_os = "linux")]
            Target::Younger(age) => {
                crate::process::session::signal_young_members(pid, age, signal);
                Ok(())
            }
            #[cfg(not(target_os = "linux"))]
            Target::Younger(_) => Ok(()),
        };
    }

    /// Kills what is left of the group and tells how the child ended.
    ///
    /// Where the child is not ours to collect any more, its number may belong to
    /// someone else, and nothing is killed.
    pub(super) fn collect(mut self, is_ours: bool) {
        let exit = if is_ours {
            self.signal(Signal::Kill, Target::Group);
            #[cfg(target_os = "linux")]
            if let Some(pid) = self.pid {
                crate::process::session::kill_members(pid);
                if let Some(tag) = &self.tag {
                    tag.kill_others(pid);
                }
            }
            self.process.wait().map_or(Exit::UNKNOWN, Exit::from)
        } else {
            Exit::UNKNOWN
        };
        tracing::debug!(pid = self.process.id(), %exit, "ended");
        self.exit.send_replace(Some(exit));
    }

    pub(super) fn kill_and_collect(self) {
        self.signal(Signal::Kill, Target::Group);
        self.collect(true);
    }

    /// Returns whether the step is worth waiting for.
    fn take_step(&mut self, step: Step) -> bool {
        match step {
            Step::Send(bytes) => {
                self.unsent.extend(bytes);
                self.send_unsent();
                matches!(self.stdin, Stdin::WithOwner | Stdin::Here(_))
            }
            Step::CloseStdin => {
                self.unsent.clear();
                self.closes_stdin = true;
                if matches!(self.stdin, Stdin::Here(_)) {
                    self.stdin = Stdin::Closed;
                }
                !matches!(self.stdin, Stdin::None)
            }
            Step::Interrupt => {
                self.signal(Signal::Interrupt, Target::Group);
                true
            }
            Step::Wait => true,
            Step::Terminate => {
                self.signal(Signal::Terminate, Target::Group);
                true
            }
        }
    }

    /// Writes what the pipe takes now; it never blocks, the pipe is set so.
    fn send_unsent(&mut self) {
        while !self.unsent.is_empty() {
            let Stdin::Here(pipe) = &self.stdin else {
                return;
            };
            match rustix::io::write(pipe, &self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => {
                    self.stdin = Stdin::Closed;
                    self.unsent.clear();
                }
            }
        }
    }
}
