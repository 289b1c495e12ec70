"""Joining arrays: the parts are written into one new array, lazily.

Not here: splitting, which makes views (``_shape.py``).
"""

import numpy as np

from ._creation import asanyarray, empty, is_lazy
from ._fallback import call
from ._gpupy import ndarray
from ._shape import atleast_1d, atleast_2d, atleast_3d


def _parts(arrays):
    """The arrays to join, or ``None`` when NumPy has to join them."""
    if isinstance(arrays, ndarray):
        arrays = [arrays[i] for i in range(len(arrays))]
    parts = [asanyarray(a) for a in arrays]
    return parts if parts and all(p._lazy for p in parts) else None


def _refuse(parts, axis):
    """Lets NumPy refuse shapes that cannot be joined."""
    np.concatenate([p._hollow() for p in parts], axis)
    raise ValueError("the arrays cannot be joined")


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    parts = None if out is not None or casting != "same_kind" else _parts(arrays)
    wanted = None
    if parts is not None:
        wanted = np.result_type(*[p.dtype for p in parts]) if dtype is None else np.dtype(dtype)
        if not all(np.can_cast(p.dtype, wanted, casting) for p in parts):
            wanted = None
    if wanted is None or not is_lazy(wanted):
        given = {"axis": axis, "dtype": dtype, "casting": casting}
        if out is not None:
            given["out"] = out
        return call("concatenate", np.concatenate, (arrays,), given)
    if axis is None:
        parts, axis = [p.reshape(-1) for p in parts], 0
    rank = parts[0].ndim
    if rank == 0 or any(p.ndim != rank for p in parts) or not -rank <= axis < rank:
        _refuse(parts, axis)
    axis %= rank
    others = {p.shape[:axis] + p.shape[axis + 1 :] for p in parts}
    if len(others) != 1:
        _refuse(parts, axis)
    shape = list(parts[0].shape)
    shape[axis] = sum(p.shape[axis] for p in parts)
    made = empty(tuple(shape), wanted)
    start, before = 0, (slice(None),) * axis
    for part in parts:
        end = start + part.shape[axis]
        made[(*before, slice(start, end))] = part
        start = end
    return made


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    parts = None if out is not None else _parts(arrays)
    if parts is None or len({p.shape for p in parts}) != 1 or not _inside(axis, parts[0].ndim + 1):
        given = {"axis": axis, "dtype": dtype, "casting": casting}
        if out is not None:
            given["out"] = out
        return call("stack", np.stack, (arrays,), given)
    axis %= parts[0].ndim + 1
    key = (slice(None),) * axis + (None,)
    return concatenate([p[key] for p in parts], axis, dtype=dtype, casting=casting)


def _inside(axis, rank):
    return -rank <= axis < rank


def vstack(tup, *, dtype=None, casting="same_kind"):
    return concatenate([atleast_2d(a) for a in tup], 0, dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    parts = [atleast_1d(a) for a in tup]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


def dstack(tup):
    return concatenate([atleast_3d(a) for a in tup], 2)


def column_stack(tup):
    parts = [asanyarray(a) for a in tup]
    return concatenate([p.reshape(-1, 1) if p.ndim < 2 else p for p in parts], 1)


def append(arr, values, axis=None):
    if axis is None:
        return concatenate([asanyarray(arr).ravel(), asanyarray(values).ravel()])
    return concatenate([arr, values], axis)


FUNCTIONS = {
    function.__name__: function
    for function in (append, column_stack, concatenate, dstack, hstack, stack, vstack)
} | {"concat": concatenate}
