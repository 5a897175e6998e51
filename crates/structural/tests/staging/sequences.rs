//! Random sequences of staging, disturbing and resolving, against a model that
//! knows nothing of syntax or of how files are written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use serde_json::json;
use tiers::{ErrorKind, ToolError};

use crate::setting::{Setting, id_of};

const SEQUENCES: u64 = 1_000;
const STEPS: usize = 14;
const THREADS: usize = 8;
const FILES: [&str; 5] = ["a.py", "b/c.py", "b/d.py", "b/e/f.py", "g h.py"];
/// Functions that the files call; a rewrite makes one into another.
const NAMES: [&str; 4] = ["one", "two", "uno", "dos"];

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Thing {
    File { text: String, mode: u32 },
    Link,
    Folder,
}

/// What became of a staged edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Staged,
    Accepted,
    Discarded,
}

#[derive(Debug)]
struct Edit {
    id: String,
    state: State,
    /// Old and new text.
    files: BTreeMap<String, (String, String)>,
    /// Edits accepted before it was staged.
    accepted_before: usize,
}

#[derive(Default)]
struct Model {
    things: BTreeMap<String, Thing>,
    edits: Vec<Edit>,
    accepted: usize,
    /// The edit that changed a file last, and how many were accepted then.
    changed: BTreeMap<String, (String, usize)>,
}

/// How often each thing happened in all sequences.
type Counts = BTreeMap<&'static str, usize>;

#[test]
fn an_edit_is_applied_whole_or_not_at_all_whatever_happens_to_its_files() {
    // They wait for the disk most of the time.
    let parts: Vec<Counts> = std::thread::scope(|scope| {
        let run = |part| {
            let mut counts = Counts::new();
            for seed in (part..SEQUENCES).step_by(THREADS) {
                sequence(seed, &mut counts);
            }
            counts
        };
        let threads = (0..THREADS as u64).map(|part| scope.spawn(move || run(part)));
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let mut counts = Counts::new();
    for (what, count) in parts.into_iter().flatten() {
        *counts.entry(what).or_default() += count;
    }
    let wanted = [
        "accepted",
        "rejected",
        "discarded",
        "settled already",
        "nothing to stage",
        "touched",
        "same text",
        "made anew",
        "edited elsewhere",
        "same length",
        "removed",
        "link",
        "folder",
        "mode",
        "folder became a link",
        "other edit accepted",
    ];
    for what in wanted {
        assert!(
            counts.get(what).is_some_and(|n| *n >= 50),
            "`{what}` is too rare: {counts:?}"
        );
    }
}

fn sequence(seed: u64, counts: &mut Counts) {
    let mut random = Rng::with_seed(seed);
    let setting = Setting::new();
    let mut model = Model::default();
    for path in FILES {
        let text = new_text(&mut random);
        model.put(&setting, path, &text);
    }
    for step in 0..STEPS {
        let what = match random.u32(..10) {
            0..3 => model.stage(&setting, &mut random),
            3..6 => model.disturb(&setting, &mut random),
            6..9 => model.accept(&setting, &mut random),
            _ => model.discard(&setting, &mut random),
        };
        if let Some(what) = what {
            *counts.entry(what).or_default() += 1;
        }
        let found = tree(setting.root());
        assert_eq!(found, model.things, "seed {seed}, step {step}: {what:?}");
    }
}

fn new_text(random: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..random.usize(1..6) {
        let (name, number) = (NAMES[random.usize(..4)], random.u32(10..100));
        let end = if random.bool() { "\n" } else { "\r\n" };
        text.push_str(&match random.u32(..3) {
            0 => format!("é = {number}{end}"),
            _ => format!("{name}({number}){end}"),
        });
    }
    text
}

/// Reads all that is below a folder.
fn tree(root: &Path) -> BTreeMap<String, Thing> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let thing = if metadata.is_symlink() {
                Thing::Link
            } else if metadata.is_dir() {
                folders.push(path.clone());
                Thing::Folder
            } else {
                let mode = metadata.mode() & 0o777;
                // Not root: has to be opened for a moment.
                if mode & 0o400 == 0 {
                    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
                }
                let text = fs::read_to_string(&path).unwrap();
                fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
                Thing::File { text, mode }
            };
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.insert(name.to_owned(), thing);
        }
    }
    found
}

/// Root may read and write whatever the mode says.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl Model {
    /// Writes a file, and the folders above it.
    fn put(&mut self, setting: &Setting, path: &str, text: &str) {
        setting.write(path, text);
        for (at, _) in path.match_indices('/') {
            self.things.insert(path[..at].to_owned(), Thing::Folder);
        }
        let mode = fs::metadata(setting.root().join(path)).unwrap().mode() & 0o777;
        let text = text.to_owned();
        self.things
            .insert(path.to_owned(), Thing::File { text, mode });
    }

    /// Removes what is at a path and below it.
    fn remove(&mut self, setting: &Setting, path: &str) {
        let full = setting.root().join(path);
        if full.is_dir() && !full.is_symlink() {
            fs::remove_dir_all(full).unwrap();
        } else {
            fs::remove_file(full).unwrap();
        }
        let below = format!("{path}/");
        self.things
            .retain(|name, _| name != path && !name.starts_with(&below));
    }

    fn text(&self, path: &str) -> Option<&str> {
        match self.things.get(path)? {
            Thing::File { text, .. } => Some(text),
            Thing::Link | Thing::Folder => None,
        }
    }

    /// Whether an edit of the file can be written, if it holds `before`.
    fn fits(&self, path: &str, before: &str) -> bool {
        match self.things.get(path) {
            Some(Thing::File { text, mode }) => {
                // A file without the bit is not written, even by root.
                text == before && mode & 0o200 != 0 && (is_root() || mode & 0o400 != 0)
            }
            Some(Thing::Link | Thing::Folder) | None => false,
        }
    }

    fn regular_files(&self) -> Vec<String> {
        let is_file = |thing: &Thing| matches!(thing, Thing::File { .. });
        let files = self.things.iter().filter(|(_, thing)| is_file(thing));
        files.map(|(path, _)| path.clone()).collect()
    }

    fn stage(&mut self, setting: &Setting, random: &mut Rng) -> Option<&'static str> {
        let from = NAMES[random.usize(..4)];
        let to = NAMES[random.usize(..4)];
        if from == to {
            return None;
        }
        let mut input = json!({
            "pattern": format!("{from}($X)"),
            "rewrite": format!("{to}($X)"),
            "language": "python",
        });
        let regular = self.regular_files();
        let is_readable = |path: &String| match self.things.get(path) {
            Some(Thing::File { mode, .. }) => is_root() || mode & 0o400 != 0,
            _ => false,
        };
        let mut wanted: Vec<String> = regular.iter().filter(|p| is_readable(p)).cloned().collect();
        if random.u32(..4) == 0 && !wanted.is_empty() {
            let only = wanted.swap_remove(random.usize(..wanted.len()));
            input["path"] = json!(only);
            wanted = vec![only];
        }
        let call = format!("{from}(");
        let files: BTreeMap<String, (String, String)> = wanted
            .into_iter()
            .filter_map(|path| {
                let before = self.text(&path)?.to_owned();
                let after = before.replace(&call, &format!("{to}("));
                (before != after).then_some((path, (before, after)))
            })
            .collect();
        let output = setting.edit(&input).unwrap();
        let changed: Vec<&str> = output.details["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["path"].as_str().unwrap())
            .collect();
        assert_eq!(changed, files.keys().collect::<Vec<_>>());
        let Some(id) = id_of(&output) else {
            assert!(files.is_empty());
            return Some("nothing to stage");
        };
        self.edits.push(Edit {
            id,
            state: State::Staged,
            files,
            accepted_before: self.accepted,
        });
        Some("staged")
    }

    fn accept(&mut self, setting: &Setting, random: &mut Rng) -> Option<&'static str> {
        let number = random.usize(..self.edits.len().max(1));
        let edit = self.edits.get(number)?;
        let result = setting.resolve(&edit.id, "accept");
        if edit.state != State::Staged {
            settled(&result.unwrap_err(), "accept", edit.state);
            return Some("settled already");
        }
        let stale: Vec<&String> = edit
            .files
            .iter()
            .filter(|(path, (before, _))| !self.fits(path, before))
            .map(|(path, _)| path)
            .collect();
        if stale.is_empty() {
            let touched: Vec<String> = edit.files.keys().cloned().collect();
            assert_eq!(result.unwrap().touched, touched);
            self.accepted += 1;
            for (path, (_, after)) in &edit.files {
                if let Some(Thing::File { text, .. }) = self.things.get_mut(path) {
                    text.clone_from(after);
                }
                let by = (edit.id.clone(), self.accepted);
                self.changed.insert(path.clone(), by);
            }
            self.edits[number].state = State::Accepted;
            return Some("accepted");
        }
        let error = result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Conflict, "{error}");
        let why = error.why.unwrap();
        let mut is_by_edit = false;
        for path in edit.files.keys() {
            let reason = why.split("; ").find(|r| r.contains(&format!("`{path}`")));
            assert_eq!(reason.is_some(), stale.contains(&path), "{path} in: {why}");
            let since = self.changed.get(path);
            let since = since.filter(|(_, at)| *at > edit.accepted_before);
            if let (Some(reason), Some((by, _))) = (reason, since) {
                assert!(reason.contains(&format!("`{by}`, accepted since")), "{why}");
                is_by_edit = true;
            } else if let Some(reason) = reason {
                assert!(!reason.contains("accepted since"), "{why}");
            }
        }
        Some(if is_by_edit {
            "other edit accepted"
        } else {
            "rejected"
        })
    }

    fn discard(&mut self, setting: &Setting, random: &mut Rng) -> Option<&'static str> {
        let number = random.usize(..self.edits.len().max(1));
        let edit = self.edits.get_mut(number)?;
        let result = setting.resolve(&edit.id, "discard");
        if edit.state != State::Staged {
            settled(&result.unwrap_err(), "discard", edit.state);
            return Some("settled already");
        }
        assert!(result.unwrap().touched.is_empty());
        edit.state = State::Discarded;
        Some("discarded")
    }

    /// Does to a file what somebody else might.
    fn disturb(&mut self, setting: &Setting, random: &mut Rng) -> Option<&'static str> {
        let regular = self.regular_files();
        let path = regular.get(random.usize(..regular.len().max(1)))?.clone();
        let full = setting.root().join(&path);
        let text = self.text(&path)?.to_owned();
        Some(match random.u32(..12) {
            0 => {
                let times =
                    FileTimes::new().set_modified(SystemTime::now() + Duration::from_secs(60));
                let file = File::open(&full);
                file.unwrap().set_times(times).unwrap();
                "touched"
            }
            1 => {
                self.overwrite(setting, &path, text);
                "same text"
            }
            2 => {
                self.remove(setting, &path);
                self.put(setting, &path, &text);
                "made anew"
            }
            3 => {
                self.overwrite(setting, &path, text + "z = 0\n");
                "edited elsewhere"
            }
            4 => {
                // A digit: as long as before, and with as many calls.
                let at = text.find(|c: char| c.is_ascii_digit())?;
                let digit = if &text[at..=at] == "7" { "8" } else { "7" };
                let mut text = text;
                text.replace_range(at..=at, digit);
                self.overwrite(setting, &path, text);
                "same length"
            }
            5 => {
                self.remove(setting, &path);
                "removed"
            }
            6 => {
                // To a file that reads the same.
                let copy = setting.outside().join(format!("copy-{}", random.u64(..)));
                fs::copy(&full, &copy).unwrap();
                self.remove(setting, &path);
                symlink(copy, &full).unwrap();
                self.things.insert(path, Thing::Link);
                "link"
            }
            7 => {
                self.remove(setting, &path);
                fs::create_dir(&full).unwrap();
                self.things.insert(path, Thing::Folder);
                "folder"
            }
            8 => {
                let new = [0o644, 0o600, 0o755, 0o444, 0o000][random.usize(..5)];
                fs::set_permissions(&full, Permissions::from_mode(new)).unwrap();
                if let Some(Thing::File { mode, .. }) = self.things.get_mut(&path) {
                    *mode = new;
                }
                "mode"
            }
            9 => {
                // The folder moves, and a link takes its place.
                let folder = path.split_once('/')?.0.to_owned();
                let moved = format!("moved-{}", random.u64(..));
                fs::rename(setting.root().join(&folder), setting.root().join(&moved)).unwrap();
                symlink(&moved, setting.root().join(&folder)).unwrap();
                let things = std::mem::take(&mut self.things);
                for (name, thing) in things {
                    let name = match name.strip_prefix(&folder) {
                        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                            format!("{moved}{rest}")
                        }
                        _ => name,
                    };
                    self.things.insert(name, thing);
                }
                self.things.insert(folder, Thing::Link);
                "folder became a link"
            }
            10 => {
                let path = FILES[random.usize(..FILES.len())];
                let above = path.match_indices('/').map(|(at, _)| &path[..at]);
                let is_free =
                    |folder| matches!(self.things.get(folder), None | Some(Thing::Folder));
                if !above.into_iter().all(is_free) {
                    return None;
                }
                if self.things.contains_key(path) {
                    self.remove(setting, path);
                }
                self.put(setting, path, &text);
                "made in place of another"
            }
            _ => {
                self.overwrite(setting, &path, new_text(random));
                "edited"
            }
        })
    }

    /// Writes other text into the same file.
    fn overwrite(&mut self, setting: &Setting, path: &str, new: String) {
        let full = setting.root().join(path);
        let Some(Thing::File { text, mode }) = self.things.get_mut(path) else {
            return;
        };
        fs::set_permissions(&full, Permissions::from_mode(0o600)).unwrap();
        fs::write(&full, &new).unwrap();
        fs::set_permissions(&full, Permissions::from_mode(*mode)).unwrap();
        *text = new;
    }
}

/// An edit that was resolved cannot be resolved again, and the error says how
/// it was.
#[track_caller]
fn settled(error: &ToolError, action: &str, state: State) {
    assert_eq!(error.kind, ErrorKind::Conflict, "{error}");
    let text = error.to_string();
    let how = match state {
        State::Accepted => "accepted already",
        State::Discarded => "discarded",
        State::Staged => panic!("it can be resolved"),
    };
    let names: BTreeSet<bool> = [format!("cannot {action}"), how.to_owned()]
        .iter()
        .map(|part| text.contains(part))
        .collect();
    assert_eq!(names, BTreeSet::from([true]), "{text}");
}
