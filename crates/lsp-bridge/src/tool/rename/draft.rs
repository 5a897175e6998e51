//! Turns what a server wants changed into a change set, or refuses all of it.
//!
//! The files are changed in memory first, step by step. Every part of a text
//! that is replaced must be the old name; a server that replaces more than that
//! must have changed nothing else in it.

use std::collections::BTreeMap;
use std::path::Path;

use host::text::{LineIndex, SourceText};
use host::{ChangeSet, FileChange, HarnessFiles, Location, Workspace, WorkspacePath};

use crate::edit::{IfExists, Replacement, Step, TextEdit, in_order, replace};
use crate::error::Error;
use crate::server::InUse;
use crate::uri;

/// The change of one name into another.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) old: String,
    pub(super) new: String,
}

/// The files as they would be.
pub(super) struct Draft<'a> {
    workspace: &'a Workspace,
    server: &'a InUse,
    files: &'a dyn HarnessFiles,
    names: &'a Names,
    drafted: BTreeMap<String, Drafted>,
}

/// One file, before and after.
struct Drafted {
    path: WorkspacePath,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    /// The file that it is a copy of.
    like: Option<WorkspacePath>,
    places: usize,
}

/// A file that would change.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    pub(super) path: WorkspacePath,
    /// How many names are replaced in it.
    pub(super) places: usize,
    /// Whether there will be a file.
    pub(super) is_kept: bool,
}

impl<'a> Draft<'a> {
    /// Carries the steps out in memory.
    pub(super) async fn of(
        steps: &[Step],
        names: &'a Names,
        workspace: &'a Workspace,
        server: &'a InUse,
        files: &'a dyn HarnessFiles,
    ) -> Result<Self, Error> {
        let mut draft = Self {
            workspace,
            server,
            files,
            names,
            drafted: BTreeMap::new(),
        };
        for step in steps {
            draft.take(step).await?;
        }
        Ok(draft)
    }

    /// Returns the files that change, by path.
    pub(super) fn changed(&self) -> Vec<Changed> {
        let changed = self.drafted.values().filter(|one| one.before != one.after);
        let changed = changed.map(|one| Changed {
            path: one.path.clone(),
            places: one.places,
            is_kept: one.after.is_some(),
        });
        changed.collect()
    }

    /// Returns the change that writes all of them.
    pub(super) fn into_change_set(self) -> Result<ChangeSet, Error> {
        let Names { old, new } = self.names;
        let mut changes = ChangeSet::new(format!("rename {old} to {new}"));
        // What goes makes room for what comes.
        let (come, go): (Vec<_>, Vec<_>) = self
            .drafted
            .into_values()
            .partition(|one| one.after.is_some());
        for one in go.into_iter().chain(come) {
            let change = match (one.before, one.after) {
                (Some(before), Some(after)) => FileChange::edit(one.path, before, after),
                (None, Some(after)) => FileChange::create(one.path, after),
                (Some(before), None) => FileChange::delete(one.path, before),
                (None, None) => continue,
            };
            changes.push(match one.like {
                Some(like) => change.like(like),
                None => change,
            })?;
        }
        Ok(changes)
    }

    async fn take(&mut self, step: &Step) -> Result<(), Error> {
        match step {
            Step::Texts {
                uri,
                version,
                edits,
            } => self.replace(uri, *version, edits).await,
            Step::Create { uri, exists } => {
                let path = self.path(uri)?;
                self.make(&path, Vec::new(), *exists, None).await
            }
            Step::Move { from, to, exists } => {
                let (from, to) = (self.path(from)?, self.path(to)?);
                let moved = self.draft(&from).await?;
                let places = moved.places;
                let Some(bytes) = moved.after.clone() else {
                    return Err(self.bad(format!("it moves `{from}`, which does not exist")));
                };
                self.make(&to, bytes, *exists, Some(from.clone())).await?;
                self.draft(&to).await?.places += places;
                self.draft(&from).await?.after = None;
                Ok(())
            }
            Step::Delete {
                uri,
                ignore_missing,
            } => {
                let path = self.path(uri)?;
                let drafted = self.draft(&path).await?;
                if drafted.after.take().is_none() && !ignore_missing {
                    return Err(self.bad(format!("it deletes `{path}`, which does not exist")));
                }
                Ok(())
            }
        }
    }

    async fn make(
        &mut self,
        path: &WorkspacePath,
        bytes: Vec<u8>,
        exists: IfExists,
        like: Option<WorkspacePath>,
    ) -> Result<(), Error> {
        let drafted = self.draft(path).await?;
        match (&drafted.after, exists) {
            (None, _) | (Some(_), IfExists::Overwrite) => {
                drafted.after = Some(bytes);
                drafted.like = like.filter(|_| drafted.before.is_none());
                Ok(())
            }
            (Some(_), IfExists::Keep) => Ok(()),
            (Some(_), IfExists::Fail) => {
                Err(self.bad(format!("it makes `{path}`, which exists already")))
            }
        }
    }

    async fn replace(
        &mut self,
        uri: &str,
        version: Option<i64>,
        edits: &[TextEdit],
    ) -> Result<(), Error> {
        let path = self.path(uri)?;
        let is_new = !self.drafted.contains_key(path.relative());
        let bytes = self.draft(&path).await?.after.clone();
        let Some(bytes) = bytes else {
            return Err(self.bad(format!("it edits `{path}`, which does not exist")));
        };
        let source = SourceText::parse(bytes)
            .map_err(|error| self.bad(format!("it edits `{path}`, which is no text: {error}")))?;
        if is_new {
            let reading = self.server.reading(path.absolute(), &source.text).await;
            let is_other = version.is_some() && reading.version.is_some_and(|v| version != Some(v));
            if !reading.is_current || is_other {
                return Err(Error::Stale {
                    file: path.relative().to_owned(),
                });
            }
        }
        let index = LineIndex::new(source.text);
        let ordered = in_order(&index, self.server.encoding(), edits);
        let replacements = ordered.map_err(|(one, other)| {
            self.bad(format!(
                "its edits in lines {one} and {other} of `{path}` overlap"
            ))
        })?;
        let mut places = 0;
        for one in &replacements {
            places += self.check(&path, &index, one)?;
        }
        let text = replace(index.text(), &replacements);
        let has_bom = source.has_bom;
        let drafted = self.draft(&path).await?;
        drafted.after = Some(SourceText { text, has_bom }.to_bytes());
        drafted.places += places;
        Ok(())
    }

    /// Returns how many names a replacement changes.
    fn check(
        &self,
        path: &WorkspacePath,
        index: &LineIndex<String>,
        one: &Replacement,
    ) -> Result<usize, Error> {
        let replaced = index.text().get(one.bytes.clone()).unwrap_or_default();
        if replaced == self.names.old {
            return Ok(1);
        }
        match renamed_words(replaced, &one.text, self.names) {
            Some(places) => Ok(places),
            None => {
                let line = index.line_at(one.bytes.start);
                let line = line.map_or(0, host::text::Line::one_based);
                let short: String = replaced.chars().take(60).collect();
                Err(self.bad(format!(
                    "in line {line} of `{path}` it replaces `{}` and not `{}`",
                    tiers::visible(&short),
                    self.names.old
                )))
            }
        }
    }

    /// Returns the file of a URI, if it may be written.
    fn path(&self, uri: &str) -> Result<WorkspacePath, Error> {
        let forbidden = |file: &str, why: &'static str| Error::Forbidden {
            file: file.to_owned(),
            why,
        };
        let Some(path) = uri::to_path(uri) else {
            return Err(forbidden(uri, "it is no file"));
        };
        let Location::Inside(inside) = self.workspace.locate(&path) else {
            return Err(forbidden(
                &path.to_string_lossy(),
                "it is outside the workspace",
            ));
        };
        // A link in the repository may lead out of it.
        let spelt = path.strip_prefix(self.workspace.root());
        if is_of_repository(Path::new(inside.relative())) || spelt.is_ok_and(is_of_repository) {
            return Err(forbidden(
                inside.relative(),
                "what is in `.git` belongs to the repository",
            ));
        }
        Ok(inside)
    }

    async fn draft(&mut self, path: &WorkspacePath) -> Result<&mut Drafted, Error> {
        let key = path.relative().to_owned();
        if !self.drafted.contains_key(&key) {
            let before = match self.files.metadata(path).await? {
                Some(_) => Some(self.files.read(path).await?),
                None => None,
            };
            let drafted = Drafted {
                path: path.clone(),
                after: before.clone(),
                before,
                like: None,
                places: 0,
            };
            self.drafted.insert(key.clone(), drafted);
        }
        let name = &self.names.old;
        self.drafted.get_mut(&key).ok_or_else(|| Error::BadEdit {
            server: self.server.id().to_owned(),
            old: name.clone(),
            why: format!("`{path}` was lost"),
        })
    }

    fn bad(&self, why: String) -> Error {
        Error::BadEdit {
            server: self.server.id().to_owned(),
            old: self.names.old.clone(),
            why,
        }
    }
}

fn is_of_repository(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
}

/// Returns how many words differ between two texts where each of them is the
/// old name in the one and the new name in the other; `None` where anything else
/// differs, or nothing does.
fn renamed_words(before: &str, after: &str, names: &Names) -> Option<usize> {
    let (mut one, mut other) = (parts(before), parts(after));
    let mut count = 0;
    loop {
        match (one.next(), other.next()) {
            (None, None) => return (count > 0).then_some(count),
            (Some(part), Some(same)) if part == same => {}
            (Some(old), Some(new)) if old == names.old && new == names.new => count += 1,
            _ => return None,
        }
    }
}

/// Cuts a text into words and what is between them.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_part =
        |character: char| character.is_alphanumeric() || character == '_' || character == '$';
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_word = is_part(rest.chars().next()?);
        let end = rest.find(|character| is_part(character) != is_word);
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfall_52_an_edit_of_a_whole_file_must_change_the_name_and_nothing_else() {
        let names = Names {
            old: "add".to_owned(),
            new: "plus".to_owned(),
        };
        let count = |before: &str, after: &str| renamed_words(before, after, &names);
        assert_eq!(
            count("add(1)\r\nx.add; adds", "plus(1)\r\nx.plus; adds"),
            Some(2)
        );
        assert_eq!(count("add(1)\r\n", "plus(1)\n"), None);
        assert_eq!(count("add(1)", "plus(2)"), None);
        assert_eq!(count("add(1)", "add(1)"), None);
        assert_eq!(count("adds", "pluss"), None);
        assert_eq!(count("add", "plus "), None);
    }

    #[test]
    fn pitfall_41_the_repository_is_no_place_to_write() {
        assert!(is_of_repository(Path::new("lib/.git/config")));
        assert!(is_of_repository(Path::new(".GIT/hooks/x")));
        assert!(!is_of_repository(Path::new("lib/.gitignore")));
    }
}
