//! A syntax tree laid out flat, in the order of a walk from the root.
//!
//! One walk over the parser's tree copies what matching needs into an array:
//! kinds, byte ranges and where each subtree ends. Everything after that is
//! array work, so nothing recurses over the depth of a source file.

mod pack;

use std::ops::Range;

use tree_sitter::Tree;

pub(crate) use pack::PackedTree;

/// Kind id of an error node, in every grammar.
pub(crate) const ERROR: u16 = u16::MAX;

/// One node of a [`FlatTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlatNode {
    /// First byte.
    pub(crate) start: u32,
    /// One past the last byte.
    pub(crate) end: u32,
    /// Index one past this node's subtree; the next sibling, if there is one.
    pub(crate) next: u32,
    /// Index of the parent; the root is its own parent.
    pub(crate) parent: u32,
    /// Kind id.
    pub(crate) kind: u16,
    /// Field id within the parent, 0 for none.
    pub(crate) field: u16,
    /// What the parser says of it.
    pub(crate) flags: Flags,
}

/// What the parser says of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    const EXTRA: u8 = 1;
    const FAULT: u8 = 2;

    /// The node may stand anywhere, as comments do.
    pub(crate) fn is_extra(self) -> bool {
        self.0 & Self::EXTRA != 0
    }

    /// The node is an error, or was made up by the parser.
    pub(crate) fn is_fault(self) -> bool {
        self.0 & Self::FAULT != 0
    }
}

/// A syntax tree as an array; index 0 is the root.
#[derive(Debug, Default)]
pub(crate) struct FlatTree {
    nodes: Vec<FlatNode>,
    has_fault: bool,
}

impl FlatTree {
    /// Lays out `tree`, reusing this value's memory.
    ///
    /// Field ids are recorded for children of the kinds that `wants_fields`
    /// names, since looking them up costs about as much as the visit itself.
    ///
    /// With `anchors`, only nodes that hold one of them are gone into, except
    /// below a node of a kind that `is_start` names, which is laid out whole.
    pub(crate) fn refill(
        &mut self,
        tree: &Tree,
        wants_fields: impl Fn(u16) -> bool,
        anchors: Option<&[u32]>,
        is_start: impl Fn(u16) -> bool,
    ) {
        self.nodes.clear();
        let mut ahead = anchors.unwrap_or_default();
        let mut whole_until = if anchors.is_some() { 0 } else { u32::MAX };
        self.has_fault = tree.root_node().has_error();
        let mut cursor = tree.walk();
        let mut parent = 0_u32;
        let mut parent_wants_fields = false;
        loop {
            let node = cursor.node();
            let kind = node.kind_id();
            let (start, end) = (node.start_byte() as u32, node.end_byte() as u32);
            let index = self.nodes.len() as u32;
            let missing = self.has_fault && start == end && node.is_missing();
            // Tokens without text (automatic semicolons, dedents) say nothing.
            let keep = start != end || missing || index == 0 || node.is_named();
            if keep {
                let mut flags = 0;
                // What the parser skipped counts as an extra for it, but is code.
                if node.is_extra() && kind != ERROR {
                    flags |= Flags::EXTRA;
                }
                if kind == ERROR || missing {
                    flags |= Flags::FAULT;
                }
                let field = if parent_wants_fields {
                    cursor.field_id().map_or(0, std::num::NonZero::get)
                } else {
                    0
                };
                self.nodes.push(FlatNode {
                    start,
                    end,
                    next: index + 1,
                    parent,
                    kind,
                    field,
                    flags: Flags(flags),
                });
                let mut goes_in = start != end || index == 0;
                if start >= whole_until {
                    while ahead.first().is_some_and(|a| *a < start) {
                        ahead = ahead.get(1..).unwrap_or_default();
                    }
                    goes_in = ahead.first().is_some_and(|a| *a < end);
                    if goes_in && is_start(kind) {
                        whole_until = end;
                    }
                }
                if goes_in && cursor.goto_first_child() {
                    parent = index;
                    parent_wants_fields = wants_fields(kind);
                    continue;
                }
            }
            loop {
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
                let done = self.nodes.len() as u32;
                let Some(closed) = self.nodes.get_mut(parent as usize) else {
                    return;
                };
                closed.next = done;
                parent = closed.parent;
                parent_wants_fields = self
                    .nodes
                    .get(parent as usize)
                    .is_some_and(|p| wants_fields(p.kind));
            }
        }
    }

    /// Lays out `tree` with all field ids.
    pub(crate) fn whole(tree: &Tree) -> Self {
        let mut flat = Self::default();
        flat.refill(tree, |_| true, None, |_| true);
        flat
    }

    /// Returns all nodes.
    pub(crate) fn nodes(&self) -> &[FlatNode] {
        &self.nodes
    }

    /// Returns whether an error or a made-up node is anywhere in the tree.
    pub(crate) fn has_fault(&self) -> bool {
        self.has_fault
    }

    /// Returns the node at `index`.
    pub(crate) fn node(&self, index: u32) -> &FlatNode {
        &self.nodes[index as usize]
    }

    /// Returns the indices of the children of `index`, in order.
    pub(crate) fn children(&self, index: u32) -> Children<'_> {
        Children {
            tree: self,
            at: index + 1,
            end: self.node(index).next,
        }
    }

    /// Returns whether the node has no children.
    pub(crate) fn is_leaf(&self, index: u32) -> bool {
        self.node(index).next == index + 1
    }

    /// Returns the bytes a node covers.
    pub(crate) fn range(&self, index: u32) -> Range<usize> {
        let node = self.node(index);
        node.start as usize..node.end as usize
    }
}

/// The children of a node.
pub(crate) struct Children<'a> {
    tree: &'a FlatTree,
    at: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.at >= self.end {
            return None;
        }
        let index = self.at;
        self.at = self.tree.node(index).next;
        Some(index)
    }
}
