//! Writes what was measured as a table for people.

use std::fmt::Write as _;

use anyhow::Result;

use super::cases::Limit;
use super::matches::Place;
use super::{Pairs, Row};
use crate::measure::Usage;
use crate::paths;
use crate::process::{capture, command};

/// Places named where the two programs differ.
const EXAMPLES: usize = 3;

/// Says on the terminal how a row went.
pub(super) fn progress(row: &Row) {
    if let Some(comparison) = &row.comparison {
        eprintln!(
            "bench:   matches: {}, ast-grep {}; {} only ours, {} only ast-grep's",
            comparison.ours,
            comparison.theirs,
            comparison.only_ours.len(),
            comparison.only_theirs.len()
        );
        for (whose, places) in [
            ("ours", &comparison.only_ours),
            ("ast-grep's", &comparison.only_theirs),
        ] {
            for place in places.iter().take(EXAMPLES) {
                eprintln!("bench:   only {whose}: {}", show(place));
            }
        }
    }
    let (ratio, target) = (row.single.ratio(cpu), row.case.target(row.limit));
    eprintln!(
        "bench:   CPU {:.3} s, ast-grep {:.3} s: {ratio:.3} times ({} {target})",
        median(row.single.ours.iter().map(cpu)),
        median(row.single.theirs.iter().map(cpu)),
        if ratio <= target { "within" } else { "OVER" },
    );
}

/// Returns the table, with what is needed to repeat it.
pub(super) fn table(rows: &[Row], runs: usize) -> Result<String> {
    let mut table = String::new();
    let versions = [
        capture(command("date", &paths::root()).args(["-u", "+%Y-%m-%d"]))?,
        capture(
            command(paths::python_programs().join("ast-grep"), &paths::root()).arg("--version"),
        )?,
        capture(command("rustc", &paths::root()).arg("--version"))?,
    ];
    let [date, ast_grep, rustc] = versions.map(|text| text.trim().to_owned());
    let cores = std::thread::available_parallelism()?;
    writeln!(
        table,
        "Measured on {date} with {ast_grep}, {rustc}, {cores} cores; medians of {runs} pairs of runs.\n"
    )?;
    writeln!(
        table,
        "| group | corpus | pattern | limit | matches: ours, ast-grep (only ours, only theirs) | CPU s: ours, ast-grep | CPU ratio (wanted) | wall s: ours, ast-grep | peak MiB: ours, ast-grep |"
    )?;
    writeln!(
        table,
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for row in rows {
        let case = row.case;
        let matches = row.comparison.as_ref().map_or_else(String::new, |c| {
            format!(
                "{}, {} ({}, {})",
                c.ours,
                c.theirs,
                c.only_ours.len(),
                c.only_theirs.len()
            )
        });
        writeln!(
            table,
            "| {} | {} | {} | {} | {matches} | {} | {:.3} (≤ {}) | {} | {} |",
            case.group,
            case.language,
            case.change(),
            match row.limit {
                Limit::All => "all",
                Limit::Default => "50",
            },
            row.single.medians(cpu, 3),
            row.single.ratio(cpu),
            case.target(row.limit),
            row.parallel.medians(|usage| usage.wall, 3),
            row.parallel.medians(|usage| usage.peak, 0),
        )?;
    }
    Ok(table)
}

fn show(place: &Place) -> String {
    format!("{} bytes {}..{}", place.path, place.bytes.0, place.bytes.1)
}

fn cpu(usage: &Usage) -> f64 {
    usage.cpu
}

impl Pairs {
    /// Returns the median over the pairs of ours divided by theirs.
    fn ratio(&self, value: impl Fn(&Usage) -> f64) -> f64 {
        median(
            self.ours
                .iter()
                .zip(&self.theirs)
                .map(|(ours, theirs)| value(ours) / value(theirs)),
        )
    }

    /// Returns both medians.
    fn medians(&self, value: impl Fn(&Usage) -> f64, digits: usize) -> String {
        let ours = median(self.ours.iter().map(&value));
        let theirs = median(self.theirs.iter().map(&value));
        format!("{ours:.digits$}, {theirs:.digits$}")
    }
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.get(middle.wrapping_sub(1)), values.get(middle)) {
        (Some(below), Some(above)) if values.len().is_multiple_of(2) => {
            f64::midpoint(*below, *above)
        }
        (_, Some(value)) => *value,
        (_, None) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_the_middle_or_between_the_two() {
        assert!((median([3.0, 1.0, 2.0].into_iter()) - 2.0).abs() < 1e-9);
        assert!((median([4.0, 1.0, 2.0, 3.0].into_iter()) - 2.5).abs() < 1e-9);
        assert!(median([].into_iter()).is_nan());
    }
}
