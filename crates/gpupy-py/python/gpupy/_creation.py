"""Arrays from nothing or from other data, with NumPy's signatures.

Constants and ranges of lazy dtypes are expressions and take no memory. Not here: joining
(``_joining.py``), reshaping (``_shape.py``).
"""

import math
import operator
import sys
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from . import _gpupy, _subclass
from ._fallback import call, named_to_host, to_host, wrapped
from ._gpupy import adopt, assign_all, empty, hold, is_lazy, ndarray, retyped, scalar, wrap, zeros
from ._objects import as_texts_of, stored


def shape_of(shape: Any) -> tuple[int, ...] | None:
    """A shape argument as a tuple of ints, or ``None`` when NumPy has to refuse it."""
    try:
        extents: tuple[int, ...] = (operator.index(shape),)
    except TypeError:
        try:
            extents = tuple(operator.index(n) for n in shape)
        except TypeError:
            return None
    return None if any(not 0 <= n <= _LARGEST for n in extents) else extents


_LARGEST = np.iinfo(np.intp).max


def order_of(order: Any) -> Any:
    """An order as a capital letter, or ``None``; NumPy words the error for others."""
    letter = order.upper() if isinstance(order, str) else order
    if letter not in ("C", "F", "A", "K", None):
        np.empty(0).ravel(order)
    return letter


def lies_in(array: ndarray, order: str | None) -> bool:
    """Whether the elements lie as an order says, which is a capital letter or ``None``."""
    return (order != "C" or array.flags.c_contiguous) and (order != "F" or array.flags.f_contiguous)


def copied(array: ndarray, order: str | None, dtype: Any = None) -> Any:
    """A copy of a lazy array in an order, with its elements as a lazy dtype."""
    if order == "F":
        turned: Any = array.T._copy(dtype)
        return turned.T._alone()
    return array._copy(dtype, order in ("K", None) or (order == "A" and array.flags.fnc))


def is_of_a_subclass(value: Any) -> bool:
    """Whether it is of a subclass of NumPy's arrays, which decides its own conversion."""
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray


def axes_as_they_lie(array: np.ndarray[Any, Any]) -> list[int]:
    """The axes of an array from the outermost in memory to the innermost."""
    strides = array.strides
    return sorted(range(array.ndim), key=lambda axis: -abs(strides[axis]))


def _constant(name: str, value: float, shape: Any, dtype: Any, order: Any) -> Any:
    """A lazy constant, or NumPy's array where that cannot be."""
    given, dtype = dtype, np.dtype(dtype)
    extents, order = shape_of(shape), order_of(order)
    if extents is None or not is_lazy(dtype) or order not in ("C", "F"):
        return wrap(getattr(np, name)(to_host(shape), given, order))
    if order == "F" and len(extents) > 1:
        return _gpupy.full(extents[::-1], value, dtype).T._alone()
    return _gpupy.full(extents, value, dtype)


def _refuse(device: Any) -> None:
    """Refuses a device that NumPy has not, which is any but its own: drivers are chosen otherwise."""
    if device is not None:
        np.empty(0, device=device)


def _given_like(function: Callable[..., Any], *args: Any, like: Any, **kwargs: Any) -> Any:
    """The call, left to the class of ``like`` where that is not ours or NumPy's."""
    ours = isinstance(like, ndarray) and not _subclass.has_own(like, "__array_function__")
    if like is None or type(like) is np.ndarray or ours:
        return function(*args, **kwargs)
    made = asked(like, function.__name__, args, kwargs)
    return getattr(np, function.__name__)(*args, like=like, **kwargs) if made is NotImplemented else made


def asked(like: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of our function of this name by the class of ``like``, or ``NotImplemented``.

    A class of the program knows functions by the names that it has them under, which are ours. One of another
    library's knows NumPy's, and is asked for those afterwards.
    """
    decide = getattr(type(like), "__array_function__", None)
    if decide is None or isinstance(like, np.ndarray):
        return NotImplemented
    return decide(like, getattr(sys.modules["gpupy"], name), (type(like),), args, kwargs)


def _otherwise(ours: Any) -> Callable[..., Any]:
    """The slow path of ``zeros``, ``ones`` or ``empty``: unusual arguments."""
    name = ours.__name__

    def make(shape, dtype=float, order="C", *, device=None, like=None):
        if like is not None:
            return _given_like(ours, shape, dtype, order, device=device, like=like)
        _refuse(device)
        return _constant(name, float(name == "ones"), shape, dtype, order)

    # Python names it where it does not take an argument.
    make.__qualname__ = name
    return make


CONSTANTS = {ours.__name__: _otherwise(ours) for ours in (zeros, _gpupy.ones, empty)}


def ones(shape, dtype=None, order="C", **kwargs):
    # In NumPy it is a function in Python, which binds to instances.
    return _gpupy.ones(shape, dtype, order, **kwargs)


def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    if like is not None:
        return _given_like(full, shape, fill_value, dtype, order, device=device, like=like)
    _refuse(device)
    if dtype is None:
        dtype = getattr(fill_value, "dtype", None) or np.asarray(fill_value).dtype
    given, dtype = dtype, np.dtype(dtype)
    extents = shape_of(shape)
    if extents is None or not is_lazy(dtype):
        value = stored(fill_value) if dtype.hasobject else to_host(fill_value)
        return wrap(np.full(to_host(shape), value, given, order))
    made = _constant("empty", 0.0, extents, dtype, order)
    _fill(made, fill_value)
    return made


def _fill(made: Any, value: Any) -> None:
    """Casts as NumPy does here, where only Python's ints have to fit."""
    if not made.size:
        # NumPy looks at little more than the shape then.
        np.copyto(np.empty(made.shape, made.dtype), to_host(value), casting="unsafe")
        return
    assign_all(made, value if type(value) in (int, ndarray, scalar) else np.asarray(to_host(value)))


def _like(make: Callable[..., Any]) -> Callable[..., Any]:
    def like(a, dtype=None, order="K", subok=True, shape=None, **kwargs):
        if subok and is_of_a_subclass(a):
            return wrap(getattr(np, f"{make.__name__}_like")(a, dtype, order, shape=to_host(shape), **kwargs))
        if _subclass.is_instance(a):
            made = like(a._as(ndarray), dtype, order, True, shape, **kwargs)
            return made._like(a) if subok else made
        a, order = asarray(a), order_of(order)
        wanted = a.dtype if dtype is None else dtype
        shape = a.shape if shape is None else shape
        fortran = order == "F" or (order in "KA" and a.flags.fnc)
        if order == "K" and not fortran and not a.flags.c_contiguous:
            extents, axes = shape_of(shape), axes_as_they_lie(a)
            if extents is not None and len(extents) == len(axes):
                made = make([extents[axis] for axis in axes], wanted, **kwargs)
                return made.transpose([axes.index(axis) for axis in range(len(axes))])._alone()
        return make(shape, wanted, "F" if fortran else "C", **kwargs)

    return like


zeros_like, ones_like, empty_like = _like(zeros), _like(ones), _like(empty)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, **kwargs):
    if subok and is_of_a_subclass(a):
        given = {"shape": to_host(shape), **kwargs}
        return wrap(np.full_like(a, to_host(fill_value), dtype, order, **given))
    made = empty_like(a, dtype, order, subok, shape, **kwargs)
    _fill(made, fill_value)
    return made


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None, **kwargs):
    if kwargs:
        # NumPy knows the other forms.
        np.array(0, **kwargs)
    if like is not None:
        given = {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin}
        return _given_like(array, object, dtype, **given, **kwargs, like=like)
    if isinstance(copy, np._CopyMode):
        copy = _COPIES[copy]
    if isinstance(object, scalar):
        if copy is False:
            # A scalar has no memory to share, and NumPy has the words.
            np.array(object._value(), copy=False)
        object = object._array()
    if _subclass.is_instance(object):
        if not subok:
            object = object._as(ndarray)
        elif not object._lazy:
            return _held(object, dtype, copy, order, ndmin)
    if isinstance(object, ndarray) and object._lazy and not kwargs:
        if order == "K" and dtype is None and copy and ndmin <= object.ndim:
            return object._copy(None, True)
        made: Any = object
        order = order_of(order)
        if (dtype is not None and np.dtype(dtype) != object.dtype) or not lies_in(object, order):
            if copy is False:
                # NumPy has the words for an array that does not lie so.
                lies: Literal["C", "F"] = "C" if order == "F" else "F"
                np.array(np.empty((2, 2), object.dtype, lies), dtype, copy=False, order=order)
            made = object.astype(object.dtype if dtype is None else dtype, order or "K")
        elif copy:
            made = copied(object, order)
        if ndmin > 1:
            # NumPy has the words for too many axes.
            np.array(0, ndmin=ndmin)
        extra = ndmin - made.ndim
        return made if extra <= 0 else made.reshape((1,) * extra + made.shape)
    if isinstance(object, np.memmap) and copy is None and order in ("K", "A") and not kwargs:
        from ._outside.arrays import of_memmap

        read = of_memmap(object)
        if read is not None:
            return array(read, dtype, copy=copy, ndmin=ndmin)
    if isinstance(object, (list, tuple)):
        return wrap(_of_items(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **kwargs))
    is_cast = type(object) is ndarray and dtype is not None and np.dtype(dtype).kind in "SU"
    there = as_texts_of(object) if is_cast else to_host(object)
    made = np.array(there, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **kwargs)
    if copy is False:
        return adopt(made)
    # Without a copy it is the array itself or a view of it.
    return wrapped("array", made, [object], [there]) if isinstance(object, ndarray) else wrap(made)


def _of_items(items: Any, dtype: Any, **kwargs: Any) -> Any:
    """NumPy's array of a list or a tuple."""
    if dtype is not None and np.dtype(dtype).hasobject:
        try:
            return np.array(stored(items), dtype, **kwargs)
        except ValueError as error:
            if "not producing an array" not in str(error):
                raise
            # Of what converts itself to an array of ours NumPy takes its own.
            return np.array(to_host(items), dtype, **kwargs)
    seen: list[ndarray] = []
    pick = as_texts_of if dtype is not None and np.dtype(dtype).kind in "SU" else None
    made = np.array(to_host(items, seen, pick), dtype, **kwargs)
    if seen and made.dtype.hasobject:
        # Of what is in a list that became an element nothing may be another object.
        return np.array(items, dtype, **kwargs)
    return made


def _held(array: Any, dtype: Any, copy: Any, order: Any, ndmin: int) -> Any:
    """An instance of a subclass whose elements are NumPy's, as ``array`` gives it."""
    host = _subclass.twin(array, array._host())
    made = np.array(host, dtype, copy=copy, order=order, subok=True, ndmin=ndmin)
    return wrapped("array", made, [array], [host])


_COPIES = {np._CopyMode.ALWAYS: True, np._CopyMode.IF_NEEDED: None, np._CopyMode.NEVER: False}


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if like is not None:
        return _given_like(asarray, a, dtype, order, device=device, copy=copy, like=like)
    if device is not None:
        _refuse(device)
    if type(a) is ndarray and copy is None and order in (None, "K", "A"):
        if dtype is None or np.dtype(dtype) == a.dtype:
            return a
    return array(a, dtype, copy=copy, order="K" if order is None else order)


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """An array of ours. One of a subclass of NumPy's is held as it is, for NumPy to work on."""
    if is_of_a_subclass(a) and dtype is order is copy is None:
        return hold(a)
    if _subclass.is_instance(a):
        return array(a, dtype, copy=copy, order="K" if order is None else order, subok=True)
    return asarray(a, dtype, order, copy=copy)


def _asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if like is not None:
        return _given_like(asanyarray, a, dtype, order, device=device, copy=copy, like=like)
    _refuse(device)
    if isinstance(a, np.ndarray):
        # `np.asanyarray` of NumPy 2.0 takes no `copy`.
        return wrap(np.array(a, dtype, copy=copy, order="K" if order is None else order, subok=True))
    return asanyarray(a, dtype, order, copy=copy)


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
    return a if a.flags.f_contiguous else a.copy("F")


def require(a, dtype=None, requirements=None, *, like=None):
    if like is not None:
        return _given_like(require, a, dtype, requirements, like=like)
    if isinstance(a, ndarray) and a._lazy and requirements:
        return _required(a, dtype, requirements)
    if isinstance(a, ndarray) and a._lazy:
        return asanyarray(a, dtype)
    given = _of_items(a, dtype) if isinstance(a, (list, tuple)) else a
    return call("require", np.require, (given, dtype, requirements), {})


def _required(a: ndarray, dtype: Any, requirements: Any) -> Any:
    """``require`` of an array of ours, of whose memory NumPy sees a copy."""
    # NumPy names the unknown argument.
    np.require(np.empty(0), None, requirements)
    wanted = {str(flag).upper()[0] for flag in requirements}
    order = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    made = array(a, dtype, copy=None, order=order, subok="E" not in wanted)
    met = ("W" not in wanted or made._writable) and ("O" not in wanted or made.flags.owndata)
    return made if met else made.copy(order)


# DLPack's codes of dtypes that begin alike.
DLPACK_UINT, DLPACK_BFLOAT = 1, 4


class _AsUint16:
    """A tensor of bfloat16, which NumPy does not import, as one of uint16."""

    def __init__(self, tensor: Any):
        self.tensor = tensor
        self.is_bfloat16 = False
        self.__dlpack_device__ = tensor.__dlpack_device__

    def __dlpack__(self, **kwargs: Any) -> Any:
        capsule = self.tensor.__dlpack__(**kwargs)
        self.is_bfloat16 = retyped(capsule, DLPACK_BFLOAT, DLPACK_UINT)
        return capsule


def _bfloat16_of_dlpack(tensor: Any, asked: dict[str, Any]) -> Any:
    """NumPy's array over a tensor of bfloat16; ``None`` of others."""
    if not hasattr(tensor, "__dlpack__"):
        return None
    disguised = _AsUint16(tensor)
    try:
        made = np.from_dlpack(disguised, **asked)
    except RuntimeError:
        return None
    return made.view("bfloat16") if disguised.is_bfloat16 else None


def from_dlpack(x, /, *, device=None, copy=None):
    x = _subclass.plain(x)
    if isinstance(x, ndarray) and x._lazy and device in (None, "cpu"):
        return x.copy() if copy else x[...]
    # An element is a tensor without axes, which to NumPy its own scalar is not.
    given = to_host(x._array() if type(x) is scalar else np.asarray(x) if isinstance(x, np.generic) else x)
    # NumPy 2.0 takes neither keyword.
    asked = {name: v for name, v in (("device", device), ("copy", copy)) if v is not None}
    try:
        made = np.from_dlpack(given, **asked)
    except RuntimeError:
        made = _bfloat16_of_dlpack(given, asked)
        if made is None:
            raise
    return adopt(made) if copy is False else wrap(made)


def copy(a, order="K", subok=False):
    return array(a, order=order, copy=True, subok=subok)


def arange(*args, dtype=None, device=None, like=None, **kwargs):
    if like is not None:
        return _given_like(arange, *args, dtype=dtype, device=device, like=like, **kwargs)
    _refuse(device)
    if len(args) > 3 and dtype is None:
        args, dtype = args[:3], args[3]
    if not kwargs and 1 <= len(args) <= 3:
        made = _arange(dtype, *[to_host(x) for x in args])
        if made is not None:
            return made
    return wrap(np.arange(*to_host(args), dtype=dtype, **named_to_host(kwargs)))


def _arange(dtype: Any, start: Any, stop: Any = None, step: Any = 1) -> Any:
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
        made: Any = _gpupy.ramp(length, first, delta, wide)
        made = made if wide == dtype else made.astype(dtype)
        # Rounding may part the formula from the two elements that NumPy stores as they are.
        if first + wide.type(0) * delta != first or math.copysign(1, first) < 0:
            made[0] = first
        if dtype.type(first + wide.type(1) * delta) != second:
            made[1] = second
        return made


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    _refuse(device)
    given = [start, stop] if _subclass.any_instance((start, stop)) else [to_host(x) for x in (start, stop)]
    if all(type(x) in (int, float, np.float64) for x in given) and is_lazy(float) and axis in (0, -1):
        made = _linspace(float(given[0]), float(given[1]), operator.index(num), endpoint, dtype)
        if made is not None:
            return made if retstep else made[0]
    arguments = {"endpoint": endpoint, "retstep": retstep, "dtype": dtype, "axis": axis}
    return call("linspace", np.linspace, (*given, num), arguments)


def _linspace(start: float, stop: float, num: int, endpoint: bool, dtype: Any) -> Any:
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


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    if like is not None:
        return _given_like(eye, N, M, k, dtype, order, device=device, like=like)
    _refuse(device)
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    k, dtype, order = operator.index(k), np.dtype(dtype), order_of(order)
    if not (is_lazy(dtype) and max(rows, columns, abs(k)) < 2**30 and min(rows, columns) >= 0):
        return call("eye", np.eye, (N, M, k, dtype, order), {})
    shape, k = ((rows, columns), k) if order != "F" else ((columns, rows), -k)
    row, column = (_gpupy.index(shape, axis, np.int32) for axis in (0, 1))
    made = ((row + k if k else row) == column).astype(dtype)
    return made.T._alone() if order == "F" else made


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
    # The coordinates are rows of one array in NumPy, which has the words for too many axes.
    np.broadcast_shapes((1,) * (len(extents) + 1))
    rows = [_gpupy.index(extents, axis, dtype) for axis in range(len(extents))]
    return function(*rows, **kwargs)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    grids = [asanyarray(x) for x in xi]
    if indexing not in ("xy", "ij") or not all(g._lazy for g in grids):
        if _subclass.any_instance(xi):
            return call("meshgrid", np.meshgrid, xi, {"copy": copy, "sparse": sparse, "indexing": indexing})
        given = to_host(xi)
        return wrap(np.meshgrid(*given, copy=copy, sparse=sparse, indexing=indexing))
    rank = len(grids)
    out = [g.reshape((1,) * axis + (-1,) + (1,) * (rank - axis - 1)) for axis, g in enumerate(grids)]
    if indexing == "xy" and rank > 1:
        out[0] = out[0].reshape((1, -1) + (1,) * (rank - 2))
        out[1] = out[1].reshape((-1, 1) + (1,) * (rank - 2))
    if not sparse:
        from ._shape import broadcast_arrays

        out = list(broadcast_arrays(*out, subok=True))
    if copy:
        out = [g._copy() for g in out]
    return tuple(out)


def astype(x, dtype, /, *, copy=True, device=None):
    if not isinstance(x, (ndarray, np.ndarray)):
        # NumPy has the words.
        return call("astype", np.astype, (x, dtype), {"copy": copy, "device": device})
    _refuse(device)
    return asanyarray(x).astype(dtype, copy=copy)


FUNCTIONS = {
    function.__name__: function
    for function in (
        *(_gpupy.arange, _gpupy.array, asarray, ascontiguousarray, asfortranarray, astype, copy),
        *(
            empty,
            eye,
            from_dlpack,
            fromfunction,
            full,
            full_like,
            identity,
            indices,
            linspace,
            meshgrid,
            ones,
        ),
        *(require, tri, zeros),
    )
} | {"asanyarray": _asanyarray, "zeros_like": zeros_like, "ones_like": ones_like, "empty_like": empty_like}
