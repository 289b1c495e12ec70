"""Arrays of what is there already: arrays, lists, numbers.

Owns the slow paths of ``array``, ``asarray`` and ``asanyarray``, which are Rust's. Not here: lists of numbers
alone (there), other libraries' tensors (``tensors.py``).
"""

from typing import Any, Literal

import numpy as np

from .. import _gpupy
from .._classes import subclass
from .._fallback.hosts import to_host
from .._fallback.objects import as_texts_of, stored
from .._fallback.results import wrapped
from .._gpupy import adopt, call, hold, ndarray, scalar, wrap
from .asked import given_like, refuse
from .orders import copied, is_of_a_subclass, lies_in, order_of


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None, **kwargs):
    if kwargs:
        # NumPy knows the other forms.
        np.array(0, **kwargs)
    if like is not None:
        given = {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin}
        return given_like(array, object, dtype, **given, **kwargs, like=like)
    if isinstance(copy, np._CopyMode):
        copy = _COPIES[copy]
    if isinstance(object, scalar):
        if copy is False:
            # A scalar has no memory to share, and NumPy has the words.
            np.array(object._value(), copy=False)
        object = object._array()
    if subclass.is_instance(object):
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
        # Programs without files need not wait for it.
        from .._outside.arrays import of_memmap

        read = of_memmap(object)
        if read is not None:
            return array(read, dtype, copy=copy, ndmin=ndmin)
    if isinstance(object, (list, tuple)):
        return wrap(of_items(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **kwargs))
    is_cast = type(object) is ndarray and dtype is not None and np.dtype(dtype).kind in "SU"
    there = as_texts_of(object) if is_cast else to_host(object)
    made = np.array(there, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **kwargs)
    if copy is False:
        return adopt(made)
    # Without a copy it is the array itself or a view of it.
    return wrapped("array", made, [object], [there]) if isinstance(object, ndarray) else wrap(made)


def of_items(items: Any, dtype: Any, **kwargs: Any) -> Any:
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
    host = subclass.twin(array, array._host())
    made = np.array(host, dtype, copy=copy, order=order, subok=True, ndmin=ndmin)
    return wrapped("array", made, [array], [host])


_COPIES = {np._CopyMode.ALWAYS: True, np._CopyMode.IF_NEEDED: None, np._CopyMode.NEVER: False}


def asarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if like is not None:
        return given_like(asarray, a, dtype, order, device=device, copy=copy, like=like)
    if device is not None:
        refuse(device)
    if type(a) is ndarray and copy is None and order in (None, "K", "A"):
        if dtype is None or np.dtype(dtype) == a.dtype:
            return a
    return array(a, dtype, copy=copy, order="K" if order is None else order)


def asanyarray(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    """An array of ours. One of a subclass of NumPy's is held as it is, for NumPy to work on."""
    if type(a) is ndarray and dtype is order is copy is None:
        return a
    if is_of_a_subclass(a) and dtype is order is copy is None:
        return hold(a)
    if subclass.is_instance(a):
        return array(a, dtype, copy=copy, order="K" if order is None else order, subok=True)
    return asarray(a, dtype, order, copy=copy)


def any_array(a, dtype=None, order=None, *, device=None, copy=None, like=None):
    if like is not None:
        return given_like(asanyarray, a, dtype, order, device=device, copy=copy, like=like)
    refuse(device)
    if isinstance(a, np.ndarray):
        # `np.asanyarray` of NumPy 2.0 takes no `copy`.
        return wrap(np.array(a, dtype, copy=copy, order="K" if order is None else order, subok=True))
    return asanyarray(a, dtype, order, copy=copy)


def ascontiguousarray(a, dtype=None, *, like=None):
    if like is not None:
        return given_like(ascontiguousarray, a, dtype, like=like)
    return array(a, dtype, copy=None, order="C", ndmin=1)


def asfortranarray(a, dtype=None, *, like=None):
    if like is not None:
        return given_like(asfortranarray, a, dtype, like=like)
    a = asarray(a, dtype)
    if a.ndim == 0:
        return a.reshape(1)
    return a if a.flags.f_contiguous else a.copy("F")


def require(a, dtype=None, requirements=None, *, like=None):
    if like is not None:
        return given_like(require, a, dtype, requirements, like=like)
    if isinstance(a, ndarray) and a._lazy and requirements:
        return _required(a, dtype, requirements)
    if isinstance(a, ndarray) and a._lazy:
        return asanyarray(a, dtype)
    given = of_items(a, dtype) if isinstance(a, (list, tuple)) else a
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


def copy(a, order="K", subok=False):
    return array(a, order=order, copy=True, subok=subok)


def astype(x, dtype, /, *, copy=True, device=None):
    if not isinstance(x, (ndarray, np.ndarray)):
        # NumPy has the words.
        return call("astype", np.astype, (x, dtype), {"copy": copy, "device": device})
    refuse(device)
    return asanyarray(x).astype(dtype, copy=copy)


# Python names it where it does not take an argument.
any_array.__qualname__ = "asanyarray"

FUNCTIONS = {
    function.__name__: function
    for function in (
        *(_gpupy.array, _gpupy.asanyarray, _gpupy.asarray),
        *(ascontiguousarray, asfortranarray, astype, copy, require),
    )
}
