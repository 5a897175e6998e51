//! What became of a rename.

use std::fmt::Write as _;
use std::path::PathBuf;

use tiers::visible;

use super::details::{LspRenameDetails, PlaceDetails, RenamedFileDetails};
use super::draft::{Changed, Names};
use super::faults::{Faults, NewFaults};
use crate::server::{InUse, Look};
use crate::tool::ask::Ask;
use crate::tool::details::VerdictDetails;
use crate::tool::locations;
use crate::tool::words::Words;
use crate::tree::lines_with_word;

/// Files, faults and places that are named in the text.
const MAX_FILES: usize = 20;
const MAX_FAULTS: usize = 20;
const MAX_PLACES: usize = 10;
/// Places that are named in the details.
const MAX_REMAINING: usize = 50;

/// A rename that was written.
pub(super) struct Report {
    pub(super) names: Names,
    pub(super) changed: Vec<Changed>,
    pub(super) notes: Vec<String>,
}

impl Report {
    /// Tells the server, looks for new faults and for what is left of the name.
    ///
    /// Nothing in it can make the rename a failure; a call that is cancelled
    /// only learns less.
    pub(super) async fn details(
        self,
        server: &InUse,
        faults: Faults,
        ask: &Ask<'_>,
    ) -> LspRenameDetails {
        let files = self.changed.iter().map(|one| RenamedFileDetails {
            path: one.path.relative().to_owned(),
            places: one.places,
            is_gone: !one.is_kept,
        });
        let mut details = LspRenameDetails {
            version: 1,
            places: self.changed.iter().map(|one| one.places).sum(),
            files: files.collect(),
            server: server.id().to_owned(),
            diagnostics: Vec::new(),
            verdict: VerdictDetails::Unknown {
                why: "the call was cancelled".to_owned(),
            },
            checked: 0,
            remaining: Vec::new(),
            remaining_total: 0,
            notes: self.notes,
            old_name: self.names.old.clone(),
            new_name: self.names.new.clone(),
        };
        let look = async {
            let told = server.catch_up(Look::Always).await;
            let left = left(&self.names.old, server, ask).await;
            let new = faults.after(&self.names, server, ask).await;
            (told, left, new)
        };
        let looked = tokio::select! {
            biased;
            () = ask.context.token().cancelled() => None,
            looked = look => Some(looked),
        };
        let Some((told, left, new)) = looked else {
            return details;
        };
        if let Err(error) = told {
            let note = format!("the server could not be told: {}", error.describe());
            details.notes.push(note);
        }
        details.remaining_total = left.len();
        details.remaining = left.into_iter().take(MAX_REMAINING).collect();
        add(&mut details, new);
        details
    }
}

fn add(details: &mut LspRenameDetails, new: NewFaults) {
    details.diagnostics = new.faults;
    details.verdict = new.verdict;
    details.checked = new.checked;
    if new.without_before > 0 && !details.diagnostics.is_empty() {
        let note = "some of these errors and warnings may be older than the rename";
        details.notes.push(note.to_owned());
    }
}

/// Returns where the name still stands in files of the server's languages.
async fn left(name: &str, server: &InUse, ask: &Ask<'_>) -> Vec<PlaceDetails> {
    let mut words = Words::start(name, server, ask).await;
    let files: Vec<PathBuf> = words.found().await.files.clone();
    let mut places = Vec::new();
    for file in &files {
        let path = locations::name_of(ask.workspace, file).0;
        let lines = lines_with_word(file, name).into_iter();
        places.extend(lines.map(|line| PlaceDetails {
            path: path.clone(),
            line,
        }));
    }
    places
}

/// Writes it for the model.
pub(super) fn text(details: &LspRenameDetails) -> String {
    let mut out = format!(
        "renamed `{}` to `{}`: {} in {}",
        details.old_name,
        details.new_name,
        counted(details.places, "place"),
        counted(details.files.len(), "file"),
    );
    for file in details.files.iter().take(MAX_FILES) {
        let path = visible(&file.path);
        let _ = match (file.is_gone, file.places) {
            (true, _) => write!(out, "\n{path}: removed"),
            (false, places) => write!(out, "\n{path}: {places}"),
        };
    }
    if let Some(more @ 1..) = details.files.len().checked_sub(MAX_FILES) {
        let _ = write!(out, "\nand {}", counted(more, "other file"));
    }
    faults(details, &mut out);
    if details.remaining_total > 0 {
        let named = details.remaining.iter().take(MAX_PLACES);
        let named = named.map(|place| format!("{}:{}", visible(&place.path), place.line));
        let mut named: Vec<String> = named.collect();
        if details.remaining_total > MAX_PLACES {
            named.push("…".to_owned());
        }
        let _ = write!(
            out,
            "\nthe word `{}` is still written in {} (comments, texts, other things of that name): {}",
            details.old_name,
            counted(details.remaining_total, "place"),
            named.join(", ")
        );
    }
    for note in &details.notes {
        let _ = write!(out, "\nnote: {note}");
    }
    out
}

fn faults(details: &LspRenameDetails, out: &mut String) {
    let looked = match details.files.len() {
        all if all == details.checked => String::new(),
        all => format!(
            " in {} of the {all} files, those looked at",
            details.checked
        ),
    };
    let _ = match &details.verdict {
        VerdictDetails::Unknown { why } => {
            write!(out, "\nit is not known whether there are new errors: {why}")
        }
        VerdictDetails::Fresh | VerdictDetails::Partial { .. } => match details.diagnostics.len() {
            0 => write!(
                out,
                "\nno new errors or warnings{looked} ({})",
                details.server
            ),
            count => write!(
                out,
                "\n{}{looked} ({}):",
                counted(count, "new error or warning"),
                details.server
            ),
        },
    };
    if let VerdictDetails::Partial { missing } = &details.verdict {
        let _ = write!(out, "\npartial: {missing}");
    }
    for one in details.diagnostics.iter().take(MAX_FAULTS) {
        let fault = &one.diagnostic;
        let _ = write!(
            out,
            "\n{}:{}:{} {} {}",
            visible(&one.path),
            fault.line,
            fault.column,
            fault.severity,
            visible(&fault.message.replace('\n', " "))
        );
    }
    if let Some(more @ 1..) = details.diagnostics.len().checked_sub(MAX_FAULTS) {
        let _ = write!(out, "\nand {more} more");
    }
}

fn counted(count: usize, noun: &str) -> String {
    match (count, noun) {
        (1, noun) => format!("1 {noun}"),
        (count, "new error or warning") => format!("{count} new errors or warnings"),
        (count, noun) => format!("{count} {noun}s"),
    }
}
