"""Commands and scripts: their output as it comes, their end said for what it was."""

import os
import re
import select
import signal
import subprocess
import tempfile

# Seconds that a command has to end after the cell was interrupted.
GRACE = 0.25
# Seconds between looks at whether a command has ended while its output is open.
LOOK = 0.05
# Bytes of a script that is passed as an argument; a longer one becomes a file.
ARGUMENT = 100_000

_NAME = re.compile(r"\$(\$?)([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")


class CommandFailed(subprocess.CalledProcessError):
    """A command that the cell cannot go on without ended with an error."""

    def __init__(self, code, name):
        super().__init__(code, name)
        self.name = name

    def __str__(self):
        return "`%s` %s" % (self.name, ending(self.returncode))


class Lines(list):
    """The lines that a command printed, with the ways to look at them."""

    exit_code = 0

    @property
    def l(self):
        return list(self)

    list = l

    @property
    def n(self):
        return "\n".join(self)

    nlstr = n

    @property
    def s(self):
        return " ".join(self)

    spstr = s

    def grep(self, pattern, prune=False):
        """Returns the lines in which the pattern occurs, or those without it."""
        find = pattern if callable(pattern) else re.compile(pattern, re.IGNORECASE).search
        return Lines(line for line in self if bool(find(line)) != prune)

    def fields(self, *numbers):
        """Returns the words of each line, or those with the given numbers."""
        rows = [line.split() for line in self]
        if not numbers:
            return rows
        return Lines(
            " ".join(row[number] for number in numbers if -len(row) <= number < len(row))
            for row in rows
        )


def ending(code):
    """Returns how a process ended, as in `ended with exit code 3`."""
    if code >= 0:
        return "ended with exit code %d" % code
    try:
        return "was ended by %s" % signal.Signals(-code).name
    except ValueError:
        return "was ended by signal %d" % -code


def shell():
    """Returns the shell that runs one command: bash where there is one."""
    import shutil

    return shutil.which("bash") or "/bin/sh"


def run(arguments, stdin=subprocess.DEVNULL):
    """Runs a program to its end, its output going where the cell's goes."""
    with _started(arguments, stdin=stdin) as process:
        return _waited(process, process.wait)


def captured(arguments, show=True, split=False):
    """Runs a program; returns its exit code and what it printed, which also streams.

    With `split`, what it wrote to its standard error is kept apart.
    """
    pipes = {"stdout": subprocess.PIPE}
    pipes["stderr"] = subprocess.PIPE if split else subprocess.STDOUT
    with _started(arguments, **pipes) as process:
        parts = _waited(process, lambda: _read(process, 1 if show else None))
        code = _waited(process, process.wait)
    return (code,) + tuple(part.decode("utf-8", "replace") for part in parts)


def _started(arguments, **options):
    kernel.flush()
    options.setdefault("stdin", subprocess.DEVNULL)
    # A session of its own, so that an interrupt reaches all that it starts.
    return subprocess.Popen(arguments, start_new_session=True, **options)


def _waited(process, wait):
    try:
        return wait()
    except BaseException:
        _end(process)
        raise


def _end(process):
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(GRACE)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def _read(process, copy_to):
    """Reads until the output ends, or the command has ended and nothing is left.

    A program that it left behind may hold the output open for ever.
    """
    files = [file for file in (process.stdout, process.stderr) if file is not None]
    parts = {file: bytearray() for file in files}
    waiting = {file.fileno(): file for file in files}
    while waiting:
        ended = process.poll() is not None
        ready = select.select(list(waiting), [], [], 0 if ended else LOOK)[0]
        for number in ready:
            data = os.read(number, 65536)
            if not data:
                del waiting[number]
                continue
            parts[waiting[number]] += data
            if copy_to is not None:
                os.write(copy_to, data)
        if ended and not ready:
            break
    return [bytes(parts[file]) for file in files]


def script(program, body, out=None):
    """Runs `body` with `program`, a list; returns what `run` or `out` returns."""
    start = out or run
    name = os.path.basename(program[0])
    if name in ("bash", "sh", "dash", "zsh") and len(body) < ARGUMENT and "\0" not in body:
        # Its standard input stays free, so no command can eat the script.
        options = [word for word in program[1:] if word.startswith("-") and word != "-s"]
        words = [word for word in program[1:] if not word.startswith("-")]
        return start(program[:1] + options + ["-c", body, name] + words)
    file = tempfile.NamedTemporaryFile("w", prefix="cell-", encoding="utf-8")
    with file:
        file.write(body)
        file.flush()
        return start(program + [file.name])


def expand(command, frame):
    """Puts Python values into a command, where their names are known.

    `{expression}` and `$name` are replaced when they can be evaluated, and left
    to the shell when not; `$$name`, `{{` and `}}` stand for `$name`, `{` and `}`.
    A `$name` between single quotes is the shell's too.
    """
    if "{" not in command and "$" not in command:
        return command
    done, position, quoted = [], 0, False
    while position < len(command):
        mark = command[position]
        if mark == "'":
            quoted = not quoted
        if mark == "$" and not quoted:
            match = _NAME.match(command, position)
            if match:
                done.append(_named(match, frame))
                position = match.end()
                continue
        if mark == "$" and command.startswith("${", position):
            # The shell's own form of a variable.
            end = command.find("}", position) + 1 or len(command)
            done.append(command[position:end])
            position = end
            continue
        if mark in "{}" and command.startswith(mark * 2, position):
            done.append(mark)
            position += 2
            continue
        if mark == "{":
            end = command.find("}", position)
            value = _field(command[position + 1 : end], frame) if end > 0 else None
            while value is None and end > 0:
                # A brace may belong to the expression, as in a dictionary.
                end = command.find("}", end + 1)
                value = _field(command[position + 1 : end], frame) if end > 0 else None
            if value is not None:
                done.append(value)
                position = end + 1
                continue
        done.append(mark)
        position += 1
    return "".join(done)


def _named(match, frame):
    if match[1]:
        return match[0][1:]
    name, _, rest = match[2].partition(".")
    missing = object()
    value = frame.f_locals.get(name, frame.f_globals.get(name, missing))
    if value is missing:
        return match[0]
    try:
        for attribute in rest.split(".") if rest else ():
            value = getattr(value, attribute)
        return str(value)
    except Exception:
        # `$name.txt`: the name, then what follows it.
        return str(frame.f_locals.get(name, frame.f_globals.get(name))) + "." + rest


def _field(source, frame):
    """Returns the text of one field, or `None` when it is not Python's."""
    source = source.strip()
    if not source:
        return None
    found = _evaluated(source, frame)
    if found is not None:
        return str(found[0])
    match = re.match(r"(?P<expression>.+?)(?:!(?P<turn>[rsa]))?(?::(?P<form>[^:]*))?\Z", source, re.DOTALL)
    if match is None or (match["turn"] is None and match["form"] is None):
        return None
    found = _evaluated(match["expression"], frame)
    if found is None:
        return None
    value = found[0]
    if match["turn"]:
        value = {"r": repr, "s": str, "a": ascii}[match["turn"]](value)
    try:
        return format(value, match["form"] or "")
    except Exception:
        return None


def _evaluated(source, frame):
    """Returns the value in a tuple, or `None` when there is none.

    A constant is no value: `{"a": 1}` in a command is JSON, and `{1,2}` the
    shell's own. Names are the cell's; those of Python itself are not meant.
    """
    import ast

    try:
        tree = ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return None
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = [name for name in names if name in frame.f_locals or name in frame.f_globals]
    if not own and not any(isinstance(node, ast.Call) for node in ast.walk(tree)):
        if any(isinstance(node, (ast.Constant, ast.Name)) for node in ast.walk(tree.body)):
            if not isinstance(tree.body, ast.BinOp):
                return None
    try:
        return (eval(compile(tree, "<command>", "eval"), frame.f_globals, frame.f_locals),)
    except Exception:
        return None
