//! Finds the processes of a child's session, whatever group they are in.

use std::time::Duration;

use rustix::process::{Pid, Signal};

/// A process may fork while it is being killed; each round finds those.
const ROUNDS: usize = 4;

/// Kills every process of `session` but its leader.
///
/// The leader must not have been collected yet, so that its number is still its
/// own.
pub(super) fn kill_members(session: Pid) {
    for _ in 0..ROUNDS {
        let members = members(session);
        if members.is_empty() {
            return;
        }
        for (member, _) in members {
            // Gone already is fine.
            let _ = rustix::process::kill_process(member, Signal::KILL);
        }
    }
}

/// Sends `signal` to those processes of `session` that were started in the last
/// `age`, but never to its leader.
///
/// The leader must not have been collected yet.
pub(super) fn signal_young_members(session: Pid, age: Duration, signal: Signal) {
    let Some(now) = ticks_since_boot() else {
        return;
    };
    let ticks = age.as_secs_f64() * rustix::param::clock_ticks_per_second() as f64;
    // A tick more: the system rounds down.
    let oldest = (now - ticks - 1.0).max(0.0);
    for (member, process) in members(session) {
        if process.started as f64 >= oldest {
            let _ = rustix::process::kill_process(member, signal);
        }
    }
}

/// Returns how many bytes of memory the processes of `session` hold, its leader
/// included; what several of them share counts for each. None where not even
/// the leader is to be seen.
pub(super) fn resident_bytes(session: Pid) -> Option<u64> {
    let pages = processes(session)
        .map(|(_, process)| process.resident_pages)
        .reduce(u64::saturating_add)?;
    Some(pages.saturating_mul(rustix::param::page_size() as u64))
}

/// Returns how many live processes `session` has besides its leader.
pub(super) fn count_members(session: Pid) -> usize {
    members(session).len()
}

fn members(session: Pid) -> Vec<(Pid, Process)> {
    let all = processes(session);
    all.filter(|(pid, _)| *pid != session).collect()
}

fn processes(session: Pid) -> impl Iterator<Item = (Pid, Process)> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(move |entry| {
            let number: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let pid = Pid::from_raw(number)?;
            let stat = std::fs::read(format!("/proc/{number}/stat")).ok()?;
            let process = Process::parse(&stat)?;
            (process.session == session.as_raw_nonzero().get()).then_some((pid, process))
        })
}

fn ticks_since_boot() -> Option<f64> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    Some(seconds * rustix::param::clock_ticks_per_second() as f64)
}

/// A line of `/proc/<pid>/stat`, as far as it is of use here.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    session: i32,
    /// Clock ticks after boot.
    started: u64,
    resident_pages: u64,
}

impl Process {
    /// Reads a line; none for a dead process.
    ///
    /// Source: `proc_pid_stat(5)`.
    fn parse(stat: &[u8]) -> Option<Self> {
        // The program's name, in parentheses, may hold anything.
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let text = std::str::from_utf8(stat.get(after_name..)?).ok()?;
        let mut fields = text.split_ascii_whitespace();
        let state = fields.next()?; // field 3
        let session = fields.nth(2)?; // 6, after parent and process group
        let started = fields.nth(15)?; // 22
        let resident_pages = fields.nth(1)?; // 24
        if matches!(state, "Z" | "X") {
            return None;
        }
        Some(Self {
            session: session.parse().ok()?,
            started: started.parse().ok()?,
            resident_pages: resident_pages.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_after_any_name_unless_dead() {
        let rest = "1 20 30 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 555 1000 77 18446744073709551615";
        let line = format!("7 (a) b) 1) S {rest}");
        let process = Process {
            session: 30,
            started: 555,
            resident_pages: 77,
        };
        assert_eq!(Process::parse(line.as_bytes()), Some(process));
        assert_eq!(Process::parse(format!("7 (sh) Z {rest}").as_bytes()), None);
        assert_eq!(Process::parse(b"7 (sh"), None);
    }

    #[test]
    fn the_memory_of_our_own_session_is_found() {
        let session = rustix::process::getsid(None).unwrap();
        assert!(resident_bytes(session).unwrap() > 100_000);
    }
}
