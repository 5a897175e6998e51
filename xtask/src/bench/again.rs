//! What the second and later searches of a run cost.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use super::{Threads, call, report, start_with, toolset};
use crate::measure::Usage;
use crate::paths;

/// Searches in the longer run: so many that what the first one costs more in one
/// run than in another is little beside the later ones.
const SEARCHES: usize = 13;

/// What is searched for: language and pattern.
const PATTERNS: &[(&str, &str)] = &[
    ("python", "$F($X)"),
    ("python", "$X == $X"),
    ("rust", "$F($X)"),
    ("c", "$F($X)"),
];

/// Measures on one thread and writes a table.
pub(super) fn table(runs: usize) -> Result<String> {
    let folder = paths::installed().join("bench");
    std::fs::create_dir_all(&folder)?;
    let mut table = String::new();
    writeln!(
        table,
        "The same search again in one run (`toolset repl`), all matches (CPU, one thread; peak memory beside that of `toolset call`, which keeps nothing):\n"
    )?;
    writeln!(
        table,
        "| pattern | corpus | first: CPU s | later ones: CPU s | times less | peak MiB: call, run |"
    )?;
    writeln!(table, "| --- | --- | ---: | ---: | ---: | ---: |")?;
    for (language, pattern) in PATTERNS {
        let corpus = paths::corpora().join(language);
        let input = json!({ "pattern": pattern, "language": language, "max_results": 10_000_000 });
        let line = format!("ast_grep {input}\n");
        let (mut first, mut later, mut kept, mut plain) = (vec![], vec![], vec![], vec![]);
        for _ in 0..runs.max(1) {
            let one = session(&corpus, &folder, &line, 1)?;
            let several = session(&corpus, &folder, &line, SEARCHES)?;
            let alone = start_with(
                &call("ast_grep", &input, &corpus),
                &corpus,
                Threads::One,
                None,
                None,
            )?;
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            later.push((several.cpu - one.cpu) / (SEARCHES - 1) as f64);
            first.push(one.cpu);
            kept.push(several.peak);
            plain.push(alone.peak);
        }
        let [first, later, kept, plain] =
            [first, later, kept, plain].map(|values| report::median(values.into_iter()));
        eprintln!("bench: `{pattern}` in {language} again: CPU {first:.3} s, then {later:.3} s");
        writeln!(
            table,
            "| `{pattern}` | {language} | {first:.3} | {later:.3} | {:.1} | {plain:.0}, {kept:.0} |",
            first / later
        )?;
    }
    Ok(table)
}

/// Makes the same call a few times in one run.
fn session(corpus: &Path, folder: &Path, line: &str, searches: usize) -> Result<Usage> {
    let script = folder.join("again.txt");
    std::fs::write(&script, line.repeat(searches))?;
    let mut command = vec![toolset().into_os_string()];
    command.extend(["repl", "--json", "--workspace"].map(Into::into));
    command.push(corpus.into());
    start_with(&command, corpus, Threads::One, Some(&script), None)
}
