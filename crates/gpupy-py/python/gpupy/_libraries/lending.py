"""Libraries whose code takes NumPy's class alone: when it asks for the class of our array, it is lent NumPy's.

Owns ``lend``, and ``ROWS``, which says to which packages. The question is ``isinstance``, which asks an object
for its ``__class__``. The answer is NumPy's class, and from then on the variables of the asking function that had
our array have NumPy's array over the pinned base: so what the function goes on with, in C too, is NumPy's, and
both sides see what is written. Invariants: no function of a library is replaced; a function that asks of what is
in none of its variables is told our class, and keeps our array; arrays of libraries' own cost nothing.

Not here: who asks (``src/array/classes/asked_class.rs``), libraries that ask in C alone (``calls.py``).
"""

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes import subclass
from .._gpupy import lend_to
from . import calls

# Which arrays: those of subclasses, or all.
_SUBCLASSES, _ALL = 1, 2
# By package. Those with masked arrays alone take plain ones of any class.
_LENT = {
    "awkward": _ALL,
    "h5py": _ALL,
    "jax._src.numpy.indexing": _ALL,
    "matplotlib": _ALL,
    "mpl_toolkits": _ALL,
    "networkx": _ALL,
    "numpy.ctypeslib": _ALL,
    "pandas": _ALL,
    "polars": _ALL,
    "scipy": _SUBCLASSES,
    "scipy.sparse": _ALL,
    "sklearn.model_selection": _ALL,
    "xarray": _SUBCLASSES,
}
# Functions have variables that can be told from those of modules and classes.
_HAS_VARIABLES = 0x1
_HAS_KEYWORDS = 0x8


def lend(array: Any) -> Any:
    """The class that the calling function is told; it has NumPy's array from then on."""
    frame = sys._getframe(1)
    masked = subclass.is_masked(array)
    if not frame.f_code.co_flags & _HAS_VARIABLES or not (masked or _takes_all(frame.f_globals["__name__"])):
        return type(array)
    found = _holding(frame, array)
    if not found:
        return type(array)
    lent = calls.numpys(array)
    _exchange(frame, {name: _with(value, array, lent) for name, value in found.items()})
    return type(lent)


@functools.cache
def _takes_all(module: str) -> bool:
    while module not in _LENT:
        module = module.rpartition(".")[0]
    return _LENT[module] == _ALL


def _holding(frame: types.FrameType, array: Any) -> dict[str, Any]:
    """The variables of a function that are the array, or a tuple of arguments with it."""
    found = {}
    for name, value in frame.f_locals.items():
        kind = type(value)
        if value is array or (kind is tuple and any(item is array for item in value)):
            found[name] = value
    code = frame.f_code
    if code.co_flags & _HAS_KEYWORDS:
        # The dictionary of further keywords is the function's own.
        at = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x4)
        name = code.co_varnames[at]
        given = frame.f_locals.get(name)
        if type(given) is dict and any(item is array for item in given.values()):
            found[name] = given
    return found


def _with(value: Any, array: Any, lent: Any) -> Any:
    """A value with NumPy's array in place of ours."""
    if value is array:
        return lent
    if type(value) is tuple:
        return tuple(lent if item is array else item for item in value)
    return {key: lent if item is array else item for key, item in value.items()}


def _exchange(frame: types.FrameType, values: dict[str, Any]) -> None:
    """Gives variables of a function other values, as debuggers do."""
    variables = frame.f_locals
    variables.update(values)
    if type(variables) is dict:
        # Before Python 3.13 they are a copy, which keeps what it holds until the function ends.
        _written_back()(frame, 0)
        variables.clear()


@functools.cache
def _written_back() -> Callable[[types.FrameType, int], None]:
    import ctypes

    write = ctypes.pythonapi.PyFrame_LocalsToFast
    write.argtypes, write.restype = (ctypes.py_object, ctypes.c_int), None
    return write


ROWS: dict[str, Callable[[], None]] = {
    package: functools.partial(lend_to, package, which) for package, which in _LENT.items()
}
