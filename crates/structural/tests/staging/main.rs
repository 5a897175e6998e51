//! What staged edits promise: nothing is written before it is accepted, and
//! then all of it or nothing.
#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]
#![cfg(all(feature = "lang-python", feature = "lang-rust", feature = "lang-c"))]

mod hostile;
mod proposal;
mod resolving;
mod sequences;
mod setting;
