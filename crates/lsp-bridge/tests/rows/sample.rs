//! A small project, and what each action has to answer there.

use std::future::Future;
use std::time::Duration;

use libtest_mimic::Trial;
use lsp_bridge::{Catalogue, LspLimits, SupervisorLimits};
use serde_json::{Value, json};
use tiers::{ErrorKind, Trust};

use crate::support::{Opening, Outcome, Project, installed, wait_for_end};

/// A project for one server.
pub(crate) struct Sample {
    /// The server's id.
    pub(crate) id: &'static str,
    /// Folders of `.toolset/servers` whose programs it needs, its own first.
    pub(crate) programs: &'static [&'static str],
    pub(crate) trust: Trust,
    pub(crate) files: Vec<(&'static str, String)>,
    /// The first is asked again after a crash.
    pub(crate) cases: Vec<Case>,
    pub(crate) faults: Faults,
    /// Lines of `status` for the file of the faults, once the server runs.
    pub(crate) status: &'static [&'static str],
}

/// A question, and texts that its answer has to hold: with `^` in front it
/// begins so, with `=` it is the whole.
pub(crate) struct Case(pub(crate) Asked, pub(crate) &'static [&'static str]);

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    /// An action about a symbol: action, file, line, symbol.
    At(&'static str, &'static str, u32, &'static str),
    Symbols(&'static str),
    Query(&'static str),
}

/// A file that is right, and wrong once a text is replaced.
pub(crate) struct Faults {
    pub(crate) file: &'static str,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) wants: &'static [&'static str],
}

impl Asked {
    fn arguments(self) -> Value {
        match self {
            Self::At(action, file, line, symbol) => {
                json!({ "action": action, "file": file, "line": line, "symbol": symbol })
            }
            Self::Symbols(file) => json!({ "action": "symbols", "file": file }),
            Self::Query(query) => json!({ "action": "symbols", "query": query }),
        }
    }
}

/// Makes a test of an asynchronous function that needs some servers; where one
/// is missing it is skipped, and fails in continuous integration.
pub(crate) fn needing<F>(
    programs: &'static [&'static str],
    name: String,
    body: impl FnOnce() -> F + Send + 'static,
) -> Trial
where
    F: Future<Output = ()> + 'static,
{
    let missing: Vec<&str> = programs
        .iter()
        .copied()
        .filter(|name| !installed(name).is_dir())
        .collect();
    // Debian's own is not offered everywhere.
    let may_be_missing = missing.contains(&"gopls") || !is_in_continuous_integration();
    if !missing.is_empty() && may_be_missing {
        let missing = missing.join(" and ");
        let test = Trial::test(
            format!("{name} (skipped: {missing} is not installed)"),
            || Ok(()),
        );
        return test.with_ignored_flag(true);
    }
    Trial::test(name, move || {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime
            .worker_threads(2)
            .enable_all()
            .build()?
            .block_on(body());
        Ok(())
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "where the tests start is their edge"
)]
fn is_in_continuous_integration() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Returns the table with all other servers switched off.
pub(crate) fn only(ids: &[&str]) -> Catalogue {
    let all = Catalogue::built_in();
    let others = all.ids().filter(|id| !ids.contains(id));
    let off = others.map(|id| format!("[[server]]\nid = \"{id}\"\ndisabled = true\n"));
    all.with(&off.collect::<String>()).unwrap()
}

impl Sample {
    pub(crate) fn opening(&self) -> Opening {
        Opening {
            trust: self.trust,
            catalogue: only(&[self.id]),
            programs: self.programs,
            servers: SupervisorLimits::default(),
            calls: LspLimits::default(),
        }
    }

    pub(crate) fn open(&self) -> Project {
        let files = self.files.iter();
        let files: Vec<(&str, &str)> = files.map(|(name, text)| (*name, text.as_str())).collect();
        let project = Project::open(&files, self.opening());
        // Until their times can be relied on, files may be about to change again.
        std::thread::sleep(Duration::from_millis(150));
        // Folders in a compilation database are absolute.
        if let Some((name, text)) = files.iter().find(|(_, text)| text.contains("$folder")) {
            let folder = project.folder.path().to_str().unwrap();
            project.write(name, &text.replace("$folder", folder));
        }
        project
    }

    fn text(&self, file: &str) -> &str {
        let found = self.files.iter().find(|(name, _)| *name == file);
        &found.unwrap().1
    }
}

/// What went wrong, of all that was asked.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn check(&mut self, what: &str, outcome: &Outcome, wants: &[&str]) {
        for want in wants {
            let text = &outcome.text;
            let is_there = match (want.strip_prefix('^'), want.strip_prefix('=')) {
                (Some(begin), _) => text.starts_with(begin),
                (_, Some(whole)) => text == whole,
                (None, None) => text.contains(want),
            };
            if !is_there {
                self.0
                    .push(format!("{what}\n  wanted: {want}\n  got: {text}"));
            }
        }
    }

    fn expect(&mut self, what: &str, is_right: bool, text: &str) {
        if !is_right {
            self.0.push(format!("{what}\n  got: {text}"));
        }
    }
}

/// Puts every question to the server of a sample, in one process as far as
/// that goes.
pub(crate) fn test(sample: Sample) -> Trial {
    let name = format!("every_action_of_{}", sample.id.replace('-', "_"));
    needing(sample.programs, name, move || async move {
        let project = sample.open();
        let mut failures = Failures::default();
        for Case(asked, wants) in &sample.cases {
            let arguments = asked.arguments();
            let outcome = project.call(arguments.clone()).await;
            failures.check(&arguments.to_string(), &outcome, wants);
        }
        faults(&sample, &project, &mut failures).await;
        life(&sample, &project, &mut failures).await;
        assert!(failures.0.is_empty(), "{}", failures.0.join("\n\n"));
        project.end().await;
    })
}

/// Diagnostics follow the disk, and say that they do.
async fn faults(sample: &Sample, project: &Project, failures: &mut Failures) {
    let Faults {
        file,
        from,
        to,
        wants,
    } = sample.faults;
    let text = sample.text(file);
    assert!(text.contains(from), "{file} has no {from}");
    let clean = format!("=no errors or warnings in `{file}` ({})", sample.id);
    let ask = || project.call(json!({ "action": "diagnostics", "file": file }));
    failures.check("at first", &ask().await, &[&clean]);
    for round in 0..3 {
        project.write(file, &text.replace(from, to));
        let broken = ask().await;
        failures.check(&format!("broken {round}"), &broken, wants);
        let is_fresh = broken.details["verdict"] == json!({ "kind": "fresh" });
        failures.expect(&format!("fresh {round}"), is_fresh, &broken.text);
        project.write(file, text);
        failures.check(&format!("mended {round}"), &ask().await, &[&clean]);
        // Pitfall 26: some servers publish nothing where nothing became different.
        project.write(file, &format!("{text}\n"));
        failures.check(&format!("still right {round}"), &ask().await, &[&clean]);
        project.write(file, text);
    }
}

/// `status` and `reload`, and a process that is killed.
async fn life(sample: &Sample, project: &Project, failures: &mut Failures) {
    let id = sample.id;
    let file = sample.faults.file;
    let arguments = json!({ "action": "status", "file": file });
    let status = project.call(arguments).await;
    let served = format!("^`{file}` is served by {id}, the only one that can be used");
    let runs = format!("- {id} in `.`");
    failures.check("status", &status, &[&served, &runs, "ready, pid "]);
    failures.check("status", &status, sample.status);
    let line = status.text.lines().find(|line| line.starts_with(&runs));
    let is_verified = line.is_some_and(|line| !line.contains("unverified"));
    failures.expect("verified", is_verified, &status.text);

    let pids = project.pids().await;
    let reloaded = project.call(json!({ "action": "reload" })).await;
    let ended = format!("{id}: restarted: process {} was ended", pids[0]);
    failures.check("reload", &reloaded, &[&ended]);
    wait_for_end(&pids).await;

    let Some(Case(asked, _)) = sample.cases.first() else {
        return;
    };
    let before = project.call(asked.arguments()).await;
    let pids = project.pids().await;
    let pid = rustix::process::Pid::from_raw(i32::try_from(pids[0]).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    wait_for_end(&pids).await;
    let mut after = project.call(asked.arguments()).await;
    // Where another process of it lives on for a moment, that is noticed late.
    if let Some(error) = &after.error {
        let is_told = error.kind == ErrorKind::Crashed;
        failures.expect("a crash is told", is_told, &after.text);
        after = project.call(asked.arguments()).await;
    }
    failures.expect(
        "after a crash",
        after.error.is_none() && after.text == before.text,
        &after.text,
    );
    failures.expect("another process", project.pids().await != pids, &after.text);
}
