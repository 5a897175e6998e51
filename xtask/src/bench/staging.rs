//! How staging grows with the number of edits in one file.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::json;

use super::{Threads, call, report, start};
use crate::paths;

/// Lines of the file, 100 bytes each.
const LINES: usize = 10_000;
/// Lines that are rewritten; the last number is all of them.
const EDITS: [usize; 4] = [0, 2_500, 5_000, LINES];

/// Measures on one thread and writes a table.
pub(super) fn table(runs: usize) -> Result<String> {
    let folder = paths::installed().join("bench/staging");
    std::fs::create_dir_all(&folder)?;
    let mut table = String::new();
    writeln!(
        table,
        "Rewriting one Python file of 1 MB, by the number of edits in it (CPU of the whole process, one thread):\n"
    )?;
    writeln!(
        table,
        "| edits | CPU s | CPU µs per edit beyond the first row |"
    )?;
    writeln!(table, "| ---: | ---: | ---: |")?;
    let mut without = 0.0;
    for edits in EDITS {
        std::fs::write(folder.join("edits.py"), text(edits))?;
        let input = json!({ "pattern": "f($X)", "rewrite": "g($X, 1)", "language": "python" });
        let line = call("ast_edit", &input, &folder);
        let mut usages = Vec::new();
        for _ in 0..runs.max(1) {
            usages.push(start(&line, &folder, Threads::One, None)?.cpu);
        }
        let cpu = report::median(usages.into_iter());
        eprintln!("bench: staging {edits} edits: CPU {cpu:.3} s");
        if edits == 0 {
            without = cpu;
            writeln!(table, "| 0 | {cpu:.3} | |")?;
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a number of thousands")]
        let each = (cpu - without) / edits as f64 * 1e6;
        writeln!(table, "| {edits} | {cpu:.3} | {each:.1} |")?;
    }
    std::fs::remove_dir_all(folder)?;
    Ok(table)
}

/// Returns the file: every so many lines one that is rewritten.
fn text(edits: usize) -> String {
    let mut text = String::with_capacity(LINES * 100);
    for number in 0..LINES {
        // Spread evenly: so many of the lines up to here are to be edits.
        let is_edit = (number + 1) * edits / LINES > number * edits / LINES;
        let call = if is_edit { "f" } else { "h" };
        let line = format!("{call}({number})");
        let _ = writeln!(
            text,
            "{line:<10}# {:<87}",
            "not rewritten, only here for its length"
        );
    }
    text
}
