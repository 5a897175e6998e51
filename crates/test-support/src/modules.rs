//! Projects of any size in which every module calls one function.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

/// Calls in each module.
const CALLS: usize = 8;

/// A generated project.
#[derive(Debug, Clone)]
pub struct ModuleProject {
    /// Names of its files and their texts, the one with the function first.
    pub files: Vec<(String, String)>,
    /// The line of the function's declaration, from 1.
    pub line: u32,
    /// How many files hold its name.
    pub covered: usize,
    /// How many references there are, the declaration included.
    pub references: usize,
}

impl ModuleProject {
    /// Builds a Python project: `core.py`, and modules that import `core` and
    /// call it.
    #[must_use]
    pub fn python(modules: usize) -> Self {
        let core = "def core(value: int) -> int:\n    return value\n";
        let mut files = vec![("core.py".to_owned(), core.to_owned())];
        for module in 0..modules {
            let mut text =
                format!("from core import core\n\n\ndef work_{module}() -> int:\n    total = 0\n");
            for call in 0..CALLS {
                let _ = writeln!(text, "    total += core({call})");
            }
            text.push_str("    return total\n");
            files.push((module_name(module, "py"), text));
        }
        files.push(("pyproject.toml".to_owned(), String::new()));
        Self {
            files,
            line: 1,
            covered: modules + 1,
            references: modules * (CALLS + 1) + 1,
        }
    }

    /// Builds a C++ project: `core.cc` with its header, modules that include it
    /// and call `core`, and `compile_commands.json` for the folder `at`.
    #[must_use]
    pub fn cpp(modules: usize, at: &Path) -> Self {
        let core = "#include \"core.h\"\nint core(int value) { return value; }\n";
        let header = "#pragma once\nint core(int value);\n";
        let mut files = vec![
            ("core.cc".to_owned(), core.to_owned()),
            ("core.h".to_owned(), header.to_owned()),
        ];
        for module in 0..modules {
            let mut text =
                format!("#include \"core.h\"\nint work_{module}() {{\n    int total = 0;\n");
            for call in 0..CALLS {
                let _ = writeln!(text, "    total += core({call});");
            }
            text.push_str("    return total;\n}\n");
            files.push((module_name(module, "cc"), text));
        }
        let sources = files.iter().map(|(name, _)| name);
        let sources = sources.filter(|name| Path::new(name).extension() == Some("cc".as_ref()));
        // Folders are absolute, as build systems write them.
        let entries = sources.map(|name| {
            json!({ "directory": at, "file": name, "command": format!("clang++ -c {name}") })
        });
        let database = Value::Array(entries.collect()).to_string();
        files.push(("compile_commands.json".to_owned(), database));
        Self {
            files,
            line: 2,
            covered: modules + 2,
            references: modules * CALLS + 2,
        }
    }

    /// Writes its files into a folder.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        for (name, text) in &self.files {
            std::fs::write(folder.join(name), text)?;
        }
        Ok(())
    }
}

fn module_name(module: usize, extension: &str) -> String {
    format!("module_{module:04}.{extension}")
}
