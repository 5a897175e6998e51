//! Shows the lines of a hunk: of a long one, what is around its change.

use std::collections::VecDeque;
use std::ops::Range;

use tiers::visible;

use crate::excerpt;

/// A line of a hunk.
pub(super) struct Line<'t> {
    mark: char,
    text: &'t str,
    /// Where it differs from the line on the other side.
    differs: Range<usize>,
}

/// The lines of a hunk, in order: removed lines know the added ones that take
/// their places.
pub(super) struct Lines<'t> {
    rest: std::iter::Peekable<std::str::Lines<'t>>,
    ready: VecDeque<Line<'t>>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(hunk: &'t str) -> Self {
        Self {
            rest: hunk.lines().peekable(),
            ready: VecDeque::new(),
        }
    }

    /// Reads lines that were removed, and those that were added after them.
    fn read_change(&mut self) {
        let mut change: Vec<Line<'t>> = Vec::new();
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        while let Some(text) = self.rest.next_if(|line| {
            // A remark about the end of a file stands between the two sides.
            line.starts_with('+')
                || (line.starts_with('-') && added.is_empty())
                || line.starts_with('\\')
        }) {
            let line = Line::of(text);
            match line.mark {
                '-' => removed.push(change.len()),
                '+' => added.push(change.len()),
                _ => {}
            }
            change.push(line);
        }
        for (old, new) in removed.into_iter().zip(added) {
            let text = |at: usize| change.get(at).map_or("", |line| line.text);
            let (in_old, in_new) = differences(text(old), text(new));
            for (at, differs) in [(old, in_old), (new, in_new)] {
                if let Some(line) = change.get_mut(at) {
                    line.differs = differs;
                }
            }
        }
        self.ready.extend(change);
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        if self.ready.is_empty() {
            self.read_change();
        }
        self.ready
            .pop_front()
            .or_else(|| self.rest.next().map(Line::of))
    }
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Self {
        let mut chars = line.chars();
        Self {
            mark: chars.next().unwrap_or(' '),
            text: chars.as_str(),
            differs: 0..0,
        }
    }

    /// Returns the line, cut at `width` characters.
    pub(super) fn shown(&self, width: usize) -> String {
        let all = 0..self.text.len();
        let text = excerpt::around(self.text, all, &self.differs, width);
        format!("{}{}", self.mark, visible(&text))
    }
}

/// Returns where two lines differ, in each of them.
fn differences(old: &str, new: &str) -> (Range<usize>, Range<usize>) {
    let start: usize = old
        .chars()
        .zip(new.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let rest = |text: &'_ str| text.len() - start;
    let end: usize = old
        .chars()
        .rev()
        .zip(new.chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum::<usize>()
        .min(rest(old))
        .min(rest(new));
    (start..old.len() - end, start..new.len() - end)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(hunk: &str, wanted: &Expect) {
        let lines: Vec<String> = Lines::of(hunk).map(|line| line.shown(20)).collect();
        wanted.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_long_line_is_shown_around_its_change() {
        let filler = "a".repeat(100);
        check(
            &format!("@@ -1,2 +1,2 @@\n x{filler}\n-{filler}f(1)\n-b\n+{filler}g(1, 2)\n+c\n"),
            &expect![[r#"
                @@ -1,2 +1,2 @@
                 xaaaaaaaaaaaaaaaaaaa…
                -…aaaaaaaaaaaaaaaaf(1)
                -b
                +…aaaaaaaaaaaaag(1, 2)
                +c"#]],
        );
    }

    #[test]
    fn the_remark_about_a_missing_line_end_is_no_side() {
        let filler = "é".repeat(100);
        check(
            &format!("-{filler}f\n\\ No newline at end of file\n+{filler}g\n"),
            &expect![[r#"
                -…éééééééééééééééééééf
                \ No newline at end o…
                +…ééééééééééééééééééég"#]],
        );
    }

    #[test]
    fn a_repeated_text_is_no_overlap_of_both_ends() {
        assert_eq!(differences("aaa", "aaaa"), (3..3, 3..4));
        assert_eq!(differences("xaay", "xaaay"), (3..3, 3..4));
        assert_eq!(differences("", "ab"), (0..0, 0..2));
    }
}
