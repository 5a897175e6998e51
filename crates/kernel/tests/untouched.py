"""Shows that valid Python is never rewritten, on all of the standard library.

The kernel rewrites a cell only when `compile()` refuses it, which alone keeps
valid cells as they are. This calls the rewriting all the same, on every file
that `compile()` accepts, with one idiom as its last line: that line must be the
only one that changes, whatever stands in strings and continued lines before it.

    python3 untouched.py [STEP]

With a step of 10, every tenth file.

Prints one line and ends with 1 when a file was changed.
"""

import itertools
import os
import sys
import sysconfig
import time
import tokenize
import types
import warnings

BOOTSTRAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "bootstrap")


def load():
    """Returns the module that rewrites, with as much of the kernel as it needs."""
    kernel = types.ModuleType("kernel")
    kernel.options, kernel.user, modules = {}, {}, {}

    def module(name):
        if name not in modules:
            modules[name] = types.ModuleType(name)
            modules[name].kernel = kernel
            with open(os.path.join(BOOTSTRAP, name + ".py"), encoding="utf-8") as file:
                exec(compile(file.read(), name, "exec"), vars(modules[name]))
        return modules[name]

    kernel.module = module
    return module("idioms")


def files():
    for folder, folders, names in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = sorted(set(folders) - {"site-packages", "dist-packages", "__pycache__"})
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def main():
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    warnings.simplefilter("ignore")
    idioms = load()
    start, checked, refused, lookalikes, changed = time.time(), 0, 0, 0, []
    for path in itertools.islice(files(), 0, None, step):
        try:
            with tokenize.open(path) as file:
                code = file.read()
            compile(code, path, "exec")
        except (SyntaxError, UnicodeDecodeError, ValueError):
            refused += 1
            continue
        checked += 1
        lookalikes += any(line.lstrip()[:1] in ("%", "!", "?") for line in code.split("\n"))
        if not code.endswith("\n"):
            code += "\n"
        try:
            rewritten = idioms.rewrite(code + "!true\n")
        except idioms.IdiomError as error:
            changed.append("%s (%s)" % (path, error))
            continue
        if rewritten != code + idioms.HELPER + ".system('true')\n":
            changed.append(path)
    for path in changed:
        print("changed: " + path)
    print(
        "%d files with Python %s, %d of them with lines that look like idioms: %d changed; "
        "%d files are no valid Python; %.1f s"
        % (checked, sys.version.split()[0], lookalikes, len(changed), refused, time.time() - start)
    )
    return 1 if changed or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
