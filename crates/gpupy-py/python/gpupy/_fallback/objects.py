"""Arrays of objects, and records with objects in them: their elements are the program's own objects.

Owns ``is_element``, ``put`` and ``stored``. Invariant: the object that is stored is the object that is read,
so that writes to an array, a list or a dictionary in an array of objects are seen by all that have it. Only
what NumPy takes apart (a list in the place of several elements, an array in the place of a row) is taken
apart. Not here: arrays of ours as arguments of NumPy's functions (``policy.py``).
"""

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._gpupy import count_fallback, ndarray, scalar
from .hosts import to_host


def is_element(host: np.ndarray[Any, Any], key: Any) -> bool:
    """Whether a key names one element: an integer for each axis."""
    parts = key if isinstance(key, tuple) else (key,)
    return len(parts) == host.ndim and all(map(is_integer, parts))


def is_integer(part: Any) -> bool:
    if type(part) is int:
        return True
    if isinstance(part, (bool, np.bool)) or not hasattr(type(part), "__index__"):
        return False
    try:
        operator.index(part)
    except Exception:
        return False
    return True


def put(array: ndarray, key: Any, value: Any) -> None:
    """``array[key] = value`` for an array on whose objects NumPy works."""
    host, at = array._host(), to_host(key)
    if host.dtype == object and is_element(host, at):
        host[at] = itself(value)
        return
    if not (isinstance(key, (int, slice, str, tuple)) or key is None or key is ...):
        count_fallback("__setitem__", [array])
    host[at] = stored(value)


def itself(value: Any) -> Any:
    """An object that is to be one element. Of a number of ours, which nothing can change, it is NumPy's."""
    return value._value() if type(value) is scalar else value


def stored(value: Any) -> Any:
    """A value as NumPy gets it where it stores objects: what is in a list or a tuple is not converted."""
    if type(value) in (list, tuple):
        # NumPy takes a list apart that has as many levels as there are axes, and leaves what is in it alone.
        items = [itself(item) for item in value]
        return value if all(map(operator.is_, items, value)) else type(value)(items)
    return to_host(value) if hasattr(type(value), "__array__") else itself(value)


def as_texts_of(array: ndarray) -> Any:
    """NumPy's array for a cast to texts: of objects without axes it takes its own apart, no others."""
    host = to_host(array)
    if array.dtype != object:
        return host
    made = host.copy()
    for at, item in enumerate(host.flat):
        if isinstance(item, ndarray) and not item.ndim:
            made.flat[at] = item._host()
    return made


def is_one_of(value: Any, hosts: Iterable[Any]) -> bool:
    """Whether a result is an element of one of these arrays, and no new object."""
    return any(
        host.dtype == object and any(value is element for element in host.flat)
        for host in hosts
        if isinstance(host, np.ndarray)
    )
