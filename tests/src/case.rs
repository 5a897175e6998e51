//! Cases as they stand in `cases/**/*.toml`, and what it takes to pass one.
//!
//! A file holds either one case with several calls (`title`, `[[call]]`) or,
//! under `cases/structural/`, many searches of one source (`[[case]]`). Those
//! under `cases/kernel/` are run by the kernel's own tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use tiers::{Content, ErrorKind, Mode, ToolError, ToolOutput};

use crate::surface::{Resource, Surface};

/// A case with the name it is listed under.
#[derive(Debug)]
pub struct Case {
    /// For example `structural::seed::dart-spec`.
    pub name: String,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Calls(Calls),
    Search(Search),
}

/// Several calls on one surface.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Calls {
    /// What the case shows.
    title: String,
    /// What is attached to the run.
    attach: Vec<Resource>,
    /// How the run was started.
    mode: Mode,
    /// Files of the workspace: path to text.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// The most lines and bytes of one result, where not the default.
    #[serde(default)]
    caps: Option<tiers::Caps>,
    /// Every tool the model sees, where the case is about that.
    #[serde(default)]
    tools: Option<Vec<String>>,
    #[serde(default)]
    call: Vec<Call>,
}

/// One call and what it must answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    input: Value,
    /// Cancels the call before it starts.
    #[serde(default)]
    cancel: bool,
    /// Files that somebody else writes before the call: path to text.
    #[serde(default)]
    write: BTreeMap<String, String>,
    output: Option<Output>,
    error: Option<Failure>,
    /// What files must hold after the call: path to text.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// What a result must look like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    /// Pieces of the text.
    #[serde(default)]
    contains: Pieces,
    /// What the text must not have.
    #[serde(default)]
    lacks: Pieces,
    /// JSON pointers into `details` and the values there.
    #[serde(default)]
    details: BTreeMap<String, Value>,
    /// The paths that the call says it changed, where the case is about that.
    #[serde(default)]
    touched: Option<Vec<String>>,
}

/// What an error must look like.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    kind: ErrorKind,
    #[serde(default)]
    contains: Pieces,
}

/// One text or several.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "OneOrMany")]
struct Pieces(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Pieces {
    fn from(pieces: OneOrMany) -> Self {
        match pieces {
            OneOrMany::One(piece) => Self(vec![piece]),
            OneOrMany::Many(pieces) => Self(pieces),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Searches {
    case: Vec<Search>,
}

/// One search of one source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    id: String,
    language: String,
    /// Of the file that is searched; the language's first one otherwise.
    extension: Option<String>,
    pattern: String,
    source: String,
    expect: Expected,
    /// What the case is about, for people.
    #[serde(default)]
    note: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expected {
    Matches(usize),
    Word(String),
}

/// Reads every case below `folder`, sorted by name.
///
/// # Errors
/// A file that cannot be read or is no case, and two cases of one name.
pub fn read_all(folder: &Path) -> Result<Vec<Case>> {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    let mut cases = Vec::new();
    for file in files {
        read(folder, &file, &mut cases)
            .with_context(|| format!("cannot read `{}`", file.display()))?;
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    for pair in cases.windows(2) {
        if let [a, b] = pair
            && a.name == b.name
        {
            bail!("two cases are called `{}`", a.name);
        }
    }
    Ok(cases)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            // Those of `eval` are run by its own crate, against each interpreter.
            if !path.ends_with("cases/kernel") {
                list(&path, files)?;
            }
        } else if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(folder: &Path, file: &Path, cases: &mut Vec<Case>) -> Result<()> {
    let text = fs::read_to_string(file)?;
    let stem = file.strip_prefix(folder)?.with_extension("");
    let stem: Vec<_> = stem.iter().map(|part| part.to_string_lossy()).collect();
    let stem = stem.join("::");
    let table: toml::Table = toml::from_str(&text)?;
    if table.contains_key("case") {
        for search in toml::from_str::<Searches>(&text)?.case {
            if let Expected::Word(word) = &search.expect
                && word != "error"
            {
                bail!(
                    "case `{}` expects `{word}`: neither a number nor `error`",
                    search.id
                );
            }
            cases.push(Case {
                name: format!("{stem}::{}", search.id),
                body: Body::Search(search),
            });
        }
    } else {
        let body: Calls = toml::from_str(&text)?;
        if body.call.is_empty() && body.tools.is_none() {
            bail!("the case calls nothing and says nothing about the tools");
        }
        cases.push(Case {
            name: stem,
            body: Body::Calls(body),
        });
    }
    Ok(())
}

impl Case {
    /// Runs the case in a workspace of its own.
    ///
    /// # Errors
    /// What was wanted, what came instead, and the whole answer.
    pub fn run(&self) -> Result<()> {
        match &self.body {
            Body::Calls(calls) => calls.run().with_context(|| calls.title.clone()),
            Body::Search(search) => search.run(),
        }
    }
}

impl Calls {
    fn run(&self) -> Result<()> {
        let workspace = tempfile::tempdir()?;
        write_files(workspace.path(), &self.files)?;
        let surface = Surface::open(workspace.path(), self.mode, &self.attach, self.caps)?;
        if let Some(wanted) = &self.tools {
            let seen = surface.tools();
            if seen != *wanted {
                bail!("the model sees {seen:?}, not {wanted:?}");
            }
        }
        let mut edits = Edits::default();
        for (number, call) in (1..).zip(&self.call) {
            write_files(workspace.path(), &call.write)?;
            let input = edits.fill_in(&call.input);
            let answer = surface.call(&call.tool, input, call.cancel);
            edits.note(&answer);
            call.check(&answer, &edits)
                .and_then(|()| call.check_files(workspace.path()))
                .with_context(|| format!("call {number} (`{}`)", call.tool))?;
        }
        Ok(())
    }
}

fn write_files(folder: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        fs::write(path, text)?;
    }
    Ok(())
}

/// The ids of the edits that a case staged.
///
/// They differ from run to run, so a case writes `<edit 1>` for the first one.
#[derive(Debug, Default)]
struct Edits(Vec<String>);

impl Edits {
    fn note(&mut self, answer: &Result<ToolOutput, ToolError>) {
        let id = answer.as_ref().ok().and_then(|o| o.details.get("edit_id"));
        if let Some(id) = id.and_then(Value::as_str)
            && !self.0.iter().any(|known| known == id)
        {
            self.0.push(id.to_owned());
        }
    }

    fn replace(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (number, id) in (1..).zip(&self.0) {
            text = text.replace(&format!("<edit {number}>"), id);
        }
        text
    }

    /// Puts ids into the arguments of a call.
    fn fill_in(&self, input: &Value) -> Value {
        let mut input = input.clone();
        for value in input
            .as_object_mut()
            .into_iter()
            .flat_map(|o| o.values_mut())
        {
            if let Value::String(text) = value {
                *text = self.replace(text);
            }
        }
        input
    }
}

impl Call {
    fn check(&self, answer: &Result<ToolOutput, ToolError>, edits: &Edits) -> Result<()> {
        match (answer, &self.output, &self.error) {
            (Ok(output), Some(wanted), None) => wanted.check(output, edits),
            (Err(error), None, Some(wanted)) => wanted.check(error, edits),
            (Ok(output), None, Some(_)) => {
                bail!("an error was wanted, this came:\n{}", text_of(output))
            }
            (Err(error), Some(_), None) => bail!("a result was wanted, this came: {error}"),
            (_, Some(_), Some(_)) | (_, None, None) => {
                bail!("the case must want either `output` or `error`")
            }
        }
    }
}

impl Call {
    fn check_files(&self, folder: &Path) -> Result<()> {
        for (path, wanted) in &self.files {
            let found = fs::read_to_string(folder.join(path))
                .with_context(|| format!("cannot read `{path}`"))?;
            if found != *wanted {
                bail!("`{path}` is not as it should be, but:\n{found}");
            }
        }
        Ok(())
    }
}

impl Output {
    fn check(&self, output: &ToolOutput, edits: &Edits) -> Result<()> {
        let text = text_of(output);
        for piece in self.contains.0.iter().map(|piece| edits.replace(piece)) {
            if !text.contains(&piece) {
                bail!("the text has no `{piece}`:\n{text}");
            }
        }
        for piece in &self.lacks.0 {
            if text.contains(piece) {
                bail!("the text has `{piece}`:\n{text}");
            }
        }
        for (pointer, wanted) in &self.details {
            let found = output.details.pointer(pointer);
            if found != Some(wanted) {
                bail!(
                    "details{pointer} is {found:?}, not {wanted}:\n{:#}",
                    output.details
                );
            }
        }
        match &self.touched {
            Some(wanted) if *wanted != output.touched => {
                bail!("it changed {:?}, not {wanted:?}", output.touched)
            }
            Some(_) | None => Ok(()),
        }
    }
}

impl Failure {
    fn check(&self, error: &ToolError, edits: &Edits) -> Result<()> {
        if error.kind != self.kind {
            bail!(
                "the error is of kind {:?}, not {:?}: {error}",
                error.kind,
                self.kind
            );
        }
        let text = error.to_string();
        for piece in self.contains.0.iter().map(|piece| edits.replace(piece)) {
            if !text.contains(&piece) {
                bail!("the error has no `{piece}`: {text}");
            }
        }
        Ok(())
    }
}

impl Search {
    fn run(&self) -> Result<()> {
        let workspace = tempfile::tempdir()?;
        fs::write(workspace.path().join(self.file_name()?), &self.source)?;
        let surface = Surface::open(workspace.path(), Mode::Plan, &[Resource::Grammars], None)?;
        let answer = surface.call(
            "ast_grep",
            json!({
                "pattern": self.pattern,
                "language": self.language,
                "max_results": 1000,
            }),
            false,
        );
        match (&self.expect, answer) {
            (Expected::Matches(wanted), Ok(output)) => {
                let matches = output
                    .details
                    .get("matches")
                    .and_then(Value::as_array)
                    .context("`details` has no `matches`")?;
                if matches.len() != *wanted {
                    bail!(
                        "{}{} matches, not {wanted}:\n{}",
                        self.head(),
                        matches.len(),
                        text_of(&output)
                    );
                }
                Ok(())
            }
            (Expected::Word(_), Err(error)) if error.kind == ErrorKind::InvalidInput => Ok(()),
            (Expected::Word(_), Ok(output)) => {
                bail!(
                    "{}found something instead of refusing:\n{}",
                    self.head(),
                    text_of(&output)
                )
            }
            (_, Err(error)) => bail!("{}{:?}: {error}", self.head(), error.kind),
        }
    }

    fn head(&self) -> String {
        let mut head = format!("`{}` ({})", self.pattern, self.language);
        if !self.note.is_empty() {
            let _ = write!(head, " [{}]", self.note);
        }
        head.push_str(": ");
        head
    }

    /// Returns a file name by which the language is recognised.
    fn file_name(&self) -> Result<String> {
        if let Some(extension) = &self.extension {
            return Ok(format!("input.{extension}"));
        }
        let language = structural::languages::compiled()
            .iter()
            .find(|l| l.id == self.language || l.aliases.contains(&self.language.as_str()))
            .with_context(|| format!("no language `{}`", self.language))?;
        match (language.extensions.first(), language.basenames.first()) {
            (Some(extension), _) => Ok(format!("input.{extension}")),
            (None, Some(name)) => Ok((*name).to_owned()),
            (None, None) => bail!("no file name stands for `{}`", self.language),
        }
    }
}

/// Returns the texts of a result.
#[must_use]
pub fn text_of(output: &ToolOutput) -> String {
    let texts: Vec<&str> = output
        .content
        .iter()
        .map(|content| match content {
            Content::Text(text) => text.as_str(),
            Content::Image { media_type, .. } => media_type.as_str(),
        })
        .collect();
    texts.join("\n")
}
