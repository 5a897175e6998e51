//! `diagnostics` of one file.

use gen_lsp_types::{Position, Range};
use host::WorkspacePath;
use serde_json::Value;
use tiers::visible;

use super::LspAction;
use super::ask::{Ask, left_out, none_usable};
use super::details::{Answer, DiagnosticDetails, LspDetails, VerdictDetails};
use crate::diagnostics::{Report, Verdict, of_file};
use crate::encoding::PositionEncoding;
use crate::error::Error;
use crate::on_write::note_told;
use crate::plan::{Candidate, asked_for_faults};

/// Diagnostics that are shown.
const MAX_SHOWN: usize = 100;
/// Characters of a message that are shown.
const MAX_MESSAGE: usize = 300;

pub(super) async fn answer(file: &WorkspacePath, ask: &Ask<'_>) -> Result<Answer, Error> {
    let candidates = ask.servers.candidates(file);
    let asked: Vec<&Candidate> = asked_for_faults(&candidates).collect();
    if asked.is_empty() {
        return Err(none_usable(file.relative(), &candidates, ask.servers));
    }
    let mut details = LspDetails::new(LspAction::Diagnostics);
    details.notes.extend(candidates.iter().filter_map(left_out));
    let mut verdicts = Vec::new();
    let mut failed = None;
    for candidate in asked {
        let reported = async {
            let server = ask.lease(candidate).await?;
            let report = of_file(&server, file, ask.ready_deadline()).await?;
            Ok((server, report))
        };
        match reported.await {
            Ok((server, report)) => {
                let id = candidate.id();
                add(&mut details, &report, server.encoding());
                if details.diagnostics.len() <= MAX_SHOWN {
                    note_told(ask.context.run(), &server, file, &report);
                }
                verdicts.push((id, report.verdict));
            }
            Err(error) => {
                verdicts.push((candidate.id(), Verdict::Unknown(Error::describe(&error))));
                failed = Some(error);
            }
        }
    }
    if let (true, Some(error)) = (verdicts.len() == 1, failed) {
        return Err(error);
    }
    let answering = verdicts
        .iter()
        .filter(|(_, v)| !matches!(v, Verdict::Unknown(_)));
    details.answered_by = answering.map(|(id, _)| (*id).to_owned()).collect();
    let verdict = joined(&verdicts);
    let text = text(file, &mut details, &verdict);
    details.verdict = Some(verdict);
    Ok(details.into_answer(text))
}

/// Makes one verdict of those of several servers.
fn joined(verdicts: &[(&str, Verdict)]) -> VerdictDetails {
    let mut missing = Vec::new();
    let mut is_known = false;
    for (id, verdict) in verdicts {
        match verdict {
            Verdict::Fresh => is_known = true,
            Verdict::Partial(what) => {
                is_known = true;
                missing.push(format!("{id}: {what}"));
            }
            Verdict::Unknown(why) => missing.push(format!("{id}: {why}")),
        }
    }
    let missing_text = missing.join("; ");
    match (is_known, missing.is_empty()) {
        (true, true) => VerdictDetails::Fresh,
        (true, false) => VerdictDetails::Partial {
            missing: missing_text,
        },
        (false, _) => VerdictDetails::Unknown { why: missing_text },
    }
}

fn add(details: &mut LspDetails, report: &Report, encoding: PositionEncoding) {
    for item in &report.items {
        let one = read(item, report, encoding);
        if !details.diagnostics.contains(&one) {
            details.diagnostics.push(one);
        }
    }
}

/// Reads one; one that cannot be read becomes a text, and the others stay.
pub(crate) fn read(item: &Value, report: &Report, encoding: PositionEncoding) -> DiagnosticDetails {
    let message = match item.get("message") {
        Some(Value::String(text)) => text.clone(),
        Some(markup) if markup.get("value").is_some() => {
            let value = markup.get("value").and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        }
        _ => item.to_string(),
    };
    let severity = match item.get("severity").and_then(Value::as_u64) {
        Some(2) => "warning",
        Some(3) => "information",
        Some(4) => "hint",
        // Where it is left out the client decides.
        _ => "error",
    };
    let code = match item.get("code") {
        Some(Value::String(code)) => Some(code.clone()),
        Some(Value::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    let range = range(item);
    let (line, column) = range.map_or((0, 0), |range| {
        encoding.place(&report.document.text, range.start)
    });
    let source = item.get("source").and_then(Value::as_str);
    DiagnosticDetails {
        severity: severity.to_owned(),
        line,
        column,
        code,
        source: source.map(str::to_owned),
        // Some servers write no-break spaces.
        message: message.replace('\u{a0}', " "),
    }
}

pub(super) fn range(item: &Value) -> Option<Range> {
    let range = item.get("range")?.clone();
    match serde_json::from_value(range) {
        Ok(range) => Some(range),
        // A line that is odd is better than none.
        Err(_) => {
            let line = item.get("range")?.get("start")?.get("line")?.as_u64()?;
            let at = Position {
                line: u32::try_from(line).ok()?,
                character: 0,
            };
            Some(Range { start: at, end: at })
        }
    }
}

fn rank(severity: &str) -> u8 {
    match severity {
        "error" => 0,
        "warning" => 1,
        "information" => 2,
        _ => 3,
    }
}

fn text(file: &WorkspacePath, details: &mut LspDetails, verdict: &VerdictDetails) -> String {
    details
        .diagnostics
        .sort_by_key(|one| (rank(&one.severity), one.line, one.column));
    let count = |severity: &str| {
        let of_it = details.diagnostics.iter();
        of_it.filter(|one| one.severity == severity).count()
    };
    let (errors, warnings) = (count("error"), count("warning"));
    let minor = details.diagnostics.len() - errors - warnings;
    details.diagnostics.retain(|one| rank(&one.severity) < 2);
    details.total = details.diagnostics.len();
    let by = details.answered_by.join(", ");
    let mut text = match verdict {
        VerdictDetails::Unknown { why } => {
            return format!("unknown: it is not known whether `{file}` has errors: {why}");
        }
        VerdictDetails::Partial { missing } => format!("partial: {missing}\n"),
        VerdictDetails::Fresh => String::new(),
    };
    text.push_str(&match details.total {
        0 => format!("no errors or warnings in `{file}` ({by})"),
        _ => format!(
            "{} and {} in `{file}` ({by}):",
            counted(errors, "error"),
            counted(warnings, "warning")
        ),
    });
    for one in details.diagnostics.iter().take(MAX_SHOWN) {
        text.push('\n');
        text.push_str(&line(one));
    }
    if details.total > MAX_SHOWN {
        text.push_str(&format!(
            "\n{MAX_SHOWN} of {} shown; mend these first, then ask again",
            details.total
        ));
    }
    if minor > 0 {
        details
            .notes
            .push(format!("{} left out", counted(minor, "hint")));
    }
    details.diagnostics.truncate(MAX_SHOWN);
    text
}

fn line(one: &DiagnosticDetails) -> String {
    let mut line = if one.line == 0 {
        one.severity.clone()
    } else {
        format!("{}:{} {}", one.line, one.column, one.severity)
    };
    let by = one.source.iter().chain(&one.code);
    let by: Vec<&str> = by.map(String::as_str).collect();
    if !by.is_empty() {
        line.push_str(&format!(" [{}]", by.join(" ")));
    }
    line.push_str(&format!(" {}", short(&one.message, MAX_MESSAGE)));
    line
}

/// Writes a message in one line, with `longest` characters at the most.
pub(crate) fn short(message: &str, longest: usize) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let message = words.join(" ");
    let message = match message.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message,
    };
    visible(&message).into_owned()
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
