//! Python without a `python3` program: this very program, started again under
//! that name, hands itself over to the shared library of Python.
//!
//! What runs then is what `python3` is: the same arguments, the same bootstrap,
//! a process of its own that can be interrupted and killed.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int};
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The name under which this program is Python.
const NAME: &str = "python3";

/// Says, as the first argument, which interpreter it passes for: that of a
/// virtual environment, so that the packages of this are found.
const PASSES_FOR: &str = "--executable=";

/// The Python that is linked into this program.
///
/// Its library must be of the minor version that the program was built with.
#[derive(Debug, Clone)]
pub struct EmbeddedPython {
    link: PathBuf,
}

/// When the embedded Python runs cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddedUse {
    /// Where neither the project nor the machine has an interpreter.
    WhereNoneIsFound,
    /// Always, with the packages of the project's virtual environment if that
    /// is of the same minor version.
    Always,
}

impl EmbeddedPython {
    /// Makes a link named `python3` to this program, in a folder below `folder`
    /// that no other program uses.
    ///
    /// Cells see the link as their interpreter, so it has to stay as long as they
    /// run; it may stay for ever. `main` must begin with [`run_if_python`].
    ///
    /// # Errors
    /// The link cannot be made.
    pub fn link_in(folder: &Path) -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let mut hasher = std::hash::DefaultHasher::new();
        program.hash(&mut hasher);
        let folder = folder.join(format!("{:016x}", hasher.finish()));
        std::fs::create_dir_all(&folder)?;
        let link = folder.join(NAME);
        if std::fs::read_link(&link).is_ok_and(|target| target == program) {
            return Ok(Self { link });
        }
        // Another conversation may start from the old one at this moment.
        let fresh = folder.join(format!("{NAME}.{}", uuid::Uuid::new_v4().simple()));
        std::os::unix::fs::symlink(&program, &fresh)?;
        std::fs::rename(&fresh, &link).inspect_err(|_| {
            // What is left of a failure is of no use.
            let _ = std::fs::remove_file(&fresh);
        })?;
        Ok(Self { link })
    }

    /// Returns the link.
    #[must_use]
    pub fn link(&self) -> &Path {
        &self.link
    }

    /// Returns the arguments that make it pass for `python`.
    pub(crate) fn passing_for(python: &Path) -> OsString {
        let mut argument = OsString::from(PASSES_FOR);
        argument.push(python);
        argument
    }

    /// Returns whether the virtual environment at `prefix` is for this Python.
    pub(crate) fn fits(prefix: &Path) -> bool {
        let text = std::fs::read_to_string(prefix.join("pyvenv.cfg")).unwrap_or_default();
        let version = text.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            matches!(name.trim(), "version" | "version_info").then_some(value.trim())
        });
        version.is_some_and(|version| minor(version) == minor(&library_version()))
    }
}

/// Returns `3.11` of `3.11.7`.
fn minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.');
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

#[expect(unsafe_code, reason = "the library of Python is one of C")]
fn library_version() -> String {
    // SAFETY: may be called before the interpreter is initialised, and returns a
    // string that is never freed.
    let version = unsafe { CStr::from_ptr(pyo3_ffi::Py_GetVersion()) };
    version.to_string_lossy().into_owned()
}

/// Becomes Python if this program was started as `python3`, and does not return
/// then. The first line of `main`, before anything starts a thread.
///
/// Source: `Py_BytesMain` of the C interface of Python, which is all that the
/// program `python3` calls.
pub fn run_if_python() {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let is_python = arguments
        .first()
        .is_some_and(|program| Path::new(program).file_name() == Some(OsStr::new(NAME)));
    if !is_python {
        return;
    }
    let passes_for = arguments
        .get(1)
        .and_then(|argument| argument.as_bytes().strip_prefix(PASSES_FOR.as_bytes()))
        .map(|program| OsStr::from_bytes(program).to_owned());
    if let Some(program) = passes_for {
        arguments.splice(..2, [program]);
    }
    std::process::exit(python(&arguments));
}

#[expect(unsafe_code, reason = "the library of Python is one of C")]
fn python(arguments: &[OsString]) -> c_int {
    let arguments: Vec<CString> = arguments
        .iter()
        // What the system hands over has no null byte.
        .filter_map(|argument| CString::new(argument.as_bytes()).ok())
        .collect();
    let mut pointers: Vec<*mut c_char> = arguments
        .iter()
        .map(|argument| argument.as_ptr().cast_mut())
        .collect();
    let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
    // As a program of C gets it.
    pointers.push(std::ptr::null_mut());
    // SAFETY: `pointers` are `count` strings that end with a null byte, and live
    // until this returns; the library copies them and changes none. No other
    // thread runs, and nobody initialised the library before.
    unsafe { pyo3_ffi::Py_BytesMain(count, pointers.as_mut_ptr()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_of_another_minor_version_does_not_fit() {
        let folder = tempfile::tempdir().unwrap();
        let fits = |version: &str| {
            let text = format!("home = /usr/bin\nversion = {version}\n");
            std::fs::write(folder.path().join("pyvenv.cfg"), text).unwrap();
            EmbeddedPython::fits(folder.path())
        };
        let (major, minor) = minor(&library_version()).unwrap();
        assert!(fits(&format!("{major}.{minor}.0")));
        assert!(!fits(&format!("{major}.{}.0", minor + 1)));
        assert!(!fits("3"));
        assert!(!EmbeddedPython::fits(Path::new("/nonexistent")));
    }

    #[test]
    fn the_link_names_this_program_and_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("made");
        let first = EmbeddedPython::link_in(&inside).unwrap();
        let target = std::fs::read_link(first.link()).unwrap();
        assert_eq!(target, std::env::current_exe().unwrap());
        std::fs::remove_file(first.link()).unwrap();
        std::os::unix::fs::symlink("/nonexistent", first.link()).unwrap();
        let again = EmbeddedPython::link_in(&inside).unwrap();
        assert_eq!(std::fs::read_link(again.link()).unwrap(), target);
        let folder = first.link().parent().unwrap();
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
    }
}
