//! A project of which it is known which faults it has.

use std::collections::{BTreeMap, BTreeSet};

use crate::languages::Language;

/// Modules beside core.
pub(crate) const MODULES: usize = 3;
/// Helpers of core that every module uses.
const HELPERS: usize = 3;

/// A fault: the file it is in, and the name that it is about.
pub(crate) type Fault = (String, String);

/// The state of a project.
#[derive(Clone)]
pub(crate) struct Planted {
    pub(crate) language: Language,
    /// Faults of each file, by number, core first.
    faults: Vec<BTreeSet<u32>>,
    /// Lines at the top of each file that do nothing.
    comments: Vec<usize>,
    /// Helpers that are not there any more.
    gone: BTreeSet<usize>,
    count: u32,
}

impl Planted {
    pub(crate) fn new(language: Language) -> Self {
        Self {
            language,
            faults: vec![BTreeSet::new(); MODULES + 1],
            comments: vec![0; MODULES + 1],
            gone: BTreeSet::new(),
            count: 0,
        }
    }

    /// Returns the name of a file, core being 0.
    pub(crate) fn name(&self, file: usize) -> String {
        match file.checked_sub(1) {
            None => self.language.core.to_owned(),
            Some(module) => self.language.module.replace('#', &module.to_string()),
        }
    }

    pub(crate) fn text(&self, file: usize) -> String {
        let language = &self.language;
        let mut text = String::new();
        let head = match file {
            0 => language.core_head,
            _ => language.module_head,
        };
        text.push_str(head);
        for _ in 0..self.comments[file] {
            text.push_str(language.comment);
        }
        for helper in 0..HELPERS {
            let name = helper_name(helper);
            if file > 0 {
                let usage = language.usage.replace('@', &name);
                text.push_str(&usage.replace('#', &file.to_string()));
            } else if !self.gone.contains(&helper) {
                text.push_str(&language.helper.replace('@', &name));
            }
        }
        for fault in &self.faults[file] {
            let line = language.fault.replace('@', &fault_name(*fault));
            text.push_str(&line.replace('#', &fault.to_string()));
        }
        text
    }

    /// Returns all files.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        let own = (0..=MODULES).map(|file| (self.name(file), self.text(file)));
        let fixed = self.language.fixed.iter();
        let fixed = fixed.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        own.chain(fixed).collect()
    }

    /// Returns every fault there is, as often as it is there.
    pub(crate) fn present(&self) -> BTreeMap<Fault, usize> {
        let mut present = BTreeMap::new();
        for (file, faults) in self.faults.iter().enumerate() {
            for fault in faults {
                present.insert((self.name(file), fault_name(*fault)), 1);
            }
        }
        for helper in &self.gone {
            for module in 1..=MODULES {
                present.insert((self.name(module), helper_name(*helper)), 1);
            }
        }
        present
    }

    /// Changes a file in turn: breaks it, moves its lines, mends it, moves them
    /// back.
    pub(crate) fn step(&mut self, file: usize, turn: usize) {
        match turn % 4 {
            0 => drop(self.faults[file].insert(self.count)),
            1 => self.comments[file] += 1,
            2 => {
                self.faults[file].clear();
                self.count += 1;
            }
            _ => self.comments[file] -= 1,
        }
    }

    /// Returns the names of the faults of one file.
    pub(crate) fn names(&self, file: usize) -> BTreeSet<String> {
        let name = self.name(file);
        let present = self.present().into_keys();
        present
            .filter(|fault| fault.0 == name)
            .map(|fault| fault.1)
            .collect()
    }

    /// Changes one file at random; returns what was done.
    pub(crate) fn change(&mut self, file: usize, random: &mut fastrand::Rng) -> &'static str {
        match random.u32(0..10) {
            0..=3 if self.faults[file].len() < 6 => {
                // Sometimes one that was there before.
                let known = self.count > 3 && random.u32(0..4) == 0;
                let fault = if known {
                    random.u32(0..self.count)
                } else {
                    self.count
                };
                let is_elsewhere = self.faults.iter().any(|faults| faults.contains(&fault));
                if is_elsewhere {
                    return "nothing";
                }
                self.count = self.count.max(fault + 1);
                self.faults[file].insert(fault);
                "break"
            }
            4..=6 if !self.faults[file].is_empty() => {
                let all: Vec<u32> = self.faults[file].iter().copied().collect();
                self.faults[file].remove(&all[random.usize(0..all.len())]);
                "fix"
            }
            7 if file == 0 => {
                let helper = random.usize(0..HELPERS);
                if self.gone.remove(&helper) {
                    return "fix a helper";
                }
                if self.gone.is_empty() {
                    self.gone.insert(helper);
                    return "break a helper";
                }
                "nothing"
            }
            8 if self.comments[file] > 0 => {
                self.comments[file] -= 1;
                "move up"
            }
            _ if self.comments[file] < 5 => {
                self.comments[file] += 1;
                "move down"
            }
            _ => "nothing",
        }
    }
}

/// Names that are not like one another, so that servers propose none of them.
fn fault_name(fault: u32) -> String {
    let letters = ["kelp", "moss", "fjord", "quartz", "zinc"];
    let word = letters[fault as usize % letters.len()];
    format!("missing_{fault}_{word}")
}

fn helper_name(helper: usize) -> String {
    format!("helper_{helper}")
}

/// Returns the faults that a text names: lines of the form
/// `file:line severity ... name ...`; and lines that name none of ours.
pub(crate) fn told(text: &str) -> (Vec<Fault>, Vec<String>) {
    let mut faults = Vec::new();
    let mut others = Vec::new();
    for line in text.lines() {
        let Some((place, rest)) = line.split_once(' ') else {
            continue;
        };
        let Some((file, number)) = place.rsplit_once(':') else {
            continue;
        };
        let is_fault = rest.starts_with("error") || rest.starts_with("warning");
        if !is_fault || number.parse::<u32>().is_err() {
            continue;
        }
        let words = rest.split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut names = words.filter(|w| w.starts_with("missing_") || w.starts_with("helper_"));
        match names.next() {
            Some(name) => faults.push((file.to_owned(), name.to_owned())),
            None => others.push(line.to_owned()),
        }
    }
    (faults, others)
}
