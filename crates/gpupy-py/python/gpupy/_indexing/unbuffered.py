"""The methods ``at`` and ``reduceat`` of sums of integers, which are the same in any order: recorded.

Sums of one index, and of one segment, are differences of running sums; indices are sorted first. Sums of
floats are NumPy's, whose order of additions no running sum has. Not here: other methods
(``_compute/ufunc_methods.py``).
"""

from typing import Any

import numpy as np

from .._creation.conversion import asanyarray
from .._gpupy import ndarray
from .._numpys import sooner

_SUMS = {"add": np.add, "subtract": np.subtract}


def changed_at(name: str, a: Any, indices: Any, values: Any) -> bool:
    """Adds values to the elements that are named, as often as each is; false where NumPy has to."""
    if name not in _SUMS or type(a) is not ndarray or not a._lazy or a.ndim != 1 or a.dtype.kind not in "iu":
        return False
    named = _whole_numbers(indices)
    if not a._writable or named is None or sooner.is_numpys("at", named, (a,)):
        return False
    more = _values(values, a.dtype, named.shape)
    flat = named.reshape(-1).astype(np.intp, copy=False)
    if more is None or not flat.size or not (-a.size <= flat.min() and flat.max() < a.size):
        return False
    flat = np.where(flat < 0, flat + a.size, flat)
    order = np.argsort(flat, kind="stable")
    flat, more = flat[order], np.broadcast_to(more, named.shape).reshape(-1)[order]
    is_last = np.append(flat[1:] != flat[:-1], True)
    sums, at = np.cumsum(more, dtype=a.dtype)[is_last], flat[is_last]
    a[at] = _SUMS[name](a[at], np.diff(sums, prepend=a.dtype.type(0)))
    return True


def _whole_numbers(indices: Any) -> Any:
    """Indices as an array of ours, or ``None`` where NumPy has to judge them."""
    if type(indices) not in (ndarray, np.ndarray, list):
        return None
    found = asanyarray(indices)
    return found if type(found) is ndarray and found._lazy and found.dtype.kind in "iu" else None


def _values(values: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    """Values in a dtype, or ``None`` where NumPy has to judge them."""
    if type(values) is int:
        if dtype == np.uint64:
            # NumPy adds floats.
            return None
        limits = np.iinfo(dtype)
        return asanyarray(np.asarray(values, dtype)) if limits.min <= values <= limits.max else None
    if type(values) not in (ndarray, np.ndarray) and not isinstance(values, np.integer):
        return None
    found = asanyarray(np.asarray(values) if isinstance(values, np.integer) else values)
    if type(found) is not ndarray or not found._lazy or not np.can_cast(found.dtype, dtype):
        return None
    # Others it broadcasts in a way of its own.
    fits = found.shape in ((), shape) and found.dtype.kind in "biu"
    return found.astype(dtype, copy=False) if fits else None


def reduced_at(name: str, a: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """The sums of segments of an axis, or ``None`` where NumPy has to find them."""
    if name != "add" or type(a) is not ndarray or not a._lazy or a.dtype.kind not in "biu":
        return None
    if dtype is not None or out is not None or type(axis) is not int or not -a.ndim <= axis < a.ndim:
        return None
    starts = _whole_numbers(indices)
    if starts is None or starts.ndim != 1 or sooner.is_numpys("reduceat", a, (starts,)):
        return None
    length, starts = a.shape[axis], starts.astype(np.intp, copy=False)
    if not starts.size or starts.min() < 0 or starts.max() >= length:
        return None
    rows = np.moveaxis(a, axis, -1)
    sums = np.cumsum(rows, axis=-1)
    ends = np.append(starts[1:], length)
    before = np.where(starts > 0, np.take(sums, np.maximum(starts - 1, 0), -1), sums.dtype.type(0))
    made = np.take(sums, ends - 1, -1) - before
    made = np.where(ends > starts, made, np.take(rows, starts, -1).astype(sums.dtype, copy=False))
    return made if axis in (-1, a.ndim - 1) else np.moveaxis(made, -1, axis).copy()
