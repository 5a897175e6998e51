//! Decides which files and which nodes are worth a look.

mod mirror;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use memchr::memmem::{Finder, FinderBuilder, Prefilter};

use crate::grammar::Grammar;
use crate::languages::Comments;
use crate::pattern::Pattern;
use crate::program::{Literal, Op};

/// A pattern made ready for many files of one language.
pub(crate) struct Plan {
    /// Distinct literals of all programs, longest first.
    literals: Vec<(Literal, Finder<'static>)>,
    /// Per program, which literals it needs.
    needs: Vec<Vec<usize>>,
    /// Per program, a literal with the same on both sides in every match.
    mirrors: Vec<Option<usize>>,
    /// How comments are written, where that is known.
    comments: Option<&'static Comments>,
    key: Option<u64>,
    /// Per node kind, the programs that may begin there.
    by_kind: Vec<Vec<u16>>,
    /// Programs that begin with a metavariable.
    anywhere: Vec<u16>,
    /// Per node kind, whether fields of its children are compared.
    wants_fields: Vec<bool>,
}

impl Plan {
    pub(crate) fn new(pattern: &Pattern, grammar: &Grammar) -> Self {
        let kinds = grammar.parser_language().node_kind_count();
        let mut plan = Self {
            literals: Vec::new(),
            needs: Vec::new(),
            mirrors: Vec::new(),
            comments: grammar.language().comments,
            key: None,
            by_kind: vec![Vec::new(); kinds],
            anywhere: Vec::new(),
            wants_fields: vec![false; kinds],
        };
        let mut all: Vec<&Literal> = pattern
            .programs()
            .iter()
            .flat_map(|p| &p.literals)
            .collect();
        all.sort_by(|a, b| {
            b.text
                .len()
                .cmp(&a.text.len())
                .then_with(|| a.text.cmp(&b.text))
        });
        all.dedup();
        for literal in all {
            let finder = FinderBuilder::new()
                .prefilter(Prefilter::Auto)
                .build_forward(&literal.text);
            plan.literals.push((literal.clone(), finder.into_owned()));
        }
        for (number, program) in pattern.programs().iter().enumerate() {
            let number = number as u16;
            plan.needs.push(
                (0..plan.literals.len())
                    .filter(|i| program.literals.contains(&plan.literals[*i].0))
                    .collect(),
            );
            let mirrored = mirror::mirrored(program, |kind| grammar.is_list(kind))
                .into_iter()
                .find_map(|text| plan.literals.iter().position(|l| *l.0.text == *text));
            plan.mirrors.push(mirrored);
            match program.first {
                Some(kind) => {
                    if let Some(slot) = plan.by_kind.get_mut(usize::from(kind)) {
                        slot.push(number);
                    }
                }
                None => plan.anywhere.push(number),
            }
            for op in &program.ops {
                if let Op::Enter { kind, .. } = op
                    && let Some(slot) = plan.wants_fields.get_mut(usize::from(*kind))
                {
                    *slot = true;
                }
            }
        }
        if plan.comments.is_some() && plan.mirrors.iter().any(Option::is_some) {
            let mut hasher = DefaultHasher::new();
            grammar.language().id.hash(&mut hasher);
            for (literal, _) in &plan.literals {
                (&literal.text, literal.is_word).hash(&mut hasher);
            }
            (&plan.needs, &plan.mirrors).hash(&mut hasher);
            plan.key = Some(hasher.finish());
        }
        plan
    }

    /// Returns what tells the plan from others that admit other texts; `None`
    /// where to find what it admits takes no more time than to ask for that.
    pub(crate) fn key(&self) -> Option<u64> {
        self.key
    }

    /// Returns the programs that may match in `text`: their literals all occur,
    /// and there is a place where what must be the same around one may be.
    pub(crate) fn admits(&self, text: &[u8]) -> Admitted {
        let mut admitted = self.admits_by_literals(text);
        let mirrors = self.mirrors.iter().zip(&mut admitted.programs);
        for (mirror, is_in) in mirrors.filter(|(_, is_in)| **is_in) {
            if let Some(mut places) = self.mirrored_places(*mirror, text) {
                *is_in = places.next().is_some();
            }
        }
        admitted
    }

    /// Returns the places of a literal around which the same may stand; `None`
    /// where nothing is known.
    fn mirrored_places<'t>(
        &'t self,
        mirror: Option<usize>,
        text: &'t [u8],
    ) -> Option<impl Iterator<Item = usize> + 't> {
        let literal = self.literals.get(mirror?)?;
        let all = all_places(literal, text);
        Some(mirror::places(text, &literal.0.text, self.comments?, all))
    }

    /// Returns the programs whose literals all occur in `text`.
    pub(crate) fn admits_by_literals(&self, text: &[u8]) -> Admitted {
        let mut found: Vec<Option<bool>> = vec![None; self.literals.len()];
        let mut programs = vec![false; self.needs.len()];
        for (number, needs) in self.needs.iter().enumerate() {
            programs[number] = needs
                .iter()
                .all(|i| *found[*i].get_or_insert_with(|| occurs(&self.literals[*i], text)));
        }
        Admitted {
            programs,
            is_by_text: true,
        }
    }

    /// Returns the words that are searched for, longest first.
    pub(crate) fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.literals
            .iter()
            .map(|l| &*l.0.text)
            .filter(|text| text.iter().any(u8::is_ascii_alphanumeric))
    }

    /// Returns the places in `text` of which every match holds one, in order;
    /// `None` where a match may be anywhere.
    pub(crate) fn anchors(
        &self,
        pattern: &Pattern,
        admitted: &Admitted,
        text: &[u8],
    ) -> Option<Vec<u32>> {
        if !admitted.is_by_text {
            return None;
        }
        let mut anchors: Vec<u32> = Vec::new();
        for (number, program) in pattern.programs().iter().enumerate() {
            if !admitted.has(number as u16) {
                continue;
            }
            if program.is_sequence {
                return None;
            }
            if let Some(places) = self.mirrored_places(*self.mirrors.get(number)?, text) {
                anchors.extend(places.map(|at| at as u32));
                continue;
            }
            // Longest first: one that is found more often than the best so far
            // is given up at once.
            let mut rarest: Option<Vec<u32>> = None;
            for literal in self
                .needs
                .get(number)?
                .iter()
                .filter_map(|i| self.literals.get(*i))
            {
                let most = rarest.as_ref().map_or(usize::MAX, Vec::len);
                rarest = places(literal, text, most).or(rarest);
            }
            anchors.extend(rarest?);
        }
        anchors.sort_unstable();
        anchors.dedup();
        Some(anchors)
    }

    pub(crate) fn has_literals(&self) -> bool {
        !self.literals.is_empty()
    }

    /// Admits every program, as if no literal were known.
    pub(crate) fn admit_all(&self) -> Admitted {
        Admitted {
            programs: vec![true; self.needs.len()],
            is_by_text: false,
        }
    }

    pub(crate) fn starting_at(&self, kind: u16) -> &[u16] {
        self.by_kind
            .get(usize::from(kind))
            .map_or(&[], Vec::as_slice)
    }

    pub(crate) fn starting_anywhere(&self) -> &[u16] {
        &self.anywhere
    }

    pub(crate) fn wants_fields(&self, kind: u16) -> bool {
        self.wants_fields.get(usize::from(kind)) == Some(&true)
    }
}

/// The programs that a file is worth parsing for.
pub(crate) struct Admitted {
    programs: Vec<bool>,
    /// Whether the text was looked at.
    is_by_text: bool,
}

impl Admitted {
    pub(crate) fn is_empty(&self) -> bool {
        !self.programs.contains(&true)
    }

    pub(crate) fn has(&self, program: u16) -> bool {
        self.programs.get(usize::from(program)) == Some(&true)
    }
}

/// Returns every place where a literal begins, if they are fewer than `most`.
fn places(literal: &(Literal, Finder<'static>), text: &[u8], most: usize) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for at in all_places(literal, text) {
        if found.len() + 1 >= most {
            return None;
        }
        found.push(at as u32);
    }
    Some(found)
}

fn occurs(literal: &(Literal, Finder<'static>), text: &[u8]) -> bool {
    all_places(literal, text).next().is_some()
}

/// Finds the places of a literal: of a word, only where it is a whole one.
fn all_places<'t>(
    (literal, finder): &'t (Literal, Finder<'static>),
    text: &'t [u8],
) -> impl Iterator<Item = usize> + 't {
    let is_word = |at: Option<usize>| {
        at.and_then(|i| text.get(i))
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    let single = match *literal.text {
        [byte] => Some(memchr::memchr_iter(byte, text)),
        _ => None,
    };
    let several = single.is_none().then(|| finder.find_iter(text));
    single
        .into_iter()
        .flatten()
        .chain(several.into_iter().flatten())
        .filter(move |at| {
            !literal.is_word
                || (!is_word(at.checked_sub(1)) && !is_word(Some(at + literal.text.len())))
        })
}
