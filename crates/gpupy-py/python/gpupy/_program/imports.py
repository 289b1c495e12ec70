"""The imports of a running program: ``import numpy`` in its own code gives gpupy.

Owns ``install``, ``ours``, ``Own``, which tells the program's code from other code, and the hooks of
IPython. Invariants: code of libraries, of Python's own modules and of NumPy gets the module that it names;
nothing of Python is replaced before ``install``. Not here: programs whose source is compiled with other
imports (``script.py``), the command line (``__main__.py``).
"""

import builtins
import functools
import importlib
import importlib.util
import os
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import gpupy

from .._classes import kind
from .._gpupy import in_one_step
from . import module_loops, texts

_THEIRS = (builtins.__import__, importlib.import_module, importlib.__import__)


def is_numpys(module: str) -> bool:
    """Whether it is the name of NumPy or of a module in it."""
    return module == "numpy" or module.startswith("numpy.")


def ours(module: str) -> str | None:
    """gpupy's module for one of NumPy's public ones, by name; ``None`` where gpupy has none."""
    if not is_numpys(module):
        return None
    name = "gpupy" + module.removeprefix("numpy")
    if any(part.startswith("_") for part in name.split(".")):
        return None
    try:
        found = sys.modules.get(name) or importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return name if found else None


class Own:
    """The files that are the program's own: those in its folders, or below, that no installer put there."""

    def __init__(self) -> None:
        self.main = False
        self._folders: set[str] = set()
        # By a file's name: whether it is one.
        self._known: dict[str, bool] = {}

    def add(self, folder: str) -> None:
        """Takes a folder for the program's."""
        self._folders.add(_with_end(folder))
        self._known.clear()

    def has(self, names: Mapping[str, object] | None) -> bool:
        """Whether these are the names of a module of the program, or of the program itself."""
        if names is None:
            return False
        if names.get("__name__") == "__main__":
            return self.main
        file = names.get("__file__")
        if not isinstance(file, str):
            return False
        known = self._known.get(file)
        if known is None:
            path = os.path.realpath(file)
            # The innermost folder decides: an environment in the program's folder is none of it.
            known = self._known[file] = _longest(path, self._folders) > _longest(path, _installed())
        return known

    def asks(self, frame: types.FrameType | None) -> bool:
        """Whether a frame runs code of the program, or of Python's own modules that it called."""
        while frame is not None:
            if self.has(frame.f_globals):
                return True
            if not _is_pythons(str(frame.f_globals.get("__file__"))):
                return False
            frame = frame.f_back
        return False

    def is_apart(self, names: Mapping[str, object]) -> bool:
        """Whether these are the names of a module that is neither the program's nor installed."""
        file = names.get("__file__")
        if not isinstance(file, str) or self.has(names):
            return False
        return _longest(os.path.realpath(file), _installed()) == 0

    def runs(self, frame: types.FrameType, names: Mapping[str, object]) -> bool:
        """Whether an import with these names in a frame is one of the program's.

        Code that no file has (of ``exec``, ``eval``, ``timeit``) belongs to the module that had it run.
        """
        if self.has(names):
            return True
        if "__file__" in names and names is not frame.f_globals:
            return False
        at: types.FrameType | None = frame
        while at is not None:
            of_module = at.f_globals
            is_main = of_module.get("__name__") == "__main__" and not at.f_code.co_filename.startswith("<")
            if is_main or not (_is_text(at) or _is_pythons(str(of_module.get("__file__")))):
                return self.has(of_module)
            if self.has(of_module):
                return True
            at = at.f_back
        return False


def _is_text(frame: types.FrameType) -> bool:
    """Whether a frame's code is of no file that a module was loaded from."""
    return "__file__" not in frame.f_globals or frame.f_code.co_filename.startswith("<")


@functools.cache
def _is_pythons(file: str) -> bool:
    """Whether a file is of Python's own library."""
    import sysconfig

    path, paths = os.path.realpath(file), sysconfig.get_paths()
    library = {_with_end(paths[name]) for name in ("stdlib", "platstdlib")}
    return _longest(path, library) > _longest(path, _installed() - library)


def _with_end(folder: str) -> str:
    return os.path.join(os.path.realpath(folder), "")


def _longest(path: str, folders: set[str]) -> int:
    """The length of the innermost of the folders that hold a file; 0 where none does."""
    return max((len(folder) for folder in folders if path.startswith(folder)), default=0)


@functools.cache
def _installed() -> set[str]:
    """The folders of Python's own modules, of those that installers put beside them, NumPy's and this one."""
    import site
    import sysconfig

    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found.update(site.getsitepackages(), {site.getusersitepackages()})
    found.update(os.path.dirname(str(package.__file__)) for package in (np, gpupy))
    return {_with_end(folder) for folder in found}


_own = Own()
# The folders whose modules were said to keep NumPy.
_told: set[str] = set()


def _tell_of(module: str, names: Mapping[str, object]) -> None:
    """Warns, once for each folder, of a module that gets NumPy's and may be meant to be the program's."""
    if not _own.is_apart(names) or ours(module) is None:
        return
    file = str(names["__file__"])
    folder = os.path.dirname(os.path.realpath(file))
    if folder in _told:
        return
    _told.add(folder)
    # Few programs have such modules.
    import warnings

    words = (
        f"`{file}` keeps NumPy, as all modules in its folder do: they are outside of the program's folder,"
        " and not installed; `gpupy.install()` in it, before `import numpy`, makes them the program's"
    )
    warnings.warn(words, UserWarning, stacklevel=3)


def is_own(names: Mapping[str, object]) -> bool:
    """Whether these are the names of a module of a program that runs with gpupy in NumPy's place."""
    return _own.has(names)


def is_programs(frame: types.FrameType) -> bool:
    """Whether a frame runs code of a program that runs with gpupy in NumPy's place."""
    return _own.asks(frame)


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> types.ModuleType:
    """``__import__``, which each import statement calls."""
    theirs = _THEIRS[0]
    if level or not is_numpys(name):
        return theirs(name, globals, locals, fromlist or (), level)
    frame = sys._getframe(1)
    # A call of `__import__` as a function passes no globals.
    names = frame.f_globals if globals is None else globals
    if not _own.runs(frame, names):
        _tell_of(name, names)
        return theirs(name, globals, locals, fromlist or (), level)
    found = ours(name)
    module = theirs(found or name, globals, locals, fromlist or (), 0)
    # `import numpy._core` binds `numpy`.
    return module if found or fromlist else sys.modules["gpupy"]


def _import_module(name: str, package: str | None = None) -> types.ModuleType:
    """``importlib.import_module``."""
    theirs, frame = _THEIRS[1], sys._getframe(1)
    full = importlib.util.resolve_name(name, package) if name.startswith(".") and package else name
    if is_numpys(full) and _own.runs(frame, frame.f_globals):
        found = ours(full)
        if found:
            return theirs(found)
    elif is_numpys(full):
        _tell_of(full, frame.f_globals)
    return theirs(name, package)


def put(folders: Sequence[str], main: bool) -> None:
    """Takes the code in these folders, and that of ``__main__``, for the program's from here on."""
    for folder in folders:
        _own.add(folder)
    in_one_step(
        (setattr, _own, "main", _own.main or main),
        *kind.answering(_own.asks),
        (setattr, importlib, "import_module", _import_module),
        (setattr, importlib, "__import__", _import),
        (setattr, builtins, "__import__", _import),
    )
    # Imports that this needs are not asked of it.
    _installed()
    module_loops.put(is_own)


def install() -> None:
    """Makes ``import numpy`` give gpupy in the program's own code from here on.

    The program is the calling module, with the modules in its folder or below, except installed packages;
    libraries keep NumPy. Earlier imports stay as they are, so call this before ``import numpy``.
    """
    names = sys._getframe(1).f_globals
    file = names.get("__file__")
    folder = os.path.dirname(os.path.abspath(file)) if isinstance(file, str) else os.getcwd()
    put([folder], names.get("__name__") == "__main__")


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext gpupy``: ``import numpy`` in later cells gives gpupy."""
    put([os.getcwd()], True)
    texts.note_notebook(ipython)
    module_loops.put_in_cells(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """``%unload_ext gpupy``: imports give NumPy again. Earlier imports stay."""
    statement, function, called = _THEIRS
    texts.forget_notebook()
    module_loops.forget_cells()
    module_loops.take_away()
    in_one_step(
        (globals().__setitem__, "_own", Own()),
        *kind.answering_no_more(),
        (setattr, importlib, "import_module", function),
        (setattr, importlib, "__import__", called),
        (setattr, builtins, "__import__", statement),
    )


for _public in (install, load_ipython_extension, unload_ipython_extension):
    _public.__module__ = "gpupy._imports"
