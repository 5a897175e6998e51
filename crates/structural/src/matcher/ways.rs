//! The ways that are still open: what was chosen can be taken back, and another
//! way tried.

use super::{
    Advance, Bound, Choice, LeftOut, MAX_DEAD, MEMO_AFTER, Matcher, STEP, State, Try, consumed,
};
use crate::program::{Class, Op, Program, RunAfter, Token};

impl Matcher<'_> {
    pub(super) fn offer(&mut self, state: State, what: Try) {
        self.choices.push(Choice {
            state,
            undo: self.undo.len() as u32,
            traced: self.trace.len() as u32,
            what,
        });
    }

    /// Goes back to the last choice that has something left to try.
    pub(super) fn take_back(&mut self, program: &Program) -> Option<State> {
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
    pub(super) fn is_dead(&mut self, state: &State) -> bool {
        let way = (state.step, state.at, state.parent);
        if self.dead.len() >= MAX_DEAD {
            return self.dead.contains(&way);
        }
        !self.dead.insert(way)
    }

    pub(super) fn skip_optional_or_run(
        &mut self,
        program: &Program,
        state: State,
    ) -> Option<State> {
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
    pub(super) fn longer(&mut self, program: &Program, state: State, from: u32) -> Option<State> {
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

    pub(super) fn offer_leaving_out(&mut self, program: &Program, state: &State) {
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

    pub(super) fn leave_out(&self, state: State) -> Option<State> {
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
