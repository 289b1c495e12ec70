"""Advanced (fancy) indexing: functions of index arrays with NumPy's signatures, and keys left to NumPy.

Owns ``getitem`` and ``setitem``. Not here: keys with index arrays (in Rust), those of arrays that no int32
counts (``large.py``), where elements are not zero (``positions.py``).
"""

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from .. import _gpupy
from .._classes.subclass import has_own, like, plain
from .._creation.conversion import asanyarray
from .._creation.orders import is_of_a_subclass
from .._creation.ranges import arange
from .._fallback import objects
from .._fallback.calls import call_writing
from .._fallback.hosts import to_host
from .._fallback.others import decides, of_other
from .._fallback.results import wrapped
from .._gpupy import call, ndarray, scalar
from . import large, select


def getitem(array: ndarray, key: Any) -> Any:
    known = _known(key) if array._lazy else key
    if known is not key:
        return array[known]
    if not array._lazy:
        host = array._host()
        if host.dtype == object and objects.is_element(host, key):
            return host[to_host(key)]
        if _is_basic(key):
            # A view, a record or an element of NumPy's memory: nothing is computed.
            return wrapped("view", host[key], [array], [host])
    if array._lazy and type(key) is ndarray and not key.ndim and key.dtype.kind in "iu":
        # An integer, of which NumPy gives a copy.
        made = array[key.item()]
        return made.copy() if isinstance(made, ndarray) else made
    made = large.picked(array, key) if large.has_no_positions(array) else None
    return call("__getitem__", operator.getitem, (array, key), {}) if made is None else made


def setitem(array: ndarray, key: Any, value: Any) -> None:
    known = _known(key) if array._lazy else key
    if known is not key:
        array[known] = value
        return
    if not array._lazy and array.dtype.hasobject:
        objects.put(array, key, value)
        return
    if not array._lazy and _is_basic(key):
        array._host()[key] = to_host(value)
        return
    if array._lazy and isinstance(key, ndarray) and key._lazy and _mask(array, key, value):
        return
    if large.has_no_positions(array) and large.put(array, key, value):
        return
    if not _gpupy.put(array, key, value):
        call("__setitem__", operator.setitem, (array, key, value), {})


def _known(key: Any) -> Any:
    """The key with numbers and arrays in the place of objects that have code of their own to give them.

    That code may write to the array, so it runs before anything is read.
    """
    if type(key) is tuple:
        parts = tuple([_known(part) for part in key])
        return key if all(map(operator.is_, parts, key)) else parts
    if isinstance(key, _KEYS):
        return key
    try:
        return operator.index(key)
    except Exception:
        # NumPy goes on in the same way.
        pass
    try:
        made = np.asarray(key)
    except Exception:
        return key
    if not made.size:
        return made.astype(np.intp)
    return made if made.dtype.kind in "iub" else key


def _is_basic(key: Any) -> bool:
    """Whether a key names fields, elements or ranges: NumPy's result for it is no copy of elements."""
    if type(key) is tuple:
        return all(type(part) in _BASIC for part in key)
    return type(key) in _BASIC or (type(key) is list and bool(key) and all(type(x) is str for x in key))


_BASIC = (int, slice, str, type(None), type(...))
_KEYS = (int, slice, list, tuple, str, bytes, type(None), type(...), np.generic, np.ndarray, ndarray, scalar)


def _mask(array: ndarray, key: Any, value: Any) -> bool:
    """``a[mask] = scalar``, where the mask has the array's shape."""
    if key.dtype != np.bool or key.shape != array.shape or np.ndim(value) or array.size == 0:
        return False
    return _gpupy.write_where(array, key, value)


def take(a, indices, axis=None, out=None, mode="raise"):
    if type(a) is not ndarray and decides(a, "take"):
        mode = None if mode == "raise" else mode
        return of_other("take", a, indices, axis=axis, out=out, mode=mode)
    a = a if type(a) is ndarray else asanyarray(a)
    if has_own(a, "take"):
        return a.take(indices, axis=axis, out=out, mode=mode)
    return take_method(a, indices, axis, out, mode)


def take_method(self, indices, axis=None, out=None, mode="raise"):
    """The method."""
    a, made = self, None
    if type(a) is not ndarray:
        return like(take_method, a, indices, axis, mode=mode, out=out)
    if out is None and a._lazy:
        whole = a.ravel() if axis is None else a
        axis_of_whole = 0 if axis is None else operator.index(axis)
        made = _gpupy.take(whole, indices, axis_of_whole, mode)
        if made is None and mode == "raise" and large.has_no_positions(whole):
            made = large.picked_along(whole, indices, axis_of_whole)
    if made is not None:
        return made
    given = {} if out is None else {"out": out}
    return call("take", np.take, (a, indices), {"axis": axis, "mode": mode, **given})


def put(a, ind, v, mode="raise"):
    if has_own(a, "put"):
        return a.put(ind, v, mode=mode)
    a = plain(a)
    if isinstance(a, ndarray) and a.dtype.hasobject:
        return call_writing("put", np.put, (a, ind, v), {"mode": mode})
    index = asanyarray(ind)
    ours = isinstance(a, ndarray) and a._lazy and a._writable and a.size and a.flags.c_contiguous
    fits = index.size and index.dtype.kind in "iu" and np.size(v) in (1, index.size)
    if not (ours and fits and mode == "raise"):
        return call("put", np.put, (a, ind, v), {"mode": mode})
    # Elements that are fewer would repeat, which broadcasting does for one alone.
    index, v = index.reshape(-1), asanyarray(v, dtype=a.dtype).reshape(-1)
    whole = a.reshape(-1)
    # One element needs no other to be computed, for which there may be no memory.
    alone = a.nbytes >= _LARGE and index.size <= _FEW
    if not (alone and large.put(whole, index, v[0] if v.size == 1 else v)):
        whole[index] = v
    return None


# So few elements of an array of so many bytes are written one after another.
_FEW, _LARGE = 8, 1 << 28


def take_along_axis(arr, indices, axis=-1):
    arr = asanyarray(arr)
    if type(arr) is not ndarray:
        # It is an index of the array, which a class may have of its own.
        if has_own(arr, "__getitem__") and axis is not None:
            axis = normalize_axis_index(axis, arr.ndim)
            return arr[_key_along(arr.shape, plain(asanyarray(indices)), axis)]
        return like(take_along_axis, arr, indices, axis)
    made = None
    if arr._lazy and axis is None:
        made = _gpupy.take_along(arr.ravel(), indices, 0) if np.ndim(indices) == 1 else None
    elif arr._lazy:
        made = _gpupy.take_along(arr, indices, operator.index(axis))
        if made is None and large.has_no_positions(arr) and np.ndim(indices) == arr.ndim:
            index, along = asanyarray(indices), normalize_axis_index(operator.index(axis), arr.ndim)
            made = large.picked(arr, _key_along(arr.shape, index, along))
    return call("take_along_axis", np.take_along_axis, (arr, indices, axis), {}) if made is None else made


def compress(condition, a, axis=None, out=None):
    if type(a) is not ndarray and decides(a, "compress"):
        return of_other("compress", condition, a, axis=axis, out=out)
    a = asanyarray(a)
    if has_own(a, "compress"):
        return a.compress(condition, axis=axis, out=out)
    return compress_method(a, condition, axis, out)


def compress_method(self, condition, axis=None, out=None):
    """The method."""
    a = self
    if type(a) is not ndarray:
        return like(compress_method, a, condition, axis, out=out)
    host = np.asarray(to_host(condition))
    if out is None and a._lazy and host.ndim == 1 and host.dtype == np.bool:
        return take(a, np.flatnonzero(host), axis)
    given = {} if out is None else {"out": out}
    return call("compress", np.compress, (condition, a), {"axis": axis, **given})


def extract(condition, arr):
    if is_of_a_subclass(arr) or decides(arr):
        return call("extract", np.extract, (condition, arr), {})
    return take(asanyarray(arr), np.flatnonzero(to_host(condition)))


def place(arr, mask, vals):
    arr = plain(arr)
    lazy = isinstance(arr, ndarray) and arr._lazy
    if not (lazy and np.size(vals) == 1 and _masked(arr, mask, vals)):
        call_writing("place", np.place, (arr, mask, vals), {})


def putmask(a, /, mask, values):
    a, mask, values = plain(a), plain(mask), plain(values)
    alike = type(values) is not ndarray or values.size == 1 or values.shape == getattr(a, "shape", None)
    if not (alike and _masked(a, mask, values)):
        call_writing("putmask", np.putmask, (a, mask, values), {})


def put_along_axis(arr, indices, values, axis):
    arr = plain(arr)
    target, along = arr, axis
    if axis is None and type(arr) is ndarray and arr._lazy and arr.flags.c_contiguous:
        target, along = arr.reshape(-1), 0
    index = asanyarray(indices)
    known = type(target) is ndarray and target._lazy and type(along) is int and index._lazy
    if known and index.dtype.kind in "iu" and index.ndim == target.ndim and -index.ndim <= along < index.ndim:
        target[_key_along(target.shape, index, along)] = values
    else:
        writing = isinstance(arr, ndarray) and arr.dtype.hasobject
        way = call_writing if writing else call
        way("put_along_axis", np.put_along_axis, (arr, indices, values, axis), {})


def _key_along(shape: tuple[int, ...], index: Any, axis: int) -> tuple[Any, ...]:
    """The key that selects by an array of indices along an axis."""
    key = [
        arange(extent).reshape((1,) * at + (-1,) + (1,) * (index.ndim - at - 1))
        for at, extent in enumerate(shape)
    ]
    key[axis % index.ndim] = index
    return tuple(key)


def _masked(array: Any, mask: Any, value: Any) -> bool:
    """Writes where a mask of the array's shape says so; false, with nothing done, where NumPy judges it."""
    alike = getattr(mask, "shape", None) == getattr(array, "shape", ())
    if type(value) in (list, tuple) and len(value) == 1:
        value = value[0]
    elif type(value) is ndarray and value.size == 1:
        value = value.reshape(())
    # NumPy refuses lossy conversions of arrays and scalars, but converts Python's numbers.
    casting = "same_kind" if type(value) in (bool, int, float, complex) else "safe"
    return alike and select.copied_where(array, value, casting, mask)


FUNCTIONS = {
    "compress": compress,
    "extract": extract,
    "place": place,
    "put": put,
    "put_along_axis": put_along_axis,
    "putmask": putmask,
    "take": take,
    "take_along_axis": take_along_axis,
}
