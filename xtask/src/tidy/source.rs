//! What may stand in source files.

use super::TextFile;

/// Files longer than this are named, not refused.
const LONG: usize = 700;

/// Words that name a protocol or an interpreter in an identifier.
const PROTOCOL_WORDS: [&str; 8] = [
    "lsp",
    "dap",
    "treesitter",
    "sitter",
    "pyo3",
    "python",
    "javascript",
    "deno",
];

/// Reports what must not stand in `file`.
pub(super) fn check(file: &TextFile, wrong: &mut Vec<String>) {
    // This file names what it forbids.
    if file.name == "xtask/src/tidy/source.rs" {
        return;
    }
    let root = crate::paths::root().display().to_string();
    for (line, text) in (1..).zip(file.text.lines()) {
        for path in ["/root/", root.as_str()] {
            // A root of one component (`/work`) would be found in any text.
            if text.contains(path) && path.matches('/').count() > 1 {
                wrong.push(format!(
                    "{}:{line}: names a path of one machine, `{path}`",
                    file.name
                ));
            }
        }
    }
    if !has_extension(file, "rs") {
        return;
    }
    let code = code_only(&file.text);
    for (line, text) in (1..).zip(code.lines()) {
        for forbidden in ["todo!(", "unimplemented!(", "dbg!(", "#[ignore"] {
            if text.contains(forbidden) {
                wrong.push(format!("{}:{line}: `{forbidden}`", file.name));
            }
        }
        // Tests name real programs.
        let is_shared = ["crates/tiers/src/", "crates/host/src/"]
            .iter()
            .any(|folder| file.name.starts_with(folder) && !file.name.ends_with("tests.rs"));
        if is_shared {
            for identifier in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
                if let Some(word) = protocol_word(identifier) {
                    wrong.push(format!(
                        "{}:{line}: `{identifier}` names a protocol (`{word}`)",
                        file.name
                    ));
                }
            }
        }
    }
}

/// Returns the Rust files that are long.
pub(super) fn long_files(files: &[TextFile]) -> Vec<(&str, usize)> {
    files
        .iter()
        .filter(|file| has_extension(file, "rs"))
        .map(|file| (file.name.as_str(), file.text.lines().count()))
        .filter(|(_, lines)| *lines > LONG)
        .collect()
}

fn has_extension(file: &TextFile, extension: &str) -> bool {
    std::path::Path::new(&file.name)
        .extension()
        .is_some_and(|e| e == extension)
}

/// Returns the word of `identifier` that names a protocol, where there is one.
fn protocol_word(identifier: &str) -> Option<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in identifier.chars() {
        if character == '_' || (character.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = character.is_lowercase() || character.is_numeric();
        if character != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words
        .into_iter()
        .find(|word| PROTOCOL_WORDS.contains(&word.as_str()))
}

/// Returns Rust `source` with comments and the insides of strings blanked, line
/// ends kept.
fn code_only(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let at = |index: usize| characters.get(index).copied().unwrap_or('\0');
    let mut code = String::with_capacity(source.len());
    let mut index = 0;
    while index < characters.len() {
        let start = index;
        match (at(index), at(index + 1)) {
            ('/', '/') => {
                while index < characters.len() && at(index) != '\n' {
                    index += 1;
                }
            }
            ('/', '*') => {
                let mut depth = 0_usize;
                while index < characters.len() {
                    if at(index) == '/' && at(index + 1) == '*' {
                        depth += 1;
                        index += 2;
                    } else if at(index) == '*' && at(index + 1) == '/' {
                        depth -= 1;
                        index += 2;
                        if depth == 0 {
                            break;
                        }
                    } else {
                        index += 1;
                    }
                }
            }
            ('r', '"' | '#') if index == 0 || !is_word(at(index - 1)) || at(index - 1) == 'b' => {
                let mut hashes = 0;
                while at(index + 1 + hashes) == '#' {
                    hashes += 1;
                }
                index += 1 + hashes;
                if at(index) == '"' {
                    index += 1;
                    while index < characters.len()
                        && !(at(index) == '"' && (1..=hashes).all(|i| at(index + i) == '#'))
                    {
                        index += 1;
                    }
                    index += 1 + hashes;
                }
            }
            ('"', _) => {
                index += 1;
                while index < characters.len() && at(index) != '"' {
                    index += if at(index) == '\\' { 2 } else { 1 };
                }
                index += 1;
            }
            // A character literal, not a lifetime.
            ('\'', '\\') => {
                index += 3;
                while index < characters.len() && at(index) != '\'' {
                    index += 1;
                }
                index += 1;
            }
            ('\'', _) if at(index + 2) == '\'' => index += 3,
            (character, _) => {
                code.push(character);
                index += 1;
                continue;
            }
        }
        code.push(' ');
        let skipped = characters
            .get(start..index.min(characters.len()))
            .unwrap_or_default();
        code.extend(skipped.iter().filter(|c| **c == '\n'));
    }
    code
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::{code_only, protocol_word};

    #[test]
    fn comments_and_strings_are_not_code() {
        let source = "a // lsp\n/* x\n/* y */ z */ b \"lsp \\\" \" c r#\"l\"s\"# d '\"' e 'x";
        let code = code_only(source);
        assert_eq!(
            code.split_whitespace().collect::<Vec<_>>(),
            ["a", "b", "c", "d", "e", "'x"]
        );
        assert_eq!(code.lines().count(), source.lines().count());
    }

    #[test]
    fn a_protocol_is_found_as_a_word_of_an_identifier_only() {
        assert_eq!(protocol_word("LspClient").as_deref(), Some("lsp"));
        assert_eq!(protocol_word("start_python").as_deref(), Some("python"));
        assert_eq!(protocol_word("adapter"), None);
        assert_eq!(protocol_word("relapsed"), None);
    }
}
