"""Texts cut to a size, with what was left out said in the middle."""


def number(count):
    """Returns a count with its thousands marked, as in `1,234`."""
    return format(count, ",")


def counted(count, noun):
    """Returns `1 row`, `2 rows`, `1,234 rows`."""
    return number(count) + " " + noun + ("" if count == 1 else "s")


def clip(text, limit):
    """Returns `text` when it has at most `limit` characters.

    A longer one keeps two thirds of the limit from its start and one third
    from its end, and says between them how many characters are missing.
    """
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    missing = counted(len(text) - head - tail, "character")
    return text[:head] + "... " + missing + " left out ..." + text[len(text) - tail:]


def clip_line(text, limit):
    """Returns the first line of `text`, cut to `limit` characters."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= limit else line[: limit - 3] + "..."


def printable(text):
    """Returns `text` with what UTF-8 cannot hold escaped.

    A string of Python may hold half of a surrogate pair, which no frame can
    carry; `\\udc80` is then shown as those six characters.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text
