"""Arrays from nothing or from other data, with NumPy's signatures.

Constants and ranges of lazy dtypes are expressions and take no memory. Not here: joining
(``_joining.py``), reshaping (``_shape.py``).
"""

import math
import operator

import numpy as np

from . import _gpupy
from ._fallback import call, to_host
from ._gpupy import assign_all, ndarray, scalar, wrap

_LAZY = (np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.bool))


def is_lazy(dtype):
    """True for dtypes that drivers evaluate."""
    return dtype in _LAZY


def shape_of(shape):
    """A shape argument as a tuple of ints, or ``None`` when NumPy has to refuse it."""
    try:
        extents = (operator.index(shape),)
    except TypeError:
        try:
            extents = tuple(operator.index(n) for n in shape)
        except TypeError:
            return None
    return None if any(n < 0 for n in extents) else extents


def _constant(name, value, shape, dtype, order, kwargs):
    """A lazy constant, or NumPy's array where that cannot be."""
    dtype = np.dtype(dtype)
    extents = shape_of(shape)
    if extents is None or not is_lazy(dtype) or kwargs:
        function = getattr(np, name)
        return wrap(function(to_host(shape), dtype, order, **to_host(kwargs)))
    if order == "F" and len(extents) > 1:
        return _gpupy.full(extents[::-1], value, dtype).T
    return _gpupy.full(extents, value, dtype)


def _unlike(kwargs):
    return {k: v for k, v in kwargs.items() if k != "like" and not (k == "device" and v is None)}


def zeros(shape, dtype=float, order="C", **kwargs):
    return _constant("zeros", 0.0, shape, dtype, order, _unlike(kwargs))


def ones(shape, dtype=None, order="C", **kwargs):
    return _constant("ones", 1.0, shape, float if dtype is None else dtype, order, _unlike(kwargs))


def empty(shape, dtype=float, order="C", **kwargs):
    return _constant("empty", 0.0, shape, dtype, order, _unlike(kwargs))


def full(shape, fill_value, dtype=None, order="C", **kwargs):
    if dtype is None:
        dtype = getattr(fill_value, "dtype", None) or np.asarray(fill_value).dtype
    dtype = np.dtype(dtype)
    extents = shape_of(shape)
    if extents is None or not is_lazy(dtype) or _unlike(kwargs):
        return wrap(np.full(to_host(shape), to_host(fill_value), dtype, order))
    made = _constant("empty", 0.0, extents, dtype, order, {})
    assign_all(made, fill_value)
    return made


def _like(make):
    def like(a, dtype=None, order="K", subok=True, shape=None, **kwargs):
        a = asanyarray(a)
        wanted = a.dtype if dtype is None else dtype
        fortran = order == "F" or (order in "KA" and a.flags.fnc)
        return make(a.shape if shape is None else shape, wanted, "F" if fortran else "C", **kwargs)

    return like


zeros_like, ones_like, empty_like = _like(zeros), _like(ones), _like(empty)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, **kwargs):
    made = empty_like(a, dtype, order, subok, shape, **kwargs)
    assign_all(made, fill_value)
    return made


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, **kwargs):
    if isinstance(object, scalar):
        object = object._array()
    if isinstance(object, ndarray) and object._lazy:
        made = object
        if order == "F":
            made = made if made.flags.f_contiguous and not copy else made.T._copy().T
        if dtype is not None and np.dtype(dtype) != object.dtype:
            if copy is False:
                raise ValueError(_COPY_WORDS)
            made = object.astype(dtype)
        elif copy and order != "F":
            made = object._copy()
        elif order == "C" and not object.flags.c_contiguous:
            made = object._copy()
        extra = ndmin - made.ndim
        return made if extra <= 0 else made.reshape((1,) * extra + made.shape)
    kwargs = {key: value for key, value in kwargs.items() if key != "like"}
    given = to_host(object)
    return wrap(np.array(given, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **kwargs))


_COPY_WORDS = "Unable to avoid copy while creating an array as requested."


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if type(a) is ndarray and copy is None and order in (None, "K", "A"):
        if dtype is None or np.dtype(dtype) == a.dtype:
            return a
    return array(a, dtype, copy=copy, order="K" if order is None else order)


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    return asarray(a, dtype, order, copy=copy)


def ascontiguousarray(a, dtype=None, *, like=None):
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a, dtype=None, *, like=None):
    a = asarray(a, dtype)
    if a.ndim == 0:
        return a.reshape(1)
    return a if a.flags.f_contiguous else a.T._copy().T if a._lazy else a.copy("F")


def require(a, dtype=None, requirements=None, *, like=None):
    if isinstance(a, ndarray) and a._lazy and a._writable and requirements:
        # Ours can be written to, though NumPy sees them read-only.
        requirements = [r for r in requirements if str(r).upper() not in ("W", "WRITEABLE")]
    return call("require", np.require, (a, dtype, requirements), {})


def copy(a, order="K", subok=False):
    return array(a, order=order, copy=True)


def arange(*args, dtype=None, device=None, like=None, **kwargs):
    if len(args) > 3 and dtype is None:
        args, dtype = args[:3], args[3]
    if not kwargs and dtype is not None and 1 <= len(args) <= 3:
        made = _arange(np.dtype(dtype), *[to_host(x) for x in args])
        if made is not None:
            return made
    return wrap(np.arange(*to_host(args), dtype=dtype, **to_host(kwargs)))


def _arange(dtype, start, stop=None, step=1):
    """NumPy's range: the first two elements fix the difference that the others grow by."""
    if stop is None:
        start, stop = 0, start
    if not is_lazy(dtype) or not all(isinstance(x, (int, float)) for x in (start, stop, step)):
        return None
    if step == 0 or not all(map(math.isfinite, (start, stop, step))):
        return None
    length = max(math.ceil((stop - start) / step), 0)
    if length <= 2 or length >= 2**31:
        return None
    with np.errstate(all="ignore"):
        if dtype == np.float32:
            first, second = np.float32(start), np.float32(start + step)
            delta = second - first
            made = _gpupy.ramp(length, first, delta)
            # Rounding may part the formula from the two elements that NumPy stores as they are.
            if first + np.float32(0) * delta != first or math.copysign(1, first) < 0:
                made[0] = first
            if first + np.float32(1) * delta != second:
                made[1] = second
            return made
    if dtype == np.int32 and all(type(x) is int for x in (start, stop, step)):
        if -(2**31) <= min(start, stop) and max(start, stop) < 2**31:
            return _gpupy.int_ramp(length, start, step)
    return None


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
    dtype, extents = np.dtype(dtype), shape_of(shape)
    if extents is None or not is_lazy(dtype) or any(n >= 2**31 for n in extents):
        rows = wrap(np.indices(to_host(shape), dtype))
        return function(*[rows[axis] for axis in range(len(rows))], **kwargs)
    rows = [_gpupy.index(extents, axis, dtype) for axis in range(len(extents))]
    return function(*rows, **kwargs)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    grids = [asanyarray(x) for x in xi]
    if indexing not in ("xy", "ij") or not all(g._lazy for g in grids):
        given = to_host(xi)
        return wrap(np.meshgrid(*given, copy=copy, sparse=sparse, indexing=indexing))
    rank = len(grids)
    out = [g.reshape((1,) * axis + (-1,) + (1,) * (rank - axis - 1)) for axis, g in enumerate(grids)]
    if indexing == "xy" and rank > 1:
        out[0] = out[0].reshape((1, -1) + (1,) * (rank - 2))
        out[1] = out[1].reshape((-1, 1) + (1,) * (rank - 2))
    if not sparse:
        from ._shape import broadcast_arrays

        out = list(broadcast_arrays(*out))
    if copy:
        out = [g._copy() for g in out]
    return tuple(out)


def astype(x, dtype, /, *, copy=True, device=None):
    return asanyarray(x).astype(dtype, copy=copy)


FUNCTIONS = {
    function.__name__: function
    for function in (
        *(arange, array, asanyarray, asarray, ascontiguousarray, asfortranarray, astype, copy),
        *(empty, fromfunction, full, full_like, indices, meshgrid, ones, require),
        zeros,
    )
} | {"zeros_like": zeros_like, "ones_like": ones_like, "empty_like": empty_like}
