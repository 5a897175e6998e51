//! Gives the parser as much stack as it may need.
//!
//! The parser's own stack is a linked list, and it lets go of one by a call
//! within a call for each entry. A file of nothing but `(` has an entry for each
//! byte, so that a thread's usual stack is too small for it.

/// What one entry takes: 112 bytes were measured, for a build with optimisation.
const BYTES_PER_ENTRY: usize = 160;

/// What everything else takes.
const RESERVE: usize = 96 * 1024;

/// Runs `parse` with stack enough for a text of so many bytes.
pub(crate) fn enough_for<T>(text_bytes: usize, parse: impl FnOnce() -> T) -> T {
    let bytes = RESERVE + text_bytes * BYTES_PER_ENTRY;
    stacker::maybe_grow(bytes, bytes, parse)
}
