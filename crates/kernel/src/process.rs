//! One interpreter that became a kernel.

use std::os::unix::net::UnixStream as StdSocket;
use std::time::Duration;

use host::process::{
    CaptureLimits, Child, ChildCommand, ChildOutput, Exit, ExitWatch, Inherited, Input, Output,
    ShutdownPlan,
};
use serde_json::Value;
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::bootstrap;
use crate::error::Error;
use crate::factory::{Place, Streams};
use crate::frames::{self, FromKernel, Options, Ready, ToKernel};
use crate::late::Late;
use crate::link::{Incoming, Link};

/// An interpreter that noticed that its host let go may run what it has
/// registered for its end.
const FAREWELL: Duration = Duration::from_millis(500);

/// A live kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) child: Child,
    pub(crate) exit: ExitWatch,
    pub(crate) link: Link,
    /// Part of every mark in its output.
    pub(crate) token: String,
    /// Its output between the cells, where it has one stream for all of them.
    pub(crate) stream: Option<ChildOutput>,
    pub(crate) late: Late,
    pub(crate) cells: u64,
    pub(crate) version: String,
    pub(crate) executable: String,
    /// How many children of earlier cells the model knows of.
    pub(crate) known_children: usize,
    /// Likewise for pending tasks.
    pub(crate) known_tasks: u64,
    /// Whether the model knows that its memory is not watched.
    pub(crate) is_unwatched_told: bool,
    /// Whether a signal to the child reaches the interpreter, and not what it is
    /// launched by.
    pub(crate) takes_signals: bool,
}

impl Kernel {
    /// Starts the interpreter at `place`, and waits until it can run cells.
    ///
    /// # Cancel
    /// The interpreter is killed.
    pub(crate) async fn start(
        place: &Place,
        limit: Duration,
        cancelled: &CancellationToken,
    ) -> Result<Self, Error> {
        let mut command = ChildCommand::new(&place.program, &place.directory)
            .args(&place.args)
            .environment(place.environment.clone())
            .launcher(place.launcher.clone())
            .mark_descendants()
            .without_core_dumps()
            .shutdown(ShutdownPlan::kill().then_wait(FAREWELL));
        let token = Uuid::new_v4().simple().to_string();
        let (child, link, stream) = match place.streams {
            Streams::Socket => {
                let (ours, theirs) = StdSocket::pair()?;
                ours.set_nonblocking(true)?;
                let theirs = Inherited::new(theirs)?;
                let number = theirs.number().to_string();
                command = command
                    .args(["-c", bootstrap::LOADER, &number, &number])
                    .inherit(theirs)
                    .stderr(Output::Captured(CaptureLimits::TAIL));
                let child = command.start().await?;
                (child, Link::over_socket(UnixStream::from_std(ours)?), None)
            }
            Streams::Three => {
                command = command
                    .args(["-c", bootstrap::LOADER, "0", "1"])
                    .stdin(Input::Piped)
                    .stdout(Output::Piped)
                    .stderr(Output::Piped);
                let mut child = command.start().await?;
                let streams = (child.take_stdin(), child.take_stdout(), child.take_stderr());
                let (Some(input), Some(output), Some(stream)) = streams else {
                    return Err(Error::Io(std::io::ErrorKind::BrokenPipe.into()));
                };
                (child, Link::over_streams(input, output), Some(stream))
            }
        };
        let mut kernel = Self {
            exit: child.exit_watch(),
            child,
            link,
            token,
            stream,
            late: Late::default(),
            cells: 0,
            version: String::new(),
            executable: String::new(),
            known_children: 0,
            known_tasks: 0,
            is_unwatched_told: false,
            takes_signals: place.launcher.is_none(),
        };
        kernel.send_bootstrap(place.streams)?;
        let ready = tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(Error::Cancelled),
            ready = kernel.wait_until_ready(place) => ready,
            () = tokio::time::sleep(limit) => Err(Error::NotReady {
                program: place.program.clone(),
                limit,
                stderr: kernel.child.stderr().to_text(),
            }),
        };
        match ready {
            Ok(ready) => {
                kernel.version = ready.python;
                kernel.executable = ready.executable;
                Ok(kernel)
            }
            Err(error) => {
                kernel.kill().await;
                Err(error)
            }
        }
    }

    fn send_bootstrap(&self, streams: Streams) -> Result<(), Error> {
        let kernel = match streams {
            Streams::Socket => bootstrap::KERNEL.to_owned(),
            Streams::Three => format!("{}{}", bootstrap::KERNEL, bootstrap::STREAMS),
        };
        self.link.send_raw(frames::encode_source(&kernel)?, None);
        let sources = bootstrap::MODULES
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Value::from(*text)))
            .collect();
        self.link.send(&ToKernel::Init {
            sources,
            options: Options {
                token: &self.token,
                marks_end: streams == Streams::Three,
            },
        })?;
        Ok(())
    }

    async fn wait_until_ready(&mut self, place: &Place) -> Result<Ready, Error> {
        let program = || place.program.clone();
        match self.link.next().await {
            Incoming::Frame(FromKernel::Ready(ready)) if ready.version == frames::VERSION => {
                Ok(ready)
            }
            Incoming::Frame(other) => Err(Error::Protocol {
                program: program(),
                why: format!("its first word is {other:?}"),
            }),
            Incoming::Closed(error) => {
                let ended = self.exit.wait_for_exit();
                let Ok(exit) = tokio::time::timeout(FAREWELL, ended).await else {
                    let why = error.map(|error| error.to_string());
                    return Err(Error::Protocol {
                        program: program(),
                        why: why.unwrap_or_else(|| "it closed its link".to_owned()),
                    });
                };
                let captured = self.child.stderr().clone();
                let _ = tokio::time::timeout(FAREWELL, captured.wait_until_closed()).await;
                Err(Error::Ended {
                    program: program(),
                    exit,
                    stderr: captured.to_text(),
                })
            }
        }
    }

    /// Kills the interpreter and all its descendants, and waits for its end.
    pub(crate) async fn kill(self) -> Exit {
        self.child.kill().await
    }

    /// Lets the interpreter end in its own way, within a moment.
    pub(crate) async fn close(self) -> Exit {
        // A link that is gone is an end too.
        let _ = self.link.send(&ToKernel::Exit);
        let _ = tokio::time::timeout(FAREWELL, self.exit.wait_for_exit()).await;
        self.child.kill().await
    }
}
