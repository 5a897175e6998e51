"""The text of a value, bounded in size and in time whatever the value is.

What Python itself would build in full, such as the text of a list of three
million numbers, is built here from its first and last items only. A class that
writes its own `__repr__` is asked for it, and only the answer is cut.
"""

import collections
import itertools

text = kernel.module("text")

# Characters of one value. A model reads all of it, so it is about two screens.
LIMIT = kernel.options.get("value_chars", 8000)
# Characters of one line, where the layout is ours.
WIDTH = 100
# Items of a container before it is shortened, and what is left of it then.
SHORT = 200
HEAD = 50
TAIL = 10
# Items in all, and how deep: what bounds the time of a nested value.
ITEMS = 2000
DEPTH = 12
# Bits of an integer that Python turns into decimal digits at once. Longer ones
# take time that grows with the square, and Python 3.11 refuses them.
DECIMAL_BITS = 12000


class _Budget:
    """What is left to spend on one value, shared by everything inside it."""

    def __init__(self, characters):
        self.characters = characters
        self.items = ITEMS
        self.open = set()


def value(obj, limit=None):
    """Returns the text of `obj`, at most a little over `limit` characters."""
    limit = LIMIT if limit is None else limit
    budget = _Budget(limit)
    result = text.clip(_text(obj, budget, 0), limit + limit // 4)
    size = _shortened(obj)
    if size:
        result += "\n" + size
    return text.printable(result)


def short(obj, limit=200):
    """Returns the text of `obj` on one line, its start when it is longer."""
    if type(obj) in (str, bytes):
        # The mark in the middle would be most of what is left.
        obj = obj[:limit]
    line = value(obj, limit).replace("\n", " ")
    return line if len(line) <= limit else line[: limit - 3] + "..."


def _shortened(obj):
    """Returns the line that gives the size of a container shown in part."""
    if isinstance(obj, (list, tuple, dict, set, frozenset, collections.deque)):
        try:
            count = len(obj)
        except Exception:
            return None
        if count > SHORT and type(obj).__repr__ in _HANDLERS:
            return type(obj).__name__ + " of " + text.counted(count, "item")
    return None


def _text(obj, budget, depth):
    kind = type(obj)
    try:
        handler = _HANDLERS.get(kind.__repr__)
    except Exception:
        # A metaclass may hide the attribute, and a method need not be hashable.
        handler = None
    try:
        if handler is None:
            handler = _generated(kind)
        if handler is None:
            shown = repr(obj)
        elif handler in _LEAVES:
            shown = handler(obj, _share(budget, depth))
        else:
            return _nested(handler, obj, budget, depth)
    except Exception as error:
        shown = _broken(kind, error)
    shown = text.clip(shown, 2 * _share(budget, depth))
    budget.characters -= len(shown)
    return shown


def _share(budget, depth):
    """Returns the characters that one text may take of what is left.

    An item leaves most of it to its neighbours.
    """
    return max(budget.characters // 4 if depth else budget.characters, 100)


def _nested(handler, obj, budget, depth):
    if id(obj) in budget.open:
        return "<recursion on " + type(obj).__name__ + ">"
    if depth >= DEPTH or budget.characters <= 0 or budget.items <= 0:
        return "<" + type(obj).__name__ + " ...>"
    budget.open.add(id(obj))
    try:
        return handler(obj, budget, depth)
    finally:
        budget.open.discard(id(obj))


def _broken(kind, error):
    """Says that a value has no text, naming its type and the reason."""
    try:
        reason = text.clip(str(error), 200)
    except Exception:
        reason = "whose own text cannot be made either"
    name = kind.__name__
    return "<" + name + " object whose `__repr__` raised " + type(error).__name__ + ": " + reason + ">"


def _generated(kind):
    """Returns the handler for classes whose `__repr__` a decorator wrote."""
    method = kind.__repr__
    code = getattr(method, "__code__", None)
    if code is None:
        return None
    if code.co_filename == collections.namedtuple.__code__.co_filename:
        return _namedtuple if hasattr(kind, "_fields") else None
    if hasattr(method, "__wrapped__") and hasattr(kind, "__dataclass_fields__"):
        return _dataclass if code.co_name == "wrapper" else None
    return None


# Values without items.


def _integer(obj, limit):
    bits = int.bit_length(obj)
    if bits <= DECIMAL_BITS:
        return int.__repr__(obj)
    sign = "-" if obj < 0 else ""
    first = abs(obj) >> (bits - 64)
    digits = text.number(int(bits * 0.30103) + 1)
    return "<integer of about " + digits + " digits, " + sign + hex(first) + "... in base 16>"


def _sliced(obj, limit):
    """The text of a string or of bytes, made from its two ends when it is long."""
    whole = type(obj).__repr__
    if len(obj) <= limit:
        return whole(obj)
    head = limit * 2 // 3
    tail = limit - head
    missing = text.number(len(obj) - head - tail)
    ends = [whole(obj[:head]), whole(obj[len(obj) - tail:])]
    unit = "characters" if isinstance(obj, str) else "bytes"
    size = " (" + text.number(len(obj)) + " " + unit + ")"
    return ends[0] + " ... " + missing + " left out ... " + ends[1] + size


# Containers.


def _items(obj, budget, depth, shows):
    """Returns the texts of the items that are shown, with a mark for the rest."""
    count = len(obj)
    head, tail = (count, 0) if count <= SHORT else (HEAD, TAIL)
    if tail and not (isinstance(obj, tuple) or hasattr(type(obj), "__reversed__")):
        head, tail = head + tail, 0
    shown = []
    for item in itertools.islice(iter(obj), head):
        if budget.characters <= 0 or budget.items <= 0:
            tail = 0
            break
        budget.items -= 1
        shown.append(shows(item))
        budget.characters -= 2
    last = []
    if tail:
        for item in itertools.islice(reversed(obj), tail):
            budget.items -= 1
            last.append(shows(item))
        last.reverse()
    missing = count - len(shown) - len(last)
    if missing > 0:
        shown.append("... " + text.number(missing) + " more ...")
    return shown + last


def _sequence(opening, closing):
    def handler(obj, budget, depth):
        shown = _items(obj, budget, depth, lambda item: _text(item, budget, depth + 1))
        if closing == ")" and len(obj) == 1 and opening == "(":
            shown[0] += ","
        return _laid_out(opening, shown, closing)

    return handler


def _set(obj, budget, depth):
    kind = type(obj)
    if not len(obj):
        return kind.__name__ + "()"
    shown = _items(obj, budget, depth, lambda item: _text(item, budget, depth + 1))
    if kind is set:
        return _laid_out("{", shown, "}")
    return _laid_out(kind.__name__ + "({", shown, "})")


def _dict_body(obj, budget, depth):
    def pair(key):
        name = _text(key, budget, depth + 1)
        shown = _text(dict.__getitem__(obj, key), budget, depth + 1)
        return name + ": " + shown.replace("\n", "\n  ")

    return _laid_out("{", _items(dict.keys(obj), budget, depth, pair), "}")


def _dict(obj, budget, depth):
    return _dict_body(obj, budget, depth)


def _named_dict(obj, budget, depth):
    name = type(obj).__name__
    return name + "(" + _dict_body(obj, budget, depth) + ")" if obj else name + "()"


def _counter(obj, budget, depth):
    if len(obj) <= SHORT:
        # The most common first, as the class itself shows them.
        obj = type(obj)(dict(obj.most_common())) if type(obj) is collections.Counter else obj
    return _named_dict(obj, budget, depth)


def _defaultdict(obj, budget, depth):
    factory = _text(obj.default_factory, budget, depth + 1)
    return type(obj).__name__ + "(" + factory + ", " + _dict_body(obj, budget, depth) + ")"


def _deque(obj, budget, depth):
    shown = _items(obj, budget, depth, lambda item: _text(item, budget, depth + 1))
    end = "])" if obj.maxlen is None else "], maxlen=" + repr(obj.maxlen) + ")"
    return _laid_out(type(obj).__name__ + "([", shown, end)


def _view(obj, budget, depth):
    shown = _items(obj, budget, depth, lambda item: _text(item, budget, depth + 1))
    return _laid_out(type(obj).__name__ + "([", shown, "])")


def _namedtuple(obj, budget, depth):
    shown = [
        name + "=" + _text(item, budget, depth + 1)
        for name, item in zip(obj._fields, tuple.__iter__(obj))
    ]
    return _laid_out(type(obj).__name__ + "(", shown, ")")


def _dataclass(obj, budget, depth):
    shown = [
        name + "=" + _text(getattr(obj, name), budget, depth + 1)
        for name, field in type(obj).__dataclass_fields__.items()
        if field.repr and field._field_type.name == "_FIELD"
    ]
    return _laid_out(type(obj).__qualname__ + "(", shown, ")")


def _exception(obj, budget, depth):
    shown = [_text(item, budget, depth + 1) for item in obj.args[:SHORT]]
    return _laid_out(type(obj).__name__ + "(", shown, ")")


def _laid_out(opening, shown, closing):
    """Puts items on one line when they fit, else fills lines or takes one each."""
    line = opening + ", ".join(shown) + closing
    if len(line) <= WIDTH and "\n" not in line:
        return line
    indent = "\n" + " " * len(opening) if len(opening) <= 2 else "\n    "
    start = opening if len(opening) <= 2 else opening + indent
    if any(len(item) > 40 or "\n" in item for item in shown):
        return start + ("," + indent).join(item.replace("\n", indent) for item in shown) + closing
    lines, current = [], ""
    for position, item in enumerate(shown):
        item += "," if position + 1 < len(shown) else closing
        if current and len(current) + len(item) + len(indent) > WIDTH:
            lines.append(current)
            current = item
        else:
            current = current + " " + item if current else item
    return start + indent.join(lines + [current])


_LEAVES = {_integer, _sliced}
_HANDLERS = {
    int.__repr__: _integer,
    str.__repr__: _sliced,
    bytes.__repr__: _sliced,
    bytearray.__repr__: _sliced,
    list.__repr__: _sequence("[", "]"),
    tuple.__repr__: _sequence("(", ")"),
    set.__repr__: _set,
    frozenset.__repr__: _set,
    dict.__repr__: _dict,
    type({}.keys()).__repr__: _view,
    type({}.values()).__repr__: _view,
    type({}.items()).__repr__: _view,
    type(collections.OrderedDict().keys()).__repr__: _view,
    type(collections.OrderedDict().values()).__repr__: _view,
    type(collections.OrderedDict().items()).__repr__: _view,
    collections.OrderedDict.__repr__: _named_dict,
    collections.Counter.__repr__: _counter,
    collections.defaultdict.__repr__: _defaultdict,
    collections.deque.__repr__: _deque,
    BaseException.__repr__: _exception,
}
