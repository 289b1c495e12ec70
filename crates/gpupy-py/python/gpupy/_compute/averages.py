"""Means, variances and standard deviations.

Not here: other reductions (``reductions.py``).
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from .._fallback.others import decides, of_other
from .._gpupy import accumulated, kind_of, ndarray, ufunc
from .._indexing.masks import mask_of
from .recorded import KEEPS, UNSET, as_array, by_class, by_numpy, given_to, lazily, said_of


def _count(a: ndarray, axis: Any) -> int:
    axes = range(a.ndim) if axis is None else normalize_axis_tuple(axis, a.ndim)
    count = 1
    for n in axes:
        count *= a.shape[n]
    return count


def _mean(a: ndarray, axis: Any, dtype: Any, keepdims: Any, where: Any = True) -> Any:
    """The mean of a lazy array in the dtype that NumPy gives it, or ``None``."""
    if not a._lazy or not a.size:
        return None
    result = np.dtype(dtype) if dtype is not None else np.dtype(float) if a.dtype.kind in "iub" else a.dtype
    if result.kind not in "fc" and kind_of(result) != "f":
        return None
    try:
        count = _count(a, axis)
    except (TypeError, ValueError):
        # NumPy words the error about the axes.
        return None
    # NumPy sums float16 in float32.
    wide = accumulated(result)
    total = lazily("add", a, axis, keepdims, wide, where=where)
    if total is None:
        return None
    if where is True:
        middle = total / wide.type(count)
    else:
        counted = _counted(a, axis, keepdims, where, 0)
        if counted is None:
            return None
        middle = total / counted.astype(wide)
    return middle if wide == result else middle.astype(result)


def _counted(a: ndarray, axis: Any, keepdims: Any, where: Any, ddof: int) -> Any:
    """How many elements take part, less ``ddof``; NumPy warns where that is none.

    ``None`` where the driver lacks the dtype, and no other may help.
    """
    mask = np.broadcast_to(mask_of(a, where), a.shape)
    count = lazily("add", mask, axis, keepdims)
    if count is None:
        return None
    count = count - ddof
    if (count <= 0).any():
        words = "Degrees of freedom <= 0 for slice" if ddof else "Mean of empty slice"
        warnings.warn(words, RuntimeWarning, stacklevel=4)
    return np.maximum(count, 0)


def average(is_method: bool) -> Callable[..., Any]:
    def mean(a, axis=None, dtype=None, out=None, keepdims=UNSET, *, where=UNSET):
        if type(a) is ndarray and out is None and where is UNSET and type(keepdims) in KEEPS:
            result = a._mean_along(axis, dtype, keepdims is True)
            if result is not None:
                return result
        if type(a) is not ndarray and decides(a, "mean"):
            return of_other("mean", a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)
        a = as_array(a)
        if type(a) is not ndarray:
            given = said_of(out=out, keepdims=keepdims, where=where)
            return by_class("mean", "", mean, is_method, a, axis=axis, dtype=dtype, **given)
        if a._lazy and (where is UNSET or where is True or mask_of(a, where) is not None):
            result = _mean(a, axis, dtype, keepdims, True if where is UNSET else where)
            if result is not None:
                result = given_to(out, result)
            if result is not None:
                return result
        given = {"out": out, "keepdims": keepdims, "where": where}
        return by_numpy("mean", (a,), {"axis": axis, "dtype": dtype, **given})

    mean.__qualname__ = "mean"
    return mean


def spread(name: str, finish: Any, is_method: bool = False) -> Callable[..., Any]:
    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=UNSET,
        *,
        where=UNSET,
        mean=UNSET,
        correction=UNSET,
    ):
        if type(a) is not ndarray and decides(a, name):
            given = {"keepdims": keepdims, "where": where, "mean": mean, "correction": correction}
            return of_other(name, a, axis=axis, dtype=dtype, out=out, ddof=ddof or None, **given)
        a = as_array(a)
        if type(a) is not ndarray:
            given = said_of(out=out, keepdims=keepdims, where=where, mean=mean, correction=correction)
            given = {"dtype": dtype, "ddof": ddof, **given}
            return by_class(name, "", function, is_method, a, axis=axis, **given)
        plain = (mean is UNSET or type(mean) is ndarray) and correction is UNSET
        if plain and isinstance(ddof, int) and ddof >= 0 and _is_real(a.dtype):
            result = _variance(a, axis, dtype, ddof, keepdims, where, mean)
            if result is not None:
                result = given_to(out, finish(result))
            if result is not None:
                return result
        given = {"out": out, "ddof": ddof, "keepdims": keepdims, "where": where, "mean": mean}
        if correction is not UNSET:
            # NumPy refuses both.
            given = {**given, "correction": correction}
            if not ddof:
                del given["ddof"]
        return by_numpy(name, (a,), {"axis": axis, "dtype": dtype, **given})

    function.__name__ = function.__qualname__ = name
    return function


def _is_real(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iubf" or kind_of(dtype) == "f"


def _variance(
    a: ndarray, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any = True, middle: Any = UNSET
) -> Any:
    """The variance of a lazy array of real numbers, or ``None``."""
    where = True if where is UNSET else where
    try:
        if dtype not in (None, a.dtype) or not a._lazy or not a.size or _count(a, axis) <= ddof:
            return None
        if where is not True and mask_of(a, where) is None:
            return None
    except (TypeError, ValueError):
        # NumPy words the error about the axes.
        return None
    # As for means, narrow floats are summed in float32.
    wide: Any = accumulated(a.dtype)
    wide = None if wide is a.dtype else wide
    if middle is UNSET:
        middle = _mean(a, axis, wide, True, where)
    if middle is None or (type(middle) is ndarray and not middle._lazy):
        return None
    away = a - middle
    if away.shape != a.shape:
        return None
    total = lazily("add", away * away, axis, keepdims, where=where)
    if total is None:
        return None
    if where is True:
        variance = total / total.dtype.type(_count(a, axis) - ddof)
    else:
        counted = _counted(a, axis, keepdims, where, ddof)
        if counted is None:
            return None
        variance = total / counted.astype(total.dtype)
    return variance.astype(a.dtype) if wide is not None else variance


mean = average(is_method=False)
var = spread("var", lambda x: x)
# Ours, which NumPy would ask for at each call of its own.
root = ufunc("sqrt", np.sqrt)
std = spread("std", root)
