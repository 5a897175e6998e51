use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::*;
use crate::grammar::{CompiledGrammars, GrammarSource as _};
use crate::pattern::Pattern;

/// Returns the CPU time that this thread has used.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

/// Rewrites so many of the 10,000 lines of a file of 1 MB, on this thread.
fn rewrite(edits: usize) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.py");
    let line = |number: usize| {
        let call = if number < edits { "f" } else { "h" };
        format!("{:<99}\n", format!("{call}({number})  # {number}"))
    };
    std::fs::write(&path, (0..10_000).map(line).collect::<String>()).unwrap();
    let grammars = CompiledGrammars::new();
    let grammar = grammars.grammar("python").unwrap();
    let pattern = Pattern::compile("f($X)", &grammar).unwrap();
    let template = Template::parse("g(\n    $X,\n)", &pattern, &grammar).unwrap();
    let language = grammar.language();
    let files = [Candidate {
        path,
        relative: "a.py".to_owned(),
        language,
    }];
    let sweep = Sweep {
        files: &files,
        jobs: &BTreeMap::from([("python", Job::new(grammar, pattern))]),
        templates: &BTreeMap::from([("python", template)]),
        source: &Source::Disk,
        threads: 1,
        use_prefilter: true,
        room: usize::MAX,
        is_stopped: &|| false,
        progress: &|_, _| {},
    };
    let before = used();
    let found = sweep.run().unwrap();
    let time = used() - before;
    let change = found[0].change.as_ref().unwrap();
    assert_eq!(change.replaced.len(), edits);
    assert_eq!(change.diff.added, 3 * edits);
    time
}

#[test]
fn ten_thousand_edits_in_one_file_cost_as_much_each_as_a_few() {
    let least = |edits| (0..3).map(|_| rewrite(edits)).min().unwrap();
    let (few, many) = (least(2_500), least(10_000));
    // Four times as many; were it quadratic, sixteen times.
    assert!(many < few * 8, "{few:?} for 2,500, {many:?} for 10,000");
}
