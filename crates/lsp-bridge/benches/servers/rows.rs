//! The servers that are measured: a row each.

use std::path::{Path, PathBuf};

use test_support::ModuleProject;

/// A server, and a project that it knows all about.
pub(crate) struct Row {
    /// Its id in the catalogue.
    pub(crate) id: &'static str,
    /// The folder of its program, below the one that `setup` installs into.
    pub(crate) folder: &'static str,
    /// Its program and arguments, as in the catalogue.
    pub(crate) command: &'static [&'static str],
    /// The language of the project's files in the protocol, and their extension.
    pub(crate) language: (&'static str, &'static str),
    /// Builds the project for a folder.
    pub(crate) project: fn(usize, &Path) -> ModuleProject,
    /// The line of a module that uses the function, from 1.
    pub(crate) use_line: u32,
    /// Modules of the projects on which the growth of `references` is measured.
    pub(crate) sizes: &'static [usize],
}

pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "pyright",
        folder: "pyright/node_modules/.bin",
        command: &["pyright-langserver", "--stdio"],
        language: ("python", "py"),
        project: |modules, _| ModuleProject::python(modules),
        use_line: 7,
        sizes: &[100, 400, 1600],
    },
    Row {
        id: "clangd",
        folder: "clangd/bin",
        command: &[
            "clangd",
            "--background-index",
            "--limit-references=0",
            "--rename-file-limit=0",
        ],
        language: ("cpp", "cc"),
        project: ModuleProject::cpp,
        use_line: 5,
        sizes: &[100, 400],
    },
];

impl Row {
    /// Returns its program; `None` where it is not installed.
    pub(crate) fn program(&self, servers: &Path) -> Option<PathBuf> {
        let program = servers.join(self.folder).join(self.command.first()?);
        program.is_file().then_some(program)
    }

    /// Returns the file with the function.
    pub(crate) fn declaration(&self) -> String {
        format!("core.{}", self.language.1)
    }

    /// Returns a file that uses it.
    pub(crate) fn user(&self) -> String {
        format!("module_0000.{}", self.language.1)
    }
}
