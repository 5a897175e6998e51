//! The root of a project: the nearest folder with a marker.

use std::fmt;
use std::path::Path;

use super::{one_of, shown};
use crate::WorkspacePath;

/// The root of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// The folder.
    pub folder: WorkspacePath,
    /// The name of the marker that is there; empty where none is needed.
    pub marker: String,
}

/// No folder has a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoRoot {
    /// The markers, any of which would do.
    pub markers: Vec<String>,
    /// The folders looked in, from the workspace's root, nearest first.
    pub folders: Vec<String>,
}

impl fmt::Display for NoRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} in ", one_of(&self.markers))?;
        match self.folders.as_slice() {
            [only] => write!(f, "`{only}`"),
            folders => f.write_str(&one_of(folders)),
        }
    }
}

pub(super) fn find(
    markers: &[String],
    from: &WorkspacePath,
    folders: &[&Path],
) -> Result<Root, NoRoot> {
    if markers.is_empty() {
        return Ok(Root {
            folder: from.workspace().root_path(),
            marker: String::new(),
        });
    }
    for folder in folders {
        let found = markers.iter().find_map(|marker| find_in(folder, marker));
        if let Some(marker) = found
            && let Ok(folder) = from.workspace().resolve_path(folder)
        {
            return Ok(Root { folder, marker });
        }
    }
    Err(NoRoot {
        markers: markers.to_vec(),
        folders: folders.iter().map(|folder| shown(folder, from)).collect(),
    })
}

/// Returns the name that matches `marker`, the first in order.
fn find_in(folder: &Path, marker: &str) -> Option<String> {
    let (pattern, wants_folder) = match marker.strip_suffix('/') {
        Some(pattern) => (pattern, true),
        None => (marker, false),
    };
    let is_kind =
        |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.is_dir() == wants_folder);
    if !pattern.contains(['*', '?']) {
        return is_kind(&folder.join(pattern)).then(|| pattern.to_owned());
    }
    std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| matches(pattern, name) && is_kind(&folder.join(name)))
        .min()
}

/// Returns whether `name` matches `pattern`, in time linear in practice: a `*`
/// is only ever moved on, never back.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // The last star, and how far the name was when it was met.
    let mut star: Option<(usize, usize)> = None;
    while let Some(&character) = name.get(n) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == character => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks_match_names() {
        for (pattern, name, is_match) in [
            ("*.csproj", "app.csproj", true),
            ("*.csproj", ".csproj", true),
            ("*.csproj", "app.csproj.user", false),
            ("*.csproj", "app.vbproj", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*a*b", "xaab", true),
            ("*a*b", "xaabc", false),
            ("*", "", true),
            ("é?", "éü", true),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} on {name}");
        }
    }
}
