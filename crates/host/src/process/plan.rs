//! How a child is asked to end before it is killed.

use std::time::Duration;

/// One way to ask a child to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Writes bytes to its standard input: a protocol's own farewell.
    Send(Vec<u8>),
    /// Closes its standard input.
    CloseStdin,
    /// Sends SIGINT to its process group.
    Interrupt,
    /// Sends SIGTERM to its process group.
    Terminate,
    /// Does nothing: a child that noticed already that nobody needs it ends by
    /// itself.
    Wait,
}

/// The polite steps, in the peer's own order, each with the time it is given.
///
/// A step that cannot be taken (there is no standard input) is passed over. When
/// the last step's time is up, the process group is killed.
///
/// ```
/// use host::process::ShutdownPlan;
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let plan = ShutdownPlan::kill()
///     .then_send(&b"exit\n"[..], second)
///     .then_close_stdin(second)
///     .then_terminate(second);
/// assert_eq!(plan.steps().len(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShutdownPlan {
    steps: Vec<(Step, Duration)>,
}

impl ShutdownPlan {
    /// Kills at once; steps may be put before that.
    #[must_use]
    pub fn kill() -> Self {
        Self { steps: Vec::new() }
    }

    /// Writes `bytes` to standard input and waits up to `limit`.
    #[must_use]
    pub fn then_send(self, bytes: impl Into<Vec<u8>>, limit: Duration) -> Self {
        self.then(Step::Send(bytes.into()), limit)
    }

    /// Closes standard input and waits up to `limit`.
    #[must_use]
    pub fn then_close_stdin(self, limit: Duration) -> Self {
        self.then(Step::CloseStdin, limit)
    }

    /// Sends SIGTERM and waits up to `limit`.
    #[must_use]
    pub fn then_terminate(self, limit: Duration) -> Self {
        self.then(Step::Terminate, limit)
    }

    /// Waits up to `limit` for the child to end by itself.
    #[must_use]
    pub fn then_wait(self, limit: Duration) -> Self {
        self.then(Step::Wait, limit)
    }

    /// Adds `step` and waits up to `limit`.
    #[must_use]
    pub fn then(mut self, step: Step, limit: Duration) -> Self {
        self.steps.push((step, limit));
        self
    }

    /// Returns the steps before the kill.
    #[must_use]
    pub fn steps(&self) -> &[(Step, Duration)] {
        &self.steps
    }

    pub(super) fn sends(&self) -> bool {
        self.steps
            .iter()
            .any(|(step, _)| matches!(step, Step::Send(_)))
    }
}

impl Default for ShutdownPlan {
    /// Closes standard input and waits half a second, sends SIGTERM and waits
    /// two seconds, kills.
    fn default() -> Self {
        Self::kill()
            .then_close_stdin(Duration::from_millis(500))
            .then_terminate(Duration::from_secs(2))
    }
}
