"""Arrays from nothing or from other data, with NumPy's signatures.

Constants and ranges of lazy dtypes are expressions and take no memory. Not here: joining
(``_joining.py``), reshaping (``_shape.py``).
"""

import math
import operator

import numpy as np

from . import _gpupy
from ._fallback import call, to_host, wrapped
from ._gpupy import assign_all, empty, hold, is_lazy, ndarray, scalar, wrap, zeros


def shape_of(shape):
    """A shape argument as a tuple of ints, or ``None`` when NumPy has to refuse it."""
    try:
        extents = (operator.index(shape),)
    except TypeError:
        try:
            extents = tuple(operator.index(n) for n in shape)
        except TypeError:
            return None
    return None if any(not 0 <= n <= _LARGEST for n in extents) else extents


_LARGEST = np.iinfo(np.intp).max


def order_of(order):
    """An order as a capital letter, or ``None``; NumPy has the words for what is none."""
    letter = order.upper() if isinstance(order, str) else order
    if letter not in ("C", "F", "A", "K", None):
        np.empty(0).ravel(order)
    return letter


def axes_as_they_lie(array):
    """The axes of an array from the outermost in memory to the innermost."""
    strides = array.strides
    return sorted(range(array.ndim), key=lambda axis: -abs(strides[axis]))


def _constant(name, value, shape, dtype, order, kwargs):
    """A lazy constant, or NumPy's array where that cannot be."""
    given, dtype = dtype, np.dtype(dtype)
    extents, order = shape_of(shape), order_of(order)
    if extents is None or not is_lazy(dtype) or kwargs or order not in ("C", "F"):
        function = getattr(np, name)
        return wrap(function(to_host(shape), given, order, **to_host(kwargs)))
    if order == "F" and len(extents) > 1:
        return _gpupy.full(extents[::-1], value, dtype).T
    return _gpupy.full(extents, value, dtype)


def _on(device):
    return {} if device is None else {"device": device}


def _without_device(kwargs):
    return {k: v for k, v in kwargs.items() if not (k == "device" and v is None)}


def _given_like(function, *args, like, **kwargs):
    """The call, left to the class of ``like`` where that is not ours or NumPy's."""
    if like is None or type(like) is np.ndarray or isinstance(like, ndarray):
        return function(*args, **kwargs)
    return getattr(np, function.__name__)(*args, like=like, **kwargs)


def _otherwise(ours):
    """``zeros``, ``ones`` or ``empty`` where what is said is not as plain as most is."""
    name = ours.__name__

    def make(shape, dtype=float, order="C", *, device=None, like=None):
        if like is not None:
            return _given_like(ours, shape, dtype, order, device=device, like=like)
        return _constant(name, float(name == "ones"), shape, dtype, order, _on(device))

    # Python names it where it does not take an argument.
    make.__qualname__ = name
    return make


CONSTANTS = {ours.__name__: _otherwise(ours) for ours in (zeros, _gpupy.ones, empty)}


def ones(shape, dtype=None, order="C", **kwargs):
    # In NumPy it is a function in Python, which binds to instances.
    return _gpupy.ones(shape, dtype, order, **kwargs)


def full(shape, fill_value, dtype=None, order="C", **kwargs):
    if "like" in kwargs:
        return _given_like(full, shape, fill_value, dtype, order, **kwargs)
    if dtype is None:
        dtype = getattr(fill_value, "dtype", None) or np.asarray(fill_value).dtype
    given, dtype = dtype, np.dtype(dtype)
    extents = shape_of(shape)
    if extents is None or not is_lazy(dtype) or _without_device(kwargs):
        return wrap(np.full(to_host(shape), to_host(fill_value), given, order))
    made = _constant("empty", 0.0, extents, dtype, order, {})
    _fill(made, fill_value)
    return made


def _fill(made, value):
    """Casts as NumPy does here, where only Python's ints have to fit."""
    assign_all(made, value if type(value) in (int, ndarray, scalar) else np.asarray(to_host(value)))


def _like(make):
    def like(a, dtype=None, order="K", subok=True, shape=None, **kwargs):
        a, order = asanyarray(a), order_of(order)
        wanted = a.dtype if dtype is None else dtype
        fortran = order == "F" or (order in "KA" and a.flags.fnc)
        return make(a.shape if shape is None else shape, wanted, "F" if fortran else "C", **kwargs)

    return like


zeros_like, ones_like, empty_like = _like(zeros), _like(ones), _like(empty)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, **kwargs):
    made = empty_like(a, dtype, order, subok, shape, **kwargs)
    _fill(made, fill_value)
    return made


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, **kwargs):
    if "like" in kwargs:
        given = {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin}
        return _given_like(array, object, dtype, **given, **kwargs)
    if isinstance(copy, np._CopyMode):
        copy = _COPIES[copy]
    if isinstance(object, scalar):
        object = object._array()
    if isinstance(object, ndarray) and object._lazy:
        made, order = object, order_of(order)
        if order == "F":
            made = made if made.flags.f_contiguous and not copy else made.T._copy().T
        if dtype is not None and np.dtype(dtype) != object.dtype:
            if copy is False:
                raise ValueError(_COPY_WORDS)
            made = made.astype(dtype, order="K" if order == "F" else order)
        elif copy and order != "F":
            made = object._copy(None, order == "K" or (order == "A" and object.flags.fnc))
        elif order == "C" and not object.flags.c_contiguous:
            made = object._copy()
        extra = ndmin - made.ndim
        return made if extra <= 0 else made.reshape((1,) * extra + made.shape)
    given = to_host(object)
    made = np.array(given, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **kwargs)
    # Without a copy it is the array itself or a view of it.
    return wrapped("array", made, [object], [given]) if isinstance(object, ndarray) else wrap(made)


_COPIES = {np._CopyMode.ALWAYS: True, np._CopyMode.IF_NEEDED: None, np._CopyMode.NEVER: False}
_COPY_WORDS = "Unable to avoid copy while creating an array as requested."


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if like is not None:
        return _given_like(asarray, a, dtype, order, copy=copy, like=like)
    if type(a) is ndarray and copy is None and order in (None, "K", "A"):
        if dtype is None or np.dtype(dtype) == a.dtype:
            return a
    return array(a, dtype, copy=copy, order="K" if order is None else order)


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """An array of ours. One of a subclass of NumPy's is held as it is, for NumPy to work on."""
    if isinstance(a, np.ndarray) and type(a) is not np.ndarray and dtype is order is copy is None:
        return hold(a)
    return asarray(a, dtype, order, copy=copy)


def _asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if like is not None:
        return _given_like(asanyarray, a, dtype, order, copy=copy, like=like)
    if isinstance(a, np.ndarray):
        return wrap(np.asanyarray(a, dtype, order, copy=copy))
    return asarray(a, dtype, order, copy=copy)


def ascontiguousarray(a, dtype=None, *, like=None):
    if like is not None:
        return _given_like(ascontiguousarray, a, dtype, like=like)
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a, dtype=None, *, like=None):
    if like is not None:
        return _given_like(asfortranarray, a, dtype, like=like)
    a = asarray(a, dtype)
    if a.ndim == 0:
        return a.reshape(1)
    return a if a.flags.f_contiguous else a.T._copy().T if a._lazy else a.copy("F")


def require(a, dtype=None, requirements=None, *, like=None):
    if like is not None:
        return _given_like(require, a, dtype, requirements, like=like)
    if isinstance(a, ndarray) and a._lazy and a._writable and requirements:
        # Ours can be written to, though NumPy sees them read-only.
        requirements = [r for r in requirements if str(r).upper() not in ("W", "WRITEABLE")]
    return call("require", np.require, (a, dtype, requirements), {})


def copy(a, order="K", subok=False):
    return array(a, order=order, copy=True, subok=subok)


def arange(*args, dtype=None, device=None, like=None, **kwargs):
    if like is not None:
        return _given_like(arange, *args, dtype=dtype, like=like, **kwargs)
    if len(args) > 3 and dtype is None:
        args, dtype = args[:3], args[3]
    if not kwargs and 1 <= len(args) <= 3:
        made = _arange(dtype, *[to_host(x) for x in args])
        if made is not None:
            return made
    return wrap(np.arange(*to_host(args), dtype=dtype, **to_host(kwargs)))


def _arange(dtype, start, stop=None, step=1):
    """NumPy's range: the first two elements fix the difference that the others grow by."""
    if stop is None:
        start, stop = 0, start
    given = (start, stop, step)
    if step == 0 or not all(type(x) in (int, float) and math.isfinite(x) for x in given):
        return None
    whole = all(type(x) is int for x in given)
    dtype = np.dtype((int if whole else float) if dtype is None else dtype)
    length = max(math.ceil((stop - start) / step), 0)
    if not is_lazy(dtype) or length <= 2 or length >= 2**31:
        return None
    if dtype.kind in "iu" and whole:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        inside = all(least <= x <= most for x in (*given, start + step))
        return _gpupy.ramp(length, start, step, dtype) if inside else None
    if dtype.kind != "f":
        return None
    with np.errstate(all="ignore"):
        # NumPy computes float16 in float32.
        wide = np.dtype(np.float32) if dtype == np.float16 else dtype
        first, second = (wide.type(dtype.type(x)) for x in (start, start + step))
        delta = second - first
        made = _gpupy.ramp(length, first, delta, wide)
        made = made if wide == dtype else made.astype(dtype)
        # Rounding may part the formula from the two elements that NumPy stores as they are.
        if first + wide.type(0) * delta != first or math.copysign(1, first) < 0:
            made[0] = first
        if dtype.type(first + wide.type(1) * delta) != second:
            made[1] = second
        return made


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    given = [to_host(x) for x in (start, stop)]
    if all(type(x) in (int, float) for x in given) and is_lazy(float) and axis in (0, -1):
        made = _linspace(*map(float, given), operator.index(num), endpoint, dtype)
        if made is not None:
            return made if retstep else made[0]
    arguments = {"endpoint": endpoint, "retstep": retstep, "dtype": dtype, "axis": axis}
    return call("linspace", np.linspace, (*given, num), arguments)


def _linspace(start, stop, num, endpoint, dtype):
    """NumPy's own steps in float64, and the step; or ``None`` where it takes others."""
    spaces = num - 1 if endpoint else num
    if not 0 < spaces < 2**31:
        return None
    with np.errstate(all="ignore"):
        step = (np.float64(stop) - np.float64(start)) / spaces
    if step == 0:
        return None
    made = _gpupy.ramp(num, start, step, float, stop if endpoint else None)
    if dtype is None:
        return made, step
    dtype = np.dtype(dtype)
    if not is_lazy(dtype):
        return None
    return (np.floor(made) if dtype.kind in "iu" else made).astype(dtype), step


def tri(N, M=None, k=0, dtype=float, *, like=None):
    if like is not None:
        return _given_like(tri, N, M, k, dtype, like=like)
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    k, dtype = operator.index(k), np.dtype(dtype)
    if not (is_lazy(dtype) and max(rows, columns, abs(k)) < 2**30 and min(rows, columns) >= 0):
        return call("tri", np.tri, (N, M, k, dtype), {})
    row, column = (_gpupy.index((rows, columns), axis, np.int32) for axis in (0, 1))
    return (row + k >= column).astype(dtype)


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    if like is not None:
        return _given_like(eye, N, M, k, dtype, order, like=like)
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    k, dtype, order = operator.index(k), np.dtype(dtype), order_of(order)
    if not (is_lazy(dtype) and max(rows, columns, abs(k)) < 2**30 and min(rows, columns) >= 0):
        return call("eye", np.eye, (N, M, k, dtype, order), {})
    shape, k = ((rows, columns), k) if order != "F" else ((columns, rows), -k)
    row, column = (_gpupy.index(shape, axis, np.int32) for axis in (0, 1))
    made = (row + k == column).astype(dtype)
    return made.T if order == "F" else made


def identity(n, dtype=None, *, like=None):
    if like is not None:
        return _given_like(identity, n, dtype, like=like)
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
        return _given_like(fromfunction, function, shape, dtype=dtype, like=like, **kwargs)
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
    if not isinstance(x, (ndarray, np.ndarray)):
        # NumPy has the words.
        return call("astype", np.astype, (x, dtype), {"copy": copy, **_on(device)})
    return asanyarray(x).astype(dtype, copy=copy)


FUNCTIONS = {
    function.__name__: function
    for function in (
        *(_gpupy.arange, _gpupy.array, asarray, ascontiguousarray, asfortranarray, astype, copy),
        *(empty, eye, fromfunction, full, full_like, identity, indices, linspace, meshgrid, ones),
        *(require, tri, zeros),
    )
} | {"asanyarray": _asanyarray, "zeros_like": zeros_like, "ones_like": ones_like, "empty_like": empty_like}
