//! The thread that starts, stops and collects children.
//!
//! A child's number is its own until it is collected, and only this thread
//! collects: signals sent from here never hit a stranger. For each child a
//! thread waits for its end without collecting it.

mod entry;

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions};
use tokio::sync::{oneshot, watch};

use super::capture::Captured;
use super::child::{Child, Signal, Target};
use super::command::{ChildCommand, Output};
use super::error::StartError;
#[cfg(target_os = "linux")]
use super::guard::Guard;
use super::plan::ShutdownPlan;
use super::spawn::{self, Pipes};
#[cfg(target_os = "linux")]
use super::tagged::Tag;
use entry::Entry;

/// How long killed children may take to vanish when the program ends.
const KILL_GRACE: Duration = Duration::from_secs(1);

/// Names a child for as long as the program runs, unlike its process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ChildId(u64);

#[derive(Debug)]
pub(super) enum Message {
    Start {
        command: Box<ChildCommand>,
        reply: oneshot::Sender<Result<(Child, Pipes), StartError>>,
    },
    /// The owner let go; `plan` replaces the child's own.
    Release {
        id: ChildId,
        plan: Option<ShutdownPlan>,
    },
    /// The owner has no more use for standard input; without `pipe`, it closed it.
    StdinReturned { id: ChildId, pipe: Option<OwnedFd> },
    Signal {
        id: ChildId,
        signal: Signal,
        target: Target,
    },
    /// The child has ended and waits to be collected.
    Ended { id: ChildId, is_ours: bool },
    /// Answers when everything before it was done.
    Settle { reply: oneshot::Sender<()> },
    Finish {
        limit: Duration,
        reply: SyncSender<usize>,
    },
}

pub(super) async fn start(command: ChildCommand) -> Result<Child, StartError> {
    let program = command.program.clone();
    let failed = |source| StartError::Io {
        program: program.clone(),
        source,
    };
    let (reply, answer) = oneshot::channel();
    let message = Message::Start {
        command: Box::new(command),
        reply,
    };
    let gone = || failed(io::Error::other("the thread that starts programs is gone"));
    reaper()
        .map_err(&failed)?
        .send(message)
        .map_err(|_| gone())?;
    let (mut child, pipes) = answer.await.map_err(|_| gone())??;
    child.attach(pipes).map_err(&failed)?;
    Ok(child)
}

/// Takes every child through its plan and waits until all have ended.
///
/// For the end of `main`: the reaper's thread ends with the program. After
/// `limit` what is left is killed. Returns how many children could not be
/// collected even then (a process in an uninterruptible wait).
///
/// Blocks; children may be started afterwards.
pub fn finish(limit: Duration) -> usize {
    let Some(Ok(reaper)) = REAPER.get() else {
        return 0;
    };
    let (reply, answer) = mpsc::sync_channel(1);
    match reaper.send(Message::Finish { limit, reply }) {
        Ok(()) => answer.recv().unwrap_or(0),
        Err(_) => 0,
    }
}

static REAPER: OnceLock<Result<Sender<Message>, i32>> = OnceLock::new();

fn reaper() -> io::Result<Sender<Message>> {
    let started = REAPER.get_or_init(|| {
        let (sender, receiver) = mpsc::channel();
        let own = sender.clone();
        std::thread::Builder::new()
            .name("reaper".to_owned())
            .spawn(move || Reaper::new(own).run(&receiver))
            .map(|_| sender)
            .map_err(|error| error.raw_os_error().unwrap_or(0))
    });
    match started {
        Ok(sender) => Ok(sender.clone()),
        Err(code) => Err(io::Error::from_raw_os_error(*code)),
    }
}

struct Reaper {
    sender: Sender<Message>,
    children: HashMap<ChildId, Entry>,
    next_id: u64,
    finishing: Vec<Finishing>,
    /// Begins the marks of all children of this program.
    #[cfg(target_os = "linux")]
    program: String,
    /// Ends marked descendants if this program dies.
    #[cfg(target_os = "linux")]
    guard: Option<Guard>,
}

struct Finishing {
    deadline: Instant,
    has_killed: bool,
    reply: SyncSender<usize>,
}

impl Reaper {
    fn new(sender: Sender<Message>) -> Self {
        Self {
            sender,
            children: HashMap::new(),
            next_id: 0,
            finishing: Vec::new(),
            #[cfg(target_os = "linux")]
            program: uuid::Uuid::new_v4().simple().to_string(),
            #[cfg(target_os = "linux")]
            guard: None,
        }
    }

    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            let now = Instant::now();
            for entry in self.children.values_mut() {
                entry.advance(now);
            }
            self.advance_finishing(now);
            let wake = (self.children.values().filter_map(Entry::wake))
                .chain(self.finishing.iter().map(|finishing| finishing.deadline))
                .min();
            let message = match wake {
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wake) => messages.recv_timeout(wake.saturating_duration_since(now)),
            };
            match message {
                Ok(message) => self.handle(message),
                Err(RecvTimeoutError::Timeout) => {}
                // Cannot be while we hold a sender ourselves.
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Start { command, reply } => {
                let started = self.start(*command);
                // If nobody waits any more, the child in here is dropped, which
                // releases it.
                let _ = reply.send(started);
            }
            Message::Release { id, plan } => {
                if let Some(entry) = self.children.get_mut(&id) {
                    entry.release(plan);
                }
            }
            Message::StdinReturned { id, pipe } => {
                if let Some(entry) = self.children.get_mut(&id) {
                    entry.take_stdin(pipe);
                }
            }
            Message::Signal { id, signal, target } => {
                if let Some(entry) = self.children.get(&id) {
                    entry.signal(signal, target);
                }
            }
            Message::Settle { reply } => {
                // Whoever asked may have gone.
                let _ = reply.send(());
            }
            Message::Ended { id, is_ours } => {
                if let Some(entry) = self.children.remove(&id) {
                    entry.collect(is_ours);
                }
            }
            Message::Finish { limit, reply } => {
                for entry in self.children.values_mut() {
                    entry.release(None);
                }
                self.finishing.push(Finishing {
                    deadline: Instant::now() + limit,
                    has_killed: false,
                    reply,
                });
            }
        }
    }

    fn start(&mut self, command: ChildCommand) -> Result<(Child, Pipes), StartError> {
        #[cfg(target_os = "linux")]
        let tag = (command.marks_descendants).then(|| Tag::fresh(&self.program));
        #[cfg(target_os = "linux")]
        let variable = tag.as_ref().map(Tag::variable);
        #[cfg(not(target_os = "linux"))]
        let variable = None;
        let (process, mut pipes) = spawn::spawn(&command, variable)?;
        #[cfg(target_os = "linux")]
        if tag.is_some() && self.guard.is_none() {
            // The child is started all the same: it dies with us in any case.
            match Guard::start(&self.program) {
                Ok(guard) => self.guard = Some(guard),
                Err(error) => tracing::warn!(%error, "descendants of children may outlive us"),
            }
        }
        let id = ChildId(self.next_id);
        self.next_id += 1;
        let (exit, exit_watch) = watch::channel(None);
        let raw = process.id();
        let pid = i32::try_from(raw).ok().and_then(Pid::from_raw);
        tracing::debug!(pid = raw, program = %command.program.display(), "started");
        let entry = Entry::new(process, pid, command.plan, pipes.stdin.is_some(), exit);
        #[cfg(target_os = "linux")]
        let entry = entry.with_tag(tag);

        let threads = capture(&mut pipes.stdout, command.stdout).and_then(|stdout| {
            let stderr = capture(&mut pipes.stderr, command.stderr)?;
            watch_for_end(pid, id, self.sender.clone())?;
            Ok((stdout, stderr))
        });
        match threads {
            Ok((stdout, stderr)) => {
                self.children.insert(id, entry);
                let reaper = self.sender.clone();
                let child = Child::new(id, raw, reaper, exit_watch, stdout, stderr);
                Ok((child, pipes))
            }
            Err(source) => {
                entry.kill_and_collect();
                Err(out_of_threads(&command.program, source))
            }
        }
    }

    fn advance_finishing(&mut self, now: Instant) {
        let children = &mut self.children;
        #[cfg(target_os = "linux")]
        let guard = &mut self.guard;
        self.finishing.retain_mut(|finishing| {
            if !children.is_empty() && now < finishing.deadline {
                return true;
            }
            if !children.is_empty() && !finishing.has_killed {
                for entry in children.values_mut() {
                    entry.release(Some(ShutdownPlan::kill()));
                    entry.advance(now);
                }
                finishing.has_killed = true;
                finishing.deadline = now + KILL_GRACE;
                return true;
            }
            if children.is_empty() {
                #[cfg(target_os = "linux")]
                if let Some(guard) = guard.take() {
                    guard.dismiss();
                }
            }
            // The caller waits for exactly one answer.
            let _ = finishing.reply.send(children.len());
            false
        });
    }
}

fn capture(pipe: &mut Option<OwnedFd>, output: Output) -> io::Result<Captured> {
    match (output, pipe.take()) {
        (Output::Captured(limits), Some(stream)) => Captured::read_in_background(stream, limits),
        (Output::Captured(_) | Output::Null | Output::Piped, taken) => {
            *pipe = taken;
            Ok(Captured::nothing())
        }
    }
}

fn out_of_threads(program: &Path, source: io::Error) -> StartError {
    StartError::Io {
        program: program.to_owned(),
        source,
    }
}

/// Reports the end of a child without collecting it.
fn watch_for_end(pid: Option<Pid>, id: ChildId, reaper: Sender<Message>) -> io::Result<()> {
    let Some(pid) = pid else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    std::thread::Builder::new()
        .name("child watch".to_owned())
        .spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let is_ours = loop {
                match rustix::process::waitid(WaitId::Pid(pid), options) {
                    Ok(_) => break true,
                    Err(rustix::io::Errno::INTR) => {}
                    // Something else in this program collected it.
                    Err(_) => break false,
                }
            };
            let _ = reaper.send(Message::Ended { id, is_ours });
        })
        .map(|_| ())
}
