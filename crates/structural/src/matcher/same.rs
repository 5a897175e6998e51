//! Compares the texts of nodes, whatever white space and comments are between
//! their tokens.

use super::{Bound, Matcher};

impl Matcher<'_> {
    /// Compares the tokens of two runs of nodes, whatever white space and
    /// comments are between them.
    pub(super) fn is_same_text(&self, a: Bound, b: Bound) -> bool {
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

    pub(super) fn span(&self, bound: Bound) -> Option<&[u8]> {
        if bound.from >= bound.to {
            return Some(&[]);
        }
        self.source.get(self.bytes_of(bound))
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

pub(super) fn is_same_but_for_carriage_returns(a: &[u8], b: &[u8]) -> bool {
    if !a.contains(&b'\r') && !b.contains(&b'\r') {
        return false;
    }
    let without =
        |text: &[u8]| -> Vec<u8> { text.iter().copied().filter(|c| *c != b'\r').collect() };
    without(a) == without(b)
}
