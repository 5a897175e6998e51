//! Compares the matches of both programs, by file and bytes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

/// Where a match is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) bytes: (usize, usize),
}

/// The matches of both.
pub(super) struct Comparison {
    pub(super) ours: usize,
    pub(super) theirs: usize,
    pub(super) only_ours: Vec<Place>,
    pub(super) only_theirs: Vec<Place>,
}

#[derive(Deserialize)]
struct Answer {
    details: Details,
}

#[derive(Deserialize)]
struct Details {
    matches: Vec<OurMatch>,
}

#[derive(Deserialize)]
struct OurMatch {
    path: String,
    bytes: (usize, usize),
}

#[derive(Deserialize)]
struct TheirMatch {
    file: String,
    range: TheirRange,
}

#[derive(Deserialize)]
struct TheirRange {
    #[serde(rename = "byteOffset")]
    bytes: TheirBytes,
}

#[derive(Deserialize)]
struct TheirBytes {
    start: usize,
    end: usize,
}

impl Comparison {
    /// Reads what both printed.
    pub(super) fn read(ours: &Path, theirs: &Path) -> Result<Self> {
        let answer: Answer = serde_json::from_str(&fs::read_to_string(ours)?)?;
        let mine: BTreeSet<Place> = answer
            .details
            .matches
            .into_iter()
            .map(|found| Place {
                path: found.path,
                bytes: found.bytes,
            })
            .collect();
        let mut other = BTreeSet::new();
        for line in BufReader::new(File::open(theirs)?).lines() {
            let found: TheirMatch = serde_json::from_str(&line?)?;
            let path = found.file.trim_start_matches("./").to_owned();
            let bytes = (found.range.bytes.start, found.range.bytes.end);
            other.insert(Place { path, bytes });
        }
        Ok(Self {
            ours: mine.len(),
            theirs: other.len(),
            only_ours: mine.difference(&other).cloned().collect(),
            only_theirs: other.difference(&mine).cloned().collect(),
        })
    }
}
