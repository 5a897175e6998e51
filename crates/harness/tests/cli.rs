//! The command line as its users see it: the real program in a real folder.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(
    clippy::disallowed_methods,
    reason = "the test is what runs the program"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The tools that come with features, in front of the others.
fn by_feature() -> Vec<&'static str> {
    let mut tools = Vec::new();
    if cfg!(feature = "structural") {
        tools.extend(["ast_grep", "ast_edit", "resolve"]);
    }
    if cfg!(feature = "kernel") {
        tools.push("eval");
    }
    if cfg!(feature = "lsp") {
        tools.extend(["lsp", "lsp_rename"]);
    }
    tools
}

/// Those of them that only read.
fn read_by_feature() -> Vec<&'static str> {
    let mut tools = by_feature();
    tools.retain(|tool| ["ast_grep", "lsp"].contains(tool));
    tools
}

/// A workspace, a home, and the program.
struct Sandbox {
    workspace: TempDir,
    home: TempDir,
}

/// How a run of the program ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Sandbox {
    fn new() -> Self {
        Self {
            workspace: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.workspace.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &[&str], input: &str) -> Ended {
        let mut child = Command::new(env!("CARGO_BIN_EXE_toolset"))
            .args(args)
            .current_dir(self.workspace.path())
            .env("XDG_CONFIG_HOME", self.home.path())
            .env("XDG_STATE_HOME", self.home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The program may end before it has read everything.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `call … --json`; returns the exit code and the object.
    #[track_caller]
    fn call(&self, args: &[&str]) -> (Option<i32>, Value) {
        let ended = self.run(&[&["call"], args, &["--json"]].concat());
        let value = serde_json::from_str(&ended.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}): {ended:?}"));
        (ended.code, value)
    }
}

fn names(tools: &Value) -> Vec<&str> {
    tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

fn text(value: &Value) -> &str {
    value["content"][0]["text"].as_str().unwrap()
}

// Tools.

#[test]
fn tools_lists_specs_with_name_and_tier() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run(&["tools", "--json"]);
    let tools: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        names(&tools),
        [by_feature(), vec!["read", "write", "edit", "apply_patch"]].concat()
    );
    let tiers: Vec<&Value> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["tier"])
        .skip(by_feature().len())
        .collect();
    assert_eq!(tiers, ["read", "write", "write", "write"]);
    for tool in tools.as_array().unwrap() {
        assert_eq!(
            tool["input_schema"]["additionalProperties"],
            json!(false),
            "{tool}"
        );
        assert!(tool["details_schema"].is_object(), "{tool}");
    }
}

#[test]
fn plan_and_read_only_runs_have_read_tools_only() {
    let sandbox = Sandbox::new();
    for mode in ["plan", "read-only"] {
        let ended = sandbox.run(&["tools", "--json", "--mode", mode]);
        let tools: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(names(&tools), [read_by_feature(), vec!["read"]].concat());
    }
}

#[test]
fn output_that_is_no_terminal_has_no_colour_and_no_table() {
    let ended = Sandbox::new().run(&["tools", "--mode", "plan"]);
    assert_eq!(
        ended.stdout.lines().last(),
        Some("read\tread\tRead a file"),
        "{}",
        ended.stdout
    );
    assert!(!ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'));
    assert!(
        ended.stderr.contains("`write`: its tier is write"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_write_tool_in_plan_mode_answers_exactly_as_an_unknown_tool() {
    let sandbox = Sandbox::new();
    let answer = |tool: &str| {
        let (code, value) = sandbox.call(&[tool, "path=a", "content=b", "--mode", "plan"]);
        (code, value.to_string().replace(tool, "TOOL"))
    };
    let withheld = answer("write");
    assert_eq!(withheld, answer("blotz"));
    assert_eq!(withheld.0, Some(1));
    assert!(withheld.1.contains("unknown_tool"), "{}", withheld.1);
    assert!(!sandbox.path("a").exists());
}

// Calls.

#[cfg(feature = "structural")]
#[test]
fn ast_grep_finds_code_by_its_shape() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "lib/a.dart",
        "void f(a, b) {\n  if (a != null) a.dispose();\n  if (a != null) b.dispose();\n}\n",
    );
    let pattern = "pattern=if ($X != null) $X.dispose()";
    let (code, value) = sandbox.call(&["ast_grep", pattern, "language=dart"]);
    assert_eq!(code, Some(0), "{value}");
    let matches = value["details"]["matches"].as_array().unwrap();
    let captures: Vec<&Value> = matches
        .iter()
        .map(|found| &found["captures"]["X"]["text"])
        .collect();
    assert_eq!(captures, ["a"], "{value}");
    let lines: Vec<&Value> = matches.iter().map(|found| &found["line"]).collect();
    assert_eq!(lines, [2], "{value}");
}

#[cfg(feature = "structural")]
#[test]
fn a_call_that_stages_says_that_the_edit_ends_with_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "f(1)\n");
    let arguments = ["pattern=f($X)", "rewrite=g($X)", "language=python"];
    let ended = sandbox.run(&[&["call", "ast_edit"], &arguments[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("edit_id \"edit_1\""), "{ended:?}");
    assert!(ended.stderr.contains("toolset repl"), "{ended:?}");
    let (code, value) = sandbox.call(&["resolve", "edit_id=edit_1", "action=accept"]);
    assert_eq!(code, Some(1));
    assert_eq!(value["error"]["kind"], json!("not_found"), "{value}");
    assert_eq!(sandbox.read("a.py"), "f(1)\n");
}

#[test]
fn a_result_goes_to_standard_output_and_an_error_to_standard_error() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one\n");
    let good = sandbox.run(&["call", "read", "path=a.txt"]);
    assert_eq!(
        (good.code, good.stdout.as_str(), good.stderr.as_str()),
        (Some(0), "     1\tone\n", "")
    );
    let bad = sandbox.run(&["call", "read", "path=b.txt"]);
    assert_eq!((bad.code, bad.stdout.as_str()), (Some(1), ""));
    assert!(
        bad.stderr.starts_with("error: cannot read `b.txt`"),
        "{}",
        bad.stderr
    );
}

#[test]
fn an_error_in_json_is_an_object_error_and_exit_code_1() {
    let (code, value) = Sandbox::new().call(&["read", "path=gone"]);
    assert_eq!(code, Some(1));
    assert_eq!(value["error"]["kind"], "not_found");
    assert_eq!(value.as_object().unwrap().len(), 1);
}

#[test]
fn a_wrong_command_line_has_exit_code_2() {
    let sandbox = Sandbox::new();
    for args in [
        &["call"][..],
        &["call", "read", "path"],
        &["call", "read", "{"],
        &["call", "read", "--workspace", "gone"],
        &["tools", "--mode", "fast"],
        &["tools", "--trust", "--no-trust"],
    ] {
        let ended = sandbox.run(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.starts_with("error: "), "{args:?}: {ended:?}");
    }
}

#[test]
fn arguments_are_json_words_files_or_standard_input() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one\ntwo\n");
    sandbox.write("text", "two\n");
    let second = "     2\ttwo\n";
    let object = r#"{"path": "a.txt", "offset": 2}"#;
    assert_eq!(sandbox.run(&["call", "read", object]).stdout, second);
    assert_eq!(
        sandbox
            .run(&["call", "read", "path=a.txt", "offset=2"])
            .stdout,
        second
    );
    assert_eq!(
        sandbox.run_with(&["call", "read", "-"], object).stdout,
        second
    );
    let copied = sandbox.run(&["call", "write", "path=b.txt", "content=@text"]);
    assert_eq!(
        (copied.code, sandbox.read("b.txt")),
        (Some(0), "two\n".to_owned()),
        "{copied:?}"
    );
    let piped = sandbox.run_with(&["call", "write", "path=b.txt", "content=-"], "x\ny");
    assert_eq!(
        (piped.code, sandbox.read("b.txt")),
        (Some(0), "x\ny".to_owned()),
        "{piped:?}"
    );
}

#[test]
fn a_workspace_elsewhere_can_be_named() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.txt", "one\n");
    let ended = sandbox.run(&["call", "read", "path=a.txt", "--workspace", "in"]);
    assert_eq!(ended.stdout, "     1\tone\n");
}

// The file tools.

#[test]
fn write_creates_folders_and_says_what_it_touched() {
    let sandbox = Sandbox::new();
    let (_, made) = sandbox.call(&["write", "path=a/b/c.txt", "content=x"]);
    assert_eq!(made["touched"], json!(["a/b/c.txt"]));
    assert_eq!(made["details"]["is_new"], json!(true));
    let (_, again) = sandbox.call(&["write", "path=a/b/c.txt", "content=x"]);
    assert_eq!(again["touched"], json!([]));
}

#[test]
fn the_file_tools_do_not_leave_the_workspace() {
    let sandbox = Sandbox::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a"), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), sandbox.path("link")).unwrap();
    let patch = "*** Begin Patch\n*** Add File: link/b\n+x\n*** End Patch";
    for args in [
        &["read", "path=link/a"][..],
        &["write", "path=link/a", "content=x"],
        &["edit", "path=link/a", "old_string=secret", "new_string=x"],
        &["apply_patch", &format!("patch={patch}")],
        &["read", "path=../a"],
        &["write", "path=/etc/toolset-test", "content=x"],
    ] {
        let (code, value) = sandbox.call(args);
        assert_eq!(
            (code, &value["error"]["kind"]),
            (Some(1), &json!("denied")),
            "{args:?}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(outside.path().join("a")).unwrap(),
        "secret"
    );
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn edit_keeps_line_ends_byte_order_mark_and_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("a.sh", "\u{feff}one\r\ntwo\r\nthree");
    std::fs::set_permissions(sandbox.path("a.sh"), PermissionsExt::from_mode(0o750)).unwrap();
    let arguments = json!({ "path": "a.sh", "old_string": "two\nthree", "new_string": "2\n3\n4" });
    let (code, value) = sandbox.call(&["edit", &arguments.to_string()]);
    assert_eq!(code, Some(0), "{value}");
    assert_eq!(sandbox.read("a.sh"), "\u{feff}one\r\n2\r\n3\r\n4");
    let mode = std::fs::metadata(sandbox.path("a.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[test]
fn edit_that_is_not_exact_or_not_unique_changes_nothing_and_says_why() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "same\nother\nsame\n");
    let message = |old: &str| {
        let arguments = json!({ "path": "a.txt", "old_string": old, "new_string": "x" });
        let (code, value) = sandbox.call(&["edit", &arguments.to_string()]);
        assert_eq!(code, Some(1), "{value}");
        value["error"]["message"].as_str().unwrap().to_owned()
    };
    assert!(
        message("same").contains("occurs 2 times, at lines 1, 3"),
        "{}",
        message("same")
    );
    assert!(
        message("othr").contains("line 2 is `other`"),
        "{}",
        message("othr")
    );
    assert_eq!(sandbox.read("a.txt"), "same\nother\nsame\n");
    let (_, all) = sandbox.call(&[
        "edit",
        "path=a.txt",
        "old_string=same",
        "new_string=x",
        "replace_all=true",
    ]);
    assert_eq!(all["details"]["replacements"], json!(2));
    assert_eq!(sandbox.read("a.txt"), "x\nother\nx\n");
}

#[test]
fn binary_files_are_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path("a.bin"), b"ab\0cd").unwrap();
    for args in [
        &["read", "path=a.bin"][..],
        &["edit", "path=a.bin", "old_string=ab", "new_string=x"],
    ] {
        let (_, value) = sandbox.call(args);
        assert_eq!(
            value["error"]["why"],
            "it is binary: 5 bytes, with a NUL at byte 2"
        );
    }
    std::fs::write(sandbox.path("latin"), b"caf\xe9\n").unwrap();
    let (_, shown) = sandbox.call(&["read", "path=latin"]);
    assert!(
        text(&shown).contains("caf\u{fffd}\n[not UTF-8"),
        "{}",
        text(&shown)
    );
    let (_, refused) = sandbox.call(&["edit", "path=latin", "old_string=caf", "new_string=x"]);
    assert_eq!(
        refused["error"]["why"],
        "it is not UTF-8: byte 3 is not part of a character"
    );
}

#[test]
fn read_lists_folders() {
    let sandbox = Sandbox::new();
    sandbox.write("b/c.txt", "");
    sandbox.write("a.txt", "");
    let (_, value) = sandbox.call(&["read", "path=."]);
    assert_eq!(text(&value), "folder `.`, 2 entries\na.txt\nb/\n");
}

#[test]
fn a_patch_in_either_form_changes_adds_moves_and_deletes() {
    use std::os::unix::fs::PermissionsExt;
    let envelope = "*** Begin Patch\n*** Update File: keep.txt\n@@\n one\n-two\n+2\n*** Add File: \
                    new/a.txt\n+hello\n*** Update File: old.sh\n*** Move to: moved.sh\n@@\n-x\n+y\n*** \
                    Delete File: gone.txt\n*** End Patch\n";
    let unified = "--- a/keep.txt\n+++ b/keep.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- /dev/null\n+++ \
                   b/new/a.txt\n@@ -0,0 +1 @@\n+hello\ndiff --git a/old.sh b/moved.sh\nsimilarity index \
                   50%\nrename from old.sh\nrename to moved.sh\n--- a/old.sh\n+++ b/moved.sh\n@@ -1 +1 \
                   @@\n-x\n+y\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n";
    for patch in [envelope, unified] {
        let sandbox = Sandbox::new();
        sandbox.write("keep.txt", "one\r\ntwo\r\n");
        sandbox.write("old.sh", "x\n");
        std::fs::set_permissions(sandbox.path("old.sh"), PermissionsExt::from_mode(0o755)).unwrap();
        sandbox.write("gone.txt", "bye\n");
        let arguments = json!({ "patch": patch }).to_string();
        let (code, value) = sandbox.call(&["apply_patch", &arguments]);
        assert_eq!(code, Some(0), "{value}");
        assert_eq!(sandbox.read("keep.txt"), "one\r\n2\r\n");
        assert_eq!(sandbox.read("new/a.txt"), "hello\n");
        assert_eq!(sandbox.read("moved.sh"), "y\n");
        let mode = std::fs::metadata(sandbox.path("moved.sh"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755);
        assert!(!sandbox.path("old.sh").exists() && !sandbox.path("gone.txt").exists());
        let mut touched: Vec<&str> = value["touched"]
            .as_array()
            .unwrap()
            .iter()
            .map(|path| path.as_str().unwrap())
            .collect();
        touched.sort_unstable();
        assert_eq!(
            touched,
            ["gone.txt", "keep.txt", "moved.sh", "new/a.txt", "old.sh"]
        );
    }
}

#[test]
fn a_patch_that_does_not_fit_in_one_file_changes_none() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one\n");
    sandbox.write("b.txt", "one\n");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Update File: \
                 b.txt\n@@\n-uno\n+due\n*** Add File: a.txt\n+x\n*** Delete File: c.txt\n*** End Patch";
    let (code, value) = sandbox.call(&["apply_patch", &json!({ "patch": patch }).to_string()]);
    assert_eq!(code, Some(1));
    let message = value["error"]["message"].as_str().unwrap();
    for part in [
        "no file was changed",
        "cannot apply hunk 1 of `b.txt`: expected `uno`",
        "cannot add `a.txt`: the file exists",
        "cannot delete `c.txt`",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(
        (sandbox.read("a.txt"), sandbox.read("b.txt")),
        ("one\n".into(), "one\n".into())
    );
}

// The repl.

#[test]
fn the_repl_makes_several_calls_in_one_run() {
    let sandbox = Sandbox::new();
    let input = "# a comment\nwrite {\"path\": \"a.txt\", \"content\": \"one\\n\"}\nread path=a.txt\n\n\
                 read {\nnope\n";
    let ended = sandbox.run_with(&["repl", "--json"], input);
    let objects: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(objects.len(), 4, "{}", ended.stdout);
    assert_eq!(objects[0]["touched"], json!(["a.txt"]));
    assert_eq!(text(&objects[1]), "     1\tone\n");
    assert_eq!(objects[2]["error"]["kind"], "invalid_input");
    assert_eq!(objects[3]["error"]["kind"], "unknown_tool");
    assert_eq!(ended.code, Some(1));
}

#[cfg(feature = "structural")]
#[test]
fn the_repl_keeps_a_staged_edit_until_it_is_resolved() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "f(1)\n");
    let input = "ast_edit pattern='f($X)' rewrite='g($X)' language=python\n\
                 resolve edit_id=edit_1 action=accept\n";
    let ended = sandbox.run_with(&["repl"], input);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("+g(1)"), "{ended:?}");
    assert!(
        ended
            .stdout
            .contains("accepted `edit_1`: 1 replacement written to 1 file"),
        "{ended:?}"
    );
    assert!(!ended.stderr.contains("note:"), "{ended:?}");
    assert_eq!(sandbox.read("a.py"), "g(1)\n");
}

#[test]
fn the_repl_ends_with_exit_or_with_its_input() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run_with(&["repl"], "help\nexit\nread path=.\n");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stdout.contains("<tool> <JSON>") && !ended.stdout.contains("folder"));
    assert_eq!(sandbox.run_with(&["repl"], "").code, Some(0));
}

// Trust.

#[test]
fn trust_is_remembered_for_this_folder_until_it_is_taken_back() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("sub")).unwrap();
    let root = sandbox.workspace.path().canonicalize().unwrap();
    let list = || sandbox.run(&["trust", "--list"]).stdout;
    assert_eq!(list(), "");
    assert_eq!(sandbox.run(&["call", "read", "path=."]).stderr, "");
    let first = sandbox.run(&["call", "read", "path=.", "--trust"]);
    assert!(
        first.stderr.contains("is trusted from now on"),
        "{}",
        first.stderr
    );
    assert_eq!(list(), format!("{}\n", root.display()));
    assert_eq!(
        sandbox.run(&["call", "read", "path=.", "--trust"]).stderr,
        ""
    );
    sandbox.run(&["call", "read", "path=.", "--no-trust"]);
    assert_eq!(list(), format!("{}\n", root.display()));
    sandbox.run(&["trust", "sub"]);
    assert_eq!(list().lines().count(), 2);
    sandbox.run(&["untrust"]);
    assert_eq!(list(), format!("{}\n", root.join("sub").display()));
    std::fs::remove_dir(sandbox.path("sub")).unwrap();
    sandbox.run(&["untrust", root.join("sub").to_str().unwrap()]);
    assert_eq!(list(), "");
}

#[test]
fn a_damaged_memory_of_trust_means_untrusted_and_says_so() {
    let sandbox = Sandbox::new();
    sandbox.run(&["trust"]);
    std::fs::write(sandbox.home.path().join("toolset/trust.json"), "{").unwrap();
    let ended = sandbox.run(&["call", "read", "path=."]);
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.stderr.contains("is taken as untrusted"),
        "{}",
        ended.stderr
    );
    assert_eq!(sandbox.run(&["trust"]).code, Some(1));
}

// Help and endings.

#[test]
fn what_git_takes_back_is_taken_back() {
    let sandbox = Sandbox::new();
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@example.org"])
            .args(args)
            .current_dir(sandbox.workspace.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    sandbox.write("d/a.txt", "one\ntwo\n");
    sandbox.write("gone.txt", "gone\n");
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "a"]);
    sandbox.write("d/a.txt", "one\n2\n");
    std::fs::remove_file(sandbox.path("gone.txt")).unwrap();
    let patch = git(&["diff", "-R"]);
    let ended = sandbox.run_with(&["call", "apply_patch", "patch=-"], &patch);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(sandbox.read("d/a.txt"), "one\ntwo\n");
    assert_eq!(sandbox.read("gone.txt"), "gone\n");
    assert_eq!(git(&["status", "--porcelain"]), "");
}

#[test]
fn help_has_examples_and_exit_codes() {
    let sandbox = Sandbox::new();
    let help = sandbox.run(&["--help"]);
    assert_eq!(help.code, Some(0));
    assert!(help.stdout.contains("130  interrupted"), "{}", help.stdout);
    for command in ["tools", "call", "repl", "serve"] {
        let help = sandbox.run(&[command, "--help"]);
        assert!(help.stdout.contains("Example"), "{}", help.stdout);
    }
}

#[test]
fn an_interrupt_ends_the_repl_with_130() {
    let sandbox = Sandbox::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolset"))
        .arg("repl")
        .arg("--json")
        .current_dir(sandbox.workspace.path())
        .env("XDG_CONFIG_HOME", sandbox.home.path())
        .env("XDG_STATE_HOME", sandbox.home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"read path=.\n").unwrap();
    // Once it has answered it listens for the signal.
    let mut answer = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut stdout, &mut answer).unwrap();
    assert!(answer.starts_with('{'), "{answer}");
    interrupt(child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
}

fn interrupt(process: u32) {
    let sent = Command::new("kill")
        .arg("-INT")
        .arg(process.to_string())
        .status()
        .unwrap();
    assert!(sent.success());
}

#[test]
fn the_repository_of_the_test_is_left_alone() {
    // The program works in the folder it is started in and nowhere else.
    let sandbox = Sandbox::new();
    sandbox.run(&["call", "write", "path=made-by-a-test", "content=x"]);
    assert!(sandbox.path("made-by-a-test").exists());
    assert!(
        !Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("made-by-a-test")
            .exists()
    );
}

#[test]
fn a_patch_that_makes_a_name_both_a_file_and_a_folder_changes_nothing() {
    let sandbox = Sandbox::new();
    let patch = "*** Begin Patch\n*** Add File: a/x\n+1\n*** Add File: q\n+1\n\
                 *** Add File: q/r\n+1\n*** End Patch";
    let (code, value) = sandbox.call(&["apply_patch", &json!({ "patch": patch }).to_string()]);
    assert_eq!(code, Some(1));
    let message = value["error"]["message"].as_str().unwrap();
    assert!(message.contains("no file was changed"), "{message}");
    assert!(!sandbox.path("a").exists() && !sandbox.path("q").exists());
}

#[test]
fn a_patch_of_git_with_quoted_names_finds_its_files_and_one_with_links_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("café \"x\".txt", "one\n");
    let name = r#"caf\303\251 \"x\".txt"#;
    let patch = format!(
        "diff --git \"a/{name}\" \"b/{name}\"\nindex 1..2 100644\n--- \"a/{name}\"\n+++ \
         \"b/{name}\"\n@@ -1 +1 @@\n-one\n+two\n"
    );
    let (code, value) = sandbox.call(&["apply_patch", &json!({ "patch": patch }).to_string()]);
    assert_eq!(code, Some(0), "{value}");
    assert_eq!(sandbox.read("café \"x\".txt"), "two\n");

    let patch = "diff --git a/link b/link\nnew file mode 120000\nindex 0000000..1de5659\n--- \
                 /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n";
    let (code, value) = sandbox.call(&["apply_patch", &json!({ "patch": patch }).to_string()]);
    assert_eq!(code, Some(1));
    assert_eq!(
        value["error"]["message"],
        "cannot read the patch at its line 2: it is about a symbolic link, and only files with \
         text can be changed; leave this file out of the patch"
    );
    assert!(!sandbox.path("link").exists());
}

#[test]
fn a_patch_is_refused_for_a_read_only_file_and_leaves_no_folder_behind() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("fine.txt", "one\n");
    sandbox.write("locked.txt", "one\n");
    std::fs::set_permissions(sandbox.path("locked.txt"), PermissionsExt::from_mode(0o444)).unwrap();
    let patch = "*** Begin Patch\n*** Add File: new/deep/a.txt\n+x\n*** Update File: \
                 fine.txt\n@@\n-one\n+two\n*** Update File: locked.txt\n@@\n-one\n+two\n*** End Patch";
    let (code, value) = sandbox.call(&["apply_patch", &json!({ "patch": patch }).to_string()]);
    assert_eq!(code, Some(1));
    assert_eq!(
        value["error"]["message"],
        "cannot write `locked.txt`: `locked.txt` is read-only; nothing was written; leave this \
         file as it is, or ask the user for access to it"
    );
    assert_eq!(value["error"]["kind"], "denied");
    assert_eq!(sandbox.read("fine.txt"), "one\n");
    assert!(!sandbox.path("new").exists());
}

#[test]
fn an_edit_says_which_hard_links_keep_the_old_text() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "one\n");
    std::fs::hard_link(sandbox.path("a.txt"), sandbox.path("b.txt")).unwrap();
    let (code, value) = sandbox.call(&["edit", "path=a.txt", "old_string=one", "new_string=two"]);
    assert_eq!(code, Some(0), "{value}");
    let note = "\nnote: `a.txt` had 1 more name (a hard link); it keeps the old text\n";
    assert!(text(&value).contains(note), "{value}");
    assert_eq!(sandbox.read("b.txt"), "one\n");
}

#[test]
fn names_take_one_line_in_what_the_file_tools_say() {
    let name = "a\nedited `b`\u{202e}.txt";
    let shown = "`a\\nedited `b`\\u{202e}.txt`";
    let sandbox = Sandbox::new();
    let patch = |old: &str, new: &str| {
        let quoted = "a\\nedited `b`\\342\\200\\256.txt";
        json!({ "patch": format!(
            "--- \"a/{quoted}\"\n+++ \"b/{quoted}\"\n@@ -1 +1 @@\n-{old}\n+{new}\n"
        )})
    };
    for (tool, arguments) in [
        ("write", json!({ "path": name, "content": "one\n" })),
        ("write", json!({ "path": name, "content": "one\n" })),
        (
            "edit",
            json!({ "path": name, "old_string": "one", "new_string": "two" }),
        ),
        (
            "edit",
            json!({ "path": name, "old_string": "one", "new_string": "two" }),
        ),
        ("apply_patch", patch("two", "three")),
        ("apply_patch", patch("two", "three")),
        ("read", json!({ "path": name, "offset": 9 })),
        ("read", json!({ "path": format!("{name}/x") })),
        (
            "write",
            json!({ "path": format!("{name}/x"), "content": "" }),
        ),
    ] {
        let (_, value) = sandbox.call(&[tool, &arguments.to_string()]);
        let said = match value["error"]["message"].as_str() {
            Some(message) => message,
            None => text(&value).lines().next().unwrap(),
        };
        assert!(said.contains(shown.trim_matches('`')), "{tool}: {value}");
        assert!(!said.contains(['\n', '\u{202e}']), "{tool}: {value}");
    }
    let (_, value) = sandbox.call(&["read", "path=."]);
    assert_eq!(
        text(&value),
        format!("folder `.`, 1 entries\n{}\n", shown.trim_matches('`'))
    );
}

/// Writes down a change of files in a folder of the workspace, as a run that was
/// killed leaves it.
fn cut_off(sandbox: &Sandbox, folder: &str) -> std::path::PathBuf {
    use sha2::{Digest as _, Sha256};
    let short = |text: &str| {
        let sum = Sha256::digest(text.as_bytes());
        sum.iter()
            .take(8)
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
    };
    let root = sandbox.path(folder).canonicalize().unwrap();
    let label = root.file_name().unwrap().to_str().unwrap();
    let desk = format!("{}-{label}", short(root.to_str().unwrap()));
    let desk = sandbox.home.path().join("toolset/changes").join(desk);
    std::fs::create_dir_all(&desk).unwrap();
    let change = json!({ "change": {
        "version": 1, "id": "0", "workspace": root, "title": "ast_edit edit_1",
    }});
    let mut journal = String::new();
    for record in [change, json!({ "end": { "lines": 2 } })] {
        let record = record.to_string();
        journal.push_str(&format!("{} {record}\n", short(&record)));
    }
    let path = desk.join("journal");
    std::fs::write(&path, journal).unwrap();
    path
}

#[test]
fn a_change_that_was_cut_off_is_ended_and_the_model_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("sub/a.txt", "one\n");
    for folder in [".", "sub"] {
        let journal = cut_off(&sandbox, folder);
        let (code, value) = sandbox.call(&["read", "path=sub/a.txt"]);
        assert_eq!(code, Some(0), "{value}");
        let said = value["content"].to_string();
        let ended = "an earlier change (`ast_edit edit_1`) was cut off and is undone";
        assert!(said.contains(ended), "{folder}: {value}");
        assert_eq!(said.contains("in `/"), folder == "sub", "{value}");
        assert!(!journal.exists(), "{folder}");
        let (_, value) = sandbox.call(&["read", "path=sub/a.txt"]);
        assert!(!value["content"].to_string().contains("cut off"), "{value}");
    }
}

#[test]
fn a_run_that_only_reads_or_works_in_a_part_says_what_was_cut_off_and_leaves_it() {
    let sandbox = Sandbox::new();
    sandbox.write("sub/a.txt", "one\n");
    let journal = cut_off(&sandbox, ".");
    for (options, path) in [
        (["--mode", "plan"], "path=sub/a.txt"),
        (["--mode", "read-only"], "path=sub/a.txt"),
        (["--workspace", "sub"], "path=a.txt"),
    ] {
        let (code, value) = sandbox.call(&[&["read", path], &options[..]].concat());
        assert_eq!(code, Some(0), "{value}");
        let said = value["content"].to_string();
        assert!(
            said.contains("was cut off: some of them may hold"),
            "{value}"
        );
        assert!(said.contains("that may write ends the change"), "{value}");
        assert!(journal.exists(), "{options:?}");
    }
    let ended = sandbox.run(&["call", "read", "path=sub/a.txt"]);
    assert!(
        ended.stderr.contains("note: an earlier change"),
        "{ended:?}"
    );
    assert!(!journal.exists());
}
