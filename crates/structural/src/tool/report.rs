//! What a search or a rewrite found out, for the text and for `details`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::scope::{Scope, Target};
use crate::error::Error;
use crate::languages::Rung;
use crate::near::NearMiss;
use crate::scan::{Hit, Job, Scanned, SkipReason};

/// A file that was not searched.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SkippedFile {
    /// File, relative to the workspace.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
    /// More on why.
    pub detail: String,
}

/// One way the pattern was read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ReadingDetails {
    /// Language id.
    pub language: String,
    /// What it was read as, for example `expression`.
    pub rung: String,
    /// Kind of its node; `sequence` for several siblings.
    pub kind: String,
}

/// What a call is about to say.
pub(super) struct Report<'a> {
    pub(super) target: &'a Target,
    pub(super) scope: &'a Scope,
    pub(super) scanned: &'a Scanned,
    pub(super) near_misses: Vec<NearMiss>,
}

impl Report<'_> {
    pub(super) fn failed(&self) -> Option<Error> {
        let mut failed = self.unfinished();
        let first = failed.next()?.to_owned();
        Some(Error::OverBudget {
            first,
            others: failed.count(),
        })
    }

    /// Returns the files that were not searched to their end.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &str> {
        self.scanned
            .outcomes
            .iter()
            .zip(&self.scope.listing.files)
            .filter(|(o, _)| o.failed.is_some())
            .map(|(_, f)| f.relative.as_str())
    }

    pub(super) fn hits(&self) -> impl Iterator<Item = (usize, &Hit)> {
        self.scanned
            .outcomes
            .iter()
            .enumerate()
            .flat_map(|(file, outcome)| outcome.hits.iter().map(move |hit| (file, hit)))
    }

    /// Returns the job a file was searched with.
    pub(super) fn job(&self, file: usize) -> Option<(&'static str, &Job)> {
        let id = self.scanned.outcomes.get(file)?.searched_as?;
        self.scope.jobs.get(id).map(|job| (id, job))
    }

    /// Returns the number of files searched, by language.
    pub(super) fn searched(&self) -> BTreeMap<&'static str, usize> {
        let mut searched = BTreeMap::new();
        for (file, outcome) in self.scanned.outcomes.iter().enumerate() {
            if outcome.skipped.is_none()
                && let Some((id, _)) = self.job(file)
            {
                *searched.entry(id).or_default() += 1;
            }
        }
        searched
    }

    /// Returns the same as it is in `details`.
    pub(super) fn searched_files(&self) -> BTreeMap<String, usize> {
        let searched = self.searched().into_iter();
        searched.map(|(id, files)| (id.to_owned(), files)).collect()
    }

    /// Returns how the pattern was read in each language.
    pub(super) fn readings(&self) -> Vec<ReadingDetails> {
        let jobs = self.scope.jobs.iter();
        jobs.flat_map(|(id, job)| job.pattern.readings().map(move |r| (*id, r)))
            .map(|(id, (rung, kind)): (_, (Rung, _))| ReadingDetails {
                language: id.to_owned(),
                rung: rung.to_string(),
                kind: kind.to_owned(),
            })
            .collect()
    }

    /// Returns the files that were not searched.
    pub(super) fn skipped(&self) -> Vec<SkippedFile> {
        self.scanned
            .outcomes
            .iter()
            .zip(&self.scope.listing.files)
            .filter_map(|(outcome, file)| {
                let (reason, detail) = outcome.skipped.clone()?;
                Some(SkippedFile {
                    path: file.relative.clone(),
                    reason,
                    detail,
                })
            })
            .collect()
    }
}
