"""What rewritten idioms call while the cell runs."""

import os
import re
import shlex
import sys
import time as clock
import types

shell = kernel.module("shell")

# Times taken by `%time` that have not ended.
timers = []
_previous = []
# Names of the user's that were there before the first cell, or are nobody's.
_PLAIN = re.compile(r"[^\W_]\w*\Z")


def _caller():
    return sys._getframe(2)


def _note_code(command, code):
    kernel.user["_exit_code"] = code
    if code:
        kernel.note("`%s` %s" % (kernel.module("text").clip_line(command, 80), shell.ending(code)))


# Commands.


def system(command):
    command = shell.expand(command, _caller())
    _system(command)


def _system(command):
    pip = kernel.module("pip")
    arguments = pip.arguments_of(command)
    if arguments is not None:
        pip.run(arguments)
        return
    with pip.watched(command):
        code = shell.run([shell.shell(), "-c", command])
    _note_code(command, code)
    if re.match(r"\s*cd(\s+[^;&|]+)?\s*\Z", command):
        kernel.note("`!cd` changes the directory of its own shell only; `%cd` changes the cell's")


def system_value(command):
    command = shell.expand(command, _caller())
    with kernel.module("pip").watched(command):
        code, printed = shell.captured([shell.shell(), "-c", command])
    lines = shell.Lines(printed.replace("\r\n", "\n").splitlines())
    lines.exit_code = code
    _note_code(command, code)
    return lines


def script(name, arguments, body):
    program, options = _script_program(name, arguments)
    shown = "%%" + name + ("" if name != "script" else " " + program[0])
    out, err = options.get("--out"), options.get("--err")
    if out or err:
        code, printed, complaints = shell.script(
            program, body, lambda line: shell.captured(line, show=False, split=True)
        )
        for target, text, number in ((out, printed, 1), (err, complaints, 2)):
            if target:
                kernel.user[target] = text
            elif text:
                os.write(number, text.encode("utf-8", "replace"))
    else:
        code = shell.script(program, body)
    kernel.user["_exit_code"] = code
    if code and "--no-raise-error" not in options:
        raise shell.CommandFailed(code, shown)


def _script_program(name, arguments):
    words, options, rest = shlex.split(arguments), {}, []
    while words:
        word = words.pop(0)
        option, _, value = word.partition("=")
        if option in ("--out", "--err"):
            options[option] = value or (words.pop(0) if words else "")
        elif option in ("--no-raise-error", "--raise-error"):
            options[option] = True
        elif option in ("--bg", "--proc"):
            raise ValueError("`%%%%%s` cannot run in the background: use `subprocess.Popen`" % name)
        else:
            rest.append(word)
    if name == "script":
        if not rest:
            raise ValueError("`%%script` needs a program after it, as in `%%script bash`")
        return rest, options
    program = {
        "python": sys.executable,
        "python3": sys.executable,
        "system": shell.shell(),
        "sx": shell.shell(),
        "!": shell.shell(),
    }.get(name, name)
    return [program] + rest, options


# Packages.


def pip(arguments):
    arguments = shell.expand(arguments, _caller())
    kernel.module("pip").run(shlex.split(arguments, comments=True))


def uv(arguments):
    arguments = shell.expand(arguments, _caller())
    words = shlex.split(arguments, comments=True)
    if words[:1] != ["pip"]:
        raise ValueError("`%uv` knows `%uv pip ...` only; use `!uv ...` for the rest")
    kernel.module("pip").run(words[1:])


def pip_line(line):
    module = kernel.module("pip")
    module.run(module.arguments_of(shell.expand(line, _caller())) or shlex.split(line)[1:])


# Directories, the environment, names.


def cd(target):
    target = shell.expand(target, _caller())
    words = [word for word in shlex.split(target) if word != "-q"]
    target = " ".join(words) or "~"
    if target == "-":
        if not _previous:
            raise ValueError("`%cd -` has nowhere to go: no `%cd` was run before")
        target = _previous[-1]
    before = os.getcwd()
    os.chdir(os.path.expanduser(target))
    _previous[:] = [before]
    print(os.getcwd())


def pwd(arguments):
    return os.getcwd()


def env(arguments):
    arguments = shell.expand(arguments, _caller())
    match = re.match(r"([^\s=]+)\s*(?:=|\s)\s*(.+)\Z", arguments)
    if match:
        name, value = match[1], match[2].strip()
        if value[:1] in ("'", '"') and value[-1:] == value[:1] and len(value) > 1:
            value = value[1:-1]
        os.environ[name] = value
        print("env: %s=%s" % (name, value))
        return None
    if not arguments:
        return dict(os.environ)
    name = arguments.rstrip("=")
    if arguments.endswith("="):
        os.environ[name] = ""
        print("env: %s=" % name)
        return None
    if name not in os.environ:
        raise KeyError("no environment variable `%s`; `%%env` alone lists all" % name)
    return os.environ[name]


def who_ls(kinds):
    wanted = kinds.split()
    return sorted(
        name
        for name, value in kernel.user.items()
        if _PLAIN.match(name)
        and not isinstance(value, types.ModuleType)
        and not str(getattr(value, "__module__", "")).startswith("__toolset")
        and (not wanted or type(value).__name__ in wanted)
    )


def who(kinds):
    names = who_ls(kinds)
    print("  ".join(names) if names else "no names are defined")


def whos(kinds):
    values = kernel.module("values")
    names = who_ls(kinds)
    if not names:
        print("no names are defined")
    width = max(map(len, names), default=0)
    for name in names:
        value = kernel.user[name]
        print("%s  %s  %s" % (name.ljust(width), type(value).__name__, values.short(value, 60)))


def reset(arguments):
    for name in [name for name in kernel.user if not name.startswith("__")]:
        value = kernel.user[name]
        if not str(getattr(value, "__module__", "")).startswith("__toolset"):
            del kernel.user[name]
    print("all names are deleted; modules stay loaded, and running threads run on")


def lsmagic(arguments):
    idioms = kernel.module("idioms")
    lines = sorted(set(idioms.LINES) | idioms.IGNORED | idioms.PROGRAMS)
    print("one line: " + " ".join("%" + name for name in lines))
    print("whole cell: " + " ".join("%%" + name for name in sorted(idioms.CELLS)))


def load_ext(name):
    if name.strip() == "autoreload":
        autoreload("")
    else:
        kernel.note("extension `%s` is not loaded: there is no IPython here" % name)


def autoreload(arguments):
    kernel.note(
        "modules are not reloaded by themselves; after a change call `importlib.reload(module)`"
    )


# Files.


def run(arguments):
    kernel.module("running").run_file(shell.expand(arguments, _caller()))


def writefile(arguments, body):
    words = shlex.split(shell.expand(arguments, _caller()))
    append = "-a" in words or "--append" in words
    names = [word for word in words if word not in ("-a", "--append")]
    if len(names) != 1:
        raise ValueError("`%%writefile` takes one path, as in `%%writefile notes.txt`")
    path = os.path.expanduser(names[0])
    existed = os.path.exists(path)
    with open(path, "a" if append else "w", encoding="utf-8", newline="") as file:
        file.write(body)
    done = "Appended to" if append else "Overwrote" if existed else "Wrote"
    print("%s %s" % (done, names[0]))


def page(mime, body):
    kernel.module("display").display({mime: body}, raw=True)


def capture(arguments):
    return kernel.module("running").Capture(arguments)


# Help and time.


def help(name, marks):
    print(kernel.module("running").described(name, marks, _caller()))


def time():
    timers.append((clock.perf_counter(), clock.process_time()))
    return time_end


def time_end(value=None):
    wall, cpu = clock.perf_counter(), clock.process_time()
    if timers:
        start = timers.pop()
        running = kernel.module("running")
        print("wall %s, CPU %s" % (running.seconds(wall - start[0]), running.seconds(cpu - start[1])))
    return value


def time_source(source):
    frame = _caller()
    compiled = compile(source, frame.f_code.co_filename, "exec")
    time()
    exec(compiled, frame.f_globals, frame.f_locals)
    time_end()


def timeit(arguments):
    return kernel.module("running").timed(arguments, None, _caller())


def timeit_cell(arguments, body):
    return kernel.module("running").timed(arguments, body, _caller())


class Helper:
    """The names that rewritten code knows; nothing of them can be assigned by accident."""


for _function in (
    system, system_value, script, pip, uv, pip_line, cd, pwd, env, who, whos, who_ls,
    reset, lsmagic, load_ext, autoreload, run, writefile, page, capture, help, time,
    time_end, time_source, timeit, timeit_cell,
):
    setattr(Helper, _function.__name__, staticmethod(_function))
