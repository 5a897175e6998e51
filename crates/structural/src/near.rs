//! Finds what a pattern almost matches: nodes that have one child too many.

use std::time::Duration;

use crate::clock::WorkLimit;
use crate::grammar::Grammar;
use crate::matcher::{DEFAULT_BUDGET, Found, LeftOut, Matcher};
use crate::pattern::Pattern;
use crate::plan::Plan;
use crate::scan::{FileOutcome, Job, Scan};
use crate::search::parse_whole;
use crate::tree::FlatTree;

/// Near misses shown at most.
const MAX_SHOWN: usize = 3;
/// Files looked at, at most.
const MAX_FILES: usize = 400;
/// Bytes parsed, at most.
const MAX_BYTES: usize = 3 * 1024 * 1024;
/// Steps of matching, at most.
const MAX_STEPS: u64 = DEFAULT_BUDGET / 4;
/// Time of work, several times what the other limits let through as a rule.
const MAX_TIME: Duration = Duration::from_secs(6);
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

/// Looks for near misses in those files of a scan that were parsed or have the literals.
pub(crate) fn find(scan: &Scan<'_>, outcomes: &[FileOutcome]) -> Vec<NearMiss> {
    let time = WorkLimit::new(MAX_TIME);
    let is_stopped = || (scan.is_stopped)() || time.is_over();
    let mut search = NearSearch {
        is_stopped: &is_stopped,
        steps: MAX_STEPS,
        found: Vec::new(),
    };
    let mut buffer = Vec::new();
    let mut bytes = 0;
    let mut files = 0;
    let parsed = scan
        .files
        .iter()
        .zip(outcomes)
        .filter(|(_, o)| o.was_parsed || o.has_literals);
    for (file, _) in parsed {
        if files >= MAX_FILES || bytes >= MAX_BYTES || search.is_done() {
            break;
        }
        let Ok(text) = scan.source.read(file, &mut buffer) else {
            continue;
        };
        let is_worth_it = |job: &&Job| !job.plan.admits_by_literals(text.as_bytes()).is_empty();
        let Some(job) = scan.jobs_for(file).map(|(_, job)| job).find(is_worth_it) else {
            continue;
        };
        files += 1;
        bytes += text.len();
        search.look_in(job, text, &file.relative);
    }
    search.found
}

/// A search for near misses on its way.
struct NearSearch<'a> {
    is_stopped: &'a dyn Fn() -> bool,
    /// What is left of [`MAX_STEPS`].
    steps: u64,
    found: Vec<NearMiss>,
}

impl NearSearch<'_> {
    fn is_done(&self) -> bool {
        self.found.len() >= MAX_SHOWN || self.steps == 0 || (self.is_stopped)()
    }

    fn look_in(&mut self, job: &Job, text: &str, path: &str) {
        let Some(flat) = parse_whole(&job.grammar, text, &mut || (self.is_stopped)()) else {
            return;
        };
        let mut matcher = Matcher::new(
            &job.grammar,
            &flat,
            text.as_bytes(),
            job.pattern.variables().len(),
            self.steps,
        );
        matcher.allow_near_misses();
        for index in 0..flat.nodes().len() as u32 {
            // Looked at now and then, since asking takes longer than most nodes do.
            if index % 1024 == 0 && self.is_done() {
                return;
            }
            for &number in job.plan.starting_at(flat.node(index).kind) {
                let program = job.pattern.programs().get(usize::from(number));
                let Some(program) = program.filter(|p| !p.is_sequence) else {
                    continue;
                };
                let result = matcher.try_at(program, index);
                self.steps = matcher.budget();
                let Ok(hit) = result else { return };
                let Some((hit, out)) = hit.and_then(|h| h.left_out.map(|out| (h, out))) else {
                    continue;
                };
                let step = usize::from(out.step);
                let place = program.places.get(step).copied().unwrap_or(0) as usize;
                let miss = self.miss(job, &flat, text, (&hit, out, place));
                self.note(NearMiss {
                    path: path.to_owned(),
                    ..miss
                });
                if self.found.len() >= MAX_SHOWN {
                    return;
                }
            }
        }
    }

    /// Keeps one for each way to miss.
    fn note(&mut self, miss: NearMiss) {
        let is_like = |known: &NearMiss| {
            known.unmatched_kind == miss.unmatched_kind && known.pattern == miss.pattern
        };
        if !self.found.iter().any(is_like) {
            self.found.push(miss);
        }
    }

    /// Describes a hit that left something out, which the pattern would have to
    /// mention at `place`.
    fn miss(
        &self,
        job: &Job,
        flat: &FlatTree,
        text: &str,
        (hit, out, place): (&Found, LeftOut, usize),
    ) -> NearMiss {
        let left_out = || {
            flat.children(flat.node(out.from).parent)
                .filter(|c| (out.from..out.to).contains(c))
        };
        let start = flat.node(out.from).start as usize;
        let end = left_out()
            .last()
            .map_or(start, |last| flat.node(last).end as usize);
        let unmatched = text.get(start..end).unwrap_or_default();
        let named = left_out()
            .find(|c| job.grammar.kind(flat.node(*c).kind).named)
            .unwrap_or(out.from);
        let before = text.get(..hit.bytes.start).unwrap_or_default();
        NearMiss {
            path: String::new(),
            line: before.matches('\n').count() + 1,
            unmatched: crate::excerpt::cut(
                unmatched.lines().next().unwrap_or_default(),
                MAX_INSERTED_BYTES,
            ),
            unmatched_kind: job.grammar.kind_name(flat.node(named).kind).to_owned(),
            pattern: proposals(job.pattern.text(), place, unmatched)
                .into_iter()
                .find(|proposed| {
                    Pattern::compile_until(proposed, &job.grammar, self.is_stopped)
                        .is_ok_and(|p| matches_at(&job.grammar, &p, flat, text, hit.bytes.start))
                }),
        }
    }
}

/// Puts the text into the pattern, in the ways that may be meant.
fn proposals(pattern: &str, place: usize, inserted: &str) -> Vec<String> {
    let (Some(before), Some(after)) = (pattern.get(..place), pattern.get(place..)) else {
        return Vec::new();
    };
    if inserted.len() > MAX_INSERTED_BYTES || inserted.contains('\n') || inserted.contains('$') {
        return Vec::new();
    }
    [
        format!("{before}{inserted} {after}"),
        format!("{} {inserted} {after}", before.trim_end()),
        format!("{} {inserted}{after}", before.trim_end()),
        format!("{before}{inserted}{after}"),
        format!("{} {inserted}", pattern.trim_end()),
    ]
    .iter()
    .map(|p| p.trim().to_owned())
    .collect()
}

/// Returns whether a match of the pattern is at a byte.
fn matches_at(
    grammar: &Grammar,
    pattern: &Pattern,
    flat: &FlatTree,
    text: &str,
    at: usize,
) -> bool {
    let plan = Plan::new(pattern, grammar);
    let variables = pattern.variables().len();
    let mut matcher = Matcher::new(grammar, flat, text.as_bytes(), variables, MAX_STEPS);
    let mut next = Some(0);
    while let Some(index) = next {
        let starting = plan.starting_at(flat.node(index).kind);
        let programs = starting
            .iter()
            .filter_map(|number| pattern.programs().get(usize::from(*number)))
            .filter(|program| !program.is_sequence);
        for program in programs {
            if let Ok(Some(hit)) = matcher.try_at(program, index)
                && hit.bytes.contains(&at)
            {
                return true;
            }
        }
        next = flat.children(index).find(|c| flat.range(*c).contains(&at));
    }
    false
}
