//! A tree in few bytes, to be kept between searches.
//!
//! A [`FlatNode`] takes 24 bytes and there is one for every three to four bytes
//! of source. Packed, a node takes six to seven: numbers are written in as many
//! groups of seven bits as they need (LEB128), and places as the distance from
//! where the parent or the sibling before left off.

use super::{Flags, FlatNode, FlatTree};

const IS_LEAF: u32 = 4;
const HAS_FIELD: u32 = 8;

/// A [`FlatTree`] in few bytes.
#[derive(Debug)]
pub(crate) struct PackedTree {
    bytes: Box<[u8]>,
    nodes: u32,
    has_fault: bool,
}

impl PackedTree {
    /// Returns how much memory it takes, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

impl FlatTree {
    /// Packs the tree.
    pub(crate) fn pack(&self) -> PackedTree {
        let mut bytes = Vec::with_capacity(self.nodes.len() * 7);
        for (index, node) in self.nodes.iter().enumerate() {
            let index = index as u32;
            let (_, from) = self.place_before(index);
            let is_leaf = node.next == index + 1;
            let mut head = u32::from(node.kind) << 4 | u32::from(node.flags.0);
            if is_leaf {
                head |= IS_LEAF;
            }
            if node.field != 0 {
                head |= HAS_FIELD;
            }
            write(&mut bytes, head);
            if node.field != 0 {
                write(&mut bytes, u32::from(node.field));
            }
            write(&mut bytes, node.start.wrapping_sub(from));
            write(&mut bytes, node.end.wrapping_sub(node.start));
            if !is_leaf {
                write(&mut bytes, node.next - index);
            }
        }
        PackedTree {
            bytes: bytes.into(),
            nodes: self.nodes.len() as u32,
            has_fault: self.has_fault,
        }
    }

    /// Lays out a packed tree, reusing this value's memory.
    pub(crate) fn unpack(&mut self, packed: &PackedTree) {
        self.nodes.clear();
        self.nodes.reserve(packed.nodes as usize);
        self.has_fault = packed.has_fault;
        let mut rest = &*packed.bytes;
        for index in 0..packed.nodes {
            let (parent, from) = self.place_before(index);
            let head = read(&mut rest);
            let field = if head & HAS_FIELD == 0 {
                0
            } else {
                read(&mut rest) as u16
            };
            let start = from.wrapping_add(read(&mut rest));
            let end = start.wrapping_add(read(&mut rest));
            let nodes = if head & IS_LEAF == 0 {
                read(&mut rest)
            } else {
                1
            };
            self.nodes.push(FlatNode {
                start,
                end,
                next: index + nodes,
                parent,
                kind: (head >> 4) as u16,
                field,
                flags: Flags((head & 3) as u8),
            });
        }
    }

    /// Returns the parent of the node at `index`, and where the node before it
    /// left off: the start of the parent or the end of the sibling before.
    /// Only nodes before `index` are looked at.
    fn place_before(&self, index: u32) -> (u32, u32) {
        let Some(mut before) = index.checked_sub(1) else {
            return (0, 0);
        };
        let node = self.node(before);
        if node.next > index {
            return (before, node.start);
        }
        loop {
            let node = self.node(before);
            if self.node(node.parent).next > index || before == 0 {
                return (node.parent, node.end);
            }
            before = node.parent;
        }
    }
}

fn write(bytes: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Reads one number; 0 where there is none, which [`FlatTree::pack`] never leaves.
fn read(rest: &mut &[u8]) -> u32 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((byte, behind)) = rest.split_first() {
        *rest = behind;
        value |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if *byte < 0x80 {
            break;
        }
        shift += 7;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, u32::MAX - 1, u32::MAX];
        let mut bytes = Vec::new();
        for number in numbers {
            write(&mut bytes, number);
        }
        let mut rest = &*bytes;
        assert_eq!(numbers.map(|_| read(&mut rest)), numbers);
        assert!(rest.is_empty());
    }
}
