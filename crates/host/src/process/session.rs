//! Finds processes of a session that left the leader's process group.

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
        for member in members {
            // Gone already is fine.
            let _ = rustix::process::kill_process(member, Signal::KILL);
        }
    }
}

fn members(session: Pid) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let number: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let pid = Pid::from_raw(number)?;
            let stat = std::fs::read(format!("/proc/{number}/stat")).ok()?;
            (pid != session && live_session(&stat)? == session.as_raw_nonzero().get())
                .then_some(pid)
        })
        .collect()
}

/// Returns the session in a line of `/proc/<pid>/stat`, unless the process is
/// dead.
fn live_session(stat: &[u8]) -> Option<i32> {
    // The program's name, in parentheses, may hold anything.
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(stat.get(after_name..)?).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = fields.next()?;
    let session = fields.nth(2)?; // after parent and process group
    (!matches!(state, "Z" | "X")).then(|| session.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_is_found_after_any_name_unless_dead() {
        assert_eq!(live_session(b"7 (a) b) 1) S 1 20 30 0 -1"), Some(30));
        assert_eq!(live_session(b"7 (sh) Z 1 20 30 0 -1"), None);
        assert_eq!(live_session(b"7 (sh"), None);
    }
}
