//! What documents must hold to.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::TextFile;
use crate::paths;

/// Reports links of a Markdown file that lead nowhere in the checkout.
pub(super) fn check(file: &TextFile, wrong: &mut Vec<String>) {
    if Path::new(&file.name).extension().is_none_or(|e| e != "md") {
        return;
    }
    for (line, target) in links(&file.text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let name = if path.is_empty() {
            PathBuf::from(&file.name)
        } else {
            normal(&Path::new(&file.name).with_file_name("").join(path))
        };
        let full = paths::root().join(&name);
        if !full.exists() {
            wrong.push(format!(
                "{}:{line}: link to `{path}`, which does not exist",
                file.name
            ));
        } else if !anchor.is_empty()
            && fs::read_to_string(&full)
                .is_ok_and(|text| !headings(&text).contains(&anchor.to_owned()))
        {
            wrong.push(format!(
                "{}:{line}: link to `#{anchor}`, which `{}` has no heading for",
                file.name,
                name.display()
            ));
        }
    }
}

/// Reports a change log without a place for the next changes.
pub(super) fn check_changelog(wrong: &mut Vec<String>) {
    let changelog = fs::read_to_string(paths::root().join("CHANGELOG.md")).unwrap_or_default();
    if !changelog
        .lines()
        .any(|line| line.trim_end() == "## Unreleased")
    {
        wrong.push("CHANGELOG.md: has no heading `## Unreleased`".to_owned());
    }
}

/// Returns the targets of inline links outside code, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        // Every second part stands between backticks.
        for part in text.split('`').step_by(2) {
            for rest in part.split("](").skip(1) {
                if let Some((target, _)) = rest.split_once(')') {
                    links.push((line, target.split_whitespace().next().unwrap_or_default()));
                }
            }
        }
    }
    links
}

/// Returns the anchors that hosting sites make for the headings.
fn headings(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut headings = Vec::new();
    for (_, line) in prose(text) {
        if !line.starts_with('#') {
            continue;
        }
        let anchor: String = line
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let count = seen.entry(anchor.clone()).or_default();
        headings.push(if *count == 0 {
            anchor
        } else {
            format!("{anchor}-{count}")
        });
        *count += 1;
    }
    headings
}

/// Returns the lines outside fenced code, numbered from 1.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| {
            let fence = line.trim_start().starts_with("```");
            fenced ^= fence;
            !fenced && !fence
        })
        .collect()
}

/// Resolves `.` and `..` without asking the disk.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::{headings, links};

    #[test]
    fn links_in_code_are_no_links() {
        let text = "see [a](b.md#c) and `[x](y)`\n```\n[d](e)\n```\n[f](g \"title\")";
        assert_eq!(links(text), [(1, "b.md#c"), (5, "g")]);
    }

    #[test]
    fn a_repeated_heading_gets_a_number() {
        assert_eq!(
            headings("# What `it` is\n## A\n## A"),
            ["what-it-is", "a", "a-1"]
        );
    }
}
