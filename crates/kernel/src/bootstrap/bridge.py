# Calls of the harness's tools, from any thread, over the link that is there
# anyway.
#
# Nobody reads in the background: whoever waits for a reply reads, and hands the
# replies of others out. When its own has come, it wakes one of the others.
import _thread

MAIN_THREAD = kernel.MAIN_THREAD
_counter = [0]
_count_lock = _thread.allocate_lock()
_sleepers = kernel._sleepers


ToolError = kernel.ToolError


class ToolResult(str):
    """The text of a tool's result.

    `details` is its structured form, `touched` the files it changed, `images`
    a list of (media type, bytes)."""

    details = None
    touched = ()
    images = ()


def _result(frame, name):
    if not frame["ok"]:
        error = frame["error"]
        raise ToolError(error["message"], name, error["kind"])
    value = frame["value"]
    result = ToolResult(value["text"])
    result.details = value.get("details")
    result.touched = value.get("touched") or []
    if value.get("images"):
        import binascii

        result.images = [
            (image["media_type"], binascii.a2b_base64(image["data"])) for image in value["images"]
        ]
    return result


def _encode(value, path="args", depth=0):
    """Returns `value` as JSON text; names the place of what JSON has no form for."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return kernel.quote(kernel.text_of(str(value)))
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
            parts.append(kernel.quote(kernel.text_of(str(key))) + ":" + _encode(item, inside, depth + 1))
        return "{" + ",".join(parts) + "}"
    if isinstance(value, (list, tuple)):
        items = (_encode(item, "%s[%d]" % (path, at), depth + 1) for at, item in enumerate(value))
        return "[" + ",".join(items) + "]"
    raise TypeError(
        "%s is of type `%s`, which JSON has no form for: pass a string, a number, a list or a dict"
        % (path, type(value).__name__)
    )


def _begin(name, args, more, take):
    if not isinstance(name, str):
        raise TypeError("the name of a tool is a string, not `%s`" % type(name).__name__)
    if args is None:
        args = {}
    if not isinstance(args, dict):
        raise TypeError('the arguments of a tool are a dict: tool("%s", {...})' % name)
    if kernel.getpid() != kernel.PID:
        raise ToolError("a forked process cannot call tools: call them in the cell itself", name)
    if not kernel.S.running:
        raise ToolError("no cell is running, so no tool can be called; call it in a cell", name)
    is_main = _thread.get_ident() == MAIN_THREAD
    if is_main and (kernel.S.reader == MAIN_THREAD or kernel.S.writing) and kernel.has_interrupted():
        raise ToolError(
            "a signal handler or a finalizer that interrupted a tool call cannot call a tool itself",
            name,
        )
    args = kernel.Json(_encode(dict(args, **more)))
    with _count_lock:
        _counter[0] += 1
        number = _counter[0]
    frame = {
        "frame": "call",
        "call": number,
        "cell": kernel.S.running,
        "tool": name,
        "args": args,
    }
    kernel._waiting[number] = take
    try:
        kernel.send(frame)
    except BaseException:
        kernel._waiting.pop(number, None)
        raise
    return number


def _give_up(number):
    if kernel._waiting.pop(number, None) is not None:
        kernel.send({"frame": "cancel_call", "call": number})


def call(name, args, more):
    asleep = _thread.allocate_lock()
    asleep.acquire()
    reply = []

    def take(frame):
        reply.append(frame)
        _wake(asleep)

    is_main = _thread.get_ident() == MAIN_THREAD
    number = _begin(name, args, more, take)
    try:
        while not reply:
            if is_main:
                kernel.mend_lock()
            if kernel._read_lock.locked():
                # Somebody reads: sleep until they have our reply, or leave.
                _sleepers[number] = asleep
                if kernel._read_lock.locked() and not reply:
                    asleep.acquire()
                _sleepers.pop(number, None)
            else:
                kernel.pump(True, lambda: reply)
            if is_main:
                kernel.check_interrupt()
    finally:
        _sleepers.pop(number, None)
        if not reply:
            _give_up(number)
        # Whoever leaves hands the reading on.
        kernel.wake_one()
    return _result(reply[0], name)


def _wake(asleep):
    try:
        asleep.release()
    except RuntimeError:
        # It is awake.
        pass


async def call_async(name, args, more):
    import asyncio

    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle(frame):
        if not future.done():
            future.set_result(frame)

    def take(frame):
        try:
            loop.call_soon_threadsafe(settle, frame)
        except RuntimeError:
            # Its loop is closed: nobody waits.
            pass

    number = _begin(name, args, more, take)
    _listen(loop)
    try:
        frame = await future
    finally:
        _unlisten(loop)
        if not future.done() or future.cancelled():
            _give_up(number)
    return _result(frame, name)


_listeners = {}


def _listen(loop):
    count = _listeners.get(loop, 0)
    if count == 0:
        loop.add_reader(kernel._fileno, kernel.pump, False)
    _listeners[loop] = count + 1


def _unlisten(loop):
    count = _listeners.get(loop, 0) - 1
    if count > 0:
        _listeners[loop] = count
        return
    _listeners.pop(loop, None)
    if not loop.is_closed():
        loop.remove_reader(kernel._fileno)
    kernel.wake_one()
