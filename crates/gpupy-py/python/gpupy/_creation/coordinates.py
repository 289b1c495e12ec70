"""Arrays whose elements follow from their coordinates: ``eye``, ``tri``, ``indices``, ``fromfunction``.

Those of lazy dtypes are expressions and take no memory. Not here: grids of given coordinates
(``_views/grids.py``).
"""

import operator

import numpy as np

from .. import _gpupy
from .._fallback.hosts import to_host
from .._gpupy import call, empty, is_lazy, wrap, zeros
from .asked import given_like, refuse
from .orders import order_of, shape_of


def tri(N, M=None, k=0, dtype=float, *, like=None):
    if like is not None:
        return given_like(tri, N, M, k, dtype, like=like)
    try:
        rows, columns = operator.index(N), operator.index(N if M is None else M)
        diagonal = operator.index(k)
    except TypeError:
        # NumPy takes a diagonal between two others.
        return call("tri", np.tri, (N, M, k, dtype), {})
    k, dtype = diagonal, np.dtype(dtype)
    if not (is_lazy(dtype) and max(rows, columns, abs(k)) < 2**30 and min(rows, columns) >= 0):
        return call("tri", np.tri, (N, M, k, dtype), {})
    row, column = (_gpupy.index((rows, columns), axis, np.int32) for axis in (0, 1))
    return (row + k >= column).astype(dtype)


# Matrices of at most so many elements are made at once, as constants are (`filled` in the engine's
# thresholds); others take no memory.
_WRITTEN = 1 << 10


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    if like is not None:
        return given_like(eye, N, M, k, dtype, order, device=device, like=like)
    refuse(device)
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    k, dtype, order = operator.index(k), np.dtype(dtype), order_of(order)
    if not (is_lazy(dtype) and max(rows, columns, abs(k)) < 2**30 and min(rows, columns) >= 0):
        return call("eye", np.eye, (N, M, k, dtype, order), {})
    if order == "C" and rows * columns <= _WRITTEN:
        made = zeros((rows, columns), dtype)
        made[: max(columns - k, 0)].reshape(-1)[k if k >= 0 else -k * columns :: columns + 1] = 1
        return made
    shape, k = ((rows, columns), k) if order != "F" else ((columns, rows), -k)
    row, column = (_gpupy.index(shape, axis, np.int32) for axis in (0, 1))
    made = ((row + k if k else row) == column).astype(dtype)
    return made.T._alone() if order == "F" else made


def identity(n, dtype=None, *, like=None):
    if like is not None:
        return given_like(identity, n, dtype, like=like)
    return eye(n, dtype=float if dtype is None else dtype)


def indices(dimensions, dtype=int, sparse=False):
    dtype, extents = np.dtype(dtype), shape_of(dimensions)
    if extents is None or not is_lazy(dtype) or any(n >= 2**31 for n in extents):
        return wrap(np.indices(to_host(dimensions), dtype, sparse))
    rank = len(extents)
    if sparse:
        alone = [_gpupy.index((n,), 0, dtype) for n in extents]
        return tuple(
            row.reshape((1,) * axis + (-1,) + (1,) * (rank - axis - 1)) for axis, row in enumerate(alone)
        )
    made = empty((rank, *extents), dtype)
    for axis in range(rank):
        made[axis] = _gpupy.index(extents, axis, dtype)
    return made


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    if like is not None:
        return given_like(fromfunction, function, shape, dtype=dtype, like=like, **kwargs)
    dtype, extents = np.dtype(dtype), shape_of(shape)
    if extents is None or not is_lazy(dtype) or any(n >= 2**31 for n in extents):
        rows = wrap(np.indices(to_host(shape), dtype))
        return function(*[rows[axis] for axis in range(len(rows))], **kwargs)
    # The coordinates are rows of one array in NumPy, which has the words for too many axes.
    np.broadcast_shapes((1,) * (len(extents) + 1))
    rows = [_gpupy.index(extents, axis, dtype) for axis in range(len(extents))]
    return function(*rows, **kwargs)


FUNCTIONS = {function.__name__: function for function in (eye, fromfunction, identity, indices, tri)}
