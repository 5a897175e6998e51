//! Ends marked descendants when this program dies without a word.
//!
//! A child dies with us, by the signal that the system sends it then, but not
//! what the child started. So a shell waits at the end of a pipe from us; when
//! that closes unsaid, it kills whoever has a mark of this program.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Stdio;

use super::{spawn, tagged};

const SHELL: &str = "/bin/sh";

/// Built-in commands of a shell only: there may be no other program. A line that
/// comes is the farewell; without one, four rounds find those that forked while
/// they were being killed.
const SCRIPT: &str = r#"
read -r farewell && exit
for round in 1 2 3 4; do
    found=
    for process in /proc/[0-9]*; do
        while IFS= read -r line || [ -n "$line" ]; do
            case $line in
            *"$1"*) kill -9 "${process#/proc/}" && found=1; break ;;
            esac
        done < "$process/environ"
    done
    [ -n "$found" ] || exit
done
"#;

/// The shell that waits.
#[derive(Debug)]
pub(super) struct Guard {
    pipe: File,
    shell: std::process::Child,
}

impl Guard {
    /// Starts it for the marks that begin with `program`.
    pub(super) fn start(program: &str) -> io::Result<Self> {
        let (waits, pipe) = io::pipe()?;
        let mut command = spawn::system_command(Path::new(SHELL));
        command
            .args(["-c", SCRIPT, "toolset-guard"])
            .arg(format!("{}={program}-", tagged::NAME))
            .current_dir("/")
            .env_clear()
            .stdin(waits)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        spawn::leave_our_session(&mut command);
        Ok(Self {
            shell: command.spawn()?,
            pipe: File::from(std::os::fd::OwnedFd::from(pipe)),
        })
    }

    /// Lets it go: nothing is left to guard.
    pub(super) fn dismiss(mut self) {
        // It may have been killed.
        let _ = self.pipe.write_all(b"farewell\n");
        drop(self.pipe);
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::time::Duration;

    use crate::process::{ChildCommand, Environment, Output};

    /// What the test below runs as a program of its own; nothing without its
    /// variable.
    #[test]
    #[expect(clippy::print_stderr, reason = "its parent reads it")]
    fn a_program_that_is_killed() {
        if std::env::var_os("TOOLSET_TEST_IS_KILLED").is_none() {
            return;
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            use tokio::io::AsyncReadExt as _;

            let script =
                "sleep 1000 & echo $!; setsid sleep 1000 & echo $!; echo $$; exec sleep 1000";
            let mut child = ChildCommand::new("/bin/sh".as_ref(), "/".as_ref())
                .args(["-c", script])
                .environment(Environment::empty().with("PATH", "/usr/bin:/bin"))
                .mark_descendants()
                .stdout(Output::Piped)
                .start()
                .await
                .unwrap();
            let mut output = child.take_stdout().unwrap();
            let mut seen = Vec::new();
            while seen.iter().filter(|byte| **byte == b'\n').count() < 3 {
                seen.push(output.read_u8().await.unwrap());
            }
            let pids = String::from_utf8(seen).unwrap();
            eprintln!("pids {}", pids.trim().replace('\n', " "));
            std::future::pending::<()>().await;
        });
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
    fn descendants_die_when_this_program_is_killed() {
        let mut program = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("process::guard::tests::a_program_that_is_killed")
            .env("TOOLSET_TEST_IS_KILLED", "1")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(program.stderr.take().unwrap());
        let pids = said
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("pids ").map(str::to_owned))
            .unwrap();
        let pids: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
        assert_eq!(pids.len(), 3);
        assert!(pids.iter().all(|pid| is_running(*pid)));
        // SIGKILL: it cannot tidy up.
        program.kill().unwrap();
        program.wait().unwrap();
        for _ in 0..500 {
            if !pids.iter().any(|pid| is_running(*pid)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("still there: {pids:?}");
    }

    fn is_running(pid: u32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }
}
