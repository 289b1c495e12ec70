"""Reductions with NumPy's signatures: recorded where a driver does them, otherwise NumPy's.

Not here: the reductions themselves.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ._creation import asanyarray
from ._fallback import call
from ._flat import flatiter
from ._gpupy import assign_all, ndarray

_UNSET = np._NoValue


def _lazily(name, a, axis, keepdims):
    """The recorded reduction of a lazy array, or ``None``."""
    if not isinstance(a, ndarray) or not a._lazy:
        return None
    if axis is None:
        axes = range(a.ndim)
    else:
        try:
            axes = normalize_axis_tuple(axis, a.ndim)
        except (TypeError, ValueError):
            getattr(np, name).reduce(a._hollow(), axis=axis)
            raise
    return a._reduce(name, list(axes), bool(keepdims) and keepdims is not _UNSET)


def _given(out, result):
    """The result, written to ``out`` if that can hold it as it is; otherwise ``None``."""
    if out is None:
        return result
    fits = isinstance(out, ndarray) and out.dtype == result.dtype and out.shape == result.shape
    if not fits:
        return None
    assign_all(out, result)
    return out


def _array(a):
    return a.ravel() if isinstance(a, flatiter) else asanyarray(a)


def _call(name, args, kwargs):
    given = {key: value for key, value in kwargs.items() if value is not _UNSET}
    if given.get("out", 0) is None:
        del given["out"]
    return call(name, getattr(np, name), args, given)


def _reduction(name, ufunc):
    """A reduction with a ``dtype`` argument."""

    def function(a, axis=None, dtype=None, out=None, keepdims=_UNSET, initial=_UNSET, where=_UNSET):
        a = _array(a)
        if initial is _UNSET and (where is _UNSET or where is True) and dtype in (None, a.dtype):
            result = _lazily(ufunc, a, axis, keepdims)
            if result is not None:
                result = _given(out, result)
            if result is not None:
                return result
        given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
        return _call(name, (a,), {"axis": axis, "dtype": dtype, **given})

    function.__name__ = function.__qualname__ = name
    return function


def _extreme(name, ufunc):
    """A reduction without a ``dtype`` argument."""

    def function(a, axis=None, out=None, keepdims=_UNSET, initial=_UNSET, where=_UNSET):
        a = _array(a)
        if initial is _UNSET and (where is _UNSET or where is True):
            result = _lazily(ufunc, a, axis, keepdims)
            if result is not None:
                result = _given(out, result)
            if result is not None:
                return result
        given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
        return _call(name, (a,), {"axis": axis, **given})

    function.__name__ = function.__qualname__ = name
    return function


def _truth(name, ufunc):
    def function(a, axis=None, out=None, keepdims=_UNSET, *, where=_UNSET):
        return extreme(a, axis, out, keepdims, _UNSET, where)

    extreme = _extreme(name, ufunc)
    function.__name__ = function.__qualname__ = name
    return function


def _count(a, axis):
    axes = range(a.ndim) if axis is None else normalize_axis_tuple(axis, a.ndim)
    count = 1
    for n in axes:
        count *= a.shape[n]
    return count


def mean(a, axis=None, dtype=None, out=None, keepdims=_UNSET, *, where=_UNSET):
    a = _array(a)
    if (where is _UNSET or where is True) and dtype in (None, a.dtype) and a.dtype == np.float32:
        total = _lazily("add", a, axis, keepdims)
        if total is not None:
            result = _given(out, total / np.float32(_count(a, axis)))
            if result is not None:
                return result
    given = {"out": out, "keepdims": keepdims, "where": where}
    return _call("mean", (a,), {"axis": axis, "dtype": dtype, **given})


def _spread(name, finish):
    def function(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_UNSET, **kwargs):
        a = _array(a)
        plain = not kwargs and dtype in (None, a.dtype) and a.dtype == np.float32
        if plain and a._lazy and a.size and ddof == 0:
            middle = mean(a, axis, keepdims=True)
            away = a - middle
            result = finish(mean(away * away, axis, keepdims=keepdims))
            result = _given(out, result)
            if result is not None:
                return result
        given = {"out": out, "ddof": ddof, "keepdims": keepdims, **kwargs}
        return _call(name, (a,), {"axis": axis, "dtype": dtype, **given})

    function.__name__ = function.__qualname__ = name
    return function


def ptp(a, axis=None, out=None, keepdims=_UNSET):
    a = _array(a)
    most, least = _lazily("maximum", a, axis, keepdims), _lazily("minimum", a, axis, keepdims)
    if out is None and most is not None and least is not None and a.dtype != np.bool:
        return most - least
    return _call("ptp", (a,), {"axis": axis, "out": out, "keepdims": keepdims})


def ufunc_reduce(name, array, axis=0, dtype=None, out=None, keepdims=False, initial=_UNSET, where=True):
    """``ufunc.reduce(array, …)`` as recorded, or ``None``."""
    if initial is not _UNSET or where is not True or dtype not in (None, array.dtype):
        return None
    if out is not None or not array._lazy:
        return None
    return _lazily(name, array, axis, keepdims)


sum_ = _reduction("sum", "add")
prod = _reduction("prod", "multiply")
max_, min_ = _extreme("max", "maximum"), _extreme("min", "minimum")
amax, amin = _extreme("amax", "maximum"), _extreme("amin", "minimum")
all_, any_ = _truth("all", "logical_and"), _truth("any", "logical_or")
var = _spread("var", lambda x: x)
std = _spread("std", np.sqrt)

FUNCTIONS = {
    "all": all_,
    "amax": amax,
    "amin": amin,
    "any": any_,
    "max": max_,
    "mean": mean,
    "min": min_,
    "prod": prod,
    "ptp": ptp,
    "std": std,
    "sum": sum_,
    "var": var,
}
