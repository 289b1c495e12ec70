"""Code of functions as it was written, for those that read it.

Owns ``note``, ``note_pairs``, ``written``, ``as_written``, ``withdraw`` and ``has_reader``; the trees that
files were compiled from, where these are not what Python makes of their texts; and the variable
``GPUPY_LOOPS``. A module of the program, or a function, may be compiled with more in it than its text
(``_loops``). Invariants: after ``as_written`` a function has the code that Python makes of its text; after
``withdraw`` all functions have. Not here: who reads code, which modules these are.
"""

from __future__ import annotations

import ast
import gc
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

# Modules with more than their text: their code, and what compiles it as written.
_modules: list[tuple[types.CodeType, Callable[[], types.CodeType]]] = []
# By the identity of code with more than its text: that code, so that it stays, and the code as written.
_pairs: dict[int, tuple[types.CodeType, types.CodeType]] = {}
# So many modules are in the pairs.
_paired = 0
_readers: list[str] = []
# By their names, what reads the trees that files are compiled from.
_trees: dict[str, Callable[[], ast.Module]] = {}


def _is_on() -> bool:
    value = os.environ.get("GPUPY_LOOPS", "1")
    if value not in ("0", "1"):
        raise ValueError(f"GPUPY_LOOPS is `0` or `1`, not `{value}`")
    return value == "1"


# Whether loops are looked for, and code may have more in it than its text.
IS_ON = _is_on()


def has_reader() -> bool:
    """Whether something reads the code of all functions."""
    return bool(_readers)


def note(code: types.CodeType, written: Callable[[], types.CodeType]) -> None:
    """Takes a module's code, and what compiles it as written."""
    _modules.append((code, written))


def note_pairs(code: types.CodeType, written: types.CodeType) -> None:
    """Takes a function's code, and its code as written."""
    for one, plain in zip(codes(code), codes(written), strict=True):
        if one != plain:
            _pairs[id(one)] = one, plain


def note_tree(file: str, tree: Callable[[], ast.Module]) -> None:
    """Takes what reads the tree that a file was compiled from."""
    _trees[file] = tree


def tree_of(file: str) -> ast.Module | None:
    """The tree that a file was compiled from; None where its text is all there is to it."""
    found = _trees.get(file)
    return None if found is None else found()


def written(code: types.CodeType) -> types.CodeType:
    """Code as it was written."""
    if not _modules and not _pairs:
        return code
    found = _known().get(id(code))
    return code if found is None else found[1]


def as_written(function: Any) -> None:
    """Gives a function its code as written."""
    code = getattr(function, "__code__", None)
    if isinstance(code, types.CodeType):
        plain = written(code)
        if plain is not code:
            function.__code__ = plain


def withdraw(reader: str) -> None:
    """Gives all functions their code as written, and says so from now on."""
    if reader not in _readers:
        _readers.append(reader)
    pairs = _known()
    for one in gc.get_objects() if pairs else ():
        if type(one) is types.FunctionType and id(one.__code__) in pairs:
            one.__code__ = pairs[id(one.__code__)][1]


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from codes(one)


def _known() -> dict[int, tuple[types.CodeType, types.CodeType]]:
    """The code as written of each code object, by its identity."""
    global _paired
    while _paired < len(_modules):
        code, plain = _modules[_paired]
        _paired += 1
        note_pairs(code, plain())
    return _pairs
