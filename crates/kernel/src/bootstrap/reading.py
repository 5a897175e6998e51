# Cells that are no Python as they stand.


def read(source, name, flags, refused):
    """Parses a cell that was refused: without the indent that its lines share,
    or with its idioms rewritten. Returns the tree and the text that it is of."""
    if isinstance(refused, IndentationError):
        level = _dedent(source)
        try:
            return compile(level, name, "exec", flags, True), level
        except (SyntaxError, ValueError):
            pass
    if not isinstance(refused, SyntaxError):
        raise SyntaxError(str(refused)) from None
    plain = kernel.module("idioms").rewrite(source)
    if plain != source:
        return compile(plain, name, "exec", flags, True), plain
    raise explained(refused, source) from None


def explained(error, source):
    """Adds what to do instead, and the line, where Python does not."""
    if error.msg and error.msg.startswith("'return' outside"):
        error.msg += ": write the value as the last line of the cell"
    elif error.msg and error.msg.startswith("'yield' outside"):
        error.msg += ": put it into a function, or print the values"
    lines = source.splitlines()
    if error.text is None and error.lineno and error.lineno <= len(lines):
        error.text = lines[error.lineno - 1]
    return error


def _dedent(source):
    lines = source.splitlines(True)
    margin = None
    for line in lines:
        text = line.lstrip(" \t")
        if not text.strip() or text.startswith("#"):
            continue
        indent = line[: len(line) - len(text)]
        if margin is None:
            margin = indent
        while not indent.startswith(margin):
            margin = margin[:-1]
    cut = len(margin or "")
    return "".join(line[cut:] if line[:cut] == margin else line.lstrip(" \t") for line in lines)
