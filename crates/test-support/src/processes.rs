//! Processes that a test started, itself or by what it started.

use std::path::Path;

/// Returns the processes, and what they are, whose environment has `variable` with
/// this folder as its value.
///
/// Children hand their environment on, so that it marks all that a test starts
/// with it. One that has ended has none.
#[must_use]
pub fn processes_of(variable: &str, folder: &Path) -> Vec<(u32, String)> {
    let mark = format!("{variable}={}", folder.display());
    let processes = std::fs::read_dir("/proc").into_iter().flatten();
    let marked = processes.filter_map(Result::ok).filter_map(|process| {
        let pid = process.file_name().to_str()?.parse().ok()?;
        // Gone meanwhile, or of another user.
        let environment = std::fs::read(process.path().join("environ")).ok()?;
        let mut variables = environment.split(|byte| *byte == 0);
        variables.find(|variable| *variable == mark.as_bytes())?;
        let line = std::fs::read(process.path().join("cmdline")).ok()?;
        Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    marked.collect()
}
