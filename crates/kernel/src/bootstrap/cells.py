# The last part of the kernel: runs cells in the real `__main__`.


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
        let_go(old)
        reserve()
    elif S.capture < 0:
        S.capture = out_of_reach(os_dup(2))
    elif not options["marks_end"]:
        notes.append(
            "the interpreter may open no descriptor, so what this cell prints counts for an earlier one"
        )
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
    S.began = False
    forget_signals()
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
    except Exception:
        # Closed, deleted or detached.
        return False


def is_ours(*descriptors):
    try:
        return all(os_fstat(descriptor).st_ino == S.inode for descriptor in descriptors)
    except OSError:
        return False


def let_go(descriptor):
    """Closes one of ours, unless a cell did."""
    if descriptor >= 0:
        try:
            os_close(descriptor)
        except OSError:
            pass


def reserve():
    """Holds a descriptor until the next cell comes with one of its own: it could
    not be received while cells hold all that there may be."""
    try:
        S.spare = out_of_reach(os_open("/dev/null", 0))
    except OSError:
        S.spare = -1


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
            try:
                # Figures that are open stand beside an error too.
                if "matplotlib.pyplot" in sys.modules and getpid() == PID and S.interrupts < 2:
                    module("display").end_of_cell()
            finally:
                S.armed = False
                # Whatever else the cell blocked stays so; the doorbell rings again.
                S.mask = set(sigmask(SIG_BLOCK, HELD)) - {SIGIO}
    except BaseException as error:
        if getpid() != PID:
            module("errors").end_child(error)
        frame["status"] = "error"
        try:
            try:
                # The text of an error is code of the cell: it can be interrupted.
                S.armed = True
                sigmask(SIG_SETMASK, S.mask)
                module("errors").fill(frame, error)
            finally:
                S.armed = False
                sigmask(SIG_BLOCK, HELD)
        except BaseException as fault:
            frame["error"] = {
                "type": type(error).__name__,
                "message": "",
                "traceback": "%s (it cannot be shown: %s)"
                % (type(error).__name__, type(fault).__name__),
                "ran": S.began,
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
        module("mend").imports()
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
    let_go(S.spare)
    S.spare = -1
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
    S.began = True
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


def _plain(value):
    """Returns the text of a small value of the commonest types, else None."""
    kind = type(value)
    if kind is int:
        return repr(value) if value.bit_length() < 1024 else None
    if kind is str or kind is bytes:
        return repr(value) if len(value) < 1000 else None
    if kind is bool or kind is float:
        return repr(value)
    if kind is list or kind is tuple or kind is dict or kind is set:
        return module("plain").text_of(value)
    return None
