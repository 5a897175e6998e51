//! Ends a statement once: not twice, and not never.

use super::{Assembler, Hit};
use crate::program::Class;
use crate::rewrite::recipe::{PieceWhat, Recipe};

impl Assembler<'_> {
    /// Whether a terminator may be written behind a match that had none: it is
    /// a statement, and none follows.
    pub(super) fn wants_terminator(&self, hit: &Hit) -> bool {
        let rest = self.source.get(hit.found.bytes.end..).unwrap_or_default();
        let next = rest.iter().find(|b| !b.is_ascii_whitespace());
        if matches!(next, Some(b';' | b',' | b')' | b']')) {
            return false;
        }
        let mut at = hit.found.node;
        loop {
            let node = self.tree.node(at);
            let parent = self.tree.node(node.parent);
            if node.parent == at
                || self.grammar.is_list(parent.kind)
                || self.grammar.kind_name(parent.kind) == "expression_statement"
            {
                return true;
            }
            if (parent.start, parent.end) != (node.start, node.end) {
                return false;
            }
            at = node.parent;
        }
    }

    /// Keeps the terminator of a statement that the template does not write.
    pub(super) fn end_statement(&mut self, hit: &Hit, recipe: &Recipe, start: usize) {
        let Some(at) = self.state.places.last().filter(|at| !at.is_absent) else {
            return;
        };
        let is_written = (recipe.steps.last())
            .and_then(|s| self.unit(s))
            .is_none_or(|u| u.class == Class::Terminator);
        let ends = self
            .out
            .get(start..)
            .is_none_or(|text| text.is_empty() || text.ends_with(b";") || text.ends_with(b"}"));
        if !ends_with_terminator(recipe) || is_written || ends {
            return;
        }
        // In Rust the last expression of a block is its value: leaving out the
        // `;` there is what the template is for.
        if self.grammar.language().id == "rust" && self.is_last_in_block(hit) {
            return;
        }
        let range = at.range.clone();
        self.copy(range);
    }

    fn is_last_in_block(&self, hit: &Hit) -> bool {
        let parent = self.tree.node(hit.found.node).parent;
        let end = self.tree.node(parent).next;
        let mut at = hit.found.next;
        while at < end && self.tree.node(at).flags.is_extra() {
            at = self.tree.node(at).next;
        }
        at >= end || self.grammar.kind(self.tree.node(at).kind).closer
    }
}

pub(super) fn ends_with_terminator(recipe: &Recipe) -> bool {
    (recipe.pieces.last()).is_some_and(|p| p.what == PieceWhat::Token(Class::Terminator))
}
