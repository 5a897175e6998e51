//! What an interpreter runs so that it becomes a kernel; text, so that nothing
//! has to be installed where it runs.

/// Started with `-c`; reads the kernel from its descriptor.
pub(crate) const LOADER: &str = include_str!("bootstrap/loader.py");

/// The kernel, sent first.
pub(crate) const KERNEL: &str = concat!(
    include_str!("bootstrap/link.py"),
    include_str!("bootstrap/kernel.py"),
    include_str!("bootstrap/cells.py")
);

/// Sent with it where only three streams exist.
pub(crate) const STREAMS: &str = include_str!("bootstrap/streams.py");

/// Modules that the kernel compiles when a cell first needs them.
pub(crate) const MODULES: &[(&str, &str)] = &[
    ("bridge", include_str!("bootstrap/bridge.py")),
    ("display", include_str!("bootstrap/display.py")),
    ("errors", include_str!("bootstrap/errors.py")),
    ("figures", include_str!("bootstrap/figures.py")),
    ("hooks", include_str!("bootstrap/hooks.py")),
    ("idioms", include_str!("bootstrap/idioms.py")),
    ("imports", include_str!("bootstrap/imports.py")),
    ("lexer", include_str!("bootstrap/lexer.py")),
    ("magics", include_str!("bootstrap/magics.py")),
    ("markup", include_str!("bootstrap/markup.py")),
    ("mend", include_str!("bootstrap/mend.py")),
    ("pip", include_str!("bootstrap/pip.py")),
    ("plain", include_str!("bootstrap/plain.py")),
    ("reading", include_str!("bootstrap/reading.py")),
    ("running", include_str!("bootstrap/running.py")),
    ("shell", include_str!("bootstrap/shell.py")),
    ("shown", include_str!("bootstrap/shown.py")),
    ("tables", include_str!("bootstrap/tables.py")),
    ("tasks", include_str!("bootstrap/tasks.py")),
    ("text", include_str!("bootstrap/text.py")),
    ("values", include_str!("bootstrap/values.py")),
];
