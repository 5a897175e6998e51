"""What is shown of a value: images, tables, the object's own forms, its text."""

text = kernel.module("text")
values = kernel.module("values")

# Where displays go while `%%capture` runs; the last one takes them.
captures = []


def value_text(obj):
    """Returns the text of a cell's value, after sending what is an image.

    `None` when an image says it all.
    """
    shown = _forms(obj)
    if shown is None:
        return values.value(obj)
    if isinstance(shown, str):
        # Empty where the object has shown itself.
        return shown or None
    _send_image(shown)
    return None


def display(*objects, raw=False, display_id=None, **options):
    """Shows each object now, as if it were the value of the cell.

    With `raw`, an object is a dictionary from types such as `image/png` to
    data. The other options of IPython's function are accepted.
    """
    for obj in objects:
        is_bundle = raw and isinstance(obj, dict)
        shown = _bundle_form(obj) if is_bundle else _forms(obj)
        _send(values.value(obj) if shown is None else shown)
    return _Handle(display_id) if display_id else None


def end_of_cell():
    """Sends the figures that the cell left open, and closes them."""
    kernel.module("figures").send_figures(_send_image)


def clear_output(wait=False):
    """Does nothing: what was sent stays."""


class _Handle:
    """What `display(..., display_id=True)` returns; an update is shown anew."""

    def __init__(self, display_id):
        self.display_id = display_id

    def display(self, obj, **options):
        display(obj, **options)

    def update(self, obj, **options):
        display(obj, **options)


def _send(shown):
    if isinstance(shown, str):
        if not shown:
            # What `_ipython_display_` has shown itself.
            return
        _pass("text/plain", shown, None, None, None)
    else:
        _send_image(shown)


def _send_image(image):
    if isinstance(image, str):
        _send(image)
    else:
        _pass(image.mime, image.data, image.width, image.height, image.note)


def _pass(*parts):
    if captures:
        captures[-1].append(parts)
    else:
        kernel.send_display(*parts)


def _forms(obj):
    """Returns an image or a text of `obj`, `None` when its plain text is to be used."""
    try:
        if type(obj).__module__ == "builtins":
            return None
        figures = kernel.module("figures")
        image = figures.image_of(obj)
        if image is not None:
            return image
        table = kernel.module("tables").table_text(obj)
        if table is not None:
            return table
        return _own_form(obj, figures)
    except Exception:
        # What a library does badly is no reason to show nothing.
        return None


def _method(obj, name):
    """Returns a method of the class, so that an object that answers to any
    name, such as a mock, is not asked for forms that it does not have."""
    method = getattr(type(obj), name, None)
    return method if callable(method) else None


def _call(obj, name, *arguments, **options):
    """Returns the form that the object gives under `name`, or `None`."""
    method = _method(obj, name)
    if method is None:
        return None
    try:
        found = method(obj, *arguments, **options)
    except Exception:
        return None
    # A form may come with metadata.
    return found[0] if isinstance(found, tuple) and found else found


def _own_form(obj, figures):
    own = _method(obj, "_ipython_display_")
    if own is not None:
        own(obj)
        return ""
    bundle = _call(obj, "_repr_mimebundle_", include=None, exclude=None)
    if isinstance(bundle, dict):
        form = _bundle_form(bundle)
        if form is not None:
            return form
    for name, mime in (("_repr_png_", "image/png"), ("_repr_jpeg_", "image/jpeg")):
        data = _call(obj, name)
        if data:
            return figures.fitted(_decoded(data), mime)
    markdown = _call(obj, "_repr_markdown_")
    if isinstance(markdown, str) and markdown:
        return _bounded(markdown)
    if type(obj).__repr__ is object.__repr__ or _is_markup(obj):
        page = _call(obj, "_repr_html_")
        if isinstance(page, str) and page:
            return _bounded(kernel.module("markup").text_of(page))
        formula = _call(obj, "_repr_latex_")
        if isinstance(formula, str) and formula:
            return _bounded(formula)
    return None


def _is_markup(obj):
    """Returns whether the object's own text would only name its class."""
    try:
        return repr(obj).startswith("<" + type(obj).__module__ + ".")
    except Exception:
        return True


def _bundle_form(bundle):
    """Returns the best of the forms in a dictionary from type to data."""
    for mime in ("image/png", "image/jpeg"):
        if bundle.get(mime):
            return kernel.module("figures").fitted(_decoded(bundle[mime]), mime)
    plain = bundle.get("text/plain")
    page = bundle.get("text/html")
    if bundle.get("text/markdown"):
        return _bounded(bundle["text/markdown"])
    if isinstance(page, str) and (not plain or str(plain).startswith("<")):
        return _bounded(kernel.module("markup").text_of(page))
    if plain:
        return _bounded(plain)
    if bundle.get("text/latex"):
        return _bounded(bundle["text/latex"])
    kinds = ", ".join(sorted(str(mime) for mime in bundle)[:5])
    return "nothing to show in text: the forms are " + kinds if kinds else None


def _decoded(data):
    """Images in dictionaries are base64 where they were made for a web page."""
    if isinstance(data, str):
        import binascii

        return binascii.a2b_base64(data)
    return data


def _bounded(form):
    return text.printable(text.clip(str(form), values.LIMIT))
