//! Compiles the text of a pattern into programs, one for each way to read it.

mod allowance;
mod build;
mod leaves;
mod lex;
mod scaffold;
mod stands;

use std::collections::HashMap;
use std::fmt;

use tree_sitter::Parser;

use crate::grammar::{Grammar, GrammarError};
use crate::languages::{Context, Language, Rung};
use crate::program::Program;
use allowance::{Allowance, End, Parsed};
use build::Refusal;
use scaffold::Stand;
use stands::{first_stands, reset};

pub(crate) use leaves::{Leaf, Matter, leaves};
pub(crate) use lex::{
    Backslash, Dollar, DollarForm, HoleKind, PlainReason, dollars, is_name, is_word,
};

/// The longest pattern accepted, in bytes.
pub const MAX_PATTERN_BYTES: usize = 16 * 1024;

/// The most distinct metavariables in one pattern.
pub const MAX_VARIABLES: usize = 64;

/// Bytes parsed, weighed by the number of metavariables, to read one pattern.
const MAX_WORK: usize = 64 * 1024 * 1024;

/// Rows of stand-ins that are kept while they are chosen in turn.
const MAX_ROWS: usize = 24;

/// Why a pattern is given up that is long and does not parse.
const TAKES_TOO_LONG: &str =
    "it takes too long to find a way to read it, as it is long and much of it does not parse";

/// A pattern compiled for one language.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    variables: Vec<Variable>,
    programs: Vec<Program>,
    root_names: Vec<String>,
    plain_dollars: Vec<String>,
    backslash: Backslash,
}

/// A metavariable of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variable {
    /// The name, without `$`.
    pub name: String,
    /// Whether it stands for a run of siblings (`$$$NAME`).
    pub is_run: bool,
}

impl Pattern {
    /// Compiles `text` for the language of `grammar`.
    ///
    /// # Errors
    /// [`PatternError`] when the metavariables are wrong or no context accepts the text.
    pub fn compile(text: &str, grammar: &Grammar) -> Result<Self, PatternError> {
        Self::compile_until(text, grammar, &|| false)
    }

    /// Compiles `text` for the language of `grammar`, until `is_stopped` says
    /// that nobody waits for it any more.
    ///
    /// # Errors
    /// As [`Pattern::compile`]; [`PatternError::Stopped`] when it was stopped.
    pub fn compile_until(
        text: &str,
        grammar: &Grammar,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, PatternError> {
        compile(text, grammar, is_stopped)
    }

    /// Returns the text of the pattern.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the named metavariables, in order of first use.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns how the text was read: the rung of the ladder and the kind of node.
    pub fn readings(&self) -> impl Iterator<Item = (Rung, &str)> {
        self.programs
            .iter()
            .map(|p| p.rung)
            .zip(self.root_names.iter().map(String::as_str))
    }

    /// Returns the pieces of the pattern that begin with `$` and are taken as plain text.
    #[must_use]
    pub fn plain_dollars(&self) -> &[String] {
        &self.plain_dollars
    }

    pub(crate) fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// Returns what a backslash before a metavariable is in this pattern.
    pub(crate) fn backslash(&self) -> Backslash {
        self.backslash
    }
}

/// Why a pattern was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternError {
    /// Nothing in it.
    Empty,
    /// Larger than [`MAX_PATTERN_BYTES`], too deep, or with too many metavariables.
    TooLarge(&'static str),
    /// Nothing but metavariables.
    OnlyMetavariables,
    /// A metavariable that is none.
    BadMetavariable {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: &'static str,
        /// What to write.
        next: String,
    },
    /// One name used for one node and for a run.
    MixedUse(String),
    /// Reading it was stopped.
    Stopped,
    /// No context accepts the text.
    Unparsable(Vec<Attempt>),
    /// It was not read, for want of the grammar.
    NoGrammar(GrammarError),
}

/// One context that did not accept a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// What it was read as.
    pub rung: Rung,
    /// Line in the pattern, from 1.
    pub line: usize,
    /// Column in the pattern, in characters, from 1.
    pub column: usize,
    /// What stands there.
    pub near: String,
    /// How it failed.
    pub why: &'static str,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Statement => "statement",
            Self::Expression => "expression",
            Self::Member => "class member",
            Self::Declaration => "declaration",
            Self::Pair => "pair",
            Self::Argument => "argument",
            Self::Parameter => "parameter",
            Self::Type => "type",
            Self::Pattern => "match pattern",
            Self::Arm => "match arm",
            Self::Field => "field",
            Self::Attribute => "attribute",
            Self::Decorator => "decorator",
            Self::Import => "import",
            Self::Clause => "clause",
        })
    }
}

/// The refusal of a context that was left before it was tried to the end.
const GIVEN_UP: Refusal = Refusal::Fault {
    at: 0,
    cost: usize::MAX,
};

/// The state of one compilation.
struct Compiler<'a, 's> {
    text: &'a str,
    grammar: &'a Grammar,
    parser: Parser,
    fillers: Vec<scaffold::Filler>,
    sentinel: String,
    /// What came of the stand-ins tried so far.
    tried: Tried,
    /// What is left of [`MAX_WORK`].
    work: usize,
    allowance: &'a mut Allowance<'s>,
    /// A metavariable whose stand-in is given.
    fixed: Option<usize>,
    effort: Effort,
}

/// What came of the stand-ins tried in one context.
#[derive(Default)]
struct Tried {
    context: Option<Context>,
    known: HashMap<Box<[Stand]>, Result<(), Refusal>>,
}

/// How much is tried to find stand-ins that parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Each metavariable in turn.
    Quick,
    /// Every combination, up to a limit.
    Thorough,
}

fn compile(
    text: &str,
    grammar: &Grammar,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Pattern, PatternError> {
    let mut allowance = Allowance::new(is_stopped);
    let first = compile_with(text, grammar, Backslash::Escapes, &mut allowance);
    // In some languages the backslash means something: `\\$X -> $Y` in Haskell.
    if first.is_err() && text.contains("\\$") {
        return compile_with(text, grammar, Backslash::IsCode, &mut allowance).or(first);
    }
    first
}

fn compile_with(
    text: &str,
    grammar: &Grammar,
    backslash: Backslash,
    allowance: &mut Allowance<'_>,
) -> Result<Pattern, PatternError> {
    let text = without_mark(text);
    if text.trim().is_empty() {
        return Err(PatternError::Empty);
    }
    if text.len() > MAX_PATTERN_BYTES {
        return Err(PatternError::TooLarge("it is longer than 16 KiB"));
    }
    let text = normal(text);
    let dollars = lex::dollars(&text, backslash);
    let variables = variables(&dollars)?;
    if only_holes(&text, &dollars) {
        return Err(PatternError::OnlyMetavariables);
    }
    let mut parser = Parser::new();
    if parser.set_language(grammar.parser_language()).is_err() {
        return Err(PatternError::TooLarge("its grammar does not load"));
    }
    let mut compiler = Compiler {
        text: &text,
        grammar,
        parser,
        fillers: scaffold::fillers(grammar),
        sentinel: scaffold::sentinel(&text),
        tried: Tried::default(),
        effort: Effort::Quick,
        work: MAX_WORK,
        allowance,
        fixed: None,
    };
    let mut readings: Vec<build::Reading> = Vec::new();
    let mut attempts: Vec<(Rung, Refusal)> = Vec::new();
    // Most patterns parse with the first stand-ins tried; only where no context
    // takes them are all combinations worth the time.
    for effort in [Effort::Quick, Effort::Thorough] {
        if !readings.is_empty() || (effort == Effort::Thorough && compiler.has_one_choice(&dollars))
        {
            break;
        }
        compiler.effort = effort;
        attempts.clear();
        compiler.read_all(&dollars, &variables, &mut readings, &mut attempts);
        match compiler.allowance.end() {
            None => {}
            Some(End::Stopped) => return Err(PatternError::Stopped),
            Some(End::Spent) if compiler.work == 0 => {
                return Err(PatternError::TooLarge(
                    "it uses metavariables too often to try every way to read it",
                ));
            }
            Some(End::Spent) => return Err(PatternError::TooLarge(TAKES_TOO_LONG)),
        }
    }
    let has_skipped = compiler.allowance.has_skipped();
    drop_readings(&mut readings, grammar.language());
    if readings.is_empty() && has_skipped {
        return Err(PatternError::TooLarge(TAKES_TOO_LONG));
    }
    if readings.is_empty() {
        return Err(refused(&text, &dollars, attempts));
    }
    let mut plain_dollars: Vec<String> = Vec::new();
    for dollar in dollars
        .iter()
        .filter(|d| !matches!(d.form, DollarForm::Hole(..)))
    {
        let piece = text.get(dollar.span.clone()).unwrap_or_default();
        if piece.len() > 1 {
            plain_dollars.push(piece.to_owned());
        }
    }
    for name in readings.iter().flat_map(|r| &r.plain_holes) {
        if !plain_dollars.contains(name) {
            plain_dollars.push(name.clone());
        }
    }
    let root_names = readings.iter().map(|r| r.root_name.clone()).collect();
    let programs = readings.into_iter().map(|r| r.program).collect();
    Ok(Pattern {
        text,
        variables,
        programs,
        root_names,
        plain_dollars,
        backslash,
    })
}

fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Returns a fragment as it is read: without a byte order mark, with `\n` for
/// line ends, without blank lines and a margin around it.
pub(crate) fn normal(text: &str) -> String {
    dedent(&without_mark(text).replace("\r\n", "\n"))
}

/// Takes away the white space that all lines but the first begin with, where
/// the first line begins with it too.
fn dedent(text: &str) -> String {
    let text = text.trim_matches('\n');
    let first: &str = text.lines().next().unwrap_or_default();
    let indent = first
        .get(..first.len() - first.trim_start().len())
        .unwrap_or_default();
    if indent.is_empty() {
        return text.trim_end().to_owned();
    }
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.strip_prefix(indent).unwrap_or(line))
        .collect();
    lines.join("\n").trim_end().to_owned()
}

fn variables(dollars: &[Dollar]) -> Result<Vec<Variable>, PatternError> {
    let mut found: Vec<Variable> = Vec::new();
    for dollar in dollars {
        let DollarForm::Hole(kind, name) = &dollar.form else {
            continue;
        };
        if name.is_empty() {
            continue;
        }
        let is_run = *kind == HoleKind::Run;
        match found.iter().find(|v| v.name == *name) {
            Some(known) if known.is_run != is_run => {
                return Err(PatternError::MixedUse(name.clone()));
            }
            Some(_) => {}
            None => found.push(Variable {
                name: name.clone(),
                is_run,
            }),
        }
    }
    if found.len() > MAX_VARIABLES {
        return Err(PatternError::TooLarge("it has more than 64 metavariables"));
    }
    Ok(found)
}

/// Whether nothing is left of the pattern without its metavariables.
fn only_holes(text: &str, dollars: &[Dollar]) -> bool {
    let mut at = 0;
    let mut rest = String::new();
    for dollar in dollars
        .iter()
        .filter(|d| matches!(d.form, DollarForm::Hole(..)))
    {
        rest.push_str(text.get(at..dollar.span.start).unwrap_or_default());
        at = dollar.span.end;
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    at > 0 && rest.chars().all(|c| c.is_whitespace() || c == ';')
}

/// Removes the readings that nobody means.
fn drop_readings(readings: &mut Vec<build::Reading>, language: &Language) {
    for rule in language.dropped {
        if readings.iter().any(|r| r.is_any_of(rule.when)) {
            readings.retain(|r| r.is_any_of(rule.when) || !r.is_any_of(rule.kinds));
        }
    }
    let is_meant =
        |r: &build::Reading| !r.has_only_holes || !r.is_any_of(language.literal_name_kinds);
    if readings.iter().any(is_meant) {
        readings.retain(is_meant);
    }
}

/// Turns the refusals of all contexts into one error.
fn refused(text: &str, dollars: &[Dollar], attempts: Vec<(Rung, Refusal)>) -> PatternError {
    let bad = dollars.iter().find_map(|dollar| {
        let DollarForm::Plain(reason) = &dollar.form else { return None };
        let piece = text.get(dollar.span.clone()).unwrap_or_default().to_owned();
        let upper = piece.trim_start_matches('$').to_ascii_uppercase();
        let name = if upper.starts_with(|c: char| c.is_ascii_uppercase()) { upper } else { "X".to_owned() };
        match reason {
            PlainReason::BadName => Some(PatternError::BadMetavariable {
                text: piece,
                why: "names of metavariables are upper case letters, digits and `_`, and begin with a letter",
                next: format!("write `${name}` for one node or `$$${name}` for a run of nodes"),
            }),
            PlainReason::TwoDollars => Some(PatternError::BadMetavariable {
                text: piece,
                why: "two `$` mean nothing",
                next: format!("write `${name}` for one node or `$$${name}` for a run of nodes"),
            }),
            PlainReason::Glued => Some(PatternError::BadMetavariable {
                text: piece,
                why: "it is glued to other text, and a metavariable stands for a whole node",
                next: "let the metavariable stand for the whole name, and say the rest in words".to_owned(),
            }),
            PlainReason::Bare => in_brackets(text, dollar).filter(|_| {
                let fails_there = |at: usize| dollar.span.start <= at && at <= dollar.span.end;
                (attempts.iter()).any(|(_, r)| matches!(r, Refusal::Fault { at, .. } if fails_there(*at)))
            }),
        }
    });
    if let Some(bad) = bad {
        return bad;
    }
    let inside = attempts.iter().find_map(|(_, r)| match r {
        Refusal::HoleInToken(dollar) => dollars.get(*dollar),
        _ => None,
    });
    if let Some(dollar) = inside
        && attempts
            .iter()
            .all(|(_, r)| matches!(r, Refusal::HoleInToken(_) | Refusal::Fault { .. }))
    {
        let piece = text.get(dollar.span.clone()).unwrap_or_default().to_owned();
        return PatternError::BadMetavariable {
            text: piece,
            why: "it is part of a larger token, and a metavariable stands for a whole node",
            next: "let the metavariable stand for the whole token".to_owned(),
        };
    }
    if attempts
        .iter()
        .any(|(_, r)| matches!(r, Refusal::OnlyHoles))
    {
        return PatternError::OnlyMetavariables;
    }
    if attempts.iter().any(|(_, r)| matches!(r, Refusal::TooDeep)) {
        return PatternError::TooLarge("it is nested too deeply");
    }
    let mut listed: Vec<Attempt> = Vec::new();
    for (rung, refusal) in attempts {
        let attempt = refusal.into_attempt(rung, text);
        match listed.iter_mut().find(|a| a.rung == rung) {
            // Of several contexts of one rung, the one that got furthest says most.
            Some(known) if (known.line, known.column) < (attempt.line, attempt.column) => {
                *known = attempt;
            }
            Some(_) => {}
            None => listed.push(attempt),
        }
    }
    PatternError::Unparsable(listed)
}

/// Refuses `${NAME}`.
fn in_brackets(text: &str, dollar: &Dollar) -> Option<PatternError> {
    let behind = text.get(dollar.span.end..)?.strip_prefix('{')?;
    let (name, _) = behind.split_once('}')?;
    is_name(name.as_bytes()).then(|| PatternError::BadMetavariable {
        text: format!("${{{name}}}"),
        why: "the name of a metavariable has no brackets around it",
        next: format!("write `${name}`"),
    })
}

impl Compiler<'_, '_> {
    /// Reads the pattern in one context.
    fn read(
        &mut self,
        dollars: &[Dollar],
        variables: &[Variable],
        context: Context,
    ) -> Result<build::Reading, Refusal> {
        let mut stands = first_stands(dollars);
        let mut glued = None;
        // Each round turns at least one metavariable into plain text.
        for _ in 0..=dollars.len() {
            if let Err(refusal) = self.choose_fillers(dollars, &mut stands, context) {
                if self.allowance.is_spent() {
                    return Err(refusal);
                }
                // Where a stand-in is a string, one inside a string does not parse.
                if !scaffold::make_plain_in_quotes(self.text, dollars, &mut stands) {
                    return Err(glued.map_or(refusal, Refusal::HoleInToken));
                }
                continue;
            }
            match self.build(dollars, &stands, variables, context) {
                Err(Refusal::InText(which)) => {
                    if let Some(stand) = stands.get_mut(which) {
                        *stand = Stand::Plain;
                    }
                    reset(&mut stands);
                }
                Err(Refusal::HoleInToken(which)) => {
                    glued = glued.or(Some(which));
                    if let Some(stand) = stands.get_mut(which) {
                        *stand = Stand::Plain;
                    }
                    reset(&mut stands);
                }
                Err(other) => return Err(glued.map_or(other, Refusal::HoleInToken)),
                Ok(reading) => return Ok(reading),
            }
        }
        Err(Refusal::TooDeep)
    }

    /// Writes the pattern into a context with these stand-ins.
    fn write(&self, dollars: &[Dollar], stands: &[Stand], context: Context) -> scaffold::Written {
        scaffold::write(
            self.text,
            dollars,
            stands,
            &self.fillers,
            &self.sentinel,
            context,
        )
    }

    /// Reads the pattern with these stand-ins, which parse.
    fn build(
        &mut self,
        dollars: &[Dollar],
        stands: &[Stand],
        variables: &[Variable],
        context: Context,
    ) -> Result<build::Reading, Refusal> {
        let written = self.write(dollars, stands, context);
        let Parsed::Tree(tree) = self.parse(&written) else {
            return Err(GIVEN_UP);
        };
        build::build(
            self.grammar,
            &tree,
            &written,
            dollars,
            stands,
            variables,
            context,
        )
    }

    /// Reads the pattern in one context with what else its metavariables may
    /// stand for; says of each reading whether it is meant only so.
    fn read_otherwise(
        &mut self,
        dollars: &[Dollar],
        variables: &[Variable],
        context: Context,
    ) -> Vec<(build::Reading, bool)> {
        let mut readings = Vec::new();
        for (hole, dollar) in dollars.iter().enumerate() {
            if !matches!(dollar.form, DollarForm::Hole(..))
                || !scaffold::is_alone(self.grammar, self.text, dollar)
            {
                continue;
            }
            for filler in 0..self.fillers.len() {
                let other = self.fillers.get(filler).and_then(|f| f.other);
                let Some(other) =
                    other.filter(|o| scaffold::is_behind(self.text, dollar, o.behind))
                else {
                    continue;
                };
                let mut stands = first_stands(dollars);
                if let Some(slot) = stands.get_mut(hole) {
                    *slot = Stand::Filler(filler);
                }
                self.fixed = Some(hole);
                let chosen = self.choose_fillers(dollars, &mut stands, context);
                self.fixed = None;
                if chosen.is_ok()
                    && let Ok(reading) = self.build(dollars, &stands, variables, context)
                {
                    readings.push((reading, other.is_meant));
                }
            }
        }
        readings
    }

    /// Parses what was written.
    fn parse(&mut self, written: &scaffold::Written) -> Parsed {
        let weight = 1 + written.stands.len() / 16;
        let cost = written.text.len().saturating_mul(weight);
        self.work = self.work.saturating_sub(cost);
        if self.work == 0 {
            self.allowance.spend_all();
        }
        self.allowance.parse(&mut self.parser, &written.text)
    }
}

#[cfg(all(test, feature = "lang-bash"))]
mod tests {
    use super::*;
    use crate::grammar::{CompiledGrammars, GrammarSource as _};

    #[test]
    fn a_pattern_that_is_all_metavariables_is_refused_in_time() {
        let grammar = CompiledGrammars::new().grammar("bash").unwrap();
        let text = format!("f({})", "$A,".repeat(4_000));
        assert!(matches!(
            Pattern::compile(&text, &grammar),
            Err(PatternError::TooLarge(_))
        ));
        let text = format!("f {}", "$A ".repeat(60));
        assert!(Pattern::compile(&text, &grammar).is_ok());
    }
}
