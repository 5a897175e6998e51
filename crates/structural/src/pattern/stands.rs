//! Chooses what stands for each metavariable, so that the fragment parses.

use super::allowance::Parsed;
use super::build::{self, Refusal};
use super::lex::{Dollar, DollarForm};
use super::scaffold::{self, Stand};
use super::{Compiler, Effort, GIVEN_UP, MAX_PATTERN_BYTES, MAX_ROWS, Variable};
use crate::languages::{Context, Rung};

impl Compiler<'_, '_> {
    /// Finds stand-ins with which the text parses.
    pub(super) fn choose_fillers(
        &mut self,
        dollars: &[Dollar],
        stands: &mut [Stand],
        context: Context,
    ) -> Result<(), Refusal> {
        let mut best = match self.cost(dollars, stands, context) {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        let holes: Vec<usize> = stands
            .iter()
            .enumerate()
            .filter(|(i, s)| matches!(s, Stand::Filler(_)) && self.fixed != Some(*i))
            .map(|(i, _)| i)
            .collect();
        // Each is improved in turn, which is enough since stand-ins rarely interact.
        for _round in 0..2 {
            for &hole in &holes {
                let before = stands.get(hole).copied();
                let mut chosen = before;
                let is_alone = dollars
                    .get(hole)
                    .is_some_and(|d| scaffold::is_alone(self.grammar, self.text, d));
                for filler in 0..self.fillers.len() {
                    let fits =
                        |f: &scaffold::Filler| f.other.is_none() && (is_alone || !f.needs_slot);
                    if !self.fillers.get(filler).is_some_and(fits) {
                        continue;
                    }
                    let Some(slot) = stands.get_mut(hole) else {
                        continue;
                    };
                    *slot = Stand::Filler(filler);
                    match self.cost(dollars, stands, context) {
                        Ok(()) => return Ok(()),
                        Err(refusal) if self.allowance.is_spent() => return Err(refusal),
                        Err(refusal) => {
                            if refusal.cost() < best.cost() {
                                best = refusal;
                                chosen = Some(Stand::Filler(filler));
                            }
                        }
                    }
                }
                if let (Some(slot), Some(chosen)) = (stands.get_mut(hole), chosen) {
                    *slot = chosen;
                }
            }
        }
        if self.try_combinations(dollars, stands, &holes, context) {
            return Ok(());
        }
        Err(best)
    }

    /// Tries the stand-ins of a few metavariables in every combination: of the
    /// plain ones, or with [`Effort::Thorough`] of all.
    pub(super) fn try_combinations(
        &mut self,
        dollars: &[Dollar],
        stands: &mut [Stand],
        holes: &[usize],
        context: Context,
    ) -> bool {
        let most = if self.effort == Effort::Thorough {
            600
        } else {
            27
        };
        let choices: Vec<Vec<usize>> = holes.iter().map(|h| self.choices(dollars, *h)).collect();
        let combinations = choices
            .iter()
            .try_fold(1_usize, |n, c| n.checked_mul(c.len()));
        let Some(combinations) = combinations.filter(|n| *n <= most) else {
            return self.effort == Effort::Thorough
                && self.try_in_turn(dollars, stands, holes, &choices, context);
        };
        let before = stands.to_vec();
        for mut combination in 1..combinations {
            for (&hole, choices) in holes.iter().zip(&choices) {
                let choice = choices.get(combination % choices.len().max(1));
                if let (Some(slot), Some(choice)) = (stands.get_mut(hole), choice) {
                    *slot = Stand::Filler(*choice);
                }
                combination /= choices.len().max(1);
            }
            if self.cost(dollars, stands, context).is_ok() {
                return true;
            }
            if self.allowance.is_spent() {
                break;
            }
        }
        stands.copy_from_slice(&before);
        false
    }

    /// Chooses the stand-ins of one metavariable after the other, going on with
    /// the choices that parse best so far.
    pub(super) fn try_in_turn(
        &mut self,
        dollars: &[Dollar],
        stands: &mut [Stand],
        holes: &[usize],
        choices: &[Vec<usize>],
        context: Context,
    ) -> bool {
        let mut rows = vec![stands.to_vec()];
        for (&hole, choices) in holes.iter().zip(choices) {
            let mut tried: Vec<(usize, Vec<Stand>)> = Vec::new();
            for (row, &choice) in rows
                .iter()
                .flat_map(|row| choices.iter().map(move |choice| (row, choice)))
            {
                let mut row = row.clone();
                if let Some(slot) = row.get_mut(hole) {
                    *slot = Stand::Filler(choice);
                }
                match self.cost(dollars, &row, context) {
                    Ok(()) => {
                        stands.copy_from_slice(&row);
                        return true;
                    }
                    Err(_) if self.allowance.is_spent() => return false,
                    Err(refusal) => tried.push((refusal.cost(), row)),
                }
            }
            tried.sort_by_key(|(cost, _)| *cost);
            tried.truncate(MAX_ROWS);
            rows = tried.into_iter().map(|(_, row)| row).collect();
        }
        false
    }

    /// Returns the stand-ins worth a combination for one metavariable.
    pub(super) fn choices(&self, dollars: &[Dollar], hole: usize) -> Vec<usize> {
        let is_alone = self.effort == Effort::Thorough
            && dollars
                .get(hole)
                .is_some_and(|d| scaffold::is_alone(self.grammar, self.text, d));
        let fits = |f: &scaffold::Filler| f.other.is_none() && (is_alone || !f.needs_slot);
        self.fillers
            .iter()
            .enumerate()
            .filter(|(_, f)| fits(f))
            .map(|(i, _)| i)
            .collect()
    }

    /// Whether there are no combinations to try.
    pub(super) fn has_one_choice(&self, dollars: &[Dollar]) -> bool {
        dollars
            .iter()
            .filter(|d| matches!(d.form, DollarForm::Hole(..)))
            .count()
            < 2
    }

    /// Reads the pattern in every context.
    pub(super) fn read_all(
        &mut self,
        dollars: &[Dollar],
        variables: &[Variable],
        readings: &mut Vec<build::Reading>,
        attempts: &mut Vec<(Rung, Refusal)>,
    ) {
        for context in self.grammar.language().contexts {
            self.allowance.enter_context();
            let first = self.read(dollars, variables, *context);
            let others = self.read_otherwise(dollars, variables, *context);
            let is_meant = others.iter().any(|(_, is_meant)| *is_meant);
            let first = match first {
                Ok(reading) => Some(reading).filter(|_| !is_meant),
                Err(refusal) => {
                    attempts.push((context.rung, refusal));
                    None
                }
            };
            for reading in first.into_iter().chain(others.into_iter().map(|(r, _)| r)) {
                if !readings.iter().any(|r| r.program.is_same(&reading.program)) {
                    readings.push(reading);
                }
            }
        }
    }

    /// Says how badly the text parses with these stand-ins.
    pub(super) fn cost(
        &mut self,
        dollars: &[Dollar],
        stands: &[Stand],
        context: Context,
    ) -> Result<(), Refusal> {
        if self.tried.context != Some(context) {
            self.tried.context = Some(context);
            self.tried.known.clear();
        }
        if let Some(known) = self.tried.known.get(stands) {
            return known.clone();
        }
        let cost = self.parse_cost(dollars, stands, context);
        self.tried.known.insert(stands.into(), cost.clone());
        cost
    }

    pub(super) fn parse_cost(
        &mut self,
        dollars: &[Dollar],
        stands: &[Stand],
        context: Context,
    ) -> Result<(), Refusal> {
        let written = self.write(dollars, stands, context);
        let tree = match self.parse(&written) {
            Parsed::Tree(tree) => tree,
            Parsed::Faulty(at) => {
                // What gets further is better, and what gets through is better still.
                let rest = written.text.len().saturating_sub(at);
                return Err(Refusal::Fault {
                    at: written.to_pattern(at),
                    cost: MAX_PATTERN_BYTES.saturating_mul(1024) + rest,
                });
            }
            Parsed::Spent => return Err(GIVEN_UP),
        };
        match scaffold::fault(&tree) {
            None => match build::keyword_behind_hole(self.grammar, &tree, &written) {
                None => Ok(()),
                Some(at) => Err(Refusal::Fault {
                    at: written.to_pattern(at),
                    cost: 1,
                }),
            },
            Some(fault) => Err(Refusal::Fault {
                at: written.to_pattern(fault.at),
                cost: fault.cost,
            }),
        }
    }
}

/// Returns the stand-ins that are tried first.
pub(super) fn first_stands(dollars: &[Dollar]) -> Vec<Stand> {
    dollars
        .iter()
        .map(|d| match d.form {
            DollarForm::Hole(..) => Stand::Filler(0),
            DollarForm::Escaped => Stand::Unescaped,
            DollarForm::Plain(_) => Stand::Plain,
        })
        .collect()
}

pub(super) fn reset(stands: &mut [Stand]) {
    for stand in stands.iter_mut().filter(|s| matches!(s, Stand::Filler(_))) {
        *stand = Stand::Filler(0);
    }
}
