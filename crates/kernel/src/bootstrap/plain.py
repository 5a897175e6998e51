# The text of small collections, without the machinery for large and foreign ones.

_ATOMS = {type(None), bool, float}
_LISTS = {list, tuple, set, frozenset}


def text_of(value):
    """Returns the text of a small collection of plain values, else None."""
    return repr(value) if _is_plain(value, [64], 0) else None


def _is_plain(value, room, depth):
    room[0] -= 1
    if room[0] < 0 or depth > 4:
        return False
    kind = type(value)
    if kind is int:
        return value.bit_length() < 1024
    if kind is str or kind is bytes:
        return len(value) < 1000
    if kind in _ATOMS:
        return True
    if kind in _LISTS:
        return len(value) <= room[0] and all(_is_plain(item, room, depth + 1) for item in value)
    if kind is dict:
        return len(value) <= room[0] and all(
            _is_plain(key, room, depth + 1) and _is_plain(item, room, depth + 1)
            for key, item in value.items()
        )
    return False
