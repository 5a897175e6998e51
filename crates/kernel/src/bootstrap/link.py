# The first part of the kernel: what it keeps, and how it speaks with the host.
#
# Cells may break anything they can reach, so everything that is used here is
# kept under a private name (the loader gives this module builtins of its own).
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
set_handler, SIGIO, SIGINT = _signal.signal, _signal.SIGIO, _signal.SIGINT
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
_load_lock = _thread.RLock()
codes = {}  # lines of every cell, by file name, for tracebacks


def wait_any(
    waitid=getattr(os, "waitid", None),
    of=(getattr(os, "P_ALL", 0), 0, os.WNOHANG | getattr(os, "WEXITED", 0) | getattr(os, "WNOWAIT", 0)),
):
    """Raises where this process has no children; collects none."""
    if waitid is None:
        raise OSError
    return waitid(*of)


class _State:
    running = 0  # number of the running cell, 0 between cells
    armed = False  # whether an interrupt may be raised now
    masked = 0  # above 0 while an interrupt would tear something
    cancelled = 0  # the cell that the host wants stopped
    interrupts = 0  # raised in this cell
    task = None  # the asyncio task of the cell
    loop = None  # the event loop that all cells share
    futures = 0  # flags of `from __future__` so far
    began = False  # whether something of this cell has run
    capture = -1  # write end of the cell's own output
    spare = -1  # held so that the next cell's can be received
    inode = None
    broken = []  # what this cell did to its output
    marks = 0
    notes = ()
    missed = False
    reader = 0  # the thread that holds the lock for reading
    writing = False  # whether the main thread sends
    signalled = False  # an interrupt from outside came while masked
    announced = False  # the host sends an interrupt signal besides its frame
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
_write_lock = allocate_lock()
_inbox = bytearray()
_descriptors = []
_runs = []
_waiting = {}  # by call number: what takes the reply
_sleepers = {}  # by call number, 0 the main thread: the lock that it sleeps on
_idle = allocate_lock()
_idle.acquire()


def _open_link(requests, frames):
    """Sets `_wait_for_data()`; `_receive()`, which returns bytes, b"" at the end
    and None where there is nothing yet; and `_transmit(bytes)`."""
    global _wait_for_data, _receive, _transmit, _fileno
    for descriptor in {requests, frames}:
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFD)
        fcntl.fcntl(descriptor, fcntl.F_SETFD, flags | fcntl.FD_CLOEXEC)
    if requests == frames:
        import _socket

        link = _socket.socket(fileno=requests)
        receive, space = link.recvmsg, _socket.CMSG_SPACE(4)
        at_once = getattr(_socket, "MSG_CMSG_CLOEXEC", 0) | _socket.MSG_DONTWAIT
        look, peek = link.recv, _socket.MSG_PEEK

        def _wait_for_data():
            look(1, peek)

        def _receive():
            try:
                data, extras, _, _ = receive(1 << 16, space, at_once)
            except BlockingIOError:
                return None
            for _, _, extra in extras:
                _descriptors.append(int.from_bytes(extra[:4], sys.byteorder))
            return data

        _transmit = link.sendall
        _State.link = link
    else:
        _wait_for_data, _receive, _transmit = open_streams(requests, frames)
    _fileno = requests
    # Rings when a frame comes, so that one that stops the cell is read at once.
    set_handler(SIGIO, _on_doorbell)
    if sys.platform == "linux":
        # The main thread alone (F_SETOWN_EX, F_OWNER_TID): it runs the handler.
        owner = bytes(4) + _thread.get_native_id().to_bytes(4, sys.byteorder)
        fcntl.fcntl(requests, 15, owner)
    else:
        fcntl.fcntl(requests, fcntl.F_SETOWN, PID)
    # O_ASYNC, which Python names on some systems only.
    rings = getattr(os, "O_ASYNC", 0x2000)
    fcntl.fcntl(requests, fcntl.F_SETFL, fcntl.fcntl(requests, fcntl.F_GETFL) | rings)
    os.register_at_fork(after_in_child=_forget_link)


def _forget_link():
    """In a forked child: the link is its parent's."""
    for descriptor in {_fileno, S.capture}:
        let_go(descriptor)
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


def encode(value):
    """Returns what a frame is made of as JSON text."""
    if isinstance(value, dict):
        return "{%s}" % ",".join([quote(key) + ":" + encode(item) for key, item in value.items()])
    if isinstance(value, str):
        return str(value) if type(value) is Json else quote(text_of(str(value)))
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    return int.__repr__(value)


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
        if S.writing and has_interrupted():
            raise RuntimeError("this code interrupted another that was sending: it cannot send")
        S.masked += 1
        S.writing = True
    # Signals whose handlers raise would tear a frame that goes in pieces.
    held = sigmask(SIG_BLOCK, HELD) if len(data) > 16384 else None
    try:
        with _write_lock:
            _transmit(data)
    except OSError:
        os_exit(LINK_BROKEN)
    finally:
        if held is not None:
            sigmask(SIG_SETMASK, held)
        if is_main:
            S.writing = False
            unmask()


def has_interrupted():
    """Returns whether the caller is a signal handler or a finalizer that came in
    the middle of `send` or `pump`, whose locks it would wait for in vain."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code is send.__code__ or frame.f_code is pump.__code__:
            return True
        frame = frame.f_back
    return False


def pump(blocking, has_come=None):
    """Reads what has come and hands it out; blocking, at least one piece, unless
    what is waited for `has_come` since the caller looked.

    Whoever finds somebody else reading leaves it to them."""
    is_main = get_ident() == MAIN_THREAD
    was_blocking = blocking
    while True:
        # Masked around the lock: an interrupt in between would leave it held.
        if is_main:
            S.masked += 1
        try:
            if not _read_lock.acquire(False):
                S.missed = True
                return
            S.reader = get_ident()
            S.missed = False
            try:
                if blocking and not (has_come and has_come()):
                    # Takes nothing: whatever a handler raises, nothing is lost.
                    _wait_for_data()
                data = _receive()
                while data:
                    _inbox.extend(data)
                    _take_frames()
                    data = _receive()
            except OSError:
                os_exit(LINK_BROKEN)
            finally:
                S.reader = 0
                _read_lock.release()
        finally:
            if is_main:
                S.masked -= 1
        if data is not None:
            _lose_host()
        if S.cancelled and not is_main:
            _signal.pthread_kill(MAIN_THREAD, SIGIO)
        if not S.missed:
            break
        blocking = False
    if not was_blocking:
        wake_one()


def mend_lock():
    """In the main thread, outside of `pump`: a handler of the user's may have
    raised at the one moment that leaves the lock held."""
    if S.reader == MAIN_THREAD and _read_lock.locked():
        S.reader = 0
        _read_lock.release()


def wake_one():
    """Wakes a thread that waits for a reply, to read on if nobody does."""
    for sleeper in list(_sleepers.values()):
        if _rouse(sleeper):
            return


def _rouse(sleeper):
    try:
        sleeper.release()
    except RuntimeError:
        # It is awake.
        return False
    return True


def _lose_host():
    """Nobody reads what comes from here: ends the children, then itself."""
    if S.running:
        try:
            set_handler(_signal.SIGTERM, _signal.SIG_IGN)
            if os.getpgrp() == PID:
                os.killpg(PID, _signal.SIGKILL)
        finally:
            os_exit(HOST_GONE)
    _hand_over(None)


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
            S.announced = S.announced or frame["signals"]
            if frame["cell"] == S.running:
                S.cancelled = frame["cell"]
        elif kind == "reply":
            take = _waiting.pop(frame["call"], None)
            if take is not None:
                take(frame)
        elif kind == "run" or kind == "init":
            _hand_over(frame)
        elif kind == "exit":
            _hand_over(None)


def _hand_over(frame):
    _runs.append(frame)
    if get_ident() != MAIN_THREAD:
        _rouse(_idle)


def _on_doorbell(signal, frame):
    if getpid() != PID:
        return
    pump(False)
    check_interrupt(frame)


def _on_interrupt(signal, frame):
    if getpid() != PID:
        raise KeyboardInterrupt
    # The host announces its own, for a cell that turned the doorbell off.
    pump(False)
    if S.announced:
        S.announced = False
        check_interrupt(frame)
        return
    # From elsewhere; between cells it means nothing.
    if S.armed and not S.masked:
        raise KeyboardInterrupt
    S.signalled = S.armed


def forget_signals():
    """Between cells: what was meant for the one before must not hit the next."""
    S.signalled = False
    if S.announced:
        S.announced = False
        if SIGINT in _signal.sigpending():
            _signal.sigwait([SIGINT])


def unmask():
    """Ends what began with `S.masked += 1`; stops the cell if that came meanwhile."""
    S.masked -= 1
    if S.cancelled or S.signalled:
        check_interrupt()


def check_interrupt(frame=None):
    """In the main thread: stops the cell if the host wants that."""
    if S.signalled and S.armed and not S.masked:
        S.signalled = False
        raise KeyboardInterrupt
    if not S.cancelled or S.cancelled != S.running or not S.armed or S.masked:
        return
    S.cancelled = 0
    S.interrupts += 1
    if S.task is not None and frame is not None and module("tasks").cancel(frame):
        return
    raise KeyboardInterrupt
