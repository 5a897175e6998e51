//! A well-behaved language server for a language of three kinds of lines, built
//! on a library that others wrote: an implementation of the other side that owes
//! nothing to our client.
//!
//! ```text
//! # A thing with an area.
//! type shape
//! type square of shape
//! let side: square
//! side shape
//! ```
//!
//! A line of `#` documents the declaration after it, `of` makes a type an
//! implementation of another, and what else stands there uses names. A name
//! that nothing declares is an error.

use std::collections::BTreeMap;
use std::ops::Range as Bytes;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::*;
use tower_lsp::{LanguageServer, LspService, Server};

const EXTENSION: &str = "sample";
const WORDS: [&str; 3] = ["type", "let", "of"];

/// Serves standard input and output until the client says `exit`.
///
/// # Errors
/// The runtime cannot be started.
pub fn run_sample() -> std::io::Result<()> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().build()?.block_on(async {
        let (service, socket) = LspService::new(|_| Sample::default());
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        Server::new(input, output, socket).serve(service).await;
    });
    Ok(())
}

#[derive(Default)]
struct Sample {
    files: Mutex<BTreeMap<Url, File>>,
}

#[derive(Default)]
struct File {
    text: String,
    is_open: bool,
}

/// A name somewhere.
#[derive(Clone)]
struct Word {
    uri: Url,
    name: String,
    range: Range,
    role: Role,
}

#[derive(Clone, PartialEq)]
enum Role {
    /// Declares a type, an implementation of another perhaps.
    Type {
        of: Option<String>,
    },
    /// Declares a value of a type.
    Value {
        of: String,
    },
    Use,
}

impl Word {
    fn is_declaration(&self) -> bool {
        self.role != Role::Use
    }

    fn location(&self) -> Location {
        Location::new(self.uri.clone(), self.range)
    }
}

impl Sample {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Url, File>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is on the disk, unless the client has it open.
    fn read(&self, uri: &Url) {
        let path = uri.to_file_path().unwrap_or_default();
        if path.extension().is_none_or(|found| found != EXTENSION) {
            return;
        }
        let mut files = self.lock();
        if files.get(uri).is_some_and(|file| file.is_open) {
            return;
        }
        match std::fs::read_to_string(path) {
            Ok(text) => drop(files.insert(
                uri.clone(),
                File {
                    text,
                    is_open: false,
                },
            )),
            Err(_) => drop(files.remove(uri)),
        }
    }

    fn read_folder(&self, folder: PathBuf) {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        for path in entries
            .filter_map(std::result::Result::ok)
            .map(|entry| entry.path())
        {
            if path.is_dir() {
                self.read_folder(path);
            } else if let Ok(uri) = Url::from_file_path(path) {
                self.read(&uri);
            }
        }
    }

    fn words(&self) -> Vec<Word> {
        let files = self.lock();
        files
            .iter()
            .flat_map(|(uri, file)| words(uri, &file.text))
            .collect()
    }

    fn word_at(&self, at: &TextDocumentPositionParams) -> Result<Word> {
        let holds = |word: &Word| {
            let (start, end) = (word.range.start, word.range.end);
            word.uri == at.text_document.uri && start <= at.position && at.position < end
        };
        let word = self.words().into_iter().find(holds);
        word.ok_or_else(|| Error::invalid_params("there is no name at that place"))
    }

    fn declaration(&self, name: &str) -> Option<Word> {
        let mut words = self.words().into_iter();
        words.find(|word| word.name == name && word.is_declaration())
    }

    /// Returns every word of that name.
    fn named(&self, name: &str) -> Vec<Word> {
        let words = self.words().into_iter();
        words.filter(|word| word.name == name).collect()
    }

    fn faults(&self, uri: &Url) -> Vec<Diagnostic> {
        let words = self.words();
        let declared = |name: &str| {
            words
                .iter()
                .any(|word| word.name == name && word.is_declaration())
        };
        let unknown = words
            .iter()
            .filter(|word| word.uri == *uri && !declared(&word.name));
        unknown
            .map(|word| Diagnostic {
                range: word.range,
                severity: Some(DiagnosticSeverity::ERROR),
                code: Some(NumberOrString::String("undeclared".to_owned())),
                source: Some("sample".to_owned()),
                message: format!("`{}` is not declared", word.name),
                ..Diagnostic::default()
            })
            .collect()
    }
}

/// Returns the names in a text.
fn words(uri: &Url, text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    for (number, line) in (0..).zip(text.lines()) {
        if line.starts_with('#') {
            continue;
        }
        let names: Vec<(Bytes<usize>, &str)> = names(line).collect();
        let name = |at: usize| names.get(at).map(|(_, name)| (*name).to_owned());
        let first = names.first().map(|(_, name)| *name);
        let declared = match first {
            Some("type") => Some(Role::Type { of: name(3) }),
            Some("let") => Some(Role::Value {
                of: name(2).unwrap_or_default(),
            }),
            _ => None,
        };
        for (at, (bytes, name)) in names.iter().enumerate() {
            if WORDS.contains(name) {
                continue;
            }
            let role = match &declared {
                Some(role) if at == 1 => role.clone(),
                _ => Role::Use,
            };
            found.push(Word {
                uri: uri.clone(),
                name: (*name).to_owned(),
                range: Range::new(
                    position(number, line, bytes.start),
                    position(number, line, bytes.end),
                ),
                role,
            });
        }
    }
    found
}

fn names(line: &str) -> impl Iterator<Item = (Bytes<usize>, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let start = rest + line.get(rest..)?.find(is_part)?;
        let after = line.get(start..)?;
        let end = start + after.find(|c| !is_part(c)).unwrap_or(after.len());
        rest = end;
        Some((start..end, line.get(start..end)?))
    })
}

/// Columns count UTF-16 units, as nothing else was agreed on.
fn position(line: u32, text: &str, byte: usize) -> Position {
    let before = text.get(..byte).unwrap_or_default();
    let units = u32::try_from(before.encode_utf16().count());
    Position::new(line, units.unwrap_or(u32::MAX))
}

#[tower_lsp::async_trait]
impl LanguageServer for Sample {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let folders = params.workspace_folders.unwrap_or_default();
        for folder in folders {
            self.read_folder(folder.uri.to_file_path().unwrap_or_default());
        }
        let sync = TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            ..TextDocumentSyncOptions::default()
        };
        let diagnostics = DiagnosticOptions {
            inter_file_dependencies: true,
            ..DiagnosticOptions::default()
        };
        Ok(InitializeResult {
            capabilities: ServerCapabilities {
                text_document_sync: Some(sync.into()),
                definition_provider: Some(OneOf::Left(true)),
                type_definition_provider: Some(true.into()),
                implementation_provider: Some(true.into()),
                references_provider: Some(OneOf::Left(true)),
                hover_provider: Some(true.into()),
                document_symbol_provider: Some(OneOf::Left(true)),
                workspace_symbol_provider: Some(OneOf::Left(true)),
                code_action_provider: Some(true.into()),
                rename_provider: Some(OneOf::Left(true)),
                diagnostic_provider: Some(DiagnosticServerCapabilities::Options(diagnostics)),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo {
                name: "sample".to_owned(),
                version: Some("1".to_owned()),
            }),
        })
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let DidOpenTextDocumentParams { text_document } = params;
        let file = File {
            text: text_document.text,
            is_open: true,
        };
        self.lock().insert(text_document.uri, file);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let text = params.content_changes.into_iter().next_back();
        if let (Some(file), Some(change)) = (self.lock().get_mut(&params.text_document.uri), text) {
            file.text = change.text;
        }
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        if let Some(file) = self.lock().get_mut(&uri) {
            file.is_open = false;
        }
        self.read(&uri);
    }

    async fn did_change_watched_files(&self, params: DidChangeWatchedFilesParams) {
        for change in params.changes {
            self.read(&change.uri);
        }
    }

    async fn goto_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        let word = self.word_at(&params.text_document_position_params)?;
        let declaration = self.declaration(&word.name);
        Ok(declaration.map(|word| GotoDefinitionResponse::Scalar(word.location())))
    }

    async fn goto_type_definition(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        let word = self.word_at(&params.text_document_position_params)?;
        let declaration = match self.declaration(&word.name).map(|word| word.role) {
            Some(Role::Value { of }) => self.declaration(&of),
            Some(Role::Type { .. } | Role::Use) | None => None,
        };
        let locations = declaration.iter().map(Word::location).collect();
        Ok(Some(GotoDefinitionResponse::Array(locations)))
    }

    async fn goto_implementation(
        &self,
        params: GotoDefinitionParams,
    ) -> Result<Option<GotoDefinitionResponse>> {
        let word = self.word_at(&params.text_document_position_params)?;
        let wanted = Role::Type {
            of: Some(word.name),
        };
        let words = self.words().into_iter().filter(|word| word.role == wanted);
        let links = words.map(|word| LocationLink {
            origin_selection_range: None,
            target_uri: word.uri,
            target_range: word.range,
            target_selection_range: word.range,
        });
        Ok(Some(GotoDefinitionResponse::Link(links.collect())))
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        let word = self.word_at(&params.text_document_position)?;
        let words = self.named(&word.name).into_iter();
        let words =
            words.filter(|word| params.context.include_declaration || !word.is_declaration());
        Ok(Some(words.map(|word| word.location()).collect()))
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let word = self.word_at(&params.text_document_position_params)?;
        let Some(declaration) = self.declaration(&word.name) else {
            return Ok(None);
        };
        let files = self.lock();
        let text = files.get(&declaration.uri).map_or("", |file| &file.text);
        let at = declaration.range.start.line as usize;
        let line = text.lines().nth(at).unwrap_or_default();
        let above = at.checked_sub(1).and_then(|above| text.lines().nth(above));
        let documentation = above.and_then(|above| above.strip_prefix("# "));
        let value = format!(
            "```sample\n{line}\n```\n{}",
            documentation.unwrap_or_default()
        );
        Ok(Some(Hover {
            contents: HoverContents::Markup(MarkupContent {
                kind: MarkupKind::Markdown,
                value,
            }),
            range: Some(word.range),
        }))
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        let words = self.words().into_iter();
        let words = words.filter(|word| word.uri == params.text_document.uri);
        let symbols = words.filter(Word::is_declaration).map(|word| symbol(&word));
        Ok(Some(DocumentSymbolResponse::Flat(symbols.collect())))
    }

    async fn symbol(
        &self,
        params: WorkspaceSymbolParams,
    ) -> Result<Option<Vec<SymbolInformation>>> {
        let words = self.words().into_iter().filter(Word::is_declaration);
        let words = words.filter(|word| word.name.contains(&params.query));
        Ok(Some(words.map(|word| symbol(&word)).collect()))
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let uri = params.text_document.uri;
        let mut actions = Vec::new();
        for fault in params.context.diagnostics {
            let name = fault.message.split('`').nth(1).unwrap_or_default();
            let start = Range::new(Position::new(0, 0), Position::new(0, 0));
            let edit = TextEdit::new(start, format!("type {name}\n"));
            let changes = [(uri.clone(), vec![edit])].into();
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: format!("declare `{name}`"),
                kind: Some(CodeActionKind::QUICKFIX),
                is_preferred: Some(true),
                edit: Some(WorkspaceEdit::new(changes)),
                diagnostics: Some(vec![fault]),
                ..CodeAction::default()
            }));
        }
        Ok(Some(actions))
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        let items = self.faults(&params.text_document.uri);
        let report = RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport {
                result_id: None,
                items,
            },
        };
        Ok(DocumentDiagnosticReport::Full(report).into())
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        let word = self.word_at(&params.text_document_position)?;
        let mut changes = std::collections::HashMap::<Url, Vec<TextEdit>>::new();
        for word in self.named(&word.name) {
            let edit = TextEdit::new(word.range, params.new_name.clone());
            changes.entry(word.uri).or_default().push(edit);
        }
        Ok(Some(WorkspaceEdit::new(changes)))
    }
}

#[expect(deprecated, reason = "the type has a member that nobody sets")]
fn symbol(word: &Word) -> SymbolInformation {
    SymbolInformation {
        name: word.name.clone(),
        kind: match word.role {
            Role::Type { .. } => SymbolKind::CLASS,
            Role::Value { .. } | Role::Use => SymbolKind::VARIABLE,
        },
        tags: None,
        deprecated: None,
        location: word.location(),
        container_name: None,
    }
}
