# The second half of the kernel: runs cells in the real `__main__`.
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
            S.masked -= 1


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


def send_display(mime, data, width=None, height=None, note=None):
    """Shows text (str) or an image (bytes) at this place of the output."""
    frame = {"frame": "display", "cell": S.running or cell, "mime": mime, "mark": write_mark()}
    for key, value in (("width", width), ("height", height), ("note", note)):
        if value is not None:
            frame[key] = value
    if isinstance(data, str):
        frame["text"] = data
        send(frame)
    else:
        frame["binary"] = True
        send(frame, data)


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


# Running a cell.


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
    set_handler(_signal.SIGINT, _on_interrupt)
    S.first_streams = sys.stdout, sys.stderr
    S.stdout = sys.stdout = sys.__stdout__ = open_stream(1)
    S.stderr = sys.stderr = sys.__stderr__ = open_stream(2)
    S.stdin = sys.stdin = sys.__stdin__ = no_input()
    sys.meta_path.insert(0, Imports)
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


def _begin(number):
    """Points output at the cell's own pipe, and mends what cells before broke."""
    global cell
    notes, S.broken = S.broken, []
    if _descriptors:
        # It may have come as 1 or 2, where a cell closed these.
        capture = out_of_reach(_descriptors.pop(0))
        if S.inode is not None and not is_ours(1, 2):
            notes += module("mend").descriptors()
        if thread_count() or S.old_threads:
            module("mend").part_threads()
        os_dup2(capture, 1)
        os_dup2(capture, 2)
        old, S.capture = S.capture, capture
        if old >= 0:
            try:
                os_close(old)
            except OSError:
                pass
    elif S.capture < 0:
        S.capture = out_of_reach(os_dup(2))
    S.inode = os_fstat(S.capture).st_ino
    if not _has_streams():
        notes += module("mend").streams()
    set_handler(SIGIO, _on_doorbell)
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None:
        module("tasks").set_loop()
    if options["marks_end"]:
        flush()
        os_write(S.capture, _mark((1 << 40) + number))
    cell = S.running = number
    S.cancelled = S.interrupts = 0
    S.signalled = False
    for text in notes:
        note(text)


def _has_streams():
    try:
        os_fstat(0)
        return (
            sys.stdout is S.stdout
            and sys.stderr is S.stderr
            and sys.stdin is S.stdin
            and not (S.stdout.closed or S.stderr.closed or S.stdin.closed)
        )
    except (OSError, AttributeError):
        return False


def is_ours(*descriptors):
    try:
        return all(os_fstat(descriptor).st_ino == S.inode for descriptor in descriptors)
    except OSError:
        return False


def out_of_reach(descriptor):
    """Moves a descriptor to where loops that close descriptors seldom come."""
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 512)
    except (OSError, ValueError):
        return descriptor
    os_close(descriptor)
    return moved


def _run(number, code):
    _begin(number)
    frame = {"frame": "done", "cell": number, "status": "ok"}
    try:
        try:
            sigmask(SIG_SETMASK, S.mask)
            S.armed = True
            value = _execute(number, code)
            if value is not None:
                frame["value"] = value
        finally:
            # Figures that are open stand beside an error too.
            if "matplotlib.pyplot" in sys.modules and getpid() == PID and S.interrupts < 2:
                module("display").end_of_cell()
            S.armed = False
            S.mask = sigmask(SIG_BLOCK, HELD)
    except BaseException as error:
        if getpid() != PID:
            module("errors").end_child(error)
        frame["status"] = "error"
        try:
            module("errors").fill(frame, error)
        except BaseException as fault:
            frame["error"] = {
                "type": type(error).__name__,
                "message": "",
                "traceback": "%s (it cannot be shown: %s)"
                % (type(error).__name__, type(fault).__name__),
            }
        error = None
    if getpid() != PID:
        module("errors").end_child(None)
    flush()
    if not is_ours(1, 2):
        S.broken = module("mend").descriptors()
    _finish(frame)


def _finish(frame):
    if S.interrupts:
        frame["interrupts"] = S.interrupts
    if "asyncio" in sys.modules:
        pending = module("tasks").pending()
        if pending:
            frame["pending_tasks"] = pending
    try:
        wait_any()
        frame["children"] = True
    except OSError:
        # There is none.
        pass
    frame["mark"] = write_mark() if options["marks_end"] else 0
    S.running = 0
    # Nothing may call back once the host has been told.
    send(frame)


def _execute(number, source):
    name = "<cell %d>" % number
    if source[:1] == "\ufeff":
        source = source[1:]
    lines = source.splitlines(True)
    codes[name] = lines
    linecache = sys.modules.get("linecache")
    if linecache is not None:
        linecache.cache[name] = (len(source), None, lines, name)
    tree, source = _read(source, name)
    last = None
    if tree.body and type(tree.body[-1]) is _ast.Expr and not _is_silenced(tree.body[-1], source):
        last = _ast.Expression(tree.body.pop().value)
    flags = S.futures | TOP_LEVEL_AWAIT
    try:
        code = compile(tree, name, "exec", flags, True)
        flags |= code.co_flags & FUTURES
        if last is not None:
            last = compile(last, name, "eval", flags, True)
    except SyntaxError as error:
        raise module("reading").explained(error, source) from None
    S.futures |= flags & FUTURES
    if tree.body:
        _evaluate(code)
    if last is None:
        return None
    value = _evaluate(last)
    if value is None:
        return None
    builtins._ = value
    text = _plain(value)
    if text is None:
        text = module("display").value_text(value)
    return None if text is None else text_of(text)


def _read(source, name):
    """Parses a cell; rewrites its idioms only if it is no Python as it is."""
    flags = S.futures | TOP_LEVEL_AWAIT | ONLY_AST
    try:
        return compile(source, name, "exec", flags, True), source
    except (SyntaxError, ValueError) as error:
        refused = error
    return module("reading").read(source, name, flags, refused)


def _is_silenced(statement, source):
    """Returns whether a `;` follows the last statement."""
    line = source.splitlines()[statement.end_lineno - 1]
    rest = line.encode("utf-8", "surrogatepass")[statement.end_col_offset :]
    return rest.lstrip().startswith(b";")


def _evaluate(code):
    if not code.co_flags & COROUTINE:
        return eval(code, user)
    return module("tasks").run(eval(code, user))


_ATOMS = {type(None), bool, float}
_LISTS = {list, tuple, set, frozenset}


def _plain(value):
    """Returns the text of small values of the commonest types, else None."""
    return repr(value) if _is_plain(value, [64], 0) else None


def _is_plain(value, room, depth):
    room[0] -= 1
    if room[0] < 0 or depth > 4:
        return False
    kind = type(value)
    if kind is int:
        return value.bit_length() < 1024
    if kind is str or kind is bytes:
        return len(value) < 1000
    if kind in _ATOMS:
        return True
    if kind in _LISTS:
        return len(value) <= room[0] and all(_is_plain(item, room, depth + 1) for item in value)
    if kind is dict:
        return len(value) <= room[0] and all(
            _is_plain(key, room, depth + 1) and _is_plain(item, room, depth + 1)
            for key, item in value.items()
        )
    return False
