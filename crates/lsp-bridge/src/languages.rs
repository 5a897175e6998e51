//! Which language a file is in, as the protocol names languages.

use std::path::Path;

/// A language of a server, and the files it is written in.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LanguageFiles {
    /// The id in the protocol, for example `typescriptreact`.
    pub(crate) language: String,
    /// Extensions without their dot.
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    /// Whole file names, for example `Dockerfile`.
    #[serde(default)]
    pub(crate) names: Vec<String>,
}

impl LanguageFiles {
    /// Returns whether a file of this name is in the language.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return false;
        };
        let extension = path.extension().and_then(|extension| extension.to_str());
        self.names.iter().any(|own| own == name)
            || extension.is_some_and(|extension| self.extensions.iter().any(|e| e == extension))
    }
}

/// Returns the language of a file; `None` where none of `languages` has it.
pub(crate) fn language_of<'a>(languages: &'a [LanguageFiles], path: &Path) -> Option<&'a str> {
    // A whole name says more than an extension.
    let name = path.file_name().and_then(|name| name.to_str());
    let by_name = languages
        .iter()
        .find(|files| name.is_some_and(|name| files.names.iter().any(|own| own == name)));
    let found = by_name.or_else(|| languages.iter().find(|files| files.holds(path)));
    found.map(|files| files.language.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitfall_16_languages_are_told_by_name_and_extension() {
        let files = |language: &str, extensions: &[&str], names: &[&str]| LanguageFiles {
            language: language.to_owned(),
            extensions: extensions.iter().map(|&text| text.to_owned()).collect(),
            names: names.iter().map(|&text| text.to_owned()).collect(),
        };
        let languages = [
            files("typescript", &["ts", "mts"], &[]),
            files("typescriptreact", &["tsx"], &[]),
            files("dockerfile", &[], &["Dockerfile"]),
        ];
        for (path, language) in [
            ("src/a.ts", Some("typescript")),
            ("src/a.tsx", Some("typescriptreact")),
            ("x/Dockerfile", Some("dockerfile")),
            ("x/Dockerfile.ts", Some("typescript")),
            ("Makefile", None),
        ] {
            assert_eq!(language_of(&languages, Path::new(path)), language, "{path}");
        }
    }
}
