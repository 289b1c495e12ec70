"""What reductions share: the recorded one, and the ways of those that are NumPy's or a class's.

Owns ``lazily``. Invariant: ``None`` stands for a reduction that NumPy has to do. Not here: NumPy's
functions (``reductions.py``, ``averages.py``).
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from .._classes.subclass import dispatched, has_own, overrides, through
from .._classes.subclass import plain as plain_of
from .._creation.conversion import asanyarray
from .._gpupy import assign_all, call, kind_of, ndarray
from .._indexing.masks import is_apart, mask_of, number_of
from .._numpys.rebound import by_methods
from .._views.flat import flatiter

UNSET = np._NoValue
# The classes of ``keepdims`` where it says no more than yes or no.
KEEPS = frozenset((bool, type(UNSET)))

# The greatest number that NumPy takes for yes: a C int.
_MOST = 2**31 - 1


def kept(keepdims: Any) -> bool | None:
    """What ``keepdims`` says: yes, no, or ``None`` where NumPy refuses it, as anything that is no integer."""
    if type(keepdims) in KEEPS:
        return keepdims is True
    try:
        number = operator.index(keepdims)
    except TypeError:
        return None
    return bool(number) if -_MOST <= number + 1 and number <= _MOST else None


# The identities of reductions, by their ufunc.
_OF_NOTHING: dict[str, Any] = {
    **{"add": 0, "multiply": 1, "logical_and": True, "logical_or": False},
    **{"bitwise_or": 0, "bitwise_xor": 0},
}


def lazily(
    name: str, a: Any, axis: Any, keepdims: Any, dtype: Any = None, initial: Any = UNSET, where: Any = True
) -> Any:
    """The recorded reduction of a lazy array, whose elements are cast first, or ``None``."""
    if not isinstance(a, ndarray) or not a._lazy:
        return None
    keepdims = kept(keepdims)
    if keepdims is None:
        return None
    if where is not True and where is not UNSET:
        a = _only_where(name, a, initial, where)
        if a is None:
            return None
    if initial is not UNSET:
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
    return a._reduce(name, list(axes), keepdims, dtype)


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
    made = lazily(name, a, axis, keepdims, dtype)
    if made is None or number_of(made, initial) is None:
        return None
    return getattr(np, name)(made, made.dtype.type(initial))


# Functions that accept numbers, with their counterparts for numbers alone.
_SKIPPING = {"fmax": "maximum", "fmin": "minimum"}


def _skipping(name: str, a: ndarray, axis: Any, keepdims: Any, dtype: Any) -> Any:
    """The recorded extreme of elements that are not NaN, or ``None``."""
    if kind_of(a.dtype) != "f" or dtype is not None or not a.size:
        return lazily(_SKIPPING[name], a, axis, keepdims, dtype) if a.dtype.kind in "iub" else None
    is_nan = np.isnan(a)
    least = a.dtype.type(-np.inf if name == "fmax" else np.inf)
    extreme = lazily(_SKIPPING[name], np.where(is_nan, least, a), axis, keepdims)
    nowhere = lazily("logical_and", is_nan, axis, keepdims)
    if extreme is None or nowhere is None:
        return None
    made = np.where(nowhere, a.dtype.type(np.nan), extreme)
    return made if made.ndim or keepdims is True else made[()]


# Python's numbers, None, and NumPy's: there is nothing to reduce, and NumPy does it sooner.
NUMBERS = frozenset((bool, int, float, complex, type(None), np.bool)) | frozenset(
    np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]
)


def of_number(name: str, number: Any, **given: Any) -> Any:
    """NumPy's reduction of a number."""
    return getattr(np, name)(number, **said_of(**given))


def may_take(out: Any) -> bool:
    """Whether a result may be written to it; NumPy refuses others before it looks at the axes."""
    return out is None or (isinstance(out, ndarray) and out._writable and is_apart(out))


def given_to(out: Any, result: Any) -> Any:
    """The result, written to ``out`` if that can hold it as it is; otherwise ``None``."""
    if out is None:
        return result
    fits = isinstance(out, ndarray) and out.dtype == result.dtype and out.shape == result.shape
    if not fits or not out._writable:
        return None
    assign_all(out, result)
    return out


def as_array(a: Any) -> Any:
    return a.ravel() if isinstance(a, flatiter) else asanyarray(a)


def by_numpy(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = {key: value for key, value in kwargs.items() if value is not UNSET}
    if given.get("out", 0) is None:
        del given["out"]
    return call(name, getattr(np, name), args, given)


def said_of(**given: Any) -> dict[str, Any]:
    """The keywords that a call was given."""
    said = {key: value for key, value in given.items() if value is not UNSET}
    if said.get("out", 0) is None:
        del said["out"]
    return said


def by_class(
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
