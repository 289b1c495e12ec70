"""Code of functions as it was written, for those that read it.

Owns ``note``, ``as_written``, ``withdraw`` and ``has_reader``. A module of the program may be compiled with
more in it than its text (``_loops``). Invariants: after ``as_written`` a function has the code that Python
makes of its text; after ``withdraw`` all functions have. Not here: who reads code, which modules these are.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Iterator
from typing import Any

# Modules with more than their text: their code, and what compiles it as written.
_modules: list[tuple[types.CodeType, Callable[[], types.CodeType]]] = []
_readers: list[str] = []


def has_reader() -> bool:
    """Whether something reads the code of all functions."""
    return bool(_readers)


def note(code: types.CodeType, written: Callable[[], types.CodeType]) -> None:
    """Takes a module's code, and what compiles it as written."""
    _modules.append((code, written))


def as_written(function: Any) -> None:
    """Gives a function its code as written."""
    code = getattr(function, "__code__", None)
    if any(one is code for module, _ in _modules for one in _codes(module)):
        function.__code__ = _pairs()[id(code)]


def withdraw(reader: str) -> None:
    """Gives all functions their code as written, and says so from now on."""
    if reader not in _readers:
        _readers.append(reader)
    pairs = _pairs()
    for one in gc.get_objects() if pairs else ():
        if type(one) is types.FunctionType and id(one.__code__) in pairs:
            one.__code__ = pairs[id(one.__code__)]


def _pairs() -> dict[int, types.CodeType]:
    """The code as written of each code object, by its identity."""
    found: dict[int, types.CodeType] = {}
    for code, written in _modules:
        found.update((id(one), plain) for one, plain in zip(_codes(code), _codes(written()), strict=True))
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _codes(one)
