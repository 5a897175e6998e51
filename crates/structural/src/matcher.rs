//! Runs a compiled pattern against a flat tree.
//!
//! A program walks over the children of a node as a regular expression walks
//! over text: runs are tried shortest first, and a choice that leads nowhere
//! is taken back. Choices live on a stack of our own, so neither the depth of
//! the source nor the number of siblings can exhaust the thread's stack, and a
//! budget bounds the steps.

mod same;
mod token;
mod ways;

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

use crate::grammar::{Grammar, Kind};
use crate::program::{Op, Program, RunAfter};
use crate::tree::FlatTree;

/// Steps allowed for all attempts on one file.
pub(crate) const DEFAULT_BUDGET: u64 = 30_000_000;

/// Steps after which dead ends are remembered.
const MEMO_AFTER: u64 = 2_000;

/// Dead ends remembered at most.
const MAX_DEAD: usize = 1_000_000;

/// What a step costs of the budget, where passing one node costs 1.
const STEP: u64 = 32;

/// Bytes compared for the cost of passing one node.
const BYTES_PER_NODE: usize = 16;

/// Not bound.
const FREE: Bound = Bound {
    from: u32::MAX,
    to: u32::MAX,
};

/// What a metavariable stands for: sibling nodes `from..to` by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// One place where a program matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Index of the node, or of the first of a sequence.
    pub(crate) node: u32,
    /// One past the last index.
    pub(crate) next: u32,
    /// Bytes matched.
    pub(crate) bytes: Range<usize>,
    /// Per variable of the pattern, what it stands for.
    pub(crate) bound: Vec<Option<Bound>>,
    /// In a search for near misses: what had to be left out.
    pub(crate) left_out: Option<LeftOut>,
}

/// What one step of a program consumed: sibling nodes `from..to` by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traced {
    /// The step.
    pub(crate) step: u32,
    /// Index of the first node.
    pub(crate) from: u32,
    /// One past the last; equal to `from` for a run of nothing.
    pub(crate) to: u32,
}

/// Children that a pattern does not mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Index of the first.
    pub(crate) from: u32,
    /// One past the last.
    pub(crate) to: u32,
    /// The step of the program before which they stand.
    pub(crate) step: u16,
    named: u8,
    tokens: u8,
}

/// The budget ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OverBudget;

/// Where a program stands.
#[derive(Debug, Clone, Copy)]
struct State {
    step: u32,
    /// Next child to consume.
    at: u32,
    /// The node whose children are being consumed.
    parent: u32,
    /// One past the last byte consumed.
    last_end: u32,
    /// Whether `last_end` leaves out a terminator of the source.
    is_trimmed: bool,
    left_out: Option<LeftOut>,
}

#[derive(Debug, Clone, Copy)]
struct Choice {
    state: State,
    undo: u32,
    traced: u32,
    what: Try,
}

#[derive(Debug, Clone, Copy)]
enum Try {
    /// Bind the run at this step to nothing and go on behind it.
    EmptyRun,
    /// Let the run (or the hole of a token run) at this step, which began at
    /// `from`, take one more sibling.
    Longer { from: u32 },
    /// Leave one child out.
    LeaveOut,
}

/// Matches programs against one file.
pub(crate) struct Matcher<'a> {
    grammar: &'a Grammar,
    tree: &'a FlatTree,
    source: &'a [u8],
    budget: Cell<u64>,
    bound: Vec<Bound>,
    undo: Vec<(u8, Bound)>,
    choices: Vec<Choice>,
    dead: HashSet<(u32, u32, u32)>,
    steps: u64,
    is_near: bool,
    is_tracing: bool,
    trace: Vec<Traced>,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(
        grammar: &'a Grammar,
        tree: &'a FlatTree,
        source: &'a [u8],
        variables: usize,
        budget: u64,
    ) -> Self {
        Self {
            grammar,
            tree,
            source,
            budget: Cell::new(budget.saturating_mul(STEP)),
            bound: vec![FREE; variables],
            undo: Vec::new(),
            choices: Vec::new(),
            dead: HashSet::new(),
            steps: 0,
            is_near: false,
            is_tracing: false,
            trace: Vec::new(),
        }
    }

    /// Allows one child of a node to be left out.
    pub(crate) fn allow_near_misses(&mut self) {
        self.is_near = true;
    }

    /// Notes from here on what each step consumes.
    pub(crate) fn trace(&mut self) {
        self.is_tracing = true;
    }

    /// Returns what the steps of the last match consumed, in order.
    pub(crate) fn traced(&self) -> &[Traced] {
        &self.trace
    }

    fn note(&mut self, state: &State, from: u32, to: u32) {
        if self.is_tracing {
            self.trace.push(Traced {
                step: state.step,
                from,
                to,
            });
        }
    }

    /// Tries a program at a node.
    pub(crate) fn try_at(
        &mut self,
        program: &Program,
        node: u32,
    ) -> Result<Option<Found>, OverBudget> {
        self.bound.fill(FREE);
        self.undo.clear();
        self.choices.clear();
        self.dead.clear();
        self.trace.clear();
        self.steps = 0;
        let start = *self.tree.node(node);
        let mut state = State {
            step: 0,
            at: node,
            parent: start.parent,
            last_end: start.start,
            is_trimmed: false,
            left_out: None,
        };
        loop {
            if self.budget.get() == 0 {
                return Err(OverBudget);
            }
            self.spend(STEP);
            self.steps += 1;
            if self.is_near {
                self.offer_leaving_out(program, &state);
            }
            let next = self.advance(program, state);
            match next {
                Advance::To(next) => state = next,
                Advance::Done => {
                    return Ok(Some(Found {
                        node,
                        next: state.at,
                        bytes: start.start as usize..state.last_end as usize,
                        bound: self
                            .bound
                            .iter()
                            .map(|b| (*b != FREE).then_some(*b))
                            .collect(),
                        left_out: state.left_out,
                    }));
                }
                Advance::Fail => match self.take_back(program) {
                    Some(other) => state = other,
                    None => return Ok(None),
                },
            }
        }
    }

    /// Returns how many steps are left.
    pub(crate) fn budget(&self) -> u64 {
        self.budget.get() / STEP
    }

    fn spend(&self, cost: u64) {
        self.budget.set(self.budget.get().saturating_sub(cost));
    }

    /// Pays for a look at so many bytes.
    fn spend_for(&self, bytes: usize) {
        self.spend((bytes / BYTES_PER_NODE) as u64);
    }

    fn end(&self, parent: u32) -> u32 {
        self.tree.node(parent).next
    }

    fn kind(&self, index: u32) -> Kind {
        self.grammar.kind(self.tree.node(index).kind)
    }

    /// Does one step.
    fn advance(&mut self, program: &Program, mut state: State) -> Advance {
        let Some(op) = program.ops.get(state.step as usize) else {
            return Advance::Fail;
        };
        let end = if state.step == 0 {
            self.end(state.at)
        } else {
            self.end(state.parent)
        };
        match op {
            Op::Done => Advance::Done,
            Op::Enter {
                kind,
                field,
                optional,
            } => {
                let at = self.skip_to_item(state.at, end, state.parent);
                if at < end {
                    let node = self.tree.node(at);
                    if node.kind == *kind && (*field == 0 || node.field == *field) {
                        if optional.is_some() {
                            self.offer(state, Try::EmptyRun);
                        }
                        return Advance::To(State {
                            step: state.step + 1,
                            at: at + 1,
                            parent: at,
                            last_end: node.start,
                            is_trimmed: false,
                            ..state
                        });
                    }
                }
                match optional {
                    Some(skip) => {
                        if !self.bind(
                            skip.variable,
                            Bound {
                                from: state.at,
                                to: state.at,
                            },
                        ) {
                            return Advance::Fail;
                        }
                        state.step = u32::from(skip.behind);
                        Advance::To(state)
                    }
                    None => Advance::Fail,
                }
            }
            Op::Leave { gap } => self.leave(state, gap),
            Op::Token(token) => self.token(program, state, end, token),
            Op::Hole {
                variable,
                field,
                in_token_run,
            } => {
                let at = self.skip_to_item(state.at, end, state.parent);
                if at >= end || !self.may_fill(at, *field, *in_token_run) {
                    return Advance::Fail;
                }
                let node = *self.tree.node(at);
                if *in_token_run {
                    self.offer(
                        State {
                            at: node.next,
                            ..state
                        },
                        Try::Longer { from: at },
                    );
                }
                if !self.bind(
                    *variable,
                    Bound {
                        from: at,
                        to: node.next,
                    },
                ) {
                    return Advance::Fail;
                }
                self.note(&state, at, node.next);
                Advance::To(consumed(state, node.next, node.end))
            }
            Op::Run { variable, after } => {
                self.offer(state, Try::Longer { from: state.at });
                if !self.bind(
                    *variable,
                    Bound {
                        from: state.at,
                        to: state.at,
                    },
                ) {
                    return Advance::Fail;
                }
                self.note(&state, state.at, state.at);
                state.step += if *after == RunAfter::Separator { 2 } else { 1 };
                Advance::To(state)
            }
        }
    }

    /// Whether a node may be what `$NAME` stands for.
    fn may_fill(&self, at: u32, field: u16, in_token_run: bool) -> bool {
        let node = self.tree.node(at);
        let kind = self.grammar.kind(node.kind);
        if kind.never_one {
            return false;
        }
        if field != 0 {
            return node.field == field;
        }
        if in_token_run {
            return !kind.separator && !kind.closer && !kind.terminator;
        }
        kind.named || self.is_word_value(at)
    }

    /// Values that some grammars write as plain tokens.
    fn is_word_value(&self, at: u32) -> bool {
        matches!(
            self.source.get(self.tree.range(at)).unwrap_or_default(),
            b"null"
                | b"nil"
                | b"this"
                | b"self"
                | b"super"
                | b"true"
                | b"false"
                | b"undefined"
                | b"none"
                | b"None"
        )
    }

    /// Binds a variable, or compares it with what it is bound to.
    fn bind(&mut self, variable: Option<u8>, to: Bound) -> bool {
        let Some(variable) = variable else {
            return true;
        };
        let Some(slot) = self.bound.get_mut(usize::from(variable)) else {
            return true;
        };
        if *slot == FREE {
            self.undo.push((variable, *slot));
            *slot = to;
            return true;
        }
        let old = *slot;
        self.is_same_text(old, to)
    }

    fn bytes_of(&self, bound: Bound) -> Range<usize> {
        if bound.from < bound.to {
            self.spend(last_of(self.tree, bound).1);
        }
        bytes_of(self.tree, bound)
    }

    fn empty_run(&mut self, program: &Program, state: State) -> Advance {
        let Some(Op::Run { variable, .. }) = program.ops.get(state.step as usize) else {
            return Advance::Fail;
        };
        if !self.bind(
            *variable,
            Bound {
                from: state.at,
                to: state.at,
            },
        ) {
            return Advance::Fail;
        }
        self.note(&state, state.at, state.at);
        Advance::To(State {
            step: state.step + 1,
            ..state
        })
    }
}

enum Advance {
    To(State),
    Done,
    Fail,
}

fn consumed(state: State, next: u32, end: u32) -> State {
    State {
        step: state.step + 1,
        at: next,
        last_end: end,
        is_trimmed: false,
        ..state
    }
}

/// Returns the bytes that a run of sibling nodes covers, without comments at its ends.
pub(crate) fn bytes_of(tree: &FlatTree, bound: Bound) -> Range<usize> {
    if bound.from >= bound.to {
        let at = if bound.from == 0 {
            0
        } else {
            tree.nodes()
                .get(bound.from as usize - 1)
                .map_or(0, |n| n.end as usize)
        };
        return at..at;
    }
    let start = tree.node(bound.from).start as usize;
    let end = tree.node(last_of(tree, bound).0).end as usize;
    start..end
}

/// Returns the last of a run of sibling nodes, and how many steps that took.
fn last_of(tree: &FlatTree, bound: Bound) -> (u32, u64) {
    let first = tree.node(bound.from);
    if first.next >= bound.to {
        return (bound.from, 0);
    }
    // It holds the node right before the end.
    let mut last = bound.to - 1;
    let mut steps = 1;
    while last > bound.from && tree.node(last).parent != first.parent {
        last = tree.node(last).parent;
        steps += 1;
    }
    (last, steps)
}

/// Adds the text between two children to `gap`, without what says nothing.
pub(crate) fn push_gap(gap: &mut Vec<u8>, text: &[u8]) {
    gap.extend(
        text.iter().copied().filter(|b| {
            !b.is_ascii_whitespace() && !matches!(b, b';' | b'\\' | 0xEF | 0xBB | 0xBF)
        }),
    );
}

/// Adds the text between two children of a node of this kind to `gap`: as it is
/// where it is a part of a text.
pub(crate) fn push_gap_in(kind: Kind, gap: &mut Vec<u8>, text: &[u8]) {
    let start = gap.len();
    push_gap(gap, text);
    // What some grammars have no node for; strings side by side have only white
    // space between them.
    if kind.verbatim || (kind.textual && gap.len() > start) {
        gap.truncate(start);
        gap.extend(text.iter().copied().filter(|b| *b != b'\r'));
    }
}
