"""Where statements begin, in text that Python itself refuses to read.

Knows just enough of the language to tell code from strings, comments, brackets
and continued lines, and finds in code what can never be Python: a statement
that begins with `%`, `!` or `?`, the same two marks right after `=`, a name
that is followed by `?`, and `pip install` without quotes.
"""

import re
import sys

# From Python 3.12 on, the fields of an f-string hold any code, quotes and line
# ends included. Before, the text ends at the first quote like any string's.
_FIELDS = sys.version_info >= (3, 12)

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\f]+|\\\n)
    | (?P<comment>\#[^\n]*)
    | (?P<string>(?P<prefix>[A-Za-z]{0,3})(?P<quote>'''|\"\"\"|'|\"))
    | (?P<word>\w+)
    | (?P<newline>\n)
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<other>(?:[-+*/%@&|^<>=!:]|\*\*|//|<<|>>)=|->|.)
    """,
    re.VERBOSE,
)
# Names, numbers and what joins them: nothing in it opens, ends or assigns.
_PLAIN = re.compile(r"(?:[A-Za-z_0-9]\w*(?![\w'\"])[ \t.,+\-*/<>@&|^~]*)+")
_PREFIXES = {"", "r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"}
_BODIES = {
    quote: re.compile(body, re.DOTALL)
    for quote, body in {
        "'": r"(?:[^'\\\n]|\\.)*'?",
        '"': r'(?:[^"\\\n]|\\.)*"?',
        "'''": r"(?:[^'\\]|\\.|'(?!''))*(?:''')?",
        '"""': r'(?:[^"\\]|\\.|"(?!""))*(?:""")?',
    }.items()
}
_COMPOUND = {
    "if", "elif", "else", "for", "while", "try", "except", "finally", "with",
    "def", "class", "async", "match", "case",
}
_HELP = re.compile(
    r"(?P<name>%{0,2}[^\W\d]\w*(?:\.[^\W\d]\w*|\[-?\w+\]|\[\"\w+\"\]|\['\w+'\])*)"
    r"[ \t]*(?P<marks>\?\??)[ \t;]*(?:\#[^\n]*)?(?=\n|\Z)"
)
PIP = re.compile(
    r"(?:(?:python[\d.]*[ ]+-m[ ]+|uv[ ]+)?pip[\d.]*)[ ]+"
    r"(?:install|uninstall|download|freeze|list|show|check|config|search|cache|index|wheel)\b"
    r"(?![ ]*[=.(\[,:])"
)


class Hit:
    """An idiom: where it begins, what it is, and what it is part of."""

    def __init__(self, kind, start, match=None):
        # `statement`, `value` (what `=` assigns), `help` or `pip`.
        self.kind = kind
        self.start = start
        self.match = match


def logical_line(code, start):
    """Reads one logical line; returns its end and the idiom in it, or `None`.

    The end is past the line's own newline. With an idiom, everything before it
    is Python and what follows is not, so reading stops there.
    """
    position, depth = start, 0
    # Where the current statement began; a line may hold several.
    statement, begins = start, True
    before = first = None
    while position < len(code):
        if begins and depth == 0:
            hit = _at_statement(code, position)
            if hit is not None:
                return position, hit
        if not begins:
            plain = _PLAIN.match(code, position)
            if plain:
                before, position = None, plain.end()
                continue
        token = _token(code, position)
        kind, end = token.kind, token.end
        if kind == "space":
            position = end
            if begins and depth == 0:
                statement = end
            continue
        if kind == "comment":
            position = end
            continue
        if kind == "newline":
            position = end
            if depth == 0:
                return position, None
            continue
        shown = code[position:end]
        if depth == 0 and before == "=" and shown in ("!", "%") and _is_command(code, end):
            return position, Hit("value", position)
        if depth == 0 and shown == "?":
            match = _HELP.match(code, statement)
            if match and match.end() > position:
                return statement, Hit("help", statement, match)
        if first is None:
            first = shown
        begins = False
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif depth == 0 and (shown == ";" or shown == ":" and first in _COMPOUND):
            begins, statement = True, end
        before = shown
        position = end
    return position, None


def skip_blank(code, start):
    """Returns the position past blank lines and lines with only a comment."""
    match = re.compile(r"(?:[ \t\f]*(?:\#[^\n]*)?\n)*[ \t\f]*").match(code, start)
    return match.end()


def raw_line(code, start):
    """Reads to the end of a line that is not Python.

    A backslash at its end joins the next one to it. Returns the joined text,
    the number of lines that were joined to the first, and the position of the
    newline, or of the end.
    """
    parts, joined, position = [], 0, start
    while True:
        end = code.find("\n", position)
        end = len(code) if end < 0 else end
        part = code[position:end]
        if not part.rstrip().endswith("\\") or end == len(code):
            parts.append(part.rstrip())
            return " ".join(parts), joined, end
        parts.append(part.rstrip()[:-1].rstrip())
        joined += 1
        position = end + 1


def line_starts(code):
    """Returns the positions at which the logical lines of Python code start."""
    starts, position = [], 0
    while position < len(code):
        starts.append(position)
        position, hit = logical_line(code, position)
        if hit is not None:
            position = raw_line(code, hit.start)[2] + 1
    return starts


def _at_statement(code, position):
    mark = code[position]
    if mark in "!%" and _is_command(code, position + 1):
        return Hit("statement", position)
    if mark == "?":
        return Hit("statement", position)
    if mark in "pu":
        match = PIP.match(code, position)
        if match:
            return Hit("pip", position, match)
    return None


def _is_command(code, position):
    """Returns whether what follows `!` or `%` can be a command or a name."""
    if code[position - 1] == "!":
        return code[position : position + 1].strip() not in ("", "=")
    return re.compile(r"%?[^\W\d]").match(code, position) is not None


class _Token:
    def __init__(self, kind, end):
        self.kind = kind
        self.end = end


def _token(code, position):
    match = _TOKEN.match(code, position)
    if match["quote"] is not None:
        prefix = match["prefix"].lower()
        if prefix in _PREFIXES:
            return _Token("string", _string_end(code, match.end(), match["quote"], prefix))
        # A name that runs into a quote: the string starts at the quote.
        return _Token("word", match.end("prefix"))
    kind = match.lastgroup
    return _Token(kind, match.end())


def _string_end(code, position, quote, prefix):
    if _FIELDS and ("f" in prefix or "t" in prefix):
        return _formatted_end(code, position, quote, "r" in prefix)
    return _BODIES[quote].match(code, position).end()


def _formatted_end(code, position, quote, raw):
    """Returns the end of an f-string, whose fields hold code."""
    while position < len(code):
        if code.startswith(quote, position):
            return position + len(quote)
        mark = code[position]
        if mark == "\n" and len(quote) == 1:
            return position
        if mark == "\\":
            if not raw and code.startswith("N{", position + 1):
                position = code.find("}", position) + 1 or len(code)
            elif code.startswith("{", position + 1):
                # A backslash keeps no brace from opening a field.
                position += 1
            else:
                position += 2
        elif mark == "{" and not code.startswith("{{", position):
            position = _field_end(code, position + 1, quote, raw)
        else:
            position += 2 if mark == "{" else 1
    return position


def _field_end(code, position, quote, raw):
    depth = 0
    while position < len(code):
        mark = code[position]
        if depth == 0 and mark == "}":
            return position + 1
        if depth == 0 and mark == ":":
            return _format_end(code, position + 1, quote, raw)
        token = _token(code, position)
        depth += {"open": 1, "close": -1}.get(token.kind, 0)
        position = token.end
    return position


def _format_end(code, position, quote, raw):
    """Returns the end of a field whose format has begun."""
    while position < len(code):
        mark = code[position]
        if mark == "}":
            return position + 1
        if code.startswith(quote, position):
            # The field was not closed; the string ends here all the same.
            return position
        position = _field_end(code, position + 1, quote, raw) if mark == "{" else position + 1
    return position
