"""The larger idioms: files, captured output, repeated timing, help."""

import os
import re
import sys

shell = kernel.module("shell")


def run_file(arguments):
    """Runs a file as a program of its own and keeps the names it defines."""
    import shlex
    import tokenize
    import types

    words = shlex.split(arguments)
    shared = "-i" in words[:1]
    words = words[1:] if shared or words[:1] == ["-n"] else words
    if not words or words[0].startswith("-"):
        raise ValueError("`%run` takes a file and its arguments, as in `%run job.py --fast`; `-i` shares the cell's names")
    path = os.path.expanduser(words[0])
    if not os.path.exists(path) and os.path.exists(path + ".py"):
        path += ".py"
    with tokenize.open(path) as file:
        compiled = compile(file.read(), path, "exec")
    module = types.ModuleType("__main__")
    if shared:
        module.__dict__.update(kernel.user)
    module.__dict__.update(__name__="__main__", __file__=path)
    before = sys.modules["__main__"], sys.argv, list(sys.path)
    sys.modules["__main__"] = module
    sys.argv = [path] + words[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        exec(compiled, module.__dict__)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = before
        made = module.__dict__.items()
        kernel.user.update({name: value for name, value in made if not name.startswith("__")})


class Capture:
    """Keeps what a cell prints and shows: descriptors, so children too."""

    def __init__(self, arguments):
        words = arguments.split()
        names = [word for word in words if not word.startswith("-")]
        unknown = set(words) - set(names) - {"--no-stdout", "--no-stderr", "--no-display"}
        if len(names) > 1 or unknown:
            raise ValueError("`%%capture` takes one name and --no-stdout, --no-stderr, --no-display")
        self.name = names[0] if names else None
        self.numbers = [
            number for number, option in ((1, "--no-stdout"), (2, "--no-stderr")) if option not in words
        ]
        self.takes_display = "--no-display" not in words

    def __enter__(self):
        import tempfile

        kernel.flush()
        self.files, self.saved = {}, {}
        for number in self.numbers:
            self.files[number] = tempfile.TemporaryFile()
            self.saved[number] = os.dup(number)
            os.dup2(self.files[number].fileno(), number)
        self.shown = []
        if self.takes_display:
            kernel.module("display").captures.append(self.shown)

    def __exit__(self, *error):
        kernel.flush()
        if self.takes_display:
            kernel.module("display").captures.remove(self.shown)
        texts = {1: "", 2: ""}
        for number, file in self.files.items():
            os.dup2(self.saved[number], number)
            os.close(self.saved[number])
            file.seek(0)
            texts[number] = file.read().decode("utf-8", "replace")
            file.close()
        if self.name:
            kernel.user[self.name] = Captured(texts[1], texts[2], self.shown)


class Captured:
    """What `%%capture name` kept."""

    def __init__(self, stdout, stderr, outputs):
        self.stdout = stdout
        self.stderr = stderr
        self.outputs = outputs

    def __str__(self):
        return self.stdout

    def __repr__(self):
        return "<captured: %d characters of stdout, %d of stderr, %d displays>" % (
            len(self.stdout), len(self.stderr), len(self.outputs),
        )

    def show(self):
        """Prints and shows it after all."""
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for parts in self.outputs:
            kernel.send_display(*parts)

    __call__ = show


# Time.


def seconds(value):
    """Returns a time with three digits and the unit that suits it."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return "%.3g %s" % (value / size, unit)
    return "%.3g ns" % (value / 1e-9)


class Timing:
    """What `-o` returns."""

    def __init__(self, loops, runs, times):
        self.loops = loops
        self.repeat = runs
        self.all_runs = times
        self.timings = [time / loops for time in times]
        self.best = min(self.timings)
        self.worst = max(self.timings)
        self.average = sum(self.timings) / runs
        self.stdev = (sum((time - self.average) ** 2 for time in self.timings) / runs) ** 0.5

    def __str__(self):
        text = kernel.module("text")
        return "%s ± %s per loop (mean ± std. dev. of %s, %s each)" % (
            seconds(self.average), seconds(self.stdev),
            text.counted(self.repeat, "run"), text.counted(self.loops, "loop"),
        )

    def __repr__(self):
        return "<timing: %s>" % self


def timed(arguments, body, frame):
    """Times a statement as `timeit` does; what is before it on its line is set-up."""
    import timeit

    options = {}
    while True:
        match = re.match(r"-([nr])\s*(\d+)\s*|-([oqtc])\s+|-([oqtc])\Z|-p\s*\d+\s*", arguments)
        if match is None:
            break
        options[match[1] or match[3] or match[4] or "p"] = match[2] or True
        arguments = arguments[match.end() :]
    statement, setup = (arguments, "pass") if body is None else (body, arguments or "pass")
    if not statement.strip():
        raise ValueError("`%timeit` needs a statement to time")
    names = dict(frame.f_globals)
    names.update(frame.f_locals)
    timer = timeit.Timer(statement, setup, globals=names)
    runs = max(int(options.get("r", 7)), 1)
    loops = int(options.get("n", 0)) or timer.autorange()[0]
    result = Timing(loops, runs, timer.repeat(runs, loops))
    if "q" not in options:
        print(result)
    return result if "o" in options else None


# Help.


def described(name, marks, frame):
    """Returns signature and documentation of what `name` names, or its source."""
    if not name or name.startswith("%"):
        return _described_magic(name)
    found, value = _looked_up(name, frame)
    if not found:
        return "`%s` is not defined" % name
    import inspect

    text = kernel.module("text")
    lines = []
    try:
        lines.append("%s%s" % (name, inspect.signature(value)))
    except (TypeError, ValueError):
        lines.append("%s = %s" % (name, kernel.module("values").short(value, 200)))
    lines.append("type: " + type(value).__name__)
    try:
        lines.append("file: " + inspect.getsourcefile(value))
    except (TypeError, OSError):
        # Written in C, or no code at all.
        pass
    source = None
    if marks > 1:
        try:
            source = inspect.getsource(value)
        except (TypeError, OSError):
            lines.append("no source is to be found for it")
    if source is not None:
        lines.append(source.rstrip())
    else:
        lines.append(inspect.getdoc(value) or "no documentation")
    return text.printable(text.clip("\n".join(lines), kernel.module("values").LIMIT))


def _described_magic(name):
    idioms = kernel.module("idioms")
    bare = name.lstrip("%")
    if not bare:
        return "`name?` shows signature and documentation, `name??` the source; `%lsmagic` lists the idioms"
    kinds = [
        kind
        for kind, known in (
            ("a line", set(idioms.LINES) | idioms.PROGRAMS),
            ("a whole cell", idioms.CELLS),
            ("a line without effect here", idioms.IGNORED),
        )
        if bare in known
    ]
    return "`%s` is %s" % (name, ", ".join(kinds)) if kinds else "no such magic: `%s`" % name


def _looked_up(name, frame):
    """Evaluates a dotted name; calls nothing."""
    import builtins

    first = re.match(r"\w+", name)
    if first is None:
        return False, None
    for scope in (frame.f_locals, frame.f_globals, vars(builtins)):
        if first[0] in scope:
            break
    else:
        return False, None
    try:
        return True, eval(name, frame.f_globals, frame.f_locals)
    except Exception:
        return False, None
