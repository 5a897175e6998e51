//! Writes and what real servers say of them: faults are planted, so that what is
//! right is known by construction.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![allow(dead_code, reason = "parts of what other tests use too")]

mod checker;
mod languages;
mod planted;
mod random;

#[path = "../rows/sample.rs"]
mod sample;
#[path = "../servers/support.rs"]
mod support;

use libtest_mimic::Arguments;

fn main() {
    libtest_mimic::run(&Arguments::from_args(), random::tests()).exit();
}
