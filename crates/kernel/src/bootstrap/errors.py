# How a cell failed, as text: frames of cells by number, none of the bootstrap.

MAX_FRAMES = 40
MAX_MESSAGE = 1000
MAX_TEXT = 6000


def fill(frame, error):
    """Says in `frame` how the cell ended."""
    if isinstance(error, SystemExit) and error.code in (None, 0, False):
        frame["status"] = "exit"
        return
    if isinstance(error, KeyboardInterrupt) and kernel.S.interrupts:
        frame["status"] = "interrupted"
    frame["error"] = describe(error)


def end_child(error):
    """A forked child came to the end of the cell: it must not go on here."""
    code = 0
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        code = 1
        try:
            kernel.sys.excepthook(type(error), error, error.__traceback__)
        except BaseException:
            pass
    kernel.flush()
    kernel.os_exit(code & 255)


def describe(error):
    """Returns type, message, traceback, and the line of the cell that failed."""
    message, is_stuck = _message(error)
    found = {
        "type": _name(type(error)),
        "message": message,
        "traceback": "",
        "ran": kernel.S.began,
    }
    line = _line(error)
    if line is not None:
        found["line"] = line
    try:
        if is_stuck:
            # What stopped once would not come to an end the next time.
            raise KeyboardInterrupt
        found["traceback"] = kernel.text_of(_clip(_rendered(error), MAX_TEXT))
    except BaseException as fault:
        # The standard library may be broken too; say at least this much.
        found["traceback"] = kernel.text_of(_by_hand(error, message))
        found["fault"] = type(fault).__name__
    return found


def _name(kind):
    if kind.__module__ in ("builtins", "__main__") or kind.__module__.startswith("__toolset"):
        return kind.__qualname__
    return "%s.%s" % (kind.__module__, kind.__qualname__)


def _message(error):
    """Returns the text of an error, and whether making it had to be interrupted."""
    if isinstance(error, SystemExit):
        return str(error.code), False
    try:
        if isinstance(error, SyntaxError) and isinstance(error.msg, str):
            return kernel.text_of(_clip(error.msg, MAX_MESSAGE)), False
        return kernel.text_of(_clip(str(error), MAX_MESSAGE)), False
    except BaseException as fault:
        text = "(its text cannot be shown: `__str__` raised %s)" % type(fault).__name__
        return text, isinstance(fault, KeyboardInterrupt)


def _line(error):
    """Returns the line of the running cell, at its top level, that failed."""
    trace, line = error.__traceback__, None
    name = "<cell %d>" % kernel.cell
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == name and code.co_name == "<module>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _rendered(error):
    import traceback

    idioms = kernel._modules.get("idioms")
    if idioms is not None and isinstance(error, idioms.IdiomError):
        return "%s: %s" % (type(error).__name__, error)
    whole = traceback.TracebackException(type(error), error, error.__traceback__)
    seen = set()
    left = [whole]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        _trim(one, traceback)
        left += [other for other in (one.__cause__, one.__context__) if other is not None]
        left += getattr(one, "exceptions", None) or []
    if not whole.stack:
        # Of a cell that never ran: only where it is wrong.
        return "".join(whole.format(chain=False)).replace(
            "Traceback (most recent call last):\n", ""
        ).rstrip("\n")
    return "".join(whole.format()).rstrip("\n")


def _trim(one, traceback):
    frames = list(one.stack)
    if frames and frames[0].filename.startswith("<toolset "):
        # Up to the cell it is ours, and the event loop's where the cell awaits.
        cells = [at for at, frame in enumerate(frames) if frame.filename.startswith("<cell ")]
        frames = frames[cells[0] :] if cells else []
    frames = [frame for frame in frames if not frame.filename.startswith("<toolset ")]
    if len(frames) > MAX_FRAMES:
        cut = len(frames) - MAX_FRAMES
        half = MAX_FRAMES // 2
        gap = traceback.FrameSummary("[%d frames left out]" % cut, 0, "...", lookup_line=False, line="")
        frames = frames[:half] + [gap] + frames[-half:]
    one.stack[:] = frames


def _by_hand(error, message):
    lines = ["Traceback (most recent call last):"]
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith("<toolset "):
            lines.append('  File "%s", line %d, in %s' % (code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    if len(lines) > MAX_FRAMES:
        lines[MAX_FRAMES // 2 : -MAX_FRAMES // 2] = ["  ..."]
    return "\n".join(lines + ["%s: %s" % (_name(type(error)), message)])


def _clip(text, limit):
    if len(text) <= limit:
        return text
    head, tail = limit // 3, limit - limit // 3
    return "%s\n[%d characters left out]\n%s" % (text[:head], len(text) - limit, text[-tail:])
