//! Bounds what the trial parses of one pattern may cost.
//!
//! Counted are calls of the parser's progress callback, one for every hundred
//! of its operations, so that a pattern is read or refused alike on a busy
//! machine and on an idle one. Some grammars recover from errors in time that
//! grows with the square of the text: a trial that has been nothing but errors
//! for a while is given up. The limit of time is for what still slips through.

use std::ops::ControlFlow;
use std::time::Duration;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::clock::WorkLimit;

/// Calls for one pattern.
const MAX_CALLS: u32 = 30_000;

/// Calls for one context: several parses of the longest pattern.
const MAX_CALLS_PER_CONTEXT: u32 = 3_000;

/// Calls after which a trial in error is given up: a kilobyte of text or more.
const MAX_CALLS_IN_ERROR: u32 = 16;

/// What a call in error counts, since it takes longer.
const ERROR_WEIGHT: u32 = 8;

/// Time of work for one pattern, several times what the calls take.
const MAX_TIME: Duration = Duration::from_secs(10);

/// What is left for the trial parses of one pattern.
pub(super) struct Allowance<'a> {
    is_stopped: &'a dyn Fn() -> bool,
    calls: u32,
    calls_in_context: u32,
    time: WorkLimit,
    end: Option<End>,
    /// Whether a context was left for its cost.
    has_skipped: bool,
}

/// Why no more is parsed for a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The caller said so.
    Stopped,
    /// It would take too long.
    Spent,
}

/// What came of a trial parse.
pub(super) enum Parsed {
    Tree(Tree),
    /// It was given up in errors, at this byte.
    Faulty(usize),
    /// No more is parsed in this context.
    Spent,
}

impl<'a> Allowance<'a> {
    pub(super) fn new(is_stopped: &'a dyn Fn() -> bool) -> Self {
        Self {
            is_stopped,
            calls: MAX_CALLS,
            calls_in_context: MAX_CALLS_PER_CONTEXT,
            time: WorkLimit::new(MAX_TIME),
            end: None,
            has_skipped: false,
        }
    }

    /// Gives the next context its share.
    pub(super) fn enter_context(&mut self) {
        self.calls_in_context = MAX_CALLS_PER_CONTEXT;
    }

    /// Returns whether no more is parsed in this context.
    pub(super) fn is_spent(&self) -> bool {
        self.end.is_some() || self.calls_in_context == 0
    }

    /// Returns why no more is parsed in any context.
    pub(super) fn end(&self) -> Option<End> {
        self.end
    }

    /// Returns whether not every way to read the pattern was tried.
    pub(super) fn has_skipped(&self) -> bool {
        self.has_skipped || self.end.is_some()
    }

    /// Lets no more be parsed.
    pub(super) fn spend_all(&mut self) {
        self.end = self.end.or(Some(End::Spent));
    }

    /// Parses a text.
    pub(super) fn parse(&mut self, parser: &mut Parser, text: &str) -> Parsed {
        if self.is_spent() {
            return Parsed::Spent;
        }
        let mut in_error = 0;
        let mut failed_at = 0;
        let mut look = |state: &tree_sitter::ParseState| {
            let weight = if state.has_error() { ERROR_WEIGHT } else { 1 };
            if state.has_error() {
                if in_error == 0 {
                    failed_at = state.current_byte_offset();
                }
                in_error += 1;
            } else {
                in_error = 0;
            }
            self.look(weight);
            if self.is_spent() || in_error >= MAX_CALLS_IN_ERROR {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut look);
        let bytes = text.as_bytes();
        let tree = crate::stack::enough_for(text.len(), || {
            parser.reset();
            parser.parse_with_options(
                &mut |at, _| bytes.get(at..).unwrap_or_default(),
                None,
                Some(options),
            )
        });
        match tree {
            Some(tree) => Parsed::Tree(tree),
            None if self.is_spent() => Parsed::Spent,
            None => Parsed::Faulty(failed_at),
        }
    }

    fn look(&mut self, weight: u32) {
        self.calls_in_context = self.calls_in_context.saturating_sub(weight);
        self.has_skipped |= self.calls_in_context == 0;
        self.calls = self.calls.saturating_sub(weight);
        if (self.is_stopped)() {
            self.end = Some(End::Stopped);
        } else if self.calls == 0 || self.time.is_over() {
            self.spend_all();
        }
    }
}
