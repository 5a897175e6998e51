# Mends what earlier cells did to output, and keeps their threads apart.
import io
import _thread
import os

S = kernel.S
list_folder, listed_type = os.listdir, io.TextIOWrapper


def descriptors():
    """Puts the descriptors of the output back; returns what was done to them.

    What a stream could not write comes out now, while the output is still that
    of the cell that wrote it."""
    notes = []
    for descriptor in (1, 2):
        if not kernel.is_ours(descriptor):
            try:
                kernel.os_dup2(S.capture, descriptor)
            except OSError:
                # The cell closed ours too; if the link is gone as well, that will
                # be said.
                continue
            notes.append(
                "descriptor %d was closed or redirected by an earlier cell and is restored"
                % descriptor
            )
    kernel.flush()
    return notes


def streams():
    """Puts our streams back; returns what was done to them."""
    notes = []
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        ours = getattr(S, name)
        if getattr(kernel.sys, name, None) is ours and _is_usable(ours):
            continue
        # What a cell put in its place may close ours when it goes.
        _put(name, ours)
        if not _is_usable(ours):
            _put(name, kernel.open_stream(descriptor))
        notes.append("`sys.%s` was replaced or closed by an earlier cell and is restored" % name)
    try:
        kernel.os_fstat(0)
    except OSError:
        # The lowest free number is the one that is wanted.
        null = kernel.os_open("/dev/null", kernel.os.O_RDWR)
        if null != 0:
            kernel.os_dup2(null, 0)
            kernel.os_close(null)
    if getattr(kernel.sys, "stdin", None) is not S.stdin or not _is_usable(S.stdin):
        S.stdin = kernel.sys.stdin = kernel.no_input()
    return notes


def _put(name, stream):
    setattr(S, name, stream)
    setattr(kernel.sys, name, stream)
    setattr(kernel.sys, "__%s__" % name, stream)


def _is_usable(stream):
    try:
        return not stream.closed
    except Exception:
        # Detached from what it writes to.
        return False


def imports():
    """Forgets parts of packages that are not there themselves: an interrupt in the
    import of a package leaves them behind, and when it is imported again, it
    would miss the names that are bound as its parts are loaded."""
    modules = kernel.sys.modules
    for name in sorted(name for name in list(modules) if type(name) is str):
        package = name.rpartition(".")[0]
        part = modules.get(name)
        # What is not Python code may refuse to be loaded twice.
        if package and package not in modules and type(part) is type(kernel.sys):
            if str(vars(part).get("__file__")).endswith((".py", ".pyc")):
                modules.pop(name, None)


def part_threads():
    """Before the next cell begins: gives the threads that are alive the output
    of the cell that they belong to, for good."""
    old, S.old_threads = S.old_threads, {}
    if kernel.thread_count():
        try:
            alive = {int(name) for name in list_folder("/proc/self/task")} - {kernel.PID}
        except OSError:
            alive = set()
        S.old_threads = {thread: late for thread, late in old.items() if thread in alive}
        new = alive.difference(old)
        if new:
            copy = kernel.out_of_reach(kernel.os_dup(S.capture))
            late = kernel.open_stream(copy, listed_type)
            S.old_threads.update((thread, late) for thread in new)
    for late in set(old.values()).difference(S.old_threads.values()):
        late.close()
    if S.old_threads:
        kernel.Stream.write = _routed_write
    elif "write" in kernel.Stream.__dict__:
        del kernel.Stream.write


def _routed_write(self, text, _write=listed_type.write, _own=_thread.get_native_id):
    late = S.old_threads.get(_own())
    return _write(self, text) if late is None else late.write(text)
