//! Structural search: code found by shape, not by text.

pub mod languages;
