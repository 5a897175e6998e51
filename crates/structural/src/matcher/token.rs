//! Matches tokens, comments, and what is between the nodes.

use super::same::is_same_but_for_carriage_returns;
use super::{Advance, Matcher, State, Try, consumed, push_gap_in};
use crate::program::{Class, Op, Program, Token};

impl Matcher<'_> {
    pub(super) fn leave(&mut self, mut state: State, gap: &[u8]) -> Advance {
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
    pub(super) fn has_gap(&self, parent: u32, wanted: &[u8]) -> bool {
        let node = self.tree.node(parent);
        let kind = self.kind(parent);
        let mut at = node.start as usize;
        let mut rest = wanted;
        let mut take = |bytes: &[u8]| -> bool {
            if bytes.is_empty() {
                return true;
            }
            let mut gap = Vec::new();
            push_gap_in(kind, &mut gap, bytes);
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

    pub(super) fn token(
        &mut self,
        program: &Program,
        state: State,
        end: u32,
        token: &Token,
    ) -> Advance {
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
                    Some(Op::Leave { .. }) => skip(state),
                    Some(Op::Done) if !self.goes_on(&state, at, end) => skip(state),
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

    /// Whether the terminator that is missing here stands behind something
    /// else: that of `struct s {} v;` is no terminator of `struct s {}`.
    fn goes_on(&self, state: &State, mut at: u32, end: u32) -> bool {
        while at < end {
            self.spend(1);
            if self.kind(at).terminator {
                return !self.grammar.is_list(self.tree.node(state.parent).kind);
            }
            at = self.tree.node(at).next;
        }
        false
    }

    pub(super) fn has_line_end(&self, from: u32, next: u32) -> bool {
        let until = self.tree.node(next).start as usize;
        let between = self.source.get(from as usize..until).unwrap_or_default();
        memchr::memchr(b'\n', between).is_some()
    }

    pub(super) fn comment(&mut self, state: State, end: u32, token: &Token) -> Advance {
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

    pub(super) fn has_text(&self, at: u32, token: &Token) -> bool {
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

    pub(super) fn skip_extras(&self, mut at: u32, end: u32) -> u32 {
        while at < end && self.tree.node(at).flags.is_extra() {
            self.spend(1);
            at = self.tree.node(at).next;
        }
        at
    }

    /// Goes to the next child that a pattern must mention: over comments, and
    /// in a list of statements over terminators.
    pub(super) fn skip_to_item(&self, at: u32, end: u32, parent: u32) -> u32 {
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
}
