"""Those that read the code of functions get it as it was written, without sites.

Owns ``withdraw``, ``as_written`` and ``may_read``. A module whose text imports a library that reads
bytecode gets no sites; where one is imported later, all functions get their code as written, and no site
runs anything any more. What keeps code (``marshal``, ``pickle``) makes bytes of sites. Not here: sites
(``sites.py``), who else reads functions here (``_kernel``, ``_jit``), who call this.
"""

from __future__ import annotations

import ast
import gc
import importlib.abc
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from .sites import Site

# Libraries that read the code of functions.
_LIBRARIES = frozenset("numba torch codon pythran taichi triton cupyx bytecode pyccel transonic".split())
# Decorators that run a function as it is.
_PLAIN = frozenset("staticmethod classmethod property abstractmethod override wraps cache lru_cache dataclass".split())

# Modules with sites: their code, and what compiles it as written.
_modules: list[tuple[types.CodeType, Callable[[], types.CodeType]]] = []
_came: list[str] = []


def have_come() -> bool:
    """Whether something reads code, so that no loop is run otherwise."""
    return bool(_came)


def may_read(tree: ast.Module) -> bool:
    """Whether a text, or the program until now, imports what reads code."""
    if _came or any(name in sys.modules for name in _LIBRARIES):
        return True
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        if any(name.partition(".")[0] in _LIBRARIES for name in names):
            return True
    return False


def is_read(node: Any) -> bool:
    """Whether decorators of a function or a class may read its code."""
    for one in getattr(node, "decorator_list", ()):
        called = one.func if isinstance(one, ast.Call) else one
        name = getattr(called, "attr", getattr(called, "id", ""))
        if name not in _PLAIN and name not in ("setter", "getter", "deleter"):
            return True
    return False


def note(code: types.CodeType, written: Callable[[], types.CodeType]) -> None:
    """Takes a module's code with sites, and what compiles it as written."""
    if not _modules:
        sys.meta_path.insert(0, _Watch())
    _modules.append((code, written))


def as_written(function: Any) -> None:
    """Gives a function its code as written."""
    code = getattr(function, "__code__", None)
    if code is not None and _has_sites(code):
        written = _pairs().get(id(code))
        if written is not None:
            function.__code__ = written


def withdraw(reader: str) -> None:
    """Gives all functions their code as written; no site runs anything any more."""
    if reader not in _came:
        _came.append(reader)
    if not _modules:
        return
    pairs = _pairs()
    for one in gc.get_objects():
        if type(one) is types.FunctionType and id(one.__code__) in pairs:
            one.__code__ = pairs[id(one.__code__)]


def _has_sites(code: types.CodeType) -> bool:
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return any(type(one) is Site for one in code.co_consts) or any(map(_has_sites, inner))


def _pairs() -> dict[int, types.CodeType]:
    """The code as written of each code object with sites, or with such code in it."""
    found: dict[int, types.CodeType] = {}
    for code, written in _modules:
        for one, plain in zip(_codes(code), _codes(written()), strict=True):
            if _has_sites(one):
                found[id(one)] = plain
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _codes(one)


class _Watch(importlib.abc.MetaPathFinder):
    """Sees the imports of libraries that read code."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname in _LIBRARIES and fullname not in _came:
            withdraw(fullname)
