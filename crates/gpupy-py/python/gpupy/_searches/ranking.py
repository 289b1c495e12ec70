"""Partial orders with NumPy's signatures: recorded as whole sorts.

Medians and quantiles are NumPy's Python over these (``_numpys/rebound.py``). Not here: sorts
(``sorting.py``).
"""

import operator
from typing import Any

import numpy as np

from .. import _gpupy
from .._classes.subclass import has_own
from .._creation.conversion import asanyarray
from .._fallback.hosts import to_host
from .._gpupy import assign_all, call, ndarray
from .._numpys import sooner
from .._numpys.rebound import bound, inside

_base: Any = np.lib._function_base_impl


def partition(a, kth, axis=-1, kind="introselect", order=None):
    made = _ordered("partition", _gpupy.sort, a, kth, axis, kind, order)
    return call("partition", np.partition, (a, kth), _given(axis, kind, order)) if made is None else made


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    if has_own(a, "argpartition"):
        return a.argpartition(kth, axis=axis, kind=kind, order=order)
    made = _ordered("argpartition", _gpupy.argsort, a, kth, axis, kind, order)
    return (
        call("argpartition", np.argpartition, (a, kth), _given(axis, kind, order)) if made is None else made
    )


def argpartition_method(self, kth, axis=-1, kind="introselect", order=None):
    """The method."""
    made = _ordered("argpartition", _gpupy.argsort, self, kth, axis, kind, order)
    if made is not None:
        return made
    return call("argpartition", np.ndarray.argpartition, (self, kth), _given(axis, kind, order))


def partition_in_place(self, kth, axis=-1, kind="introselect", order=None):
    """The method: the array keeps its identity."""
    made = None
    if axis is not None and self._writable:
        made = _ordered("partition", _gpupy.sort, self, kth, axis, kind, order)
    if made is None:
        call("partition", np.ndarray.partition, (self, kth), _given(axis, kind, order))
    else:
        assign_all(self, made)


def _given(axis: Any, kind: Any, order: Any) -> dict[str, Any]:
    return {"axis": axis, "kind": kind, "order": order}


def _ordered(name: str, way: Any, a: Any, kth: Any, axis: Any, kind: Any, order: Any) -> Any:
    """The sorted rows, or the places that sort them; ``None`` where NumPy has to judge the arguments."""
    if type(a) is not ndarray or not a._lazy or kind != "introselect" or order is not None:
        return None
    if isinstance(axis, bool) or sooner.is_numpys(name, a):
        return None
    try:
        rows, axis = (a.ravel(), 0) if axis is None else (a, operator.index(axis))
        wanted = np.asarray(kth)
    except (TypeError, ValueError):
        return None
    if wanted.dtype.kind not in "iu" or wanted.ndim > 1 or not -rows.ndim <= axis < rows.ndim:
        return None
    length = rows.shape[axis]
    if not wanted.size or wanted.min() < -length or wanted.max() >= length:
        # NumPy has the words, of a row that is as long.
        np.partition(np.broadcast_to(np.False_, length), wanted)
        return None
    return way(rows, axis)


def nan_checked(data, result, axis):
    """What NumPy's medians call: the medians of sorted rows, of which those that end with NaN are that."""
    if type(data) is not ndarray:
        # Of masked arrays, those of what is not masked.
        return bound(np.lib._utils_impl._median_nancheck)(data, result, axis)
    if not data.size:
        return result
    last = data.take(-1, axis=axis)
    is_nan = np.isnan(last)
    if not isinstance(result, ndarray):
        return np.where(is_nan, last, result)[()]
    if not np.can_cast(last.dtype, result.dtype, "same_kind") and not is_nan.any():
        # NumPy refuses to cast a NaN alone.
        return result
    np.copyto(result, last, where=is_nan)
    return result


def reduced(a, func, keepdims=False, **given):
    """What medians and quantiles call: the axes as one, and kept, of one number too."""
    made = bound(_base._ureduce)(a, func=func, keepdims=keepdims, **given)
    return asanyarray(made) if isinstance(made, np.ndarray) else made


def quantiles_of(arr, quantiles, *args, **given):
    """What quantiles call: those that are wanted are few, and NumPy finds their places."""
    return bound(_base._quantile)(arr, to_host(quantiles), *args, **given)


def neighbours(arr, virtual_indexes, valid_values_count):
    """What quantiles call: the places beside those of few quantiles, which NumPy finds."""
    found = _base._get_indexes(arr._meta_array(), to_host(virtual_indexes), valid_values_count)
    return tuple(map(asanyarray, found))


def gamma_of(virtual_indexes, previous_indexes, method):
    """What quantiles call: how far from the first neighbour each of them lies."""
    return asanyarray(_base._get_gamma(*map(to_host, (virtual_indexes, previous_indexes)), method))


def between(a, b, t, out=None):
    """What NumPy's quantiles call: numbers between two others, from the nearer one."""
    rest = b - a
    if not np.ndim(t):
        # The other end may warn.
        made = b - rest * (1 - t) if t >= 0.5 else a + rest * t
    else:
        made = np.where(t >= 0.5, b - rest * (1 - t), a + rest * t)
    if out is None:
        return made if made.ndim else made[()]
    # NumPy judges the output.
    np.add(a, rest * t, out=out)
    np.copyto(out, made, casting="unsafe")
    return out


FUNCTIONS = {"argpartition": argpartition, "partition": partition}
# By NumPy's functions that its others call.
INSIDE = inside(
    _base,
    {
        "_get_gamma": gamma_of,
        "_get_indexes": neighbours,
        "_lerp": between,
        "_quantile": quantiles_of,
        "_ureduce": reduced,
    },
)
# In NumPy's module of what several others use.
UTILITIES = {"_median_nancheck": nan_checked}
