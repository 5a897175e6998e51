//! One case: its cells, and what they must give.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::Workspace;
use host::process::Environment;
use kernel::{Eval, KernelLimits, Kernels, ProjectInterpreters};
use serde::Deserialize;
use serde_json::{Value, json};
use tiers::{Call, Content, Dispatch as _, Mode, Registry, Run, ToolError, ToolOutput, Trust};
use tokio_util::sync::CancellationToken;

/// Nothing takes that long unless the host hangs.
const LONG: Duration = Duration::from_secs(120);

/// A case with the name it is listed under.
pub(crate) struct Case {
    /// For example `M04::the_shell_gives_lines`.
    pub(crate) name: String,
    pub(crate) needs: Vec<String>,
    cells: Vec<Cell>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The row of the table of wanted answers.
    id: String,
    title: String,
    #[serde(default)]
    needs: Vec<String>,
    cell: Vec<Cell>,
}

/// A cell, and what it must give.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Cell {
    code: String,
    /// The host cancels it after this time.
    cancel_after_ms: Option<u64>,
    status: Option<Status>,
    value: Option<String>,
    value_contains: Vec<String>,
    value_lacks: Vec<String>,
    no_value: bool,
    output: Option<String>,
    output_contains: Vec<String>,
    output_lacks: Vec<String>,
    /// The type of the exception.
    error: Option<String>,
    /// Pieces of the traceback.
    error_contains: Vec<String>,
    notes_contain: Vec<String>,
    image_notes_contain: Vec<String>,
    images: Option<usize>,
    /// The most pixels that a side of an image has.
    largest_side: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Error,
    Interrupted,
    Died,
    /// It called `exit`: it ended well, and says so.
    Exit,
}

/// What a cell gave.
struct Answer {
    details: Value,
    images: Vec<Vec<u8>>,
    error: Option<ToolError>,
}

/// Reads the cases below `folder`, in order.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Case>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("`{}`: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|e| format!("`{}`: {e}", file.display()))?;
        let read: File = toml::from_str(&text).map_err(|e| format!("`{}`: {e}", file.display()))?;
        cases.extend(read.case.into_iter().map(|written| Case {
            name: format!("{}::{}", written.id, slug(&written.title)),
            needs: written.needs,
            cells: written.cell,
        }));
    }
    Ok(cases)
}

fn slug(title: &str) -> String {
    let letters: String = title
        .chars()
        .map(|c| {
            if c.is_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                ' '
            }
        })
        .collect();
    letters.split_whitespace().collect::<Vec<_>>().join("_")
}

impl Case {
    /// Runs the case in a workspace of its own.
    pub(crate) fn run(&self, python: &Path) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        runtime.block_on(async {
            let registry = open(folder.path(), python)?;
            for (number, cell) in (1..).zip(&self.cells) {
                let answer = cell.run(&registry).await?;
                cell.check(&answer).map_err(|why| {
                    format!(
                        "cell {number}: {why}\n--- code\n{}\n--- details\n{:#}\n--- error\n{}",
                        cell.code,
                        answer.details,
                        answer
                            .error
                            .as_ref()
                            .map(ToString::to_string)
                            .unwrap_or_default()
                    )
                })?;
            }
            Ok(())
        })
    }
}

fn open(folder: &Path, python: &Path) -> Result<Registry, String> {
    let workspace = Workspace::open(folder, Trust::Trusted).map_err(|e| e.to_string())?;
    let root = workspace.root().to_owned();
    let environment = Environment::usual(std::env::vars_os());
    #[cfg(not(feature = "embedded-python"))]
    let factory = ProjectInterpreters::new(workspace, environment).python(Some(python.to_owned()));
    #[cfg(feature = "embedded-python")]
    let factory = embedded(workspace, environment, python)?;
    let kernels = Kernels::new(Arc::new(factory), KernelLimits::default());
    let run = Run::builder(root, Trust::Trusted, Mode::Full)
        .build()
        .map_err(|e| e.to_string())?;
    Registry::builder(run)
        .typed(Eval::new(kernels))
        .build()
        .map_err(|e| e.to_string())
}

/// This program as the interpreter, in the virtual environment of `python`.
#[cfg(feature = "embedded-python")]
fn embedded(
    workspace: Workspace,
    environment: Environment,
    python: &Path,
) -> Result<ProjectInterpreters, String> {
    use kernel::{EmbeddedPython, EmbeddedUse};

    // The same for all cases; it stays.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embedded");
    let this = EmbeddedPython::link_in(&folder).map_err(|error| error.to_string())?;
    let prefix = python.ancestors().nth(2).unwrap_or(Path::new("/"));
    let environment = environment.with("VIRTUAL_ENV", prefix);
    // Where the loader finds the library, if it is not in the usual place.
    let loader = std::env::vars_os()
        .find(|(name, _)| name == "LD_LIBRARY_PATH" || name == "DYLD_LIBRARY_PATH");
    let environment = match loader {
        Some((name, value)) => environment.with(name, value),
        None => environment,
    };
    Ok(ProjectInterpreters::new(workspace, environment).embedded(this, EmbeddedUse::Always))
}

impl Cell {
    async fn run(&self, registry: &Registry) -> Result<Answer, String> {
        let token = CancellationToken::new();
        let arguments = json!({ "code": self.code, "description": "one cell of a case" });
        let call = Call::new("eval", arguments).with_token(token.clone());
        let cancel = async {
            match self.cancel_after_ms {
                Some(after) => tokio::time::sleep(Duration::from_millis(after)).await,
                None => std::future::pending().await,
            }
            token.cancel();
            std::future::pending::<Result<ToolOutput, ToolError>>().await
        };
        let running = async {
            tokio::select! {
                result = registry.dispatch_call(call) => result,
                never = cancel => never,
            }
        };
        let result = tokio::time::timeout(LONG, running).await;
        let result = result.map_err(|_| format!("no answer after {} s", LONG.as_secs()))?;
        Ok(Answer::of(result))
    }

    fn check(&self, answer: &Answer) -> Result<(), String> {
        self.check_status(answer)?;
        let place = answer.text("/interpreter/place");
        let is_embedded = place == Some("embedded, on the host");
        if is_embedded != cfg!(feature = "embedded-python") {
            return Err(format!("it ran {place:?}"));
        }
        let value = answer.text("/value");
        if let Some(wanted) = &self.value
            && value != Some(wanted)
        {
            return Err(format!("the value is {value:?}, not {wanted:?}"));
        }
        if self.no_value && value.is_some() {
            return Err(format!("there is a value: {value:?}"));
        }
        contains("value", value, &self.value_contains)?;
        lacks("value", value, &self.value_lacks)?;
        let output = answer.text("/output");
        if let Some(wanted) = &self.output
            && output.unwrap_or_default() != wanted
        {
            return Err(format!("the output is {output:?}, not {wanted:?}"));
        }
        contains("output", output, &self.output_contains)?;
        lacks("output", output, &self.output_lacks)?;
        contains(
            "traceback",
            answer.text("/error/traceback"),
            &self.error_contains,
        )?;
        let notes = answer.details.pointer("/notes").map(Value::to_string);
        contains("notes", notes.as_deref(), &self.notes_contain)?;
        contains("notes", notes.as_deref(), &self.image_notes_contain)?;
        self.check_images(answer)
    }

    fn check_status(&self, answer: &Answer) -> Result<(), String> {
        let kind = answer.text("/error/type");
        match &self.error {
            Some(wanted) if kind.is_none_or(|kind| kind != wanted) => {
                return Err(format!("the exception is {kind:?}, not `{wanted}`"));
            }
            Some(_) => {}
            None if self.status.is_none() && answer.error.is_some() => {
                return Err("it failed".to_owned());
            }
            None => {}
        }
        let status = answer.text("/status");
        let (wanted, note) = match self.status {
            None => return Ok(()),
            Some(Status::Ok) => ("ok", ""),
            Some(Status::Exit) => ("ok", "`exit`"),
            Some(Status::Error) => ("error", ""),
            Some(Status::Interrupted) => ("interrupted", ""),
            Some(Status::Died) => ("died", ""),
        };
        if status != Some(wanted) {
            return Err(format!("the status is {status:?}, not `{wanted}`"));
        }
        let notes = answer.details.pointer("/notes").map(Value::to_string);
        contains("notes", notes.as_deref(), &[note.to_owned()])
    }

    fn check_images(&self, answer: &Answer) -> Result<(), String> {
        let found = answer.images.len();
        if let Some(wanted) = self.images
            && wanted != found
        {
            return Err(format!("there are {found} images, not {wanted}"));
        }
        let listed = answer.details.pointer("/images").and_then(Value::as_array);
        for image in listed.into_iter().flatten() {
            let saved = image.pointer("/file").and_then(Value::as_str);
            if saved.is_none_or(|path| !Path::new(path).is_file()) {
                return Err(format!("an image is not saved: {image}"));
            }
        }
        let Some(most) = self.largest_side else {
            return Ok(());
        };
        let sides = listed.into_iter().flatten().flat_map(|image| {
            ["/width", "/height"].map(|side| image.pointer(side).and_then(Value::as_u64))
        });
        for side in sides {
            if side.is_none_or(|side| side > u64::from(most)) {
                return Err(format!(
                    "a side of an image has {side:?} pixels, not {most} at most"
                ));
            }
        }
        Ok(())
    }
}

impl Answer {
    fn of(result: Result<ToolOutput, ToolError>) -> Self {
        let (output, error) = match result {
            Ok(output) => (output, None),
            Err(mut error) => match error.partial.take() {
                Some(partial) => (*partial, Some(error)),
                None => (ToolOutput::text(""), Some(error)),
            },
        };
        let images = output.content.into_iter().filter_map(|part| match part {
            Content::Text(_) => None,
            Content::Image { data, .. } => Some(data),
        });
        Self {
            images: images.collect(),
            details: output.details,
            error,
        }
    }

    fn text(&self, pointer: &str) -> Option<&str> {
        self.details.pointer(pointer).and_then(Value::as_str)
    }
}

fn contains(what: &str, text: Option<&str>, pieces: &[String]) -> Result<(), String> {
    let text = text.unwrap_or_default();
    match pieces.iter().find(|piece| !text.contains(piece.as_str())) {
        Some(missing) => Err(format!("the {what} has no {missing:?}")),
        None => Ok(()),
    }
}

fn lacks(what: &str, text: Option<&str>, pieces: &[String]) -> Result<(), String> {
    let text = text.unwrap_or_default();
    match pieces.iter().find(|piece| text.contains(piece.as_str())) {
        Some(found) => Err(format!("the {what} has {found:?}")),
        None => Ok(()),
    }
}
