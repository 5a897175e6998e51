//! What a run keeps between its writes: the ledger, and the checks that go on.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use host::WorkspacePath;
use host::text::LineIndex;
use tiers::{NoticeId, Run};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::ledger::{Known, Place};
use super::text;
use crate::diagnostics::Verdict;
use crate::server::Written;
use crate::tool::details::DiagnosticDetails as Fault;

/// What a server says of one file.
#[derive(Debug, Clone)]
pub(super) struct FileReport {
    pub(super) file: WorkspacePath,
    /// Errors and warnings.
    pub(super) faults: Vec<Fault>,
    pub(super) verdict: Verdict,
    /// The text that they are about.
    pub(super) text: Option<Arc<LineIndex<String>>>,
    /// Whether the write changed this file, and not only what it uses.
    pub(super) is_written: bool,
}

impl FileReport {
    /// Builds the report of a written file that is not there, or cannot be read.
    pub(super) fn empty(file: &WorkspacePath, verdict: Verdict) -> Self {
        Self {
            file: file.clone(),
            faults: Vec::new(),
            verdict,
            text: None,
            is_written: true,
        }
    }
}

/// What one server says after a write.
#[derive(Debug, Clone, Default)]
pub(super) struct Checked {
    pub(super) files: Vec<FileReport>,
    /// Whether the server has published of the whole project by now.
    pub(super) is_survey: bool,
    /// Why nothing is known.
    pub(super) failed: Option<String>,
}

/// What is to be told of a file.
#[derive(Debug, Clone)]
pub(super) struct NewFaults {
    pub(super) file: WorkspacePath,
    pub(super) faults: Vec<Fault>,
    pub(super) verdict: Verdict,
    pub(super) is_written: bool,
    /// Whether some may be older than the write.
    pub(super) may_be_old: bool,
    /// Whether what the server lacks was said before.
    pub(super) is_said: bool,
}

/// What is to be told of one server's check.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) server: String,
    pub(super) files: Vec<NewFaults>,
    /// Why nothing is known.
    pub(super) failed: Option<String>,
    /// What is still being waited for, and comes with a later result.
    pub(super) pending: Option<String>,
    /// Whether no later result comes.
    pub(super) is_last: bool,
}

/// The writes of a run, as its language servers see them.
#[derive(Default)]
pub(super) struct Watch(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    ledger: HashMap<Place, Known>,
    /// The check that goes on at each server.
    checks: HashMap<String, Check>,
    /// Late reports that the model may not have been told yet.
    late: Vec<Late>,
    /// Servers that have said all they had to say of files nobody wrote.
    surveyed: Vec<String>,
    /// What servers lacked in reports that were told.
    said: HashSet<(String, String)>,
    /// Up to which publish of a server it was listened to.
    heard: HashMap<String, u64>,
    /// Files that name one that was written.
    users: HashMap<Place, Vec<PathBuf>>,
    count: u64,
    /// The last check of each server.
    last: HashMap<String, u64>,
    /// Checks whose report was told, and that listen for more.
    listening: HashMap<String, AbortOnDropHandle<()>>,
}

struct Check {
    number: u64,
    /// The files it has to look at.
    files: Vec<Written>,
    phase: Phase,
    /// Since when the server owes an answer.
    since: Instant,
    /// What is known so far.
    meanwhile: Option<Checked>,
    result: Option<Checked>,
    /// What it is doing, for who waits no longer.
    doing: String,
    done: Arc<Notify>,
    task: Option<AbortOnDropHandle<()>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A call waits for it.
    Awaited,
    /// Its report becomes a notice.
    Late,
}

struct Late {
    server: String,
    notice: NoticeId,
    files: Vec<Written>,
    /// What the ledger held before.
    before: Vec<(Place, Option<Known>)>,
}

/// A check that has begun.
pub(super) struct Begun {
    pub(super) number: u64,
    /// The files it has to look at: those written now, and those of earlier
    /// checks that had not ended.
    pub(super) files: Vec<Written>,
    /// Since when the server owes an answer to an earlier write.
    pub(super) owes_since: Option<Instant>,
    pub(super) done: Arc<Notify>,
}

impl Watch {
    /// Returns whether the faults of a file before its first write are to be
    /// looked for.
    pub(super) fn wants_baseline(&self, server: &str, file: &WorkspacePath) -> bool {
        let place = (server.to_owned(), file.absolute().to_owned());
        !self.lock().ledger.contains_key(&place)
    }

    /// Takes what is there before a write; what is known already stays.
    pub(super) fn learn(&self, server: &str, report: FileReport) {
        let is_whole = match report.verdict {
            Verdict::Fresh => true,
            Verdict::Partial(_) => false,
            Verdict::Unknown(_) => return,
        };
        let place = (server.to_owned(), report.file.absolute().to_owned());
        let mut inner = self.lock();
        inner.ledger.entry(place).or_insert_with(|| {
            let mut known = Known::new(&report.faults, report.text);
            known.is_whole = is_whole;
            known
        });
    }

    /// Takes what the model was told of a file in another way.
    pub(super) fn know(&self, server: &str, report: FileReport) {
        let place = (server.to_owned(), report.file.absolute().to_owned());
        let mut inner = self.lock();
        match report.verdict {
            Verdict::Fresh => {
                let known = Known::new(&report.faults, report.text);
                inner.ledger.insert(place, known);
            }
            Verdict::Partial(_) => {
                let known = inner.ledger.entry(place).or_default();
                known.add(&report.faults, report.text);
            }
            Verdict::Unknown(_) => {}
        }
    }

    /// Notes that files this run knows nothing of have no faults at a server:
    /// it publishes those of the whole project.
    pub(super) fn set_surveyed(&self, server: &str) {
        let mut inner = self.lock();
        if !inner.surveyed.iter().any(|known| known == server) {
            inner.surveyed.push(server.to_owned());
        }
    }

    /// Returns whether files this run knows nothing of have no faults at a server.
    pub(super) fn is_surveyed(&self, server: &str) -> bool {
        self.lock().surveyed.iter().any(|known| known == server)
    }

    /// Returns the files whose faults at a server are known.
    pub(super) fn known_files(&self, server: &str) -> Vec<PathBuf> {
        let inner = self.lock();
        let places = inner.ledger.keys().filter(|(known, _)| known == server);
        places.map(|(_, path)| path.clone()).collect()
    }

    /// Returns whether nobody has listened to a server yet; who asks does, and has
    /// heard `now` publishes.
    pub(super) fn is_first(&self, server: &str, now: u64) -> bool {
        let mut inner = self.lock();
        if inner.heard.contains_key(server) {
            return false;
        }
        inner.heard.insert(server.to_owned(), now);
        true
    }

    /// Returns up to which publish a server was listened to, `first` where it was
    /// not, and notes that it was now up to `now`.
    pub(super) fn heard(&self, server: &str, first: u64, now: u64) -> u64 {
        let earlier = self.lock().heard.insert(server.to_owned(), now);
        // A server that was started anew counts from 0.
        earlier.filter(|earlier| *earlier <= now).unwrap_or(first)
    }

    /// Returns the files that name a written one, where they were looked for.
    pub(super) fn users(&self, server: &str, file: &Path) -> Option<Vec<PathBuf>> {
        let place = (server.to_owned(), file.to_owned());
        self.lock().users.get(&place).cloned()
    }

    pub(super) fn set_users(&self, server: &str, file: &Path, users: Vec<PathBuf>) {
        let place = (server.to_owned(), file.to_owned());
        self.lock().users.insert(place, users);
    }

    /// Returns whether a check goes on at a server, or its report was not told
    /// yet.
    pub(super) fn is_owing(&self, server: &str) -> bool {
        let inner = self.lock();
        inner.checks.contains_key(server)
    }

    /// Begins a check of files at a server. One that goes on there is ended, and
    /// its files are looked at by this one; so are those of a late report that
    /// the model was not told yet, since it may not be true any more.
    pub(super) fn begin(&self, server: &str, mut files: Vec<Written>, run: &Run) -> Begun {
        let mut inner = self.lock();
        let mut owed = Vec::new();
        let late = std::mem::take(&mut inner.late);
        for report in late {
            if report.server != server {
                inner.late.push(report);
            } else if run.notices().revoke(report.notice) {
                for (place, known) in report.before {
                    match known {
                        Some(known) => drop(inner.ledger.insert(place, known)),
                        None => drop(inner.ledger.remove(&place)),
                    }
                }
                owed.extend(report.files);
            }
        }
        let earlier = inner.checks.remove(server);
        let mut owes_since = None;
        if let Some(earlier) = earlier {
            if earlier.result.is_none() {
                owes_since = Some(earlier.since);
            }
            owed.extend(earlier.files);
            earlier.done.notify_waiters();
        }
        for one in owed {
            let path = one.file.absolute();
            match files.iter_mut().find(|known| known.file.absolute() == path) {
                Some(known) => known.was_there &= one.was_there,
                None => files.push(one),
            }
        }
        inner.count += 1;
        let number = inner.count;
        inner.last.insert(server.to_owned(), number);
        inner.listening.remove(server);
        let done = Arc::new(Notify::new());
        let check = Check {
            number,
            files: files.clone(),
            phase: Phase::Awaited,
            since: owes_since.unwrap_or_else(Instant::now),
            meanwhile: None,
            result: None,
            doing: String::new(),
            done: Arc::clone(&done),
            task: None,
        };
        inner.checks.insert(server.to_owned(), check);
        Begun {
            number,
            files,
            owes_since,
            done,
        }
    }

    /// Keeps the task of a check; where that was ended meanwhile, ends it.
    pub(super) fn keep(&self, server: &str, number: u64, task: AbortOnDropHandle<()>) {
        if let Some(check) = self.lock().check(server, number) {
            check.task = Some(task);
        }
    }

    /// Notes what a check is doing, and what is known so far.
    pub(super) fn meanwhile(&self, server: &str, number: u64, doing: &str, known: Option<Checked>) {
        if let Some(check) = self.lock().check(server, number) {
            doing.clone_into(&mut check.doing);
            if known.is_some() {
                check.meanwhile = known;
            }
        }
    }

    /// Takes the result of a check; where nobody waits for it, it becomes a
    /// notice.
    pub(super) fn finish(&self, server: &str, number: u64, result: Checked, run: &Weak<Run>) {
        let mut inner = self.lock();
        let Some(check) = inner.check(server, number) else {
            return;
        };
        check.result = Some(result);
        if check.phase == Phase::Awaited {
            check.done.notify_waiters();
            return;
        }
        if let Some(run) = run.upgrade() {
            inner.tell_late(server, &run);
        }
    }

    /// Takes what a server said after the report of a check was told; what is new
    /// becomes a notice. A check that began since has heard it too.
    pub(super) fn add(
        &self,
        server: &str,
        number: u64,
        files: &[Written],
        more: Checked,
        run: &Weak<Run>,
    ) {
        let mut inner = self.lock();
        let is_last = inner.last.get(server) == Some(&number);
        let (true, false, Some(run)) = (is_last, inner.checks.contains_key(server), run.upgrade())
        else {
            return;
        };
        let mut before = Vec::new();
        let told = inner.told(server, more, &mut before);
        if told.files.iter().any(|file| !file.faults.is_empty()) {
            inner.tell(&told, files.to_vec(), before, &run);
        }
    }

    /// Returns whether the result of a check is there, or it was ended.
    pub(super) fn is_done(&self, server: &str, number: u64) -> bool {
        let mut inner = self.lock();
        let check = inner.check(server, number);
        check.is_none_or(|check| check.result.is_some())
    }

    /// Returns what is to be told of a check now; what is not there yet becomes
    /// a notice.
    pub(super) fn take(&self, server: &str, number: u64) -> Told {
        let mut inner = self.lock();
        let Some(check) = inner.check(server, number) else {
            return Told {
                server: server.to_owned(),
                files: Vec::new(),
                failed: None,
                pending: Some("another write is being checked".to_owned()),
                is_last: false,
            };
        };
        if let Some(result) = check.result.take() {
            inner.close(server);
            return inner.told(server, result, &mut Vec::new());
        }
        check.phase = Phase::Late;
        let doing = check.doing.clone();
        let known = check.meanwhile.take();
        let mut told = inner.told(server, known.unwrap_or_default(), &mut Vec::new());
        told.pending = Some(doing);
        told
    }

    /// Lets a check go that nobody waits for any more: its report becomes a
    /// notice.
    pub(super) fn abandon(&self, server: &str, number: u64, run: &Weak<Run>) {
        let mut inner = self.lock();
        let Some(check) = inner.check(server, number) else {
            return;
        };
        check.phase = Phase::Late;
        if check.result.is_some()
            && let Some(run) = run.upgrade()
        {
            inner.tell_late(server, &run);
        }
    }

    /// Nothing panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn check(&mut self, server: &str, number: u64) -> Option<&mut Check> {
        let check = self.checks.get_mut(server);
        check.filter(|check| check.number == number)
    }

    fn tell_late(&mut self, server: &str, run: &Run) {
        let Some(mut check) = self.close(server) else {
            return;
        };
        let Some(result) = check.result.take() else {
            return;
        };
        let mut before = Vec::new();
        let told = self.told(server, result, &mut before);
        self.tell(&told, check.files, before, run);
    }

    /// Makes a notice of what was found.
    fn tell(
        &mut self,
        told: &Told,
        files: Vec<Written>,
        before: Vec<(Place, Option<Known>)>,
        run: &Run,
    ) {
        let notice = run.notices().push(text::late(told));
        self.late.push(Late {
            server: told.server.clone(),
            notice,
            files,
            before,
        });
    }

    /// Ends a check; its task may listen for more.
    fn close(&mut self, server: &str) -> Option<Check> {
        let mut check = self.checks.remove(server)?;
        if let Some(task) = check.task.take() {
            self.listening.insert(server.to_owned(), task);
        }
        Some(check)
    }

    /// Returns what is new, and takes it over into the ledger; `before` is what
    /// that held.
    fn told(
        &mut self,
        server: &str,
        checked: Checked,
        before: &mut Vec<(Place, Option<Known>)>,
    ) -> Told {
        let is_surveyed = self.surveyed.iter().any(|known| known == server);
        let mut files = Vec::new();
        for report in checked.files {
            let place = (server.to_owned(), report.file.absolute().to_owned());
            let known = self.ledger.get(&place).cloned();
            before.push((place.clone(), known.clone()));
            let is_known = known.as_ref().is_some_and(|known| known.is_whole);
            let mut next = known.unwrap_or_default();
            let new = next.new_ones(&report.faults, report.text.as_deref());
            let new = new.into_iter().filter_map(|index| report.faults.get(index));
            let mut faults: Vec<Fault> = new.cloned().collect();
            let may_be_old = !is_known && (report.is_written || !is_surveyed);
            if may_be_old && !report.is_written {
                // Old warnings of other files would drown what matters.
                faults.retain(|fault| fault.severity == "error");
            }
            match &report.verdict {
                Verdict::Fresh => next = Known::new(&report.faults, report.text),
                Verdict::Partial(_) => next.add(&report.faults, report.text),
                Verdict::Unknown(_) => {}
            }
            if !matches!(report.verdict, Verdict::Unknown(_)) {
                self.ledger.insert(place, next);
            }
            let is_said = match &report.verdict {
                Verdict::Partial(why) => !self.said.insert((server.to_owned(), why.clone())),
                Verdict::Fresh | Verdict::Unknown(_) => false,
            };
            files.push(NewFaults {
                is_said,
                file: report.file,
                faults,
                verdict: report.verdict,
                is_written: report.is_written,
                may_be_old,
            });
        }
        if checked.is_survey && !is_surveyed {
            self.surveyed.push(server.to_owned());
        }
        Told {
            server: server.to_owned(),
            files,
            failed: checked.failed,
            pending: None,
            is_last: false,
        }
    }
}
