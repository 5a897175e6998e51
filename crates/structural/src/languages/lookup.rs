//! Finds the language that a name, a file name or a `#!` line stands for.
//!
//! Nothing here reads a file: the caller brings the name and the first line.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use super::Language;

/// A set of languages, with what finds one in it.
///
/// Where two claim one name, the one that came first has it.
#[derive(Clone, Default)]
pub struct Languages {
    rows: Vec<&'static Language>,
    ids: HashMap<&'static str, usize>,
    aliases: HashMap<&'static str, usize>,
    extensions: HashMap<&'static str, usize>,
    basenames: HashMap<String, usize>,
    shebangs: HashMap<&'static str, usize>,
    further: Option<Further>,
    /// Where the rows begin that `further` is about.
    further_from: usize,
}

/// What recognises the files of languages whose rows do not say how: each
/// returns an id, with `_` for `-`.
#[derive(Debug, Clone, Copy)]
pub struct Further {
    /// By the name of the file.
    pub by_file_name: fn(&str) -> Option<&'static str>,
    /// By the file name extension.
    pub by_extension: fn(&str) -> Option<&'static str>,
    /// By the first line.
    pub by_shebang: fn(&str) -> Option<&'static str>,
}

impl Languages {
    /// Returns the set of `rows`.
    #[must_use]
    pub fn new(rows: Vec<&'static Language>) -> Self {
        let mut set = Self::default();
        for (at, row) in rows.iter().enumerate() {
            let put = |map: &mut HashMap<&'static str, usize>, names: &[&'static str]| {
                for name in names {
                    map.entry(name).or_insert(at);
                }
            };
            put(&mut set.ids, &[row.id]);
            put(&mut set.aliases, row.aliases);
            put(&mut set.extensions, row.extensions);
            put(&mut set.shebangs, row.shebangs);
            for name in row.basenames {
                set.basenames.entry(name.to_lowercase()).or_insert(at);
            }
        }
        set.rows = rows;
        set
    }

    /// Adds languages that `further` recognises, where no other one claims the file.
    #[must_use]
    pub fn with_further(self, rows: Vec<&'static Language>, further: Further) -> Self {
        let further_from = self.rows.len();
        Self {
            further: Some(further),
            further_from,
            ..Self::new([self.rows, rows].concat())
        }
    }

    /// Returns the languages, in the order they were given.
    pub fn iter(&self) -> impl Iterator<Item = &'static Language> + use<'_> {
        self.rows.iter().copied()
    }

    /// Returns the language with this id.
    #[must_use]
    pub fn by_id(&self, id: &str) -> Option<&'static Language> {
        self.ids.get(id).and_then(|at| self.rows.get(*at).copied())
    }

    /// Returns the language with this id, alias or file name extension.
    ///
    /// Case, a leading dot and the choice between `-`, `_` and a space do not
    /// matter: `C#`, `csharp`, `.cs` and `C Sharp` are one language.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&'static Language> {
        let name = normal_name(name);
        self.by_id(&name)
            .or_else(|| self.row(self.aliases.get(name.as_str())))
            .or_else(|| self.by_extension(&name))
            .or_else(|| self.further(&name, Recognise::Extension))
    }

    /// Returns the ids of all languages, the ones closest to `name` first.
    ///
    /// For the error that answers an unknown name.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&'static str> {
        let start = name.char_indices().nth(40).map_or(name.len(), |(at, _)| at);
        let name = normal_name(name.get(..start).unwrap_or_default());
        let mut ids: Vec<_> = self
            .iter()
            .map(|l| {
                let names = std::iter::once(&l.id).chain(l.aliases);
                let rank = names
                    .map(|known| (distance(&name, known), Reverse(common_start(&name, known))));
                (rank.min(), l.id)
            })
            .collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns the language of a file, judged by its name alone.
    ///
    /// The whole file name counts first (`Makefile`), then the longest extension
    /// (`d.ts` before `ts`), then a known file name with something after it
    /// (`Dockerfile.dev`). A `.h` file is C; whether it is C++ is for the caller
    /// to find out from its text.
    #[must_use]
    pub fn by_path(&self, path: &Path) -> Option<&'static Language> {
        // An ending says the language even where the rest is not UTF-8.
        let name = &*path.file_name()?.to_string_lossy();
        let extensions = name
            .match_indices('.')
            .filter_map(|(at, _)| name.get(at + 1..));
        self.by_basename(name)
            .or_else(|| {
                extensions
                    .into_iter()
                    .find_map(|e| self.by_extension(&e.to_lowercase()))
            })
            .or_else(|| self.by_basename(name.split_once('.')?.0))
            .or_else(|| self.further(name, Recognise::FileName))
    }

    /// Returns the language of a script, judged by its first line.
    ///
    /// Understands a path (`#!/bin/sh`), `env` with its options and variables
    /// (`#!/usr/bin/env -S A=1 python3.11 -u`), and version numbers.
    #[must_use]
    pub fn by_shebang(&self, first_line: &str) -> Option<&'static Language> {
        let line = first_line
            .trim_start_matches('\u{feff}')
            .strip_prefix("#!")?;
        let mut words = line.split_ascii_whitespace();
        let mut program = base_name(words.next()?);
        if program == "env" {
            program = base_name(program_of_env(words)?);
        }
        self.row(self.shebangs.get(program))
            .or_else(|| self.row(self.shebangs.get(without_version(program))))
            .or_else(|| self.further(first_line, Recognise::Shebang))
    }

    fn by_basename(&self, name: &str) -> Option<&'static Language> {
        self.row(self.basenames.get(&name.to_lowercase()))
    }

    fn by_extension(&self, extension: &str) -> Option<&'static Language> {
        self.row(self.extensions.get(extension))
    }

    fn further(&self, text: &str, by: Recognise) -> Option<&'static Language> {
        let further = self.further?;
        let id = match by {
            Recognise::FileName => (further.by_file_name)(text),
            Recognise::Extension => (further.by_extension)(text),
            Recognise::Shebang => (further.by_shebang)(text),
        }?;
        let at = *self.ids.get(normal_name(id).as_str())?;
        (at >= self.further_from).then(|| self.row(Some(&at)))?
    }

    fn row(&self, at: Option<&usize>) -> Option<&'static Language> {
        at.and_then(|at| self.rows.get(*at)).copied()
    }
}

/// What a language is recognised by.
#[derive(Clone, Copy)]
enum Recognise {
    FileName,
    Extension,
    Shebang,
}

impl fmt::Debug for Languages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|l| l.id)).finish()
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the word that `env` runs, given the words after it.
fn program_of_env<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    loop {
        let word = words.next()?;
        match word {
            "-u" | "--unset" | "-C" | "--chdir" => {
                words.next()?;
            }
            "-S" | "--split-string" => {}
            _ if word.contains('=') && !word.starts_with('-') => {}
            _ => {
                let glued = word
                    .strip_prefix("-S")
                    .or_else(|| word.strip_prefix("--split-string="));
                match glued {
                    Some(program) => return Some(program),
                    None if word.starts_with('-') => {}
                    None => return Some(word),
                }
            }
        }
    }
}

/// Cuts a version off: `python3.11` is `python`, `lua-5.4` is `lua`.
fn without_version(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

fn normal_name(name: &str) -> String {
    let name = name.trim().trim_start_matches('.').to_lowercase();
    name.replace([' ', '_'], "-")
}

/// The number of letters that two names begin with in common.
fn common_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count()
}

/// The number of letters to insert, remove, replace or swap with a neighbour
/// to turn one name into the other (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::super::{compiled, table};
    use super::*;

    fn id(language: Option<&Language>) -> &str {
        language.map_or("none", |l| l.id)
    }

    /// Panics where two languages claim one of `names`.
    fn assert_unique(what: &str, names: impl Iterator<Item = (String, &'static str)>) {
        let mut owners = HashMap::new();
        for (name, owner) in names {
            if let Some(other) = owners.insert(name.clone(), owner) {
                panic!("{what} `{name}` belongs to {other} and to {owner}");
            }
        }
    }

    #[test]
    fn no_name_belongs_to_two_languages() {
        // An alias of one language must not be the extension of another either.
        assert_unique(
            "name",
            table().iter().flat_map(|l| {
                let mut names: Vec<&str> = [&[l.id], l.aliases, l.extensions].concat();
                names.sort_unstable();
                names.dedup();
                names.into_iter().map(|n| (n.to_owned(), l.id))
            }),
        );
        assert_unique(
            "file name",
            table()
                .iter()
                .flat_map(|l| l.basenames.iter().map(|b| (b.to_lowercase(), l.id))),
        );
        assert_unique(
            "interpreter",
            table()
                .iter()
                .flat_map(|l| l.shebangs.iter().map(|s| ((*s).to_owned(), l.id))),
        );
    }

    #[test]
    fn names_in_the_table_are_written_as_they_are_looked_up() {
        let set = Languages::new(table().iter().collect());
        for l in table() {
            for name in std::iter::once(&l.id).chain(l.aliases).chain(l.extensions) {
                assert_eq!(*name, normal_name(name), "in the row of {}", l.id);
            }
            for alias in l.aliases {
                assert_ne!(*alias, l.id, "an alias that is the id");
            }
            for shebang in l.shebangs {
                assert_eq!(
                    set.by_shebang(&format!("#!/bin/{shebang}")).map(|l| l.id),
                    Some(l.id)
                );
            }
        }
    }

    #[test]
    fn languages_are_sorted_by_id_and_have_one_row_each() {
        assert!(table().windows(2).all(|pair| pair[0].id < pair[1].id));
    }

    #[cfg(all(feature = "lang-c-sharp", feature = "lang-cpp", feature = "lang-go"))]
    #[test]
    fn a_language_is_found_under_the_names_people_use() {
        for (name, expected) in [
            ("c#", "c-sharp"),
            ("C#", "c-sharp"),
            ("cs", "c-sharp"),
            ("csharp", "c-sharp"),
            ("C Sharp", "c-sharp"),
            ("c_sharp", "c-sharp"),
            ("golang", "go"),
            ("Go", "go"),
            ("c++", "cpp"),
            ("hpp", "cpp"),
            ("c", "c"),
            ("", "none"),
            ("cobol", "none"),
        ] {
            assert_eq!(id(compiled().by_name(name)), expected, "for {name:?}");
        }
    }

    #[cfg(all(
        feature = "lang-javascript",
        feature = "lang-typescript",
        feature = "lang-tsx"
    ))]
    #[test]
    fn script_dialects_are_told_apart() {
        for (name, expected) in [
            ("js", "javascript"),
            ("jsx", "javascript"),
            ("JavaScript", "javascript"),
            ("node", "javascript"),
            ("ts", "typescript"),
            ("mts", "typescript"),
            ("tsx", "tsx"),
        ] {
            assert_eq!(id(compiled().by_name(name)), expected, "for {name:?}");
        }
        for (path, expected) in [
            ("a/b.mjs", "javascript"),
            ("b.cjs", "javascript"),
            ("b.jsx", "javascript"),
            ("types.d.ts", "typescript"),
            ("b.cts", "typescript"),
            ("App.TSX", "tsx"),
        ] {
            assert_eq!(
                id(compiled().by_path(Path::new(path))),
                expected,
                "for {path}"
            );
        }
        assert_eq!(
            id(compiled().by_shebang("#!/usr/bin/env node")),
            "javascript"
        );
        assert_eq!(
            id(compiled().by_shebang("#!/usr/bin/env -S deno run --allow-net")),
            "typescript"
        );
        assert_eq!(
            id(compiled().by_shebang("#! /usr/local/bin/node22\r")),
            "javascript"
        );
    }

    #[cfg(all(feature = "lang-c", feature = "lang-cpp", feature = "lang-rust"))]
    #[test]
    fn a_path_is_judged_by_its_file_name_only() {
        for (path, expected) in [
            ("src/main.rs", "rust"),
            ("main.rs/readme", "none"),
            ("a.h", "c"),
            ("a.hh", "cpp"),
            ("A.CPP", "cpp"),
            ("sketch.ino", "cpp"),
            (".rs", "rust"),
            ("rs", "none"),
            ("", "none"),
            ("/", "none"),
            ("a.rs.bak", "none"),
            ("a.unknown.rs", "rust"),
        ] {
            assert_eq!(
                id(compiled().by_path(Path::new(path))),
                expected,
                "for {path:?}"
            );
        }
    }

    #[test]
    fn env_options_and_variables_are_stepped_over() {
        for (line, program) in [
            ("python3", Some("python3")),
            ("-S python3.11 -u", Some("python3.11")),
            ("-Spython3 -u", Some("python3")),
            ("--split-string=ruby -w", Some("ruby")),
            ("-i A=1 B=2 bash", Some("bash")),
            ("-u HOME -C /tmp bash", Some("bash")),
            ("-S", None),
            ("", None),
        ] {
            assert_eq!(
                program_of_env(line.split_ascii_whitespace()),
                program,
                "for {line:?}"
            );
        }
        assert_eq!(without_version("python3.11"), "python");
        assert_eq!(without_version("lua-5.4"), "lua");
        assert_eq!(without_version("7"), "");
    }

    #[test]
    fn a_line_that_is_no_shebang_names_no_language() {
        for line in [
            "",
            "#!",
            "#!   ",
            "# bash",
            "//!node",
            "#!/usr/bin/env",
            "#!/bin/unheard-of",
            "#!7",
        ] {
            assert_eq!(id(compiled().by_shebang(line)), "none", "for {line:?}");
        }
    }

    #[cfg(all(
        feature = "lang-rust",
        feature = "lang-typescript",
        feature = "lang-cpp"
    ))]
    #[test]
    fn the_nearest_known_names_come_first() {
        assert_eq!(compiled().nearest("rsut").first(), Some(&"rust"));
        assert_eq!(compiled().nearest("typscript").first(), Some(&"typescript"));
        assert_eq!(compiled().nearest("cplus").first(), Some(&"cpp"));
        assert_eq!(compiled().nearest("xyz").len(), compiled().iter().count());
    }

    #[test]
    fn distance_counts_edits() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "ab", 2),
            ("rust", "rust", 0),
            ("rsut", "rust", 1),
            ("go", "lua", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }
}
