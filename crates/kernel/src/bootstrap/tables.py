"""The text of frames, series, arrays and data sets.

Each library has a text form of its own; it is asked for it with limits set, so
that a frame of any size takes one screen. No library is imported here: a value
of it exists only where it has been.
"""

import sys

text = kernel.module("text")
values = kernel.module("values")

# Rows shown of a table, half from its start and half from its end.
ROWS = 20
# Characters of a line of a table, and of one cell.
WIDTH = 120
CELL = 50
# Columns that are tried to fill a line. More would not fit.
COLUMNS = WIDTH // 3
# Items of an array that is shown in full.
ARRAY = 200


def table_text(obj):
    """Returns the text of `obj`, or `None` when it is not a table."""
    for kind in type(obj).__mro__:
        module = kind.__module__
        root = module.partition(".")[0] if isinstance(module, str) else None
        shows = _LIBRARIES.get((root, kind.__name__))
        if shows is not None and root in sys.modules:
            shown = shows(obj, sys.modules[root])
            if shown is not None:
                return text.printable(text.clip(shown, values.LIMIT))
    return None


def _dimensions(rows, columns):
    return text.counted(rows, "row") + " × " + text.counted(columns, "column")


# pandas.


def _frame(frame, pandas):
    rows, columns = frame.shape
    size = _dimensions(rows, columns)
    if rows == 0 or columns == 0:
        names = values.short(list(frame.columns[:COLUMNS]))
        return "empty table, columns " + names + "\n" + size
    with pandas.option_context(*_OPTIONS):
        # pandas fits a table to the terminal only, which is none here, so the
        # number of columns that fit the line is found by trying.
        count = min(columns, COLUMNS)
        shown = _rendered(frame, count)
        width = _width(shown)
        while width > WIDTH and count > 2:
            count = max(2, min(count - 1, count * WIDTH // width))
            shown = _rendered(frame, count)
            width = _width(shown)
    return shown + "\n" + size


def _rendered(frame, columns):
    return frame.to_string(
        max_rows=ROWS,
        min_rows=ROWS,
        max_cols=columns,
        max_colwidth=CELL,
        show_dimensions=False,
    )


def _width(shown):
    return max(map(len, shown.split("\n")))


_OPTIONS = (
    "display.max_colwidth", CELL,
    "display.max_seq_items", 20,
    "display.width", WIDTH,
    "display.show_dimensions", False,
)


def _series(series, pandas):
    with pandas.option_context(*_OPTIONS):
        return series.to_string(
            max_rows=ROWS, min_rows=ROWS, name=True, dtype=True, length=len(series) > ROWS
        )


def _index(index, pandas):
    with pandas.option_context(*_OPTIONS):
        return repr(index)


def _styler(styler, pandas):
    # What it would show is the same table in HTML, many times as long.
    return _frame(styler.data, pandas)


# numpy.


def _array(array, numpy):
    if array.ndim > 6 and array.size > ARRAY:
        first = ", ".join(values.short(item, CELL) for item in array.flat[:10])
        return "array of shape %s, %s\nfirst items: %s, ..." % (array.shape, array.dtype, first)
    with numpy.printoptions(
        threshold=ARRAY,
        edgeitems=3 if array.ndim <= 3 else 1,
        linewidth=WIDTH,
        formatter={"object": lambda item: values.short(item, CELL)},
    ):
        shown = repr(array)
    if array.size > ARRAY:
        shape = " × ".join(text.number(side) for side in array.shape)
        shown += "\n" + shape + (" items, " if array.ndim == 1 else ", ") + str(array.dtype)
    return shown


# polars.


def _polars(obj, polars):
    with polars.Config() as config:
        config.set_tbl_rows(ROWS)
        config.set_tbl_cols(12)
        config.set_tbl_width_chars(WIDTH)
        config.set_fmt_str_lengths(CELL)
        config.set_fmt_table_cell_list_len(5)
        return repr(obj)


# pyarrow.


def _arrow_table(table, pyarrow):
    shown = []
    for name, column in list(zip(table.column_names, table.columns))[:COLUMNS]:
        first = [values.short(item.as_py(), CELL) for item in column[:6]]
        if len(column) > 6:
            first.append("...")
        line = "%s: %s = %s" % (name, column.type, ", ".join(first))
        shown.append(text.clip_line(line, WIDTH))
    if table.num_columns > COLUMNS:
        shown.append("... " + text.counted(table.num_columns - COLUMNS, "column") + " more ...")
    shown.append(_dimensions(table.num_rows, table.num_columns))
    return "\n".join(shown)


def _arrow_array(array, pyarrow):
    to_string = getattr(array, "to_string", None)
    shown = to_string(window=5) if to_string else repr(array)
    if len(array) > 10:
        shown += "\n" + text.counted(len(array), "item") + ", " + str(array.type)
    return shown


# xarray.


def _xarray(obj, xarray):
    with xarray.set_options(display_width=WIDTH, display_max_rows=ROWS):
        return repr(obj)


_LIBRARIES = {
    ("pandas", "DataFrame"): _frame,
    ("pandas", "Series"): _series,
    ("pandas", "Index"): _index,
    ("pandas", "Styler"): _styler,
    ("numpy", "ndarray"): _array,
    ("polars", "DataFrame"): _polars,
    ("polars", "Series"): _polars,
    ("pyarrow", "Table"): _arrow_table,
    ("pyarrow", "RecordBatch"): _arrow_table,
    ("pyarrow", "Array"): _arrow_array,
    ("pyarrow", "ChunkedArray"): _arrow_array,
    ("xarray", "Dataset"): _xarray,
    ("xarray", "DataArray"): _xarray,
}
