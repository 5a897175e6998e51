use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::sync::Mutex;
use std::sync::mpsc;

use super::*;
use crate::HarnessFiles;

#[test]
fn edits_creations_and_deletions_are_applied_as_one() {
    let site = Site::new();
    site.put("src/a.rs", "\u{feff}one\r\ntwo\r\n");
    site.put("src/gone.rs", "bye\n");
    site.put("kept.rs", "kept\n");
    let set = site.set(&[
        (
            "src/a.rs",
            Some("\u{feff}one\r\ntwo\r\n"),
            Some("\u{feff}1\r\ntwo\r\n"),
        ),
        ("new/deep/b.rs", None, Some("b\n")),
        ("src/gone.rs", Some("bye\n"), None),
        ("kept.rs", Some("kept\n"), Some("kept\n")),
    ]);
    let applied = site.applied(&set);
    assert_eq!(applied.notes, [""; 0]);
    let touched: Vec<_> = applied
        .touched
        .iter()
        .map(WorkspacePath::relative)
        .collect();
    assert_eq!(touched, ["src/a.rs", "new/deep/b.rs", "src/gone.rs"]);
    assert_eq!(
        site.tree(),
        entries([
            ("kept.rs", "644 kept\n"),
            ("new", "folder"),
            ("new/deep", "folder"),
            ("new/deep/b.rs", "644 b\n"),
            ("src", "folder"),
            ("src/a.rs", "644 \u{feff}1\r\ntwo\r\n"),
        ])
    );
    assert_eq!(site.journals(), [""; 0]);
}

#[test]
fn every_mismatch_is_named_and_nothing_is_written() {
    let site = Site::new();
    let names = [
        "changed", "shorter", "longer", "missing", "link", "folder", "pipe", "below/a", "linked/a",
        "lost/a", "same", "same2",
    ];
    for name in names {
        site.put(name, "one\ntwo\nthree\n");
    }
    let old = Some("one\ntwo\nthree\n");
    let mut changes: Vec<_> = names.map(|name| (name, old, Some("new\n"))).to_vec();
    changes.push(("exists", None, Some("new\n")));
    changes.push(("made/below", None, Some("new\n")));
    changes.push(("folder2", None, Some("new\n")));
    changes.push(("same3", old, old));
    site.put("same3", "one\ntwo\nthree\n");
    let set = site.set(&changes);

    site.put("changed", "one\n2\nthree\n");
    site.put("shorter", "one\n");
    site.put("longer", "one\ntwo\nthree\nfour\n");
    site.put("same3", "one\ntwo\n3\n");
    let remove = |name: &str| fs::remove_file(site.at(name)).unwrap();
    remove("missing");
    remove("link");
    symlink("same", site.at("link")).unwrap();
    remove("folder");
    fs::create_dir(site.at("folder")).unwrap();
    fs::create_dir(site.at("folder2")).unwrap();
    remove("pipe");
    let _socket = std::os::unix::net::UnixListener::bind(site.at("pipe")).unwrap();
    fs::remove_dir_all(site.at("below")).unwrap();
    site.put("below", "a file");
    fs::rename(site.at("linked"), site.folder.path().join("elsewhere")).unwrap();
    symlink("../elsewhere", site.at("linked")).unwrap();
    fs::remove_dir_all(site.at("lost")).unwrap();
    site.put("exists", "new\n");
    site.put("made", "a file");

    let before = site.tree();
    assert_eq!(
        site.rejected(&set),
        [
            "`changed` has changed: line 2 is the first to differ",
            "`shorter` has changed: line 2 is the first to differ",
            "`longer` has changed: line 4 is the first to differ",
            "`missing` does not exist any more",
            "`link` is a symbolic link now",
            "`folder` is a directory now",
            "`pipe` is a socket now",
            "`below/a` cannot be reached: `below` is not a directory",
            "`linked/a` cannot be reached: `linked` is a symbolic link now",
            "`lost/a` does not exist any more",
            "`exists` exists already",
            "`made/below` cannot be reached: `made` is not a directory",
            "`folder2` exists already",
            "`same3` has changed: line 3 is the first to differ",
        ]
    );
    assert_eq!(site.tree(), before);
    assert_eq!(site.journals(), [""; 0]);
    assert_eq!(
        fs::read_to_string(site.folder.path().join("elsewhere/a")).unwrap(),
        "one\ntwo\nthree\n"
    );
}

/// Runs `work` as a user without special rights, to whom everything in `site`
/// belongs but `foreign`: setuid programs of root that anybody may write.
#[cfg(target_os = "linux")]
fn as_nobody<T: Send>(site: &Site, foreign: &[&str], work: impl FnOnce() -> T + Send) -> T {
    use rustix::process::{Gid, Uid};
    const NOBODY: u32 = 65_534;
    fn give(path: &Path) {
        std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        if path.symlink_metadata().unwrap().is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                give(&entry.unwrap().path());
            }
        }
    }
    if !rustix::process::geteuid().is_root() {
        return work();
    }
    give(site.folder.path());
    for name in foreign {
        std::os::unix::fs::lchown(site.at(name), Some(0), Some(0)).unwrap();
        fs::set_permissions(site.at(name), fs::Permissions::from_mode(0o6777)).unwrap();
    }
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            // Only this thread: the rest of the tests keep their rights.
            let user = Uid::from_raw(NOBODY);
            rustix::thread::set_thread_groups(&[]).unwrap();
            rustix::thread::set_thread_gid(Gid::from_raw(NOBODY)).unwrap();
            rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            work()
        });
        thread.join().unwrap()
    })
}

#[cfg(target_os = "linux")]
#[test]
fn what_may_not_be_read_or_written_is_a_mismatch() {
    let site = Site::new();
    for name in ["secret", "read-only", "shut/a", "hidden/a", "fine"] {
        site.put(name, "old");
    }
    let set = site.set(&[
        ("secret", Some("old"), Some("new")),
        ("read-only", Some("old"), Some("new")),
        ("shut/a", Some("old"), Some("new")),
        ("shut/b", None, Some("new")),
        ("shut/c/d", None, Some("new")),
        ("hidden/a", Some("old"), None),
        ("fine", Some("old"), Some("new")),
    ]);
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(site.at(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("secret", 0o200);
    mode("read-only", 0o444);
    mode("shut", 0o555);
    mode("hidden", 0o600);
    let rejected = as_nobody(&site, &[], || site.rejected(&set));
    mode("hidden", 0o755);
    assert_eq!(
        rejected,
        [
            "`secret` cannot be read any more: permission denied",
            "`read-only` is read-only",
            "`shut/a` cannot be replaced in its folder `shut`: permission denied",
            "`shut/b` cannot be replaced in its folder `shut`: permission denied",
            "`shut/c/d` cannot be replaced in its folder `shut`: permission denied",
            "`hidden/a` cannot be read any more: permission denied",
        ]
    );
    for name in ["secret", "read-only", "shut/a", "hidden/a", "fine"] {
        assert_eq!(fs::read_to_string(site.at(name)).unwrap(), "old", "{name}");
    }
    assert_eq!(site.journals(), [""; 0]);
}

#[test]
fn a_file_that_nobody_may_write_is_read_only_for_everybody() {
    let site = Site::new();
    site.put("a", "old");
    fs::set_permissions(site.at("a"), fs::Permissions::from_mode(0o444)).unwrap();
    let set = site.set(&[("a", Some("old"), Some("new"))]);
    assert_eq!(site.rejected(&set), ["`a` is read-only"]);
    // It may be compared.
    site.applied(&site.set(&[("a", Some("old"), Some("old"))]));
}

#[test]
fn modes_are_kept_and_a_moved_file_has_that_of_the_one_it_was() {
    let site = Site::new();
    site.put("run.sh", "old");
    site.put("bin/tool", "old");
    for (name, mode) in [("run.sh", 0o751), ("bin/tool", 0o4750)] {
        fs::set_permissions(site.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut set = site.set(&[
        ("run.sh", Some("old"), None),
        ("bin/tool", Some("old"), Some("new")),
    ]);
    set.push(FileChange::create(site.path("scripts/run.sh"), *b"old").like(site.path("run.sh")))
        .unwrap();
    assert_eq!(site.applied(&set).notes, [""; 0]);
    assert_eq!(
        site.tree(),
        entries([
            ("bin", "folder"),
            // Its owner is the same, so it still runs as its owner.
            ("bin/tool", "4750 new"),
            ("scripts", "folder"),
            ("scripts/run.sh", "751 old"),
        ])
    );
}

#[test]
fn owner_and_group_are_kept_where_the_system_permits() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can make a file of another owner
    }
    let site = Site::new();
    site.put("a", "old");
    std::os::unix::fs::chown(site.at("a"), Some(1234), Some(5678)).unwrap();
    fs::set_permissions(site.at("a"), fs::Permissions::from_mode(0o6755)).unwrap();
    let mut set = site.set(&[("a", Some("old"), None)]);
    set.push(FileChange::create(site.path("b"), *b"old").like(site.path("a")))
        .unwrap();
    site.applied(&set);
    let edited = site.set(&[("b", Some("old"), Some("new"))]);
    assert_eq!(site.applied(&edited).notes, [""; 0]);
    let metadata = fs::metadata(site.at("b")).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (1234, 5678));
    assert_eq!(site.tree(), entries([("b", "6755 new")]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_owner_cannot_be_kept_does_not_run_as_that_owner() {
    if !rustix::process::geteuid().is_root() {
        return; // only root can make a file of another owner
    }
    let site = Site::new();
    for name in ["tool", "written"] {
        site.put(name, "old");
    }
    let set = site.set(&[("tool", Some("old"), Some("new"))]);
    let written = site.path("written");
    let (applied, result) = as_nobody(&site, &["tool", "written"], || {
        (site.applied(&set), beneath::write(&written, b"new"))
    });
    result.unwrap();
    assert_eq!(
        applied.notes,
        [
            "the owner of `tool` could not be kept",
            "`tool` does not run as its owner any more (setuid, setgid)"
        ]
    );
    assert_eq!(
        site.tree(),
        entries([("tool", "777 new"), ("written", "777 new")])
    );
}

#[cfg(target_os = "linux")]
#[test]
fn access_lists_are_kept_and_none_is_taken_over_from_the_folder() {
    use crate::files::looks::access_list::NAME;
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    use rustix::io::Errno;
    /// As the system writes them: owner, user 1234, group, mask, others.
    fn list(user: u8) -> Vec<u8> {
        let nobody = u32::MAX.to_le_bytes();
        let entry = |tag: u8, rights: u8, id: [u8; 4]| [&[tag, 0, rights, 0][..], &id].concat();
        [
            2_u32.to_le_bytes().to_vec(),
            entry(1, 6, nobody),
            entry(2, user, 1234_u32.to_le_bytes()),
            entry(4, 4, nobody),
            entry(16, 6, nobody),
            entry(32, 4, nobody),
        ]
        .concat()
    }
    let site = Site::new();
    for name in ["listed", "plain", "written"] {
        site.put(name, "old");
    }
    let set =
        |path: &Path, name: &str, list: &[u8]| setxattr(path, name, list, XattrFlags::empty());
    match set(&site.at("listed"), NAME, &list(6)) {
        Err(Errno::NOTSUP) => return, // the file system knows no such lists
        set => set.unwrap(),
    }
    set(&site.at("written"), NAME, &list(6)).unwrap();
    let default = "system.posix_acl_default";
    set(site.workspace.root(), default, &list(7)).unwrap();
    let before = site.tree();
    site.applied(&site.set(&[
        ("listed", Some("old"), Some("new")),
        ("plain", Some("old"), Some("new")),
    ]));
    beneath::write(&site.path("written"), b"new").unwrap();
    let get = |name: &str| {
        let mut list = vec![0; 256];
        let len = getxattr(site.at(name), NAME, list.as_mut_slice())?;
        list.truncate(len);
        Ok::<_, Errno>(list)
    };
    assert_eq!(get("listed"), Ok(list(6)));
    assert_eq!(get("written"), Ok(list(6)));
    assert_eq!(get("plain"), Err(Errno::NODATA));
    let new = before
        .into_iter()
        .map(|(name, text)| (name, text.replace("old", "new")))
        .collect();
    assert_eq!(site.tree(), new);
}

#[test]
fn hard_links_are_said_and_keep_the_old_text() {
    let site = Site::new();
    site.put("a", "old");
    site.put("b", "old");
    fs::hard_link(site.at("a"), site.at("other")).unwrap();
    fs::hard_link(site.at("b"), site.at("c")).unwrap();
    fs::hard_link(site.at("b"), site.at("d")).unwrap();
    let set = site.set(&[
        ("a", Some("old"), Some("new")),
        ("b", Some("old"), Some("new")),
        ("c", Some("old"), None),
    ]);
    assert_eq!(
        site.applied(&set).notes,
        [
            "`a` had 1 more name (a hard link); it keeps the old text",
            "`b` had 2 more names (hard links); they keep the old text",
        ]
    );
    let tree = site.tree();
    assert_eq!((&*tree["a"], &*tree["other"]), ("644 new", "644 old"));
    assert_eq!((&*tree["b"], &*tree["d"]), ("644 new", "644 old"));
    assert!(!tree.contains_key("c"));
}

#[test]
fn a_file_written_at_the_last_moment_is_never_lost() {
    for (step, swaps, how) in [
        (Step::Recheck, 1, "before it is compared again"),
        (Step::Exchange, 1, "between comparison and swap"),
        (Step::Sync, 2, "after the swap"),
    ] {
        let site = Site::new();
        site.put("a", "old a");
        site.put("b", "old b");
        let set = site.set(&[
            ("a", Some("old a"), Some("new a")),
            ("b", Some("old b"), Some("new b")),
            ("c", None, Some("new c")),
        ]);
        // An editor has the file open for writing all the time.
        let mut options = fs::OpenOptions::new();
        let editor = options.write(true).open(site.at("b")).unwrap();
        let state = Mutex::new((0, Some(editor)));
        let files = watched(&site.files, move |at| {
            let (swapped, editor) = &mut *state.lock().unwrap();
            if at == step
                && *swapped == swaps
                && let Some(mut editor) = editor.take()
            {
                editor.write_all(b"mine!")?;
            }
            if at == Step::Exchange {
                *swapped += 1;
            }
            Ok(())
        });
        let outcome = files.apply_blocking(&set, &|| false).unwrap();
        let Outcome::Rejected(mismatches) = outcome else {
            panic!("{how}: {outcome:?}");
        };
        assert_eq!(mismatches.len(), 1, "{how}");
        assert_eq!(mismatches[0].path, site.path("b"), "{how}");
        assert_eq!(
            site.tree(),
            entries([("a", "644 old a"), ("b", "644 mine!")]),
            "{how}"
        );
        assert_eq!(site.journals(), [""; 0], "{how}");
    }
}

#[test]
fn a_file_replaced_between_comparison_and_swap_is_put_back() {
    let site = Site::new();
    site.put("a", "old");
    site.put("gone", "old");
    let set = site.set(&[("gone", Some("old"), None), ("a", Some("old"), Some("new"))]);
    let (mine, at) = (site.at("mine"), site.at("a"));
    let is_done = Mutex::new(false);
    let files = watched(&site.files, move |step| {
        let mut is_done = is_done.lock().unwrap();
        if step == Step::Exchange && !*is_done {
            *is_done = true;
            fs::write(&mine, "mine")?;
            fs::rename(&mine, &at)?;
        }
        Ok(())
    });
    let outcome = files.apply_blocking(&set, &|| false).unwrap();
    let Outcome::Rejected(mismatches) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        mismatches[0].to_string(),
        "another program changed `a` while it was to be replaced"
    );
    assert_eq!(
        site.tree(),
        entries([("a", "644 mine"), ("gone", "644 old")])
    );
}

#[test]
fn a_file_made_meanwhile_is_not_overwritten_by_a_creation() {
    let site = Site::new();
    let set = site.set(&[("a", None, Some("new")), ("b", None, Some("new"))]);
    let at = site.at("b");
    let files = watched(&site.files, move |step| {
        if step == Step::Rename && !at.exists() {
            fs::write(&at, "mine")?;
        }
        Ok(())
    });
    let outcome = files.apply_blocking(&set, &|| false).unwrap();
    assert!(matches!(outcome, Outcome::Rejected(_)), "{outcome:?}");
    assert_eq!(site.tree(), entries([("b", "644 mine")]));
}

#[test]
fn file_systems_without_swaps_or_hard_links_work_too() {
    for without in [&[Step::Exchange][..], &[Step::Exchange, Step::Link]] {
        let site = Site::new();
        site.put("a", "old a");
        site.put("b", "old b");
        fs::set_permissions(site.at("a"), fs::Permissions::from_mode(0o750)).unwrap();
        let edits = [
            ("a", Some("old a"), Some("new a")),
            ("b", Some("old b"), Some("new b")),
            ("c/d", None, Some("new d")),
        ];
        let files = watched(&site.files, |step| {
            if without.contains(&step) {
                return Err(rustix::io::Errno::INVAL.into());
            }
            Ok(())
        });
        let outcome = files.apply_blocking(&site.set(&edits), &|| false).unwrap();
        assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
        assert_eq!(
            site.tree(),
            entries([
                ("a", "750 new a"),
                ("b", "644 new b"),
                ("c", "folder"),
                ("c/d", "644 new d")
            ])
        );
        assert_eq!(site.journals(), [""; 0]);
    }
}

#[test]
fn a_set_too_large_or_empty_or_unchanged_writes_nothing() {
    let site = Site::new();
    site.put("a", "old");
    assert_eq!(site.applied(&ChangeSet::new("empty")), Applied::default());
    let same = site.set(&[("a", Some("old"), Some("old"))]);
    assert_eq!(site.applied(&same), Applied::default());
    let small = site.files.clone().with_max_bytes(3);
    let large = site.set(&[("a", Some("old"), Some("four"))]);
    assert_eq!(
        small
            .apply_blocking(&large, &|| false)
            .unwrap_err()
            .to_string(),
        "cannot write `a`: it has 4 bytes, the limit is 3"
    );
    assert_eq!(site.tree(), entries([("a", "644 old")]));
}

#[test]
fn the_journal_folder_follows_the_xdg_rules_and_is_private() {
    let find = |configured: Option<&str>, home: Option<&str>| {
        super::super::super::user_state(configured.map(Into::into), home.map(PathBuf::from))
    };
    let folder = |text: &str| Some(PathBuf::from(text));
    assert_eq!(find(Some("/s"), Some("/h")), folder("/s/toolset/changes"));
    let fallback = folder("/h/.local/state/toolset/changes");
    assert_eq!(find(None, Some("/h")), fallback);
    assert_eq!(find(Some("relative"), Some("/h")), fallback);
    assert_eq!(find(None, None), None);

    let site = Site::new();
    site.applied(&site.set(&[("a", None, Some("x"))]));
    let state = site.folder.path().join("state");
    assert_eq!(fs::metadata(&state).unwrap().mode() & 0o777, 0o700);
    let of_workspace: Vec<_> = fs::read_dir(&state).unwrap().collect();
    assert_eq!(of_workspace.len(), 1);
    assert_eq!(
        of_workspace[0].as_ref().unwrap().metadata().unwrap().mode() & 0o777,
        0o700
    );
}

#[test]
fn a_state_folder_that_cannot_be_used_is_an_error_before_anything_is_written() {
    let site = Site::new();
    site.put("a", "old");
    let blocked = site.folder.path().join("file");
    fs::write(&blocked, "x").unwrap();
    let files = site.files.clone().with_state_folder(blocked.join("state"));
    let error = files
        .apply_blocking(&site.set(&[("a", Some("old"), Some("new"))]), &|| false)
        .unwrap_err();
    assert!(matches!(error, Error::Journal { .. }), "{error}");
    assert_eq!(site.tree(), entries([("a", "644 old")]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_sets_on_the_same_files_are_applied_one_after_the_other() {
    let site = Site::new();
    let names: Vec<String> = (0..8).map(|n| format!("f{n}")).collect();
    for name in &names {
        site.put(name, "0");
    }
    let applied = Arc::new(Mutex::new(vec![0]));
    let mut tasks = Vec::new();
    for writer in 1..=6 {
        let (files, applied) = (site.files.clone(), Arc::clone(&applied));
        let paths: Vec<_> = names.iter().map(|name| site.path(name)).collect();
        tasks.push(tokio::spawn(async move {
            for _ in 0..50 {
                let mut set = ChangeSet::new("t");
                for path in &paths {
                    // Torn where another set is being applied: then it is rejected.
                    let before = files.read(path).await.unwrap();
                    let after = writer.to_string().into_bytes();
                    set.push(FileChange::edit(path.clone(), before, after))
                        .unwrap();
                }
                if let Outcome::Applied(_) = files.apply(set).await.unwrap() {
                    applied.lock().unwrap().push(writer);
                    return;
                }
            }
            panic!("writer {writer} never got through");
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let applied = applied.lock().unwrap();
    assert_eq!(applied.len(), 7);
    let texts: Vec<_> = site.tree().into_values().collect();
    assert!(texts.iter().all(|text| text == &texts[0]), "{texts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_future_acts_before_or_after_and_never_in_the_middle() {
    // Dropped in the middle: it is carried out to its end.
    let site = Site::new();
    site.put("a", "old");
    site.put("b", "old");
    let set = site.set(&[
        ("a", Some("old"), Some("new")),
        ("b", Some("old"), Some("new")),
    ]);
    let (reached, is_reached) = tokio::sync::oneshot::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let reached = Mutex::new(Some(reached));
    let may_go_on = Mutex::new(may_go_on);
    let (ended, is_ended) = tokio::sync::oneshot::channel();
    let ended = Mutex::new(Some(ended));
    let files = watched(&site.files, move |step| {
        if step == Step::Exchange
            && let Some(reached) = reached.lock().unwrap().take()
        {
            reached.send(()).unwrap();
            may_go_on.lock().unwrap().recv().unwrap();
        }
        if step == Step::EndJournal
            && let Some(ended) = ended.lock().unwrap().take()
        {
            ended.send(()).unwrap();
        }
        Ok(())
    });
    let apply = tokio::spawn(async move { files.apply(set).await });
    is_reached.await.unwrap();
    apply.abort();
    assert!(apply.await.unwrap_err().is_cancelled());
    go_on.send(()).unwrap();
    is_ended.await.unwrap();
    // Waits for the lock, hence for the end of the change.
    site.files.recover(&site.workspace).await.unwrap();
    site.applied(&site.set(&[("a", Some("new"), Some("new"))]));
    assert_eq!(site.tree(), entries([("a", "644 new"), ("b", "644 new")]));
    assert_eq!(site.journals(), [""; 0]);

    // Given up while it waits for its turn: it writes nothing.
    let set = site.set(&[("a", Some("new"), Some("newer"))]);
    let error = site.files.apply_blocking(&set, &|| true).unwrap_err();
    assert!(matches!(error, Error::Abandoned), "{error}");
    assert_eq!(site.tree(), entries([("a", "644 new"), ("b", "644 new")]));
}

#[test]
fn another_change_is_waited_for_and_then_named() {
    let site = Site::new();
    site.put("a", "old");
    let set = site.set(&[("a", Some("old"), Some("new"))]);
    let desk = Desk::new(&site.folder.path().join("state"), &site.workspace);
    let lock = desk
        .lock(&site.workspace, Duration::ZERO, &|| false)
        .unwrap();
    let impatient = site.files.clone().with_lock_wait(Duration::from_millis(30));
    let error = impatient.apply_blocking(&set, &|| false).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot change files in `{}`: another change has been running there for 0 s",
            site.workspace.root().display()
        )
    );
    assert_eq!(site.tree(), entries([("a", "644 old")]));
    drop(lock);
    site.applied(&set);
}
