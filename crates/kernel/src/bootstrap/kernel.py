# The second part of the kernel: what the other modules and cells use, and how it
# waits for cells.
#
# What few cells need is in modules that are compiled at first use.

# What the other modules use.


def module(name):
    """Returns a module of the bootstrap, compiled at first use."""
    found = _modules.get(name)
    return _load(name) if found is None else found


def _load(name):
    is_main = get_ident() == MAIN_THREAD
    if is_main:
        S.masked += 1
    try:
        # Two threads must not have two modules of one name; a module may load
        # others.
        with _load_lock:
            found = _modules.get(name)
            if found is None:
                found = type(sys)("__toolset_%s__" % name)
                found.__dict__.update(__builtins__=__builtins__, kernel=_self)
                code = compile(_sources[name], "<toolset %s>" % name, "exec", 0, True)
                exec(code, found.__dict__)
                _modules[name] = found
            return found
    finally:
        if is_main:
            unmask()


def flush():
    # A cell may have deleted or replaced its streams, with text left in ours.
    for holder, name in ((sys, "stdout"), (sys, "stderr"), (S, "stdout"), (S, "stderr")):
        try:
            getattr(holder, name).flush()
        except Exception:
            pass


def write_mark():
    """Marks a place in the output; the number says which mark it is."""
    flush()
    S.marks += 1
    try:
        os_write(S.capture, _mark(S.marks))
    except OSError:
        return 0
    return S.marks


def _mark(number):
    return b"\x1b]%s;%d\x07" % (options["token"].encode("ascii"), number)


def send_display(*parts, **options):
    """Shows text (str) or an image (bytes) at this place of the output."""
    module("shown").send(*parts, **options)


def note(text):
    """Adds one line that is shown with the result."""
    send({"frame": "note", "cell": S.running or cell, "text": str(text)})


# What cells use.


class ToolError(Exception):
    """A tool of the harness failed; the text is its message.

    `kind` tells why, for example "not_found" or "denied"."""

    def __init__(self, message, tool=None, kind=None):
        super().__init__(message)
        self.tool = tool
        self.kind = kind


def tool(name, args=None, **more):
    """Calls a tool of the harness and returns its text, with `.details`.

    Raises `ToolError` with the tool's message where it fails. May be called
    from any thread."""
    return module("bridge").call(name, args, more)


def tool_async(name, args=None, **more):
    """The same as `tool`, to be awaited: calls may overlap."""
    return module("bridge").call_async(name, args, more)


def display(*objects, **options):
    """Shows objects where they are, as the last expression of a cell is shown."""
    return module("display").display(*objects, **options)


_OFFERED = (tool, tool_async, display, ToolError)
for _one in _OFFERED:
    _one.__module__ = "builtins"


# Waiting for cells.


def serve(requests, frames):
    global _self, options
    _self = sys.modules["__toolset__"]
    _open_link(requests, frames)
    sigmask(SIG_BLOCK, HELD)
    first = _next()
    if first is None:
        return
    _sources.update(first["sources"])
    options = first["options"]
    _prepare()
    send(
        {
            "frame": "ready",
            "version": VERSION,
            "python": "%d.%d.%d" % sys.version_info[:3],
            "executable": sys.executable,
            "prefix": sys.prefix,
            "pid": PID,
        }
    )
    while True:
        frame = _next()
        if frame is None:
            return
        wake_one()
        _run(frame["cell"], frame["code"])


def _next():
    """Waits for the next frame that is for the main thread."""
    S.masked = 0
    mend_lock()
    while not _runs:
        if _read_lock.locked():
            # A thread that waits for a reply reads: it wakes us.
            _sleepers[0] = _idle
            if _read_lock.locked() and not _runs:
                _idle.acquire()
            _sleepers.pop(0, None)
        else:
            pump(True, lambda: _runs)
    return _runs.pop(0)


def _prepare():
    S.quiet = sigmask(SIG_BLOCK, [])
    S.mask = S.quiet - set(HELD)
    set_handler(SIGINT, _on_interrupt)
    S.first_streams = sys.stdout, sys.stderr
    # A stream remembers whether it could seek at first, and this one never can.
    os_dup2(2, 1)
    S.stdout = sys.stdout = sys.__stdout__ = open_stream(1)
    S.stderr = sys.stderr = sys.__stderr__ = open_stream(2)
    S.stdin = sys.stdin = sys.__stdin__ = no_input()
    sys.meta_path.insert(0, Imports)
    reserve()
    for one in _OFFERED:
        setattr(builtins, one.__name__, one)
    try:
        # When memory runs out, this process goes before the one that started it.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        pass


class Stream(io.TextIOWrapper):
    """Standard output or error.

    While threads of earlier cells are alive, it has a `write` that sends what
    they write to the output of their own cell."""


def open_stream(descriptor, kind=Stream):
    return kind(
        io.BufferedWriter(io.FileIO(descriptor, "w", closefd=descriptor > 2)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )


class _NoInput(io.TextIOWrapper):
    def _refuse(self, *_):
        raise EOFError(
            "a cell has no standard input: write the value into the code, or ask the user first"
        )

    read = readline = readlines = __next__ = _refuse


def no_input():
    return _NoInput(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")


class Imports:
    """Notices when a module is imported that the kernel must prepare."""

    names = {
        "linecache",
        "asyncio",
        "matplotlib.pyplot",
        "IPython.core.display_functions",
        "plotly.basedatatypes",
    }
    if sys.version_info >= (3, 14):
        names.add("multiprocessing")

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in Imports.names:
            return module("hooks").spec_of(name, path, target)
        return None
