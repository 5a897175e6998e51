//! Starts one child. Runs on the reaper's thread only.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::command::{ChildCommand, CoreDumps, Input, Output};
use super::error::StartError;
use super::inherited::Inherited;

/// Our ends of the pipes.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    pub(super) stderr: Option<OwnedFd>,
}

/// Starts `command` as the leader of a session of its own, with `variable` besides
/// its environment.
pub(super) fn spawn(
    command: &ChildCommand,
    variable: Option<(&str, &str)>,
) -> Result<(Child, Pipes), StartError> {
    // What the system executes: the launcher, where there is one.
    let program = command
        .launcher
        .as_ref()
        .map_or(&command.program, |l| &l.program);
    for path in [program, &command.program] {
        if !path.is_absolute() {
            return Err(StartError::NotAbsolute {
                program: path.clone(),
            });
        }
    }
    let mut system = system_command(program);
    if let Some(launcher) = &command.launcher {
        system.args(&launcher.args).arg(&command.program);
    }
    system
        .args(&command.args)
        .current_dir(&command.directory)
        .env_clear()
        .envs(command.environment.iter())
        .envs(variable)
        .stdin(match command.stdin {
            Input::Null => Stdio::null(),
            Input::Piped => Stdio::piped(),
        })
        .stdout(stdio(command.stdout))
        .stderr(stdio(command.stderr));
    lead_a_session(&mut system, command.inherited.clone(), command.core_dumps);
    match system.spawn() {
        Ok(mut child) => {
            let pipes = Pipes {
                stdin: child.stdin.take().map(Into::into),
                stdout: child.stdout.take().map(Into::into),
                stderr: child.stderr.take().map(Into::into),
            };
            Ok((child, pipes))
        }
        Err(error) => Err(explain(program, &command.directory, error)),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that the ban points to"
)]
pub(super) fn system_command(program: &Path) -> Command {
    Command::new(program)
}

fn stdio(output: Output) -> Stdio {
    match output {
        Output::Null => Stdio::null(),
        Output::Piped | Output::Captured(_) => Stdio::piped(),
    }
}

#[expect(
    unsafe_code,
    reason = "what a child does before it executes has no safe form"
)]
fn lead_a_session(system: &mut Command, inherited: Vec<Inherited>, dumps: CoreDumps) {
    #[cfg(target_os = "linux")]
    let parent = rustix::process::getpid();
    let before_exec = move || -> io::Result<()> {
        rustix::process::setsid()?;
        for descriptor in &inherited {
            descriptor.keep_over_exec()?;
        }
        if dumps == CoreDumps::Off {
            // What is not lowered for good may be raised again on purpose.
            let maximum = getrlimit(Resource::Core).maximum;
            let current = Some(0);
            setrlimit(Resource::Core, Rlimit { current, maximum })?;
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{Signal, getppid, set_parent_process_death_signal};
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have died before the line above.
            if getppid() != Some(parent) {
                return Err(rustix::io::Errno::SRCH.into());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only calls that are safe in a signal handler
    // may be made. The closure makes plain system calls, reads what it captured,
    // and neither allocates nor locks; its errors are numbers, too.
    unsafe {
        system.pre_exec(before_exec);
    }
}

/// Makes a command the leader of a session of its own, with nothing else done.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "what a child does before it executes has no safe form"
)]
pub(super) fn leave_our_session(system: &mut Command) {
    // SAFETY: one system call, which is safe in a signal handler.
    unsafe {
        system.pre_exec(|| {
            rustix::process::setsid()?;
            Ok(())
        });
    }
}

/// Finds out what the system's terse answer was about.
fn explain(program: &Path, directory: &Path, source: io::Error) -> StartError {
    let owned = program.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !directory.is_dir() => {
            StartError::NoDirectory {
                program: owned,
                directory: directory.to_owned(),
            }
        }
        io::ErrorKind::NotFound if !program.exists() => StartError::NoProgram { program: owned },
        io::ErrorKind::NotFound => match interpreter_of(program) {
            Some(interpreter) => StartError::NoInterpreter {
                program: owned,
                interpreter,
            },
            None => StartError::Io {
                program: owned,
                source,
            },
        },
        io::ErrorKind::PermissionDenied if !is_executable_file(program) => {
            StartError::NotExecutable { program: owned }
        }
        _ => StartError::Io {
            program: owned,
            source,
        },
    }
}

fn is_executable_file(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn interpreter_of(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    let file = std::fs::File::open(script).ok()?;
    file.take(256).read_to_end(&mut start).ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let text = String::from_utf8_lossy(line);
    Some(text.split_whitespace().next()?.to_owned())
}
