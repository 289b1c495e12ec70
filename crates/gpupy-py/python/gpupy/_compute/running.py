"""Running results, and the places of extremes.

Not here: reductions (``reductions.py``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes.subclass import dispatched, has_own, like, overrides, through
from .._fallback.others import decides, of_other
from .._gpupy import ndarray, place, scan
from .recorded import UNSET, as_array, by_numpy, given_to, may_take, said_of


def position(name: str, ufunc: str, is_method: bool = False) -> Callable[..., Any]:
    """Where the first extreme is, or the first NaN."""

    greatest = ufunc == "maximum"

    def function(a, axis=None, out=None, *, keepdims=UNSET):
        if type(a) is ndarray and out is None and keepdims is UNSET:
            result = a._place_along(greatest, axis)
            if result is not None:
                return result
        if type(a) is not ndarray and decides(a, name):
            return of_other(name, a, axis=axis, out=out, keepdims=keepdims)
        a = as_array(a)
        if type(a) is not ndarray:
            given = said_of(out=out, keepdims=keepdims)
            if not is_method and has_own(a, name):
                return getattr(a, name)(axis=axis, **given)
            return like(function, a, axis, **given)
        result = _first(a, axis, ufunc, keepdims)
        if result is not None:
            result = given_to(out, result)
        if result is not None:
            return result
        return by_numpy(name, (a,), {"axis": axis, "out": out, "keepdims": keepdims})

    function.__name__ = function.__qualname__ = name
    return function


def _first(a: Any, axis: Any, ufunc: str, keepdims: Any) -> Any:
    if not isinstance(a, ndarray) or not a._lazy:
        return None
    rank = a.ndim
    # An array without axes has none to keep.
    kept = keepdims is not UNSET and bool(keepdims) and rank > 0
    if axis is None:
        a, axis = a.reshape(-1), 0
    elif type(axis) is not int or not -rank <= axis < rank:
        return None
    axis %= a.ndim
    at = place(ufunc == "maximum", a, axis, kept)
    return at.reshape((1,) * rank) if kept and at is not None and a.ndim != rank else at


def running(name: str, ufunc: str, is_method: bool = False) -> Callable[..., Any]:
    def function(a, axis=None, dtype=None, out=None):
        if axis is dtype is out is None and type(a) is ndarray:
            result = scan(ufunc, a, None)
            if result is not None:
                return result
        if type(a) is not ndarray and decides(a, name):
            return of_other(name, a, axis=axis, dtype=dtype, out=out)
        a = as_array(a)
        if type(a) is not ndarray:
            given = {"axis": axis, "dtype": dtype, **said_of(out=out)}
            if not is_method and has_own(a, name):
                return getattr(a, name)(**given)
            if overrides(a):
                said = {key: value for key, value in given.items() if key != "dtype" or value is not None}
                return dispatched(getattr(np, ufunc), "accumulate", (a,), said)
            return through(function, a, **given)
        if not a.ndim and out is not None:
            # NumPy 2.4 crashes where it writes the running sum of an array without axes into another.
            a = a.reshape(1)
        result = None
        if a._lazy:
            rows, along = (a.ravel(), 0) if axis is None else (a, axis)
            result = _scanned(ufunc, rows, along, dtype)
        if result is not None:
            result = given_to(out, result)
        if result is not None:
            return result
        return by_numpy(name, (a,), {"axis": axis, "dtype": dtype, "out": out})

    function.__name__ = function.__qualname__ = name
    return function


def _scanned(ufunc: str, a: ndarray, axis: Any, dtype: Any) -> ndarray | None:
    """The recorded running results along an axis, or ``None``."""
    if not isinstance(axis, int) or isinstance(axis, bool):
        return None
    return scan(ufunc, a, axis, None if dtype is None else np.dtype(dtype))


def ufunc_accumulate(
    name: str, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None
) -> ndarray | None:
    """``ufunc.accumulate(array, …)`` as recorded, or ``None``."""
    if not may_take(out) or not array._lazy:
        return None
    result = _scanned(name, array, axis, dtype)
    return None if result is None else given_to(out, result)


argmax, argmin = position("argmax", "maximum"), position("argmin", "minimum")
cumprod, cumsum = running("cumprod", "multiply"), running("cumsum", "add")
