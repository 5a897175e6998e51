# Prepares modules when a cell imports them, before the cell goes on.
import sys


def spec_of(name, path, target):
    """Finds a module as everybody would, and prepares it once it is loaded."""
    for finder in sys.meta_path:
        if finder is not kernel.Imports:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
    else:
        return None
    loader = spec.loader

    class Loader:
        def create_module(self, spec):
            return loader.create_module(spec)

        def exec_module(self, module):
            loader.exec_module(module)
            _PREPARED.get(name, _adapt)(module)

        def __getattr__(self, attribute):
            return getattr(loader, attribute)

    spec.loader = Loader()
    return spec


def _fill_lines(linecache):
    for name, lines in kernel.codes.items():
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)


def _set_loop(asyncio):
    kernel.module("tasks").set_loop()


def _prefer_fork(multiprocessing):
    # Cells cannot be imported, so workers that start anew would not find them.
    if sys.platform == "linux":
        context = multiprocessing.context
        context._default_context._default_context = context._concrete_contexts["fork"]


def _adapt(library):
    kernel.module("imports").adapt(library)


_PREPARED = {
    "linecache": _fill_lines,
    "asyncio": _set_loop,
    "multiprocessing": _prefer_fork,
}
