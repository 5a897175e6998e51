//! Makes the system refuse at every step, and stops at every step of a recovery.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::*;
use crate::change_set::Ending;

/// What unwinds instead of a crash: nothing of ours runs but the release of the lock.
struct Crash;

/// Which system calls the file system does not know.
const KINDS: [&[Step]; 3] = [&[], &[Step::Exchange], &[Step::Exchange, Step::Link]];

/// A small change with everything in it.
struct Small {
    site: Site,
    set: ChangeSet,
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
}

impl Small {
    fn new() -> Self {
        let site = Site::fleeting();
        for name in ["src/a", "src/b", "top", "src/gone"] {
            site.put(name, &format!("old {name}"));
        }
        let mut changes = Vec::new();
        for name in ["src/a", "src/b", "top"] {
            changes.push((
                name,
                Some(format!("old {name}")),
                Some(format!("new {name}")),
            ));
        }
        changes.push(("src/gone", Some("old src/gone".to_owned()), None));
        changes.push(("made/deep/x", None, Some("new x".to_owned())));
        changes.push(("made/y", None, Some("new y".to_owned())));
        let borrowed: Vec<_> = changes
            .iter()
            .map(|(name, before, after)| (*name, before.as_deref(), after.as_deref()))
            .collect();
        let set = site.set(&borrowed);
        let before = site.tree();
        let mut after = before.clone();
        for (name, _, new) in borrowed {
            match new {
                Some(new) => after.insert(name.to_owned(), format!("644 {new}")),
                None => after.remove(name),
            };
        }
        after.insert("made".to_owned(), "folder".to_owned());
        after.insert("made/deep".to_owned(), "folder".to_owned());
        Self {
            site,
            set,
            before,
            after,
        }
    }

    /// Runs `work` with files that `stop` at some step; `None` if it crashed.
    fn run<T>(
        &self,
        without: &'static [Step],
        stop: impl Fn(usize, Step) -> io::Result<()> + Send + Sync + 'static,
        work: impl FnOnce(&DiskFiles) -> T,
    ) -> Option<T> {
        run(&self.site, without, stop, work)
    }

    fn apply_until(&self, without: &'static [Step], at: usize) -> Option<Outcome> {
        let stop = crash_at(at);
        self.run(without, stop, |files| {
            files.apply_blocking(&self.set, &|| false).unwrap()
        })
    }

    fn recover(&self) -> Option<Recovered> {
        let files = &self.site.files;
        files.recover_blocking(&self.site.workspace).unwrap()
    }

    #[track_caller]
    fn check_whole(&self, how: &str) {
        let tree = self.site.tree();
        let is_whole = tree == self.before || tree == self.after;
        assert!(is_whole, "{how}: neither old nor new: {tree:#?}");
        assert_eq!(self.site.journals(), [""; 0], "{how}");
    }
}

/// Runs `work` on a file system that lacks some calls, with files that `stop` at
/// some step; `None` if it crashed.
fn run<T>(
    site: &Site,
    without: &'static [Step],
    stop: impl Fn(usize, Step) -> io::Result<()> + Send + Sync + 'static,
    work: impl FnOnce(&DiskFiles) -> T,
) -> Option<T> {
    let count = AtomicUsize::new(0);
    let files = watched(&site.files, move |step| {
        if without.contains(&step) {
            return Err(rustix::io::Errno::INVAL.into());
        }
        stop(count.fetch_add(1, Ordering::Relaxed), step)
    });
    match catch_unwind(AssertUnwindSafe(|| work(&files))) {
        Ok(done) => Some(done),
        Err(panic) if panic.is::<Crash>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

fn crash_at(at: usize) -> impl Fn(usize, Step) -> io::Result<()> + Send + Sync + 'static {
    move |step, _| {
        if step == at {
            resume_unwind(Box::new(Crash));
        }
        Ok(())
    }
}

fn refused() -> io::Error {
    rustix::io::Errno::IO.into()
}

#[test]
fn a_crash_at_any_step_of_a_change_and_of_its_recovery_ends_whole() {
    for without in KINDS {
        let mut crashes = 0;
        for first in 0.. {
            let small = Small::new();
            if small.apply_until(without, first).is_some() {
                assert_eq!(small.site.tree(), small.after);
                break;
            }
            // Crashes in its recovery, in the recovery of that, and so on.
            for second in 0.. {
                crashes += 1;
                let recovered = small.run(without, crash_at(second), |files| {
                    files.recover_blocking(&small.site.workspace).unwrap()
                });
                if recovered.is_some() {
                    break;
                }
            }
            small.check_whole(&format!("without {without:?}, crashed at {first}"));
        }
        assert!(crashes > 200, "only {crashes}");
    }
}

#[test]
fn a_change_that_was_cut_off_is_seen_from_folders_above_and_below() {
    let mut seen = 0;
    for at in 0.. {
        let small = Small::new();
        let has_ended = small.apply_until(&[], at).is_some();
        let open = |path: &Path| Workspace::open(path, Trust::Trusted).unwrap();
        let (here, above) = (&small.site.workspace, open(small.site.folder.path()));
        let (below, beside) = (open(&small.site.at("src")), small.site.folder.path());
        fs::create_dir(beside.join("ws2")).unwrap();
        let beside = open(&beside.join("ws2"));
        let files = &small.site.files;
        let begun = small
            .site
            .journals()
            .iter()
            .any(|j| j.ends_with("/journal"));
        assert!(!(has_ended && begun));
        for workspace in [here, &above, &below] {
            let found = files.cut_off_blocking(workspace);
            assert_eq!(
                found.len(),
                usize::from(begun),
                "crashed at {at}: {found:?}"
            );
            for cut_off in found {
                assert_eq!(cut_off.root, here.root());
                assert_eq!(cut_off.title, "test");
                seen += 1;
            }
        }
        assert_eq!(files.cut_off_blocking(&beside), []);
        // While it runs it is not cut off.
        let desk = Desk::new(&small.site.folder.path().join("state"), here);
        let lock = desk.lock(here, Duration::ZERO, &|| false).unwrap();
        assert_eq!(files.cut_off_blocking(&above), []);
        drop(lock);
        small.recover();
        assert_eq!(files.cut_off_blocking(&above), []);
        if has_ended {
            break;
        }
    }
    assert!(seen > 30, "only {seen}");
}

#[test]
fn a_change_of_one_file_is_whole_after_a_crash_at_any_step_too() {
    for without in KINDS {
        for (old, new) in [
            (Some("old"), Some("new")),
            (None, Some("new")),
            (Some("old"), None),
        ] {
            for at in 0.. {
                let site = Site::fleeting();
                if let Some(old) = old {
                    site.put("a/b", old);
                }
                let set = site.set(&[("a/b", old, new)]);
                let before = site.tree();
                let applied = run(&site, without, crash_at(at), |files| {
                    files.apply_blocking(&set, &|| false).unwrap()
                });
                site.files.recover_blocking(&site.workspace).unwrap();
                let tree = site.tree();
                assert_eq!(site.journals(), [""; 0], "crashed at {at}");
                let is_new = tree.len() == 1 + new.iter().len()
                    && tree.get("a/b").map(String::as_str) == new.map(|_| "644 new");
                assert!(is_new || tree == before, "crashed at {at}: {tree:#?}");
                if applied.is_some() {
                    assert!(is_new && at > 8, "{at} steps are not all there are");
                    break;
                }
            }
        }
    }
}

#[test]
fn a_refusal_at_any_step_is_taken_back_and_reported() {
    for without in KINDS {
        for at in 0.. {
            let how = format!("without {without:?}, refused at step {at}");
            let small = Small::new();
            let refused_at = Arc::new(Mutex::new(None));
            let (seen, installed) = (Arc::clone(&refused_at), Arc::new(AtomicUsize::new(0)));
            let count = Arc::clone(&installed);
            let stop = move |step: usize, what: Step| {
                if step == at {
                    *seen.lock().unwrap() = Some(what);
                    return Err(refused());
                }
                // Where it cannot swap, a rename after a copy replaces the file.
                if step < at && matches!(what, Step::Exchange | Step::Rename) {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            };
            let result = small
                .run(without, stop, |files| {
                    files.apply_blocking(&small.set, &|| false)
                })
                .unwrap();
            let Some(what) = *refused_at.lock().unwrap() else {
                assert!(at > 40, "{at} steps are not all there are");
                break;
            };
            match result {
                Ok(Outcome::Applied(applied)) => {
                    // Only what is left to do once the change is done may fail.
                    let may_fail = matches!(
                        what,
                        Step::Clean | Step::EndJournal | Step::Sync | Step::Link
                    );
                    assert!(may_fail, "{how}: {what:?}");
                    assert_eq!(applied.notes.is_empty(), what == Step::Link, "{how}");
                    assert_eq!(without_temporary(&small.site.tree()), small.after, "{how}");
                    small.recover();
                    assert_eq!(small.site.tree(), small.after, "{how}");
                }
                // What cannot be compared is a mismatch.
                Ok(Outcome::Rejected(mismatches)) => {
                    assert!(
                        matches!(what, Step::Verify | Step::Recheck),
                        "{how}: {what:?}"
                    );
                    assert_eq!(mismatches.len(), 1, "{how}");
                    assert_eq!(small.site.tree(), small.before, "{how}");
                }
                Err(Error::Journal { .. }) => {
                    assert!(
                        matches!(what, Step::Journal | Step::Sync),
                        "{how}: {what:?}"
                    );
                    assert_eq!(small.site.tree(), small.before, "{how}");
                }
                Err(Error::NotApplied {
                    restored,
                    left,
                    failed,
                    ..
                }) => {
                    assert_eq!(small.site.tree(), small.before, "{how}");
                    assert_eq!((left, failed), (vec![], vec![]), "{how}");
                    if without.is_empty() {
                        assert_eq!(restored.len(), installed.load(Ordering::Relaxed), "{how}");
                    }
                }
                Err(error) => panic!("{how}: {error}"),
            }
            small.check_whole(&how);
        }
    }
}

/// Leaves out what is removed at the next start.
fn without_temporary(tree: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut tree = tree.clone();
    tree.retain(|name, _| !name.contains(".toolset-"));
    tree
}

#[test]
fn a_disk_that_refuses_from_some_step_on_is_reported_and_recovered_later() {
    for without in KINDS {
        let mut unrestored = 0;
        for at in 0.. {
            let how = format!("without {without:?}, refused from step {at} on");
            let small = Small::new();
            let last = Arc::new(AtomicUsize::new(0));
            let seen = Arc::clone(&last);
            let stop = move |step: usize, _: Step| {
                seen.store(step, Ordering::Relaxed);
                if step >= at { Err(refused()) } else { Ok(()) }
            };
            let result = small
                .run(without, stop, |files| {
                    files.apply_blocking(&small.set, &|| false)
                })
                .unwrap();
            if last.load(Ordering::Relaxed) < at {
                break;
            }
            if let Err(Error::NotApplied { failed, .. }) = &result {
                unrestored += failed.len();
                for failed in failed {
                    assert_eq!(failed.reason, "input/output error", "{how}");
                }
                let names: Vec<_> = failed.iter().map(|f| f.path.relative()).collect();
                let text = result.as_ref().unwrap_err().to_string();
                for name in names {
                    assert!(
                        text.contains(&format!("`{name}` (input/output error)")),
                        "{text}"
                    );
                }
            }
            small.recover();
            small.check_whole(&how);
            let is_new = matches!(result, Ok(Outcome::Applied(_)));
            assert_eq!(small.site.tree() == small.after, is_new, "{how}");
        }
        assert!(unrestored > 10, "only {unrestored}");
    }
}

#[test]
fn a_recovery_that_the_disk_refuses_names_the_file_and_is_tried_again() {
    let small = Small::new();
    let is_installed = |small: &Small| small.site.tree()["src/a"] == "644 new src/a";
    let mut at = 0;
    while small.apply_until(&[], at).is_none() && !is_installed(&small) {
        small.recover();
        at += 1;
    }
    let refuse = |_: usize, step: Step| match step {
        Step::Exchange => Err(refused()),
        _ => Ok(()),
    };
    let error = small
        .run(&[], refuse, |files| {
            files.recover_blocking(&small.site.workspace)
        })
        .unwrap()
        .unwrap_err();
    let text = error.to_string();
    let expected = "cannot end an earlier change (`test`) that was cut off: `src/a` \
                    (input/output error); its journal is `";
    assert!(text.starts_with(expected), "{text}");
    // No other change is made meanwhile.
    let error = small
        .run(&[], refuse, |files| {
            files.apply_blocking(&small.set, &|| false)
        })
        .unwrap()
        .unwrap_err();
    assert_eq!(error.to_string(), text);
    let recovered = small.recover().unwrap();
    assert_eq!(
        recovered.to_string(),
        "an earlier change (`test`) was cut off and is undone; written: `src/a`"
    );
    small.check_whole("after the second try");
}

/// Crashes when three files are installed: `src/a`, `src/b`, `top`.
fn crashed_in_the_middle() -> Small {
    static STEP: OnceLock<usize> = OnceLock::new();
    let step = STEP.get_or_init(|| {
        let is_middle = |at: &usize| {
            let small = Small::new();
            assert!(
                small.apply_until(&[], *at).is_none(),
                "it never was in the middle"
            );
            let tree = small.site.tree();
            tree["top"] == "644 new top" && tree.contains_key("src/gone")
        };
        (0..).find(is_middle).unwrap()
    });
    let small = Small::new();
    assert!(small.apply_until(&[], *step).is_none());
    small
}

#[test]
fn files_with_a_third_content_are_named_and_left_alone() {
    let small = crashed_in_the_middle();
    small.site.put("src/a", "mine, on the new text");
    fs::remove_file(small.site.at("src/b")).unwrap();
    small.site.put("made/y", "mine");
    let recovered = small.recover().unwrap();
    assert_eq!(
        recovered.to_string(),
        "an earlier change (`test`) was cut off and is undone; written: `top`; left as they are: \
         `src/a` (somebody changed it since), `src/b` (somebody removed it since), `made/y` \
         (somebody changed it since)"
    );
    assert_eq!(
        small.site.tree(),
        entries([
            ("made", "folder"),
            ("made/y", "644 mine"),
            ("src", "folder"),
            ("src/a", "644 mine, on the new text"),
            ("src/gone", "644 old src/gone"),
            ("top", "644 old top"),
        ])
    );
    assert_eq!(small.site.journals(), [""; 0]);
}

#[test]
fn what_others_did_like_the_change_is_not_undone_by_a_recovery() {
    // Nothing is installed yet, and all is staged.
    let staged = |small: &Small| {
        small
            .site
            .tree()
            .keys()
            .filter(|name| name.ends_with(".tmp"))
            .count()
            == 5
    };
    let mut small = Small::new();
    for at in 0.. {
        assert!(
            small.apply_until(&[], at).is_none(),
            "it never was all staged"
        );
        if staged(&small) {
            break;
        }
        small = Small::new();
    }
    fs::remove_file(small.site.at("src/gone")).unwrap();
    fs::write(small.site.at("made/y"), "new y").unwrap();
    let recovered = small.recover().unwrap();
    assert_eq!((recovered.ending, recovered.written), (Ending::Old, vec![]));
    let reasons: Vec<_> = recovered.left.iter().map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        [
            "`src/gone` (somebody removed it since)",
            "`made/y` (somebody made it meanwhile)"
        ]
    );
    let mut expected = small.before.clone();
    expected.remove("src/gone");
    expected.insert("made".to_owned(), "folder".to_owned());
    expected.insert("made/y".to_owned(), "644 new y".to_owned());
    assert_eq!(small.site.tree(), expected);
    assert_eq!(small.site.journals(), [""; 0]);
}

#[test]
fn links_that_appeared_since_are_not_followed_by_a_recovery() {
    let small = crashed_in_the_middle();
    let elsewhere = small.site.folder.path().join("elsewhere");
    fs::rename(small.site.at("src"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, small.site.at("src")).unwrap();
    let outside = tree(&elsewhere);
    let recovered = small.recover().unwrap();
    assert_eq!(recovered.written, [small.site.path("top")]);
    let reasons: Vec<_> = recovered.left.iter().map(ToString::to_string).collect();
    assert_eq!(reasons[0], "`src/a` (`src` is a symbolic link now)");
    assert_eq!(tree(&elsewhere), outside);
    assert_eq!(small.site.journals(), [""; 0]);
}

#[test]
fn a_change_whose_old_bytes_are_gone_is_brought_to_its_end() {
    // All new bytes are in place, and somebody removed what was left beside them.
    let small = Small::new();
    let mut at = 0;
    loop {
        assert!(small.apply_until(&[], at).is_none(), "it never was all new");
        if without_temporary(&small.site.tree()) == small.after {
            break;
        }
        small.recover();
        at += 1;
    }
    for folder in ["", "src", "made", "made/deep"] {
        for entry in fs::read_dir(small.site.at(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_str().unwrap().starts_with(".toolset-") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }
    assert_eq!(small.recover().unwrap().ending, Ending::New);
    assert_eq!(small.site.tree(), small.after);
    assert_eq!(small.site.journals(), [""; 0]);
}

/// Returns the path of the journal.
fn journal(small: &Small) -> PathBuf {
    Desk::new(
        &small.site.folder.path().join("state"),
        &small.site.workspace,
    )
    .journal()
}

#[test]
fn a_journal_cut_anywhere_undoes_what_it_still_names() {
    let text = fs::read_to_string(journal(&crashed_in_the_middle())).unwrap();
    let line_ends: Vec<_> = text.match_indices('\n').map(|(at, _)| at).collect();
    for cut in (0..text.len())
        .step_by(17)
        .chain(line_ends.iter().map(|end| end + 1))
    {
        let small = crashed_in_the_middle();
        let journal = journal(&small);
        let text = fs::read(&journal).unwrap();
        fs::write(&journal, &text[..cut]).unwrap();
        let recovered = small.recover().unwrap();
        // A line counts once all of it is there, with or without its end.
        let whole = line_ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(
            recovered.is_damaged,
            whole < line_ends.len(),
            "cut at {cut}"
        );
        let kept = small.site.journals();
        if whole == 0 {
            assert!(
                matches!(recovered.ending, Ending::Unknown { .. }),
                "cut at {cut}"
            );
            assert!(kept.len() == 1 && kept[0].ends_with("/damaged"), "{kept:?}");
            continue;
        }
        assert_eq!(recovered.ending, Ending::Old, "cut at {cut}");
        assert_eq!(kept, [""; 0], "cut at {cut}");
        let tree = small.site.tree();
        for (index, name) in ["src/a", "src/b", "top"].into_iter().enumerate() {
            let is_named = whole >= index + 2;
            let text = if is_named { "old" } else { "new" };
            assert_eq!(tree[name], format!("644 {text} {name}"), "cut at {cut}");
            let has_temporary = tree
                .keys()
                .any(|path| path.ends_with(&format!("-{index}.tmp")));
            assert_eq!(has_temporary, !is_named, "cut at {cut}");
        }
    }
}

#[test]
fn a_damaged_line_and_all_after_it_count_for_nothing() {
    let small = crashed_in_the_middle();
    let text = fs::read_to_string(journal(&small)).unwrap();
    fs::write(journal(&small), text.replacen("src/b", "src/c", 1)).unwrap();
    let recovered = small.recover().unwrap();
    assert_eq!(recovered.written, [small.site.path("src/a")]);
    assert!(
        recovered
            .to_string()
            .ends_with("its journal was damaged and may have named more files")
    );
    assert_eq!(small.site.tree()["src/b"], "644 new src/b");
}

#[test]
fn a_journal_of_another_form_is_left_to_the_program_that_knows_it() {
    let small = crashed_in_the_middle();
    let text = fs::read_to_string(journal(&small)).unwrap();
    let first = text.lines().next().unwrap();
    let json = first
        .split_once(' ')
        .unwrap()
        .1
        .replace("\"version\":1", "\"version\":2");
    let newer = format!("{} {json}", digest::short_name(json.as_bytes()));
    fs::write(journal(&small), text.replacen(first, &newer, 1)).unwrap();
    let tree = small.site.tree();
    let error = small.site.apply(&small.set).unwrap_err();
    let reason = "the journal there has the form 2, and this program knows 1";
    assert!(error.to_string().ends_with(reason), "{error}");
    assert_eq!(small.site.tree(), tree);
}

#[test]
fn a_file_taken_away_by_a_crash_comes_back_with_what_somebody_wrote_to_it() {
    // Written between the comparison and the swap, right before a crash.
    let small = Small::new();
    let at = small.site.at("src/b");
    let swaps = AtomicUsize::new(0);
    let crashed = small.run(
        &[],
        move |_, step| {
            if step == Step::Exchange {
                swaps.fetch_add(1, Ordering::Relaxed);
                if swaps.load(Ordering::Relaxed) == 2 {
                    fs::write(&at, "mine")?;
                }
                if swaps.load(Ordering::Relaxed) == 3 {
                    // This would put the file back.
                    resume_unwind(Box::new(Crash));
                }
            }
            Ok(())
        },
        |files| files.apply_blocking(&small.set, &|| false).map(|_| ()),
    );
    assert!(crashed.is_none());
    let recovered = small.recover().unwrap();
    let reasons: Vec<_> = recovered.left.iter().map(ToString::to_string).collect();
    assert_eq!(reasons, ["`src/b` (somebody changed it meanwhile)"]);
    let mut expected = small.before.clone();
    expected.insert("src/b".to_owned(), "644 mine".to_owned());
    assert_eq!(small.site.tree(), expected);
}
