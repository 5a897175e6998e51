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
        let mut project = Self::of("core.py", core, 1, modules);
        for module in 0..modules {
            let head =
                format!("from core import core\n\n\ndef work_{module}() -> int:\n    total = 0\n");
            let text = module_text(&head, "    total += core(#)\n", "    return total\n");
            project.files.push((module_name(module, "py"), text));
        }
        project
            .files
            .push(("pyproject.toml".to_owned(), String::new()));
        project
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
            let head = format!("#include \"core.h\"\nint work_{module}() {{\n    int total = 0;\n");
            let text = module_text(&head, "    total += core(#);\n", "    return total;\n}\n");
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

    /// Builds a TypeScript project: `core.ts`, and modules that import `core`.
    #[must_use]
    pub fn typescript(modules: usize) -> Self {
        let core = "export function core(value: number): number {\n    return value;\n}\n";
        let mut project = Self::of("core.ts", core, 1, modules);
        for module in 0..modules {
            let head = format!(
                "import {{ core }} from \"./core\";\n\nexport function work_{module}(): number {{\n    let total = 0;\n"
            );
            let text = module_text(&head, "    total += core(#);\n", "    return total;\n}\n");
            project.files.push((module_name(module, "ts"), text));
        }
        project
            .files
            .push(("tsconfig.json".to_owned(), "{}".to_owned()));
        project
    }

    /// Builds a crate: `src/base.rs`, and modules that use its `core`.
    #[must_use]
    pub fn rust(modules: usize) -> Self {
        let manifest = "[package]\nname = \"modules\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        let core = "pub fn core(value: u32) -> u32 {\n    value\n}\n";
        let mut project = Self::of("src/base.rs", core, 1, modules);
        let mut library = "pub mod base;\n".to_owned();
        for module in 0..modules {
            let _ = writeln!(library, "pub mod module_{module:04};");
            let head = format!(
                "use crate::base::core;\n\npub fn work_{module}() -> u32 {{\n    let mut total = 0;\n"
            );
            let text = module_text(&head, "    total += core(#);\n", "    total\n}\n");
            let name = format!("src/{}", module_name(module, "rs"));
            project.files.push((name, text));
        }
        project.files.push(("src/lib.rs".to_owned(), library));
        project
            .files
            .push(("Cargo.toml".to_owned(), manifest.to_owned()));
        project
    }

    /// Builds a Go package: `core.go`, and files beside it that call `core`.
    #[must_use]
    pub fn go(modules: usize) -> Self {
        let core = "package modules\n\nfunc core(value int) int {\n\treturn value\n}\n";
        let mut project = Self::of("core.go", core, 3, modules);
        project.references = modules * CALLS + 1;
        for module in 0..modules {
            let head = format!("package modules\n\nfunc work_{module}() int {{\n\ttotal := 0\n");
            let text = module_text(&head, "\ttotal += core(#)\n", "\treturn total\n}\n");
            project.files.push((module_name(module, "go"), text));
        }
        let module = "module modules\n\ngo 1.19\n";
        project.files.push(("go.mod".to_owned(), module.to_owned()));
        project
    }

    /// Starts with the file of the function.
    fn of(name: &str, core: &str, line: u32, modules: usize) -> Self {
        Self {
            files: vec![(name.to_owned(), core.to_owned())],
            line,
            covered: modules + 1,
            references: modules * (CALLS + 1) + 1,
        }
    }

    /// Writes its files into a folder.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        for (name, text) in &self.files {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(())
    }
}

/// Returns the text of a module; `#` in `call` is the number of the call.
fn module_text(head: &str, call: &str, end: &str) -> String {
    let calls = (0..CALLS).map(|number| call.replace('#', &number.to_string()));
    format!("{head}{}{end}", calls.collect::<String>())
}

fn module_name(module: usize, extension: &str) -> String {
    format!("module_{module:04}.{extension}")
}
