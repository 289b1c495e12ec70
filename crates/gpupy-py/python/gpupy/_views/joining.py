"""Joining and repeating arrays, lazily: operations on the result read its parts in place.

A shift whose edge wraps around, repeats or mirrors is a joining of views too: ``roll`` and ``pad``.
Not here: splitting, which makes views (``shape.py``).
"""

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .._classes.subclass import has_own, joined_as, like
from .._classes.subclass import plain as plain_of
from .._creation.constants import full
from .._creation.conversion import array, asanyarray
from .._creation.orders import axes_as_they_lie
from .._fallback.others import decides, of_other
from .._gpupy import (
    call,
    is_lazy,
    join,
    join_plainly,
    ndarray,
    padded,
    repeated,
    roll_alike,
    rolled,
    tiled,
    zeros,
)
from .._numpys.rebound import bound
from .shape import atleast_1d, atleast_2d, atleast_3d, ravel


def _parts(arrays: Any) -> list[ndarray] | None:
    """The arrays to join, or ``None`` when NumPy has to join them."""
    if isinstance(arrays, ndarray):
        arrays = [arrays[i] for i in range(len(arrays))]
    _sequence(arrays)
    if any(type(a) in (int, float, complex) for a in arrays):
        # Python's numbers take the dtype of the others.
        return None
    if any(map(decides, arrays)):
        return None
    parts = [asanyarray(a) for a in arrays]
    return parts if parts and all(p._lazy for p in parts) else None


def _sequence(arrays: Any) -> Any:
    """Refuses generators, which NumPy does not join."""
    if not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return arrays


def _refuse(parts: Sequence[ndarray], axis: int) -> NoReturn:
    """Lets NumPy refuse shapes that cannot be joined."""
    np.concatenate([p._meta_array() for p in parts], axis)
    raise ValueError("the arrays cannot be joined")


def _said(out: Any, dtype: Any, casting: Any) -> dict[str, Any]:
    """The keywords that say something: other classes do not have all of them."""
    given = {"out": out, "dtype": dtype, "casting": None if casting == "same_kind" else casting}
    return {key: value for key, value in given.items() if value is not None}


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is dtype is None and casting == "same_kind":
        made = join_plainly("concatenate", arrays, axis)
        if made is not None:
            return made
    return _concatenated(arrays, axis, out, dtype, casting)


def _concatenated(arrays: Any, axis: Any, out: Any, dtype: Any, casting: Any) -> Any:
    """The slow path; a function of its own, because variables that comprehensions share cost each call."""
    parts = None if out is not None or casting != "same_kind" else _parts(arrays)
    wanted = None
    if parts is not None:
        wanted = np.result_type(*[p.dtype for p in parts]) if dtype is None else np.dtype(dtype)
        if not all(np.can_cast(p.dtype, wanted, casting) for p in parts):
            wanted = None
    if parts is None or wanted is None or not is_lazy(wanted):
        return call("concatenate", np.concatenate, (arrays, axis), _said(out, dtype, casting))
    before = parts
    if any(type(p) is not ndarray for p in parts):
        parts = [plain_of(p) for p in parts]
    if axis is None:
        parts, axis = [p.reshape(-1) for p in parts], 0
    rank, axis = parts[0].ndim, operator.index(axis)
    if rank == 0 or any(p.ndim != rank for p in parts) or not -rank <= axis < rank:
        _refuse(parts, axis)
    axis %= rank
    others = {p.shape[:axis] + p.shape[axis + 1 :] for p in parts}
    if len(others) != 1:
        _refuse(parts, axis)
    made = join([p if p.dtype == wanted else p.astype(wanted) for p in parts], axis)
    return made if before is parts else joined_as(before, made)


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    if out is dtype is None and casting == "same_kind":
        made = join_plainly("stack", arrays, axis)
        if made is not None:
            return made
    parts = None if out is not None else _parts(arrays)
    if parts is None or len({p.shape for p in parts}) != 1 or not _inside(axis, parts[0].ndim + 1):
        return call("stack", np.stack, (arrays, axis), _said(out, dtype, casting))
    axis %= parts[0].ndim + 1
    key = (slice(None),) * axis + (None,)
    return concatenate([p[key] for p in parts], axis, dtype=dtype, casting=casting)


def _inside(axis: Any, rank: int) -> bool:
    return hasattr(axis, "__index__") and -rank <= axis < rank


def vstack(tup, *, dtype=None, casting="same_kind"):
    if dtype is None and casting == "same_kind":
        made = join_plainly("vstack", tup, 0)
        if made is not None:
            return made
    return concatenate([atleast_2d(a) for a in _sequence(tup)], 0, dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    if dtype is None and casting == "same_kind":
        made = join_plainly("hstack", tup, 0)
        if made is not None:
            return made
    parts = [atleast_1d(a) for a in _sequence(tup)]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


def dstack(tup):
    made = join_plainly("dstack", tup, 0)
    if made is not None:
        return made
    return concatenate([atleast_3d(a) for a in _sequence(tup)], 2)


def column_stack(tup):
    made = join_plainly("column_stack", tup, 0)
    if made is not None:
        return made
    parts = [asanyarray(a) for a in _sequence(tup)]
    return concatenate([p.reshape(-1, 1) if p.ndim < 2 else p for p in parts], 1)


def append(arr, values, axis=None):
    if axis is None:
        made = join_plainly("append", (arr, values), 0)
        if made is not None:
            return made
        return concatenate([ravel(arr), ravel(values)])
    return concatenate([arr, values], axis)


def _by_methods(theirs: Any, *args: Any) -> Any:
    """The result of NumPy's Python code for an instance of a subclass, which may have methods of its own."""
    return bound(theirs)(*args)


def _shifts(shift: Any, axis: Any, rank: int) -> np.broadcast:
    """Each shift with its axis."""
    pairs = np.broadcast(shift, np.lib.array_utils.normalize_axis_tuple(axis, rank, allow_duplicate=True))
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    return pairs


def roll(a, shift, axis=None):
    made = roll_alike(a, shift, axis)
    if made is not None:
        return made
    if type(a) is not ndarray and decides(a):
        return of_other("roll", a, shift, axis=axis)
    a = asanyarray(a)
    if type(a) is not ndarray:
        return _by_methods(np.roll, a, shift, axis)
    if not a._lazy:
        return call("roll", np.roll, (a, shift), {"axis": axis})
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    # The result lies in memory as the array does, whatever the strides of its parts say.
    axes = axes_as_they_lie(a)
    shifts = [
        (int(by) % max(a.shape[along], 1), axes.index(along)) for by, along in _shifts(shift, axis, a.ndim)
    ]
    moved: Any = rolled(a.transpose(axes), shifts)
    return moved.transpose([axes.index(axis) for axis in range(a.ndim)])._alone()


def _constant_sides(a: ndarray, axis: int, pair: Sequence[int], constants: Sequence[Any]) -> Any:
    """An array with so many elements of each constant before and behind it along an axis."""

    def side(n: int, constant: Any) -> Any:
        shape = (*a.shape[:axis], n, *a.shape[axis + 1 :])
        is_zero = type(constant) is int and constant == 0
        return zeros(shape, a.dtype) if is_zero else full(shape, constant, a.dtype)

    first, last = map(side, pair, constants)
    return join([first, a, last], axis)


def _expresses(dtype: np.dtype[Any], constants: Any) -> bool:
    """Whether a dtype has these numbers; NumPy has the words, and the bits, for others."""
    constants = np.asarray(constants)
    if constants.dtype.kind not in "biuf" or (dtype.kind in "biu" and not np.isfinite(constants).all()):
        return False
    # Of bfloat16 NumPy tells no limits.
    if dtype.kind == "V":
        return False
    low, high = _ends(dtype)
    return all(low <= constant <= high for constant in constants.ravel().tolist())


def _ends(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest number of a real dtype."""
    if dtype.kind == "b":
        return 0, 1
    ends: Any = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    return ends.min, ends.max


# For each mode, how many elements beyond its own extent an array has to offer.
_OFFERS = {"edge": None, "constant": None, "wrap": 0, "symmetric": 0, "reflect": -1}


def _sides(given: Any, rank: int) -> Any:
    """The arguments for both sides of each axis."""
    if type(given) is int:
        return [(given, given)] * rank
    if type(given) is tuple and len(given) == rank and all(_are_sides(pair) for pair in given):
        return given
    return np.broadcast_to(np.asarray(given), (rank, 2)).tolist()


def _are_sides(pair: Any) -> bool:
    return type(pair) is tuple and len(pair) == 2 and type(pair[0]) is type(pair[1]) is int


def _padded_by_numpy(array: Any, pad_width: Any, given: dict[str, Any]) -> Any:
    # NumPy checks the order of its argument, which may be a compact copy of a view.
    if isinstance(array, ndarray) and array.ndim and not array.flags.fnc:
        array = array.copy("C")
    return call("pad", np.pad, (array, pad_width), given)


def pad(array, pad_width, mode="constant", **kwargs):
    if type(array) is not ndarray and decides(array):
        return of_other("pad", array, pad_width, mode, **kwargs)
    a = plain_of(asanyarray(array))
    given = {"mode": mode, **kwargs}
    try:
        widths = _sides(pad_width, a.ndim)
        constants = _sides(kwargs.get("constant_values", 0), a.ndim)
    except (TypeError, ValueError):
        return _padded_by_numpy(array, pad_width, given)
    plain = set(kwargs) <= ({"constant_values"} if mode == "constant" else set())
    whole = all(isinstance(n, int) and n >= 0 for pair in widths for n in pair)
    if not (a._lazy and a.size and plain and whole and isinstance(mode, str) and mode in _OFFERS):
        return _padded_by_numpy(array, pad_width, given)
    if "constant_values" in kwargs and not _expresses(a.dtype, kwargs["constant_values"]):
        return _padded_by_numpy(array, pad_width, given)
    most = _OFFERS[mode]
    if most is not None and any(
        n > extent + most for extent, pair in zip(a.shape, widths, strict=True) for n in pair
    ):
        return _padded_by_numpy(array, pad_width, given)
    order = "F" if a.flags.fnc else "C"
    for axis, (pair, constant) in enumerate(zip(widths, constants, strict=True)):
        if any(pair):
            if mode == "constant":
                a = _constant_sides(a, axis, pair, constant)
            else:
                a = padded(a, axis, tuple(pair), mode)
    return a.copy(order)


def repeat(a, repeats, axis=None):
    if type(a) is not ndarray and decides(a, "repeat"):
        return of_other("repeat", a, repeats, axis=axis)
    a = a if type(a) is ndarray else asanyarray(a)
    if type(a) is not ndarray and has_own(a, "repeat"):
        return a.repeat(repeats, axis=axis)
    return repeat_method(a, repeats, axis)


def repeat_method(self, repeats, axis=None):
    """The method."""
    a = self
    if type(a) is not ndarray:
        return like(repeat_method, a, repeats, axis)
    made = repeated(a, repeats, axis)
    return call("repeat", np.repeat, (a, repeats), {"axis": axis}) if made is None else made


def tile(A, reps):
    if type(A) is not ndarray and decides(A):
        return of_other("tile", A, reps)
    times = tuple(reps) if isinstance(reps, (list, tuple)) else (reps,)
    a = A if type(A) is ndarray else asanyarray(A)
    if type(a) is not ndarray:
        return _by_methods(np.tile, a, reps)
    if all(type(n) is int for n in times) and a._lazy:
        if all(n == 1 for n in times):
            return array(a, copy=True, ndmin=len(times))
        made = tiled(a, times)
        if made is not None:
            # NumPy's result is a view of its new array; without a shift, of the argument.
            return (made if a.size else a).reshape(made.shape)
    return call("tile", np.tile, (A, reps), {})


FUNCTIONS = {
    function.__name__: function
    for function in (
        append,
        column_stack,
        concatenate,
        dstack,
        hstack,
        pad,
        repeat,
        roll,
        stack,
        tile,
        vstack,
    )
} | {"concat": concatenate}
