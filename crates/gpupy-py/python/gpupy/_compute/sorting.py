"""Sorting with NumPy's signatures: recorded, and stable whatever the kind.

Not here: searching and sets, which are NumPy's.
"""

import operator
from typing import Any

import numpy as np

from .. import _gpupy
from .._classes.subclass import has_own, like
from .._creation.conversion import asanyarray
from .._fallback.others import decides, of_other
from .._gpupy import assign_all, call, kind_of, ndarray
from .._indexing.index_arrays import take_along_axis

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")
_UNSET = np._NoValue


def _rows(a: Any, axis: Any, kind: Any, order: Any, given: Any) -> tuple[ndarray, int] | None:
    """A lazy array and its axis to sort along, or ``None`` where NumPy has to judge the arguments."""
    known = kind in _KINDS and (kind is None or not given) and order is None
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


def _given(theirs: Any, stable: Any, descending: Any) -> dict[str, Any]:
    """The keyword arguments for the order. Before NumPy 2.5 it knows one of them, and words the errors."""
    if descending is _UNSET:
        return {"stable": stable}
    theirs(np.empty(0), descending=descending)
    given = {"stable": stable, "descending": descending}
    return {name: value for name, value in given.items() if value is not None}


# Nothing is said.
_PLAIN: dict[str, Any] = {}


def _more(kind: Any, order: Any) -> dict[str, Any]:
    return {name: value for name, value in (("kind", kind), ("order", order)) if value is not None}


def _backwards(a: ndarray) -> Any:
    """Numbers in the opposite order, of which NaN stays the last; or ``None``. Twice, they are the same."""
    if kind_of(a.dtype) == "f":
        return -a
    return ~a if a.dtype.kind in "biu" else None


def _sorted(rows: tuple[ndarray, int] | None, given: dict[str, Any]) -> Any:
    """The sorted rows, or ``None``."""
    if rows is None or not given.get("descending"):
        return None if rows is None else _gpupy.sort(*rows)
    turned = _backwards(rows[0])
    result = None if turned is None else _gpupy.sort(turned, rows[1])
    return None if result is None else _backwards(result)


def _places(rows: tuple[ndarray, int] | None, given: dict[str, Any]) -> ndarray | None:
    """The positions that sort the rows, or ``None``."""
    if rows is not None and given.get("descending"):
        turned = _backwards(rows[0])
        rows = None if turned is None else (turned, rows[1])
    return None if rows is None else _gpupy.argsort(*rows)


def _along(axis: Any) -> tuple[Any, ...]:
    """The axis, if it says something; None does."""
    return () if axis == -1 else (axis,)


def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=_UNSET):
    if type(a) is not ndarray and decides(a):
        given = {"kind": kind, "order": order, "stable": stable, "descending": descending}
        return of_other("sort", a, *_along(axis), **given)
    a = a if type(a) is ndarray else asanyarray(a)
    given = _PLAIN if stable is None and descending is _UNSET else _given(np.sort, stable, descending)
    if type(a) is not ndarray:
        # As NumPy does: the class may have a method of its own.
        made = a.flatten() if axis is None else a.copy(order="K")
        made.sort(axis=-1 if axis is None else axis, **_more(kind, order), **given)
        return made
    result = _sorted(_rows(a, axis, kind, order, given), given)
    return call("sort", np.sort, (a, axis), _more(kind, order) | given) if result is None else result


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=_UNSET):
    if type(a) is not ndarray and decides(a, "argsort"):
        given = {"kind": kind, "order": order, "stable": stable, "descending": descending}
        return of_other("argsort", a, *_along(axis), **given)
    a = a if type(a) is ndarray else asanyarray(a)
    if has_own(a, "argsort"):
        more = {} if descending is _UNSET else {"descending": descending}
        return a.argsort(axis=axis, kind=kind, order=order, stable=stable, **more)
    return argsort_method(a, axis, kind, order, stable=stable, descending=descending)


def argsort_method(self, axis=-1, kind=None, order=None, *, stable=None, descending=_UNSET):
    """The method."""
    a = self
    if type(a) is not ndarray:
        return like(argsort_method, a, axis, kind, order, stable=stable, descending=descending)
    given = _PLAIN if stable is None and descending is _UNSET else _given(np.argsort, stable, descending)
    result = _places(_rows(a, axis, kind, order, given), given)
    return call("argsort", np.argsort, (a, axis), _more(kind, order) | given) if result is None else result


def sort_in_place(self, axis=-1, kind=None, order=None, *, stable=None, descending=_UNSET):
    """The method: the array keeps its identity."""
    given = _PLAIN if stable is None and descending is _UNSET else _given(np.ndarray.sort, stable, descending)
    ours = axis is not None and self._lazy and self._writable
    rows = _rows(self, axis, kind, order, given) if ours else None
    result = _sorted(rows, given)
    if result is None:
        call("sort", np.ndarray.sort, (self, axis), _more(kind, order) | given)
    else:
        assign_all(self, result)


def lexsort(keys, axis=-1):
    rows = [keys[n] for n in range(len(keys))] if isinstance(keys, ndarray) and keys.ndim > 1 else keys
    if type(rows) in (list, tuple) and rows and type(axis) is int:
        made = _by_several([asanyarray(row) for row in rows], axis)
        if made is not None:
            return made
    return call("lexsort", np.lexsort, (keys, axis), {})


def _by_several(rows: list[Any], axis: int) -> Any:
    """Positions that put the rows in order by the last key, then by those before it; or ``None``."""
    first = rows[0]
    alike = all(row._lazy and row.shape == first.shape for row in rows)
    if not alike or not -first.ndim <= axis < first.ndim:
        return None
    places: Any = _gpupy.lexsort(rows, axis)
    if places is not None:
        return places
    for row in rows:
        key: Any = row if places is None else take_along_axis(row, places, axis)
        found = _gpupy.argsort(key, axis)
        if found is None:
            return None
        places = found if places is None else take_along_axis(places, found, axis)
    return places


FUNCTIONS = {"argsort": argsort, "lexsort": lexsort, "sort": sort}
