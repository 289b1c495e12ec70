"""Sorting with NumPy's signatures: recorded, and stable whatever the kind.

Not here: searching and sets, which are NumPy's.
"""

import operator

import numpy as np

from . import _gpupy
from ._creation import asanyarray
from ._fallback import call
from ._gpupy import assign_all, ndarray

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _rows(a, axis, kind, order, stable):
    """A lazy array and its axis to sort along, or ``None`` where NumPy has to judge the arguments."""
    known = kind in _KINDS and (kind is None or stable is None) and order is None
    if not known or not isinstance(a, ndarray) or not a._lazy:
        return None
    if axis is None:
        return a.ravel(), 0
    if type(axis) is int:
        return a, axis
    if isinstance(axis, bool):
        return None
    try:
        axis = operator.index(axis)
    except TypeError:
        return None
    return a, axis


def _given(kind, order, stable):
    given = {"kind": kind, "order": order, "stable": stable}
    return {name: value for name, value in given.items() if value is not None}


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    a = a if type(a) is ndarray else asanyarray(a)
    rows = _rows(a, axis, kind, order, stable)
    result = None if rows is None else _gpupy.sort(*rows)
    if result is not None:
        return result
    return call("sort", np.sort, (a, axis), _given(kind, order, stable))


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    a = a if type(a) is ndarray else asanyarray(a)
    rows = _rows(a, axis, kind, order, stable)
    result = None if rows is None else _gpupy.argsort(*rows)
    if result is not None:
        return result
    return call("argsort", np.argsort, (a, axis), _given(kind, order, stable))


def sort_in_place(self, axis=-1, kind=None, order=None, *, stable=None):
    """The method: the array keeps its identity."""
    rows = None if axis is None or not self._writable else _rows(self, axis, kind, order, stable)
    result = None if rows is None else _gpupy.sort(*rows)
    if result is None:
        call("sort", np.ndarray.sort, (self, axis), _given(kind, order, stable))
    else:
        assign_all(self, result)


FUNCTIONS = {"argsort": argsort, "sort": sort}
