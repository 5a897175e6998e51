//! What the model is told after a write.

use std::fmt::Write as _;

use tiers::visible;

use super::details::{OnWriteDetails, OnWriteServer, WriteDiagnostic};
use super::state::{NewFaults, Told};
use crate::diagnostics::Verdict;
use crate::tool::details::{DiagnosticDetails as Fault, VerdictDetails};
use crate::tool::diagnose::short;

/// Faults that are shown of one file that was written.
const MAX_OF_FILE: usize = 20;
/// Other files that are shown, and faults of each.
const MAX_OTHERS: usize = 5;
const MAX_OF_OTHER: usize = 5;
/// Characters of a message that are shown.
const MAX_MESSAGE: usize = 300;
/// Faults that a late report shows: it has to fit into a notice.
const MAX_LATE: usize = 10;

/// How much is shown.
#[derive(Clone, Copy)]
struct Caps {
    of_file: usize,
    others: usize,
    of_other: usize,
    message: usize,
}

/// The faults of one file, of all servers.
struct File {
    path: String,
    is_written: bool,
    faults: Vec<(String, Fault)>,
}

/// Writes the block that follows the text of the tool that wrote; empty where
/// there is nothing to say.
pub(super) fn block(told: &[Told]) -> String {
    let caps = Caps {
        of_file: MAX_OF_FILE,
        others: MAX_OTHERS,
        of_other: MAX_OF_OTHER,
        message: MAX_MESSAGE,
    };
    write_all(told, caps)
}

/// Writes a report that came after the result of its write.
pub(super) fn late(told: &Told) -> String {
    let written = told.files.iter().filter(|file| file.is_written);
    let names = written.map(|file| format!("`{}`", visible(file.file.relative())));
    let mut names: Vec<String> = names.collect();
    if let Some(more @ 1..) = names.len().checked_sub(3) {
        names.truncate(3);
        names.push(format!("{more} more"));
    }
    let faulty = told.files.iter().filter(|file| !file.faults.is_empty());
    let caps = Caps {
        of_file: (MAX_LATE / faulty.count().max(1)).max(1),
        others: 2,
        of_other: 2,
        message: MAX_MESSAGE / 2,
    };
    let text = write_all(std::slice::from_ref(told), caps);
    let what = match names.is_empty() {
        true => "an earlier write".to_owned(),
        false => format!("your earlier write of {}", names.join(", ")),
    };
    format!("late report on {what}: {text}")
}

fn write_all(told: &[Told], caps: Caps) -> String {
    let files = merged(told);
    let mut out = String::new();
    let heard: Vec<&str> = told
        .iter()
        .filter(|one| is_heard(one))
        .map(|one| one.server.as_str())
        .collect();
    let by = heard.join(", ");
    let faults = files.iter().flat_map(|file| &file.faults);
    let count = |severity| {
        let of_it = faults
            .clone()
            .filter(|(_, fault)| fault.severity == severity);
        of_it.count()
    };
    let (errors, warnings) = (count("error"), count("warning"));
    match (errors, warnings) {
        (0, 0) if heard.is_empty() => {}
        (0, 0) => {
            let so_far = if is_incomplete(told) { " so far" } else { "" };
            let _ = write!(out, "no new errors or warnings{so_far} ({by})");
        }
        _ => {
            let _ = write!(out, "{} ({by})", counted(errors, warnings));
            if may_be_old(told) {
                out.push_str(", some of which may be older than this write");
            }
            out.push(':');
        }
    }
    let (written, others): (Vec<&File>, Vec<&File>) = files.iter().partition(|f| f.is_written);
    for file in written {
        list(file, caps.of_file, caps.message, &mut out);
    }
    let others: Vec<&File> = others
        .into_iter()
        .filter(|f| !f.faults.is_empty())
        .collect();
    if !others.is_empty() {
        out.push_str("\nin files that were not written:");
    }
    for file in others.iter().take(caps.others) {
        list(file, caps.of_other, caps.message, &mut out);
    }
    if let Some(more) = others.get(caps.others..).filter(|more| !more.is_empty()) {
        let count: usize = more.iter().map(|file| file.faults.len()).sum();
        let _ = write!(out, "\nand {count} more in {} other files", more.len());
    }
    for one in told {
        for line in remarks(one) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&line);
        }
    }
    out
}

fn list(file: &File, most: usize, longest: usize, out: &mut String) {
    let path = visible(&file.path);
    for (_, fault) in file.faults.iter().take(most) {
        let _ = write!(out, "\n{path}:{} {}", fault.line, fault.severity);
        if let Some(code) = &fault.code {
            let _ = write!(out, " [{}]", visible(code));
        }
        let _ = write!(out, " {}", short(&fault.message, longest));
    }
    if let Some(more @ 1..) = file.faults.len().checked_sub(most) {
        let _ = write!(
            out,
            "\nand {more} more in {path}: `lsp` with action `diagnostics` lists them"
        );
    }
}

/// Says what is not known, a line for each server.
fn remarks(told: &Told) -> Vec<String> {
    let mut lines = Vec::new();
    let id = &told.server;
    if let Some(why) = &told.failed {
        lines.push(format!("not checked by {id}: {}", visible(why)));
    }
    let mut whys: Vec<String> = Vec::new();
    for file in &told.files {
        let why = match &file.verdict {
            Verdict::Fresh => continue,
            // What it lacks every time is said once.
            _ if !file.is_written || file.is_said => continue,
            Verdict::Partial(missing) => format!("partial ({id}): {}", visible(missing)),
            Verdict::Unknown(why) => format!(
                "`{}` not checked by {id}: {}",
                visible(file.file.relative()),
                visible(why)
            ),
        };
        if !whys.contains(&why) {
            whys.push(why);
        }
    }
    let later = match told.is_last {
        true => "`lsp` with action `diagnostics` asks it",
        false => "its report comes with a later result",
    };
    match &told.pending {
        Some(doing) if doing.is_empty() => {
            lines.push(format!("{id} has not answered yet; {later}"));
        }
        Some(doing) => lines.push(format!("{id}: {}; {later}", visible(doing))),
        None => lines.extend(whys),
    }
    lines
}

/// Returns whether anything is known from a server.
fn is_heard(told: &Told) -> bool {
    let known = told.files.iter().filter(|file| file.is_written);
    let mut known = known.filter(|file| !matches!(file.verdict, Verdict::Unknown(_)));
    known.next().is_some()
}

fn is_incomplete(told: &[Told]) -> bool {
    told.iter().any(|one| {
        let mut files = one.files.iter().filter(|file| file.is_written);
        let lacks = files.any(|file| file.verdict != Verdict::Fresh);
        one.pending.is_some() || one.failed.is_some() || lacks
    })
}

fn may_be_old(told: &[Told]) -> bool {
    let mut files = told.iter().flat_map(|one| &one.files);
    files.any(|file| file.may_be_old && !file.faults.is_empty())
}

/// Joins what all servers found, by file, worst first; what two of them found
/// is there once.
fn merged(told: &[Told]) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    for one in told {
        for file in &one.files {
            add(&mut files, &one.server, file);
        }
    }
    for file in &mut files {
        file.faults
            .sort_by_key(|(_, fault)| (fault.severity != "error", fault.line, fault.column));
    }
    files
}

fn add(files: &mut Vec<File>, server: &str, new: &NewFaults) {
    let path = new.file.relative();
    let at = match files.iter().position(|file| file.path == path) {
        Some(at) => at,
        None => {
            files.push(File {
                path: path.to_owned(),
                is_written: new.is_written,
                faults: Vec::new(),
            });
            files.len() - 1
        }
    };
    let Some(file) = files.get_mut(at) else {
        return;
    };
    file.is_written |= new.is_written;
    // Those of one server may well be alike: only another one repeats them.
    let known = file.faults.len();
    for fault in &new.faults {
        let mut earlier = file.faults.iter().take(known);
        if !earlier.any(|(_, known)| is_same(known, fault)) {
            file.faults.push((server.to_owned(), fault.clone()));
        }
    }
}

/// Returns whether two servers mean the same fault.
fn is_same(one: &Fault, other: &Fault) -> bool {
    let is_place = one.line == other.line && one.severity == other.severity;
    let words = |fault: &Fault| short(&fault.message, MAX_MESSAGE).to_lowercase();
    is_place && (words(one) == words(other) || is_undefined(one, other))
}

/// Checkers of one language have their own codes for a name that is not there.
const UNDEFINED: &[&str] = &["reportUndefinedVariable", "unresolved-reference", "F821"];

fn is_undefined(one: &Fault, other: &Fault) -> bool {
    let is = |fault: &Fault| {
        fault
            .code
            .as_deref()
            .is_some_and(|c| UNDEFINED.contains(&c))
    };
    is(one) && is(other) && one.column == other.column
}

fn counted(errors: usize, warnings: usize) -> String {
    let one = |count, noun| match count {
        1 => format!("1 new {noun}"),
        count => format!("{count} new {noun}s"),
    };
    match (errors, warnings) {
        (errors, 0) => one(errors, "error"),
        (0, warnings) => one(warnings, "warning"),
        (errors, warnings) => format!("{} and {}", one(errors, "error"), one(warnings, "warning")),
    }
}

/// Returns the same for programs.
pub(super) fn details(told: &[Told]) -> OnWriteDetails {
    let servers = told.iter().map(|one| OnWriteServer {
        id: one.server.clone(),
        verdict: verdict(one),
        is_pending: one.pending.is_some(),
    });
    let files = merged(told);
    let diagnostics = files.into_iter().flat_map(|file| {
        let path = file.path;
        let is_written = file.is_written;
        file.faults
            .into_iter()
            .map(move |(server, diagnostic)| WriteDiagnostic {
                path: path.clone(),
                is_written,
                server,
                diagnostic,
            })
    });
    OnWriteDetails {
        version: 1,
        diagnostics: diagnostics.collect(),
        servers: servers.collect(),
        may_be_older: may_be_old(told),
    }
}

fn verdict(told: &Told) -> VerdictDetails {
    let missing = match (remarks(told), is_incomplete(std::slice::from_ref(told))) {
        (remarks, true) if remarks.is_empty() => "what was missing before".to_owned(),
        (remarks, _) => remarks.join("; "),
    };
    match (is_heard(told), missing.is_empty()) {
        (true, true) => VerdictDetails::Fresh,
        (true, false) => VerdictDetails::Partial { missing },
        // Files that are gone have no faults.
        (false, true) => VerdictDetails::Fresh,
        (false, false) => VerdictDetails::Unknown { why: missing },
    }
}
