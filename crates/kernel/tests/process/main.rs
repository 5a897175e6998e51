//! Kernels as processes, with a real interpreter.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod bridge;
mod control;
mod death;
mod language;
mod output;
mod streams;
mod support;
mod torture;
