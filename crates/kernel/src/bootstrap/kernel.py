# The kernel: runs cells in the real `__main__`, and speaks with the host.
#
# Cells may break anything they can reach, so everything that is used here is
# kept under a private name (the loader gives this module builtins of its own).
# What few cells need is in modules that are compiled at first use.
import _ast
import _json
import _signal
import _thread
import builtins
import fcntl
import io
import os
import sys

VERSION = 1
MAX_FRAME = 64 << 20
# The exit codes that the host knows: the link broke, or the host is gone.
LINK_BROKEN, HOST_GONE = 76, 75
TOP_LEVEL_AWAIT, ONLY_AST = 0x2000, 0x400
FUTURES = 0x1FE0000
COROUTINE = 0x80

MAIN_THREAD = _thread.get_ident()
PID = os.getpid()
get_ident, allocate_lock, thread_count = _thread.get_ident, _thread.allocate_lock, _thread._count
getpid, os_read, os_write, os_exit = os.getpid, os.read, os.write, os._exit
os_dup, os_dup2, os_close, os_fstat = os.dup, os.dup2, os.close, os.fstat
os_open = os.open
quote = _json.encode_basestring_ascii
sigmask, SIG_BLOCK, SIG_SETMASK = _signal.pthread_sigmask, _signal.SIG_BLOCK, _signal.SIG_SETMASK
set_handler, SIGIO = _signal.signal, _signal.SIGIO
# Handlers of these may raise; between cells they wait.
HELD = [
    getattr(_signal, name)
    for name in (
        "SIGIO SIGINT SIGALRM SIGVTALRM SIGPROF SIGUSR1 SIGUSR2 SIGCHLD SIGTERM SIGHUP SIGWINCH"
    ).split()
]

main = sys.modules["__main__"]
user = main.__dict__
workspace = os.getcwd()
options = {}
cell = 0

_sources = {}
_modules = {}
_codes = {}  # lines of every cell, by file name, for tracebacks


class _State:
    running = 0  # number of the running cell, 0 between cells
    armed = False  # whether an interrupt may be raised now
    masked = 0  # above 0 while an interrupt would tear something
    cancelled = 0  # the cell that the host wants stopped
    interrupts = 0  # raised in this cell
    task = None  # the asyncio task of the cell
    loop = None  # the event loop that all cells share
    futures = 0  # flags of `from __future__` so far
    capture = -1  # write end of the cell's own output
    inode = None
    marks = 0
    notes = ()
    missed = False
    old_threads = {}  # of earlier cells, by native number: the stream of their cell


S = _State


# The link.


class _Context:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo = {}


_parse = _json.make_scanner(_Context)
_read_lock = allocate_lock()
_module_lock = _thread.RLock()
_write_lock = allocate_lock()
_inbox = bytearray()
_descriptors = []
_runs = []
_waiting = {}  # by call number: what takes the reply
_sleepers = {}  # by call number: the lock that a thread sleeps on


def _open_link(requests, frames):
    """Sets `_receive(blocking)`, which returns bytes, b"" at the end and None
    where there is nothing yet, and `_transmit(bytes)`."""
    global _receive, _transmit, _fileno
    for descriptor in {requests, frames}:
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFD)
        fcntl.fcntl(descriptor, fcntl.F_SETFD, flags | fcntl.FD_CLOEXEC)
    if requests == frames:
        import _socket

        link = _socket.socket(fileno=requests)
        receive, space = link.recvmsg, _socket.CMSG_SPACE(4)
        cloexec = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)
        at_once = cloexec | _socket.MSG_DONTWAIT

        def _receive(blocking):
            try:
                data, extras, _, _ = receive(1 << 16, space, cloexec if blocking else at_once)
            except BlockingIOError:
                return None
            for _, _, extra in extras:
                _descriptors.append(int.from_bytes(extra[:4], sys.byteorder))
            return data

        _transmit = link.sendall
        _State.link = link
    else:
        import select

        fcntl.fcntl(requests, fcntl.F_SETFL, fcntl.fcntl(requests, fcntl.F_GETFL) | os.O_NONBLOCK)
        poll = select.poll()
        poll.register(requests, select.POLLIN)

        def _receive(blocking):
            while True:
                try:
                    return os_read(requests, 1 << 16)
                except BlockingIOError:
                    if not blocking:
                        return None
                    poll.poll()

        def _transmit(data):
            data = memoryview(data)
            while data:
                data = data[os_write(frames, data) :]

    _fileno = requests
    # Rings when a frame comes, so that one that stops the cell is read at once.
    set_handler(SIGIO, _on_doorbell)
    try:
        # The main thread alone (F_SETOWN_EX, F_OWNER_TID): it runs the handler.
        owner = (0).to_bytes(4, sys.byteorder) + _thread.get_native_id().to_bytes(4, sys.byteorder)
        fcntl.fcntl(requests, 15, owner)
    except (OSError, ValueError, AttributeError):
        fcntl.fcntl(requests, fcntl.F_SETOWN, PID)
    flags = fcntl.fcntl(requests, fcntl.F_GETFL)
    fcntl.fcntl(requests, fcntl.F_SETFL, flags | os.O_ASYNC if hasattr(os, "O_ASYNC") else flags | 0x2000)
    os.register_at_fork(after_in_child=_forget_link)


def _forget_link():
    """In a forked child: the link is its parent's."""
    for descriptor in {_fileno, S.capture}:
        try:
            os_close(descriptor)
        except OSError:
            pass
    S.capture = -1


class Json(str):
    """Text that is JSON already."""


def text_of(value):
    """Returns `value` with what UTF-8 cannot hold escaped."""
    try:
        value.encode("utf-8")
        return value
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode("utf-8")


def encode(value, path="args", depth=0):
    """Returns `value` as JSON text; names the place of what JSON has no form for."""
    kind = type(value)
    if kind is Json:
        return str(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(text_of(str(value)))
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise TypeError("%s is %r, which JSON has no form for" % (path, value))
        return float.__repr__(value)
    if depth > 100:
        raise TypeError("%s is nested too deep" % path)
    if isinstance(value, dict):
        parts = []
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError("%s has the key %r, which is no string" % (path, key))
            inside = "%s[%r]" % (path, key)
            parts.append(quote(text_of(str(key))) + ":" + encode(item, inside, depth + 1))
        return "{" + ",".join(parts) + "}"
    if isinstance(value, (list, tuple)):
        items = (encode(item, "%s[%d]" % (path, at), depth + 1) for at, item in enumerate(value))
        return "[" + ",".join(items) + "]"
    raise TypeError(
        "%s is of type `%s`, which JSON has no form for: pass a string, a number, a list or a dict"
        % (path, kind.__name__)
    )


def send(frame, binary=None):
    """Sends one frame, and the raw bytes that belong to it."""
    data = encode(frame).encode("ascii")
    if len(data) + 1 > MAX_FRAME or (binary is not None and len(binary) + 1 > MAX_FRAME):
        raise ValueError("too large to send: at most 64 MB go at once")
    data = (len(data) + 1).to_bytes(4, "big") + b"J" + data
    if binary is not None:
        data += (len(binary) + 1).to_bytes(4, "big") + b"B" + bytes(binary)
    is_main = get_ident() == MAIN_THREAD
    if getpid() != PID:
        raise RuntimeError("a forked child has no link to the host")
    if is_main:
        S.masked += 1
    # Signals whose handlers raise would tear a frame that goes in pieces.
    held = sigmask(SIG_BLOCK, HELD) if len(data) > 16384 else None
    try:
        with _write_lock:
            _transmit(data)
    except OSError:
        os_exit(LINK_BROKEN)
    finally:
        if is_main:
            S.masked -= 1
        if held is not None:
            sigmask(SIG_SETMASK, held)


def pump(blocking, has_come=None):
    """Reads what has come and hands it out; blocking, at least one piece, unless
    what is waited for `has_come` since the caller looked.

    Whoever finds somebody else reading leaves it to them."""
    is_main = get_ident() == MAIN_THREAD
    was_blocking = blocking
    while True:
        if not _read_lock.acquire(False):
            S.missed = True
            return
        if is_main:
            S.masked += 1
        S.missed = False
        try:
            data = None if has_come is not None and has_come() else _receive(blocking)
            while data:
                _inbox.extend(data)
                _take_frames()
                blocking = False
                data = _receive(False)
        except OSError:
            os_exit(LINK_BROKEN)
        finally:
            if is_main:
                S.masked -= 1
            _read_lock.release()
        if data is not None:
            _lose_host()
        if S.cancelled and not is_main:
            _signal.pthread_kill(MAIN_THREAD, SIGIO)
        if not S.missed:
            break
        blocking = False
    if not was_blocking:
        wake_one()


def wake_one():
    """Wakes a thread that waits for a reply, to read on if nobody does."""
    for sleeper in list(_sleepers.values()):
        try:
            sleeper.release()
        except RuntimeError:
            # It is awake.
            continue
        return


def _lose_host():
    """Nobody reads what comes from here: ends the children, then itself."""
    if S.running:
        try:
            set_handler(_signal.SIGTERM, _signal.SIG_IGN)
            if os.getpgrp() == PID:
                os.killpg(PID, _signal.SIGKILL)
        finally:
            os_exit(HOST_GONE)
    _runs.append(None)


def _take_frames():
    while len(_inbox) >= 4:
        size = int.from_bytes(_inbox[:4], "big")
        if size > MAX_FRAME:
            os_exit(LINK_BROKEN)
        if len(_inbox) < 4 + size:
            return
        body = bytes(_inbox[4 : 4 + size])
        del _inbox[: 4 + size]
        frame = _parse(body[1:].decode("utf-8"), 0)[0]
        kind = frame["frame"]
        if kind == "cancel":
            if frame["cell"] == S.running:
                S.cancelled = frame["cell"]
        elif kind == "reply":
            take = _waiting.pop(frame["call"], None)
            if take is not None:
                take(frame)
        elif kind == "run":
            _runs.append(frame)
        elif kind == "exit":
            _runs.append(None)
        elif kind == "init":
            _runs.append(frame)


def _on_doorbell(signal, frame):
    if getpid() != PID:
        return
    pump(False)
    check_interrupt(frame)


def _on_interrupt(signal, frame):
    # From outside, not from the host: between cells it means nothing.
    if S.armed and not S.masked and getpid() == PID:
        raise KeyboardInterrupt
    if getpid() != PID:
        raise KeyboardInterrupt


def check_interrupt(frame=None):
    """In the main thread: stops the cell if the host wants that."""
    if not S.cancelled or S.cancelled != S.running or not S.armed or S.masked:
        return
    S.cancelled = 0
    S.interrupts += 1
    if S.task is not None and frame is not None and module("tasks").cancel(frame):
        return
    raise KeyboardInterrupt


# What the other modules use.


def module(name):
    """Returns a module of the bootstrap, compiled at first use."""
    found = _modules.get(name)
    if found is not None:
        return found
    is_main = get_ident() == MAIN_THREAD
    if is_main:
        S.masked += 1
    try:
        # Threads that need one at the same time must get the same one.
        with _module_lock:
            found = _modules.get(name)
            if found is None:
                found = type(sys)("__toolset_%s__" % name)
                found.__dict__["__builtins__"] = __builtins__
                found.__dict__["kernel"] = sys.modules["__toolset__"] = _self
                code = compile(_sources[name], "<toolset %s>" % name, "exec", 0, True)
                exec(code, found.__dict__)
                _modules[name] = found
    finally:
        if is_main:
            S.masked -= 1
    return found


def flush():
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
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
    while not _runs:
        if _read_lock.locked():
            # A thread of an earlier cell reads: what it takes in may be for here.
            with _read_lock:
                continue
        pump(True, lambda: _runs)
    return _runs.pop(0)


def _prepare():
    S.quiet = sigmask(SIG_BLOCK, [])
    S.mask = S.quiet - set(HELD)
    set_handler(_signal.SIGINT, _on_interrupt)
    S.first_streams = sys.stdout, sys.stderr
    S.stdout = sys.stdout = sys.__stdout__ = _open_stream(1)
    S.stderr = sys.stderr = sys.__stderr__ = _open_stream(2)
    S.stdin = sys.stdin = sys.__stdin__ = _NoInput(
        io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8"
    )
    sys.meta_path.insert(0, _Imports)
    for one in _OFFERED:
        setattr(builtins, one.__name__, one)
    try:
        # When memory runs out, this process goes before the one that started it.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        pass


class _Stream(io.TextIOWrapper):
    """Standard output or error.

    While threads of earlier cells are alive, it has a `write` that sends what
    they write to the output of their own cell."""


def _open_stream(descriptor, kind=_Stream):
    return kind(
        io.BufferedWriter(io.FileIO(descriptor, "w", closefd=descriptor > 2)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )


def _routed_write(self, text, _write=io.TextIOWrapper.write):
    late = S.old_threads.get(_thread.get_native_id())
    return _write(self, text) if late is None else late.write(text)


def _part_threads():
    """Before the next cell begins: gives the threads that are alive the output
    of the cell that they belong to, for good."""
    old, S.old_threads = S.old_threads, {}
    if thread_count():
        try:
            alive = {int(name) for name in os.listdir("/proc/self/task")} - {PID}
        except OSError:
            alive = set()
        S.old_threads = {thread: late for thread, late in old.items() if thread in alive}
        new = alive.difference(old)
        if new:
            late = _open_stream(_out_of_reach(os_dup(S.capture)), io.TextIOWrapper)
            S.old_threads.update((thread, late) for thread in new)
    for late in set(old.values()).difference(S.old_threads.values()):
        late.close()
    if S.old_threads:
        _Stream.write = _routed_write
    elif "write" in _Stream.__dict__:
        del _Stream.write


class _NoInput(io.TextIOWrapper):
    def _refuse(self, *_):
        raise EOFError(
            "a cell has no standard input: write the value into the code, or ask the user first"
        )

    read = readline = readlines = __next__ = _refuse


class _Imports:
    """Notices when a module is imported that the kernel must prepare."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _prepared:
            return None
        for finder in sys.meta_path:
            if finder is not _Imports:
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
        else:
            return None
        run = spec.loader.exec_module

        class Loader:
            def exec_module(self, module):
                run(module)
                _prepared[name](module)

            def __getattr__(self, attribute):
                return getattr(loader, attribute)

            def create_module(self, spec):
                return loader.create_module(spec)

        loader = spec.loader
        spec.loader = Loader()
        return spec


def _fill_lines(linecache):
    for name, lines in _codes.items():
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)


def _set_loop(asyncio):
    module("tasks").set_loop()


def _prefer_fork(multiprocessing):
    # Cells cannot be imported, so workers that start anew would not find them.
    if sys.platform == "linux":
        context = multiprocessing.context
        context._default_context._default_context = context._concrete_contexts["fork"]


def _adapt(library):
    module("imports").adapt(library)


_prepared = {
    "linecache": _fill_lines,
    "asyncio": _set_loop,
    "matplotlib.pyplot": _adapt,
    "IPython.core.display_functions": _adapt,
    "plotly.basedatatypes": _adapt,
}
if sys.version_info >= (3, 14):
    _prepared["multiprocessing"] = _prefer_fork


def _begin(number):
    """Points output at the cell's own pipe, and mends what cells before broke."""
    global cell
    notes = []
    if _descriptors:
        # It may have come as 1 or 2, where a cell closed these.
        capture = _out_of_reach(_descriptors.pop(0))
        if S.inode is not None:
            notes = _broken()
            _part_threads()
            _drop_unwritten()
        os_dup2(capture, 1)
        os_dup2(capture, 2)
        old, S.capture = S.capture, capture
        if old >= 0:
            try:
                os_close(old)
            except OSError:
                pass
        S.inode = os_fstat(S.capture).st_ino
    elif S.capture < 0:
        S.capture = _out_of_reach(os_dup(2))
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        ours = getattr(S, name)
        now = getattr(sys, name, None)
        if now is ours and not ours.closed:
            continue
        if ours.closed:
            ours = _open_stream(descriptor)
            setattr(S, name, ours)
        setattr(sys, name, ours)
        setattr(sys, "__%s__" % name, ours)
        notes.append("`sys.%s` was replaced or closed by an earlier cell and is restored" % name)
    try:
        os_fstat(0)
    except OSError:
        # Closed by a cell. The lowest free number is the one that is wanted.
        null = os_open(os.devnull, os.O_RDWR)
        if null != 0:
            os_dup2(null, 0)
            os_close(null)
    if sys.stdin is not S.stdin or S.stdin.closed:
        S.stdin = sys.stdin = _NoInput(
            io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8"
        )
    set_handler(SIGIO, _on_doorbell)
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None:
        module("tasks").set_loop()
    if options["marks_end"]:
        flush()
        os_write(S.capture, _mark((1 << 40) + number))
    cell = S.running = number
    S.cancelled = S.interrupts = 0
    for text in notes:
        note(text)


def _drop_unwritten():
    """Empties the streams of what an earlier cell wrote where nothing was open.

    It would come out as output of the next cell."""
    for stream, descriptor in ((S.stdout, 1), (S.stderr, 2)):
        if stream.closed:
            continue
        try:
            stream.flush()
        except Exception:
            null = os_open(os.devnull, os.O_WRONLY)
            if null != descriptor:
                os_dup2(null, descriptor)
                os_close(null)
            try:
                stream.flush()
            except Exception:
                pass


def _broken():
    """Returns what an earlier cell did to the descriptors of its output."""
    for descriptor in (1, 2):
        try:
            if os_fstat(descriptor).st_ino != S.inode:
                raise OSError
        except OSError:
            return [
                "descriptor %d was closed or redirected by an earlier cell and is restored"
                % descriptor
            ]
    return []


def _out_of_reach(descriptor):
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
            _end_child(error)
        frame["status"] = "error"
        try:
            _describe(frame, error)
        except BaseException as fault:
            frame["error"] = {
                "type": type(error).__name__,
                "message": "",
                "traceback": "%s (it cannot be shown: %s)"
                % (type(error).__name__, type(fault).__name__),
            }
        error = None
    if getpid() != PID:
        _end_child(None)
    flush()
    _finish(frame)


def _end_child(error):
    """A forked child came to the end of the cell: it must not go on here."""
    code = 0
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        code = 1
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except BaseException:
            pass
    flush()
    os_exit(code & 255)


def _finish(frame):
    if S.interrupts:
        frame["interrupts"] = S.interrupts
    if "asyncio" in sys.modules:
        pending = module("tasks").pending()
        if pending:
            frame["pending_tasks"] = pending
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        frame["children"] = True
    except (OSError, AttributeError):
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
    _codes[name] = lines
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
        raise _explained(error, source) from None
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
    if isinstance(refused, IndentationError):
        level = _dedent(source)
        try:
            return compile(level, name, "exec", flags, True), level
        except (SyntaxError, ValueError):
            pass
    if not isinstance(refused, SyntaxError):
        raise SyntaxError(str(refused)) from None
    plain = module("idioms").rewrite(source)
    if plain != source:
        return compile(plain, name, "exec", flags, True), plain
    raise _explained(refused, source) from None


def _dedent(source):
    """Takes away the indent that all lines share."""
    lines = source.splitlines(True)
    margin = None
    for line in lines:
        text = line.lstrip(" \t")
        if not text.strip() or text.startswith("#"):
            continue
        indent = line[: len(line) - len(text)]
        if margin is None:
            margin = indent
        while not indent.startswith(margin):
            margin = margin[:-1]
    cut = len(margin or "")
    return "".join(line[cut:] if line[:cut] == margin else line.lstrip(" \t") for line in lines)


def _is_silenced(statement, source):
    """Returns whether a `;` follows the last statement."""
    line = source.splitlines()[statement.end_lineno - 1]
    rest = line.encode("utf-8", "surrogatepass")[statement.end_col_offset :]
    return rest.lstrip().startswith(b";")


def _explained(error, source):
    if error.msg and error.msg.startswith("'return' outside"):
        error.msg += ": write the value as the last line of the cell"
    elif error.msg and error.msg.startswith("'yield' outside"):
        error.msg += ": put it into a function, or print the values"
    lines = source.splitlines()
    if error.text is None and error.lineno and error.lineno <= len(lines):
        error.text = lines[error.lineno - 1]
    return error


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


def _describe(frame, error):
    """Says in `frame` how the cell failed."""
    if isinstance(error, SystemExit) and error.code in (None, 0, False):
        frame["status"] = "exit"
        return
    if isinstance(error, KeyboardInterrupt) and S.interrupts:
        frame["status"] = "interrupted"
    frame["error"] = module("errors").describe(error)
