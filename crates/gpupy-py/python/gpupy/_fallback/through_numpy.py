"""Functions of NumPy's that take and give arrays of ours.

Owns ``through_numpy``. Not here: the call (``calls.py``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes import subclass
from .._gpupy import call, ndarray, wrap
from . import objects
from .calls import call_writing
from .hosts import named_to_host, to_host
from .results import wrapped


def through_numpy(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's, with arrays of ours going in and coming out."""
    if name == "shuffle":
        return _shuffling(function)
    if name in _READING:
        return _reading(name, function)
    if name in _STORING:
        return _storing(name, function)
    if name in ("array", "fromrecords") and getattr(function, "__module__", None) == "numpy.rec":
        return _of_records(name, function)
    return lambda *args, **kwargs: call(name, function, args, kwargs)


# Functions that write elements down, or give them to NumPy's matrices: they compute nothing.
_READING = frozenset("array2string array_repr array_str asmatrix save savetxt savez savez_compressed".split())
# Functions that put values into their first argument, or into a copy of it.
_STORING = frozenset(("fill_diagonal", "insert"))


def _storing(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def storing(*args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], ndarray) or not args[0].dtype.hasobject:
            return call(name, function, args, kwargs)
        return wrap(call_writing(name, function, args, kwargs))

    return storing


def _of_records(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes records of lists, in which objects may be."""

    def of_records(*args: Any, **kwargs: Any) -> Any:
        made = call(name, function, args, kwargs)
        if not (args and isinstance(args[0], (list, tuple)) and made.dtype.hasobject):
            return made
        return function(*map(objects.stored, args), **named_to_host(kwargs))

    return of_records


def _reading(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    # A matrix shows the array's own memory, which it may write to.
    shows = name == "asmatrix"

    def pick(array: ndarray) -> np.ndarray[Any, Any]:
        host = array._pinned() if shows else array._host()
        # A text has the name of the class.
        return host if type(array) is ndarray else subclass.twin(array, host)

    def reading(*args: Any, **kwargs: Any) -> Any:
        made = function(*to_host(args, None, pick), **named_to_host(kwargs, None, pick))
        return wrapped(name, made, [], [])

    return reading


def _shuffling(function: Callable[..., Any]) -> Callable[..., Any]:
    def shuffle(x: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(x, list):
            # It moves the items of the list itself, whatever they are.
            return function(x, *to_host(args), **named_to_host(kwargs))
        if subclass.is_masked(x):
            # More than elements would be moved.
            return function(x.__array__(), *to_host(args), **named_to_host(kwargs))
        return call("shuffle", function, (x, *args), kwargs)

    return shuffle
