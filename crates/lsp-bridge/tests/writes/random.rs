//! Random edits: nothing stale, nothing missed, nothing told twice, and no
//! "clean" that is not true.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::Workspace;
use libtest_mimic::Trial;
use lsp_bridge::{
    DiagnosticsOnWrite, LanguageServers, Lsp, OnWriteLimits, Supervisor, SupervisorLimits,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::Writer;
use tiers::{Content, Mode, Registry, Run, Typed};

use crate::checker;
use crate::languages::{LANGUAGES, Language};
use crate::planted::{Fault, MODULES, Planted, told};
use crate::sample::{needing, only};
use crate::support::{FOLDER, environment};

/// Edits of each server.
const EDITS: usize = 100;
/// How often the checker on the command line is run meanwhile.
const CHECKS: usize = 2;
/// How long a late report may take to come.
const LATE: Duration = Duration::from_secs(30);

pub(crate) fn tests() -> Vec<Trial> {
    let tests = LANGUAGES.iter().map(|language| {
        let language = *language;
        let name = format!("random_edits_of_{}", language.id.replace('-', "_"));
        needing(language.programs, name, move || edits(language, EDITS))
    });
    tests.collect()
}

/// A run that writes, and what it was told.
pub(crate) struct Session {
    folder: TempDir,
    registry: Registry,
    pub(crate) planted: Planted,
    /// Faults the model knows of, because it was told, and that are still there.
    known: BTreeMap<Fault, usize>,
    pub(crate) figures: Figures,
    log: Vec<String>,
}

/// What was counted.
#[derive(Debug, Default, Clone)]
pub(crate) struct Figures {
    pub(crate) writes: usize,
    pub(crate) stale: usize,
    pub(crate) missed: usize,
    pub(crate) repeated: usize,
    pub(crate) false_clean: usize,
    /// Writes of which it was not known at once what they brought.
    pub(crate) pending: usize,
    /// Faults of other files that came with a later result than their write.
    pub(crate) others_later: usize,
    /// Lines about faults that were not planted.
    pub(crate) strange: Vec<String>,
    pub(crate) took: Vec<Duration>,
    /// How often the checker on the command line found the same as was planted.
    pub(crate) checked: usize,
}

impl Session {
    pub(crate) fn open(language: Language, writes: OnWriteLimits) -> Self {
        let planted = Planted::new(language);
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in planted.files() {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::thread::sleep(Duration::from_millis(150)); // the files are no longer young
        let environment = environment(language.programs).with(FOLDER, folder.path());
        let limits = SupervisorLimits::default();
        let supervisor = Supervisor::with_limits(only(&[language.id]), environment, limits);
        let servers: Arc<dyn LanguageServers> = Arc::new(supervisor);
        let workspace = Workspace::open(folder.path(), language.trust).unwrap();
        let run = Run::builder(folder.path().to_owned(), language.trust, Mode::Full);
        let writer = Arc::new(Typed::new(Writer::new(workspace.clone())));
        let writer = DiagnosticsOnWrite::new(writer, workspace.clone(), Arc::clone(&servers));
        let registry = Registry::builder(run.build().unwrap())
            .tool(writer.limits(writes))
            .typed(Lsp::new(workspace, servers))
            .build()
            .unwrap();
        Self {
            folder,
            registry,
            planted,
            known: BTreeMap::new(),
            figures: Figures::default(),
            log: Vec::new(),
        }
    }

    /// Starts the server, and has it know the files.
    pub(crate) async fn warm(&mut self) {
        for file in 0..=MODULES {
            let name = self.planted.name(file);
            let arguments = json!({ "action": "diagnostics", "file": name });
            let output = self.registry.dispatch("lsp", arguments).await.unwrap();
            let text = text(&output.content);
            assert!(text.starts_with("no errors or warnings"), "{name}: {text}");
        }
    }

    /// Changes files at random, in one write.
    pub(crate) async fn write(&mut self, files: &[usize], random: &mut fastrand::Rng) {
        let what: Vec<String> = files
            .iter()
            .map(|file| {
                format!(
                    "{} {}",
                    self.planted.change(*file, random),
                    self.planted.name(*file)
                )
            })
            .collect();
        self.put(files, &what.join(", ")).await;
    }

    /// Writes files as they are planted.
    pub(crate) async fn put(&mut self, files: &[usize], what: &str) {
        let written: Vec<Value> = files
            .iter()
            .map(|file| json!({ "path": self.planted.name(*file), "text": self.planted.text(*file) }))
            .collect();
        let start = Instant::now();
        let output = self
            .registry
            .dispatch("write", json!({ "files": written }))
            .await;
        let took = start.elapsed();
        let output = output.unwrap();
        let text = text(&output.content);
        self.log
            .push(format!("-- {what} ({} ms)\n{text}", took.as_millis()));
        self.figures.took.push(took);
        self.figures.writes += 1;
        let names: Vec<String> = files.iter().map(|file| self.planted.name(*file)).collect();
        self.judge(&text, &names);
    }

    /// Compares what was told with what is there.
    fn judge(&mut self, text: &str, written: &[String]) {
        let present = self.planted.present();
        // What is gone is not known any more: it is told again when it is back.
        self.known.retain(|fault, _| present.contains_key(fault));
        let (told, others) = told(text);
        self.figures.strange.extend(others);
        for fault in told {
            if !present.contains_key(&fault) {
                self.figures.stale += 1;
                self.log.push(format!("STALE {fault:?}"));
            } else if self.known.insert(fault.clone(), 1).is_some() {
                self.figures.repeated += 1;
                self.log.push(format!("REPEATED {fault:?}"));
            }
        }
        let is_pending = text.contains("later result")
            || text.contains("not checked")
            || text.contains("partial (");
        self.figures.pending += usize::from(is_pending);
        let untold: Vec<Fault> = present
            .keys()
            .filter(|fault| !self.known.contains_key(*fault))
            .cloned()
            .collect();
        for fault in untold {
            if is_pending {
                continue;
            }
            if !written.contains(&fault.0) {
                self.figures.others_later += 1;
            } else if text.contains("no new errors") {
                self.figures.false_clean += 1;
                self.log.push(format!("FALSE CLEAN {fault:?}"));
            } else {
                self.figures.missed += 1;
                self.log.push(format!("MISSED {fault:?}"));
            }
        }
    }

    /// Waits for reports that are still to come, and checks that nothing is left
    /// untold.
    pub(crate) async fn settle(&mut self) {
        let start = Instant::now();
        loop {
            let present = self.planted.present();
            let untold = present
                .keys()
                .find(|fault| !self.known.contains_key(*fault))
                .cloned();
            let Some(fault) = untold else {
                return;
            };
            if start.elapsed() > LATE {
                self.figures.missed += 1;
                self.log.push(format!("NEVER TOLD {fault:?}"));
                self.known.insert(fault, 1);
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            let notices = self.registry.run().notices().drain().join("\n");
            if notices.is_empty() {
                // Faults of other files come with the next write at the latest.
                let file = (0..=MODULES).find(|file| self.planted.name(*file) == fault.0);
                if start.elapsed() > Duration::from_secs(2) {
                    self.put(&[file.unwrap()], "settle").await;
                }
                continue;
            }
            self.log.push(format!("-- notice\n{notices}"));
            self.judge(&format!("{notices}\nlater result"), &[]);
            self.figures.pending -= 1;
        }
    }

    /// Compares what is planted with what the checker on the command line finds.
    pub(crate) async fn check(&mut self) {
        let found = checker::check(&self.planted, self.folder.path()).await;
        let planted: BTreeSet<Fault> = self.planted.present().into_keys().collect();
        assert_eq!(found, planted, "{}", self.log());
        self.figures.checked += 1;
    }

    /// Returns what happened.
    pub(crate) fn log(&self) -> String {
        self.log.join("\n")
    }
}

/// Makes random edits, and returns what was counted.
pub(crate) async fn judged(language: Language, count: usize, checks: usize) -> Figures {
    let session = run(language, count, checks, fastrand::u64(..)).await;
    session.figures.clone()
}

/// Makes random edits; now and then, `checks` times, the checker is run too.
async fn run(language: Language, count: usize, checks: usize, seed: u64) -> Session {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut session = Session::open(language, OnWriteLimits::default());
    session.warm().await;
    while session.figures.writes < count {
        match random.u32(0..10) {
            // One patch of three files.
            0 => {
                let mut files: Vec<usize> = (0..=MODULES).collect();
                random.shuffle(&mut files);
                files.truncate(3);
                session.write(&files, &mut random).await;
            }
            // A burst of writes to one file.
            1 | 2 => {
                let file = random.usize(0..=MODULES);
                for _ in 0..random.usize(1..=5) {
                    session.write(&[file], &mut random).await;
                }
            }
            _ => {
                let file = random.usize(0..=MODULES);
                session.write(&[file], &mut random).await;
            }
        }
        session.settle().await;
        if session.figures.writes * checks >= (session.figures.checked + 1) * count {
            session.check().await;
        }
    }
    session
}

async fn edits(language: Language, count: usize) {
    let seed = fastrand::u64(..);
    let session = run(language, count, CHECKS, seed).await;
    let figures = &session.figures;
    let wrong = figures.stale + figures.missed + figures.repeated + figures.false_clean;
    let is_right = wrong == 0 && figures.strange.is_empty();
    // A machine that does other things may hold up a few.
    let is_prompt = figures.pending * 20 <= figures.writes;
    assert!(
        is_right && is_prompt,
        "seed {seed}\n{figures:?}\n{}",
        session.log()
    );
}

fn text(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Image { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
