//! TBD

use super::Language;

pub(super) const LANGUAGES: &[Language] = &[];
