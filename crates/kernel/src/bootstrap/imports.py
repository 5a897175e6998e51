"""What is adapted in a library when it is imported.

The core calls `adapt` right after one of these modules was loaded, before the
cell that imports it goes on.
"""


def adapt(module):
    """Makes what the library shows come out here."""
    try:
        _ADAPTED[module.__name__](module)
    except Exception as error:
        kernel.note("`%s` may show nothing here: %s" % (module.__name__, error))


def _pyplot(module):
    kernel.module("figures").prepare_pyplot(kernel.module("display").end_of_cell)


def _ipython(module):
    display = kernel.module("display")
    module.display = display.display
    module.clear_output = display.clear_output
    module.update_display = lambda obj, **options: display.display(obj, **options)


def _plotly(module):
    # Its own way is to open a browser and to wait for it.
    def show(self, *arguments, **options):
        kernel.module("display").display(self)

    module.BaseFigure.show = show


_ADAPTED = {
    "matplotlib.pyplot": _pyplot,
    "IPython.core.display_functions": _ipython,
    "plotly.basedatatypes": _plotly,
}
