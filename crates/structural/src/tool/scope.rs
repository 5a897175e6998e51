//! What search and rewrite have in common: their arguments, the files these
//! name, and the pattern compiled for the languages of those.

use std::collections::{BTreeMap, BTreeSet};

use host::{Workspace, WorkspacePath};
use tiers::ToolError;

use crate::error::Error;
use crate::grammar::GrammarSource;
use crate::languages::Language;
use crate::pattern::{Pattern, PatternError};
use crate::scan::{Job, jobs_for};
use crate::walk::{self, Candidate, Listing};

/// What is looked for, and where.
pub(super) struct Target {
    pub(super) pattern: String,
    pub(super) path: WorkspacePath,
    pub(super) language: Option<&'static Language>,
}

impl Target {
    pub(super) fn parse(
        pattern: String,
        path: Option<&str>,
        language: Option<&str>,
        workspace: &Workspace,
        grammars: &dyn GrammarSource,
    ) -> Result<Self, ToolError> {
        let given = path.filter(|path| !path.is_empty()).unwrap_or(".");
        let path = workspace.resolve(given)?;
        if !path.absolute().exists() {
            let is_link = workspace.root().join(given).is_symlink();
            return Err(Error::NoSuchPath {
                path: given.to_owned(),
                leads_to: is_link.then(|| path.relative().to_owned()),
            }
            .into());
        }
        if !path.absolute().is_file() && !path.absolute().is_dir() {
            return Err(Error::Special(given.to_owned()).into());
        }
        let language = match language.map(str::trim) {
            None | Some("") => None,
            Some(name) => {
                let offered = grammars.languages();
                Some(offered.by_name(name).ok_or_else(|| {
                    Error::UnknownLanguage {
                        name: name.to_owned(),
                        nearest: offered
                            .nearest(name)
                            .into_iter()
                            .map(str::to_owned)
                            .collect(),
                    }
                })?)
            }
        };
        Ok(Self {
            pattern,
            path,
            language,
        })
    }

    /// Whether one file is named, as against a folder.
    pub(super) fn is_file(&self) -> bool {
        self.path.absolute().is_file()
    }

    fn refused(&self, language: &'static str, error: PatternError) -> ToolError {
        Error::Pattern {
            pattern: self.pattern.clone(),
            language,
            error,
        }
        .into()
    }
}

/// The files of a call, and the pattern for their languages.
#[derive(Default)]
pub(super) struct Scope {
    /// Files that the pattern can be searched in.
    pub(super) listing: Listing,
    /// The pattern, by language id.
    pub(super) jobs: BTreeMap<&'static str, Job>,
    /// Why it cannot be searched in others.
    pub(super) refused: BTreeMap<&'static str, PatternError>,
    /// The language that the one file named has by its name, where another one
    /// was given.
    pub(super) known_as: Option<&'static str>,
}

impl Scope {
    /// Lists the files and compiles the pattern.
    pub(super) fn find(
        target: &Target,
        workspace: &Workspace,
        grammars: &dyn GrammarSource,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, ToolError> {
        let mut scope = Self::default();
        // A pattern for one language is checked before anything is listed.
        if let Some(language) = target.language {
            scope.compile(target, language.id, grammars, is_stopped);
            stopped(is_stopped)?;
            if let Some(error) = scope.refused.remove(language.id) {
                return Err(target.refused(language.id, error));
            }
        }
        let offered = grammars.languages();
        if let Some(language) = target.language
            && target.is_file()
            && !walk::belongs(&offered, target.path.absolute(), language)
        {
            let known = walk::recognise(&offered, target.path.absolute());
            scope.known_as = known.map(|language| language.id);
        }
        let wanted = walk::Wanted {
            offered: &offered,
            language: target.language,
        };
        scope.listing = walk::list(workspace, &target.path, wanted, is_stopped);
        if target.is_file() && scope.listing.files.is_empty() {
            return Err(Error::NoLanguage(target.path.relative().to_owned()).into());
        }
        if target.language.is_none() {
            scope.compile_all(target, grammars, is_stopped)?;
        }
        let Self { listing, jobs, .. } = &mut scope;
        listing
            .files
            .retain(|file| jobs_for(jobs, file).next().is_some());
        Ok(scope)
    }

    /// Compiles the pattern for the languages of all files, and keeps the
    /// refusals of those that leave a file unsearched.
    fn compile_all(
        &mut self,
        target: &Target,
        grammars: &dyn GrammarSource,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), ToolError> {
        let ids: BTreeSet<&'static str> = self
            .listing
            .files
            .iter()
            .flat_map(Candidate::languages)
            .collect();
        for id in ids {
            self.compile(target, id, grammars, is_stopped);
            stopped(is_stopped)?;
        }
        let Self {
            listing,
            jobs,
            refused,
            ..
        } = self;
        if jobs.is_empty()
            && let Some((id, error)) = most_frequent(listing, refused)
        {
            return Err(target.refused(id, error));
        }
        let is_unsearched = |file: &&Candidate| jobs_for(jobs, file).next().is_none();
        let unsearched: BTreeSet<&str> = listing
            .files
            .iter()
            .filter(is_unsearched)
            .map(|file| file.language.id)
            .collect();
        refused.retain(|id, _| unsearched.contains(id));
        Ok(())
    }

    fn compile(
        &mut self,
        target: &Target,
        id: &'static str,
        grammars: &dyn GrammarSource,
        is_stopped: &dyn Fn() -> bool,
    ) {
        let result = match grammars.grammar(id) {
            Ok(grammar) => Pattern::compile_until(&target.pattern, &grammar, is_stopped)
                .map(|pattern| (grammar, pattern)),
            Err(error) => Err(PatternError::NoGrammar(error)),
        };
        match result {
            Ok((grammar, pattern)) => {
                self.jobs.insert(id, Job::new(grammar, pattern));
            }
            Err(error) => {
                self.refused.insert(id, error);
            }
        }
    }
}

fn stopped(is_stopped: &dyn Fn() -> bool) -> Result<(), ToolError> {
    if is_stopped() {
        return Err(ToolError::cancelled("the search was stopped"));
    }
    Ok(())
}

/// Returns the refusal of the language that most files are in.
fn most_frequent(
    listing: &Listing,
    refused: &mut BTreeMap<&'static str, PatternError>,
) -> Option<(&'static str, PatternError)> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for file in &listing.files {
        *counts.entry(file.language.id).or_default() += 1;
    }
    let id = counts
        .into_iter()
        .max_by_key(|(id, n)| (*n, std::cmp::Reverse(*id)))?
        .0;
    refused.remove(id).map(|error| (id, error))
}
