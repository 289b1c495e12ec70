"""Reductions and running results with NumPy's signatures: recorded where a driver does them, otherwise
NumPy's.

Not here: the reductions themselves.
"""

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ._creation import asanyarray
from ._fallback import call
from ._flat import flatiter
from ._gpupy import accumulated, assign_all, kind_of, ndarray, place, scan, ufunc
from ._masks import is_apart, mask_of, number_of
from ._subclass import by_methods, dispatched, has_own, is_instance, like, overrides, through
from ._subclass import plain as plain_of

_UNSET = np._NoValue


# The identities of reductions, by their ufunc.
_OF_NOTHING: dict[str, Any] = {
    **{"add": 0, "multiply": 1, "logical_and": True, "logical_or": False},
    **{"bitwise_or": 0, "bitwise_xor": 0},
}


def _lazily(
    name: str, a: Any, axis: Any, keepdims: Any, dtype: Any = None, initial: Any = _UNSET, where: Any = True
) -> Any:
    """The recorded reduction of a lazy array, whose elements are cast first, or ``None``."""
    if not isinstance(a, ndarray) or not a._lazy:
        return None
    if where is not True and where is not _UNSET:
        a = _only_where(name, a, initial, where)
        if a is None:
            return None
    if initial is not _UNSET:
        return _from_initial(name, a, axis, keepdims, dtype, initial)
    if name in _SKIPPING:
        return _skipping(name, a, axis, keepdims, dtype)
    if dtype is not None and name.startswith("logical_"):
        # They have loops for bools alone, about which NumPy has the words.
        return None
    if not isinstance(axis, tuple) and hasattr(axis, "__index__") and not isinstance(axis, (bool, np.bool)):
        axis = operator.index(axis)
    if isinstance(axis, list) or any(
        isinstance(each, (bool, np.bool)) for each in (axis if isinstance(axis, tuple) else (axis,))
    ):
        # NumPy has the words.
        getattr(np, name).reduce(a._meta_array(), axis=axis)
    alone = isinstance(axis, (int, tuple)) and axis in ((), 0, -1)
    if not a.ndim and (axis is None or alone):
        # One element is reduced as a row of it.
        a, axis, keepdims = a.reshape(1), 0, False
    if axis is None:
        axes = tuple(range(a.ndim))
    else:
        try:
            axes = normalize_axis_tuple(axis, a.ndim)
        except (TypeError, ValueError):
            # NumPy has the words, and takes an axis of arrays without axes.
            getattr(np, name).reduce(a._meta_array(), axis=axis)
            return None
    dtype = None if dtype is None else np.dtype(dtype)
    return a._reduce(name, list(axes), bool(keepdims) and keepdims is not _UNSET, dtype)


def _only_where(name: str, a: ndarray, initial: Any, where: Any) -> Any:
    """The array with the identity where the mask is false; ``None`` without an identity."""
    where = mask_of(a, where)
    if where is None or (name not in _OF_NOTHING and number_of(a, initial) is None):
        return None
    return np.where(where, a, a.dtype.type(_OF_NOTHING.get(name, initial)))


def _from_initial(name: str, a: ndarray, axis: Any, keepdims: Any, dtype: Any, initial: Any) -> Any:
    """The recorded reduction that begins with a number, or ``None``."""
    if not a.size or name in _SKIPPING or name.startswith("logical_"):
        return None
    made = _lazily(name, a, axis, keepdims, dtype)
    if made is None or number_of(made, initial) is None:
        return None
    return getattr(np, name)(made, made.dtype.type(initial))


# Functions that accept numbers, with their counterparts for numbers alone.
_SKIPPING = {"fmax": "maximum", "fmin": "minimum"}


def _skipping(name: str, a: ndarray, axis: Any, keepdims: Any, dtype: Any) -> Any:
    """The recorded extreme of elements that are not NaN, or ``None``."""
    if kind_of(a.dtype) != "f" or dtype is not None or not a.size:
        return _lazily(_SKIPPING[name], a, axis, keepdims, dtype) if a.dtype.kind in "iub" else None
    is_nan = np.isnan(a)
    least = a.dtype.type(-np.inf if name == "fmax" else np.inf)
    extreme = _lazily(_SKIPPING[name], np.where(is_nan, least, a), axis, keepdims)
    nowhere = _lazily("logical_and", is_nan, axis, keepdims)
    if extreme is None or nowhere is None:
        return None
    made = np.where(nowhere, a.dtype.type(np.nan), extreme)
    return made if made.ndim or keepdims is True else made[()]


def _may_take(out: Any) -> bool:
    """Whether a result may be written to it; NumPy refuses others before it looks at the axes."""
    return out is None or (isinstance(out, ndarray) and out._writable and is_apart(out))


def _given(out: Any, result: Any) -> Any:
    """The result, written to ``out`` if that can hold it as it is; otherwise ``None``."""
    if out is None:
        return result
    fits = isinstance(out, ndarray) and out.dtype == result.dtype and out.shape == result.shape
    if not fits or not out._writable:
        return None
    assign_all(out, result)
    return out


def _array(a: Any) -> Any:
    return a.ravel() if isinstance(a, flatiter) else asanyarray(a)


def _call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = {key: value for key, value in kwargs.items() if value is not _UNSET}
    if given.get("out", 0) is None:
        del given["out"]
    return call(name, getattr(np, name), args, given)


def _said(**given: Any) -> dict[str, Any]:
    """The keywords that a call was given."""
    said = {key: value for key, value in given.items() if value is not _UNSET}
    if said.get("out", 0) is None:
        del said["out"]
    return said


def _of_class(
    name: str, ufunc: str, function: Callable[..., Any], is_method: bool, a: Any, /, **given: Any
) -> Any:
    """A reduction of an instance of a subclass: by its own method, its ways with ufuncs, or as its class."""
    if not is_method and has_own(a, name):
        # NumPy passes such methods an output in any case, a dtype only if it was given.
        said = {"out": None, **given}
        if said.get("dtype", 0) is None and ufunc:
            del said["dtype"]
        return getattr(a, name)(**said)
    if ufunc and overrides(a):
        given = {"axis": None, "dtype": None, "keepdims": False, "where": True, **given}
        return dispatched(getattr(np, ufunc), "reduce", (a,), given)
    steps = getattr(np._core._methods, f"_{name}", None)  # type: ignore[attr-defined]
    if steps is not None and overrides(a):
        # Several ufuncs, of which its class decides each.
        return by_methods(steps, a, **given)
    made = through(function, a, **given)
    if name == "mean" and a.dtype == np.float16 and not made.ndim and "out" not in given:
        # NumPy casts it by the class of its numbers.
        return plain_of(made)[()]
    return made


def _reduction(name: str, ufunc: str, is_method: bool = False) -> Callable[..., Any]:
    """A reduction with a ``dtype`` argument."""

    def function(a, axis=None, dtype=None, out=None, keepdims=_UNSET, initial=_UNSET, where=_UNSET):
        if type(a) is ndarray and out is None and keepdims is initial is where is _UNSET:
            result = a._reduce_along(ufunc, axis, dtype)
            if result is not None:
                return result
        a = _array(a)
        if type(a) is not ndarray:
            given = _said(out=out, keepdims=keepdims, initial=initial, where=where)
            return _of_class(name, ufunc, function, is_method, a, axis=axis, dtype=dtype, **given)
        if _may_take(out):
            result = _lazily(ufunc, a, axis, keepdims, dtype, initial, where)
            if result is not None:
                result = _given(out, result)
            if result is not None:
                return result
        given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
        return _call(name, (a,), {"axis": axis, "dtype": dtype, **given})

    function.__name__ = function.__qualname__ = name
    return function


def _extreme(name: str, ufunc: str, is_method: bool = False, of_class: str = "") -> Callable[..., Any]:
    """A reduction without a ``dtype`` argument, for which a class has a method, of another name perhaps."""

    def function(a, axis=None, out=None, keepdims=_UNSET, initial=_UNSET, where=_UNSET):
        if type(a) is ndarray and out is None and keepdims is initial is where is _UNSET:
            result = a._reduce_along(ufunc, axis)
            if result is not None:
                return result
        a = _array(a)
        if type(a) is not ndarray:
            given = _said(out=out, keepdims=keepdims, initial=initial, where=where)
            return _of_class(of_class or name, ufunc, function, is_method, a, axis=axis, **given)
        if _may_take(out):
            result = _lazily(ufunc, a, axis, keepdims, None, initial, where)
            if result is not None:
                result = _given(out, result)
            if result is not None:
                return result
        given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
        return _call(name, (a,), {"axis": axis, **given})

    function.__name__ = function.__qualname__ = name
    return function


def _truth(name: str, ufunc: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function, and the method of arrays, which takes a dtype as NumPy's does."""

    def function(a, axis=None, out=None, keepdims=_UNSET, *, where=_UNSET):
        if type(a) is ndarray and out is None and keepdims is where is _UNSET:
            result = a._reduce_along(ufunc, axis)
            if result is not None:
                return result
        return extreme(a, axis, out, keepdims, _UNSET, where)

    def method(self, axis=None, dtype=None, out=None, keepdims=_UNSET, *, where=_UNSET):
        if out is dtype is None and keepdims is where is _UNSET:
            result = self._reduce_along(ufunc, axis)
            if result is not None:
                return result
        if dtype is None:
            return own(self, axis, out, keepdims, _UNSET, where)
        given = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims, "where": where}
        given = {key: value for key, value in given.items() if value is not _UNSET}
        return call(name, operator.methodcaller(name, **given), (self,), {})

    extreme, own = _extreme(name, ufunc), _extreme(name, ufunc, is_method=True)
    function.__name__ = function.__qualname__ = name
    return function, method


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
    total = _lazily("add", a, axis, keepdims, wide, where=where)
    if total is None:
        return None
    if where is True:
        middle = total / wide.type(count)
    else:
        middle = total / _counted(a, axis, keepdims, where, 0).astype(wide)
    return middle if wide == result else middle.astype(result)


def _counted(a: ndarray, axis: Any, keepdims: Any, where: Any, ddof: int) -> Any:
    """How many elements take part, less ``ddof``; NumPy warns where that is none."""
    mask = np.broadcast_to(mask_of(a, where), a.shape)
    count = _lazily("add", mask, axis, keepdims) - ddof
    if (count <= 0).any():
        words = "Degrees of freedom <= 0 for slice" if ddof else "Mean of empty slice"
        warnings.warn(words, RuntimeWarning, stacklevel=4)
    return np.maximum(count, 0)


def _average(is_method: bool) -> Callable[..., Any]:
    def mean(a, axis=None, dtype=None, out=None, keepdims=_UNSET, *, where=_UNSET):
        if type(a) is ndarray and out is None and keepdims is where is _UNSET:
            result = a._mean_along(axis, dtype)
            if result is not None:
                return result
        a = _array(a)
        if type(a) is not ndarray:
            given = _said(out=out, keepdims=keepdims, where=where)
            return _of_class("mean", "", mean, is_method, a, axis=axis, dtype=dtype, **given)
        if a._lazy and (where is _UNSET or where is True or mask_of(a, where) is not None):
            result = _mean(a, axis, dtype, keepdims, True if where is _UNSET else where)
            if result is not None:
                result = _given(out, result)
            if result is not None:
                return result
        given = {"out": out, "keepdims": keepdims, "where": where}
        return _call("mean", (a,), {"axis": axis, "dtype": dtype, **given})

    mean.__qualname__ = "mean"
    return mean


def _spread(name: str, finish: Any, is_method: bool = False) -> Callable[..., Any]:
    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=_UNSET,
        *,
        where=_UNSET,
        mean=_UNSET,
        correction=_UNSET,
    ):
        a = _array(a)
        if type(a) is not ndarray:
            given = _said(out=out, keepdims=keepdims, where=where, mean=mean, correction=correction)
            given = {"dtype": dtype, "ddof": ddof, **given}
            return _of_class(name, "", function, is_method, a, axis=axis, **given)
        plain = (mean is _UNSET or type(mean) is ndarray) and correction is _UNSET
        if plain and isinstance(ddof, int) and ddof >= 0 and _is_real(a.dtype):
            result = _variance(a, axis, dtype, ddof, keepdims, where, mean)
            if result is not None:
                result = _given(out, finish(result))
            if result is not None:
                return result
        given = {"out": out, "ddof": ddof, "keepdims": keepdims, "where": where, "mean": mean}
        if correction is not _UNSET:
            # NumPy refuses both.
            given = {**given, "correction": correction}
            if not ddof:
                del given["ddof"]
        return _call(name, (a,), {"axis": axis, "dtype": dtype, **given})

    function.__name__ = function.__qualname__ = name
    return function


def _is_real(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iubf" or kind_of(dtype) == "f"


def _variance(
    a: ndarray, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any = True, middle: Any = _UNSET
) -> Any:
    """The variance of a lazy array of real numbers, or ``None``."""
    where = True if where is _UNSET else where
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
    if middle is _UNSET:
        middle = _mean(a, axis, wide, True, where)
    if middle is None or (type(middle) is ndarray and not middle._lazy):
        return None
    away = a - middle
    if away.shape != a.shape:
        return None
    total = _lazily("add", away * away, axis, keepdims, where=where)
    if total is None:
        return None
    if where is True:
        variance = total / total.dtype.type(_count(a, axis) - ddof)
    else:
        variance = total / _counted(a, axis, keepdims, where, ddof).astype(total.dtype)
    return variance.astype(a.dtype) if wide is not None else variance


def ptp(a, axis=None, out=None, keepdims=_UNSET):
    a = _array(a)
    if type(a) is not ndarray:
        return _of_class("ptp", "", ptp, False, a, axis=axis, **_said(out=out, keepdims=keepdims))
    if out is None:
        most, least = _lazily("maximum", a, axis, keepdims), _lazily("minimum", a, axis, keepdims)
        if most is not None and least is not None and a.dtype != np.bool:
            return most - least
    return _call("ptp", (a,), {"axis": axis, "out": out, "keepdims": keepdims})


def ufunc_reduce(
    name: str,
    array: ndarray,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = _UNSET,
    where: Any = True,
) -> Any:
    """``ufunc.reduce(array, …)`` as recorded, or ``None``."""
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if not _may_take(out) or not array._lazy:
        return None
    result = _lazily(name, array, axis, keepdims, dtype, initial, where)
    return None if result is None else _given(out, result)


def _position(name: str, ufunc: str, is_method: bool = False) -> Callable[..., Any]:
    """Where the first extreme is, or the first NaN."""

    greatest = ufunc == "maximum"

    def function(a, axis=None, out=None, *, keepdims=_UNSET):
        if type(a) is ndarray and out is None and keepdims is _UNSET:
            result = a._place_along(greatest, axis)
            if result is not None:
                return result
        a = _array(a)
        if type(a) is not ndarray:
            given = _said(out=out, keepdims=keepdims)
            if not is_method and has_own(a, name):
                return getattr(a, name)(axis=axis, **given)
            return like(function, a, axis, **given)
        result = _first(a, axis, ufunc, keepdims)
        if result is not None:
            result = _given(out, result)
        if result is not None:
            return result
        return _call(name, (a,), {"axis": axis, "out": out, "keepdims": keepdims})

    function.__name__ = function.__qualname__ = name
    return function


def _first(a: Any, axis: Any, ufunc: str, keepdims: Any) -> Any:
    if not isinstance(a, ndarray) or not a._lazy:
        return None
    rank = a.ndim
    # An array without axes has none to keep.
    kept = keepdims is not _UNSET and bool(keepdims) and rank > 0
    if axis is None:
        a, axis = a.reshape(-1), 0
    elif type(axis) is not int or not -rank <= axis < rank:
        return None
    axis %= a.ndim
    at = place(ufunc == "maximum", a, axis, kept)
    return at.reshape((1,) * rank) if kept and at is not None and a.ndim != rank else at


def _running(name: str, ufunc: str, is_method: bool = False) -> Callable[..., Any]:
    def function(a, axis=None, dtype=None, out=None):
        if axis is dtype is out is None and type(a) is ndarray:
            result = scan(ufunc, a, None)
            if result is not None:
                return result
        a = _array(a)
        if type(a) is not ndarray:
            given = {"axis": axis, "dtype": dtype, **_said(out=out)}
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
            result = _given(out, result)
        if result is not None:
            return result
        return _call(name, (a,), {"axis": axis, "dtype": dtype, "out": out})

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
    if not _may_take(out) or not array._lazy:
        return None
    result = _scanned(name, array, axis, dtype)
    return None if result is None else _given(out, result)


def count_nonzero(a, axis=None, *, keepdims=False):
    if is_instance(a) and (axis is not None or keepdims):
        return by_methods(np.count_nonzero, a, axis, keepdims=keepdims)
    a = a if type(a) is ndarray else plain_of(_array(a))
    made = None
    if a._lazy:
        # Along axes it has the memory layout of NumPy's cast operand.
        mask = a if a.dtype == np.bool else a != 0 if axis is None else a.astype(np.bool)
        if type(mask) is ndarray and not keepdims:
            if axis is None and (count := mask._count_true()) is not None:
                return _COUNT(count)
            made = mask._reduce_along("add", axis)
        if made is None:
            made = _lazily("add", mask, axis, keepdims, np.dtype(np.intp))
    if made is None:
        return call("count_nonzero", np.count_nonzero, (a,), {"axis": axis, "keepdims": keepdims})
    return _COUNT(made) if axis is None and not keepdims else made


# The class of NumPy's counts: Python's, or its own.
_COUNT = type(np.count_nonzero([]))


mean = _average(is_method=False)
argmax, argmin = _position("argmax", "maximum"), _position("argmin", "minimum")
cumprod, cumsum = _running("cumprod", "multiply"), _running("cumsum", "add")
sum_ = _reduction("sum", "add")
prod = _reduction("prod", "multiply")
max_, min_ = _extreme("max", "maximum"), _extreme("min", "minimum")
(all_, all_method), (any_, any_method) = _truth("all", "logical_and"), _truth("any", "logical_or")
var = _spread("var", lambda x: x)
# Ours, which NumPy would ask for at each call of its own.
_root = ufunc("sqrt", np.sqrt)
std = _spread("std", _root)

# As methods they ask no class for methods of its own.
METHODS = {
    "all": all_method,
    "any": any_method,
    "argmax": _position("argmax", "maximum", is_method=True),
    "argmin": _position("argmin", "minimum", is_method=True),
    "cumprod": _running("cumprod", "multiply", is_method=True),
    "cumsum": _running("cumsum", "add", is_method=True),
    "max": _extreme("max", "maximum", is_method=True),
    "mean": _average(is_method=True),
    "min": _extreme("min", "minimum", is_method=True),
    "prod": _reduction("prod", "multiply", is_method=True),
    "std": _spread("std", _root, is_method=True),
    "sum": _reduction("sum", "add", is_method=True),
    "var": _spread("var", lambda x: x, is_method=True),
}

FUNCTIONS = {
    "all": all_,
    "amax": _extreme("amax", "maximum", of_class="max"),
    "amin": _extreme("amin", "minimum", of_class="min"),
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
