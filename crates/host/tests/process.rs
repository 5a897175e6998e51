//! Child processes, with real programs.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use host::process::{
    CaptureLimits, Child, ChildCommand, Environment, Inherited, Input, Launcher, Output, RunError,
    ShutdownPlan, Signal, StartError, Target,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Nothing here takes that long unless it is broken.
const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str) -> ChildCommand {
    ChildCommand::new(Path::new("/bin/sh"), Path::new("/"))
        .args(["-c", script])
        .environment(Environment::empty().with("PATH", "/usr/local/bin:/usr/bin:/bin"))
}

/// Starts a shell whose first line of output says that it is ready.
async fn start_ready(command: ChildCommand) -> (Child, host::process::ChildOutput, String) {
    let mut child = command.stdout(Output::Piped).start().await.unwrap();
    let mut output = child.take_stdout().unwrap();
    let line = read_line(&mut output).await;
    (child, output, line)
}

async fn read_line(output: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut line = Vec::new();
    loop {
        match tokio::time::timeout(LONG, output.read_u8()).await.unwrap() {
            Ok(b'\n') | Err(_) => return String::from_utf8(line).unwrap(),
            Ok(byte) => line.push(byte),
        }
    }
}

/// Waits until no process holds the other end.
async fn wait_for_end(output: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut text = String::new();
    let read = output.read_to_string(&mut text);
    tokio::time::timeout(LONG, read).await.unwrap().unwrap();
    text
}

#[tokio::test]
async fn a_child_sees_only_what_it_is_given() {
    let finished = ChildCommand::new(Path::new("/usr/bin/env"), Path::new("/usr"))
        .environment(Environment::empty().with("ONLY", "this"))
        .run(LONG)
        .await
        .unwrap();
    assert_eq!(finished.stdout.to_text(), "ONLY=this\n");
    let finished = shell("pwd; cat; echo $0").run(LONG).await.unwrap();
    assert_eq!(finished.stdout.to_text(), "/\n/bin/sh\n");
    assert!(finished.exit.is_success());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_leads_its_own_session_without_a_terminal() {
    let script = "read -r line </proc/$$/stat; echo $line; true </dev/tty || echo no terminal";
    let finished = shell(script).run(LONG).await.unwrap();
    let text = finished.stdout.to_text();
    let mut lines = text.lines();
    let fields: Vec<_> = lines.next().unwrap().split_whitespace().collect();
    // Process, then process group and session.
    assert_eq!([fields[4], fields[5]], [fields[0], fields[0]]);
    assert_eq!(lines.next(), Some("no terminal"));
}

#[tokio::test]
async fn pipes_carry_both_ways_and_closing_input_ends_cat() {
    let mut child = ChildCommand::new(Path::new("/bin/cat"), Path::new("/"))
        .stdin(Input::Piped)
        .stdout(Output::Piped)
        .start()
        .await
        .unwrap();
    let mut input = child.take_stdin().unwrap();
    let mut output = child.take_stdout().unwrap();
    assert!(child.take_stdin().is_none());
    let text = "0123456789".repeat(100_000);
    let (sent, text) = (text.clone(), text);
    let writing = async move {
        input.write_all(sent.as_bytes()).await.unwrap();
        input.shutdown().await.unwrap();
        assert!(input.write_all(b"more").await.is_err());
    };
    let ((), received) = tokio::join!(writing, wait_for_end(&mut output));
    assert!(received == text, "{} bytes came back", received.len());
    assert!(child.wait_for_exit().await.is_success());
}

#[tokio::test]
async fn dropping_input_closes_it() {
    let mut child = ChildCommand::new(Path::new("/bin/cat"), Path::new("/"))
        .stdin(Input::Piped)
        .start()
        .await
        .unwrap();
    drop(child.take_stdin());
    assert!(child.wait_for_exit().await.is_success());
}

#[tokio::test]
async fn exits_are_told_apart() {
    let exit_of = async |script| {
        let finished = shell(script).run(LONG).await.unwrap();
        finished.exit.to_string()
    };
    assert_eq!(exit_of("exit 0").await, "exit code 0");
    assert_eq!(exit_of("exit 7").await, "exit code 7");
    assert_eq!(exit_of("kill -9 $$").await, "killed by signal 9 (SIGKILL)");
    assert_eq!(
        exit_of("kill -15 $$").await,
        "killed by signal 15 (SIGTERM)"
    );
}

#[tokio::test]
async fn dropping_the_handle_kills_grandchildren_too() {
    let (child, mut output, _) = start_ready(shell("sleep 1000 & sleep 1000 & echo; wait")).await;
    let exit = child.exit_watch();
    drop(child);
    // Closed only when the last of the three is dead.
    wait_for_end(&mut output).await;
    // The plan's SIGTERM reached the group.
    assert_eq!(exit.wait_for_exit().await.signal, Some(15));
}

#[tokio::test]
async fn grandchildren_die_when_the_child_ends_by_itself() {
    let (child, mut output, _) = start_ready(shell("sleep 1000 & echo; exit 4")).await;
    assert_eq!(child.wait_for_exit().await.code, Some(4));
    wait_for_end(&mut output).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn grandchildren_in_a_group_of_their_own_die_too() {
    // `timeout` makes a process group for itself and what it runs.
    let script =
        "timeout 1000 sh -c 'echo $(cut -d\" \" -f5 /proc/$$/stat); exec sleep 1000' & wait";
    let (child, mut output, group) = start_ready(shell(script)).await;
    assert_ne!(group.parse(), Ok(child.pid()));
    child.kill().await;
    wait_for_end(&mut output).await;
}

#[tokio::test]
async fn a_child_that_ignores_polite_steps_is_killed() {
    let plan = ShutdownPlan::kill()
        .then_close_stdin(Duration::from_millis(20))
        .then_terminate(Duration::from_millis(20));
    let script = "trap '' TERM INT HUP; echo; while :; do sleep 1000 & wait; done";
    let command = shell(script).stdin(Input::Piped).shutdown(plan);
    let (child, mut output, _) = start_ready(command).await;
    assert_eq!(child.shut_down().await.signal, Some(9));
    wait_for_end(&mut output).await;
}

#[tokio::test]
async fn a_stopped_child_is_killed() {
    let plan = ShutdownPlan::kill().then_terminate(Duration::from_millis(20));
    // Stopped by another, which says so only when the child has had time to
    // stop: a request to end that comes first would end it.
    let script = "pid=$$; (kill -STOP $pid; sleep 0.3; echo) & wait";
    let (child, _output, _) = start_ready(shell(script).shutdown(plan)).await;
    assert_eq!(child.shut_down().await.signal, Some(9));
}

#[tokio::test]
async fn plan_steps_are_taken_in_order_and_end_early() {
    // Each step's limit would fail the test if it were waited for in full.
    let plan = ShutdownPlan::kill()
        .then_send(&b"bye\n"[..], LONG * 10)
        .then_close_stdin(LONG * 10)
        .then_terminate(LONG * 10);
    let script = "trap 'echo term' TERM; echo; read word; echo \"got $word\"; exit 5";
    let command = shell(script).stdin(Input::Piped).shutdown(plan);
    let (mut child, mut output, _) = start_ready(command).await;
    // The owner's end was in use somewhere else and is dropped after the child.
    let input = child.take_stdin().unwrap();
    let exit = child.exit_watch();
    drop(child);
    drop(input);
    assert_eq!(exit.wait_for_exit().await.code, Some(5));
    assert_eq!(wait_for_end(&mut output).await, "got bye\n");
}

#[tokio::test]
async fn input_stays_open_for_a_plan_that_sends() {
    let plan = ShutdownPlan::kill()
        .then_send(&b"bye\n"[..], LONG)
        .then_close_stdin(LONG);
    let script = "echo; read word || word=closed; echo \"got $word\"; cat; echo end";
    let command = shell(script).stdin(Input::Piped).shutdown(plan);
    let (mut child, mut output, _) = start_ready(command).await;
    drop(child.take_stdin());
    drop(child);
    assert_eq!(read_line(&mut output).await, "got bye");
}

#[tokio::test]
async fn a_farewell_larger_than_the_pipe_is_sent_whole() {
    let bytes = vec![b'x'; 1_000_000];
    let plan = ShutdownPlan::kill()
        .then_send(bytes, LONG)
        .then_close_stdin(LONG);
    let script = "echo; head -c 1000000 | wc -c";
    let command = shell(script).stdin(Input::Piped).shutdown(plan);
    let (child, mut output, _) = start_ready(command).await;
    drop(child);
    assert_eq!(wait_for_end(&mut output).await.trim(), "1000000");
}

#[tokio::test]
async fn kill_does_not_wait_for_the_plan() {
    let plan = ShutdownPlan::kill().then_terminate(LONG * 10);
    let script = "trap '' TERM; echo; while :; do sleep 1000; done";
    let (child, _output, _) = start_ready(shell(script).shutdown(plan)).await;
    let killed = tokio::time::timeout(LONG, child.kill()).await.unwrap();
    assert_eq!(killed.signal, Some(9));
}

#[tokio::test]
async fn a_signal_may_be_caught() {
    let script = "trap 'echo caught; exit 6' INT; echo; while :; do sleep 0.01; done";
    let (child, mut output, _) = start_ready(shell(script)).await;
    child.signal(Signal::Interrupt, Target::Child);
    assert_eq!(read_line(&mut output).await, "caught");
    assert_eq!(child.wait_for_exit().await.code, Some(6));
    child.signal(Signal::Kill, Target::Group); // gone: nothing happens
}

#[tokio::test]
async fn a_flood_on_standard_error_neither_blocks_nor_fills_memory() {
    let script = "echo first >&2; i=0; while [ $i -lt 200 ]; do \
                  printf '%20000d\\n' $i >&2; i=$((i+1)); done; echo last >&2; echo done";
    let finished = shell(script).run(LONG).await.unwrap();
    assert_eq!(finished.stdout.to_text(), "done\n");
    let kept = finished.stderr.to_bytes();
    assert_eq!(kept.len(), CaptureLimits::TAIL.tail);
    let total = 200 * 20_001 + "first\nlast\n".len();
    assert_eq!(finished.stderr.left_out() as usize, total - kept.len());
    assert_eq!(
        finished.stderr.to_text(),
        format!("[{} bytes left out]\nlast\n", total - "last\n".len())
    );
}

#[tokio::test]
async fn captured_output_keeps_both_ends() {
    let limits = CaptureLimits { head: 10, tail: 10 };
    let script = "i=100; while [ $i -lt 200 ]; do echo $i; i=$((i+1)); done";
    let finished = shell(script)
        .stdout(Output::Captured(limits))
        .run(LONG)
        .await
        .unwrap();
    assert_eq!(
        finished.stdout.to_text(),
        "100\n101\n[384 bytes left out]\n198\n199\n"
    );
}

#[tokio::test]
async fn a_run_over_its_time_says_what_it_was_about() {
    let command = shell("echo stuck here >&2; sleep 1000").shutdown(ShutdownPlan::kill());
    let error = command.run(Duration::from_millis(300)).await.unwrap_err();
    assert!(matches!(error, RunError::Timeout { .. }));
    assert_eq!(
        error.to_string(),
        "cannot wait any longer for `/bin/sh`: 0.3 s are over; \
         its standard error ends with:\nstuck here\n"
            .trim_end()
    );
    let error = tiers::ToolError::from(error);
    assert_eq!(error.kind, tiers::ErrorKind::Timeout);
}

#[tokio::test]
async fn what_cannot_be_started_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let script = |name: &str, text: &str, mode| {
        fs::write(at(name), text).unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        at(name)
    };
    let plain = script("plain", "#!/bin/sh\n", 0o644);
    let orphan = script("orphan", "#!/no/such/interpreter -x\n", 0o755);
    let explain = async |program: PathBuf, directory: PathBuf| {
        let error = ChildCommand::new(&program, &directory).start().await;
        let text = error.unwrap_err().to_string();
        text.replace(folder.path().to_str().unwrap(), "<dir>")
    };
    let here = folder.path().to_owned();
    for (program, directory, text) in [
        (
            at("none"),
            here.clone(),
            "cannot start `<dir>/none`: there is no such file",
        ),
        (
            PathBuf::from("sh"),
            here.clone(),
            "cannot start `sh`: it is no absolute path",
        ),
        (
            plain.clone(),
            here.clone(),
            "cannot start `<dir>/plain`: it is not executable",
        ),
        (
            here.clone(),
            here.clone(),
            "cannot start `<dir>`: it is not executable",
        ),
        (
            orphan,
            here.clone(),
            "cannot start `<dir>/orphan`: its interpreter `/no/such/interpreter` does not exist",
        ),
        (
            PathBuf::from("/bin/sh"),
            at("nowhere"),
            "cannot start `/bin/sh`: there is no directory `<dir>/nowhere`",
        ),
        (
            PathBuf::from("/bin/sh"),
            plain,
            "cannot start `/bin/sh`: there is no directory `<dir>/plain`",
        ),
    ] {
        assert_eq!(explain(program, directory).await, text);
    }
}

#[tokio::test]
async fn a_launcher_comes_before_everything() {
    let launcher = Launcher::new("/usr/bin/env", ["IN=sandbox"]);
    let finished = shell("echo $IN $1")
        .args(["name", "argument"])
        .launcher(Some(launcher))
        .run(LONG)
        .await
        .unwrap();
    assert_eq!(finished.stdout.to_text(), "sandbox argument\n");

    let broken = shell("true").launcher(Some(Launcher::new("env", ["x"])));
    assert!(matches!(
        broken.start().await,
        Err(StartError::NotAbsolute { program }) if program == Path::new("env")
    ));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_zombie_is_left_when_the_end_is_told() {
    for _ in 0..20 {
        let (child, _output, _) = start_ready(shell("echo; sleep 1000")).await;
        let proc = PathBuf::from(format!("/proc/{}", child.pid()));
        assert!(proc.exists());
        child.kill().await;
        assert!(!proc.exists());
    }
}

#[test]
fn dropping_after_the_runtime_died_is_enough() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let plan = ShutdownPlan::kill()
        .then_send(&b"bye\n"[..], LONG)
        .then_terminate(LONG);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("said");
    let script = format!("echo; read word; echo $word > {}", file.display());
    let command = shell(&script).stdin(Input::Piped).shutdown(plan);
    let (mut child, output, _) = runtime.block_on(start_ready(command));
    let input = child.take_stdin().unwrap();
    let exit = child.exit_watch();
    runtime.shutdown_background();
    drop(output);
    drop(input);
    drop(child);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let exit = runtime.block_on(async { tokio::time::timeout(LONG, exit.wait_for_exit()).await });
    assert!(exit.unwrap().is_success());
    assert_eq!(fs::read_to_string(file).unwrap(), "bye\n");
}

#[test]
fn a_task_that_dies_with_its_runtime_takes_its_child_along() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (sender, receiver) = tokio::sync::oneshot::channel();
    runtime.spawn(async move {
        let (child, output, _) = start_ready(shell("echo; sleep 1000")).await;
        sender.send(child.exit_watch()).unwrap();
        child.wait_for_exit().await;
        drop(output);
    });
    let exit = runtime.block_on(receiver).unwrap();
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let exit = runtime.block_on(async { tokio::time::timeout(LONG, exit.wait_for_exit()).await });
    assert_eq!(exit.unwrap().signal, Some(15));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_start_that_nobody_waits_for_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = shell(&format!("mkfifo {}", pipe.display()))
        .run(LONG)
        .await
        .unwrap();
    assert!(made.exit.is_success());
    // Opened for both, so that opening does not wait for the other side.
    let script = format!("exec 3<>{0}; echo started >&3; sleep 1000", pipe.display());
    let mut start = Box::pin(shell(&script).shutdown(ShutdownPlan::kill()).start());
    let polled = std::future::poll_fn(|context| {
        std::task::Poll::Ready(start.as_mut().poll(context).is_ready())
    });
    let is_ready = polled.await;
    drop(start);
    if !is_ready {
        // A second start is answered after the first was dealt with.
        shell("true").run(LONG).await.unwrap();
    }
    let finished = shell(&format!(
        "for proc in /proc/[0-9]*; do readlink $proc/fd/3; done 2>/dev/null | grep -c {} || true",
        pipe.display()
    ))
    .run(LONG)
    .await
    .unwrap();
    assert_eq!(finished.stdout.to_text(), "0\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_children_at_once_all_end() {
    let mut children = tokio::task::JoinSet::new();
    for number in 0..40 {
        children.spawn(async move {
            let finished = shell(&format!("cat >/dev/null; echo {number}"))
                .run(LONG)
                .await
                .unwrap();
            (number, finished.stdout.to_text())
        });
    }
    while let Some(done) = children.join_next().await {
        let (number, text) = done.unwrap();
        assert_eq!(text, format!("{number}\n"));
    }
}

/// Returns whether this program was started by one of the tests below.
fn is_helper() -> bool {
    std::env::args().any(|arg| arg == "--exact") && std::env::args().any(|arg| arg == "--nocapture")
}

/// Not a test of its own: what `children_die_with_us` starts. It starts a child,
/// prints its number, and waits to be killed.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn helper_that_is_killed() {
    use std::io::Write;
    if is_helper() {
        let (child, _output, _) = start_ready(shell("echo; exec sleep 1000")).await;
        let line = format!("\nchild={}\n", child.pid());
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        child.wait_for_exit().await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn children_die_with_us() {
    let program = std::env::current_exe().unwrap();
    let mut helper = ChildCommand::new(&program, Path::new("/"))
        .args(["--exact", "helper_that_is_killed", "--nocapture"])
        .stdout(Output::Piped)
        .start()
        .await
        .unwrap();
    let mut output = helper.take_stdout().unwrap();
    let pid = loop {
        let line = read_line(&mut output).await;
        if let Some(pid) = line.strip_prefix("child=") {
            break pid.parse::<i32>().unwrap();
        }
    };
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    let watched = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap();
    // Its child is in another session: only the parent-death signal reaches it.
    helper.kill().await;
    let is_dead = tokio::task::spawn_blocking(move || {
        let mut fds = [rustix::event::PollFd::new(
            &watched,
            rustix::event::PollFlags::IN,
        )];
        let limit = rustix::event::Timespec::try_from(LONG).unwrap();
        rustix::event::poll(&mut fds, Some(&limit)).unwrap() == 1
    });
    assert!(is_dead.await.unwrap());
}

/// In a program of its own, since it ends every child of the program.
#[test]
fn helper_that_finishes() {
    if !is_helper() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stubborn = "trap '' TERM; echo; while :; do sleep 1000; done";
    let (polite, _out, _) = runtime.block_on(start_ready(shell("echo; sleep 1000")));
    let (stubborn, _out, _) = runtime.block_on(start_ready(
        shell(stubborn).shutdown(ShutdownPlan::kill().then_terminate(LONG * 10)),
    ));
    let began = Instant::now();
    assert_eq!(host::process::finish(Duration::from_millis(300)), 0);
    assert!(began.elapsed() < LONG);
    assert_eq!(polite.exit_watch().exit().unwrap().signal, Some(15));
    assert_eq!(stubborn.exit_watch().exit().unwrap().signal, Some(9));
}

#[tokio::test]
async fn finish_ends_every_child_in_time() {
    let program = std::env::current_exe().unwrap();
    let finished = ChildCommand::new(&program, Path::new("/"))
        .args(["--exact", "helper_that_finishes", "--nocapture"])
        .run(LONG)
        .await
        .unwrap();
    assert!(
        finished.exit.is_success(),
        "{}{}",
        finished.stdout.to_text(),
        finished.stderr.to_text()
    );
    assert!(finished.stdout.to_text().contains("1 passed"));
}

#[tokio::test]
async fn a_child_gets_a_descriptor_under_its_number_and_nobody_else_does() {
    let (mut reading, writing) = std::io::pipe().unwrap();
    let descriptor = Inherited::new(&writing).unwrap();
    drop(writing);
    let number = descriptor.number();
    assert!(number >= 512);
    let others = shell(&format!("test -e /proc/self/fd/{number}"));
    assert_eq!(others.run(LONG).await.unwrap().exit.code, Some(1));
    // A shell takes one digit only; what it redirects to may be any number.
    let finished = shell(&format!("echo hello >/proc/self/fd/{number}"))
        .inherit(descriptor)
        .run(LONG)
        .await
        .unwrap();
    assert!(finished.exit.is_success(), "{}", finished.stderr.to_text());
    let mut text = String::new();
    // Ends, since the command took our end along.
    std::io::Read::read_to_string(&mut reading, &mut text).unwrap();
    assert_eq!(text, "hello\n");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn marked_descendants_die_with_the_child_in_sessions_of_their_own_too() {
    let script = "setsid sleep 1000 & echo $$; exec sleep 1000";
    let (child, mut output, _) = start_ready(shell(script).mark_descendants()).await;
    child.kill().await;
    // Closed only when the one in the other session is dead too.
    wait_for_end(&mut output).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_signal_for_the_young_spares_the_child_and_older_ones() {
    let script = "sleep 1000 & old=$!; echo; read -r line; sleep 1000 & young=$!; echo $line; \
        wait $young; echo $?; kill -0 $old && echo old lives";
    let command = shell(script).stdin(Input::Piped);
    let (mut child, mut output, _) = start_ready(command).await;
    let mut input = child.take_stdin().unwrap();
    // The age is known to the system in hundredths of a second.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = Instant::now();
    input.write_all(b"begun\n").await.unwrap();
    assert_eq!(read_line(&mut output).await, "begun");
    assert_eq!(child.descendants(), 2);
    assert!(child.resident_bytes().unwrap() > 0);
    child.signal(Signal::Terminate, Target::Younger(began.elapsed()));
    assert_eq!(read_line(&mut output).await, "143");
    assert_eq!(read_line(&mut output).await, "old lives");
}
