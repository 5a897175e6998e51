"""Images: figures of matplotlib and plotly, pictures of PIL, encoded files.

A figure goes out once. One that was shown as a value, by `display` or by
`plt.show()` is not shown again when the cell ends, unless it was drawn on
since; then all of them are closed, as in a notebook.
"""

import io
import struct
import sys
import types
import weakref

text = kernel.module("text")

# Pixels of the longer side. Models see no more than about this much.
SIDE = kernel.options.get("image_side", 1600)
# Figures that one cell sends.
FIGURES = kernel.options.get("figures", 8)
# Bytes of one encoded image.
BYTES = 16 * 1024 * 1024

_shown = weakref.WeakSet()


class Image:
    """An encoded image and what is known of it."""

    def __init__(self, data, mime, note=None):
        self.data = data
        self.mime = mime
        self.note = note
        self.width, self.height = dimensions(data)


def image_of(obj):
    """Returns the image that `obj` is, a text in its place, or `None`."""
    for kind in type(obj).__mro__:
        module = kind.__module__
        if not isinstance(module, str):
            continue
        draw = _KINDS.get((module.partition(".")[0], kind.__name__))
        if draw is not None:
            return draw(obj)
    return None


# matplotlib.


def _figure(figure):
    figure = getattr(figure, "figure", None) or figure
    dpi, note = figure.dpi, None
    width, height = _inches(figure)
    longest = max(width, height) * dpi
    if longest > SIDE:
        dpi *= SIDE / longest
        note = "drawn smaller: the figure has %d×%d pixels" % (width * figure.dpi, height * figure.dpi)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=dpi, bbox_inches="tight")
    # The margins were changed for the file and back again; what the user draws
    # from here on makes it stale once more.
    figure.stale = False
    _shown.add(figure)
    return Image(file.getvalue(), "image/png", note)


def _inches(figure):
    """Returns the size that is drawn: what the artists cover, with a margin."""
    try:
        box = figure.get_tightbbox(figure.canvas.get_renderer())
        return box.width + 0.2, box.height + 0.2
    except Exception:
        # Only some canvases lend a renderer. The size of the page is close.
        return tuple(figure.get_size_inches())


def send_figures(send):
    """Sends the open figures that were not shown, and closes them all."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    get_numbers = getattr(pyplot, "get_fignums", None)
    if get_numbers is None:
        return
    left_out = sent = 0
    for number in get_numbers():
        figure = pyplot.figure(number)
        if figure in _shown and not figure.stale:
            continue
        if sent == FIGURES:
            left_out += 1
            continue
        sent += 1
        try:
            send(_figure(figure))
        except Exception as error:
            reason = type(error).__name__ + ": " + " ".join(str(error).split())
            kernel.note("figure %s cannot be drawn: %s" % (number, text.clip_line(reason, 300)))
    pyplot.close("all")
    if left_out:
        kernel.note(text.counted(left_out, "more figure") + ", not sent")


def prepare_pyplot(show):
    """Makes `plt.show()` call `show`; to be called once pyplot is loaded."""
    import warnings

    import matplotlib
    from matplotlib.backend_bases import FigureManagerBase
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    backend = types.ModuleType("toolset_figures")
    backend.FigureCanvas = FigureCanvasAgg
    backend.FigureManager = FigureManagerBase
    backend.show = lambda *arguments, **options: show()
    sys.modules[backend.__name__] = backend
    matplotlib.use("module://" + backend.__name__)
    # Said by `plt.show()` where the user has chosen the plain backend; the
    # figure is shown when the cell ends.
    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


# plotly.


def _plotly(figure):
    try:
        return fitted(figure.to_image(format="png"), "image/png")
    except Exception:
        # The exporter is a package of its own, and needs a browser.
        return _plotly_summary(figure)


def _plotly_summary(figure):
    kinds = sorted({getattr(trace, "type", "?") for trace in figure.data})
    title = getattr(getattr(figure.layout, "title", None), "text", None)
    summary = "plotly figure: " + text.counted(len(figure.data), "trace")
    if kinds:
        summary += " (" + ", ".join(kinds[:5]) + ")"
    if title:
        summary += ', title "' + text.clip_line(str(title), 100) + '"'
    return summary + "; no image: that needs the package kaleido and a browser"


# PIL.


def _picture(picture):
    width, height = picture.size
    if not width or not height:
        return "image of %d×%d pixels, mode %s" % (width, height, picture.mode)
    note = None
    if max(width, height) > SIDE:
        note = "drawn smaller: the image has %d×%d pixels" % (width, height)
        picture = picture.copy()
        picture.thumbnail((SIDE, SIDE))
    if picture.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        picture = picture.convert("RGB")
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return Image(file.getvalue(), "image/png", note)


# Files.


def fitted(data, mime):
    """Returns an encoded image, made smaller where it is too large to send."""
    data = bytes(data)
    width, height = dimensions(data)
    if max(width or 0, height or 0) <= SIDE and len(data) <= BYTES:
        return Image(data, mime)
    try:
        import PIL.Image

        return _picture(PIL.Image.open(io.BytesIO(data)))
    except Exception:
        if len(data) <= BYTES:
            return Image(data, mime)
        return "image of %s bytes, too large to send" % text.number(len(data))


def dimensions(data):
    """Returns width and height in pixels of a PNG or JPEG file, if it says so."""
    try:
        if data[:8] == b"\x89PNG\r\n\x1a\n":
            return struct.unpack(">II", data[16:24])
        if data[:2] == b"\xff\xd8":
            return _jpeg_dimensions(data)
    except (struct.error, IndexError):
        pass
    return None, None


def _jpeg_dimensions(data):
    # Markers follow one another, each with its length; those of a frame hold
    # its size. Three codes in their range mean something else.
    position = 2
    while data[position] == 0xFF:
        marker = data[position + 1]
        length = struct.unpack(">H", data[position + 2 : position + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[position + 5 : position + 9])
            return width, height
        position += 2 + length
    return None, None


_KINDS = {
    ("matplotlib", "FigureBase"): _figure,
    ("matplotlib", "Figure"): _figure,
    ("PIL", "Image"): _picture,
    ("plotly", "BaseFigure"): _plotly,
}
