"""Arrays of one value.

Owns ``full`` and the ``…_like`` functions, and the slow paths of ``zeros``, ``ones`` and ``empty``, which
are Rust's. Constants of lazy dtypes are expressions and take no memory. Not here: coordinates
(``coordinates.py``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _gpupy
from .._classes import subclass
from .._fallback.hosts import to_host
from .._fallback.objects import stored
from .._gpupy import assign_all, empty, is_lazy, ndarray, scalar, wrap, zeros
from .asked import given_like, refuse
from .conversion import asarray
from .orders import axes_as_they_lie, is_of_a_subclass, order_of, shape_of


def constant(name: str, value: float, shape: Any, dtype: Any, order: Any) -> Any:
    """A lazy constant, or NumPy's array where that cannot be."""
    given, dtype = dtype, np.dtype(dtype)
    extents, order = shape_of(shape), order_of(order)
    if extents is None or not is_lazy(dtype) or order not in ("C", "F"):
        return wrap(getattr(np, name)(to_host(shape), given, order))
    if order == "F" and len(extents) > 1:
        return _gpupy.full(extents[::-1], value, dtype).T._alone()
    return _gpupy.full(extents, value, dtype)


def _otherwise(ours: Any) -> Callable[..., Any]:
    """The slow path of ``zeros``, ``ones`` or ``empty``: unusual arguments."""
    name = ours.__name__

    def make(shape, dtype=float, order="C", *, device=None, like=None):
        if like is not None:
            return given_like(ours, shape, dtype, order, device=device, like=like)
        refuse(device)
        return constant(name, float(name == "ones"), shape, dtype, order)

    # Python names it where it does not take an argument.
    make.__qualname__ = name
    return make


CONSTANTS = {ours.__name__: _otherwise(ours) for ours in (zeros, _gpupy.ones, empty)}


def ones(shape, dtype=None, order="C", **kwargs):
    # In NumPy it is a function in Python, which binds to instances.
    return _gpupy.ones(shape, dtype, order, **kwargs)


def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    if like is None and device is None and order == "C":
        made = _gpupy.full_plainly(shape, fill_value, dtype)
        if made is not None:
            return made
    if like is not None:
        return given_like(full, shape, fill_value, dtype, order, device=device, like=like)
    refuse(device)
    if dtype is None:
        dtype = getattr(fill_value, "dtype", None) or np.asarray(fill_value).dtype
    given, dtype = dtype, np.dtype(dtype)
    extents = shape_of(shape)
    if extents is None or not is_lazy(dtype):
        value = stored(fill_value) if dtype.hasobject else to_host(fill_value)
        return wrap(np.full(to_host(shape), value, given, order))
    made = constant("empty", 0.0, extents, dtype, order)
    _fill(made, fill_value)
    return made


def _fill(made: Any, value: Any) -> None:
    """Casts as NumPy does here, where only Python's ints have to fit."""
    if not made.size:
        # NumPy looks at little more than the shape then.
        np.copyto(np.empty(made.shape, made.dtype), to_host(value), casting="unsafe")
        return
    if type(value) is int and made.dtype == np.bool:
        # The truth of an int, of which NumPy makes one of 64 bits first.
        value = np.array([value], np.int64) != 0
    assign_all(made, value if type(value) in (int, ndarray, scalar) else np.asarray(to_host(value)))


def alike(make: Callable[..., Any]) -> Callable[..., Any]:
    def like(a, dtype=None, order="K", subok=True, shape=None, **kwargs):
        if type(a) is ndarray and order == "K" and shape is None and not kwargs and a._c_contiguous:
            return make(a.shape, a.dtype if dtype is None else dtype)
        if subok and is_of_a_subclass(a):
            return wrap(getattr(np, f"{make.__name__}_like")(a, dtype, order, shape=to_host(shape), **kwargs))
        if subclass.is_instance(a):
            made = like(a._as(ndarray), dtype, order, True, shape, **kwargs)
            return made._like(a) if subok else made
        a, order = asarray(a), order_of(order)
        wanted = a.dtype if dtype is None else dtype
        shape = a.shape if shape is None else shape
        extents = shape_of(shape)
        if order == "K" and extents is not None and len(extents) != a.ndim:
            # Axes of another number lie in no order of these.
            order = "C"
        fortran = order == "F" or (order in "KA" and a.flags.fnc)
        if order == "K" and not fortran and not a.flags.c_contiguous:
            axes = axes_as_they_lie(a)
            if extents is not None and len(extents) == len(axes):
                made = make([extents[axis] for axis in axes], wanted, **kwargs)
                return made.transpose([axes.index(axis) for axis in range(len(axes))])._alone()
        return make(shape, wanted, "F" if fortran else "C", **kwargs)

    return like


zeros_like, ones_like, empty_like = alike(zeros), alike(ones), alike(empty)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, **kwargs):
    if subok and is_of_a_subclass(a):
        given = {"shape": to_host(shape), **kwargs}
        return wrap(np.full_like(a, to_host(fill_value), dtype, order, **given))
    made = empty_like(a, dtype, order, subok, shape, **kwargs)
    _fill(made, fill_value)
    return made


FUNCTIONS = {function.__name__: function for function in (empty, full, full_like, ones, zeros)} | {
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "empty_like": empty_like,
}
