//! Runs a compiled pattern against a flat tree.
//!
//! A program walks over the children of a node as a regular expression walks
//! over text: runs are tried shortest first, and a choice that leads nowhere
//! is taken back. Choices live on a stack of our own, so neither the depth of
//! the source nor the number of siblings can exhaust the thread's stack, and a
//! budget bounds the steps.

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

use crate::grammar::{Grammar, Kind};
use crate::program::{Class, Op, Program, RunAfter, Token};
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

    fn leave(&mut self, mut state: State, gap: &[u8]) -> Advance {
        let end = self.end(state.parent);
        let mut at = state.at;
        while at < end {
            self.spend(1);
            let kind = self.kind(at);
            if self.tree.node(at).flags.is_extra() {
            } else if kind.terminator || kind.separator {
                state.is_trimmed = true;
            } else {
                return Advance::Fail;
            }
            at = self.tree.node(at).next;
        }
        if !self.has_gap(state.parent, gap) {
            return Advance::Fail;
        }
        let left = self.tree.node(state.parent);
        if !state.is_trimmed {
            state.last_end = left.end;
        }
        state.at = end;
        state.parent = left.parent;
        state.step += 1;
        Advance::To(state)
    }

    /// Whether the text of a node that no child covers is `wanted`.
    fn has_gap(&self, parent: u32, wanted: &[u8]) -> bool {
        let node = self.tree.node(parent);
        let mut at = node.start as usize;
        let mut rest = wanted;
        let mut take = |bytes: &[u8]| -> bool {
            if bytes.is_empty() {
                return true;
            }
            let mut gap = Vec::new();
            push_gap(&mut gap, bytes);
            match rest.strip_prefix(gap.as_slice()) {
                Some(after) => {
                    rest = after;
                    true
                }
                None => false,
            }
        };
        for child in self.tree.children(parent) {
            self.spend(1);
            let child = self.tree.node(child);
            if !take(
                self.source
                    .get(at..child.start as usize)
                    .unwrap_or_default(),
            ) {
                return false;
            }
            at = at.max(child.end as usize);
        }
        take(self.source.get(at..node.end as usize).unwrap_or_default()) && rest.is_empty()
    }

    fn token(&mut self, program: &Program, state: State, end: u32, token: &Token) -> Advance {
        if token.is_extra {
            return self.comment(state, end, token);
        }
        let skip = |state: State| {
            Advance::To(State {
                step: state.step + 1,
                ..state
            })
        };
        let next_op = program.ops.get(state.step as usize + 1);
        match token.class {
            Class::Separator => {
                let at = self.skip_extras(state.at, end);
                if at < end && self.tree.node(at).kind == token.kind {
                    if token.before_run {
                        self.offer(
                            State {
                                step: state.step + 1,
                                ..state
                            },
                            Try::EmptyRun,
                        );
                    }
                    let node = *self.tree.node(at);
                    self.note(&state, at, node.next);
                    return Advance::To(consumed(state, node.next, node.end));
                }
                if token.before_run {
                    return self.empty_run(
                        program,
                        State {
                            step: state.step + 1,
                            ..state
                        },
                    );
                }
                match next_op {
                    Some(
                        Op::Leave { .. }
                        | Op::Token(Token {
                            class: Class::Closer,
                            ..
                        }),
                    ) => skip(state),
                    _ => Advance::Fail,
                }
            }
            Class::Terminator => {
                let at = self.skip_extras(state.at, end);
                if at < end && self.kind(at).terminator {
                    let node = *self.tree.node(at);
                    self.note(&state, at, node.next);
                    return Advance::To(consumed(state, node.next, node.end));
                }
                match next_op {
                    Some(Op::Leave { .. } | Op::Done) => skip(state),
                    // A line end does what the terminator does.
                    _ if at < end && self.has_line_end(state.last_end, at) => skip(state),
                    _ if self.grammar.is_list(self.tree.node(state.parent).kind) => skip(state),
                    _ => Advance::Fail,
                }
            }
            Class::Closer | Class::Plain => {
                let mut at = self.skip_to_item(state.at, end, state.parent);
                if token.class == Class::Closer
                    && at < end
                    && (self.kind(at).separator || self.kind(at).terminator)
                {
                    let behind = self.skip_extras(self.tree.node(at).next, end);
                    if behind < end && self.kind(behind).closer {
                        at = behind;
                    }
                }
                if at >= end {
                    return Advance::Fail;
                }
                let node = *self.tree.node(at);
                let is_same = node.kind == token.kind
                    && (token.field == 0 || node.field == token.field)
                    && self.has_text(at, token);
                if is_same {
                    self.note(&state, at, node.next);
                    Advance::To(consumed(state, node.next, node.end))
                } else {
                    Advance::Fail
                }
            }
        }
    }

    fn has_line_end(&self, from: u32, next: u32) -> bool {
        let until = self.tree.node(next).start as usize;
        let between = self.source.get(from as usize..until).unwrap_or_default();
        memchr::memchr(b'\n', between).is_some()
    }

    fn comment(&mut self, state: State, end: u32, token: &Token) -> Advance {
        let mut at = state.at;
        while at < end && self.tree.node(at).flags.is_extra() {
            self.spend(1);
            let node = *self.tree.node(at);
            if node.kind == token.kind && self.has_text(at, token) {
                self.note(&state, at, node.next);
                return Advance::To(consumed(state, node.next, node.end));
            }
            if state.step == 0 {
                break;
            }
            at = node.next;
        }
        Advance::Fail
    }

    fn has_text(&self, at: u32, token: &Token) -> bool {
        let bytes = self.source.get(self.tree.range(at)).unwrap_or_default();
        if bytes == &*token.text {
            return true;
        }
        self.spend_for(bytes.len());
        if token.is_named && !self.kind(at).keyword {
            return is_same_but_for_carriage_returns(bytes, &token.text);
        }
        let ignores_case = self.grammar.language().ignores_case;
        let mut a = bytes.iter().filter(|b| !b.is_ascii_whitespace());
        let mut b = token.text.iter().filter(|b| !b.is_ascii_whitespace());
        loop {
            match (a.next(), b.next()) {
                (None, None) => return true,
                (Some(x), Some(y)) if x == y || (ignores_case && x.eq_ignore_ascii_case(y)) => {}
                _ => return false,
            }
        }
    }

    fn skip_extras(&self, mut at: u32, end: u32) -> u32 {
        while at < end && self.tree.node(at).flags.is_extra() {
            self.spend(1);
            at = self.tree.node(at).next;
        }
        at
    }

    /// Goes to the next child that a pattern must mention: over comments, and
    /// in a list of statements over terminators.
    fn skip_to_item(&self, at: u32, end: u32, parent: u32) -> u32 {
        let mut at = self.skip_extras(at, end);
        while at < end
            && self.kind(at).terminator
            && self.grammar.is_list(self.tree.node(parent).kind)
        {
            self.spend(1);
            at = self.skip_extras(self.tree.node(at).next, end);
        }
        at
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

    /// Compares the tokens of two runs of nodes, whatever white space and
    /// comments are between them.
    fn is_same_text(&self, a: Bound, b: Bound) -> bool {
        if a == b {
            return true;
        }
        if let (Some(x), Some(y)) = (self.span(a), self.span(b))
            && x.len() == y.len()
        {
            self.spend_for(x.len());
            if x == y {
                return true;
            }
        }
        let mut i = Tokens::new(self, a);
        let mut j = Tokens::new(self, b);
        while self.budget.get() > 0 {
            match (i.next(), j.next()) {
                (None, None) => return true,
                (Some(x), Some(y)) if x == y => self.spend_for(x.len()),
                _ => return false,
            }
        }
        false
    }

    fn span(&self, bound: Bound) -> Option<&[u8]> {
        if bound.from >= bound.to {
            return Some(&[]);
        }
        self.source.get(self.bytes_of(bound))
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

    fn offer(&mut self, state: State, what: Try) {
        self.choices.push(Choice {
            state,
            undo: self.undo.len() as u32,
            traced: self.trace.len() as u32,
            what,
        });
    }

    /// Goes back to the last choice that has something left to try.
    fn take_back(&mut self, program: &Program) -> Option<State> {
        while let Some(choice) = self.choices.pop() {
            if self.budget.get() == 0 {
                return Some(choice.state);
            }
            self.spend(STEP);
            self.steps += 1;
            self.trace.truncate(choice.traced as usize);
            while self.undo.len() > choice.undo as usize {
                let Some((variable, old)) = self.undo.pop() else {
                    break;
                };
                if let Some(slot) = self.bound.get_mut(usize::from(variable)) {
                    *slot = old;
                }
            }
            let next = match choice.what {
                Try::EmptyRun => self.skip_optional_or_run(program, choice.state),
                Try::Longer { from } => self.longer(program, choice.state, from),
                Try::LeaveOut => self.leave_out(choice.state),
            };
            let Some(next) = next else { continue };
            if self.steps > MEMO_AFTER
                && !self.is_near
                && program.depends.get(next.step as usize) == Some(&false)
                && self.is_dead(&next)
            {
                continue;
            }
            return Some(next);
        }
        None
    }

    /// Says whether this way was tried before, and notes that it is now.
    fn is_dead(&mut self, state: &State) -> bool {
        let way = (state.step, state.at, state.parent);
        if self.dead.len() >= MAX_DEAD {
            return self.dead.contains(&way);
        }
        !self.dead.insert(way)
    }

    fn skip_optional_or_run(&mut self, program: &Program, state: State) -> Option<State> {
        if let Some(Op::Enter {
            optional: Some(skip),
            ..
        }) = program.ops.get(state.step as usize)
        {
            let bound = Bound {
                from: state.at,
                to: state.at,
            };
            return self.bind(skip.variable, bound).then_some(State {
                step: u32::from(skip.behind),
                ..state
            });
        }
        match self.empty_run(program, state) {
            Advance::To(next) => Some(next),
            _ => None,
        }
    }

    /// Lets the run at this step, which began at `from`, end one sibling later.
    fn longer(&mut self, program: &Program, state: State, from: u32) -> Option<State> {
        let end = self.end(state.parent);
        let at = state.at;
        if at >= end {
            return None;
        }
        let node = *self.tree.node(at);
        let kind = self.grammar.kind(node.kind);
        let (variable, in_list, is_token_run) = match program.ops.get(state.step as usize)? {
            Op::Run { variable, after } => {
                let after_separator = state.step > 0
                    && matches!(
                        program.ops.get(state.step as usize - 1),
                        Some(Op::Token(Token {
                            class: Class::Separator,
                            ..
                        }))
                    );
                (
                    *variable,
                    after_separator || *after == RunAfter::Separator,
                    false,
                )
            }
            Op::Hole { variable, .. } => (*variable, false, true),
            _ => return None,
        };
        if is_token_run && (kind.separator || kind.closer || kind.terminator) {
            return None;
        }
        if in_list && kind.separator && self.skip_extras(from, end) == at {
            return None;
        }
        self.offer(
            State {
                at: node.next,
                ..state
            },
            Try::Longer { from },
        );
        if node.flags.is_extra() || kind.separator {
            // The run does not end here.
            return None;
        }
        let first = self.skip_extras(from, end);
        if !self.bind(
            variable,
            Bound {
                from: first,
                to: node.next,
            },
        ) {
            return None;
        }
        self.note(&state, first, node.next);
        Some(consumed(state, node.next, node.end))
    }

    fn offer_leaving_out(&mut self, program: &Program, state: &State) {
        let is_consuming = !matches!(
            program.ops.get(state.step as usize),
            Some(Op::Run { .. } | Op::Done) | None
        );
        let may_go_on = match state.left_out {
            None => true,
            Some(out) => out.to == state.at,
        };
        if state.step > 0 && is_consuming && may_go_on && state.at < self.end(state.parent) {
            self.offer(*state, Try::LeaveOut);
        }
    }

    fn leave_out(&self, state: State) -> Option<State> {
        let node = self.tree.node(state.at);
        let kind = self.grammar.kind(node.kind);
        let mut out = state.left_out.unwrap_or(LeftOut {
            from: state.at,
            to: state.at,
            step: state.step as u16,
            named: 0,
            tokens: 0,
        });
        if node.flags.is_extra() || node.flags.is_fault() {
            return None;
        }
        if kind.named {
            out.named += 1;
        } else {
            out.tokens += 1;
        }
        if out.named > 1 || out.tokens > 2 {
            return None;
        }
        out.to = node.next;
        Some(State {
            at: node.next,
            left_out: Some(out),
            ..state
        })
    }
}

/// The tokens of a run of nodes, without white space and comments.
struct Tokens<'m, 'a> {
    matcher: &'m Matcher<'a>,
    at: u32,
    end: u32,
    /// The byte up to which the text was given out.
    done: usize,
    /// One past the last byte.
    limit: usize,
    /// A token found behind a text that no node covers.
    held: Option<&'a [u8]>,
}

impl<'m, 'a> Tokens<'m, 'a> {
    fn new(matcher: &'m Matcher<'a>, bound: Bound) -> Self {
        let bytes = matcher.bytes_of(bound);
        Self {
            matcher,
            at: bound.from,
            end: bound.to,
            done: bytes.start,
            limit: bytes.end,
            held: None,
        }
    }
}

impl<'a> Iterator for Tokens<'_, 'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if let Some(token) = self.held.take() {
            return Some(token);
        }
        let (tree, source) = (self.matcher.tree, self.matcher.source);
        while self.at < self.end {
            let node = tree.node(self.at);
            let range = tree.range(self.at);
            self.matcher.spend(1);
            if node.flags.is_extra() {
                self.at = node.next;
                self.done = self.done.max(range.end);
            } else if tree.is_leaf(self.at) || self.matcher.kind(self.at).textual {
                // Some nodes have text of their own beside their children: `1px` in CSS.
                let between = source
                    .get(self.done..range.start)
                    .unwrap_or_default()
                    .trim_ascii();
                self.at = node.next;
                self.done = self.done.max(range.end);
                let token = source.get(range).unwrap_or_default();
                if between.is_empty() {
                    return Some(token);
                }
                self.held = Some(token);
                return Some(between);
            } else {
                self.at += 1;
            }
        }
        let rest = source
            .get(self.done..self.limit)
            .unwrap_or_default()
            .trim_ascii();
        self.done = self.limit;
        (!rest.is_empty()).then_some(rest)
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

fn is_same_but_for_carriage_returns(a: &[u8], b: &[u8]) -> bool {
    if !a.contains(&b'\r') && !b.contains(&b'\r') {
        return false;
    }
    let without =
        |text: &[u8]| -> Vec<u8> { text.iter().copied().filter(|c| *c != b'\r').collect() };
    without(a) == without(b)
}
