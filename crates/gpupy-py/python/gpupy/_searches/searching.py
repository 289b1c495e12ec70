"""Searches in sorted arrays with NumPy's signatures: recorded as steps of a binary search.

Owns ``places``, which counting uses as well. Each step is a gather and a comparison for all wanted numbers at
once; there are as many as the sorted array's length has bits. Where the array is not sorted, NumPy's results
depend on the order of its steps, and these on that of ours. Not here: sorting (``sorting.py``).
"""

from typing import Any

import numpy as np

from .. import _gpupy
from .._creation.conversion import asanyarray
from .._fallback.hosts import to_host
from .._gpupy import call, kind_of, ndarray, scalar
from .._numpys import sooner
from .._numpys.rebound import inside

_base: Any = np.lib._function_base_impl
_GIVEN = frozenset((ndarray, scalar, np.ndarray, list, tuple, int, float, bool))
_SIDES = ("left", "right")
# Positions in longer arrays take 64 bits.
_SHORT = 2**30


def places(a: ndarray, v: ndarray, side: str) -> Any:
    """Where numbers would go into a sorted vector of their dtype: before its equals, or ``right`` of them."""
    dtype = np.dtype(np.int32 if a.size < _SHORT else np.int64)
    found = np.zeros_like(v, dtype)
    is_float = kind_of(a.dtype) == "f"
    # NaN comes last.
    is_nan = np.isnan(v) if is_float else None
    step = 1 << a.size.bit_length() >> 1
    while step:
        to = found + dtype.type(step)
        there: Any = _gpupy.take(a, np.minimum(to, dtype.type(a.size)) - dtype.type(1), 0, "clip")
        if side == "right":
            is_before = there <= v
            if is_nan is not None:
                is_before |= is_nan
        else:
            is_before = there < v
            if is_nan is not None:
                is_before |= is_nan & ~np.isnan(there)
        found = np.where(is_before & (to <= dtype.type(a.size)), to, found)
        step >>= 1
    return found.astype(np.intp)


def searchsorted(a, v, side="left", sorter=None):
    given = {"side": side, "sorter": sorter}
    made = _searched(a, v, side, sorter)
    return call("searchsorted", np.searchsorted, (a, v), given) if made is None else made


def searchsorted_method(self, v, side="left", sorter=None):
    """The method."""
    made = _searched(self, v, side, sorter)
    if made is not None:
        return made
    return call("searchsorted", np.ndarray.searchsorted, (self, v), {"side": side, "sorter": sorter})


def _searched(a: Any, v: Any, side: Any, sorter: Any) -> Any:
    """The places, or ``None`` where NumPy has to find them."""
    if sooner.is_numpys("searchsorted", v, (a,)) or not any(type(x) is ndarray for x in (a, v)):
        return None
    if not {type(a), type(v), list if sorter is None else type(sorter)} <= _GIVEN:
        return None
    rows, wanted = asanyarray(a), asanyarray(v)
    if not (rows._lazy and wanted._lazy and rows.ndim == 1 and type(side) is str and side in _SIDES):
        return None
    try:
        dtype = np.promote_types(rows.dtype, wanted.dtype)
    except TypeError:
        return None
    if dtype.kind not in "biu" and kind_of(dtype) != "f":
        return None
    if sorter is not None:
        order = asanyarray(sorter)
        if not order._lazy or order.dtype.kind not in "iu" or order.shape != rows.shape:
            return None
        if order.size and not (0 <= order.min() and order.max() < order.size):
            return None
        rows = rows[order]
    if not rows.size:
        made = np.zeros_like(wanted, np.intp)
    else:
        made = places(rows.astype(dtype, copy=False), wanted.astype(dtype, copy=False), side)
    return made if made.ndim else made[()]


def monotonicity(x):
    """NumPy's, which reads the bins."""
    return _base._monotonicity(to_host(x))


def interpolated(x, xp, fp, left=None, right=None):
    """What NumPy's ``interp`` calls: values between points, all float64."""
    made = _between(x, xp, fp, left, right)
    if made is None:
        return call("interp", np.interp, (x, xp, fp, left, right), {})
    return made


def _between(x: Any, xp: Any, fp: Any, left: Any, right: Any) -> Any:
    arrays = [asanyarray(each) for each in (x, xp, fp)]
    if not all(type(a) is ndarray and a._lazy and a.dtype.kind in "biuf" for a in arrays):
        return None
    ends = (left, right)
    if not all(end is None or type(end) in (int, float, np.float64) for end in ends):
        return None
    x, xp, fp = (a.astype(np.float64, copy=False) for a in arrays)
    if xp.ndim != 1 or fp.shape != xp.shape or not xp.size:
        return None
    low, high = (
        fp[at : at + 1] if end is None else float(end) for at, end in ((0, left), (xp.size - 1, right))
    )
    flat = x.reshape(-1)
    last = xp.size - 1
    if last:
        at = places(xp, flat, "right") - 1
        at = np.clip(at, 0, last - 1)
        x0, x1, y0, y1 = (a[at + up] for a in (xp, fp) for up in (0, 1))
        slope = (y1 - y0) / (x1 - x0)
        made = slope * (flat - x0) + y0
        # Where one end is not finite, the other may be.
        other = slope * (flat - x1) + y1
        other = np.where(np.isnan(other) & (y0 == y1), y0, other)
        made = np.where(np.isnan(made), other, made)
        made = np.where(x0 == flat, y0, made)
        made = np.where(np.isnan(flat), flat, made)
    else:
        made = np.broadcast_to(fp, flat.shape)
    made = np.where(flat == xp[last:], fp[last:], made)
    made = np.where(flat < xp[:1], low, np.where(flat > xp[last:], high, made)).reshape(x.shape)
    return made if made.ndim else made[()]


FUNCTIONS = {"searchsorted": searchsorted}
# By NumPy's functions that its others call.
INSIDE = inside(_base, {"_monotonicity": monotonicity, "compiled_interp": interpolated})
