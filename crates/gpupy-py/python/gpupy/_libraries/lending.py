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
import threading
import types
from collections.abc import Callable
from typing import Any

from .._classes import subclass
from .._classes.takers import ALL, AS_CALLER, OF_SUBCLASSES, which
from .._classes.takers import lend as lend_to_package
from . import calls

# The module that asks for the classes of `collections.abc`.
_ASKS_FOR_OTHERS = "abc"
# By package. Those with masked arrays alone take plain ones of any class.
_LENT = {
    "awkward": ALL,
    "h5py": ALL,
    "jax._src.numpy.indexing": ALL,
    "matplotlib": ALL,
    "mpl_toolkits": ALL,
    "networkx": ALL,
    "numpy.ctypeslib": ALL,
    "pandas": ALL,
    "polars": ALL,
    "scipy": OF_SUBCLASSES,
    "scipy.sparse": ALL,
    "sklearn.model_selection": ALL,
    "xarray": OF_SUBCLASSES,
}
# Functions have variables that can be told from those of modules and classes.
_HAS_VARIABLES = 0x1
_HAS_KEYWORDS = 0x8


class _Last(threading.local):
    """The question of a thread that was answered last, and the answer."""

    question: tuple[int, int, int] | None = None
    answer: Any = None


_last = _Last()


def lend(array: Any) -> Any:
    """The class that the calling function is told; it has NumPy's array from then on."""
    frame: types.FrameType | None = sys._getframe(1)
    if frame is not None and frame.f_globals["__name__"] == _ASKS_FOR_OTHERS:
        frame = frame.f_back
    if frame is None or not frame.f_code.co_flags & _HAS_VARIABLES:
        return type(array)
    if which(frame.f_globals.get("__name__")) < (OF_SUBCLASSES if subclass.is_masked(array) else ALL):
        return type(array)
    # One call of `isinstance` asks once for each of several classes.
    question = id(frame), frame.f_lasti, id(array)
    found = _holding(frame, array)
    if not found:
        return _last.answer if _last.question == question else type(array)
    lent = calls.numpys(array)
    _exchange(frame, {name: _with(value, array, lent) for name, value in found.items()})
    _last.question, _last.answer = question, type(lent)
    return type(lent)


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


def _begin(package: str) -> None:
    lend_to_package(package, _LENT[package])
    lend_to_package(_ASKS_FOR_OTHERS, AS_CALLER)


ROWS: dict[str, Callable[[], None]] = {package: functools.partial(_begin, package) for package in _LENT}
