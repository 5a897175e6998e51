//! `toolset serve`.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{Failure, INTERRUPTED};
use crate::environment::Environment;

/// Serves the client on standard input and output.
pub(super) async fn run(environment: &Environment) -> Result<u8, Failure> {
    let stop = CancellationToken::new();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let by_signal = stop.clone();
    let mut serving = std::pin::pin!(crate::serve::serve(
        tokio::io::stdin(),
        tokio::io::stdout(),
        environment.settings.clone(),
        stop.clone(),
    ));
    let mut was_signalled = false;
    loop {
        tokio::select! {
            biased;
            served = &mut serving => {
                served?;
                return Ok(if was_signalled { INTERRUPTED } else { 0 });
            }
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        was_signalled = true;
        by_signal.cancel();
    }
}
