"""`%pip`: runs the installer of this interpreter, then forgets what it replaced.

What changed is read from the lists of files that installed packages keep, before
and after. Of a package that changed, the loaded modules are dropped, so that the
next import finds the new ones; but not when native code of it is loaded, which
cannot be loaded twice into one process.
"""

import contextlib
import csv
import importlib
import importlib.machinery
import importlib.util
import os
import re
import shlex
import shutil
import sys

lexer = kernel.module("lexer")
shell = kernel.module("shell")
text = kernel.module("text")

_WATCHED = re.compile(
    r"\b(?:pip[\d.]*|uv|conda|mamba|poetry|pdm|easy_install)\b[^\n;|&]*"
    r"\b(?:install|uninstall|add|remove|sync|update|upgrade)\b"
)
_CHARACTERS_OF_SHELL = re.compile(r"[|;&<>$`\n\\]")


def run(arguments):
    """Runs pip with these arguments; raises when it fails, and drops nothing then."""
    program = _program(arguments)
    before = _installed()
    code = shell.run(program)
    kernel.user["_exit_code"] = code
    if code:
        raise shell.CommandFailed(code, "pip " + " ".join(arguments[:1]))
    _settle(before)


def arguments_of(command):
    """Returns the arguments of a command that is nothing but pip, else `None`."""
    command = command.strip()
    own = shlex.quote(sys.executable or "python") + " -m pip "
    if command.startswith(own):
        command = "pip " + command[len(own):]
    match = lexer.PIP.match(command)
    if match is None or _CHARACTERS_OF_SHELL.search(command):
        return None
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return None
    start = next(number for number, word in enumerate(words) if word.startswith("pip"))
    return words[start + 1 :]


@contextlib.contextmanager
def watched(command):
    """Does the same for a command that may install something among other things."""
    if not _WATCHED.search(command):
        yield
        return
    before = _installed()
    yield
    _settle(before)


def _program(arguments):
    """Returns the command line of pip, or of uv where there is no pip."""
    if arguments[:1] == ["uninstall"] and not {"-y", "--yes"} & set(arguments):
        # There is nobody to ask.
        arguments = ["uninstall", "-y"] + arguments[1:]
    try:
        has_pip = importlib.util.find_spec("pip") is not None
    except (ImportError, ValueError):
        has_pip = False
    if has_pip:
        options = ["--disable-pip-version-check", "--no-input"]
        if "PIP_PROGRESS_BAR" not in os.environ and arguments[:1] == ["install"]:
            arguments = ["install", "--progress-bar", "off"] + arguments[1:]
        return [sys.executable, "-m", "pip"] + options + arguments
    uv = shutil.which("uv")
    if uv is None:
        raise RuntimeError(
            "cannot install: %s has no pip, and there is no `uv` either; "
            "run `!%s -m ensurepip` first, or install uv" % (sys.executable, sys.executable)
        )
    arguments = [word for word in arguments if word not in ("-y", "--yes")]
    return [uv, "pip"] + arguments[:1] + ["--python", sys.executable] + arguments[1:]


# What is installed.


class _Package:
    """One installed package: its folder, its version, and its list of files."""

    def __init__(self, site, folder):
        name, _, version = folder.rpartition(".")[0].partition("-")
        self.name = re.sub(r"[-_.]+", "-", name).lower()
        self.version = version.partition("-")[0]
        self.site = site
        self.mark, self.record = _record(os.path.join(site, folder))

    def files(self):
        """Returns the absolute paths of the files."""
        rows = csv.reader(self.record.decode("utf-8", "replace").splitlines())
        return {os.path.normpath(os.path.join(self.site, row[0])) for row in rows if row}


def _record(folder):
    for name in ("RECORD", "installed-files.txt", ""):
        path = os.path.join(folder, name) if name else folder
        try:
            state = os.stat(path)
            mark = (state.st_mtime_ns, state.st_size, state.st_ino)
            if not name:
                return mark, b""
            with open(path, "rb") as file:
                return mark, file.read()
        except OSError:
            continue
    return None, b""


def _installed():
    """Returns the packages on the module path, by folder."""
    found = {}
    for site in dict.fromkeys(os.path.realpath(entry or ".") for entry in sys.path):
        try:
            folders = os.listdir(site)
        except OSError:
            continue
        for folder in folders:
            if folder.endswith((".dist-info", ".egg-info")):
                found[site, folder] = _Package(site, folder)
    return found


# What changed.


def _settle(before):
    """Makes imports see what is installed now."""
    importlib.invalidate_caches()
    _add_user_site()
    after = _installed()
    files, versions, added = {}, {}, []
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old is not None and new is not None and old.mark == new.mark:
            continue
        for package in (old, new):
            if package is not None:
                files.setdefault(package.name, set()).update(package.files())
        if old is not None:
            versions.setdefault(old.name, [None, None])[0] = old.version
        if new is not None:
            versions.setdefault(new.name, [None, None])[1] = new.version
            added.append(new)
    for name in files:
        # An installation into a folder leaves the lists of what was there.
        if versions[name][0] is None:
            left = [package.version for package in before.values() if package.name == name]
            versions[name][0] = left[0] if left else None
    if not files:
        return
    for package in added:
        _read_path_files(package)
    loaded = _loaded_files()
    for name in sorted(files):
        modules = sorted(module for module, path in loaded.items() if path in files[name])
        if modules:
            _evict(name, modules, versions[name])


def _add_user_site():
    """The user's own packages are on the path only once their folder exists."""
    site = sys.modules.get("site")
    if site is None or not getattr(site, "ENABLE_USER_SITE", False):
        return
    folder = site.getusersitepackages()
    if os.path.isdir(folder) and folder not in sys.path:
        site.addsitedir(folder)


def _read_path_files(package):
    """Does for a package installed from its source what the start would do."""
    site = sys.modules.get("site")
    if site is None:
        return
    for path in package.files():
        folder, name = os.path.split(path)
        if name.endswith(".pth") and folder == package.site and os.path.exists(path):
            site.addpackage(folder, name, set())


def _loaded_files():
    """Returns the real path of each loaded module's file."""
    found = {}
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        path = getattr(spec, "origin", None) or getattr(module, "__file__", None)
        if isinstance(path, str) and os.path.isabs(path):
            folder, file = os.path.split(path)
            found[name] = os.path.join(os.path.realpath(folder), file)
    found.pop("__main__", None)
    return found


def _is_native(name):
    module = sys.modules.get(name)
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    return isinstance(loader, importlib.machinery.ExtensionFileLoader)


def _evict(name, modules, versions):
    old, new = versions
    change = new if old == new else "%s -> %s" % (old or "new", new or "uninstalled")
    native = [module for module in modules if _is_native(module)]
    if native:
        kernel.note(
            "%s %s: reset needed. Its native code is loaded (%s) and cannot be loaded twice, "
            "so this interpreter keeps the version it has" % (name, change, native[0])
        )
        return
    for module in modules:
        gone = sys.modules.pop(module, None)
        parent, _, child = module.rpartition(".")
        # A folder shared by several packages would hand out the old module.
        holder = sys.modules.get(parent) if parent else None
        if holder is not None and getattr(holder, child, None) is gone:
            try:
                delattr(holder, child)
            except AttributeError:
                pass
    top = sorted({module.partition(".")[0] for module in modules})
    kernel.note(
        "%s %s: dropped %s of %s. Import again for the new version; objects made before "
        "are of the old classes" % (
            name, change, text.counted(len(modules), "loaded module"),
            ", ".join("`%s`" % module for module in top[:5]),
        )
    )
