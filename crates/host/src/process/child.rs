//! A running child, as its owner sees it.

use std::io;
use std::sync::mpsc::Sender;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::capture::Captured;
use super::exit::Exit;
use super::pipe::{ChildOutput, ChildStdin};
use super::plan::ShutdownPlan;
use super::reaper::{ChildId, Message};
use super::spawn::Pipes;

/// A signal that may be sent to a running child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
}

/// Who gets a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The child alone.
    Child,
    /// The child and its descendants in its process group.
    Group,
    /// Its descendants in its session that were started within this time, and
    /// not the child: those of its latest work. Nobody but on Linux.
    Younger(Duration),
}

/// A child that was started.
///
/// Dropping it starts its [`ShutdownPlan`].
#[derive(Debug)]
pub struct Child {
    id: ChildId,
    pid: u32,
    reaper: Sender<Message>,
    exit: ExitWatch,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildOutput>,
    stderr: Option<ChildOutput>,
    captured_stdout: Captured,
    captured_stderr: Captured,
}

/// Tells when a child has ended. Cheap to clone, keeps nothing alive.
#[derive(Debug, Clone)]
pub struct ExitWatch {
    exit: watch::Receiver<Option<Exit>>,
}

impl Child {
    pub(super) fn new(
        id: ChildId,
        pid: u32,
        reaper: Sender<Message>,
        exit: watch::Receiver<Option<Exit>>,
        captured_stdout: Captured,
        captured_stderr: Captured,
    ) -> Self {
        Self {
            id,
            pid,
            reaper,
            exit: ExitWatch { exit },
            stdin: None,
            stdout: None,
            stderr: None,
            captured_stdout,
            captured_stderr,
        }
    }

    /// Must be called in a runtime.
    pub(super) fn attach(&mut self, pipes: Pipes) -> io::Result<()> {
        if let Some(pipe) = pipes.stdin {
            self.stdin = Some(ChildStdin::new(pipe, self.id, self.reaper.clone())?);
        }
        self.stdout = pipes.stdout.map(ChildOutput::new).transpose()?;
        self.stderr = pipes.stderr.map(ChildOutput::new).transpose()?;
        Ok(())
    }

    /// Returns the process id, which is also that of its group and session.
    ///
    /// For display; signals go through [`Child::signal`], which cannot hit a
    /// process that got the number later.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns standard input, once, where it is piped.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Returns standard output, once, where it is piped.
    pub fn take_stdout(&mut self) -> Option<ChildOutput> {
        self.stdout.take()
    }

    /// Returns standard error, once, where it is piped.
    pub fn take_stderr(&mut self) -> Option<ChildOutput> {
        self.stderr.take()
    }

    /// Returns what was captured of standard output so far.
    #[must_use]
    pub fn stdout(&self) -> &Captured {
        &self.captured_stdout
    }

    /// Returns what was captured of standard error so far.
    #[must_use]
    pub fn stderr(&self) -> &Captured {
        &self.captured_stderr
    }

    /// Returns something that tells when the child has ended.
    #[must_use]
    pub fn exit_watch(&self) -> ExitWatch {
        self.exit.clone()
    }

    /// Waits until the child has ended and was collected.
    pub async fn wait_for_exit(&self) -> Exit {
        self.exit.wait_for_exit().await
    }

    /// Sends a signal, unless the child has ended.
    pub fn signal(&self, signal: Signal, target: Target) {
        let id = self.id;
        // Without a reaper there is no child either.
        let _ = self.reaper.send(Message::Signal { id, signal, target });
    }

    /// Waits until the signals sent so far have been delivered.
    pub async fn wait_for_signals(&self) {
        let (reply, done) = oneshot::channel();
        // Without a reaper nothing was sent.
        if self.reaper.send(Message::Settle { reply }).is_ok() {
            let _ = done.await;
        }
    }

    /// Returns how many bytes of memory the processes of the child's session (on
    /// macOS: of its group) hold, the child included; none where the system does
    /// not say.
    ///
    /// Asks about each process of the machine: for once a second.
    #[must_use]
    pub fn resident_bytes(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        {
            super::session::resident_bytes(self.session()?)
        }
        #[cfg(target_vendor = "apple")]
        {
            super::memory::resident_bytes(i32::try_from(self.pid).ok()?)
        }
        #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
        {
            None
        }
    }

    /// Returns how many live descendants are in the child's session; 0 where the
    /// system does not say (all but Linux).
    #[must_use]
    pub fn descendants(&self) -> usize {
        #[cfg(target_os = "linux")]
        if let Some(pid) = self.session() {
            return super::session::count_members(pid);
        }
        0
    }

    #[cfg(target_os = "linux")]
    fn session(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.pid).ok()?)
    }

    /// Takes the child through its plan and waits until it has ended.
    ///
    /// # Cancel
    /// The plan goes on.
    pub async fn shut_down(self) -> Exit {
        let exit = self.exit_watch();
        drop(self);
        exit.wait_for_exit().await
    }

    /// Kills the child and its group, without a plan, and waits until it has
    /// ended.
    ///
    /// # Cancel
    /// The kill stands.
    pub async fn kill(self) -> Exit {
        let exit = self.exit_watch();
        let plan = Some(ShutdownPlan::kill());
        let _ = self.reaper.send(Message::Release { id: self.id, plan });
        drop(self);
        exit.wait_for_exit().await
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let (id, plan) = (self.id, None);
        let _ = self.reaper.send(Message::Release { id, plan });
    }
}

impl ExitWatch {
    /// Returns how the child ended, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits until the child has ended and was collected.
    pub async fn wait_for_exit(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::UNKNOWN),
            Err(_) => Exit::UNKNOWN,
        }
    }
}
