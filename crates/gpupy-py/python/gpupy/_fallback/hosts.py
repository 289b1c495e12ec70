"""NumPy's arrays and scalars in the place of ours, for arguments.

Owns ``to_host``. Not here: the way back (``results.py``).
"""

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .._classes import subclass
from .._gpupy import ndarray, scalar

# NumPy's arrays that stand for ours, in the same order.
Hosts: TypeAlias = list[np.ndarray[Any, Any]]
# Functions that read an array of ours.
Pick: TypeAlias = Callable[[ndarray], np.ndarray[Any, Any]]


def to_host(value: Any, seen: list[ndarray] | None = None, pick: Pick | None = None) -> Any:
    """NumPy's arrays and scalars in place of ours, also inside lists and tuples.

    Arrays of ours that were met are appended to ``seen``; ``pick`` replaces how they are read. Dictionaries
    stay as they are: to NumPy one is an object.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is tuple or kind is list:
        items = [to_host(item, seen, pick) for item in value]
        # One without arrays of ours stays itself: the function may be one that writes to it.
        return value if all(map(operator.is_, items, value)) else kind(items)
    if kind is scalar:
        return value._value()
    if isinstance(value, ndarray):
        if seen is not None:
            seen.append(value)
        if pick is not None:
            return pick(value)
        return value._host() if kind is ndarray else subclass.host_of(value)
    if kind is slice:
        return slice(*[to_host(x, seen, pick) for x in (value.start, value.stop, value.step)])
    unwrap = getattr(kind, "__gpupy_host__", None)
    if unwrap is not None:
        return unwrap(value)
    if hasattr(kind, "__array__") and not isinstance(value, (np.ndarray, np.generic)):
        return _array_of(value)
    return value


def named_to_host(kwargs: dict[str, Any], seen: list[ndarray] | None = None, pick: Pick | None = None) -> Any:
    """``to_host`` of arguments by name."""
    return {name: to_host(value, seen, pick) for name, value in kwargs.items()}


def _array_of(value: Any) -> Any:
    """The array of ours to which an object converts itself, if it is one."""
    try:
        array = value.__array__()
    except Exception:
        # NumPy asks again, and has the words.
        return value
    return array._host() if isinstance(array, ndarray) else value


_DTYPES = [np.dtype(code) for code in np.typecodes["All"]]
# Classes whose instances NumPy gets as they are: also its own numbers and dtypes.
PLAIN = frozenset({int, float, bool, str, type(None), np.ndarray, np.dtype, type}) | {
    kind for dtype in _DTYPES for kind in (type(dtype), dtype.type)
}
