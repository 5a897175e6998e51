//! How the time of a rewrite grows with the number of its edits.
//!
//! `cargo bench -p toolset-structural --features all-grammars --bench rewrite`
//! prints, for files of a quarter, a half and one megabyte and two, the processor
//! time of the rewrite and of parsing the file alone. Every row should double
//! from column to column.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program that prints figures"
)]

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use structural::{CompiledGrammars, GrammarSource as _, Pattern, Template, rewrite_text};
use tree_sitter::Parser;

/// Edits in the columns.
const EDITS: [usize; 4] = [2_500, 5_000, 10_000, 20_000];

struct Case {
    name: &'static str,
    pattern: &'static str,
    template: &'static str,
    before: &'static str,
    /// One edit's worth of code; `#` becomes its number.
    each: &'static str,
    after: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "a call on each line",
        pattern: "f($A, $B)",
        template: "g($B, $A)",
        before: "",
        each: "    f(some.name_#, [1, 2, 3]);  // and some words that make the line as long as it is\n",
        after: "",
    },
    Case {
        name: "all calls on one line",
        pattern: "f($A, $B)",
        template: "g($B, $A)",
        before: "",
        each: "f(some.name_#, [1, 2, 3]); /* and some words that make it as long as it is here */ ",
        after: "",
    },
    Case {
        name: "code that moves in",
        pattern: "f($A)",
        template: "if (a) {\n  f($A);\n}",
        before: "{\n",
        each: "    f({\n        name: #,\n        other: `a\n  b`,\n        more: [1, 2, 3],\n    });\n",
        after: "}\n",
    },
    Case {
        name: "elements taken out of a list",
        pattern: "old($A)",
        template: "",
        before: "x = [\n",
        each: "    old(some.name_#), another.element_that_stays_where_it_is(1, 2, 3, 4, 5, 6, 7),\n",
        after: "];\n",
    },
    Case {
        name: "a whole list taken out",
        pattern: "old($$$A)",
        template: "",
        before: "x = [\n    first,\n",
        each: "    old(some.name_#, another.element_that_goes_as_well(1, 2, 3, 4, 5, 6, 7, 8)),\n",
        after: "];\n",
    },
];

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        now.tv_sec.unsigned_abs(),
        u32::try_from(now.tv_nsec).unwrap(),
    )
}

/// Returns the least of a few measurements, in milliseconds.
fn least(mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let start = processor_time();
        run();
        (processor_time() - start).as_secs_f64() * 1_000.0
    };
    (0..5).map(|_| once(&mut run)).fold(f64::MAX, f64::min)
}

fn main() {
    let grammar = CompiledGrammars::new().grammar("javascript").unwrap();
    println!("processor time in ms, rewrite / parse alone");
    println!(
        "{:32} {}",
        "edits",
        EDITS.map(|n| format!("{n:>18}")).concat()
    );
    for case in CASES {
        let pattern = Pattern::compile(case.pattern, &grammar).unwrap();
        let template = Template::parse(case.template, &pattern, &grammar).unwrap();
        let mut row = format!("{:32} ", case.name);
        for edits in EDITS {
            let mut source = case.before.to_owned();
            for number in 0..edits {
                source.push_str(&case.each.replace('#', &number.to_string()));
            }
            source.push_str(case.after);
            let mut parser = Parser::new();
            parser.set_language(grammar.parser_language()).unwrap();
            let parse = least(|| drop(parser.parse(&source, None).unwrap()));
            let mut done = 0;
            let rewrite = least(|| {
                let bytes = source.as_bytes();
                let result = rewrite_text(&grammar, &pattern, &template, bytes, &mut || false);
                done = result.unwrap().replacements.len();
            });
            assert_eq!(done, edits, "{}", case.name);
            row.push_str(&format!("{:>18}", format!("{rewrite:.0} / {parse:.0}")));
        }
        println!("{row}");
    }
}
