//! Pairs the pieces of a pattern with those of a template, in order.
//!
//! The pairing costs least by these rules: what is the same costs nothing, one
//! thing in place of another less than leaving the one out and putting the
//! other in, and what is left out or put in together less than here and there.

use std::ops::Range;

use super::recipe::{Piece, PieceWhat, is_same};
use super::template::{Unit, What};
use crate::pattern::is_word;

/// Pieces of the pattern, and those of the template in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) pieces: Range<usize>,
    pub(crate) units: Range<usize>,
    pub(crate) is_same: bool,
}

/// The most pairs of pieces that are weighed.
const MAX_CELLS: usize = 400_000;

/// Costs of one metavariable for another, of one word or sign for another of
/// its sort, and of a metavariable for a word.
const OTHER_HOLE: u32 = 8;
const OTHER_TOKEN: u32 = 12;
const HOLE_FOR_WORD: u32 = 15;
/// Cost of one piece left out or put in, and of beginning to.
const APART: u32 = 10;
const FIRST_APART: u32 = 1;

const NEVER: u32 = u32::MAX / 2;

/// The last thing done on the way to a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Paired so many pieces with so many units.
    Paired(u16, u16, bool),
    LeftOut,
    PutIn,
}

/// The cheapest ways to a cell, by what was done last.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Costs, in the order paired, left out, put in.
    cost: [u32; 3],
    /// For each, which of the three came before it.
    from: [u8; 3],
    paired: (u16, u16, bool),
}

const NONE: Cell = Cell {
    cost: [NEVER; 3],
    from: [0; 3],
    paired: (1, 1, false),
};

/// Pairs them.
pub(super) fn pair(pieces: &[Piece], pattern: &str, units: &[Unit], template: &str) -> Vec<Pair> {
    let (rows, columns) = (pieces.len() + 1, units.len() + 1);
    if rows.saturating_mul(columns) > MAX_CELLS {
        return ends(pieces, pattern, units, template);
    }
    let context = Context {
        pieces,
        pattern,
        units,
        template,
    };
    let mut cells = vec![NONE; rows * columns];
    if let Some(first) = cells.first_mut() {
        first.cost[0] = 0;
    }
    for row in 0..rows {
        for column in 0..columns {
            let here = cells[row * columns + column];
            let (cost, from) = cheapest(here.cost);
            if cost >= NEVER {
                continue;
            }
            let mut offer = |row: usize, column: usize, last: Last, total: u32, from: u8| {
                let Some(cell) = cells.get_mut(row * columns + column) else {
                    return;
                };
                let slot = match last {
                    Last::Paired(..) => 0,
                    Last::LeftOut => 1,
                    Last::PutIn => 2,
                };
                if total < cell.cost[slot] {
                    cell.cost[slot] = total;
                    cell.from[slot] = from;
                    if let Last::Paired(pieces, units, is_same) = last {
                        cell.paired = (pieces, units, is_same);
                    }
                }
            };
            if row + 1 < rows && column + 1 < columns {
                if let Some((m, n)) = context.same(row, column) {
                    let last = Last::Paired(m, n, true);
                    offer(
                        row + usize::from(m),
                        column + usize::from(n),
                        last,
                        cost,
                        from,
                    );
                } else if let Some(extra) = context.other(row, column) {
                    let last = Last::Paired(1, 1, false);
                    offer(row + 1, column + 1, last, cost + extra, from);
                }
            }
            // Going on with what was done last is cheaper than beginning anew.
            for (last, slot, is_inside) in [
                (Last::LeftOut, 1_u8, row + 1 < rows),
                (Last::PutIn, 2, column + 1 < columns),
            ] {
                let going_on = here.cost[usize::from(slot)].saturating_add(APART);
                let anew = cost + APART + FIRST_APART;
                let (total, from) = if going_on <= anew {
                    (going_on, slot)
                } else {
                    (anew, from)
                };
                if is_inside && slot == 1 {
                    offer(row + 1, column, last, total, from);
                } else if is_inside {
                    offer(row, column + 1, last, total, from);
                }
            }
        }
    }
    trace_back(&cells, rows, columns)
}

fn trace_back(cells: &[Cell], rows: usize, columns: usize) -> Vec<Pair> {
    let mut found = Vec::new();
    let (mut row, mut column) = (rows - 1, columns - 1);
    let mut slot = cells
        .get(row * columns + column)
        .map_or(0, |cell| cheapest(cell.cost).1);
    while (row, column) != (0, 0) {
        let Some(cell) = cells.get(row * columns + column) else {
            break;
        };
        let from = cell.from.get(usize::from(slot)).copied().unwrap_or(0);
        match slot {
            0 => {
                let (m, n, is_same) = cell.paired;
                let pieces = row.saturating_sub(usize::from(m))..row;
                let units = column.saturating_sub(usize::from(n))..column;
                (row, column) = (pieces.start, units.start);
                found.push(Pair {
                    pieces,
                    units,
                    is_same,
                });
            }
            1 => row = row.saturating_sub(1),
            _ => column = column.saturating_sub(1),
        }
        slot = from;
    }
    found.reverse();
    found
}

fn cheapest(cost: [u32; 3]) -> (u32, u8) {
    let [paired, left_out, put_in] = cost;
    if paired <= left_out && paired <= put_in {
        (paired, 0)
    } else if left_out <= put_in {
        (left_out, 1)
    } else {
        (put_in, 2)
    }
}

/// Pairs what is the same at both ends, for texts too long to weigh.
fn ends(pieces: &[Piece], pattern: &str, units: &[Unit], template: &str) -> Vec<Pair> {
    let same = |piece: &Piece, unit: &Unit| is_same(piece, pattern, unit, template);
    let limit = pieces.len().min(units.len());
    let first = (pieces.iter().zip(units))
        .take_while(|(p, u)| same(p, u))
        .count();
    let last = (pieces.iter().rev().zip(units.iter().rev()))
        .take(limit - first)
        .take_while(|(p, u)| same(p, u))
        .count();
    let one = |piece: usize, unit: usize| Pair {
        pieces: piece..piece + 1,
        units: unit..unit + 1,
        is_same: true,
    };
    (0..first)
        .map(|i| one(i, i))
        .chain((0..last).map(|i| one(pieces.len() - last + i, units.len() - last + i)))
        .collect()
}

struct Context<'a> {
    pieces: &'a [Piece],
    pattern: &'a str,
    units: &'a [Unit],
    template: &'a str,
}

impl Context<'_> {
    /// Whether so many pieces from `row` are the same as so many units from `column`.
    fn same(&self, row: usize, column: usize) -> Option<(u16, u16)> {
        let (piece, unit) = (self.pieces.get(row)?, self.units.get(column)?);
        if is_same(piece, self.pattern, unit, self.template) {
            return Some((1, 1));
        }
        // One side may see several tokens where the other sees one.
        let (PieceWhat::Token(_), What::Text(_)) = (piece.what, &unit.what) else {
            return None;
        };
        let (a, b) = (piece.range.len(), unit.range.len());
        if a > b {
            let end = unit.range.start + a;
            let last = self.units.partition_point(|u| u.range.end < end);
            let is_whole = self.units.get(last)?.range.end == end
                && self.template.get(unit.range.start..end)
                    == self.pattern.get(piece.range.clone())
                && (self.units.get(column..=last)?.iter()).all(|u| matches!(u.what, What::Text(_)));
            is_whole.then_some((1, u16::try_from(last + 1 - column).ok()?))
        } else {
            let end = piece.range.start + b;
            let last = self.pieces.partition_point(|p| p.range.end < end);
            let is_whole = self.pieces.get(last)?.range.end == end
                && self.pattern.get(piece.range.start..end)
                    == self.template.get(unit.range.clone())
                && (self.pieces.get(row..=last)?.iter())
                    .all(|p| matches!(p.what, PieceWhat::Token(_)));
            is_whole.then_some((u16::try_from(last + 1 - row).ok()?, 1))
        }
    }

    /// What it costs to put a unit in the place of another piece, if it may.
    fn other(&self, row: usize, column: usize) -> Option<u32> {
        let (piece, unit) = (self.pieces.get(row)?, self.units.get(column)?);
        let word = |text: Option<&str>| text.is_some_and(|t| t.bytes().next().is_some_and(is_word));
        let piece_is_word = word(self.pattern.get(piece.range.clone()));
        let unit_is_word = word(self.template.get(unit.range.clone()));
        match (piece.what, &unit.what) {
            (PieceWhat::Hole(_), What::Variable(_)) => Some(OTHER_HOLE),
            (PieceWhat::Hole(_), What::Text(_)) => unit_is_word.then_some(HOLE_FOR_WORD),
            (PieceWhat::Token(_), What::Variable(_)) => piece_is_word.then_some(HOLE_FOR_WORD),
            (PieceWhat::Token(a), What::Text(_)) => {
                (a == unit.class && piece_is_word == unit_is_word).then_some(OTHER_TOKEN)
            }
        }
    }
}
