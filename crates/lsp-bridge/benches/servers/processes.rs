//! The processes that a measurement started.

use std::path::Path;

/// The variable that tells them from others.
pub(crate) const MARK: &str = "TOOLSET_BENCH_PROJECT";

/// Counts those marked with `folder`, and their memory in MB: what is shared
/// between several is divided among them.
pub(crate) fn count(folder: &Path) -> (usize, f64) {
    let mark = format!("{MARK}={}", folder.display());
    let mut found = 0;
    let mut kilobytes = 0.0;
    let processes = std::fs::read_dir("/proc").into_iter().flatten();
    for process in processes.filter_map(Result::ok) {
        let read = |name| std::fs::read(process.path().join(name)).unwrap_or_default();
        let environment = read("environ");
        if !environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == mark.as_bytes())
        {
            continue;
        }
        found += 1;
        let memory = String::from_utf8_lossy(&read("smaps_rollup")).into_owned();
        let share = memory.lines().find_map(|line| line.strip_prefix("Pss:"));
        let share = share.and_then(|share| share.trim().strip_suffix(" kB"));
        kilobytes += share.and_then(|share| share.parse().ok()).unwrap_or(0.0);
    }
    (found, kilobytes / 1000.0)
}
