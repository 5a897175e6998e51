//! Finds what a pattern almost matches: nodes that have one child too many.

use crate::matcher::{DEFAULT_BUDGET, Matcher};
use crate::pattern::Pattern;
use crate::scan::{FileOutcome, Job, Scan, read};
use crate::search::parse_whole;

/// Near misses shown at most.
const MAX_SHOWN: usize = 3;
/// Files looked at, at most.
const MAX_FILES: usize = 400;
/// Bytes parsed, at most.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Longest text that is put into the pattern proposed.
const MAX_INSERTED_BYTES: usize = 80;

/// A node that would match but for one child.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct NearMiss {
    /// File, relative to the workspace.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// The text that the pattern does not mention.
    pub unmatched: String,
    /// Kind of the node that the pattern does not mention.
    pub unmatched_kind: String,
    /// A pattern that does match there.
    pub pattern: Option<String>,
}

/// Looks for near misses in those files of a scan that were worth parsing.
pub(crate) fn find(scan: &Scan<'_>, outcomes: &[FileOutcome]) -> Vec<NearMiss> {
    let mut found: Vec<NearMiss> = Vec::new();
    let mut buffer = Vec::new();
    let mut bytes = 0;
    let mut files = 0;
    let parsed = scan
        .files
        .iter()
        .zip(outcomes)
        .filter(|(_, o)| o.was_parsed);
    for (file, _) in parsed {
        if files >= MAX_FILES || bytes >= MAX_BYTES || (scan.is_stopped)() {
            break;
        }
        let Ok(text) = read(&file.path, &mut buffer) else {
            continue;
        };
        let is_worth_it = |job: &&Job| !job.plan.admits(text.as_bytes()).is_empty();
        let Some(job) = scan.jobs_for(file).map(|(_, job)| job).find(is_worth_it) else {
            continue;
        };
        files += 1;
        bytes += text.len();
        for miss in in_text(job, text) {
            // One line for each way to miss.
            if !found
                .iter()
                .any(|f| f.unmatched_kind == miss.unmatched_kind && f.pattern == miss.pattern)
            {
                found.push(NearMiss {
                    path: file.relative.clone(),
                    ..miss
                });
            }
            if found.len() >= MAX_SHOWN {
                return found;
            }
        }
    }
    found
}

fn in_text(job: &Job, text: &str) -> Vec<NearMiss> {
    let Some(flat) = parse_whole(&job.grammar, text) else {
        return Vec::new();
    };
    let mut misses = Vec::new();
    let variables = job.pattern.variables().len();
    let mut matcher = Matcher::new(
        &job.grammar,
        &flat,
        text.as_bytes(),
        variables,
        DEFAULT_BUDGET / 8,
    );
    matcher.allow_near_misses();
    for index in 0..flat.nodes().len() as u32 {
        let node = *flat.node(index);
        for &number in job.plan.starting_at(node.kind) {
            let Some(program) = job.pattern.programs().get(usize::from(number)) else {
                continue;
            };
            if program.is_sequence {
                continue;
            }
            let Ok(hit) = matcher.try_at(program, index) else {
                return misses;
            };
            let Some((hit, out)) = hit.and_then(|h| h.left_out.map(|out| (h, out))) else {
                continue;
            };
            let start = flat.node(out.from).start as usize;
            let last = flat
                .children(flat.node(out.from).parent)
                .filter(|c| (out.from..out.to).contains(c))
                .last();
            let end = last.map_or(start, |l| flat.node(l).end as usize);
            let unmatched = text.get(start..end).unwrap_or_default();
            let named = flat
                .children(flat.node(out.from).parent)
                .filter(|c| (out.from..out.to).contains(c))
                .find(|c| job.grammar.kind(flat.node(*c).kind).named)
                .unwrap_or(out.from);
            let place = program
                .places
                .get(usize::from(out.step))
                .copied()
                .unwrap_or(0) as usize;
            let pattern = proposal(job, place, unmatched, text, hit.bytes.start);
            misses.push(NearMiss {
                path: String::new(),
                line: text
                    .get(..hit.bytes.start)
                    .unwrap_or_default()
                    .matches('\n')
                    .count()
                    + 1,
                unmatched: crate::excerpt::cut(
                    unmatched.lines().next().unwrap_or_default(),
                    MAX_INSERTED_BYTES,
                ),
                unmatched_kind: job.grammar.kind_name(flat.node(named).kind).to_owned(),
                pattern,
            });
            if misses.len() >= MAX_SHOWN {
                return misses;
            }
        }
    }
    misses
}

/// Puts the text into the pattern, and keeps the result if it matches there.
fn proposal(job: &Job, place: usize, inserted: &str, text: &str, start: usize) -> Option<String> {
    if inserted.len() > MAX_INSERTED_BYTES || inserted.contains('\n') || inserted.contains('$') {
        return None;
    }
    let pattern = job.pattern.text();
    let (before, after) = (pattern.get(..place)?, pattern.get(place..)?);
    let tries = [
        format!("{before}{inserted} {after}"),
        format!("{} {inserted} {after}", before.trim_end()),
        format!("{} {inserted}{after}", before.trim_end()),
        format!("{before}{inserted}{after}"),
        format!("{} {inserted}", pattern.trim_end()),
    ];
    let plain = |p: &str| p.trim().to_owned();
    tries.into_iter().map(|p| plain(&p)).find(|proposed| {
        Pattern::compile(proposed, &job.grammar).is_ok_and(|p| {
            crate::search::search_text(&job.grammar, &p, text).is_ok_and(|found| {
                found
                    .iter()
                    .any(|f| f.bytes.start <= start && start < f.bytes.end)
            })
        })
    })
}
