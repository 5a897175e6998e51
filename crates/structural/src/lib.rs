//! Structural search and rewrite: code found and changed by shape, not by text.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod cache;
mod clock;
mod diff;
mod error;
mod excerpt;
mod grammar;
#[cfg(feature = "language-pack")]
mod language_pack;
pub mod languages;
mod matcher;
mod near;
mod parallel;
mod pattern;
mod plan;
mod program;
mod rewrite;
mod rules;
mod scan;
mod search;
mod source;
mod stack;
mod stage;
mod sweep;
mod tool;
mod tree;
mod walk;

pub use cache::DEFAULT_CACHE_BYTES;
pub use error::Error;
pub use grammar::{CompiledGrammars, Grammar, GrammarError, GrammarSource};
#[cfg(feature = "language-pack")]
pub use language_pack::{LanguagePack, PackError};
pub use near::NearMiss;
pub use pattern::{Attempt, MAX_PATTERN_BYTES, MAX_VARIABLES, Pattern, PatternError, Variable};
pub use rewrite::{
    MAX_TEMPLATE_BYTES, Replacement, RewriteError, Rewritten, Template, TemplateError, rewrite_text,
};
pub use scan::{MAX_FILE_BYTES, SkipReason};
pub use search::{FileMatch, SearchError, search_text};
pub use stage::{DEFAULT_MAX_STAGED_BYTES, NotStaged, StagedEdits};
pub use tool::{
    AstEdit, AstEditDetails, AstEditInput, AstGrep, AstGrepDetails, AstGrepInput, CaptureDetails,
    DEFAULT_MAX_RESULTS, EditedFile, Lasts, MatchDetails, Place, ReadingDetails, RefusedFile,
    Resolve, ResolveAction, ResolveDetails, ResolveInput, SkippedFile,
};
