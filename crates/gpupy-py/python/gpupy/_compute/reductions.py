"""Reductions with NumPy's signatures: recorded where a driver does them, otherwise NumPy's.

Owns the tables of all reductions, those of ``averages.py`` and ``running.py`` too. Not here: the recorded
ones (``recorded.py``).
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._classes.subclass import is_instance
from .._classes.subclass import plain as plain_of
from .._fallback.others import decides, of_other
from .._gpupy import call, ndarray
from .._numpys.rebound import by_methods
from .averages import average, mean, root, spread, std, var
from .recorded import (
    KEEPS,
    NUMBERS,
    UNSET,
    as_array,
    by_class,
    by_numpy,
    given_to,
    lazily,
    may_take,
    of_number,
    said_of,
)
from .running import argmax, argmin, cumprod, cumsum, position, running


def reduction(name: str, ufunc: str, is_method: bool = False) -> Callable[..., Any]:
    """A reduction with a ``dtype`` argument."""

    def function(a, axis=None, dtype=None, out=None, keepdims=UNSET, initial=UNSET, where=UNSET):
        if type(a) is ndarray and out is None and initial is where is UNSET and type(keepdims) in KEEPS:
            result = a._reduce_along(ufunc, axis, dtype, keepdims is True)
            if result is not None:
                return result
        if type(a) in NUMBERS and out is None:
            given = {"dtype": dtype, "keepdims": keepdims, "initial": initial, "where": where}
            return of_number(name, a, axis=axis, **given)
        if type(a) is not ndarray and decides(a, name):
            given = {"dtype": dtype, "out": out, "keepdims": keepdims, "initial": initial, "where": where}
            return of_other(name, a, axis=axis, **given)
        a = as_array(a)
        if type(a) is not ndarray:
            given = said_of(out=out, keepdims=keepdims, initial=initial, where=where)
            return by_class(name, ufunc, function, is_method, a, axis=axis, dtype=dtype, **given)
        if may_take(out):
            result = lazily(ufunc, a, axis, keepdims, dtype, initial, where)
            if result is not None:
                result = given_to(out, result)
            if result is not None:
                return result
        given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
        return by_numpy(name, (a,), {"axis": axis, "dtype": dtype, **given})

    function.__name__ = function.__qualname__ = name
    return function


def extreme_of(name: str, ufunc: str, is_method: bool = False, of_class: str = "") -> Callable[..., Any]:
    """A reduction without a ``dtype`` argument, for which a class has a method, of another name perhaps."""

    def function(a, axis=None, out=None, keepdims=UNSET, initial=UNSET, where=UNSET):
        if type(a) is ndarray and out is None and initial is where is UNSET and type(keepdims) in KEEPS:
            result = a._reduce_along(ufunc, axis, None, keepdims is True)
            if result is not None:
                return result
        if type(a) in NUMBERS and out is None:
            return of_number(name, a, axis=axis, keepdims=keepdims, initial=initial, where=where)
        if type(a) is not ndarray and decides(a, of_class or name):
            given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
            return of_other(name, a, axis=axis, **given)
        a = as_array(a)
        if type(a) is not ndarray:
            given = said_of(out=out, keepdims=keepdims, initial=initial, where=where)
            return by_class(of_class or name, ufunc, function, is_method, a, axis=axis, **given)
        if may_take(out):
            result = lazily(ufunc, a, axis, keepdims, None, initial, where)
            if result is not None:
                result = given_to(out, result)
            if result is not None:
                return result
        given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
        return by_numpy(name, (a,), {"axis": axis, **given})

    function.__name__ = function.__qualname__ = name
    return function


def _truth(name: str, ufunc: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function, and the method of arrays, which takes a dtype as NumPy's does."""

    def function(a, axis=None, out=None, keepdims=UNSET, *, where=UNSET):
        if type(a) is ndarray and out is None and where is UNSET and type(keepdims) in KEEPS:
            result = a._reduce_along(ufunc, axis, None, keepdims is True)
            if result is not None:
                return result
        return extreme(a, axis, out, keepdims, UNSET, where)

    def method(self, axis=None, dtype=None, out=None, keepdims=UNSET, *, where=UNSET):
        if out is dtype is None and where is UNSET and type(keepdims) in KEEPS:
            result = self._reduce_along(ufunc, axis, None, keepdims is True)
            if result is not None:
                return result
        if dtype is None:
            return own(self, axis, out, keepdims, UNSET, where)
        given = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims, "where": where}
        given = {key: value for key, value in given.items() if value is not UNSET}
        return call(name, operator.methodcaller(name, **given), (self,), {})

    extreme, own = extreme_of(name, ufunc), extreme_of(name, ufunc, is_method=True)
    function.__name__ = function.__qualname__ = name
    return function, method


def ptp(a, axis=None, out=None, keepdims=UNSET):
    if type(a) is not ndarray and decides(a, "ptp"):
        return of_other("ptp", a, axis=axis, out=out, keepdims=keepdims)
    a = as_array(a)
    if type(a) is not ndarray:
        return by_class("ptp", "", ptp, False, a, axis=axis, **said_of(out=out, keepdims=keepdims))
    if out is None:
        most, least = lazily("maximum", a, axis, keepdims), lazily("minimum", a, axis, keepdims)
        if most is not None and least is not None and a.dtype != np.bool:
            return most - least
    return by_numpy("ptp", (a,), {"axis": axis, "out": out, "keepdims": keepdims})


def ufunc_reduce(
    name: str,
    array: ndarray,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = UNSET,
    where: Any = True,
) -> Any:
    """``ufunc.reduce(array, …)`` as recorded, or ``None``."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if not may_take(out) or not array._lazy:
        return None
    result = lazily(name, array, axis, keepdims, dtype, initial, where)
    return None if result is None else given_to(out, result)


def count_nonzero(a, axis=None, *, keepdims=False):
    if is_instance(a) and (axis is not None or keepdims):
        return by_methods(np.count_nonzero, a, axis, keepdims=keepdims)
    a = a if type(a) is ndarray else plain_of(as_array(a))
    made = None
    if a._lazy:
        # Along axes it has the memory layout of NumPy's cast operand.
        mask = a if a.dtype == np.bool else a != 0 if axis is None else a.astype(np.bool)
        if type(mask) is ndarray and (keepdims is False or (axis is None and not keepdims)):
            if axis is None and (count := mask._count_true()) is not None:
                return _COUNT(count)
            made = mask._reduce_along("add", axis)
        if made is None:
            made = lazily("add", mask, axis, keepdims, np.dtype(np.intp))
    if made is None:
        return call("count_nonzero", np.count_nonzero, (a,), {"axis": axis, "keepdims": keepdims})
    return _COUNT(made) if axis is None and not keepdims else made


# The class of NumPy's counts: Python's, or its own.
_COUNT = type(np.count_nonzero([]))
sum_ = reduction("sum", "add")
prod = reduction("prod", "multiply")
max_, min_ = extreme_of("max", "maximum"), extreme_of("min", "minimum")
(all_, all_method), (any_, any_method) = _truth("all", "logical_and"), _truth("any", "logical_or")

# As methods they ask no class for methods of its own.
METHODS = {
    "all": all_method,
    "any": any_method,
    "argmax": position("argmax", "maximum", is_method=True),
    "argmin": position("argmin", "minimum", is_method=True),
    "cumprod": running("cumprod", "multiply", is_method=True),
    "cumsum": running("cumsum", "add", is_method=True),
    "max": extreme_of("max", "maximum", is_method=True),
    "mean": average(is_method=True),
    "min": extreme_of("min", "minimum", is_method=True),
    "prod": reduction("prod", "multiply", is_method=True),
    "std": spread("std", root, is_method=True),
    "sum": reduction("sum", "add", is_method=True),
    "var": spread("var", lambda x: x, is_method=True),
}

FUNCTIONS = {
    "all": all_,
    "amax": extreme_of("amax", "maximum", of_class="max"),
    "amin": extreme_of("amin", "minimum", of_class="min"),
    "any": any_,
    "argmax": argmax,
    "argmin": argmin,
    "count_nonzero": count_nonzero,
    "cumprod": cumprod,
    "cumsum": cumsum,
    "max": max_,
    "mean": mean,
    "min": min_,
    "prod": prod,
    "ptp": ptp,
    "std": std,
    "sum": sum_,
    "var": var,
}
