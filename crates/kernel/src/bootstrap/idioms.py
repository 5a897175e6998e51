"""Notebook idioms, rewritten to plain Python line by line.

Called only for a cell that Python refuses as it is, so nothing valid is ever
changed. Every line keeps its number: a rewritten line is one line, and lines
that were joined to it are left empty.
"""

import ast
import builtins
import re

lexer = kernel.module("lexer")

# What rewritten code calls. It is a builtin, so that cells need no import, and
# it gets another name where the user has taken this one.
HELPER = "__toolset__"

# Line idioms, each with the function that does it.
LINES = {
    "autoreload": "autoreload",
    "cd": "cd",
    "env": "env",
    "set_env": "env",
    "load_ext": "load_ext",
    "reload_ext": "load_ext",
    "lsmagic": "lsmagic",
    "pip": "pip",
    "uv": "uv",
    "pwd": "pwd",
    "reset": "reset",
    "run": "run",
    "system": "system_value",
    "sx": "system_value",
    "time": "time",
    "timeit": "timeit",
    "who": "who",
    "whos": "whos",
    "who_ls": "who_ls",
}
# Accepted because notebooks begin with them, and without any effect here.
IGNORED = {
    "autosave", "automagic", "colors", "config", "matplotlib", "precision",
    "pylab", "unload_ext", "xmode",
}
# Programs that are so common as line idioms that they are run as such.
PROGRAMS = {"cat", "cp", "ls", "mkdir", "mv", "rm", "rmdir"}
SCRIPTS = {"bash", "perl", "python", "python3", "ruby", "script", "sh", "sx", "system", "!"}
PAGES = {"html": "text/html", "latex": "text/latex", "markdown": "text/markdown"}
CELLS = SCRIPTS | set(PAGES) | {"capture", "file", "time", "timeit", "writefile"}

_COMPOUND = "body"


class IdiomError(Exception):
    """A cell that cannot be run; the message says why and what would do."""


def rewrite(code):
    """Returns the cell as plain Python, or unchanged when no idiom is in it.

    Raises `IdiomError` for an idiom that does not exist or is out of place.
    """
    helper = _install(code)
    start = lexer.skip_blank(code, 0)
    if code.startswith("%%", start):
        return _cell(code, start, helper)
    return _lines(code, helper)


def _install(code):
    helper = HELPER
    while helper in kernel.user or (helper != HELPER and helper in code):
        helper += "_"
    magics = kernel.module("magics")
    magics.timers.clear()
    setattr(builtins, helper, magics.Helper)
    return helper


def _lines(code, helper):
    done, position = [], 0
    while position < len(code):
        end, hit = lexer.logical_line(code, position)
        if hit is None:
            done.append(code[position:end])
            position = end
            continue
        done.append(code[position : hit.start])
        position = _idiom(code, hit, helper, done)
    return "".join(done)


def _idiom(code, hit, helper, done):
    """Appends the Python of one idiom; returns where its line ends."""
    if hit.kind == "help":
        done.append(_call(helper, "help", hit.match["name"], len(hit.match["marks"])))
        return hit.match.end()
    if code.startswith("%%", hit.start):
        name = re.compile(r"%%[^\s]*").match(code, hit.start)[0]
        raise IdiomError(
            "`%s` must be the first line of its cell: put it and what belongs to it in a cell of their own"
            % name
        )
    timed = _timed_lines(code, hit, helper)
    if timed is not None:
        done.append(timed[0])
        return timed[1]
    line, joined, end = lexer.raw_line(code, hit.start)
    done.append(_one(line, hit.kind == "value", helper) + "\n" * joined)
    return end


def _call(helper, function, *arguments):
    return "%s.%s(%s)" % (helper, function, ", ".join(map(repr, arguments)))


def _one(line, is_value, helper):
    """Returns the Python of one line that begins with its mark."""
    if line[0] == "!":
        if line.startswith("!!"):
            return _call(helper, "system_value", line[2:].strip())
        return _call(helper, "system_value" if is_value else "system", line[1:].strip())
    if line[0] == "?":
        return _call(helper, "help", line.lstrip("?").strip(), len(line) - len(line.lstrip("?")))
    if line[0] != "%":
        return _call(helper, "pip_line", line)
    name, _, rest = line[1:].partition(" ")
    rest = rest.strip()
    if name.endswith("?") or rest in ("?", "??"):
        return _call(helper, "help", "%" + name.rstrip("?"), 1)
    if name in PROGRAMS:
        return _call(helper, "system", name + " " + rest)
    if name in IGNORED:
        return "None" if is_value else "pass"
    if name not in LINES:
        raise IdiomError(_unknown("%" + name, LINES, "%%" + name if name in CELLS else None))
    if name == "time":
        return _timed(rest, is_value, helper)
    if name == "timeit":
        _refuse_await(rest, "%timeit", helper)
        return _call(helper, "timeit", _timeit_source(rest, helper))
    return _call(helper, LINES[name], rest)


def _unknown(name, known, other):
    import difflib

    marks = name[: len(name) - len(name.lstrip("%"))]
    names = sorted(set(known) | (IGNORED | PROGRAMS if marks == "%" else set()))
    near = difflib.get_close_matches(name.lstrip("%"), names, 3, 0.5)
    names = near + [known for known in names if known not in near]
    said = "no such magic: `%s`" % name
    if other is not None:
        place = "as the first line of a cell" if other.startswith("%%") else "for one line"
        said += "; `%s` is one, %s" % (other, place)
    return said + "; known are " + ", ".join("`" + marks + known + "`" for known in names)


# Timing.


def _timed_lines(code, hit, helper):
    """Handles `%time` before a statement that goes on over several lines."""
    match = re.compile(r"%time[ \t]+(?=\S)").match(code, hit.start)
    if match is None:
        return None
    end, inner = lexer.logical_line(code, match.end())
    source = code[match.end() : end].rstrip("\n")
    if inner is not None or "\n" not in source or source.rstrip().endswith("\\"):
        return None
    return _timed(source, hit.kind == "value", helper), match.end() + len(source)


def _timed(source, is_value, helper):
    if not source:
        raise IdiomError("`%time` needs a statement after it")
    source = _lines(source, helper)
    body = _parsed(source)
    if body is None:
        # Python says what is wrong with it, in the right line.
        return source
    if not body:
        return "pass"
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        start, end = _extent(source, body[0])
        tail = source[end:].split("#")[0] if not is_value else ""
        return "%s.time()((%s))%s" % (helper, source[start:end], tail)
    if is_value:
        raise IdiomError("`%time` on the right of `=` needs an expression")
    if any(hasattr(statement, _COMPOUND) for statement in body):
        return _call(helper, "time_source", source)
    end = _extent(source, body[-1])[1]
    return "%s.time(); %s; %s.time_end()" % (helper, source[:end], helper)


def _timed_cell(before, arguments, body, helper):
    """The body as it is, between two calls that take the time."""
    if arguments:
        raise IdiomError("`%%time` takes nothing on its own line; for one statement there is `%time`")
    body = _lines(body, helper)
    statements = _parsed(body)
    if not statements:
        return before + "pass\n" + body
    if isinstance(statements[-1], ast.Expr):
        # The value of the cell passes through the last call.
        start, end = _extent(body, statements[-1])
        body = "%s%s.time_end((%s))%s" % (body[:start], helper, body[start:end], body[end:])
    else:
        body = body.rstrip("\n") + "\n%s.time_end()\n" % helper
    return "%s%s.time()\n%s" % (before, helper, body)


def _parsed(source):
    try:
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
        return compile(source, "<cell>", "exec", flags).body
    except (SyntaxError, ValueError):
        return None


def _extent(source, node):
    """Returns where a node begins and ends, in characters."""
    lines = source.split("\n")

    def position(line, column):
        before = sum(len(text) + 1 for text in lines[: line - 1])
        return before + len(lines[line - 1].encode()[:column].decode())

    return (
        position(node.lineno, node.col_offset),
        position(node.end_lineno, node.end_col_offset),
    )


def _timeit_source(rest, helper):
    """Rewrites an idiom that is timed, behind the options that may come first."""
    match = re.match(r"(?:-[a-zA-Z]\s*\d*\s+)*", rest)
    return rest[: match.end()] + _lines(rest[match.end() :], helper)


def _refuse_await(source, name, helper):
    import inspect

    match = re.match(r"(?:-[a-zA-Z]\s*\d*\s+)*", source)
    try:
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        compiled = compile(_lines(source[match.end() :], helper), "<cell>", "exec", flags)
    except (SyntaxError, ValueError):
        return
    if compiled.co_flags & inspect.CO_COROUTINE:
        raise IdiomError(
            "`%s` cannot time `await`: it runs the code in a function that is not a coroutine; "
            "take `time.perf_counter()` before and after a loop instead" % name
        )


# Whole cells.


def _cell(code, start, helper):
    before = code[:start]
    line, joined, end = lexer.raw_line(code, start)
    name, _, arguments = line[2:].partition(" ")
    arguments = arguments.strip()
    body = code[end + 1 :]
    before += "\n" * joined
    if name not in CELLS:
        raise IdiomError(_unknown("%%" + name, CELLS, "%" + name if name in LINES else None))
    if name in SCRIPTS:
        return before + _call(helper, "script", name, arguments, body)
    if name in PAGES:
        return before + _call(helper, "page", PAGES[name], body)
    if name == "time":
        return _timed_cell(before, arguments, body, helper)
    if name == "timeit":
        _refuse_await(body, "%%timeit", helper)
        return before + _call(helper, "timeit_cell", arguments, _lines(body, helper))
    if name == "capture":
        return before + _captured(arguments, body, helper)
    return before + _call(helper, "writefile", arguments, body)


def _captured(arguments, body, helper):
    """The body inside a `with`: only lines that begin one may be indented."""
    body = _lines(body, helper)
    done, position = [], 0
    for start in lexer.line_starts(body):
        done.append(body[position:start])
        if body[start : start + 1] not in ("\n", ""):
            done.append(" ")
        position = start
    done.append(body[position:])
    body = "".join(done)
    if all(line.lstrip().startswith("#") or not line.strip() for line in body.split("\n")):
        body += "\n pass"
    return "with %s:\n%s" % (_call(helper, "capture", arguments), body)
