//! The registry and its dispatch, from the outside.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod admission;
mod cancellation;
mod events;
mod gate;
mod reentry;
mod results;
mod runs;
mod support;
mod surface;
