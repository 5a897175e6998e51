//! Known gaps: `expected-failures.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// Cases that fail today, each with its reason.
#[derive(Debug, Default)]
pub struct ExpectedFailures(BTreeMap<String, String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    failure: Vec<Failure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    id: String,
    reason: String,
}

impl ExpectedFailures {
    /// Reads the list.
    ///
    /// # Errors
    /// A list that is no list, an entry without a reason, an entry twice.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let mut reasons = BTreeMap::new();
        for failure in toml::from_str::<File>(&text)?.failure {
            if failure.reason.trim().is_empty() {
                bail!("`{}` is expected to fail without a reason", failure.id);
            }
            if reasons.insert(failure.id.clone(), failure.reason).is_some() {
                bail!("`{}` is listed twice", failure.id);
            }
        }
        Ok(Self(reasons))
    }

    /// Judges the outcome of the case `id`: one that is listed must fail.
    ///
    /// # Errors
    /// The failure of a case that is not listed, and the success of one that is.
    pub fn judge(&self, id: &str, outcome: Result<()>) -> Result<()> {
        match (self.0.get(id), outcome) {
            (None, outcome) => outcome,
            (Some(_), Err(_)) => Ok(()),
            (Some(reason), Ok(())) => {
                bail!(
                    "passes, but is listed as failing ({reason}): remove it from expected-failures.toml"
                )
            }
        }
    }

    /// Returns the listed ids that no case has.
    pub fn unknown<'a>(&'a self, ids: &[&str]) -> Vec<&'a str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(|id| !ids.contains(id))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]

    use super::ExpectedFailures;

    fn read(text: &str) -> anyhow::Result<ExpectedFailures> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.toml");
        std::fs::write(&path, text).unwrap();
        ExpectedFailures::read(&path)
    }

    #[test]
    fn a_listed_case_that_passes_fails_the_suite() {
        let list = read("[[failure]]\nid = 'a'\nreason = 'a gap'\n").unwrap();
        assert!(
            list.judge("a", Ok(()))
                .unwrap_err()
                .to_string()
                .contains("a gap")
        );
        assert!(list.judge("a", Err(anyhow::anyhow!("no"))).is_ok());
        assert!(list.judge("b", Err(anyhow::anyhow!("no"))).is_err());
        assert_eq!(list.unknown(&["b"]), ["a"]);
    }

    #[test]
    fn a_listed_case_needs_a_reason() {
        assert!(read("[[failure]]\nid = 'a'\nreason = ' '\n").is_err());
        assert!(read("[[failure]]\nid = 'a'\n").is_err());
    }
}
